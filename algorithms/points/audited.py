"""What comes of a donut audit: the grid, the smallest K_INNER, the areas, the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from qgis.core import QgsProcessingParameterDefinition

from ...core import counted
from ...core.language import plural, tr
from ...core.masking.audit import Audit, SmallestKInner, quintiles
from ...core.masking.clusters import PlantedClusters
from ...core.masking.donut import OUTSIDE
from ...core.masking.populations import Heterogeneity, Households, heterogeneity
from ...core.tables.points import AREA_AUDIT, DONUT_AUDIT, SMALLEST
from ..form.form import Form
from ..form.parameters import POLYGONS, field, report, sink, source
from ..layers.shapes.surfaces import PopulatedLayer
from ..layers.tables import Table, TableColumn, filled, of_rows
from .inputs import read_areas_with_people

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
    shown = grid.narrowest()
    share = grid.percent_below_by_area[shown, int(grid.k_min.argmin())]
    names = [np.format_float_positional(grid.k_inner[i], trim="-").replace(".", "_") for i in shown]
    columns: dict[str, TableColumn] = {
        "not_masked": grid.households - grid.masked[shown[0]],
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
