"""What the donut audit tries, and what comes of it: the grid, the smallest K_INNER, the areas, the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from qgis.core import QgsProcessingParameterDefinition

from ...core import counted
from ...core.language import plural, tr
from ...core.masking.audit import Audit, SmallestKInner
from ...core.masking.donut import OUTSIDE
from ...core.masking.populations import Heterogeneity, Households, heterogeneity
from ..form.form import Form
from ..form.parameters import POLYGONS, field, number, report, sink, source, text
from ..layers.shapes.surfaces import PopulatedLayer
from ..layers.tables import INTERNAL, Table, TableColumn, number_fields
from .inputs import read_areas_with_people
from .masked import or_null

K_INNER_OF_PAPER = "5,10,15,20,25,30,35,40,45,50,60,75"
K_MIN_OF_PAPER = "5,10,15,20,25"
NUMBERS = {
    "N_HOUSEHOLDS": tr("Households"),
    "N_IN_NO_AREA": tr("Households in no area"),
    "SMALLEST_K_INNER": tr("Smallest K_INNER that meets the wanted rate for the first K_MIN"),
}


def grid_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """K_INNER, K_MIN, OUTER_FACTOR, FAILURE_PERCENT."""
    label = tr("Inner radii to try: least numbers of people moved past")
    yield text("K_INNER", label, K_INNER_OF_PAPER, tr("In people, if they were spread evenly; separated by commas."))
    label = tr("Anonymity wanted: least numbers of households nearer by")
    yield text("K_MIN", label, K_MIN_OF_PAPER, tr("What a household must hide among; numbers separated by commas."))
    help_text = tr("A narrower ring moves points less far and falls short more often.")
    yield number(
        "OUTER_FACTOR", tr("Outer radius as a multiple of the inner one"), 10.0, help_text, 1.01, advanced=True
    )
    yield number(
        "FAILURE_PERCENT",
        tr("Households that may fall short, per cent"),
        1.0,
        tr("The audit looks for the smallest K_INNER with which no more masked households than this fall short."),
        0,
        100,
    )


def finer_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """FINER_AREAS, FINER_POPULATION."""
    yield source(
        "FINER_AREAS",
        tr("Finer areas"),
        tr(
            "Sub-areas with population, such as blocks: how much their density varies within an area shows "
            "where masking is likely to fall short, even where no households are known."
        ),
        POLYGONS,
        optional=True,
        advanced=True,
    )
    yield field(
        "FINER_POPULATION",
        tr("Population of the finer areas"),
        "FINER_AREAS",
        tr("The number of people in each sub-area."),
        numeric=True,
        optional=True,
        advanced=True,
    )


def unevenness_of(form: Form, areas: PopulatedLayer) -> Heterogeneity | None:
    """How unevenly people are spread in each area, by FINER_AREAS; None where they are not given."""
    if not form.given("FINER_AREAS"):
        return None
    population = (form.text("FINER_POPULATION"), "FINER_POPULATION")
    finer = read_areas_with_people(form, "FINER_AREAS", None, [population], areas.planar)
    return heterogeneity(areas.planar_shapes, finer.planar_shapes, finer.people[:, 0])


def audit_outputs() -> Iterable[QgsProcessingParameterDefinition]:
    """AUDIT, SMALLEST, AREA_AUDIT, REPORT."""
    yield sink(
        "AUDIT",
        tr("Donut audit"),
        INTERNAL,
        tr(
            "A row for each K_INNER and K_MIN: k_inner, k_outer, k_min, percent_below (share of the masked "
            "households whose actual anonymity k_act is below K_MIN), percent_below_candidates (share whose "
            "masked place could have come from fewer than K_MIN households, which is what an outsider has to "
            "guess among), percent_not_masked."
        ),
    )
    yield sink(
        "SMALLEST",
        tr("Smallest K_INNER"),
        INTERNAL,
        tr("For each K_MIN the smallest K_INNER that keeps failures to the rate you accept; empty where none does."),
        optional=True,
    )
    yield sink(
        "AREA_AUDIT",
        tr("Area audit"),
        INTERNAL,
        tr(
            "Each area with its households, the share that falls short of the smallest K_MIN for the first "
            "K_INNER (percent_below) and for every other (below_…), and, with finer areas, how unevenly "
            "people are spread in it."
        ),
        POLYGONS,
        optional=True,
    )
    yield report(tr("A page with the table, the chart, maps of where areas fail and all parameters."))


def notes(households: Households, grid: Audit) -> list[str]:
    """Sentences for the log and the report."""
    outside = float(grid.reasons[0, OUTSIDE])
    found = [
        tr(
            "{households} at {points}; in the median area with households there are {median:g}.",
            households=counted.households(households.weights.sum()),
            points=counted.points(len(households)),
            median=float(np.median(grid.households[grid.households > 0], axis=0)) if grid.households.any() else 0,
        )
    ]
    if outside:
        found.append(
            plural(
                "{n} household lies in no area: it is counted as a neighbour, but not masked.",
                "{n} households lie in no area: they are counted as neighbours, but not masked.",
                outside,
            )
        )
    return found


def grid_table(grid: Audit) -> Table:
    """AUDIT."""
    n_inner, n_min = grid.percent_below.shape
    fields = number_fields(
        k_inner="real",
        k_outer="real",
        k_min="real",
        percent_below="real",
        percent_below_candidates="real",
        percent_not_masked="real",
    )
    columns: list[TableColumn] = [
        np.repeat(grid.k_inner, n_min),
        np.repeat(grid.k_outer, n_min),
        np.tile(grid.k_min, n_inner),
        or_null(grid.percent_below.ravel()),
        or_null(grid.percent_below_candidates.ravel()),
        np.repeat(grid.percent_not_masked, n_min),
    ]
    return Table(fields, columns)


def smallest_table(smallest: Sequence[SmallestKInner]) -> Table:
    """SMALLEST."""
    fields = number_fields(k_min="real", k_inner="integer", percent_below="real", percent_not_masked="real")
    columns: list[TableColumn] = [
        [one.k_min for one in smallest],
        [one.k_inner for one in smallest],
        or_null(np.array([one.percent_below for one in smallest])),
        [one.percent_not_masked for one in smallest],
    ]
    return Table(fields, columns)


def area_table(areas: PopulatedLayer, grid: Audit, uneven: Heterogeneity | None) -> Table:
    """AREA_AUDIT."""
    share = grid.percent_below_by_area[:, int(grid.k_min.argmin())]
    fields = [areas.id_field, *number_fields(households="real", not_masked="real", percent_below="real")]
    columns: list[TableColumn] = [
        areas.identifiers,
        grid.households,
        grid.households - grid.masked[0],
        or_null(share[0]),
    ]
    for k, values in zip(grid.k_inner[1:], share[1:]):
        fields += number_fields(**{f"below_{k:g}".replace(".", "_"): "real"})
        columns.append(or_null(values))
    if uneven is not None:
        fields += number_fields(sub_areas="integer", density_variance="real", density_variation="real")
        columns += [uneven.n_parts, or_null(uneven.variance), or_null(uneven.variation)]
    return Table(fields, columns, "polygons", areas.shapes, areas.crs)


def audit_numbers(households: Households, grid: Audit, smallest: Sequence[SmallestKInner]) -> dict[str, object]:
    """The numeric outputs; those that cannot be known are left out."""
    found: dict[str, object] = {
        "N_HOUSEHOLDS": float(households.weights.sum()),
        "N_IN_NO_AREA": float(grid.reasons[0, OUTSIDE]),
    }
    if smallest[0].k_inner is not None:
        found["SMALLEST_K_INNER"] = smallest[0].k_inner
    return found
