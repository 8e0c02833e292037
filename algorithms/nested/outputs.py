"""What is written of nested levels: regions of all levels, the crosswalk, the audit, the records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.crosswalk import Crosswalk
from ...core.drawing import dissolve, pieces, voronoi_cells_of
from ...core.levels import Levels
from ...core.nesting.measures import LevelAudit
from ...core.progress import Progress, part
from ..layers.reading.crosswalks import LEVEL, NUMBER
from ..layers.shapes.areas import AreaLayer
from ..layers.tables import Table, TableColumn, number_fields

PARENT, VALUES = "vbas_parent", "vbas_values"


def level_shapes(layer: AreaLayer, levels: Levels, progress: Progress) -> list[np.ndarray]:
    """Of each level, its dissolved regions in the CRS of REGIONS; every level is drawn from the one below."""
    shapes = voronoi_cells_of(layer.areas.points) if layer.are_points else layer.shapes
    found: list[np.ndarray] = []
    for level, crosswalk in enumerate(levels.crosswalks):
        joined = crosswalk if not level else Crosswalk(levels.parents(level - 1), crosswalk.n_regions)
        step = part(progress, level / len(levels), (level + 1) / len(levels))
        found.append(dissolve(found[-1] if found else shapes, joined, step))
    return [layer.to_layer(one) for one in found] if layer.are_points else found


def crosswalk_of_levels(layer: AreaLayer, levels: Levels) -> Table:
    """CROSSWALK: a row per area, with its region at each level."""
    names = [f"{NUMBER}_{level + 1}" for level in range(len(levels))]
    columns: list[TableColumn] = [layer.identifiers]
    for crosswalk in levels.crosswalks:
        numbers = [None, *crosswalk.numbers.tolist()]
        columns.append([numbers[region + 1] for region in crosswalk.region_of.tolist()])
    return Table([layer.id_field, *number_fields(**dict.fromkeys(names, "long"))], columns)


def regions_of_levels(
    layer: AreaLayer,
    levels: Levels,
    shapes: list[np.ndarray],
    audit: LevelAudit | None = None,
    values: Sequence[str] = (),
) -> Table:
    """RELEASED_REGIONS: the regions of all levels, the finest first; with what is released where that is known.

    values : what each level shows of the quasi-identifiers, where levels differ in that
    """
    kinds, columns = _described(layer, levels, shapes)
    if values:
        kinds[VALUES] = "text"
        columns.append([of for of, crosswalk in zip(values, levels.crosswalks) for _ in range(crosswalk.n_regions)])
    if audit is not None:
        kinds |= {"released": "long", "within": "long"}
        columns += [audit.shown, audit.shown + audit.finer]
    if any(names is not None for names in levels.names):
        kinds["name"] = "text"
        columns.append(
            [
                None if names is None else str(names[region])
                for names, crosswalk in zip(levels.names, levels.crosswalks)
                for region in range(crosswalk.n_regions)
            ]
        )
    return Table(number_fields(**kinds), columns, "polygons", np.concatenate(shapes), layer.crs)


def audit_of_levels(layer: AreaLayer, levels: Levels, shapes: list[np.ndarray], audit: LevelAudit) -> Table:
    """REGION_AUDIT: by level and region who is shown here, who within, who had to go up, who is suppressed."""
    kinds, columns = _described(layer, levels, shapes)
    shown = {
        "population": "real",
        "records": "long",
        "shown": "long",
        "finer": "long",
        "coarser": "long",
        "suppressed": "long",
        "classes": "integer",
        "smallest": "long",
        "distance": "real",
    }
    columns += [getattr(audit, name) for name in shown]
    every = np.concatenate(shapes)
    fields = number_fields(**kinds, **shown, parts="integer")
    return Table(fields, [*columns, pieces(every)], "polygons", every, layer.crs)


def _described(layer: AreaLayer, levels: Levels, shapes: list[np.ndarray]) -> tuple[dict[str, str], list[TableColumn]]:
    """Level, number, parent, areas and km² of every region."""
    numbers = [crosswalk.numbers for crosswalk in levels.crosswalks]
    parents: list[object] = []
    for level in range(len(levels)):
        above = numbers[level + 1] if level + 1 < len(levels) else None
        parents += [None if above is None else int(above[region]) for region in levels.parents(level)]
    n_areas = [np.bincount(one.region_of[one.region_of >= 0], minlength=one.n_regions) for one in levels.crosswalks]
    kinds = {LEVEL: "integer", NUMBER: "long", PARENT: "long", "areas": "integer", "area_km2": "real"}
    of_level = np.repeat(np.arange(len(levels)) + 1, [len(one) for one in numbers])
    surface = np.concatenate([_square_metres(layer, one, of) for one, of in zip(levels.crosswalks, shapes)]) / 1e6
    return kinds, [of_level, np.concatenate(numbers), parents, np.concatenate(n_areas), surface]


def _square_metres(layer: AreaLayer, crosswalk: Crosswalk, shapes: np.ndarray) -> np.ndarray:
    return layer.square_metres_of(shapes) if layer.are_points else crosswalk.totals(layer.square_metres)
