"""Equivalence classes that do not hold what is asked: joined by others or a level up, cell by cell in plain loops."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting.decoys import Conditions
from vbas.core.nesting.planning import nest
from vbas.core.nesting.promoting import promote, whole_classes
from vbas.core.plan import SUPPRESSED, area_of_cells
from vbas.core.privacy.diversity import shares_of
from vbas.core.privacy.requirement import Requirement

from ..each import for_each_seed
from .nested_cases import profile_of

N = 8


class Town:
    """Cells with records of two kinds, levels, and the level of each cell: such that no two parts have as many."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        areas = make_areas([f"a{i}" for i in range(N)], rng.random((N, 2)), np.ones(N))
        counts = (2 ** rng.permutation(2 * N)).reshape(N, 2) % 997 * (rng.random((N, 2)) < 0.8)
        counts[0, 0] += 1
        self.profile = profile_of(counts)
        halves = Crosswalk(np.arange(N) // 4, 2)
        pairs = Crosswalk(np.arange(N) // 2, 4)
        self.levels = make_levels(areas, [own_regions(N), pairs, halves])
        m = self.profile.counts.nnz
        self.area, self.class_of = area_of_cells(self.profile).tolist(), self.profile.counts.indices.tolist()
        self.records = self.profile.counts.data.tolist()
        self.good = rng.integers(0, 2, m).tolist()  # whether a cell is one of those that help
        self.level_of = rng.integers(-1, 3, m).astype(np.int8)

    def place(self, cell: int, level: int) -> tuple[int, int]:
        return int(self.levels.region_of[level][self.area[cell]]), self.class_of[cell]

    def holds(self, cells: list[int]) -> bool:
        """Whether a third of some cells are of those that help, and there are two: more company may do harm."""
        return len(cells) >= 2 and 3 * sum(self.good[cell] for cell in cells) >= len(cells)

    def all_hold(self, cells: np.ndarray, number: np.ndarray, n: int) -> np.ndarray:
        return np.array([self.holds(cells[number == one].tolist()) for one in range(n)], bool)

    def shown(self, level_of: list[int], level: int) -> dict[tuple[int, int], list[int]]:
        found = defaultdict(list)
        for cell, own in enumerate(level_of):
            if own == level:
                found[self.place(cell, level)].append(cell)
        return found

    def promoted(self) -> list[int]:
        level_of = self.level_of.tolist()
        for level in range(3):
            joined, batch = list(level_of), 1
            first = {place for place, cells in self.shown(level_of, level).items() if not self.holds(cells)}
            fails = set(first)
            while fails:
                pulled = []
                for place in fails:
                    parts = [
                        cells
                        for finer in range(level)
                        for cells in self.shown(joined, finer).values()
                        if self.place(cells[0], level) == place
                    ]
                    parts.sort(key=lambda cells: sum(self.records[cell] for cell in cells))
                    pulled += [cell for cells in parts[:batch] for cell in cells]
                if not pulled:
                    break
                for cell in pulled:
                    joined[cell] = level
                fails = {place for place, cells in self.shown(joined, level).items() if not self.holds(cells)}
                batch *= 2
            for cell, own in enumerate(level_of):
                if self.place(cell, level) not in fails:
                    level_of[cell] = joined[cell]
                elif own == level:
                    level_of[cell] = level + 1 if level < 2 else SUPPRESSED
        return level_of


@for_each_seed(25)
def test_what_does_not_hold_is_joined_by_the_smallest_or_goes_up_as_by_hand(seed):
    town = Town(seed)
    before = town.level_of.copy()
    found = promote(town.profile, town.levels, town.level_of, town.all_hold)
    assert found.tolist() == town.promoted()
    assert np.array_equal(town.level_of, before)


@for_each_seed(6)
def test_of_a_class_of_a_coarsest_region_all_is_suppressed_or_nothing(seed):
    town = Town(seed)
    gone = {town.place(cell, 2) for cell, level in enumerate(town.level_of.tolist()) if level == SUPPRESSED}
    expected = [
        SUPPRESSED if town.place(cell, 2) in gone else level for cell, level in enumerate(town.level_of.tolist())
    ]
    assert gone and whole_classes(town.profile, town.levels, town.level_of).tolist() == expected
    shares = shares_of("ill", np.zeros(1, np.int64), np.zeros(1, np.int64), None)
    nothing_asked, asked = Requirement(2, shares=(shares,)), Requirement(2, shares=(shares,), l_diversity=2)
    assert whole_classes(town.profile, town.levels, town.level_of, nothing_asked).tolist() == expected
    assert whole_classes(town.profile, town.levels, town.level_of, asked).tolist() == town.level_of.tolist()


@for_each_seed(20)
def test_zones_show_all_of_a_class_in_a_coarsest_region_or_nothing(seed):
    """Also where the least that must be left of a region leaves no choice; without zones nobody is suppressed who has
    k in a coarsest region."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (N, 2)) + (np.arange(N) == 0)[:, None]
    areas = make_areas([f"a{i}" for i in range(N)], rng.random((N, 2)), np.full(N, float(rng.integers(1, 30))))
    halves, k = np.arange(N) // 4, int(rng.integers(2, 5))
    levels = make_levels(areas, [own_regions(N), Crosswalk(halves, 2)])
    conditions = Conditions(areas.population, None, int(rng.integers(0, 3)), float(rng.integers(0, 40)))
    for asked in (conditions, None):
        plan = nest(areas, profile_of(counts), levels, k, conditions=asked)
        shown = np.zeros((N, 2), np.int64)
        area, class_of = area_of_cells(plan.profile), plan.profile.counts.indices
        np.add.at(shown, (area, class_of), plan.profile.counts.data * (plan.levels_of_cells >= 0))
        for half in range(2):
            all_there, all_shown = (of[halves == half].sum(axis=0) for of in (counts, shown))
            assert ((all_shown == all_there) | (all_shown == 0)).all()
            assert asked is not None or (all_shown == np.where(all_there >= k, all_there, 0)).all()
