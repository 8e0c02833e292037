"""Squares of a grid: found in polygons, made from points, neighbours by row and column."""

from __future__ import annotations

import numpy as np
import shapely

from ..errors import InputError, first_values

# How far, in parts of a cell, a corner may be from where the grid has it.
TOLERANCE = 1e-3


def grid_size(shapes: np.ndarray) -> float | None:
    """The side of the squares where all polygons are the squares of one grid, metres; None where they are not.

    shapes : (n,) planar polygons.
    """
    bounds = shapely.bounds(shapes)
    widths, heights = bounds[:, 2] - bounds[:, 0], bounds[:, 3] - bounds[:, 1]
    size = float(np.median(widths))
    if not size > 0:
        return None
    slack = TOLERANCE * size
    square = (abs(widths - size) <= slack) & (abs(heights - size) <= slack)
    full = abs(shapely.area(shapes) - size * size) <= 4 * slack * size
    if not (square & full).all():
        return None
    steps = (bounds[:, :2] - bounds[:, :2].min(axis=0)) / size
    return size if (abs(steps - np.round(steps)) <= TOLERANCE * np.maximum(1.0, steps)).all() else None


def grid_positions(corners: np.ndarray, size: float, identifiers: np.ndarray) -> np.ndarray:
    """Column and row of each cell, (n, 2) int64, from any point of it that is the same in all cells, (n, 2).

    Raises InputError for points that are not on a grid of that size, and for two in one square.
    """
    steps = (corners - corners.min(axis=0)) / size
    positions = np.round(steps).astype(np.int64)
    off = (abs(steps - positions) > 0.05).any(axis=1)
    if off.any():
        raise InputError(
            f"{int(off.sum())} points of CELLS are not on a grid of {size:g} metres "
            f"(first: {first_values(identifiers[off])}): correct CELL_SIZE."
        )
    order = np.lexsort(positions.T)
    twice = order[1:][(positions[order][1:] == positions[order][:-1]).all(axis=1)]
    if len(twice):
        raise InputError(
            f"{len(twice)} points of CELLS share a square with another (first: {first_values(identifiers[twice])}): "
            "each cell is given once; correct CELL_SIZE or the layer."
        )
    return positions


def grid_borders(positions: np.ndarray, corners: bool) -> np.ndarray:
    """Pairs of squares that share an edge, or also a corner, (b, 2) int64. positions : (n, 2) column and row."""
    height = int(positions[:, 1].max()) + 3
    keys = positions[:, 0] * height + positions[:, 1]
    order = np.argsort(keys)
    ordered = keys[order]
    pairs = []
    for across, up in ((1, 0), (0, 1), (1, 1), (1, -1))[: 4 if corners else 2]:
        wanted = keys + across * height + up
        place = np.minimum(np.searchsorted(ordered, wanted), len(keys) - 1)
        there = ordered[place] == wanted
        pairs.append(np.column_stack([np.flatnonzero(there), order[place[there]]]))
    return np.vstack(pairs)


def squares(positions: np.ndarray, size: float, origin: np.ndarray) -> np.ndarray:
    """The squares as polygons, (n,). origin : (2,) lower left corner of column 0 and row 0."""
    low = positions * size + origin
    return shapely.box(low[:, 0], low[:, 1], low[:, 0] + size, low[:, 1] + size)
