"""The profile of the records: how many of each class live in each area. No method needs more than that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .records.columns import Column, combine_codes, number_keys
from .scientific import sparse


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


def profile_records(
    area_codes: np.ndarray,
    quasi_identifiers: Mapping[str, Column],
    n_areas: int,
    record_counts: np.ndarray | None = None,
) -> tuple[Profile, np.ndarray]:
    """Count the records by area and class.

    area_codes : (N,) position of each record's area, -1 for records of no known area (not counted)
    record_counts : (N,) how many records each row stands for; ones where None

    Returns the profile and the cell in which each row is counted, (N,) int64: its position among those that `counts`
    stores; -1 for rows that are not counted. Vectorised, without sorting where few cells are possible.
    """
    columns = list(quasi_identifiers.values())
    class_codes, classes = combine_codes([c.codes for c in columns], [len(c.categories) for c in columns])
    inside = area_codes >= 0
    n_classes = len(classes)
    key = area_codes[inside].astype(np.int64) * n_classes + class_codes[inside]
    cells, position = number_keys(key, n_areas * n_classes)
    # bincount adds in floating point: exact up to 2**53 records.
    weights = None if record_counts is None else record_counts[inside]
    totals = np.bincount(position, weights=weights, minlength=len(cells)).astype(np.int64)
    kept = totals > 0
    rows, cols = np.divmod(cells[kept], max(n_classes, 1))
    counts = sparse.csr_matrix((totals[kept], (rows, cols)), shape=(n_areas, n_classes))
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    cell_of = np.full(len(inside), -1, np.int64)
    cell_of[inside] = number[position]
    return Profile(counts, classes, tuple(c.categories for c in columns), tuple(quasi_identifiers)), cell_of
