"""What must be left of a zone, and what a decoy needs: just too little, just enough, and more."""

from __future__ import annotations

import numpy as np
import pytest

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting.decoys import Conditions, Secrets, hold_decoys
from vbas.core.nesting.planning import nest
from vbas.core.plan import SUPPRESSED, plan_by_levels
from vbas.core.privacy.requirement import Requirement, members_of

from .nested_cases import profile_of

K = 3


def place(counts: list[list[int]], *regions_of: list[int], people: float = 10.0):
    """Areas in a row with so many of each class, and their levels: each by itself, these regions, and all together."""
    n = len(counts)
    areas = make_areas([f"a{i}" for i in range(n)], [(100.0 * i, 0.0) for i in range(n)], np.full(n, people))
    crosswalks = [Crosswalk(np.array(of), max(of) + 1) for of in regions_of]
    return areas, profile_of(np.array(counts)), make_levels(areas, [own_regions(n), *crosswalks])


def shown(plan) -> list[int]:
    """The level of each cell, SUPPRESSED for none."""
    return np.append(np.where(plan.released, plan.level, SUPPRESSED), SUPPRESSED)[plan.equivalence_class_of].tolist()


@pytest.mark.parametrize(
    ("least_areas", "least_people", "levels"),
    [
        (0, 0.0, [0, 1, 1, 0]),
        (1, 0.0, [0, 1, 1, 0]),
        (2, 0.0, [0, 1, 1, 0]),
        (3, 0.0, [1, 1, 1, 0]),
        (4, 0.0, [2, 2, 2, 0]),
        (5, 0.0, [2, 2, 2, 2]),
        (0, 20.0, [0, 1, 1, 0]),
        (0, 20.5, [1, 1, 1, 0]),
        (0, 30.0, [1, 1, 1, 0]),
        (0, 30.5, [2, 2, 2, 0]),
        (0, 40.0, [2, 2, 2, 0]),
        (0, 40.5, [2, 2, 2, 2]),
        (2, 30.0, [1, 1, 1, 0]),
        (4, 20.0, [2, 2, 2, 0]),
    ],
)
def test_what_is_left_of_a_region_is_exactly_what_is_asked_or_more(least_areas, least_people, levels):
    """The first area shows its three by itself; of the four in the next two, nothing else is left of the region."""
    areas, profile, of_levels = place([[3], [2], [2], [3], [0]], [0, 0, 0, 1, 1], [0] * 5)
    conditions = Conditions(areas.population, None, least_areas, least_people)
    assert shown(nest(areas, profile, of_levels, K, conditions=conditions)) == levels


@pytest.mark.parametrize(("people", "levels"), [(1.0, [0, 1, 1, 0]), (0.0, [1, 1, 1, 0])])
def test_an_area_without_people_is_none_of_those_that_must_be_left(people, levels):
    """Of the region three areas are left beside the first, where somebody lives in the last of them."""
    areas, profile, of_levels = place([[3], [2], [1], [0], [3]], [0, 0, 0, 0, 1], [0] * 5)
    areas = areas.with_population(np.array([10.0, 10.0, 10.0, people, 10.0]))
    assert shown(nest(areas, profile, of_levels, K, conditions=Conditions(areas.population, None, 3))) == levels


def test_where_more_must_be_left_than_there_is_everything_is_suppressed():
    areas, profile, of_levels = place([[3], [2], [2], [3], [0]], [0, 0, 0, 1, 1], [0] * 5)
    plan = nest(areas, profile, of_levels, K, conditions=Conditions(areas.population, None, 6))
    assert not (np.array(shown(plan)) > 0).any()


@pytest.mark.parametrize(
    ("first", "second", "held"), [(2, 2, False), (3, 1, True), (2, 3, True), (4, 0, True), (1, 2, False)]
)
def test_a_region_holds_a_decoy_where_k_of_its_records_are_of_one_part(first, second, held):
    _, profile, levels = place([[first], [second], [9]], [0, 0, 0])
    n_there = int((profile.counts.toarray()[:2] > 0).sum())
    plan = plan_by_levels(profile, levels, K, np.array([1] * n_there + [0], np.int8))
    assert hold_decoys(plan, Requirement(K)).tolist() == [held if level else False for level in plan.level.tolist()]


