"""Cells from what a layer gives: squares as polygons, squares as points, areas of any shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import shapely

from ..errors import InputError
from ..neighbours import polygon_neighbours, touching
from ..progress import Progress, silent
from ..regions import identifier_text
from .cells import Cells, make_cells
from .squares import grid_borders, grid_positions, grid_size, squares

CENTRE, LOWER_LEFT = "centre", "lower left corner"
CELL_POINTS = (CENTRE, LOWER_LEFT)
EDGE, EDGE_OR_CORNER = "edge", "edge or corner"
NEIGHBOURS = (EDGE, EDGE_OR_CORNER)


def cells_of_polygons(
    identifiers: Sequence[object],
    shapes: np.ndarray,
    planar: np.ndarray,
    population: np.ndarray,
    fields: Sequence[str],
    neighbours: str,
    progress: Progress = silent,
) -> Cells:
    """Cells of a polygon layer.

    shapes : (n,) polygons as the layer has them, in which shared borders match; planar : (n,) the same in metres.
    Squares of one grid are measured by its side; other areas by the square root of their median surface.
    """
    corners = neighbours == EDGE_OR_CORNER
    size = grid_size(planar)
    bounds = shapely.bounds(planar)
    if size is None:
        size = float(np.sqrt(np.median(shapely.area(planar))))
        pairs = touching(shapes) if corners else polygon_neighbours(shapes, progress=progress).pairs()
        borders = np.column_stack(pairs)
    else:
        texts = np.array([identifier_text(value) for value in identifiers], dtype=object)
        positions = grid_positions(bounds[:, :2], size, texts)
        borders = grid_borders(positions, corners)
        bounds = size * np.hstack([positions, positions + 1])
    return make_cells(identifiers, bounds, population, fields, borders, size)


def cells_of_points(
    identifiers: Sequence[object],
    points: np.ndarray,
    size: float,
    stands_for: str,
    population: np.ndarray,
    fields: Sequence[str],
    neighbours: str,
) -> tuple[Cells, np.ndarray]:
    """Cells of a point layer, and their squares, (n,) polygons. points : (n, 2) metres; size : side of a cell, metres.

    stands_for : CENTRE or LOWER_LEFT, where in its cell a point lies. Raises InputError for points that are on no grid
    of that size.
    """
    if not size > 0:
        raise InputError("CELLS are points: give the side of a cell in metres as CELL_SIZE.")
    texts = np.array([identifier_text(value) for value in identifiers], dtype=object)
    positions = grid_positions(points, size, texts)
    origin = points.min(axis=0) - (size / 2 if stands_for == CENTRE else 0.0)
    borders = grid_borders(positions, neighbours == EDGE_OR_CORNER)
    boxes = size * np.hstack([positions, positions + 1])
    cells = make_cells(identifiers, boxes, population, fields, borders, size)
    return cells, squares(positions, size, origin)
