"""What nested levels are made by, on its edges: recounted by trying everything, or by plain loops."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.nesting.company import _given_up
from vbas.core.nesting.making import joined_by
from vbas.core.nesting.planning import nest, nest_by_losses
from vbas.core.nesting.series import keep_together
from vbas.core.nesting.series_optimum import _peeled
from vbas.core.nesting.states import solved, traced
from vbas.core.plan import SUPPRESSED, area_of_cells, plan_by_levels
from vbas.core.privacy.in_each_period import with_series
from vbas.core.records.matching import requirement_of

from .nested_cases import profile_of, random_levels
from .test_series import levels_of, people


def test_areas_whose_regions_are_joined_are_in_what_those_became():
    joined = joined_by(Crosswalk(np.array([0, 1, -1, 2, 0]), 3), Crosswalk(np.array([1, -1, 0]), 2))
    assert joined.region_of.tolist() == [1, -1, -1, 0, 1] and joined.n_regions == 2


@pytest.mark.parametrize("seed", range(20))
def test_of_what_is_given_up_the_coarsest_is_suppressed_with_all_of_its_class_there(seed):
    rng = np.random.default_rng(seed)
    areas = make_areas([f"a{i}" for i in range(10)], rng.random((10, 2)), np.ones(10))
    plan = nest(areas, profile_of(rng.poisson(2.0, (10, 3))), random_levels(areas, rng, 3, False), 3)
    plan, last = replace(plan, in_zones=True), len(plan.levels) - 1
    chosen = plan.released & (rng.random(len(plan.records)) < 0.4)
    coarsest = plan.levels.crosswalks[-1].region_of[area_of_cells(plan.profile)]
    class_of, level_of = plan.profile.counts.indices, _given_up(plan, chosen).level_of
    assert level_of is not None and plan.level_of is not None
    gone = {(int(plan.region[at]), int(plan.class_of[at])) for at in np.flatnonzero(chosen & (plan.level == last))}
    for cell, (region, of, released_classes) in enumerate(
        zip(coarsest.tolist(), class_of.tolist(), plan.equivalence_class_of)
    ):
        if (region, of) in gone:
            assert level_of[cell] == SUPPRESSED
        elif released_classes >= 0 and not chosen[released_classes]:
            assert level_of[cell] == plan.level_of[cell]
        elif released_classes >= 0:
            assert level_of[cell] > plan.level_of[cell]


def test_people_of_a_plan_that_was_brought_together_are_counted_anew():
    """Persons, not rows: they have several."""
    records = people(1, persons=True)
    requirement = with_series(requirement_of(records, 3), records.profile, "year")
    assert requirement.members
    levels, rng, n_moved = levels_of(), np.random.default_rng(1), 0
    losses = [np.full(crosswalk.n_regions, float(i)) for i, crosswalk in enumerate(levels.crosswalks)]
    plan = nest_by_losses(records.profile, levels, losses, 3, requirement)
    for _ in range(5):
        assert plan.level_of is not None
        moved = plan.level_of.copy()
        moved[np.isin(plan.equivalence_class_of, rng.choice(len(plan.records), 2)) & (moved < len(levels) - 1)] += 1
        before = plan_by_levels(records.profile, levels, 3, moved)
        kept = keep_together(before, requirement)
        n_moved += kept is not before
        if kept is not before:
            expected = requirement.people(kept.equivalence_class_of, kept.records)
            assert (
                kept.people is not None
                and kept.people.tolist() == expected.tolist()
                and (expected < kept.records).any()
            )
    assert n_moved


@pytest.mark.parametrize("seed", range(8))
def test_the_most_cells_that_hold_together_with_what_is_beside_them(seed):
    rng = np.random.default_rng(seed)
    n, periods, k = 9, 2, 4
    counted, beside = rng.integers(0, 4, (n, periods)), rng.integers(0, 3, (2, periods))
    cells, group = np.arange(n), rng.integers(0, 2, n)
    best: list[list[int]] = [[], []]
    for of in range(2):
        own = cells[group == of]
        for chosen in product((False, True), repeat=len(own)):
            some = own[np.array(chosen, bool)]
            sums = counted[some].sum(axis=0) + beside[of]
            there = (counted[some] > 0).any(axis=0)
            if (sums[there] >= k).all() and len(some) > len(best[of]):
                best[of] = some.tolist()
    stay, group_of = _peeled(cells, group, counted, beside, k)
    assert [stay[group_of == of].tolist() for of in range(2)] == best


def by_trying(charge, k, parts):
    """The least cost of each number passed on, of items that each place some records, here or passed on."""
    best = np.full(k + 1, np.inf)
    for choice in product(range(k + 1), (False, True), repeat=len(charge)):
        placed, here = choice[::2], choice[1::2]
        released = min(k, sum(n for n, is_here in zip(placed, here) if is_here))
        passed = min(k, sum(n for n, is_here in zip(placed, here) if not is_here))
        if not parts and any(is_here and n for n, is_here in zip(placed, here)):
            continue
        cost = sum(of[n] for of, n in zip(charge, placed))
        if released in (0, k):
            best[passed] = min(best[passed], cost)
        if not parts and passed == k:  # all that arrived can be released
            best[0] = min(best[0], cost)
    return best


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_least_cost_of_what_is_passed_on_by_trying_everything(seed, parts):
    rng = np.random.default_rng(seed)
    k, number = 3, np.array([3, 2, 1])
    charge = np.where(rng.random((k + 1, int(number.sum()))) < 0.8, rng.integers(0, 9, (k + 1, number.sum())), np.inf)
    charge[0] = np.where(rng.random(int(number.sum())) < 0.7, charge[0], 1.0)
    start = np.full((k + 1 if parts else 1, k + 1, len(number)), np.inf)
    start[0, 0] = 0.0
    first = np.cumsum(number) - number
    cost, origin, steps = solved(start, first, number, charge)
    for row, (begin, n) in enumerate(zip(first.tolist(), number.tolist())):
        assert cost[:, row].tolist() == by_trying(charge[:, begin : begin + n].T, k, parts).tolist()
    # The choices that are walked back to cost what was said.
    for passed in range(k + 1):
        rows = np.flatnonzero(np.isfinite(cost[passed]))
        released, up = np.divmod(origin[passed, rows], k + 1)
        placed, _ = traced(steps, rows, released.copy(), up.copy())
        for row in rows.tolist():
            own = range(int(first[row]), int(first[row] + number[row]))
            assert sum(charge[placed[item], item] for item in own) == cost[passed, row]
