"""The plan of a release: the label under which each cell of the profile is shown, or that it is suppressed.

A cell is an area and a class that occur together in some record; a label is what a record shows of them: a region and
the class. The plan is all it takes to release records, to rate what that costs and to report it. It is small compared
with the records: whoever holds them, in arrays or a database, applies it by one join.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .anonymity import check_k
from .crosswalk import Crosswalk
from .profile import Profile

SUPPRESSED = -1


@dataclass(frozen=True, eq=False)
class Plan:
    """The equivalence classes of a profile under a crosswalk, and which of them are shown.

    profile, crosswalk : what the plan was made from; k : the minimum of records behind every label in use
    region, class_of, records : (L,) int64, of each equivalence class, ordered by region, then class: its region
    (0-based), its class in the profile, and its number of records
    """

    profile: Profile
    crosswalk: Crosswalk
    k: int
    region: np.ndarray
    class_of: np.ndarray
    records: np.ndarray

    @cached_property
    def shown(self) -> np.ndarray:
        """Whether an equivalence class is released, (L,) bool: it has at least k records."""
        return self.records >= self.k

    @cached_property
    def n_released(self) -> int:
        """Number of records that are released."""
        return int(self.records[self.shown].sum())

    @cached_property
    def label_of(self) -> np.ndarray:
        """The label of each cell, (m,) int64: the position of its equivalence class; SUPPRESSED where it is not shown.

        The cells are those that `Profile.counts` stores, in its order.
        """
        counts = self.profile.counts
        area = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        region = self.crosswalk.region_of[area]
        n_classes = max(counts.shape[1], 1)
        label = np.searchsorted(self.region * n_classes + self.class_of, region * n_classes + counts.indices)
        label = np.where(region >= 0, label, SUPPRESSED)
        label[~np.append(self.shown, False)[label]] = SUPPRESSED  # the last entry is for SUPPRESSED
        return label


def suppress(profile: Profile, crosswalk: Crosswalk, k: int) -> Plan:
    """The plan that shows every equivalence class of at least k records and suppresses the rest (Croft 2015, 3.3).

    profile, crosswalk : of the same areas, in the same order. Raises InputError for a k below 2.
    """
    check_k(k)
    # There and back sorts the classes of each region in linear time, which `sort_indices` does not.
    grouped = (crosswalk.membership() @ profile.counts).tocsc().tocsr()
    region = np.repeat(np.arange(crosswalk.n_regions), np.diff(grouped.indptr))
    return Plan(profile, crosswalk, k, region, grouped.indices.astype(np.int64), grouped.data.astype(np.int64))
