"""Finding neighbours: polygons that share a stretch of border, points whose Voronoi cells do."""

from __future__ import annotations

from typing import Callable

import numpy as np
import shapely
from scipy.spatial import QhullError, Voronoi

from .adjacency import Adjacency, adjacency_of_pairs
from .areas import Areas
from .drawing import buffered_hull
from .progress import Progress, silent

BATCH = 20_000


def neighbours_of(areas: Areas) -> Adjacency:
    """The neighbours given with the areas, or else those of their points."""
    return point_neighbours(areas.points) if areas.neighbours is None else areas.neighbours


def polygon_neighbours(
    shapes: np.ndarray,
    measured: Callable[[np.ndarray], np.ndarray] | None = None,
    progress: Progress = silent,
) -> Adjacency:
    """Polygons that share a stretch of border (touching in a corner is not enough).

    shapes : (n,) valid polygons, in the coordinates of their layer, where borders digitised once match
    measured : turns such shapes into metres, to measure the borders; None if they are in metres
    Polygons that overlap are neighbours too; half the outline of what they share counts as border.
    """
    first, second = touching(shapes)
    borders = np.zeros(len(first))
    for start in range(0, len(first), BATCH):
        part = slice(start, start + BATCH)
        meeting = shapely.intersection(shapes[first[part]], shapes[second[part]])
        share = (shapely.length(meeting) > 0).nonzero()[0]
        surface = shapely.area(meeting[share]) > 0
        lines = meeting[share] if measured is None else measured(meeting[share])
        borders[start + share] = np.where(surface, 0.5, 1.0) * shapely.length(lines)
        progress(min(1.0, (start + BATCH) / len(first)))
    share = borders > 0
    return adjacency_of_pairs(first[share], second[share], borders[share], len(shapes))


def touching(shapes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every pair of polygons that share at least a point once, the lower number in front: two (b,) int64 arrays.

    shapes : (n,) valid polygons, in coordinates in which borders digitised once match
    """
    first, second = shapely.STRtree(shapes).query(shapes, predicate="intersects")
    once = first < second
    return first[once], second[once]


def point_neighbours(points: np.ndarray) -> Adjacency:
    """Points whose Voronoi cells, as they are drawn for areas given as points, share a border, (n, 2) metres in.

    Of points that coincide, the first has the cell, and the others are its neighbours with a border of length 0.
    Points on a line are neighbours of the points before and after them.
    """
    unique, first_of, twin = np.unique(points, axis=0, return_index=True, return_inverse=True)
    first, second, borders = _cell_borders(unique)
    twin = twin.reshape(-1)
    others = np.setdiff1d(np.arange(len(points)), first_of)
    return adjacency_of_pairs(
        np.concatenate([first_of[first], first_of[twin[others]]]),
        np.concatenate([first_of[second], others]),
        np.concatenate([borders, np.zeros(len(others))]),
        len(points),
    )


def _cell_borders(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of distinct points (n, 2), sorted by x, whose cells meet, and the length of the border between them."""
    try:
        diagram = Voronoi(points - points.mean(axis=0))
    except (QhullError, ValueError):  # fewer than three, or all on one line: sorted along it already
        following = np.arange(1, len(points))
        return following - 1, following, np.zeros(len(following))
    clip = buffered_hull(diagram.points)
    first, second = diagram.ridge_points.T
    lines = shapely.linestrings(_ridge_ends(diagram, 10 * np.sqrt(clip.area) + clip.length))
    shapely.prepare(clip)
    crossing = ~shapely.contains_properly(clip, lines)
    lines[crossing] = shapely.intersection(lines[crossing], clip)
    borders = shapely.length(lines)
    share = borders > 0
    return first[share].astype(np.int64), second[share].astype(np.int64), borders[share]


def _ridge_ends(diagram: Voronoi, reach: float) -> np.ndarray:
    """Both ends of each border between two cells, (b, 2, 2); one without an end stops `reach` metres beyond the points.

    Where the points are nearly on a line, the end it has may lie far away on the other side of them.
    """
    vertices = np.sort(np.array(diagram.ridge_vertices), axis=1)  # -1, the end that is missing, comes first
    ends = diagram.vertices[vertices]
    is_open = vertices[:, 0] < 0
    first, second = (diagram.points[diagram.ridge_points[is_open, side]] for side in (0, 1))
    along = second - first
    outward = np.column_stack([along[:, 1], -along[:, 0]])
    # The points are centred: away from their mean leads out of the hull.
    outward *= (np.sign(((first + second) * outward).sum(axis=1)) / np.hypot(*outward.T))[:, None]
    away = reach + np.hypot(*ends[is_open, 1].T)
    ends[is_open, 0] = ends[is_open, 1] + away[:, None] * outward
    return ends
