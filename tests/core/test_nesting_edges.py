"""What nested levels are made by, on its edges: recounted by trying everything, or by plain loops."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure.zone_tables import proven_small, released_classes
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting.company import _around_each, _beneath, _changed, _company, _given_up
from vbas.core.nesting.making import joined_by
from vbas.core.nesting.planning import nest, nest_by_losses
from vbas.core.nesting.recount import classes_of
from vbas.core.nesting.series import keep_together
from vbas.core.nesting.series_optimum import _peeled
from vbas.core.nesting.states import solved, traced
from vbas.core.plan import SUPPRESSED, area_of_cells, plan_by_levels
from vbas.core.privacy.in_each_period import with_series
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import requirement_of

from ..each import for_each_seed
from .nested_cases import profile_of, random_levels
from .release_cases import profile_over
from .test_series import levels_of, people


def test_areas_whose_regions_are_joined_are_in_what_those_became():
    joined = joined_by(Crosswalk(np.array([0, 1, -1, 2, 0]), 3), Crosswalk(np.array([1, -1, 0]), 2))
    assert joined.region_of.tolist() == [1, -1, -1, 0, 1] and joined.n_regions == 2


def test_rows_with_values_that_no_record_has_together_are_of_no_class():
    profile = profile_over(np.array([[3, 4]]), [("F", "old"), ("M", "young")], ("sex", "age"))
    fields = {
        "sex": column_from_values(["M", "F", "M", "F"]),
        "age": column_from_values(["young", "old", "old", "young"]),
    }
    release: Any = SimpleNamespace(fields=fields)
    assert [column.categories.tolist() for column in fields.values()] == [of.tolist() for of in profile.categories]
    assert classes_of(release, profile).tolist() == [1, 0, -1, -1]


@for_each_seed(20)
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
    for cell, (region, of, shown_in) in enumerate(zip(coarsest.tolist(), class_of.tolist(), plan.equivalence_class_of)):
        if (region, of) in gone:
            assert level_of[cell] == SUPPRESSED
        elif shown_in >= 0 and not chosen[shown_in]:
            assert level_of[cell] == plan.level_of[cell]
        elif shown_in >= 0:
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


@for_each_seed(8)
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


def plan_in_zones(seed):
    """A nested release in zones, in which all people are in the records, and what follows of its zones."""
    rng = np.random.default_rng(seed)
    n, n_classes = 12, 3
    areas = make_areas([f"a{i}" for i in range(n)], rng.random((n, 2)), np.ones(n))
    counts = rng.poisson(1.6, (n, n_classes))
    levels = random_levels(areas, rng, int(rng.integers(2, 5)), False)
    plan = replace(nest(areas, profile_of(counts), levels, 3), in_zones=True)
    released, at = released_classes(plan)
    return plan, proven_small(released, counts.sum(axis=1), plan.k), at


def areas_within(plan, cell):
    return set(np.flatnonzero(plan.levels.region_of[plan.level[cell]] == plan.region[cell]).tolist())


def shown_within(plan, level, region, but):
    """The equivalence classes of other classes that are shown in a region or within."""
    inside = set(np.flatnonzero(plan.levels.region_of[level] == region).tolist())
    return [
        cell
        for cell in np.flatnonzero(plan.released).tolist()
        if plan.class_of[cell] != but and plan.level[cell] <= level and areas_within(plan, cell) <= inside
    ]


def joined(plan, cell):
    """What is shown of the class in the next larger region that shows it, -1 for none."""
    area = min(areas_within(plan, cell))
    for level in range(int(plan.level[cell]) + 1, len(plan.levels)):
        for other in np.flatnonzero(plan.released & (plan.level == level) & (plan.class_of == plan.class_of[cell])):
            if plan.levels.region_of[level][area] == plan.region[other]:
                return int(other)
    return -1


@pytest.mark.slow
def test_who_keeps_a_zone_company_is_the_smallest_of_those_who_can():
    n_alone = n_two = n_beside = 0
    for seed in range(60):
        plan, proof, at = plan_in_zones(seed)
        proven: Any = SimpleNamespace(classes=np.ones(len(plan.profile.classes), bool), proof=proof, at=at)
        last, zones = len(plan.levels) - 1, proof.zones
        for cell in np.flatnonzero(plan.released).tolist():
            assert _around_each(plan, np.array([cell])).tolist() == [joined(plan, cell)]
        for part in np.unique(np.concatenate([proof.parts, proof.rests])).tolist():
            zone, level, region = int(proof.of.zone[part]), int(proof.of.level[part]), int(proof.of.region[part])
            if level < 0:
                level, region = 0, int(plan.levels.region_of[0][region])
            own = int(at[zones.released[zone]])
            areas = set(zones.area[zones.zone == zone].tolist())
            around = {area for area in areas if plan.levels.region_of[level][area] != region}
            here = shown_within(plan, level, region, plan.class_of[own])
            beside = [
                cell
                for cell in shown_within(plan, int(plan.level[own]), int(plan.region[own]), plan.class_of[own])
                if cell not in here and areas_within(plan, cell) & around
            ]
            here = [cell for cell in here if areas_within(plan, cell) & (areas - around)]
            reach = {int(at[zones.released[of]]) for of, area in zip(zones.zone, zones.area) if area in around}
            choices: list[tuple[int, ...]] = [(cell,) for cell in here if joined(plan, cell) in reach]
            n_alone += len(choices)
            for cell in here:
                others = [
                    (int(plan.records[other]), -order, other)
                    for order, other in enumerate(beside)
                    if plan.class_of[other] == plan.class_of[cell] and joined(plan, other) == joined(plan, cell)
                ]
                if others:
                    choices.append((cell, min(others)[2]))
                    n_two += 1
            if not choices and plan.level[own] == last:
                choices = [(cell,) for cell in beside if plan.level[cell] < last and joined(plan, cell) < 0]
                n_beside += len(choices)
            fewest = min((sum(int(plan.records[cell]) for cell in some) for some in choices), default=0)
            found = _company(plan, proven, zone, part, None)
            assert found == next(
                (some for some in choices if sum(int(plan.records[cell]) for cell in some) == fewest), ()
            )
            finer = shown_within(plan, int(plan.level[own]), int(plan.region[own]), -1)
            finer = [cell for cell in finer if plan.level[cell] < plan.level[own]] if plan.level[own] == last else []
            same = [cell for cell in finer if plan.class_of[cell] == plan.class_of[own]]
            assert _beneath(plan, proven, own, None) == tuple(same or finer)
    assert (n_alone > 9, n_two > 9, n_beside > 0) == (True, True, True)


@for_each_seed(10)
def test_asked_again_is_of_what_is_shown_otherwise_or_told_something(seed):
    rng = np.random.default_rng(seed)
    plan, _, _ = plan_in_zones(seed)
    disclosing = plan.released & (rng.random(len(plan.records)) < 0.3)
    after = _given_up(plan, plan.released & (rng.random(len(plan.records)) < 0.2))

    def shown(some):
        columns = (some.level, some.region, some.class_of)
        return [tuple(int(column[cell]) for column in columns) for cell in np.flatnonzero(some.released)]

    before = {
        key: (int(plan.records[cell]), bool(disclosing[cell]))
        for key, cell in zip(shown(plan), np.flatnonzero(plan.released))
    }
    assert _changed(plan, after, disclosing).tolist() == [
        before.get(key) != (int(after.records[cell]), False)
        for key, cell in zip(shown(after), np.flatnonzero(after.released))
    ]


@for_each_seed(20)
def test_where_nothing_is_added_the_first_and_the_last_state_say_what_is_passed_on(seed):
    """Nobody is released, or k and more: between them nothing ends. Where all or nothing is, k and more may be."""
    rng = np.random.default_rng(seed)
    k, rows = int(rng.integers(2, 6)), 5
    for parts in (k + 1, 1):
        start = np.where(rng.random((parts, k + 1, rows)) < 0.8, rng.random((parts, k + 1, rows)), np.inf)
        none = np.zeros(rows, np.int64)
        cost, origin, _ = solved(start, none, none, np.empty((k + 1, 0)))
        for row, passed in product(range(rows), range(k + 1)):
            nobody = start[0, passed, row]
            many = start[k, passed, row] if parts > 1 else start[0, k, row] if not passed else np.inf
            behind = k * (k + 1) + passed if parts > 1 else k
            assert cost[passed, row] == min(nobody, many)
            assert origin[passed, row] == (behind if many < nobody else passed)


def test_who_of_several_that_cost_the_same_keeps_company_is_drawn_where_ties_are_secret():
    """Of three areas the last has two, which is fewer than k: one of the two others is shown with them."""
    areas = make_areas(list("abc"), [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)])
    profile = profile_of(np.array([[3], [3], [2]]))
    levels = make_levels(areas, [own_regions(3), Crosswalk(np.zeros(3, np.int64), 1)])
    losses = [np.zeros(3), np.ones(1)]
    shown = set()
    for seed in range(20):
        plan = nest_by_losses(profile, levels, losses, 3, ties=np.random.default_rng(seed))
        shown.add(tuple(plan.levels_of_cells.tolist()))
    assert shown == {(0, 1, 1), (1, 0, 1)}
    fixed = {tuple(nest_by_losses(profile, levels, losses, 3).levels_of_cells.tolist()) for _ in range(3)}
    assert len(fixed) == 1
