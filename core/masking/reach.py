"""Whether a ring meets its area at all, decided from the geometry, and in which directions it does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely

DIRECTIONS = 1024
_TURN = 2.0 * np.pi


@dataclass(frozen=True, eq=False)
class Reach:
    """What n points of one area can reach in it.

    meets : (n,) bool, whether the open ring meets the inside of the area
    farthest : (n,) metres to the farthest spot of the area
    """

    meets: np.ndarray
    farthest: np.ndarray


def reach(points: np.ndarray, inner: np.ndarray, outer: np.ndarray, shape: shapely.Geometry) -> Reach:
    """Decide for each point whether its ring meets the area.

    points : (n, 2); inner, outer : (n,) radii in metres; shape : polygon or multipolygon.
    A part of an area is connected, so the distances from a point to its inside fill the interval from the nearest to
    the farthest spot; the farthest is a corner of the convex hull. The ring meets the part where that interval and
    the ring's overlap.
    """
    meets = np.zeros(len(points), bool)
    farthest = np.zeros(len(points))
    places = shapely.points(points)
    for part in shapely.get_parts(shape):
        corners = shapely.get_coordinates(shapely.convex_hull(part))
        far = np.zeros(len(points))
        for corner in corners:
            np.maximum(far, np.hypot(*(points - corner).T), out=far)
        meets |= (far > inner) & (shapely.distance(part, places) < outer)
        np.maximum(farthest, far, out=farthest)
    return Reach(meets, farthest)


def open_directions(points: np.ndarray, inner: np.ndarray, shape: shapely.Geometry) -> np.ndarray:
    """Directions in which the area goes on beyond the inner radius, (n, DIRECTIONS) bool, counted from east.

    A ray that is inside the area beyond the inner radius leaves the area through a border farther out than that. So
    the pieces of border outside the circle cover all such directions; every sector such a piece touches is open.
    points : (n, 2); inner : (n,) metres.
    """
    starts, ends = _edges(shape)
    steps = np.zeros((len(points), DIRECTIONS + 1), np.int64)
    a = ((ends - starts) ** 2).sum(axis=1)
    start = starts[None] - points[:, None]
    b = (start * (ends - starts)).sum(axis=2)
    c = (start**2).sum(axis=2) - inner[:, None] ** 2
    discriminant = b * b - a * c
    root = np.sqrt(np.maximum(discriminant, 0.0))
    crosses = discriminant > 0
    enters = np.where(crosses, np.clip((-b - root) / a, 0.0, 1.0), 1.0)
    leaves = np.where(crosses, np.clip((-b + root) / a, 0.0, 1.0), 1.0)
    for first, last in ((np.zeros_like(enters), enters), (leaves, np.ones_like(leaves))):
        row, edge = np.nonzero(last > first)
        along = (ends - starts)[edge]
        begin = start[row, edge] + first[row, edge, None] * along
        end = start[row, edge] + last[row, edge, None] * along
        _open_sectors(steps, row, begin, end)
    return steps[:, :-1].cumsum(axis=1) > 0


def _open_sectors(steps: np.ndarray, row: np.ndarray, begin: np.ndarray, end: np.ndarray) -> None:
    """Mark in `steps` (+1 where an open stretch begins, -1 after it) the sectors between two directions."""
    cross = begin[:, 0] * end[:, 1] - begin[:, 1] * end[:, 0]
    turn = np.arctan2(cross, (begin * end).sum(axis=1))  # less than half a turn: the piece is straight
    low = np.arctan2(begin[:, 1], begin[:, 0]) + np.minimum(turn, 0.0)
    # A sector more on either side: rounding must not shut a direction that is open.
    first = np.floor(low / _TURN * DIRECTIONS).astype(np.int64) - 1
    stop = np.floor((low + np.abs(turn)) / _TURN * DIRECTIONS).astype(np.int64) + 2
    width = np.minimum(stop - first, DIRECTIONS)
    first %= DIRECTIONS
    stop = first + width
    wraps = stop > DIRECTIONS
    np.add.at(steps, (row, first), 1)
    np.add.at(steps, (row, np.minimum(stop, DIRECTIONS)), -1)
    np.add.at(steps, (row[wraps], 0), 1)
    np.add.at(steps, (row[wraps], stop[wraps] - DIRECTIONS), -1)


def _edges(shape: shapely.Geometry) -> tuple[np.ndarray, np.ndarray]:
    """Starts and ends of the border's edges that have a length, (e, 2) each."""
    coordinates, ring = shapely.get_coordinates(shapely.get_rings(shapely.get_parts(shape)), return_index=True)
    same = (ring[:-1] == ring[1:]) & (coordinates[:-1] != coordinates[1:]).any(axis=1)
    return coordinates[:-1][same], coordinates[1:][same]
