"""The cells with their population over the years and their neighbours, and the minimums their groups must reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..adjacency import Adjacency, adjacency_of_pairs
from ..areas import checked_identifiers
from ..errors import InputError, first_values

# Populations that are not whole numbers (estimates) are rounded down to such parts, so that their sums are exact.
PARTS = 1024
# Sums of populations stay exact in 64 bits, with room for the bit that shows a shortfall.
LARGEST_TOTAL = 2.0**52
# Bits of a column in a packed population.
LANE = 64


@dataclass(frozen=True, eq=False)
class Cells:
    """The n cells of a partition.

    identifiers : (n,) object array of str, unique
    boxes : (n, 4) float, smallest x and y, then largest x and y of each cell, in `cell_size`: a square has width 1
    population : (n, m) float, people of each cell by field; whole numbers, or multiples of 1/1024, rounded down
    fields : m names, of the columns of `population`
    adjacency : which cells are neighbours
    cell_size : metres in one unit of `boxes`
    """

    identifiers: np.ndarray
    boxes: np.ndarray
    population: np.ndarray
    fields: tuple[str, ...]
    adjacency: Adjacency
    cell_size: float

    def __len__(self) -> int:
        return len(self.identifiers)


@dataclass(frozen=True)
class Minimum:
    """At least k people in each of these columns of the population, one column per year."""

    columns: tuple[int, ...]
    k: float
    label: str = "population"


def make_cells(
    identifiers: Sequence[object],
    boxes: np.ndarray,
    population: np.ndarray,
    fields: Sequence[str],
    borders: np.ndarray,
    cell_size: float,
) -> Cells:
    """Cells from plain columns, checked.

    identifiers : n values, compared as text; boxes : (n, 4) in metres; population : (n, m); fields : m names;
    borders : (b, 2) pairs of positions that are neighbours; cell_size : metres.
    Raises InputError where an identifier is missing or not unique, a population missing or negative.
    """
    texts = checked_identifiers(identifiers, "CELL_ID", "cells")
    boxes = np.asarray(boxes, dtype=float)
    boxes = (boxes - np.tile(boxes[:, :2].min(axis=0), 2)) / cell_size
    borders = np.sort(np.asarray(borders, np.int64).reshape(-1, 2), axis=1)
    once = np.unique(borders[borders[:, 0] != borders[:, 1]], axis=0)
    adjacency = adjacency_of_pairs(once[:, 0], once[:, 1], np.full(len(once), np.nan), len(texts))
    checked = exact_population(np.asarray(population, dtype=float), texts, fields)
    return Cells(texts, boxes, checked, tuple(fields), adjacency, float(cell_size))


def exact_population(population: np.ndarray, identifiers: np.ndarray, fields: Sequence[str]) -> np.ndarray:
    """The population, (n, m) float, rounded so that its sums are exact. Raises InputError where it cannot be used."""
    for column, field in enumerate(fields):
        values = population[:, column]
        for wrong, word in ((~np.isfinite(values), "missing"), (values < 0, "negative")):
            if wrong.any():
                raise InputError(
                    f"Population field “{field}” is {word} in {int(wrong.sum())} cells "
                    f"(first: {first_values(identifiers[wrong])}): correct it; write 0 where nobody lives."
                )
    if (population != np.floor(population)).any():
        population = np.floor(population * PARTS) / PARTS
    if population.sum(axis=0).max() * PARTS > LARGEST_TOTAL:
        raise InputError("The population fields add up to more people than there are on earth: check what they hold.")
    return population


def checked_minimums(cells: Cells, minimums: Sequence[Minimum]) -> None:
    """Raises InputError where a minimum is not positive, has no fields, or none is given."""
    if not minimums:
        raise InputError("No minimum is given: choose POPULATIONS and K.")
    for minimum in minimums:
        if not minimum.columns:
            raise InputError(f"The minimum for {minimum.label} has no fields: choose at least one field, one per year.")
        if not minimum.k > 0:
            raise InputError(f"The minimum for {minimum.label} is {minimum.k}: give a number above 0.")
        if not cells.population[:, list(minimum.columns)].any():
            names = first_values([cells.fields[column] for column in minimum.columns])
            raise InputError(f"Nobody lives in any cell by the fields {names}: choose the fields of {minimum.label}.")


def weights_of(cells: Cells, minimums: Sequence[Minimum]) -> np.ndarray:
    """What a cell counts for in the measures, (n,) float: n_j of Bjerre-Nielsen & Gandil 2018, Eqs. 1 and 3.

    With several years their n_j is a vector; here it is its sum: the person-years of the first minimum's fields.
    """
    return cells.population[:, list(minimums[0].columns)].sum(axis=1)


class PackedMinimums:
    """The minimums of a partition, ready to be checked against packed totals.

    A packed population is a single number: one addition adds all years, one comparison checks all minimums. Each column
    has a lane of 64 bits in a Python integer. Totals stay far below a lane's top bit, so lanes never run into each
    other, and the top bits are free to show which lanes reach their minimum.

    empty_years : whether a group may have nobody in a year (a year without people hides nobody's identity).
    """

    def __init__(self, minimums: Sequence[Minimum], empty_years: bool = False) -> None:
        self.columns = [column for minimum in minimums for column in minimum.columns]
        needed = [int(np.ceil(minimum.k * PARTS)) for minimum in minimums for _ in minimum.columns]
        lanes = range(len(self.columns))
        self._top = sum(1 << (LANE * lane + LANE - 1) for lane in lanes)
        self._ones = sum(1 << (LANE * lane) for lane in lanes)
        self._needed = sum(k << (LANE * lane) for lane, k in zip(lanes, needed))
        self.empty_years = empty_years

    def pack(self, cells: Cells) -> list[int]:
        """Each cell's population as one integer, n values."""
        units = np.ascontiguousarray(cells.population[:, self.columns] * PARTS).astype("<i8")
        return [int.from_bytes(row.tobytes(), "little") for row in units]

    def enough(self, total: int) -> bool:
        """Whether a total reaches every minimum in every year (but the empty ones, where those are allowed)."""
        top = self._top
        reached = ((total | top) - self._needed) & top
        if reached == top:
            return True
        return self.empty_years and total > 0 and not ((total | top) - self._ones) & top & ~reached

    def may_hold_group(self, total: int) -> bool:
        """Whether some of the cells of this total might reach the minimums: False only where none can."""
        reached = ((total | self._top) - self._needed) & self._top
        return reached != 0 if self.empty_years else reached == self._top


@dataclass(frozen=True)
class PartitionOptions:
    """Settings; each approach uses those it needs.

    neighbours_by_corner and the minimums belong to the cells; here are the settings of the search:
    attempts : growths that may fail before `random growth` gives up (R of Algorithm 1), in each area
    restarts : runs from different starts; the one with the best loss is kept, area by area
    beta : weight of the people left out in the loss; seed : of every random draw
    newly_built_first : whether `random growth` partitions newly built cells among themselves first
    exchanges : whether groups exchange cells in the end
    regroupings : how many times per group `compact growth` merges groups and splits them again
    chunk_cells : connected areas with more cells are cut into Louvain communities; 0 for never
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
    empty_years: bool = False
