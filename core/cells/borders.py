"""Neighbours of areas of any shape: those that share a border, or at least a corner."""

from __future__ import annotations

import numpy as np
import shapely

from ..progress import Progress, silent

BATCH = 20_000


def shape_borders(shapes: np.ndarray, corners: bool, progress: Progress = silent) -> np.ndarray:
    """Pairs of polygons that share a stretch of border, or also those that touch in a point, (b, 2) int64.

    shapes : (n,) valid polygons in coordinates in which shared borders match exactly (those of the layer). Polygons
    that overlap count as neighbours.
    """
    first, second = shapely.STRtree(shapes).query(shapes, predicate="intersects")
    once = first < second
    first, second = first[once], second[once]
    if corners:
        return np.column_stack([first, second])
    shared = np.zeros(len(first), bool)
    for start in range(0, len(first), BATCH):
        part = slice(start, start + BATCH)
        meeting = shapely.intersection(shapes[first[part]], shapes[second[part]])
        shared[part] = (shapely.length(meeting) > 0) | (shapely.area(meeting) > 0)
        progress(min(1.0, (start + BATCH) / len(first)))
    return np.column_stack([first[shared], second[shared]])
