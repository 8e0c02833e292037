"""Adjacent sites: whose Voronoi cells share a border with the cell of one site."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ...arrays import to_list

SURROUNDINGS = 24
TOLERANCE = 1e-12  # relative to the nearest site: below it, cells meet in a corner and not along a border
ORIGIN = -1


def adjacent_sites(sites: np.ndarray, own: int, tree: cKDTree) -> np.ndarray:
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
        ring, _ = _ring(sites, own, np.arange(len(sites)))
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
    return others[_with_twins(polar, np.array(ring))], max(scale / margin if margin > 0 else np.inf, farthest)


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
    beyond = polar @ outward.T - levels
    farthest = beyond.argmax(axis=0)
    margin = float((levels / np.sqrt((outward**2).sum(axis=1))).min())
    return farthest[beyond[farthest, np.arange(len(ring))] > TOLERANCE], margin


def _with_twins(polar: np.ndarray, ring: np.ndarray) -> np.ndarray:
    """The ring with every point that coincides with one of its corners, next to it."""
    position, twin = np.nonzero((polar[ring, None, 0] == polar[:, 0]) & (polar[ring, None, 1] == polar[:, 1]))
    return twin[np.argsort(position, kind="stable")]
