"""Who is to keep a zone company, or is given up before a class is suppressed, in plain loops over sets of areas."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.levels import make_levels
from vbas.core.nesting import company
from vbas.core.plan import SUPPRESSED, Plan, area_of_cells, plan_by_levels

from .nested_cases import profile_of

Choice = tuple[int, ...]


@dataclass
class Case:
    """A plan of two classes or three in zones, and what it shows: of each equivalence class its areas, and its zone."""

    plan: Plan
    seed: int

    def __post_init__(self):
        plan = self.plan
        self.last, self.n = len(plan.levels) - 1, len(plan.levels.region_of[0])
        self.shown = np.flatnonzero(plan.released).tolist()
        self.areas = {of: self.areas_of(int(plan.level[of]), int(plan.region[of])) for of in self.shown}
        self.zone = {
            of: self.areas[of].difference(*(self.areas[other] for other in self.shown if self.finer(other, of)))
            for of in self.shown
        }

    def areas_of(self, level: int, region: int) -> set[int]:
        return set(np.flatnonzero(self.plan.levels.region_of[level] == region).tolist())

    def level(self, of: int) -> int:
        return int(self.plan.level[of])

    def finer(self, of: int, other: int) -> bool:
        """Whether an equivalence class is of the same class as another, in a region within that one's."""
        same = self.plan.class_of[of] == self.plan.class_of[other]
        return bool(same) and self.level(of) < self.level(other) and self.areas[of] <= self.areas[other]

    def within(self, level: int, areas: set[int]) -> list[int]:
        """What is shown in a region, or in one within."""
        return [of for of in self.shown if self.level(of) <= level and self.areas[of] <= areas]

    def joins(self, of: int) -> int:
        """The next equivalence class around, -1 for none."""
        return min((other for other in self.shown if self.finer(of, other)), key=self.level, default=-1)

    def given_up(self, marked: set[int]) -> list[int]:
        """The level of each cell once some equivalence classes are given up."""
        gone = {
            (area, int(self.plan.class_of[of]))
            for of in marked
            if self.level(of) == self.last
            for area in self.areas[of]
        }
        levels = []
        cells = zip(area_of_cells(self.plan.profile).tolist(), self.plan.profile.counts.indices.tolist())
        for cell, of in zip(cells, self.plan.equivalence_class_of.tolist()):
            there = of
            while there in marked:
                there = self.joins(there)
            level = SUPPRESSED if of < 0 else self.last if there < 0 else self.level(there)
            levels.append(SUPPRESSED if cell in gone else level)
        return levels

    def records(self, some: Choice) -> int:
        return sum(int(self.plan.records[of]) for of in some)

    def holds(self, plan: Plan, some: Choice, requirement: object) -> bool:
        """What else is asked, of each choice."""
        return requirement is None or (sum(some) * 7 + self.seed) % 3 == 0

    def chosen(self, choices: list[Choice], requirement: object) -> Choice:
        return next((some for some in choices if self.holds(self.plan, some, requirement)), ())

    def company(self, own: int, level: int, region: int, requirement: object) -> Choice:
        """Who is to keep the zone of an equivalence class company, of which a part is known too well."""
        if level < 0:
            level, region = 0, int(self.plan.levels.region_of[0][region])
        part = self.areas_of(level, region)
        class_of = self.plan.class_of
        inside = [of for of in self.within(level, part) if class_of[of] != class_of[own]]
        beside = [of for of in self.within(self.level(own), self.areas[own]) if class_of[of] != class_of[own]]
        beside = [of for of in beside if of not in inside and self.areas[of] & (self.zone[own] - part)]
        inside = [of for of in inside if self.areas[of] & self.zone[own] & part]
        reach = [of for of in self.shown if self.zone[of] & (self.zone[own] - part)]
        choices: list[Choice] = [(of,) for of in inside if self.joins(of) in reach]
        for of in inside:
            alike = [
                other for other in beside if class_of[other] == class_of[of] and self.joins(other) == self.joins(of)
            ]
            choices += [(of, other) for other in sorted(alike, key=lambda other: (self.records((other,)), -other))[:1]]
        if not choices and self.level(own) == self.last:
            choices = [(of,) for of in beside if self.level(of) < self.last and self.joins(of) < 0]
        return self.chosen(sorted(choices, key=self.records)[: company.MOST_TRIED], requirement)

    def beneath(self, own: int, requirement: object) -> Choice:
        """What is given up before a class is suppressed."""
        if self.level(own) < self.last:
            return ()
        finer = [of for of in self.shown if self.level(of) < self.last and self.areas[of] <= self.areas[own]]
        same = tuple(of for of in finer if self.plan.class_of[of] == self.plan.class_of[own])
        return self.chosen([some for some in (same, tuple(finer)) if some], requirement)


