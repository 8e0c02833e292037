"""Cells with their population over the years and their neighbours: squares, or areas of any shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import shapely

from .. import counted
from ..adjacency import Adjacency, adjacency_of_pairs
from ..areas import checked_identifiers, identifier_text
from ..dataclass import dataclass
from ..errors import InputError, first_values, refuse_where
from ..language import tr
from ..neighbours import polygon_neighbours, touching
from ..progress import Progress, silent

# Populations that are not whole numbers (estimates) are rounded down to such parts, so that their sums are exact.
PARTS = 1024
# Sums of populations stay exact in 64 bits, with room for the bit that shows a shortfall.
LARGEST_TOTAL = 2.0**52
CENTRE, LOWER_LEFT = "centre", "lower left corner"
CELL_POINTS = (CENTRE, LOWER_LEFT)
EDGE, EDGE_OR_CORNER, WITHIN_A_DISTANCE = "edge", "edge or corner", "within a distance"
NEIGHBOURS = (EDGE, EDGE_OR_CORNER, WITHIN_A_DISTANCE)
# How far, in parts of a cell, a corner may be from where the grid has it.
TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class Cells:
    """The n cells of a partition.

    identifiers : (n,) object array of str, unique
    boxes : (n, 4) float, smallest x and y, then largest x and y of each cell, in `cell_size`: a square has width 1
    population : (n, m) float, people of each cell by field; whole numbers, or multiples of 1/1024, rounded down
    fields : m names, of the columns of `population`
    adjacency : which cells are neighbours
    cell_size : metres in one unit of `boxes`; surface : (n,) m² of each cell, None where that is not known
    """

    identifiers: np.ndarray
    boxes: np.ndarray
    population: np.ndarray
    fields: tuple[str, ...]
    adjacency: Adjacency
    cell_size: float
    surface: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.identifiers)


def make_cells(
    identifiers: Sequence[object],
    boxes: np.ndarray,
    population: np.ndarray,
    fields: Sequence[str],
    borders: np.ndarray,
    cell_size: float,
    surface: np.ndarray | None = None,
) -> Cells:
    """Cells from plain columns, checked.

    identifiers : n values, compared as text; boxes : (n, 4) in metres; population : (n, m); fields : m names;
    borders : (b, 2) pairs of positions that are neighbours; cell_size : metres.
    Raises InputError where an identifier is missing or not unique, a population missing or negative.
    """
    texts = checked_identifiers(identifiers, "CELL_ID", counted.cells)
    boxes = np.asarray(boxes, dtype=float)
    boxes = (boxes - np.tile(boxes[:, :2].min(axis=0), 2)) / cell_size
    borders = np.sort(np.asarray(borders, np.int64).reshape(-1, 2), axis=1)
    once = np.unique(borders[borders[:, 0] != borders[:, 1]], axis=0)
    adjacency = adjacency_of_pairs(once[:, 0], once[:, 1], np.full(len(once), np.nan), len(texts))
    checked = exact_population(np.asarray(population, dtype=float), texts, fields)
    return Cells(texts, boxes, checked, tuple(fields), adjacency, float(cell_size), surface)


def exact_population(population: np.ndarray, identifiers: np.ndarray, fields: Sequence[str]) -> np.ndarray:
    """The population, (n, m) float, rounded so that its sums are exact. Raises InputError where it cannot be used."""
    for column, field in enumerate(fields):
        values = population[:, column]
        refuse_where(
            {tr("missing"): ~np.isfinite(values), tr("negative"): values < 0},
            tr("Population field “{field}”", field=field),
            counted.cells,
            lambda wrong: first_values(identifiers[wrong]),
            tr("correct it; write 0 where nobody lives."),
        )
    possible = population.max(initial=0.0) <= LARGEST_TOTAL / PARTS  # else the sums, too, may be beyond all numbers
    if possible and (population != np.floor(population)).any():
        population = np.floor(population * PARTS) / PARTS
    if not possible or population.sum(axis=0).max() * PARTS > LARGEST_TOTAL:
        raise InputError.saying(
            "The population fields add up to more people than there are on earth: check what they hold."
        )
    return population


@dataclass(frozen=True)
class PartitionOptions:
    """Settings of the search; each approach uses those it needs.

    attempts : growths that may fail before `random growth` gives up (R of Algorithm 1), in each area
    restarts : runs from different starts; the one with the best loss is kept, area by area
    beta : weight of the people left out in the loss; seed : of every random draw
    newly_built_first : whether `random growth` partitions newly built cells among themselves first
    exchanges : whether groups exchange cells in the end
    regroupings : how many times per group `compact growth` merges groups and splits them again
    chunk_cells, chunk_km2 : connected areas with more cells, or a larger surface, are cut into Louvain communities; 0
        for never
    empty_years : whether a group may be empty in a year, as a group of newly built cells is before they were built
    """

    attempts: int = 10_000
    restarts: int = 10
    beta: float = 0.99
    seed: int = 0
    newly_built_first: bool = True
    exchanges: bool = True
    regroupings: int = 30
    chunk_cells: int = 0
    chunk_km2: float = 0.0
    empty_years: bool = False


def cells_of_polygons(
    identifiers: Sequence[object],
    shapes: np.ndarray,
    planar: np.ndarray,
    population: np.ndarray,
    fields: Sequence[str],
    neighbours: str,
    progress: Progress = silent,
    distance: float = 0.0,
) -> Cells:
    """Cells of a polygon layer. distance : metres between neighbours at most, for WITHIN_A_DISTANCE.

    shapes : (n,) polygons as in the layer, where shared borders match; planar : (n,) the same in metres.
    The unit of length is the side of the squares of one grid; for other areas, the square root of their median surface.
    """
    corners = neighbours == EDGE_OR_CORNER
    size = grid_size(planar)
    bounds = shapely.bounds(planar)
    if size is None:
        size = float(np.sqrt(np.median(shapely.area(planar))))
        if neighbours == WITHIN_A_DISTANCE:
            borders = near_pairs(planar, distance)
        else:
            pairs = touching(shapes) if corners else polygon_neighbours(shapes, progress=progress).pairs()
            borders = np.column_stack(pairs)
    else:
        texts = np.array([identifier_text(value) for value in identifiers], dtype=object)
        positions = grid_positions(bounds[:, :2], size, texts)
        bounds = size * np.hstack([positions, positions + 1])
        if neighbours == WITHIN_A_DISTANCE:
            borders = near_pairs(shapely.box(*bounds.T), distance)
        else:
            borders = grid_borders(positions, corners)
    return make_cells(identifiers, bounds, population, fields, borders, size, shapely.area(planar))


def cells_of_points(
    identifiers: Sequence[object],
    points: np.ndarray,
    size: float,
    stands_for: str,
    population: np.ndarray,
    fields: Sequence[str],
    neighbours: str,
    distance: float = 0.0,
) -> tuple[Cells, np.ndarray]:
    """Cells of a point layer, and their squares, (n,) polygons. points : (n, 2) metres; size : side of a cell, metres;
    distance : metres between neighbours at most, for WITHIN_A_DISTANCE.

    stands_for : CENTRE or LOWER_LEFT, where in its cell a point lies. Raises InputError for points that are on no grid
    of that size.
    """
    if not size > 0:
        raise InputError.saying("CELLS are points: give the side of a cell in metres as CELL_SIZE.")
    texts = np.array([identifier_text(value) for value in identifiers], dtype=object)
    positions = grid_positions(points, size, texts)
    origin = points.min(axis=0) - (size / 2 if stands_for == CENTRE else 0.0)
    boxes = size * np.hstack([positions, positions + 1])
    if neighbours == WITHIN_A_DISTANCE:
        borders = near_pairs(shapely.box(*boxes.T), distance)
    else:
        borders = grid_borders(positions, neighbours == EDGE_OR_CORNER)
    surface = np.full(len(texts), float(size) ** 2)
    cells = make_cells(identifiers, boxes, population, fields, borders, size, surface)
    return cells, squares(positions, size, origin)


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
    """Column and row of each cell, (n, 2) int64. corners : (n, 2), a point of each cell, the same one in all.

    Raises InputError for points that are not on a grid of that size, and where two are in one square.
    """
    steps = (corners - corners.min(axis=0)) / size
    positions = np.round(steps).astype(np.int64)
    off = (abs(steps - positions) > 0.05).any(axis=1)
    if off.any():
        raise InputError.counting(
            "{n} point of CELLS is not on a grid of {size:g} metres (first: {first}): correct CELL_SIZE.",
            "{n} points of CELLS are not on a grid of {size:g} metres (first: {first}): correct CELL_SIZE.",
            int(off.sum()),
            size=size,
            first=first_values(identifiers[off]),
        )
    order = np.lexsort(positions.T)
    twice = order[1:][(positions[order][1:] == positions[order][:-1]).all(axis=1)]
    if len(twice):
        raise InputError.counting(
            "{n} point of CELLS shares a square with another (first: {first}): each cell is given once; correct "
            "CELL_SIZE or the layer.",
            "{n} points of CELLS share a square with another (first: {first}): each cell is given once; correct "
            "CELL_SIZE or the layer.",
            len(twice),
            first=first_values(identifiers[twice]),
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


def near_pairs(shapes: np.ndarray, distance: float) -> np.ndarray:
    """Pairs of shapes whose nearest places are at most so many metres apart, (b, 2) int64; those that touch are always.

    (Bjerre-Nielsen & Gandil 2018, 3.1.) shapes : (n,) planar polygons
    """
    west, south, east, north = shapely.bounds(shapes).T
    slack = distance + TOLERANCE
    around = shapely.box(west - slack, south - slack, east + slack, north + slack)
    first, second = shapely.STRtree(shapes).query(around)
    once = first < second
    first, second = first[once], second[once]
    near = shapely.distance(shapes[first], shapes[second]) <= slack
    return np.column_stack([first[near], second[near]]).astype(np.int64)


def squares(positions: np.ndarray, size: float, origin: np.ndarray) -> np.ndarray:
    """The squares as polygons, (n,). origin : (2,) lower left corner of column 0 and row 0."""
    low = positions * size + origin
    return shapely.box(low[:, 0], low[:, 1], low[:, 0] + size, low[:, 1] + size)
