"""Outlines for a map on a page: few points, and a border that two shapes share stays one line."""

from __future__ import annotations

import numpy as np
import shapely

from ...arrays import to_list, turns

LARGEST = 1e6  # tolerance that is tried: far beyond a page


def paths(shapes: np.ndarray, tolerance: float, most: int) -> list[str]:
    """The data of an SVG path for each shape, in relative whole numbers.

    shapes : (m,) polygons or multipolygons in units of which one is the grid of the picture; tolerance : how far a line
    may leave its place; it is doubled until all lines together have at most `most` points. A shape too small for its
    outline becomes a small square, so that nothing is lost.
    """
    rings, owner = _rings(shapes)
    chains = _chains(rings)
    lines = _simplified(_lines(chains), tolerance)
    # The point in which one chain ends is that in which the next begins. What a larger tolerance leaves of a line, it
    # leaves of what a smaller one has left, too.
    while shapely.get_num_coordinates(lines).sum() - len(lines) > most and tolerance <= LARGEST:
        tolerance = tolerance * 2 if len(lines) <= most else 2 * LARGEST  # of a line both ends stay, whatever it is
        lines = _simplified(lines, tolerance)
    joined_rings = _joined(lines, chains, len(rings))
    data = [""] * len(shapes)
    for number, ring in zip(owner, joined_rings):
        if len(ring) > 2:
            data[number] += _path(ring)
    for number in [i for i, path in enumerate(data) if not path and not shapely.is_empty(shapes[i])]:
        x, y = shapely.get_coordinates(shapely.point_on_surface(shapes[number]))[0]
        data[number] = f"M{x - 2:.0f} {y - 2:.0f}h4v4h-4z"
    return data


def _rings(shapes: np.ndarray) -> tuple[list[np.ndarray], list[int]]:
    """The rings of all polygons, (p, 2) whole numbers each, open, without repeated points; and whose each is."""
    parts, of_shape = shapely.get_parts(shapes, return_index=True)
    of_shape, parts = of_shape[shapely.get_dimensions(parts) == 2], parts[shapely.get_dimensions(parts) == 2]
    rings, of_part = shapely.get_rings(parts, return_index=True)
    coordinates, of_ring = shapely.get_coordinates(rings, return_index=True)
    points = np.rint(coordinates).astype(np.int64)
    new = np.ones(len(points), bool)
    new[1:] = (points[1:] != points[:-1]).any(axis=1) | (of_ring[1:] != of_ring[:-1])
    points, of_ring = points[new], of_ring[new]
    bounds = np.searchsorted(of_ring, np.arange(len(rings) + 1, dtype=np.int64))
    outlines, owner = [], []
    for i, (start, end) in enumerate(zip(to_list(bounds[:-1]), to_list(bounds[1:]))):
        if end - start > 3:  # the first point stands at the end again
            outlines.append(points[start : end - 1])
            owner.append(int(of_shape[of_part[i]]))
    return outlines, owner


def _chains(rings: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """All rings cut where more than two lines meet: points (p, 2), the chain of each, and of each chain its ring and
    whether it is turned around.

    Two shapes run along a shared border in opposite directions: turned to one direction, and begun at the same point,
    their chains are equal, and so is what simplifying leaves of them.
    """
    if not rings:
        none = np.empty(0, np.int64)
        return np.empty((0, 2), np.int64), none, none, none
    points = np.vstack(rings)
    # (x, y) as one number: whole numbers of a page are far below 2^31
    node = np.unique(points[:, 0] * 2**32 + points[:, 1], return_inverse=True)[1].reshape(-1)
    sizes = np.array([len(ring) for ring in rings], np.int64)
    last = np.cumsum(sizes) - 1
    following = np.append(node[1:], node[:1])
    following[last] = node[last - sizes + 1]
    n_nodes = int(node.max()) + 1
    low, high = np.minimum(node, following), np.maximum(node, following)
    edges = np.unique(low * n_nodes + high)
    meeting = np.bincount(np.concatenate([edges // n_nodes, edges % n_nodes]), minlength=n_nodes) > 2
    starts = last - sizes + 1
    of_point = np.repeat(np.arange(len(rings), dtype=np.int64), sizes)
    # A ring that meets no other is cut at its least node.
    cut = meeting[node]
    alone = ~np.logical_or.reduceat(cut, starts)
    least = np.flatnonzero((node == np.minimum.reduceat(node, starts)[of_point]) & alone[of_point])
    cut[least[np.unique(of_point[least], return_index=True)[1]]] = True
    begin = np.flatnonzero(cut)
    of_ring = of_point[begin]
    # Each chain goes on to the next cut of its ring, the last one to the first.
    ends_ring = np.append(of_ring[1:] != of_ring[:-1], True)
    first = begin[np.flatnonzero(np.append(True, ends_ring[:-1]))]
    following_cut = np.append(begin[1:], 0)
    following_cut[ends_ring] = first + sizes
    n_points = following_cut - begin + 1
    chain = np.repeat(np.arange(len(begin), dtype=np.int64), n_points)
    within = turns(chain)

    def at(step: np.ndarray, of: np.ndarray) -> np.ndarray:
        """Positions so many steps from where chains begin, around their rings."""
        ring = of_ring[of]
        return starts[ring] + (begin[of] - starts[ring] + step) % sizes[ring]

    every = np.arange(len(begin), dtype=np.int64)
    ends = [node[at(step, every)] for step in (np.zeros_like(every), n_points - 1, np.ones_like(every), n_points - 2)]
    turned = (ends[0] > ends[1]) | ((ends[0] == ends[1]) & (ends[2] > ends[3]))
    step = np.where(turned[chain], n_points[chain] - 1 - within, within)
    return points[at(step, chain)], chain, of_ring, turned


def _lines(chains: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
    """The chains as lines."""
    points, chain, _, _ = chains
    return shapely.linestrings(points.astype(float), indices=chain) if len(points) else np.empty(0, object)


def _simplified(lines: np.ndarray, tolerance: float) -> np.ndarray:
    """Lines with fewer points (Douglas and Peucker 1973)."""
    return shapely.simplify(lines, tolerance, preserve_topology=False) if len(lines) else lines


def _joined(
    lines: np.ndarray, chains: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], n_rings: int
) -> list[np.ndarray]:
    """The rings, put together again from the lines of their chains."""
    _, _, of_ring, turned = chains
    kept, of_chain = shapely.get_coordinates(lines, return_index=True)
    bounds = np.searchsorted(of_chain, np.arange(len(lines) + 1, dtype=np.int64))
    parts: list[list[np.ndarray]] = [[] for _ in range(n_rings)]
    for line, (start, end) in enumerate(zip(to_list(bounds[:-1]), to_list(bounds[1:]))):
        piece = kept[start:end][::-1] if turned[line] else kept[start:end]
        parts[of_ring[line]].append(piece[:-1])
    return [np.vstack(pieces).astype(np.int64) for pieces in parts]


def _path(ring: np.ndarray) -> str:
    steps = " ".join(map(str, to_list(np.diff(ring, axis=0).reshape(-1))))
    return f"M{ring[0, 0]} {ring[0, 1]}l{steps}z".replace(" -", "-")
