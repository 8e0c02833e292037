"""What is known of the people of some classes, area by area, once a release and tables of counts are published.

A block has classes that share sums: those of one total of a table. Its people are those of each area and class, as they
are in truth; what is known are sums of them, within bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from ..dataclass import dataclass
from ..plan import SUPPRESSED
from ..scientific import sparse
from .count_tables import MANY, CountTable
from .overlay import NONE

Change = tuple[np.ndarray, Any, Any]
"""An array, a place in it, and what stood there."""


class Family:
    """Sums of the people of all regions of one kind by class or by groups of classes, and how far each may move.

    region : (n + 1,) of each area, and group : (u + 1,) of each class, n_regions and n_groups where there is none; the
    last entry stands for no area and no class, of which nothing is known
    low, high, sums : (n_regions + 1, n_groups + 1) int64 the bounds that are known, and the sums in truth
    down, up : the same shape, how much less or more a sum may be
    """

    def __init__(
        self, region: np.ndarray, group: np.ndarray, low: np.ndarray, high: np.ndarray, people: np.ndarray
    ) -> None:
        self.n_regions, self.n_groups = low.shape
        self.region = np.append(np.where(region < 0, self.n_regions, region), self.n_regions)
        self.group = np.append(np.where(group < 0, self.n_groups, group), self.n_groups)
        self.low = np.pad(low, ((0, 1), (0, 1)))
        self.high = np.pad(high, ((0, 1), (0, 1)), constant_values=MANY)
        self.sums = np.zeros_like(self.low)
        area, class_of = np.nonzero(people)
        np.add.at(self.sums, (self.region[area], self.group[class_of]), people[area, class_of])
        self.down, self.up = self.sums - self.low, self.high - self.sums
        for room in (self.down, self.up):
            room[-1], room[:, -1] = MANY, MANY

    def of_areas(self, areas: np.ndarray) -> Family:
        """The same sums, of which each of these areas stands for all that count in the same ones."""
        other = copy(self)
        other.region = np.append(self.region[areas], self.n_regions)
        return other


@dataclass(frozen=True, eq=False)
class Storeys:
    """The levels of a release, the finest first: of each the regions, and the classes as they are shown there.

    region_of : of each level (n,) int64, negative for areas left out; class_of : of each level (C,) int64, None where
    classes are shown as they are; zones : whether a region that shows a class shows all of it that no smaller region
    within shows; bounded : whether a class of which a region of the last level shows nothing has fewer than k there
    mates : where classes are the same in all periods, the class without its period of each class (C,), and of each
    level the regions that show some period of these (n_regions, C'), the last level also where regions within do: what
    such a region does not show of another period is nobody, as far as it would be a known number
    areas_first : whether level 0 is that of the areas, each of one row or more, which nobody tells apart
    """

    region_of: Sequence[np.ndarray]
    class_of: Sequence[np.ndarray | None]
    k: int
    zones: bool
    bounded: bool
    mates: tuple[np.ndarray, Sequence[sparse.csr_matrix]] | None = None
    areas_first: bool = False


class Block:
    """Some classes of all areas: u of n.

    people : (n + 1, u + 1) int64 in truth; the last row and column stand for no area and no class, and have any number
    level_of : (n, u) int8, the level at which an area's people of a class are shown, SUPPRESSED for none; it changes
    released : of each level (n_regions, n_groups) int64, the records that it shows
    order, place : the areas so that those of a region stand together, and where each stands
    stronger : whether a move has made known what was not known before, as of zones it may
    """

    def __init__(
        self,
        people: np.ndarray,
        level_of: np.ndarray,
        storeys: Storeys,
        tables: Sequence[CountTable],
        classes: np.ndarray,
    ) -> None:
        self.n, self.u = people.shape
        self.k, self.storeys, self.classes = storeys.k, storeys, classes
        self.people = np.pad(people.astype(np.int64), ((0, 1), (0, 1)), constant_values=MANY)
        self.level_of = level_of
        self.tables = [_family_of(table, classes, people) for table in tables]
        self._joined: Joined | None = None
        self._in_order()
        self.group_of = [
            np.arange(self.u, dtype=np.int64)
            if of is None
            else np.unique(of[classes], return_inverse=True)[1].reshape(-1)
            for of in storeys.class_of
        ]
        self.parent = [_parents(fine, coarse) for fine, coarse in zip(storeys.region_of, storeys.region_of[1:])]
        self._above = [_parents(fine, coarse).tolist() for fine, coarse in zip(self.group_of, self.group_of[1:])]
        self.stronger = False
        # Whether each region of each level shows a class in some period, of classes that are the same in all.
        self._in_some_period: list[np.ndarray] = []
        if storeys.mates is not None:
            of_class, row_values_in = storeys.mates
            self._in_some_period = [in_regions[:, of_class[classes]].toarray() > 0 for in_regions in row_values_in]
        self.build()

    def _in_order(self) -> None:
        """Put the areas in order."""
        self.order = np.lexsort(list(self.storeys.region_of))
        self.place = np.empty(self.n, np.int64)
        self.place[self.order] = np.arange(self.n, dtype=np.int64)

    def build(self) -> None:
        """Work out what the release shows, and with it what is known."""
        people = self.people[:-1, :-1]
        self.released, self.families = [], []
        within: list[np.ndarray] = []
        last = len(self.storeys.region_of) - 1
        for level, region in enumerate(self.storeys.region_of):
            n_regions, group = int(region.max(initial=NONE)) + 1, self.group_of[level]
            released = np.zeros((n_regions, int(group.max(initial=NONE)) + 1), np.int64)
            area, class_of = np.nonzero((self.level_of == level) & (people > 0) & (region[:, None] >= 0))
            np.add.at(released, (region[area], group[class_of]), people[area, class_of])
            low = released.copy()
            if level:
                to_group = np.empty(within[-1].shape[1], np.int64)
                to_group[self.group_of[level - 1]] = group
                at, of = np.nonzero(within[-1])
                np.add.at(low, (self.parent[level - 1][at], to_group[of]), within[-1][at, of])
            within.append(low)
            self.released.append(released)
            high = np.full_like(low, MANY)
            family = Family(region, group, low, high, people)
            alone = np.bincount(region[region >= 0], minlength=n_regions) == 1
            total, known = family.sums[:-1, :-1], np.zeros(low.shape, bool)
            some, some_within = released > 0, low > 0
            if self._in_some_period:
                some, some_within = some | self._in_some_period[level], some_within | self._in_some_period[level]
            if level == last:
                known |= some_within & (total == low)
                if self.storeys.bounded:
                    high = np.where((low == 0) & (total < self.k), self.k - 1, high)
            # An area's people of one class stand together, also where a region of coarser values is one area.
            known |= alone[:, None] & some & (total == low)
            if self.storeys.zones:
                known |= some & (total == low)
            self.families.append(Family(region, group, low, np.where(known, low, high), people))

    @property
    def known(self) -> list[Family]:
        """All that is known, what rules out most first."""
        return [*self.tables, *reversed(self.families)]

    def by_tables_alone(self) -> Block:
        """The block of somebody who knows the tables, and nothing of the release."""
        other = copy(self)
        other.families, other._joined = [], None
        return other

    def joined(self) -> Joined:
        """The block with areas that nobody tells apart as one, as they count in the same sums: of people in all of such
        areas as much is known. What moves here moves there, too.
        """
        if self._joined is None:
            columns = [*(family.region[:-1] for family in self.known), *self.storeys.region_of]
            _, first, kind = np.unique(np.column_stack(columns), axis=0, return_index=True, return_inverse=True)
            self._joined = Joined(self._by_kind(first, kind.reshape(-1)), first, kind.reshape(-1))
        return self._joined

    def _by_kind(self, first: np.ndarray, kind: np.ndarray) -> Block:
        """first : an area of each kind; kind : of each area."""
        other, order = copy(self), np.argsort(kind, kind="stable")
        starts = np.searchsorted(kind[order], np.arange(len(first), dtype=np.int64))
        people = np.add.reduceat(self.people[:-1, :-1][order], starts, axis=0)
        other.n, other.people = len(first), np.pad(people, ((0, 1), (0, 1)), constant_values=MANY)
        other.level_of = self.level_of[first]
        other.tables, other.families = (
            [family.of_areas(first) for family in families] for families in (self.tables, self.families)
        )
        other.storeys = replace(self.storeys, region_of=[of[first] for of in self.storeys.region_of])
        other._in_order()
        return other

    def moved_up(self, level: int, region: int, group: int) -> list[Change]:
        """Show what an equivalence class shows one level up, where it joins what is there; from the last level
        suppress it, once all its records are there. The changes, by which `take_back` undoes it.
        """
        last = len(self.released) - 1
        if level == last:
            return self._suppressed(region, group)
        changes: list[Change] = []
        target, around = level + 1, int(self.parent[level][region])
        its = self.group_above(level, group)
        while self.storeys.zones and target < last and not self.released[target][around, its]:
            # What a region of zones shows is all that arrives there: the next one that shows the class, or the last.
            around, its = int(self.parent[target][around]), self.group_above(target, its)
            target += 1
        self.stronger |= self.storeys.zones and not self.released[target][around, its]
        self._join(changes, level, region, group, target)
        self._know(changes, target, around, its, int(self.families[target].low[around, its]))
        return changes

    def _join(self, changes: list[Change], level: int, region: int, group: int, target: int) -> None:
        """Show what an equivalence class shows at a higher level, with what is there."""
        records = int(self.released[level][region, group])
        self._set(changes, self.level_of, self._cells(level, region, group), target)
        self._set(changes, self.released[level], (region, group), 0)
        for between in range(level, target):
            self._know(changes, between, region, group, int(self.families[between].low[region, group]) - records)
            region, group = int(self.parent[between][region]), self.group_above(between, group)
        before = int(self.released[target][region, group])
        self._set(changes, self.released[target], (region, group), before + records)

    def _suppressed(self, region: int, group: int) -> list[Change]:
        """Suppress a class of a region of the last level; where smaller regions show some of it, show all here."""
        changes: list[Change] = []
        last = len(self.released) - 1
        finer = False
        for level in range(last):
            at = np.array([self.region_at(level, own, last) == region for own in range(len(self.released[level]))])
            of = self.groups_at(level, last) == group
            for own, its in zip(*np.nonzero(self.released[level] * at[:, None] * of)):
                finer = True
                self._join(changes, level, int(own), int(its), last)
        if not finer:
            self._set(changes, self.level_of, self._cells(last, region, group), SUPPRESSED)
            self._set(changes, self.released[last], (region, group), 0)
            self._know(changes, last, region, group, 0)
        return changes

    def take_back(self, changes: Sequence[Change]) -> None:
        """Undo changes."""
        for array, at, before in reversed(changes):
            array[at] = before

    def _cells(self, level: int, region: int, group: int) -> tuple[np.ndarray, np.ndarray]:
        """The areas and classes that an equivalence class shows."""
        areas = np.flatnonzero(self.storeys.region_of[level] == region)
        classes = np.flatnonzero(self.group_of[level] == group)
        at, of = np.nonzero(self.level_of[np.ix_(areas, classes)] == level)
        return areas[at], classes[of]

    def _know(self, changes: list[Change], level: int, region: int, group: int, low: int) -> None:
        """Know this least number of a sum, and the sum itself where the release gives it."""
        family = self.families[level]
        total, released = int(family.sums[region, group]), int(self.released[level][region, group])
        last = level == len(self.released) - 1
        in_some_period = bool(self._in_some_period) and bool(self._in_some_period[level][region, group])
        exact = total == low and (
            (last and (low > 0 or in_some_period))
            or ((released > 0 or in_some_period) and (self.storeys.zones or self._is_area(level, region)))
        )
        high = low if exact else MANY
        if last and not low and not exact and self.storeys.bounded and total < self.k:
            high = self.k - 1
        for array, value in (
            (family.low, low),
            (family.high, high),
            (family.down, total - low),
            (family.up, high - total),
        ):
            self._set(changes, array, (region, group), value)

    def _is_area(self, level: int, region: int) -> bool:
        return int((self.storeys.region_of[level] == region).sum()) == 1

    def _set(self, changes: list[Change], array: np.ndarray, at: Any, value: int) -> None:
        changes.append((array, at, array[at].copy()))
        array[at] = value

    def group_above(self, level: int, group: int) -> int:
        """The group of the next level in which the classes of a group are."""
        return int(self._above[level][group])

    def groups_at(self, level: int, target: int) -> np.ndarray:
        """Of each group of a level, the group of a higher level that its classes are in."""
        groups: np.ndarray = np.empty(self.released[level].shape[1], np.int64)
        groups[self.group_of[level]] = self.group_of[target]
        return groups

    def region_at(self, level: int, region: int, target: int) -> int:
        """The region of a higher level around a region."""
        for between in range(level, target):
            region = int(self.parent[between][region])
        return region

    @property
    def as_they_are(self) -> list[int]:
        """The levels that show classes as they are."""
        return [level for level, of in enumerate(self.storeys.class_of) if of is None]


@dataclass(frozen=True, eq=False)
class Joined:
    """A block with some areas as one. first : an area of each kind; kind : (n,) of each area, from 0."""

    block: Block
    first: np.ndarray
    kind: np.ndarray


def _parents(fine: np.ndarray, coarse: np.ndarray) -> np.ndarray:
    parent = np.full(int(fine.max(initial=NONE)) + 1, NONE, np.int64)
    inside = fine >= 0
    parent[fine[inside]] = coarse[inside]
    return parent


def _family_of(table: CountTable, classes: np.ndarray, people: np.ndarray) -> Family:
    """The counts of a table of some classes, whole groups of them."""
    group = table.group_of[classes]
    used, own = np.unique(group, return_inverse=True)
    own, used = own.reshape(-1) - int(len(used) > 0 and used[0] == NONE), used[used >= 0]
    return Family(table.zone_of, own, table.low[:, used], table.high[:, used], people)
