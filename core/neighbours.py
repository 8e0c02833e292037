"""Finding neighbours: polygons that share a stretch of border, points and sites whose Voronoi cells do."""

from __future__ import annotations

from typing import Callable

import numpy as np
import shapely

from .adjacency import Adjacency, adjacency_of_pairs
from .areas import Areas
from .arrays import to_list
from .drawing import buffered_hull
from .elementary import norms
from .progress import Progress, silent
from .scientific import spatial

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
    others = np.setdiff1d(np.arange(len(points), dtype=np.int64), first_of)
    return adjacency_of_pairs(
        np.concatenate([first_of[first], first_of[twin[others]]]),
        np.concatenate([first_of[second], others]),
        np.concatenate([borders, np.zeros(len(others))]),
        len(points),
    )


def _cell_borders(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of distinct points (n, 2), sorted by x, whose cells meet, and the length of the border between them."""
    try:
        diagram = spatial.Voronoi(points - points.mean(axis=0))
    except (spatial.QhullError, ValueError):  # fewer than three, or all on one line: sorted along it already
        following = np.arange(1, len(points), dtype=np.int64)
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


def _ridge_ends(diagram: spatial.Voronoi, reach: float) -> np.ndarray:
    """Both ends of each border between two cells, (b, 2, 2); one without an end stops `reach` metres beyond the points.

    Where the points are nearly on a line, the end it has may lie far away on the other side of them.
    """
    vertices = np.sort(np.array(diagram.ridge_vertices, np.int64), axis=1)  # -1, the end that is missing, comes first
    ends = diagram.vertices[vertices]
    is_open = vertices[:, 0] < 0
    first, second = (diagram.points[diagram.ridge_points[is_open, side]] for side in (0, 1))
    along = second - first
    outward = np.column_stack([along[:, 1], -along[:, 0]])
    # The points are centred: away from their mean leads out of the hull.
    outward *= (np.sign(((first + second) * outward).sum(axis=1)) / norms(outward))[:, None]
    away = reach + norms(ends[is_open, 1])
    ends[is_open, 0] = ends[is_open, 1] + away[:, None] * outward
    return ends


SURROUNDINGS = 24
TOLERANCE = 1e-12  # relative to the nearest site: below it, cells meet in a corner and not along a border
ORIGIN = -1


def adjacent_sites(sites: np.ndarray, own: int, tree: spatial.cKDTree) -> np.ndarray:
    """The Delaunay neighbours of site `own`, counterclockwise around it, (t,) int64; found from its surroundings alone.

    sites : (S, 2); tree : of the sites. Sites that coincide with `own` are no neighbours; of sites that coincide
    elsewhere all or none are. Sites whose cells only touch in a corner (four on a circle) are not adjacent. Where the
    cell is unbounded the order starts and ends at the open side.

    The cell is the set of x with (x - s)·g <= 1/2 for all g = (q - s) / |q - s|², q another site and s the own one: its
    borders belong to the corners of the convex hull of the g and the origin (polar duality). Near sites have the
    outermost g. A hull that holds the circle of radius 1/r about the origin needs no site farther away than r.
    """
    reach, near = tree.query(sites[own], k=min(SURROUNDINGS, len(sites)))
    candidates = np.sort(np.atleast_1d(near))
    ring, widest = _ring(sites, own, candidates)
    if len(candidates) < len(sites) and widest >= np.max(reach) * (1 - TOLERANCE):
        ring, _ = _ring(sites, own, np.arange(len(sites), dtype=np.int64))
    return ring


def _ring(sites: np.ndarray, own: int, candidates: np.ndarray) -> tuple[np.ndarray, float]:
    """The neighbours among the candidates, and how near another site would have to be to matter (or, a neighbour is).

    The hull is drawn around a few candidates, the rest is tested against it, and what lies outside joins.
    """
    offsets = sites[candidates] - sites[own]
    squares = (offsets**2).sum(axis=1)
    apart = squares > 0
    if not apart.any():
        return np.zeros(0, np.int64), np.inf
    others, squares = candidates[apart], squares[apart]
    scale = np.sqrt(squares.min())
    polar = offsets[apart] * (scale / squares)[:, None]
    chosen = np.ones(len(others), bool)
    if len(others) > SURROUNDINGS:
        chosen[:] = False
        chosen[np.argpartition(squares, SURROUNDINGS)[:SURROUNDINGS]] = True
    while True:
        ring = _hull(polar, np.flatnonzero(chosen))
        joining, margin = _outermost(polar, ring)
        joining = joining[~chosen[joining]]
        if len(joining) == 0:
            break
        chosen[joining] = True
    if ORIGIN in ring:
        opening = ring.index(ORIGIN)
        ring = ring[opening + 1 :] + ring[:opening]
    farthest = np.sqrt(squares[ring].max())
    return others[_with_twins(polar, np.array(ring, np.int64))], max(scale / margin if margin > 0 else np.inf, farthest)


def _hull(polar: np.ndarray, chosen: np.ndarray) -> list[int]:
    """Corners, counterclockwise, of the convex hull of the origin and the chosen points (Andrew's monotone chain)."""
    corners = [(0.0, 0.0, ORIGIN), *((x, y, i) for (x, y), i in zip(to_list(polar[chosen]), to_list(chosen)))]
    corners.sort()
    ring: list[int] = []
    for walk in (corners, corners[::-1]):
        chain: list[tuple[float, float, int]] = []
        for x, y, i in walk:
            while len(chain) > 1:
                (x0, y0, _), (x1, y1, _) = chain[-2:]
                if (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) > TOLERANCE:
                    break
                chain.pop()
            chain.append((x, y, i))
        ring += [i for _, _, i in chain[:-1]]
    return ring


def _outermost(polar: np.ndarray, ring: list[int]) -> tuple[np.ndarray, float]:
    """For each side of the hull the point farthest beyond it, if there is one; and the origin's distance to a side."""
    corners = np.vstack([polar, np.zeros((1, 2))])[ring]  # ORIGIN is the last row
    following = corners[[*range(1, len(ring)), 0]]
    sides = following - corners
    outward = np.column_stack([sides[:, 1], -sides[:, 0]])
    levels = (corners * outward).sum(axis=1)
    beyond = polar[:, :1] * outward[:, 0] + polar[:, 1:] * outward[:, 1] - levels
    farthest = beyond.argmax(axis=0)
    margin = float((levels / np.sqrt((outward**2).sum(axis=1))).min())
    return farthest[beyond[farthest, np.arange(len(ring), dtype=np.int64)] > TOLERANCE], margin


def _with_twins(polar: np.ndarray, ring: np.ndarray) -> np.ndarray:
    """The ring with every point that coincides with one of its corners, next to it."""
    position, twin = np.nonzero((polar[ring, None, 0] == polar[:, 0]) & (polar[ring, None, 1] == polar[:, 1]))
    return twin[np.argsort(position, kind="stable")]
