"""Points whose ring lies almost or wholly outside their area: decided exactly, then placed where there is room."""

from __future__ import annotations

import numpy as np
import shapely

from ..progress import Progress, silent
from .draws import first_good
from .laws import Law
from .placing import by_area
from .reach import DIRECTIONS, open_directions, reach

# Draws for one point before its share of the ring is called a sliver: only open directions and distances are drawn.
MOST_DRAWS = 1 << 17
_FIRST_DRAWS = 16
_AT_ONCE = 1 << 20


def mask_stragglers(
    points: np.ndarray,
    area_of: np.ndarray,
    inner: np.ndarray,
    outer: np.ndarray,
    shapes: np.ndarray,
    law: Law,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> tuple[np.ndarray, np.ndarray]:
    """Places (n, 2), NaN where none was found, and whether each ring meets its area at all, (n,) bool.

    points : (n, 2); area_of : (n,) positions in `shapes`, equal ones side by side; inner, outer : (n,) metres.
    Directions that do not lead into the area beyond the inner radius, and distances beyond its farthest spot, cannot
    succeed; leaving them out of the draw changes nothing but the number of draws.
    """
    places = np.full((len(points), 2), np.nan)
    meets = np.zeros(len(points), bool)
    for area, members in by_area(area_of):
        rows = np.arange(members.start, members.stop)
        shape = shapes[area]
        found = reach(points[rows], inner[rows], outer[rows], shape)
        meets[rows] = found.meets
        rows, farthest = rows[found.meets], found.farthest[found.meets]
        limits = np.minimum(outer[rows], farthest)
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
    law: Law,
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
            places[rows] = first_good(points[rows], direction, distance, inner[rows], limits[rows], inside)
        left = left[np.isnan(places[left, 0])]
        draws *= 2
    return places
