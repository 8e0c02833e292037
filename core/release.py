"""Suppression and release: small classes out, the area replaced by its region, nothing finer left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .anonymity import check_k
from .crosswalk import Crosswalk
from .errors import PrivacyError
from .profile import Profile
from .records.columns import Column, combine_codes
from .records.table import RecordTable


@dataclass(frozen=True, eq=False)
class Release:
    """The released rows, in an order that depends on nothing but what they show.

    region : (R,) int64, 0-based aggregated region; fields : columns by name, quasi-identifiers first;
    counts : (R,) records a row stands for, None where each is one record
    """

    region: np.ndarray
    fields: Mapping[str, Column]
    counts: np.ndarray | None

    def __len__(self) -> int:
        return len(self.region)

    @property
    def n_records(self) -> int:
        """Number of persons released."""
        return len(self) if self.counts is None else int(self.counts.sum())


def released_rows(
    region_codes: np.ndarray, class_codes: np.ndarray, profile: Profile, crosswalk: Crosswalk, k: int
) -> np.ndarray:
    """Which rows stay: those whose equivalence class (region, class) has at least k records, (N,) bool.

    region_codes : (N,) position of each row's area, -1 for none; class_codes : (N,) class of each row in the profile.
    """
    grouped = crosswalk.membership() @ profile.counts
    grouped = grouped.tocoo()
    large = grouped.data >= k
    keys = np.sort(grouped.row[large].astype(np.int64) * profile.counts.shape[1] + grouped.col[large])
    region = np.where(region_codes >= 0, crosswalk.region_of[region_codes], -1)
    own = region * profile.counts.shape[1] + class_codes
    if not len(keys):
        return np.zeros(len(own), bool)
    position = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
    return (keys[position] == own) & (region >= 0)


def release(
    table: RecordTable,
    region_codes: np.ndarray,
    class_codes: np.ndarray,
    profile: Profile,
    crosswalk: Crosswalk,
    k: int,
) -> Release:
    """Suppress every equivalence class below k and put the region in the area's place (Croft 2015, section 3.3).

    The rows are sorted by what they show: the order they came in, often area by area, would give the areas away.
    Rows with counts that show the same are added up, for the same reason. Raises PrivacyError if a class of the result
    is below k, counted anew, and InputError for a k below 2.
    """
    check_k(k)
    rows = np.flatnonzero(released_rows(region_codes, class_codes, profile, crosswalk, k))
    if table.counts is not None:
        rows = rows[table.counts[rows] > 0]
    region = crosswalk.region_of[region_codes[rows]]
    shown = {**table.quasi_identifiers, **table.kept}
    fields = {name: Column(c.codes[rows], c.categories) for name, c in shown.items()}
    # Codes follow the sorted categories, so that their order is that of the values shown.
    alike, distinct = combine_codes(
        [region, *(column.codes for column in fields.values())],
        [crosswalk.n_regions, *(len(column.categories) for column in fields.values())],
    )
    if table.counts is None:
        order = np.argsort(alike, kind="stable")
        counts = None
    else:
        counts = np.bincount(alike, weights=table.counts[rows], minlength=len(distinct)).astype(np.int64)
        order = np.unique(alike, return_index=True)[1]
    ordered = {name: Column(column.codes[order], column.categories) for name, column in fields.items()}
    result = Release(region[order], ordered, counts)
    least = least_class(result, len(table.quasi_identifiers))
    if least is not None and least < k:
        raise PrivacyError(f"The release would hold a class of fewer than {k} records: nothing was written.")
    return result


def least_class(result: Release, n_quasi_identifiers: int) -> int | None:
    """Size of the smallest class (region and quasi-identifiers) of a release; None where it is empty."""
    if not len(result):
        return None
    columns = list(result.fields.values())[:n_quasi_identifiers]
    key, distinct = combine_codes(
        [result.region, *(c.codes for c in columns)],
        [int(result.region.max()) + 1, *(len(c.categories) for c in columns)],
    )
    return int(np.bincount(key, weights=result.counts, minlength=len(distinct)).min())
