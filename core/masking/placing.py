"""Placing points: which area a point lies in, and a place for it in its ring within that area."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Callable

import numpy as np
import shapely

from ..progress import Progress, silent

NO_AREA = -1


def own_areas(points: np.ndarray, shapes: np.ndarray, progress: Progress = silent) -> np.ndarray:
    """The area each point lies in, (N,) int64; NO_AREA (-1) where there is none.

    points : (N, 2) planar coordinates, NaN for a point that has no position; shapes : (m,) valid polygons in the same
    coordinates. A point on a border, or where areas overlap, belongs to the first of its areas.
    """
    area_of = np.full(len(points), NO_AREA, np.int64)
    placed = np.flatnonzero(np.isfinite(points).all(axis=1))
    candidates, area = shapely.STRtree(shapes).query(shapely.points(points[placed]))
    order = np.argsort(-area, kind="stable")
    candidates, area = placed[candidates[order]], area[order]
    shapely.prepare(shapes)
    for i, members in by_area(area):
        here = candidates[members]
        # The areas come last to first, so that the first of a point's areas prevails.
        area_of[here[shapely.intersects_xy(shapes[i], points[here, 0], points[here, 1])]] = i
        progress(members.stop / len(area))
    return area_of


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


Inside = Callable[[np.ndarray], np.ndarray]
DistanceLaw = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def uniform_in_distance(draws: np.ndarray, inner: np.ndarray, outer: np.ndarray) -> np.ndarray:
    """Each distance between the radii is equally likely (Allshouse 2010, section 2.2), metres.

    draws : numbers in [0, 1); inner, outer : radii in metres, of shapes that broadcast.
    """
    return inner + draws * (outer - inner)


def uniform_in_area(draws: np.ndarray, inner: np.ndarray, outer: np.ndarray) -> np.ndarray:
    """Each place on the ring's surface is equally likely, metres; arguments as in `uniform_in_distance`."""
    return np.sqrt(inner**2 + draws * (outer**2 - inner**2))


def first_inside(
    points: np.ndarray,
    direction: np.ndarray,
    distance: np.ndarray,
    inner: np.ndarray,
    outer: np.ndarray,
    inside: Inside,
) -> np.ndarray:
    """The place of the first draw that lies in the ring and inside the area, (n, 2); NaN where none does.

    points : (n, 2); direction, distance : (n, d) radians and metres; inner, outer : (n,) metres; inside : takes places
    (n * d, 2), those of one point adjacent, and returns which are inside. The distance is measured between the
    coordinates, so that their rounding counts.
    """
    places = points[:, None] + distance[:, :, None] * np.stack([np.cos(direction), np.sin(direction)], axis=2)
    moved = np.hypot(*np.moveaxis(places - points[:, None], 2, 0))
    good = (moved > inner[:, None]) & (moved < outer[:, None])
    good &= inside(places.reshape(-1, 2)).reshape(good.shape)
    first = good.argmax(axis=1)
    rows = np.arange(len(points), dtype=np.int64)
    return np.where(good[rows, first, None], places[rows, first], np.nan)


# Draws for one point, in open directions and distances only, before the area's part of its ring is called a sliver.
MOST_DRAWS = 1 << 17
_FIRST_DRAWS = 16
_AT_ONCE = 1 << 20


DIRECTIONS = 1024
_TURN = 2.0 * np.pi


def mask_stragglers(
    points: np.ndarray,
    area_of: np.ndarray,
    inner: np.ndarray,
    outer: np.ndarray,
    shapes: np.ndarray,
    law: DistanceLaw,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> tuple[np.ndarray, np.ndarray]:
    """Places (n, 2), NaN where none was found, and whether each ring meets its area at all, (n,) bool.

    points : (n, 2); area_of : (n,) positions in `shapes`, equal values adjacent; inner, outer : (n,) metres.
    Directions that do not lead into the area beyond the inner radius, and distances beyond its farthest place, cannot
    succeed; leaving them out of the draw changes nothing but the number of draws.
    """
    places = np.full((len(points), 2), np.nan)
    meets = np.zeros(len(points), bool)
    for area, members in by_area(area_of):
        rows = np.arange(members.start, members.stop, dtype=np.int64)
        shape = shapes[area]
        meets[rows], farthest = reach(points[rows], inner[rows], outer[rows], shape)
        limits = np.minimum(outer[rows], farthest)[meets[rows]]
        rows = rows[meets[rows]]
        size = max(_AT_ONCE // max(shapely.get_num_coordinates(shape), DIRECTIONS), 1)
        for start in range(0, len(rows), size):
            some = slice(start, start + size)
            places[rows[some]] = _place(points[rows[some]], inner[rows[some]], limits[some], shape, law, rng)
        progress(members.stop / len(points))
    return places, meets


def _place(
    points: np.ndarray,
    inner: np.ndarray,
    limits: np.ndarray,
    shape: shapely.Geometry,
    law: DistanceLaw,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw among the open directions, more and more at a time, until each point has a place, (n, 2)."""
    places = np.full((len(points), 2), np.nan)
    is_open = open_directions(points, inner, shape)
    # Sector number j of those open to a point: sectors[offset + j].
    sectors = np.nonzero(is_open)[1]
    n_open = is_open.sum(axis=1)
    offsets = np.cumsum(n_open) - n_open
    left = np.flatnonzero(n_open > 0)
    draws = _FIRST_DRAWS

    def inside(drawn: np.ndarray) -> np.ndarray:
        return np.asarray(shapely.contains_xy(shape, drawn[:, 0], drawn[:, 1]))

    while len(left) and draws <= MOST_DRAWS:
        size = max(_AT_ONCE // draws, 1)
        for rows in [left[start : start + size] for start in range(0, len(left), size)]:
            many = (len(rows), draws)
            chosen = offsets[rows, None] + (rng.random(many) * n_open[rows, None]).astype(np.int64)
            direction = (sectors[chosen] + rng.random(many)) * (2.0 * np.pi / DIRECTIONS)
            distance = law(rng.random(many), inner[rows, None], limits[rows, None])
            places[rows] = first_inside(points[rows], direction, distance, inner[rows], limits[rows], inside)
        left = left[np.isnan(places[left, 0])]
        draws *= 2
    return places


def reach(
    points: np.ndarray, inner: np.ndarray, outer: np.ndarray, shape: shapely.Geometry
) -> tuple[np.ndarray, np.ndarray]:
    """Whether each point's open ring meets the inside of the area, (n,) bool, and metres to the farthest place, (n,).

    points : (n, 2); inner, outer : (n,) radii in metres; shape : polygon or multipolygon.
    A part of an area is connected, so the distances from a point to its inside fill the interval from the nearest to
    the farthest place; the farthest is a corner of the convex hull. The ring meets the part where that interval and
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
    return meets, farthest


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
    # One more sector on either side: rounding must not close a direction that is open.
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