def drawn_case(seed: int) -> Case:
    """Places that show their class at random: each area is shown in the lowest of them around it."""
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(5, 10)), int(rng.integers(2, 4))
    parts, wholes = np.sort(rng.integers(0, 4, n)), np.array([0, 0, 0, 1] if seed % 3 else [0, 0, 1, 1])
    regions_of = [np.unique(of, return_inverse=True)[1].reshape(-1) for of in (parts, wholes[parts])]
    areas = make_areas([f"a{of}" for of in range(n)], [(100.0 * of, 0.0) for of in range(n)])
    levels = make_levels(areas, [Crosswalk(of, int(of.max()) + 1) for of in (rng.permutation(n), *regions_of)])
    counts = rng.integers(2, 6, (n, n_classes)) * (rng.random((n, n_classes)) < 0.8)
    counts[0] = 2
    chances, level_of = [0.3, 0.5, 0.7], []
    shows = [
        [rng.random(n_classes) < chance for _ in range(n)] for chance in chances
    ]  # of each level and region, whether each class is shown there
    for area, class_of in np.argwhere(counts).tolist():
        level_of.append(
            next((at for at, of in enumerate(levels.region_of) if shows[at][of[area]][class_of]), SUPPRESSED)
        )
    plan = plan_by_levels(profile_of(counts), levels, 2, np.array(level_of, np.int8))
    return Case(replace(plan, in_zones=True), seed)


def test_company_is_who_plain_loops_find(monkeypatch):
    n_found = np.zeros(4, int)
    for seed in range(120):
        case, rng = drawn_case(seed), np.random.default_rng(seed)
        monkeypatch.setattr(company, "_holds", case.holds)
        pairs = [(at, area) for at, of in enumerate(case.shown) for area in case.zone[of]]
        zone, area = np.array(pairs, np.int64).reshape(-1, 2).T
        zones = SimpleNamespace(zone=zone, area=area, released=np.arange(len(case.shown)), room=np.zeros(case.n))
        marked = rng.random(len(case.plan.records)) < 0.4
        given_up = company._given_up(case.plan, marked & case.plan.released)
        marks = set(np.flatnonzero(marked & case.plan.released).tolist())
        assert given_up.in_zones and given_up.levels_of_cells.tolist() == case.given_up(marks)
        for at, own in enumerate(case.shown):
            requirement: Any = "asked" if rng.random() < 0.5 else None
            every = np.ones(len(case.plan.profile.classes), bool)
            proven: Any = SimpleNamespace(classes=every, at=np.array(case.shown))
            found = company._beneath(case.plan, proven, own, requirement)
            assert found == case.beneath(own, requirement)
            n_found[0] += bool(found)
            level = int(rng.integers(-1, max(case.level(own), 1)))
            some = sorted(case.areas[own])[int(rng.integers(0, len(case.areas[own])))]
            region = some if level < 0 else int(case.plan.levels.region_of[level][some])
            proven.proof = SimpleNamespace(
                zones=zones, of=SimpleNamespace(level=np.array([9, level]), region=np.array([9, region]))
            )
            found = company._company(case.plan, proven, at, 1, requirement)
            assert found == case.company(own, level, region, requirement), (seed, own)
            n_found[1] += len(found) == 1 and case.joins(found[0]) >= 0
            n_found[2] += len(found) == 2
            n_found[3] += len(found) == 1 and case.joins(found[0]) < 0
    assert (n_found > 20).all(), n_found
