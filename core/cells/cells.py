"""The cells: squares or small areas with their population over the years, and who borders on whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..adjacency import Adjacency, adjacency_of_pairs
from ..areas import checked_identifiers
from ..errors import InputError, first_values

# Populations that are no whole numbers (estimates) are held in these parts, rounded down: sums of them are exact.
PARTS = 1024
# Sums of populations stay exact in 64 bits, with room for the bit that tells of a shortfall.
LARGEST_TOTAL = 2.0**52


@dataclass(frozen=True, eq=False)
class Cells:
    """The n cells of a partition.

    identifiers : (n,) object array of str, unique
    boxes : (n, 4) float, least x, least y, greatest x, greatest y of each cell, in `cell_size`: a square has width 1
    population : (n, m) float, people of a field in a cell; whole numbers, or parts of 1/1024 rounded down
    fields : m names, of the columns of `population`
    adjacency : who borders on whom
    cell_size : metres of one unit of `boxes`
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
    """At least k in every one of these columns of the population, one column a year."""

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
    checked = checked_population(np.asarray(population, dtype=float), texts, fields)
    return Cells(texts, boxes, checked, tuple(fields), adjacency, float(cell_size))


def checked_population(population: np.ndarray, identifiers: np.ndarray, fields: Sequence[str]) -> np.ndarray:
    """The population, (n, m) float, in parts whose sums are exact. Raises InputError where it cannot be used."""
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


@dataclass(frozen=True)
class PartitionOptions:
    """Settings; each approach reads those it needs.

    neighbours_by_corner and the minimums belong to the cells; here are the settings of the search:
    attempts : growths that may fail before `random growth` gives up (R of Algorithm 1), in each area
    restarts : runs from different starts, of which the best by the loss is kept, area by area
    beta : weight of the people left out in the loss; seed : of every random draw
    newly_built_first : whether `random growth` partitions newly built cells among themselves first
    exchanges : whether cells are exchanged between groups in the end
    regroupings : how often, per group, `compact growth` merges a group with neighbours and splits it anew
    chunk_cells : connected areas of more cells are cut into Louvain communities; 0 never
    empty_years : whether a group may have nobody in a year, as one of newly built cells has before they were built
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
