"""The plan of a release: the label under which each cell of the profile is shown, or that it is suppressed.

A cell is an area and a class that occur together in some record; a label is what a record shows of them: a region and
the class. The plan is all it takes to release records, to rate what that costs and to report it. It is small compared
with the records: whoever holds them, in arrays or a database, applies it by one join.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .anonymity import check_k
from .crosswalk import Crosswalk
from .levels import Levels
from .privacy.requirement import Requirement
from .profile import Profile

SUPPRESSED = -1


@dataclass(frozen=True, eq=False)
class Plan:
    """The labels of a profile under nested levels of regions, or under one, and where each cell is shown.

    profile, levels : what the plan was made from; k : the minimum of records behind every label in use
    level, region, class_of, records : (L,) int64, of each label, ordered by level, region, class: its level and its
    region (both 0-based, the finest level first), its class in the profile, and the number of records that show it.
    Under one level a label stands here for every equivalence class, shown or not
    shown : (L,) bool, whether a label is released: it has at least k records, and whatever more is asked
    level_of : (m,) int64, the level at which each cell is shown, SUPPRESSED where it is not; None under one level
    people : (L,) int64, who is behind each label: its records, or fewer persons or households; None for the records
    """

    profile: Profile
    levels: Levels
    k: int
    level: np.ndarray
    region: np.ndarray
    class_of: np.ndarray
    records: np.ndarray
    shown: np.ndarray
    level_of: np.ndarray | None = None
    people: np.ndarray | None = None

    @property
    def sizes(self) -> np.ndarray:
        """What k is asked of, (L,) int64: the people behind each label, or its records."""
        return self.records if self.people is None else self.people

    @property
    def crosswalk(self) -> Crosswalk:
        """The finest level, or the only one."""
        return self.levels.crosswalks[0]

    @cached_property
    def n_released(self) -> int:
        """Number of records that are released."""
        return int(self.records[self.shown].sum())

    @cached_property
    def label_of(self) -> np.ndarray:
        """The position of each cell's label, (m,) int64; SUPPRESSED where it is not shown.

        The cells are those that `Profile.counts` stores, in its order.
        """
        label = self.labels_at(np.zeros(self.profile.counts.nnz, np.int64) if self.level_of is None else self.level_of)
        label[~np.append(self.shown, False)[label]] = SUPPRESSED  # the last entry is for SUPPRESSED
        return label

    def labels_at(self, level_of: np.ndarray) -> np.ndarray:
        """The position of each cell's label at these levels, shown or not, (m,) int64; SUPPRESSED for no level."""
        key = label_keys(self.levels, area_of_cells(self.profile), self.profile.counts.indices, level_of)
        first = np.cumsum([0, *(crosswalk.n_regions for crosswalk in self.levels.crosswalks)])
        label = np.searchsorted((first[self.level] + self.region) * _n_classes(self.profile) + self.class_of, key)
        return np.where(key >= 0, label, SUPPRESSED)


def suppress(profile: Profile, crosswalk: Crosswalk, k: int, requirement: Requirement | None = None) -> Plan:
    """The plan that shows every equivalence class of at least k records and suppresses the rest (Croft 2015, 3.3).

    profile, crosswalk : of the same areas, in the same order; requirement : what more is asked of a class, for the
    cells of this profile. Raises InputError for a k below 2.
    """
    check_k(k)
    # There and back sorts the classes of each region in linear time, which `sort_indices` does not.
    grouped = (crosswalk.membership() @ profile.counts).tocsc().tocsr()
    region = np.repeat(np.arange(crosswalk.n_regions), np.diff(grouped.indptr))
    class_of, records = grouped.indices.astype(np.int64), grouped.data.astype(np.int64)
    level, shown = np.zeros_like(region), records >= k
    plan = Plan(profile, Levels((crosswalk,)), k, level, region, class_of, records, shown)
    if requirement is None or not requirement.asks_for_more:
        return plan
    label = plan.labels_at(np.zeros(profile.counts.nnz, np.int64))
    cells = np.flatnonzero(label != SUPPRESSED)
    shown &= requirement.holds(cells, label[cells], len(records))
    return replace(plan, shown=shown, people=requirement.people(label, records))


def plan_by_levels(profile: Profile, levels: Levels, k: int, level_of: np.ndarray) -> Plan:
    """The plan that shows each cell at a level of its own; level_of : (m,), SUPPRESSED where it is not shown."""
    key = label_keys(levels, area_of_cells(profile), profile.counts.indices, level_of)
    shown = key >= 0
    keys, position = np.unique(key[shown], return_inverse=True)
    records = np.bincount(position.reshape(-1), profile.counts.data[shown], len(keys)).astype(np.int64)
    region, class_of = np.divmod(keys, _n_classes(profile))
    first = np.cumsum([0, *(crosswalk.n_regions for crosswalk in levels.crosswalks)])
    level = np.searchsorted(first, region, side="right") - 1
    return Plan(profile, levels, k, level, region - first[level], class_of, records, records >= k, level_of)


def label_keys(levels: Levels, area: np.ndarray, class_of: np.ndarray, level_of: np.ndarray) -> np.ndarray:
    """A number for the label of each cell, (m,) int64, ascending by level, region, class; -1 where there is none.

    area, class_of, level_of : (m,), of each cell
    """
    key = np.full(len(area), -1, np.int64)
    n_classes = int(class_of.max(initial=0)) + 1
    first = 0
    for level, crosswalk in enumerate(levels.crosswalks):
        here = np.flatnonzero(level_of == level)
        region = crosswalk.region_of[area[here]]
        key[here] = np.where(region >= 0, (first + region) * n_classes + class_of[here], -1)
        first += crosswalk.n_regions
    return key


def area_of_cells(profile: Profile) -> np.ndarray:
    """The area of each cell, (m,) int64, in the order of `Profile.counts`."""
    return np.repeat(np.arange(profile.counts.shape[0]), np.diff(profile.counts.indptr))


def _n_classes(profile: Profile) -> int:
    return int(profile.counts.indices.max(initial=0)) + 1
