"""Groups of cells, and the cells left out: declared and written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from qgis.core import QgsField, QgsProcessingParameterDefinition

from ...core.arrays import to_list
from ...core.cells import REASONS, Cells, Partition
from ...core.cells.measures import GroupDescriptions
from ...core.crosswalk import Crosswalk
from ...core.language import tr
from ...core.levels import Levels
from ...core.tables.cells import CELL_CROSSWALK, GROUPS, LEFT_OUT
from ..form.parameters import sink
from ..layers.shapes.surfaces import PopulatedLayer
from ..layers.tables import Table, filled, number_fields

NUMBERS = {
    "N_GROUPS": tr("Groups"),
    "NON_POP": tr("Share of the people left out (non_pop)"),
    "WEIGHTED_DIST": tr("Mean diagonal of a person's group, in cells (weighted_dist)"),
    "LOSS": tr("Loss"),
    "N_FALL_BACK": tr("Cells in no group that fall back to their unit"),
}


def group_outputs() -> Iterable[QgsProcessingParameterDefinition]:
    """CROSSWALK, GROUPS, LEFT_OUT."""
    yield sink(CELL_CROSSWALK)
    yield sink(GROUPS, optional=True)
    yield sink(LEFT_OUT, optional=True)


def groups_table(
    layer: PopulatedLayer,
    cells: Cells,
    groups: GroupDescriptions,
    shapes: np.ndarray,
    rest_of: Sequence[object] | None = None,
) -> Table:
    """GROUPS. shapes : (n_groups,) in the layer's CRS; rest_of : the unit whose rest each is, None for a group"""
    first, *further = people_columns(groups.least)
    least = {"least": first, **{f"least_{number}": column for number, column in enumerate(further, 2)}}
    fields = people_fields(cells.fields, groups.population, {*GROUPS.names, *least})
    return filled(
        GROUPS,
        {"vbas_region": np.arange(1, len(groups.cells) + 1, dtype=np.int64), "rest_of": rest_of, **least},
        groups,
        own=list(zip(fields, people_columns(groups.population))),
        shapes=shapes,
        crs=layer.crs,
    )


def left_out_table(
    layer: PopulatedLayer, cells: Cells, partition: Partition, shapes: np.ndarray, levels: Levels | None = None
) -> Table:
    """LEFT_OUT. shapes : (n,) of the cells, in the layer's CRS; levels : where cells fall back to a coarser one."""
    out = np.flatnonzero(partition.reason)
    fields = people_fields(cells.fields, cells.population, {layer.id_field.name().lower(), *LEFT_OUT.names})
    columns = people_columns(cells.population[out], whole=_kind(cells.population) == "long")
    identifiers = [layer.identifiers[cell] for cell in to_list(out)]
    return filled(
        LEFT_OUT,
        {
            "reason": [REASONS[reason] for reason in to_list(partition.reason[out])],
            "vbas_rest": None if levels is None else _numbers(levels.crosswalks[0], out),
        },
        own=[(layer.id_field, identifiers), *zip(fields, columns)],
        shapes=shapes[out],
        crs=layer.crs,
    )


def _numbers(crosswalk: Crosswalk, cells: np.ndarray) -> list[object]:
    """The public number of the region of each of these cells, None where it has none."""
    return [None if region < 0 else region + 1 for region in to_list(crosswalk.region_of[cells])]


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


def people_columns(values: np.ndarray, whole: bool | None = None) -> list[np.ndarray]:
    """The people by field, as whole numbers where all are, or where that is asked for."""
    if _kind(values) == "long" if whole is None else whole:
        values = values.astype(np.int64)
    return list(values.T)


def people_fields(names: tuple[str, ...], values: np.ndarray, taken: set[str]) -> list[QgsField]:
    """A field per population field, under its own name where that is free."""
    written_names = [f"population_{name}" if name.lower() in taken else name for name in names]
    return number_fields(**dict.fromkeys(written_names, _kind(values)))