@pytest.mark.parametrize(("persons", "held"), [([0, 1, 2, 3], True), ([0, 0, 1, 2], False)])
def test_decoys_are_of_persons_where_these_are_counted(persons, held):
    """Three rows of the first area, and one of the second: of three persons in the first, or of two."""
    _, profile, levels = place([[3], [1]], [0, 0])
    plan = plan_by_levels(profile, levels, K, np.array([1, 1], np.int8))
    members = members_of("persons", np.array([0, 0, 0, 1]), np.array(persons))
    assert hold_decoys(plan, Requirement(K, (members,))).tolist() == [held]


@pytest.mark.parametrize("seed", range(4))
def test_without_chance_every_zone_holds_a_decoy_or_could_have_none_anywhere(seed):
    """Of what a larger region shows k are of one part, or the other areas could hold all of it without any having k."""
    rng = np.random.default_rng(seed)
    checked = 0
    for _ in range(12):
        counts = rng.integers(0, 5, (6, 2)) * (rng.random((6, 2)) < 0.8)
        areas, profile, levels = place(counts.tolist(), [0, 0, 1, 1, 2, 2], [0] * 6, people=float(rng.integers(3, 30)))
        if not profile.counts.nnz:
            continue
        secrets = Secrets(np.random.default_rng(seed), 0.2, 0.0, 0.0)
        plan = nest(areas, profile, levels, K, conditions=Conditions(areas.population, secrets))
        held = hold_decoys(plan, Requirement(K))
        where = {
            (int(level), int(region), int(one))
            for level, region, one, out in zip(plan.level, plan.region, plan.class_of, plan.released)
            if out
        }
        last = len(levels) - 1
        for number in np.flatnonzero(plan.released & (plan.level > 0) & (plan.level < last)).tolist():
            level, region, one = int(plan.level[number]), int(plan.region[number]), int(plan.class_of[number])
            left = [
                i
                for i in np.flatnonzero(levels.region_of[level] == region)
                if not any((fine, int(levels.region_of[fine][i]), one) in where for fine in range(level))
            ]
            others = (len(left) - 1) * min(areas.population[0], K - 1)
            assert held[number] or plan.records[number] <= others
            checked += 1
    assert checked


@pytest.mark.parametrize(
    ("counts", "people", "level"),
    [
        ([2, 1, 0], [9, 9, 9], 1),
        ([2, 2, 0], [9, 9, 9], 1),
        ([2, 2, 1], [9, 9, 9], 2),
        ([2, 2, 2], [9, 9, 9], 2),
        ([2, 1, 0], [9, 9, 1], 1),
        ([2, 2, 0], [9, 9, 1], 2),
        ([2, 2, 0], [9, 9, 1.5], 2),  # as estimates have it: nobody else lives there for sure
        ([2, 2, 0], [9, 9, 2], 1),
        ([2, 2, 0], [9, 9, 0], 2),
    ],
)
def test_without_a_decoy_a_zone_shows_no_more_than_all_its_areas_but_one_can_have(counts, people, level):
    """Two of each area at most, as three would be shown there; one of the areas might have none."""
    areas, profile, levels = place([[of] for of in [*counts, 3, 0]], [0, 0, 0, 1, 1], [0] * 5)
    areas = areas.with_population(np.array([*people, 9, 9], float))
    for waived, expected in ((0.0, level), (1.0, 1)):
        secrets = Secrets(np.random.default_rng(0), 0.2, 0.0, waived)
        plan = nest(areas, profile, levels, K, conditions=Conditions(areas.population, secrets))
        assert shown(plan) == [expected] * sum(of > 0 for of in counts) + [0]


def test_a_plan_that_shows_nothing_holds_no_decoy():
    areas = make_areas(["a", "b"], [(0.0, 0.0), (1.0, 0.0)], np.ones(2))
    levels = make_levels(areas, [own_regions(2), Crosswalk(np.zeros(2, np.int64), 1)])
    plan = nest(areas, profile_of(np.ones((2, 1), np.int64)), levels, K)
    assert hold_decoys(plan, Requirement(K)).tolist() == []
