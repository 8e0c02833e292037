"""What others may know of a person's rows in a linked table, as one number: equal for people of whom it is the same."""

from __future__ import annotations

import numpy as np

from ..records.columns import combine_columns
from .tables import LinkedTable

HASHES = 0x9E3779B97F4A7C15  # odd, so that multiplying by it loses nothing


def signatures_of(table: LinkedTable, n_persons: int) -> np.ndarray:
    """A number for what may be known of each person's rows, (N,) int64, from 0.

    With known fields it is the multiset of their values, row by row; else the number of rows, or nothing at all where
    nobody knows that.
    """
    there = table.person >= 0
    person = table.person[there].astype(np.int64)
    rows = np.bincount(person, minlength=n_persons)
    if not table.known:
        return numbered(rows) if table.count_known else np.zeros(n_persons, np.int64)
    item, items = combine_columns([column.at(there) for column in table.known.values()])
    return multisets(person, item, len(items), rows)


def multisets(person: np.ndarray, item: np.ndarray, n_items: int, rows: np.ndarray) -> np.ndarray:
    """A number for the multiset of each person's items, (N,) int64, from 0.

    person, item : (R,) int64; rows : (N,) how many items each has. Sums of hashes group the persons; then every item is
    held against that of the first person of the group, so that no two multisets are ever taken for one.
    """
    n_items = max(n_items, 1)
    if len(rows) * n_items >= 2**63:  # which no table that fits into memory reaches
        raise OverflowError("items")
    keys = np.sort(person * n_items + item)
    whose, what = np.divmod(keys, n_items)
    start = np.cumsum(rows) - rows
    some = np.flatnonzero(rows)
    rng = np.random.default_rng(0)
    while True:
        of_item = rng.integers(0, 2**64, n_items, np.uint64) | np.uint64(1)
        total = np.zeros(len(rows), np.uint64)
        if len(some):
            total[some] = np.add.reduceat(of_item[what], start[some])
        total += rows.astype(np.uint64) * np.uint64(HASHES)
        total[rows == 0] = 0
        _, first, number = np.unique(total, return_index=True, return_inverse=True)
        number = number.reshape(-1).astype(np.int64)
        like = first[number]
        same = np.array_equal(rows, rows[like])
        at = start[like][whose] + np.arange(len(keys), dtype=np.int64) - start[whose]
        if same and np.array_equal(what, what[at]):
            return number


def numbered(values: np.ndarray) -> np.ndarray:
    """The values as numbers from 0, ascending."""
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)
