"""The finest zones from which no small count follows, also for somebody who knows the method.

A class stands in a larger region because in a smaller one it was impossible or dearer: that proves small counts
(methods: section 13). Here it may also stand there as a *decoy*: a region shows a class only if one of its parts has k
records of it that are not shown there, or if each area of its zone may have none. Which part that is depends on prices
that are drawn in secret; and with a small chance a place is closed to a class, or needs no decoy, whatever lives there.
So any set of places may be the one that was open to a class, and every table with the published counts of the zones is
one from which the release could have come: what can be proven is the counts of the zones, and nothing else.
"""

from __future__ import annotations

from typing import Callable

import numpy as np

from ..arrays import turns
from ..dataclass import dataclass
from ..parameters import CLOSED_BY_CHANCE
from ..plan import Plan, area_of_cells
from ..privacy.requirement import Requirement
from .optimum import ProfileCells
from .tree import Tree
from .zone_optimum import Allowed, cheapest_release
from .zones import (
    ProofByPeople,
    Storey,
    Zones,
    level_of_zones,
    of_classes,
    size_by_level,
    storeys_of,
    without_falls,
    zone_of_cells,
    zones_of,
)

# Whether what more is asked of equivalence classes holds: called with the cells that show some of them, the equivalence
# class of each cell and their number; gives a boolean for each equivalence class. Those that hold by themselves need
# not hold together: where persons have rows in both, those who have a value in either may be nearly all.
Holds = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


# Per cent of the places that are closed to a class by chance: as a rule, at least, and at most.
LEAST_CLOSED = 0.01  # per cent


@dataclass(frozen=True, eq=False)
class Secrets:
    """What is drawn for each class and each place that has k records of it or more; nobody may know it.

    source : of the draws; spread : how much of what a record saves in a smaller place its price there may take away, 0
    for nothing to 1 for all; closed : the chance that a place is closed to a class; waived : that it needs no decoy
    """

    source: np.random.Generator
    spread: float = 0.2
    closed: float = CLOSED_BY_CHANCE.default / 100
    waived: float = 0.01


@dataclass(frozen=True, eq=False)
class Conditions:
    """What zones must be.

    people : (n,) of each area; secrets : what is drawn where no small count may follow, None where decoys are not asked
    for; least_areas, least_people : what must be left of a region without the zones within, 0 for anything; period :
    the quasi-identifier in each of whose values the people live there again, empty for none
    """

    people: np.ndarray
    secrets: Secrets | None = None
    least_areas: int = 0
    least_people: float = 0.0
    period: str = ""


def levels_in_zones(
    cells: ProfileCells, tree: Tree, k: int, conditions: Conditions, holds: Holds | None = None
) -> np.ndarray:
    """The level at which each cell is shown, (m,) int64, -1 for none, in the finest zones that meet the conditions.

    cells : of whole classes; holds : whether equivalence classes hold what is asked beside k records
    The cheapest places are worked out; those that fail are closed to the class, or need a decoy from then on, and the
    class is worked out again. Where a region of the coarsest level fails, the smallest zones within are given up so
    that more arrives there. No record is suppressed by chance or for want of a decoy: only of classes that fewer than k
    have in a region of the coarsest level, or where `holds`, the least that must be left or the people of few areas
    leave no choice, or none that was found.
    """
    work = _Work(cells, tree, k, conditions, holds)
    while work.classes.any():
        work.solve()
        work.close_what_fails()
    return work.levels()


