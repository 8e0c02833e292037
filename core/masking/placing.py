"""Which area a point lies in, and work on points area by area."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import shapely

from ..progress import Progress, silent

NO_AREA = -1


def own_areas(points: np.ndarray, shapes: np.ndarray, progress: Progress = silent) -> np.ndarray:
    """The area each point lies in, (N,) int64; NO_AREA (-1) where there is none.

    points : (N, 2) planar coordinates, NaN for a point that has no position; shapes : (m,) valid polygons in the same
    coordinates. A point on a border, or where areas overlap, belongs to the first of its areas.
    """
    found = np.full(len(points), NO_AREA, np.int64)
    placed = np.flatnonzero(np.isfinite(points).all(axis=1))
    candidates, area = shapely.STRtree(shapes).query(shapely.points(points[placed]))
    order = np.argsort(-area, kind="stable")
    candidates, area = placed[candidates[order]], area[order]
    shapely.prepare(shapes)
    for i, members in by_area(area):
        here = candidates[members]
        # The areas come last to first, so that the first of a point's areas prevails.
        found[here[shapely.intersects_xy(shapes[i], points[here, 0], points[here, 1])]] = i
        progress(members.stop / len(area))
    return found


def inside_own_area(candidates: np.ndarray, area: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Whether each position lies inside its area, (n,) bool.

    candidates : (n, 2) planar; area : (n,) positions in `shapes`, equal values adjacent; shapes : prepared polygons.
    """
    inside = np.zeros(len(candidates), bool)
    for i, members in by_area(area):
        inside[members] = shapely.contains_xy(shapes[i], candidates[members, 0], candidates[members, 1])
    return inside


def by_area(area: np.ndarray) -> Iterator[tuple[int, slice]]:
    """(area, slice of its points) for codes (n,) in which equal values are adjacent."""
    if not len(area):
        return
    starts = np.concatenate([[0], np.flatnonzero(np.diff(area)) + 1, [len(area)]])
    for start, stop in zip(starts[:-1].tolist(), starts[1:].tolist()):
        yield int(area[start]), slice(start, stop)
