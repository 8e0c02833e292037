"""The plan of a release: the label under which each cell of the profile is shown, or that it is suppressed.

A cell is an area and a class that occur together in some record; a label is what a record shows of them: a region and
the class. The plan is all it takes to release records, to rate what that costs and to report it. It is small compared
with the records: whoever holds them, in arrays or a database, applies it by one join.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from .anonymity import check_k
from .crosswalk import Crosswalk
from .levels import Levels
from .privacy.requirement import Requirement
from .profile import Profile

SUPPRESSED = -1
CELLS_AT_ONCE = 1 << 22  # of a profile that is gone through, so that nothing of its size is held as 64 bits
EVERY_CELL = slice(None)


@dataclass(frozen=True, eq=False)
class Plan:
    """The labels of a profile under nested levels of regions, or under one, and where each cell is shown.

    profile, levels : what the plan was made from; k : the minimum of records behind every label in use
    level, region, class_of, records : (L,) int64, of each label, ordered by level, region, class: its level and its
    region (both 0-based, the finest level first), its class in the profile, and the number of records that show it.
    Under one level a label stands here for every equivalence class, shown or not
    shown : (L,) bool, whether a label is released: it has at least k records, and whatever more is asked
    level_of : (m,) int8, the level at which each cell is shown, SUPPRESSED where it is not; None under one level
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
        """The position of each cell's label, (m,) int32, or int64 of very many; SUPPRESSED where it is not shown.

        The cells are those that `Profile.counts` stores, in its order.
        """
        nowhere = np.zeros(self.profile.counts.nnz, np.int8)
        return self._labels(nowhere if self.level_of is None else self.level_of, self.shown)

    def labels_at(self, level_of: np.ndarray) -> np.ndarray:
        """The position of each cell's label at these levels, shown or not, (m,); SUPPRESSED for no level."""
        return self._labels(level_of, np.ones(len(self.records), bool))

    def _labels(self, level_of: np.ndarray, shown: np.ndarray) -> np.ndarray:
        """The position of each cell's label, SUPPRESSED for no level and for labels that are not shown."""
        class_of, n_classes = self.profile.counts.indices, _n_classes(self.profile)
        first = np.cumsum([0, *(crosswalk.n_regions for crosswalk in self.levels.crosswalks)])
        keys = (first[self.level] + self.region) * n_classes + self.class_of
        there = np.append(shown, False)  # the last entry is for no level
        labels = np.empty(len(class_of), np.int32 if len(keys) < 2**31 else np.int64)
        for cells in stretches(len(class_of)):
            area = area_of_cells(self.profile, cells)
            key = label_keys(self.levels, area, class_of[cells], level_of[cells], n_classes)
            label = np.where(key >= 0, np.searchsorted(keys, key), SUPPRESSED)
            labels[cells] = np.where(there[label], label, SUPPRESSED)
        return labels


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
    by_level = [_shown_at(profile, crosswalk, level_of == level) for level, crosswalk in enumerate(levels.crosswalks)]
    level = np.repeat(np.arange(len(levels)), [one.nnz for one in by_level])
    region = np.concatenate([np.repeat(np.arange(one.shape[0]), np.diff(one.indptr)) for one in by_level])
    class_of = np.concatenate([one.indices for one in by_level]).astype(np.int64)
    records = np.concatenate([one.data for one in by_level])
    return Plan(profile, levels, k, level, region, class_of, records, records >= k, level_of)


def _shown_at(profile: Profile, crosswalk: Crosswalk, here: np.ndarray) -> sparse.csr_matrix:
    """The records of some cells by region and class, (n_regions, C), classes ascending; here : (m,) bool."""
    found = sparse.csr_matrix((crosswalk.n_regions, len(profile.classes)), dtype=np.int64)
    for stretch in stretches(profile.counts.nnz):
        region = crosswalk.region_of[area_of_cells(profile, stretch)]
        cells = np.flatnonzero(here[stretch] & (region >= 0))
        records, class_of = (one[stretch][cells] for one in (profile.counts.data, profile.counts.indices))
        found += sparse.csr_matrix((records.astype(np.int64), (region[cells], class_of)), shape=found.shape)
    found.sort_indices()
    return found


def stretches(n_cells: int) -> Iterator[slice]:
    """The cells of a profile, some millions at a time."""
    return (slice(start, min(start + CELLS_AT_ONCE, n_cells)) for start in range(0, n_cells, CELLS_AT_ONCE))


def label_keys(
    levels: Levels, area: np.ndarray, class_of: np.ndarray, level_of: np.ndarray, n_classes: int = 0
) -> np.ndarray:
    """A number for the label of each cell, (m,) int64, ascending by level, region, class; -1 where there is none.

    area, class_of, level_of : (m,), of each cell; n_classes : of the whole profile, where the cells are some of it
    """
    key = np.full(len(area), -1, np.int64)
    n_classes = n_classes or int(class_of.max(initial=0)) + 1
    first = 0
    for level, crosswalk in enumerate(levels.crosswalks):
        here = np.flatnonzero(level_of == level)
        region = crosswalk.region_of[area[here]]
        key[here] = np.where(region >= 0, (first + region) * n_classes + class_of[here], -1)
        first += crosswalk.n_regions
    return key


def area_of_cells(profile: Profile, cells: slice = EVERY_CELL) -> np.ndarray:
    """The area of each cell, or of those of a stretch, (m,) int64, in the order of `Profile.counts`."""
    first, last, _ = cells.indices(profile.counts.nnz)
    here = np.clip(profile.counts.indptr, first, last)
    return np.repeat(np.arange(profile.counts.shape[0]), np.diff(here))


def _n_classes(profile: Profile) -> int:
    return int(profile.counts.indices.max(initial=0)) + 1
