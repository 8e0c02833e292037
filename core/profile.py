"""The profile of the records: how many of each class live in each initial region, all a method needs of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .records.columns import Column, combine_codes


@dataclass(frozen=True, eq=False)
class Profile:
    """Counts M[i, c] of records by initial region i and class c (methods: section 0).

    counts : (n, C) sparse CSR matrix of int64, rows in the order of the regions
    classes : (C, Q) int64, category code of each quasi-identifier in class c
    categories : Q object arrays, the values behind the codes (None = missing, a category of its own)
    quasi_identifiers : Q field names
    """

    counts: sparse.csr_matrix
    classes: np.ndarray
    categories: tuple[np.ndarray, ...]
    quasi_identifiers: tuple[str, ...]

    @property
    def n_records(self) -> int:
        """N, the records that live in a known region."""
        return int(self.counts.sum())

    @property
    def class_sizes(self) -> np.ndarray:
        """Records of each class over all regions, (C,) int64."""
        return np.asarray(self.counts.sum(axis=0)).ravel()

    @property
    def region_sizes(self) -> np.ndarray:
        """Records of each initial region, (n,) int64."""
        return np.asarray(self.counts.sum(axis=1)).ravel()


def profile_records(
    region_codes: np.ndarray,
    quasi_identifiers: Mapping[str, Column],
    n_regions: int,
    record_counts: np.ndarray | None = None,
) -> tuple[Profile, np.ndarray]:
    """Count the records by region and class.

    region_codes : (N,) position of each record's region, -1 for records of no known region (not counted)
    record_counts : (N,) how many records each row stands for; ones where None

    Returns the profile and the cell that each row counts in, (N,) int64: its position among those that `counts` stores;
    -1 for rows that are not counted. Vectorised: O(N log N).
    """
    columns = list(quasi_identifiers.values())
    class_codes, classes = combine_codes([c.codes for c in columns], [len(c.categories) for c in columns])
    inside = region_codes >= 0
    n_classes = len(classes)
    key = region_codes[inside].astype(np.int64) * n_classes + class_codes[inside]
    cells, position = np.unique(key, return_inverse=True)
    position = position.reshape(-1)
    # bincount adds in floating point: exact up to 2**53 records.
    weights = None if record_counts is None else record_counts[inside]
    totals = np.bincount(position, weights=weights, minlength=len(cells)).astype(np.int64)
    kept = totals > 0
    rows, cols = np.divmod(cells[kept], max(n_classes, 1))
    counts = sparse.csr_matrix((totals[kept], (rows, cols)), shape=(n_regions, n_classes))
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    cell_of = np.full(len(inside), -1, np.int64)
    cell_of[inside] = number[position]
    return Profile(counts, classes, tuple(c.categories for c in columns), tuple(quasi_identifiers)), cell_of
