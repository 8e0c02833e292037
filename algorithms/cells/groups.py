"""Groups of cells, and the cells left out: declared and written."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from qgis.core import QgsField, QgsProcessingParameterDefinition

from ...core.cells import REASONS, Cells, Partition
from ...core.cells.measures import GroupDescriptions
from ...core.language import tr
from ..form.parameters import POLYGONS, sink
from ..layers.shapes.surfaces import PopulatedLayer
from ..layers.tables import FOR_RELEASE, INTERNAL, Table, TableColumn, number_fields

NUMBERS = {
    "N_GROUPS": tr("Groups"),
    "NON_POP": tr("Share of the people left out (non_pop)"),
    "WEIGHTED_DIST": tr("Mean diagonal of a person's group, in cells (weighted_dist)"),
    "LOSS": tr("Loss"),
}


def group_outputs() -> Iterable[QgsProcessingParameterDefinition]:
    """CROSSWALK, GROUPS, LEFT_OUT."""
    yield sink(
        "CROSSWALK",
        tr("Crosswalk"),
        FOR_RELEASE,
        tr(
            "Which group (vbas_region) each cell belongs to, empty for a cell that is left out. “Release records” and "
            "“Evaluate regions” take it."
        ),
    )
    yield sink(
        "GROUPS",
        tr("Groups"),
        FOR_RELEASE,
        tr(
            "The groups as polygons: number of cells, people in each field, the fewest in any of them, people "
            "per km², surface in km², surface over that of the convex hull (area_hull), and the square root "
            "of the hull's surface in metres (sqrt_hull)."
        ),
        POLYGONS,
        optional=True,
    )
    yield sink(
        "LEFT_OUT",
        tr("Cells left out"),
        INTERNAL,
        tr("The cells that are in no group, with the reason."),
        POLYGONS,
        optional=True,
    )


def groups_table(layer: PopulatedLayer, cells: Cells, groups: GroupDescriptions, shapes: np.ndarray) -> Table:
    """GROUPS. shapes : (n_groups,) in the layer's CRS."""
    least = ["least", *(f"least_{i}" for i in range(2, groups.least.shape[1] + 1))]
    ends = number_fields(
        **dict.fromkeys(least, _kind(groups.least)), density="real", area_km2="real", area_hull="real", sqrt_hull="real"
    )
    starts = number_fields(vbas_region="long", cells="integer")
    people = _people_fields(cells.fields, groups.population, {one.name().lower() for one in (*starts, *ends)})
    columns: list[TableColumn] = [
        np.arange(1, len(groups.cells) + 1),
        groups.cells,
        *_columns(groups.population),
        *_columns(groups.least),
        groups.density,
        groups.area_km2,
        groups.area_hull,
        groups.sqrt_hull,
    ]
    return Table([*starts, *people, *ends], columns, "polygons", shapes, layer.crs)


def left_out_table(layer: PopulatedLayer, cells: Cells, partition: Partition, shapes: np.ndarray) -> Table:
    """LEFT_OUT. shapes : (n,) of the cells, in the layer's CRS."""
    out = np.flatnonzero(partition.reason)
    people = cells.population[out]
    fields = _people_fields(cells.fields, cells.population, {layer.id_field.name().lower(), "reason"})
    columns: list[TableColumn] = [
        [layer.identifiers[cell] for cell in out.tolist()],
        *_columns(people, whole=_kind(cells.population) == "long"),
        [REASONS[reason] for reason in partition.reason[out].tolist()],
    ]
    return Table([layer.id_field, *fields, *number_fields(reason="text")], columns, "polygons", shapes[out], layer.crs)


def partition_numbers(partition: Partition) -> dict[str, object]:
    """The numeric outputs."""
    measures = partition.measures
    return {
        "N_GROUPS": measures.n_groups,
        "NON_POP": measures.non_pop,
        "WEIGHTED_DIST": measures.weighted_dist,
        "LOSS": measures.loss,
    }


def _kind(values: np.ndarray) -> str:
    return "long" if (values == np.floor(values)).all() else "real"


def _columns(values: np.ndarray, whole: bool | None = None) -> list[np.ndarray]:
    if _kind(values) == "long" if whole is None else whole:
        values = values.astype(np.int64)
    return list(values.T)


def _people_fields(names: tuple[str, ...], values: np.ndarray, taken: set[str]) -> list[QgsField]:
    """A field per population field, under its own name where that is free."""
    shown = [f"population_{name}" if name.lower() in taken else name for name in names]
    return number_fields(**dict.fromkeys(shown, _kind(values)))