def hold_decoys(plan: Plan, requirement: Requirement) -> np.ndarray:
    """Which equivalence classes of a plan hold a decoy, (L,) bool: of what they show k or more are from one region of
    the level below, of records, or of the persons of each area where k counts these. Internal: which ones do must stay
    secret."""
    held = np.zeros(len(plan.records), bool)
    records = requirement.members_of_cells(plan.profile.counts.data)
    area, released_classes = area_of_cells(plan.profile), plan.equivalence_class_of
    shown = np.flatnonzero(released_classes >= 0)
    for level in range(1, len(plan.levels)):
        cells = shown[plan.level[released_classes[shown]] == level]
        below = plan.levels.crosswalks[level - 1]
        part = below.region_of[area[cells]]
        cells, part = cells[part >= 0], part[part >= 0]
        keys, number = np.unique(released_classes[cells].astype(np.int64) * below.n_regions + part, return_inverse=True)
        from_part = np.bincount(number.reshape(-1), records[cells], len(keys))
        held[keys[from_part >= plan.k] // below.n_regions] = True
    return held


class _Work:
    """The places that have a choice, what each may do, and which show their class; lists by level, arrays by row."""

    def __init__(self, cells: ProfileCells, tree: Tree, k: int, conditions: Conditions, holds: Holds | None) -> None:
        self.k, self.conditions, self.holds, self.n_cells = k, conditions, holds, len(cells.records)
        self.storeys = storeys_of(cells, tree, k)
        self.price = _prices(self.storeys, tree, conditions.secrets)
        dearest = max(float(price.max(initial=0.0)) for price in self.price) + 1.0
        self.dearest = dearest * (1.0 + np.bincount(cells.class_of, cells.records))[self.storeys[-1].class_of]
        self.closed = [self._drawn(storey, level, "closed") for level, storey in enumerate(self.storeys)]
        self.waived = [self._drawn(storey, level, "waived") for level, storey in enumerate(self.storeys)]
        self.alone = [np.ones(len(storey), bool) for storey in self.storeys]
        self.released = [np.zeros(len(storey), bool) for storey in self.storeys]
        self.closed_for = [np.full(len(storey), -1, np.int64) for storey in self.storeys]
        self.first = np.cumsum([0, *(len(storey) for storey in self.storeys)], dtype=np.int64)
        self.batch = np.ones(self.first[-1], np.int64)
        people = conditions.people
        self.people, self.areas = size_by_level(tree, people), size_by_level(tree, (people > 0).astype(float))
        # What the finest places may hold at most if none of them has k.
        self.few = [np.minimum(np.floor(self.people[0]), k - 1)]
        for within, loss in zip(tree.within, tree.loss[1:]):
            self.few.append(np.bincount(within, self.few[-1], len(loss)))
        self.proof_by_people = ProofByPeople(tree, people, k)
        self.classes = np.ones(int(cells.class_of.max(initial=-1)) + 1, bool)

    def _drawn(self, storey: Storey, level: int, name: str) -> np.ndarray:
        """Which rows a coin falls for; none at the coarsest level, which is always open, and without secrets."""
        secrets = self.conditions.secrets
        if secrets is None or level == len(self.storeys) - 1:
            return np.zeros(len(storey), bool)
        return secrets.source.random(len(storey)) < getattr(secrets, name)

    def solve(self) -> None:
        """Work out where the classes that are due are shown."""
        rows = self._rows()
        storeys = of_classes(self.storeys, self.classes)
        # What a closed place of the coarsest level passes on is suppressed: dearer than all that could be saved by it.
        self.price[-1] = np.where(self.closed[-1], self.dearest, self.price[-1])
        allowed = [
            Allowed(price[at], ~closed[at], alone[at] | waived[at])
            for price, closed, alone, waived, at in zip(self.price, self.closed, self.alone, self.waived, rows)
        ]
        for released, at, of_level in zip(self.released, rows, cheapest_release(storeys, allowed, self.k)):
            released[at] = of_level

    def close_what_fails(self) -> None:
        """Change what places may do where a zone fails; the classes with such a zone are due again."""
        rows = self._rows()
        storeys, released = of_classes(self.storeys, self.classes), [of[at] for of, at in zip(self.released, rows)]
        zones, fails = zones_of(storeys, released, self.few), self._failing(storeys, released)
        due = np.zeros_like(self.classes)
        for at, storey, lone, failing, alone in zip(rows, storeys, self._alone_in_vain(zones, rows), fails, self.alone):
            alone[at[lone]] = False
            due[storey.class_of[lone | failing]] = True
        # Nothing is suppressed for want of a decoy.
        last, at = len(storeys) - 1, rows[-1]
        stuck = ~released[last] & (zones.arrived[last] > 0) & ~self.alone[last][at] & ~self.waived[last][at]
        stuck &= ~self.closed[last][at]
        self.waived[last][at[stuck]] = True
        due[storeys[last].class_of[stuck]] = True
        if any(of_level.any() for of_level in fails):
            self._bring_company(fails, rows, storeys, released, zones)
        self.classes = due

    def levels(self) -> np.ndarray:
        """The level at which each cell is shown."""
        return level_of_zones(self.storeys, zone_of_cells(self.storeys, self.released, self.n_cells))

    def _rows(self) -> list[np.ndarray]:
        """The rows of the classes that are due."""
        return [np.flatnonzero(self.classes[storey.class_of]) for storey in self.storeys]

    def _alone_in_vain(self, zones: Zones, rows: list[np.ndarray]) -> list[np.ndarray]:
        """Which rows show their class without a decoy, though some area of the zone could then not be without it.

        That is so where more arrives than the other areas can hold if none has k.
        """
        lone = [np.zeros(len(at), bool) for at in rows]
        if self.conditions.secrets is None:
            return lone
        for level in range(1, len(rows)):
            at, arrived = rows[level], zones.arrived[level]
            lone[level] = zones.released[level] & (zones.from_part[level] < self.k) & ~self.waived[level][at]
            lone[level] &= arrived > zones.left[level] - (self.k - 1)
        return lone

    def _failing(self, storeys: list[Storey], released: list[np.ndarray]) -> list[np.ndarray]:
        """Which rows show their class though too little is left of them, though their people tell too much, or though
        what else is asked does not hold."""
        fails = [np.zeros(len(storey), bool) for storey in storeys]
        for size, least in ((self.areas, self.conditions.least_areas), (self.people, self.conditions.least_people)):
            if least:
                left = zones_of(storeys, released, size).left
                for level in range(1, len(storeys)):
                    fails[level] |= released[level] & (left[level] < least)
        if self.conditions.secrets is not None:
            small = self.proof_by_people.small_counts(storeys, released)
            fails = [before | disclosing for before, disclosing in zip(fails, small)]
        if self.holds is not None:
            zone = zone_of_cells(storeys, released, self.n_cells)
            cells = np.flatnonzero(zone >= 0)
            used, equivalence_class = np.unique(zone[cells], return_inverse=True)
            held = np.ones(sum(len(storey) for storey in storeys), bool)
            held[used] = self.holds(cells, equivalence_class.reshape(-1), len(used))
            ends = np.cumsum([len(storey) for storey in storeys], dtype=np.int64)
            fails = [before | ~of_level for before, of_level in zip(fails, np.split(held, ends[:-1]))]
        return fails

    def _bring_company(
        self,
        fails: list[np.ndarray],
        rows: list[np.ndarray],
        storeys: list[Storey],
        released: list[np.ndarray],
        zones: Zones,
    ) -> None:
        """Close the smallest zones within places that fail, so that more arrives; where there are none, the places.

        Where all company does not help a place, what was closed for it opens again.
        """
        number = [first + at for first, at in zip(self.first, rows)]  # of each row, among those of all levels
        lowest = _lowest_around(storeys, fails, number)
        inside = [of_level & (around >= 0) for of_level, around in zip(released, lowest)]
        level, at = (np.concatenate(parts) for parts in zip(*_positions(inside, rows)))
        size = np.concatenate([of[here] for of, here in zip(zones.arrived, inside)])
        helped = np.concatenate([of[here] for of, here in zip(lowest, inside)])
        first = _first_of_each(helped, size, self.batch[helped])
        for of_level in range(len(storeys)):
            closing = first & (level == of_level)
            self.closed[of_level][at[closing]] = True
            self.closed_for[of_level][at[closing]] = helped[closing]
        self.batch[np.unique(helped)] *= 2
        for of_level, (of_number, failing) in enumerate(zip(number, fails)):
            hopeless = failing & ~np.isin(of_number, helped)
            for below in range(of_level):
                again = np.isin(self.closed_for[below], of_number[hopeless])
                self.closed[below][again], self.closed_for[below][again] = False, -1
            if of_level == len(storeys) - 1:
                hopeless &= ~self._waive(hopeless, rows, storeys)
            self.closed[of_level][rows[of_level][hopeless]] = True

    def _waive(self, hopeless: np.ndarray, rows: list[np.ndarray], storeys: list[Storey]) -> np.ndarray:
        """Which of these places of the coarsest level may hold if no decoy is asked for, in them or else within them.

        To bring a decoy may be what made them fail: nothing is suppressed for want of one.
        """
        within = _outermost(storeys)
        needs = [~(alone[at] | waived[at]) for alone, waived, at in zip(self.alone, self.waived, rows)]
        own = hopeless & needs[-1]
        inside = np.zeros_like(hopeless)
        for of_level, outermost in zip(needs[:-1], within):
            inside[outermost[of_level]] = True
        inside &= hopeless & ~own
        self.waived[-1][rows[-1][own]] = True
        for waived, at, outermost in zip(self.waived, rows, within[:-1]):
            waived[at[inside[outermost]]] = True
        return own | inside


def _outermost(storeys: list[Storey]) -> list[np.ndarray]:
    """Of each level, the row of the coarsest level in which each row lies."""
    around = [np.arange(len(storeys[-1]), dtype=np.int64)]
    for storey in reversed(storeys[1:]):
        around.insert(0, np.repeat(around[0], storey.number))
    return around


def _lowest_around(storeys: list[Storey], fails: list[np.ndarray], number: list[np.ndarray]) -> list[np.ndarray]:
    """The number of the lowest failing place around each row, -1 for none."""
    around = [np.full(len(storeys[-1]), -1, np.int64)]
    for storey, failing, of_rows in zip(reversed(storeys[1:]), reversed(fails[1:]), reversed(number[1:])):
        around.insert(0, np.repeat(np.where(failing, of_rows, around[0]), storey.number))
    return around


def _positions(inside: list[np.ndarray], rows: list[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(np.full(int(here.sum()), level, np.int64), at[here]) for level, (here, at) in enumerate(zip(inside, rows))]


def _first_of_each(group: np.ndarray, size: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Which are among the `number` smallest of their group, bool."""
    order = np.lexsort((size, group))
    rank = np.empty(len(order), np.int64)
    rank[order] = turns(group[order])
    return rank < number


def _prices(storeys: list[Storey], tree: Tree, secrets: Secrets | None) -> list[np.ndarray]:
    """What a record costs that is shown in each row: its loss there, and at most that in the place around it."""
    losses = without_falls(tree)
    prices = []
    for level, storey in enumerate(storeys):
        price = losses[level][storey.place].astype(float)
        if secrets is not None and level + 1 < len(storeys):
            rise = losses[level + 1][tree.within[level][storey.place]] - price
            price += secrets.spread * secrets.source.random(len(storey)) * rise
        prices.append(price)
    return prices
