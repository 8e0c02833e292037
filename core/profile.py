"""The profile of the records: how many of each class live in each area. No method needs more than that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod

import numpy as np

from .dataclass import dataclass
from .records.columns import (
    LARGEST_INT32,
    LARGEST_INT64,
    Column,
    combine_codes,
    count_combinations,
    number_keys,
    stretches,
)
from .scientific import sparse

NO_AREA = -1  # of records whose area is not known: they are in no cell, but their classes are known
LEFT_OUT = NO_AREA - 1  # of rows that stand for nobody


@dataclass(frozen=True, eq=False)
class Profile:
    """Counts M[i, c] of records by area i and class c (methods: section 0).

    counts : (n, C) sparse CSR matrix of int64, or of int32 where that holds all records together; a row per area
    classes : (C, Q) int64, category code of each quasi-identifier in class c
    categories : Q object arrays, the values behind the codes (None = missing, a category of its own)
    quasi_identifiers : Q field names
    """

    counts: sparse.csr_matrix
    classes: np.ndarray
    categories: tuple[np.ndarray, ...]
    quasi_identifiers: tuple[str, ...]

    @cached_property
    def n_records(self) -> int:
        """N, the records that live in a known area."""
        return int(self.counts.sum())

    @cached_property
    def class_sizes(self) -> np.ndarray:
        """Records of each class over all areas, (C,) int64."""
        return np.asarray(self.counts.sum(axis=0)).ravel()

    @cached_property
    def area_sizes(self) -> np.ndarray:
        """Records of each area, (n,) int64."""
        return np.asarray(self.counts.sum(axis=1)).ravel()

    def combinations(self, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The combination of values of some quasi-identifiers that each class has, (C,) int64, and these as rows of
        codes. Without names all classes have the same one."""
        positions = [self.quasi_identifiers.index(name) for name in names]
        if not positions:
            return np.zeros(len(self.classes), np.int64), np.zeros((1, 0), np.int64)
        columns = [self.classes[:, position] for position in positions]
        return combine_codes(columns, [len(self.categories[position]) for position in positions])


def profile_records(
    area_codes: np.ndarray,
    quasi_identifiers: Mapping[str, Column],
    n_areas: int,
    record_counts: np.ndarray | None = None,
) -> tuple[Profile, np.ndarray]:
    """Count the records by area and class.

    area_codes : (N,) position of each record's area, NO_AREA for records of no known area (not counted)
    record_counts : (N,) how many records each row stands for; ones where None

    Returns the profile and the cell in which each row is counted, (N,) int32 where that holds all cells, else int64:
    its position among those that `counts` stores; -1 for rows that are not counted. Vectorised, without sorting where
    few cells are possible, some rows at once.
    """
    if record_counts is not None and not record_counts.all():
        area_codes = np.where(record_counts > 0, area_codes, LEFT_OUT)  # what nobody has is no class
    columns = list(quasi_identifiers.values())
    sizes = [max(len(column.categories), 1) for column in columns]
    if prod(sizes) * (n_areas + 1) > LARGEST_INT64:
        class_codes, classes = combine_codes([c.codes for c in columns], sizes)
        numbered = [class_codes]
        sizes = [max(len(classes), 1)]
    else:
        numbered, classes = [column.codes for column in columns], None
    cells, totals, cell_of = count_combinations(
        [area_codes, *numbered], [n_areas, *sizes], record_counts, least=NO_AREA
    )
    # The cells are in the order of a sparse matrix by rows already, those of no known area first. There may be nearly
    # as many as records: what they are worked out by is not in memory together.
    reach = prod(sizes)
    first_of_area = np.searchsorted(cells, (np.arange(1, n_areas + 2, dtype=np.int64) * reach).astype(cells.dtype))
    nowhere = int(first_of_area[0])
    cells %= reach
    occurring, column_of = number_keys(cells, reach)
    del cells
    if classes is None:
        classes = np.column_stack(np.unravel_index(occurring, sizes)).astype(np.int64)
    else:
        classes = classes[occurring]
    index = np.int32 if max(len(column_of), len(classes)) <= LARGEST_INT32 else np.int64
    column_of = column_of[nowhere:].astype(index, copy=False)
    # Numbers that others square: so they are long, whatever holds them.
    totals = totals[nowhere:].astype(np.int64, copy=False)
    if nowhere:
        for rows in stretches(len(cell_of)):
            cell_of[rows] = np.maximum(cell_of[rows] - nowhere, -1)
    first_of_area = (first_of_area - nowhere).astype(index)
    counts = sparse.csr_matrix((totals, column_of, first_of_area), shape=(n_areas, len(classes)))
    return Profile(counts, classes, tuple(c.categories for c in columns), tuple(quasi_identifiers)), cell_of
