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
from ...core.tables.points import AREA_AUDIT, DONUT_AUDIT, SMALLEST
from ..form.form import Form
from ..form.parameters import POLYGONS, field, number, report, sink, source, text
from ..layers.shapes.surfaces import PopulatedLayer
from ..layers.tables import Table, TableColumn, filled, of_rows
from .inputs import read_areas_with_people

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
    yield sink(DONUT_AUDIT)
    yield sink(SMALLEST, optional=True)
    yield sink(AREA_AUDIT, optional=True)
    yield report(tr("A page with the table, the chart, maps of where areas fail and all parameters."))


def notes(households: Households, grid: Audit) -> list[str]:
    """Sentences for the log and the report."""
    outside = float(grid.reasons[0, OUTSIDE])
    sentences = [
        tr(
            "{households} at {points}; in the median area with households there are {median:g}.",
            households=counted.households(households.weights.sum()),
            points=counted.points(len(households)),
            median=float(np.median(grid.households[grid.households > 0], axis=0)) if grid.households.any() else 0,
        )
    ]
    if outside:
        sentences.append(
            plural(
                "{n} household lies in no area: it is counted as a neighbour, but not masked.",
                "{n} households lie in no area: they are counted as neighbours, but not masked.",
                outside,
            )
        )
    return sentences


def grid_table(grid: Audit) -> Table:
    """AUDIT."""
    n_inner, n_min = grid.percent_below.shape
    return filled(
        DONUT_AUDIT,
        {
            "k_inner": np.repeat(grid.k_inner, n_min),
            "k_outer": np.repeat(grid.k_outer, n_min),
            "k_min": np.tile(grid.k_min, n_inner),
            "percent_below": grid.percent_below.ravel(),
            "percent_below_candidates": grid.percent_below_candidates.ravel(),
            "percent_not_masked": np.repeat(grid.percent_not_masked, n_min),
        },
    )


def smallest_table(smallest: Sequence[SmallestKInner]) -> Table:
    """SMALLEST."""
    return filled(SMALLEST, of_rows(SMALLEST, smallest))


def area_table(areas: PopulatedLayer, grid: Audit, uneven: Heterogeneity | None) -> Table:
    """AREA_AUDIT."""
    share = grid.percent_below_by_area[:, int(grid.k_min.argmin())]
    columns: dict[str, TableColumn] = {
        "not_masked": grid.households - grid.masked[0],
        "percent_below": share[0],
        **{f"below_{k:g}".replace(".", "_"): values for k, values in zip(grid.k_inner[1:], share[1:])},
    }
    if uneven is not None:
        columns |= {"sub_areas": uneven.n_parts}
        columns |= {"density_variance": uneven.variance, "density_variation": uneven.variation}
    own = [(areas.id_field, areas.identifiers)]
    return filled(AREA_AUDIT, columns, grid, own=own, shapes=areas.shapes, crs=areas.crs)


def audit_numbers(households: Households, grid: Audit, smallest: Sequence[SmallestKInner]) -> dict[str, object]:
    """The numeric outputs; those that cannot be known are left out."""
    numbers: dict[str, object] = {
        "N_HOUSEHOLDS": float(households.weights.sum()),
        "N_IN_NO_AREA": float(grid.reasons[0, OUTSIDE]),
    }
    if smallest[0].k_inner is not None:
        numbers["SMALLEST_K_INNER"] = smallest[0].k_inner
    return numbers
