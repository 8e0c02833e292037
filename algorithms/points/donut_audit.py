"""Whether donut masking would protect the households of an area."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from qgis.core import QgsProcessingParameterDefinition

from ...core import counted
from ...core.language import as_data, plural, tr
from ...core.masking.audit import Audit, Masker, SmallestKInner, audit, numbers_of, quintiles, smallest_k_inner
from ...core.masking.clusters import PlantedClusters
from ...core.masking.donut import OUTSIDE
from ...core.masking.placing import own_areas
from ...core.masking.populations import Heterogeneity, Households, heterogeneity
from ...core.report.masking_audit import audit_report
from ...core.tables.points import AREA_AUDIT, DONUT_AUDIT, SMALLEST
from ..form import parameters as shared
from ..form.base import VbasAlgorithm
from ..form.effective import Conditions
from ..form.form import Form
from ..form.parameters import POLYGONS, field, report, sink, source
from ..form.provenance import provenance_of
from ..layers.shapes.projection import north_of
from ..layers.shapes.surfaces import PopulatedLayer
from ..layers.tables import Table, TableColumn, filled, of_rows
from . import inputs, tried
from .inputs import read_areas_with_people


class DonutAudit(VbasAlgorithm):
    """`vbas:donutaudit`."""

    ID = "donutaudit"
    TAGS = as_data("geomasking,geomask,points,households,e911")
    SUMMARY = tr("Masks every household for a list of K_INNER and counts how many fall short of the wanted anonymity.")
    HELP = tr(
        "<p>Donut masking assumes that people are spread evenly over an area. They are not, so a point that moves "
        "past K_INNER people by that estimate may really have passed fewer. The audit masks every household you know "
        "of, counts the households nearer than it moved, and says for each K_INNER how many fall short of each K_MIN, "
        "where, and the smallest K_INNER that keeps failures to the rate you accept.</p>"
        "<p>The farther points move, the better they are hidden and the less a map shows: the displacement stands "
        "beside the failures. K_OUTER tries several outer radii; COMPARE_WITH shows what other masks would do; "
        "PLANTED_CLUSTERS shows what is left of clusters.</p>"
        "<p>Run it once for your households and areas, then mask with the K_INNER it gives.</p>"
        "<p>Allshouse et al. 2010: Geomasking sensitive health data and privacy protection.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *inputs.households(optional=False),
            *inputs.areas(
                tr(
                    "Households (or people, if that is what you will mask by) in each area. Without it, the "
                    "households in the area are counted."
                )
            ),
            *tried.grid_parameters(),
            *tried.comparison_parameters(),
            *finer_parameters(),
            inputs.distance(),
            shared.seed(),
            *audit_outputs(),
        )
        self.addNumbers(**NUMBERS)

    def conditions(self) -> Conditions:
        return tried.CONDITIONS

    def work(self, form: Form) -> dict[str, object]:
        rules = tried.outer_rules_of(form)
        trials, k_min = tried.trials_of(form, rules), numbers_of(form.text("K_MIN"), "K_MIN")
        wanted = form.number("FAILURE_PERCENT")
        population = form.text("POPULATION")
        areas = inputs.mask_areas_of(form, [(population, "POPULATION")] if population else [])
        households = inputs.households_of(form, areas)
        area_of = own_areas(households.points, areas.planar_shapes)
        masker = Masker(
            households,
            area_of,
            inputs.populations_of(areas, (), households).of_points(area_of),
            areas.planar_shapes,
            form.text("DISTANCE"),
            form.whole("SEED"),
        )
        planted = tried.planted_of(form, masker)
        grid, needed = audit(masker, trials, k_min, planted, form.progress(5, 55))
        smallest = smallest_k_inner(masker, grid, needed, wanted, rules, form.progress(55, 90))
        uneven = unevenness_of(form, areas)
        said = notes(households, grid)
        form.info(*said)
        form.outputs.add("AUDIT", grid_table(grid))
        form.outputs.add("SMALLEST", smallest_table(smallest))
        form.outputs.add("AREA_AUDIT", area_table(areas, grid, uneven))
        shapes = np.asarray(areas.planar_shapes)
        form.outputs.add_text(
            "REPORT",
            lambda: audit_report(
                grid,
                smallest,
                wanted,
                planted,
                uneven,
                shapes,
                areas.names.tolist(),
                north_of(areas.planar, shapes, form.context),
                said,
                provenance_of(form),
            ),
        )
        return audit_numbers(households, grid, smallest, planted)


NUMBERS = {
    "N_HOUSEHOLDS": tr("Households"),
    "N_IN_NO_AREA": tr("Households in no area"),
    "SMALLEST_K_INNER": tr("Smallest K_INNER that meets the wanted rate for the first K_MIN"),
    "SENSITIVITY_BEFORE": tr("Sensitivity for planted clusters from the true places, per cent"),
    "SPECIFICITY_BEFORE": tr("Specificity for planted clusters from the true places, per cent"),
}


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
    n_trials, n_min = grid.percent_below.shape
    columns: dict[str, TableColumn | None] = {
        "method": [trial.method for trial in grid.trials for _ in range(n_min)],
        "k_min": np.tile(grid.k_min, n_trials),
        "percent_below": grid.percent_below.ravel(),
        "percent_below_candidates": grid.percent_below_candidates.ravel(),
    }
    of_trials = ("k_inner", "k_outer", "percent_not_masked", "mean_displacement", "median_displacement")
    columns |= {name: np.repeat(getattr(grid, name), n_min) for name in of_trials}
    for name in ("clusters_found", "sensitivity", "specificity"):
        values = [getattr(detection, name) for detection in grid.detections]
        columns[name] = np.repeat(values, n_min) if values else None
    return filled(DONUT_AUDIT, columns)


def smallest_table(smallest: Sequence[SmallestKInner]) -> Table:
    """SMALLEST."""
    return filled(SMALLEST, of_rows(SMALLEST, smallest))


def area_table(areas: PopulatedLayer, grid: Audit, uneven: Heterogeneity | None) -> Table:
    """AREA_AUDIT."""
    narrowest = grid.narrowest()
    share = grid.percent_below_by_area[narrowest, int(grid.k_min.argmin())]
    names = [np.format_float_positional(grid.k_inner[i], trim="-").replace(".", "_") for i in narrowest]
    columns: dict[str, TableColumn] = {
        "not_masked": grid.households - grid.masked[narrowest[0]],
        "percent_below": share[0],
        **{f"below_{name}": values for name, values in zip(names[1:], share[1:])},
        **{f"quintile_{name}": _whole_or_none(quintiles(values)) for name, values in zip(names, share)},
    }
    if uneven is not None:
        columns |= {"sub_areas": uneven.n_parts}
        columns |= {"density_variance": uneven.variance, "density_variation": uneven.variation}
    own = [(areas.id_field, areas.identifiers)]
    return filled(AREA_AUDIT, columns, grid, own=own, shapes=areas.shapes, crs=areas.crs)


def _whole_or_none(values: np.ndarray) -> list[object]:
    return [None if value != value else int(value) for value in values.tolist()]


def audit_numbers(
    households: Households, grid: Audit, smallest: Sequence[SmallestKInner], planted: PlantedClusters | None
) -> dict[str, object]:
    """The numeric outputs; those that cannot be known are left out."""
    numbers: dict[str, object] = {
        "N_HOUSEHOLDS": float(households.weights.sum()),
        "N_IN_NO_AREA": float(grid.reasons[0, OUTSIDE]),
    }
    if smallest[0].k_inner is not None:
        numbers["SMALLEST_K_INNER"] = smallest[0].k_inner
    if planted is not None:
        numbers["SENSITIVITY_BEFORE"] = planted.before.sensitivity
        numbers["SPECIFICITY_BEFORE"] = planted.before.specificity
    return numbers
