"""What a coarser attribute loses: the share of its entropy that is given up."""

from __future__ import annotations

import numpy as np

from ..elementary import log2
from ..profile import Profile
from ..records.columns import Column
from .hierarchies import Hierarchy


def entropy(records: np.ndarray) -> float:
    """The entropy in bits per record of an attribute, H = - sum p log2 p; records : (n,) how many have each value."""
    total = float(records.sum())
    share = records[records > 0] / total if total else np.empty(0)
    return float(-(share * log2(share)).sum()) + 0.0


def entropy_given_up(hierarchy: Hierarchy, level: int, records: np.ndarray) -> float:
    """The share of an attribute's entropy that its level gives up, from 0 (as it is) to 1 (it says nothing).

    With the entropy H(A) of the attribute and H(A at the level), both in bits per record, it is
    (H(A) - H(A at the level)) / H(A): what a researcher no longer learns of a record from this attribute alone. It is 0
    for an attribute of one value. records : (n,) how many records have each value of the hierarchy.
    """
    before = entropy(records)
    if not before:
        return 0.0
    after = entropy(np.bincount(hierarchy.codes[level], records, len(hierarchy.categories[level])))
    return min(max((before - after) / before, 0.0), 1.0)


def records_by_value(profile: Profile) -> tuple[np.ndarray, ...]:
    """How many records have each value of each quasi-identifier, int64 arrays in the order of `categories`."""
    return tuple(
        np.bincount(codes, profile.class_sizes, len(categories)).astype(np.int64)
        for codes, categories in zip(profile.classes.T, profile.categories)
    )


def records_by_category(column: Column, counts: np.ndarray | None) -> np.ndarray:
    """How many records of a table have each value of a column, (m,) int64; counts : (N,) records of each row."""
    return np.bincount(column.codes, counts, len(column.categories)).astype(np.int64)
