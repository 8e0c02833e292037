"""What a release held against published counts says of itself, recounted; and that what it moves is the cheapest."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure.block import Block, Storeys
from vbas.core.disclosure.block_flows import Flows, _beside, _counted_as_one, _Movable, _who_may_move, freed_by_flows
from vbas.core.disclosure.count_tables import MANY, own_totals
from vbas.core.disclosure.exchanges import left_places_of, places_of
from vbas.core.disclosure.following import following, follows_anyway
from vbas.core.disclosure.undecided import proven_to_follow
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting.losses import LOSSES, MEAN_DISTANCE
from vbas.core.nesting.planning import nest
from vbas.core.plan import SUPPRESSED, plan_by_levels, suppress
from vbas.core.privacy import published_counts
from vbas.core.privacy.beside import TablesBeside, hold_beside
from vbas.core.privacy.published_counts import (
    MOST_SIBLINGS,
    OF_A_SUPPRESSED_RECORD,
    _by_class,
    _holding,
    _losses,
    _released_cells,
    _Work,
    hold_against_counts,
)
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable
from vbas.core.source import RecordSource

from ..each import for_each_seed
from .as_before import Heard
from .nested_cases import profile_of
from .test_published_counts import K, asked_of, block_of, by_hand, every_table, fitting, plans, told, town_of


def level_of_cells(plan):
    """The level at which each cell is shown, SUPPRESSED for none."""
    return np.append(np.where(plan.released, plan.level, SUPPRESSED), SUPPRESSED)[plan.equivalence_class_of]


def small_counts(plan) -> int:
    """How many counts of 1 to k - 1 people are asked about, level by level."""
    people, regions_of = plan.profile.counts.toarray(), plan.levels.region_of
    shown = {
        (int(level), int(region), int(one))
        for level, region, one, out in zip(plan.level, plan.region, plan.class_of, plan.released)
        if out
    }
    n, n_classes = people.shape
    areas_are_regions = plan.levels.crosswalks[0].n_regions == n
    asked = [] if areas_are_regions else [people[[i], one].sum() for i in range(n) for one in range(n_classes)]
    for level, region_of in enumerate(regions_of):
        for region in range(int(region_of.max()) + 1):
            inside = np.flatnonzero(region_of == region)
            for one in range(n_classes):
                asked.append(people[inside, one].sum())
                covered = [any((fine, int(regions_of[fine][i]), one) in shown for fine in range(level)) for i in inside]
                if any(covered):
                    asked.append(people[inside[~np.array(covered)], one].sum())
    return sum(1 <= number < plan.k for number in asked)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_told_of_a_release_that_was_held_is_so_by_counting(seed):
    areas, profile = town_of(np.random.default_rng(seed), 4, 5)
    table = own_totals(profile, own_regions(len(areas)), ["sex"])
    tables = every_table(profile, table)
    for plan in plans(areas, profile):
        fractions: list[float] = []
        held = hold_against_counts(plan, [table], areas, progress=fractions.append)
        before, after = level_of_cells(plan), level_of_cells(held.plan)
        records = profile.counts.data
        assert held.n_suppressed == records[(after == SUPPRESSED) & (before >= 0)].sum()
        assert held.n_coarser == records[(after > before) & (before >= 0)].sum()
        assert not ((after >= 0) & (after < before)).any() and not ((before == SUPPRESSED) & (after >= 0)).any()
        assert fractions == sorted(fractions) and fractions[0] >= 0 and fractions[-1] == 1.0
        assert plan.in_zones or not held.plan.in_zones
        if not held.n_suppressed and not held.n_coarser:
            really, anyway = told(fitting(tables, plan), asked_of(plan), K), told(tables, asked_of(plan), K)
            assert held.plan is plan and really <= anyway | really
            assert (held.n_followed, held.n_anyway) == (len(really - anyway), len(really & anyway))
            assert held.n_left == held.n_followed and held.n_tried == small_counts(plan)


@pytest.mark.parametrize("seed", [36, 37])
def test_what_follows_from_the_tables_alone_is_counted_once(seed):
    """All people of one area are published by class, those of the others by sex: what is moved does not hide them."""
    rng = np.random.default_rng(seed)
    areas, profile = town_of(rng, 4, 5)
    there = np.arange(4)[:, None] == rng.integers(4)
    by_sex, by_class = (own_totals(profile, own_regions(4), names) for names in (["sex"], ["sex", "job"]))
    tables = every_table(profile, by_sex)
    people = np.stack([tables[:, :, by_class.group_of == one].sum(axis=2) for one in range(by_class.n_groups)], axis=2)
    tables = tables[((people == by_class.low) | ~there).all(axis=(1, 2))]
    both = [by_sex, replace(by_class, low=by_class.low * there, high=np.where(there, by_class.high, MANY))]
    for plan in (plan for plan in plans(areas, profile) if len(plan.levels) == 3):
        held = hold_against_counts(plan, both, areas)
        asked = [count for one in (plan, held.plan) for count in asked_of(one)]
        first, then = (told(fitting(tables, one), asked, K) for one in (plan, held.plan))
        assert held.n_anyway == len(told(tables, asked, K) & (first | then))


@pytest.mark.parametrize(("second", "third"), [(4, 6), (6, 4), (5, 5)])
def test_the_fewest_records_keep_a_class_company(second, third):
    """Of four people of the first area three are shown: they go up with those of the area that shows fewer."""
    areas, plan = by_hand([[3, 1], [second, 4], [third, 4]], [[0, 1], [0, 1], [0, 1]], [0, 0, 0])
    table = own_totals(plan.profile, own_regions(3), [])
    held = hold_against_counts(plan, [table], areas)
    assert (held.n_followed, held.n_anyway, held.n_left, held.n_suppressed) == (1, 0, 0, 0)
    assert held.n_coarser == 3 + min(second, third)
    after = level_of_cells(held.plan).tolist()
    assert after == [1, 1, int(second <= third), 1, int(third < second), 1]


@pytest.mark.parametrize("seed", [14, 56])
def test_a_class_goes_up_no_further_than_it_must(seed):
    """What hides a count is moved in several steps, of which those are taken back that later ones make needless."""
    areas, profile = town_of(np.random.default_rng(seed), 4, 5)
    table = own_totals(profile, own_regions(4), ["sex"])
    tables, plan = every_table(profile, table), next(plans(areas, profile))
    held = hold_against_counts(plan, [table], areas)
    before, after = level_of_cells(plan), level_of_cells(held.plan)
    (moved,) = np.flatnonzero((before >= 0) & (after > before))
    for lower in range(before[moved], after[moved]):
        less = plan_by_levels(profile, plan.levels, K, np.where(np.arange(len(after)) == moved, lower, after))
        asked = asked_of(less)
        assert told(fitting(tables, less), asked, K) - told(tables, asked, K)


@pytest.mark.slow
def test_nothing_is_suppressed_that_need_not_be():
    """Of one level, drawn towns: with any one class shown again something has to be suppressed once more."""
    suppressed = 0
    for seed in range(6):
        areas, profile = town_of(np.random.default_rng(seed), 4, 5)
        table = own_totals(profile, own_regions(len(areas)), ["sex"])
        plan = suppress(profile, Crosswalk(np.arange(4) // 2, 2), K)
        held = hold_against_counts(plan, [table], areas)
        assert not hold_against_counts(held.plan, [table], areas).n_suppressed
        for one in np.flatnonzero(plan.released & ~held.plan.released):
            released = held.plan.released | (np.arange(len(plan.released)) == one)
            again = hold_against_counts(replace(held.plan, released=released), [table], areas)
            assert again.n_suppressed or again.n_left
            suppressed += 1
    assert suppressed > 3


def test_of_the_last_level_all_joins_first_and_is_suppressed_then():
    """Six of the class are shown in the first area, the others around it: two steps, and one where there is more."""
    areas, plan = by_hand([[6, 4], [2, 4], [2, 4]], [[0, 1], [1, 1], [1, 1]], [0, 0, 0])
    cells = _released_cells(plan, level_of_cells(plan), None)
    storeys = Storeys(plan.levels.region_of, [None] * 2, K, False, cells.bounded)
    tables = [own_totals(plan.profile, own_regions(3), [])]
    work = _Work(cells, tables, np.arange(2), storeys, _losses(cells, areas, MEAN_DISTANCE), None)
    suppressed = work._way_without([(1, 0, 0)])
    assert suppressed.steps == ((1, 0, 0),) * 2 and suppressed.loss == OF_A_SUPPRESSED_RECORD * 10
    up = work._way_without([(0, 0, 0)])
    assert up.steps == ((0, 0, 0),) and 0 < up.loss < OF_A_SUPPRESSED_RECORD
    both = work._way_without([(0, 0, 0), (1, 0, 0)])
    assert both.steps == (*up.steps, *suppressed.steps) and both.loss == up.loss + suppressed.loss
    apart = work._way_without([(0, 2, 1), (1, 0, 0), (0, 0, 0), (1, 0, 1)])
    each = [work._way_without([sums]) for sums in [(0, 2, 1), (1, 0, 0), (0, 0, 0), (1, 0, 1)]]
    assert work._one_by_one(apart) == each and len({way.loss for way in each}) == 4
    work._do(suppressed)
    assert (work.block.level_of[:, 0] == SUPPRESSED).all() and (work.block.level_of[:, 1] == 1).all()


def test_of_the_last_level_that_shows_nothing_itself_all_within_is_suppressed():
    """Six of the class are shown in the first area and five in the second, and nobody around them."""
    areas, plan = by_hand([[6, 4], [5, 4]], [[0, 1], [0, 1]], [0, 0])
    cells = _released_cells(plan, level_of_cells(plan), None)
    storeys = Storeys(plan.levels.region_of, [None] * 2, K, False, cells.bounded)
    tables = [own_totals(plan.profile, own_regions(2), [])]
    work = _Work(cells, tables, np.arange(2), storeys, _losses(cells, areas, MEAN_DISTANCE), None)
    assert work._do(work._way_without([(1, 0, 0)]))
    assert (work.block.level_of[:, 0] == SUPPRESSED).all() and (work.block.level_of[:, 1] == 1).all()


def price(plan, groups, losses, zones, level, region, group):
    """What it costs to tell of a class and region no more, going up region by region; groups : of classes by level."""
    shown: dict[tuple[int, int, int], int] = {}
    for at, of, one, records in zip(plan.level.tolist(), plan.region.tolist(), plan.class_of, plan.records.tolist()):
        key = at, of, int(groups[at][one])
        shown[key] = shown.get(key, 0) + records
    area = int(np.flatnonzero(plan.levels.region_of[level] == region)[0])
    one = int(np.flatnonzero(groups[level] == group)[0])
    around = [(at, int(plan.levels.region_of[at][area])) for at in range(level + 1, len(losses))]
    joined = around[0]
    if zones:  # what no region shows is joined by nobody, and tells nothing of its own
        joined = next((of for of in around if (*of, int(groups[of[0]][one])) in shown), around[-1])
    records = shown.get((level, region, group), 0 if zones else K)
    return max(records * (losses[joined[0]][joined[1]] - losses[level][region]), 1.0)


@for_each_seed(12)
def test_what_it_costs_to_tell_of_a_sum_no_more(seed):
    """Those who are shown there lose what they lose in the next larger region, in zones in the next that shows any; two
    of the three classes are one in the larger regions."""
    rng = np.random.default_rng(seed)
    n, zones = 8, seed % 2 > 0
    profile = profile_of(rng.integers(0, 4, (n, 3)) + (np.arange(3) == 0))
    areas = make_areas([f"a{i}" for i in range(n)], rng.random((n, 2)), np.ones(n))
    levels = make_levels(areas, [own_regions(n), *(Crosswalk(np.arange(n) // of, n // of) for of in (2, 4, 8))])
    plan = plan_by_levels(profile, levels, 1, rng.integers(0, 4, profile.counts.nnz).astype(np.int8))
    losses = [4.0**level + rng.random(n // 2**level) for level in range(4)]
    coarser = np.array([0, 0, 1])
    groups = [np.arange(3), np.arange(3), coarser, coarser]
    storeys = Storeys(levels.region_of, [None, None, coarser, coarser], K, zones, True)
    cells = _released_cells(plan, level_of_cells(plan), None)
    work = _Work(cells, [own_totals(profile, own_regions(n), [])], np.arange(3), storeys, losses, None)
    for level in range(3):
        region, group = (of.reshape(-1) for of in np.meshgrid(np.arange(len(losses[level])), np.unique(groups[level])))
        expected = [price(plan, groups, losses, zones, level, int(r), int(g)) for r, g in zip(region, group)]
        assert work._price(level, region, group).tolist() == pytest.approx(expected)
        assert max(expected) > 1.0
    everybody = np.bincount(coarser, np.asarray(profile.counts.sum(axis=0)).reshape(-1))
    assert (work._price(3, np.zeros(2, int), np.arange(2)) == OF_A_SUPPRESSED_RECORD * everybody).all()


@pytest.mark.parametrize("seed", range(4))
def test_what_goes_along_is_of_the_class_and_the_region_and_of_other_areas(seed):
    """By going through all that is shown: the cheapest that live in the region where the first one goes."""
    areas, profile = town_of(np.random.default_rng(seed), 6, 6)
    plan = next(plans(areas, profile))
    cells, n_classes = _released_cells(plan, level_of_cells(plan), None), len(profile.classes)
    of, table = plan.levels.region_of, own_totals(profile, own_regions(6), ["sex"])
    storeys = Storeys(of, [None] * 3, K, False, cells.bounded)
    work = _Work(cells, [table], np.arange(n_classes), storeys, _losses(cells, areas, MEAN_DISTANCE), None)
    shown = zip(plan.level.tolist(), plan.region.tolist(), plan.class_of.tolist(), plan.records.tolist(), plan.released)
    labels = [(level, region, one, records) for level, region, one, records, out in shown if out]
    n_found = 0
    for count in following(work.block):
        own = count.places.areas(count.number)
        for way in work._ways(count):
            level, region, one = way.steps[-1]
            if level == 2:
                assert not list(work._with_company([way], count))
                continue
            around = set(of[level + 1][of[level] == region].tolist())
            others = []
            for fine, other, same, records in labels:
                live = np.setdiff1d(np.flatnonzero(of[fine] == other), own)
                if fine <= level and same == one and set(of[level + 1][live].tolist()) & around:
                    steps = tuple((at, int(of[at][live[0]]), one) for at in range(fine, level + 1))
                    loss = records * float(work.losses[level + 1][min(around)] - work.losses[fine][other])
                    others.append((loss, (*way.steps, *steps)))
            found = [(along.loss - way.loss, along.steps) for along in work._with_company([way], count)]
            assert {steps for _, steps in found} <= {steps for _, steps in others}
            assert [loss for loss, _ in found] == pytest.approx(sorted(loss for loss, _ in others)[:MOST_SIBLINGS])
            n_found += len(found)
    assert n_found


@pytest.mark.parametrize("group_of", [[-1, 0, 1, 0, -1], [-1, -1, -1], [0, 1, 2], [-1, 3, -1, 0], []])
def test_a_class_of_which_a_table_says_nothing_is_in_no_total_with_any_other(group_of):
    found = _by_class(np.array(group_of, np.int64)).tolist()
    for i, own in enumerate(group_of):
        assert found[i] >= 0
        assert [j for j, other in enumerate(found) if other == found[i]] == (
            [i] if own < 0 else [j for j, other in enumerate(group_of) if other == own]
        )


@pytest.mark.slow
@for_each_seed(14)
def test_what_follows_of_regions_of_several_areas_is_what_all_tables_say(seed):
    """By a table by area, of releases whose smallest regions have several areas."""
    rng = np.random.default_rng(seed)
    areas, profile = town_of(rng, 4, 4)
    whole, several = Crosswalk(np.zeros(4, np.int64), 1), Crosswalk(np.array([[0, 0, 1, 1], [0, 0, 0, 1]][seed % 2]), 2)
    table = own_totals(profile, own_regions(4), ["sex"])
    tables = every_table(profile, table)
    for levels in ([several, whole], [several], [whole]):
        plan = (
            nest(areas, profile, make_levels(areas, levels), K) if len(levels) > 1 else suppress(profile, levels[0], K)
        )
        block = block_of(plan, table)
        really = told(fitting(tables, plan), asked_of(plan), K)
        assert {
            (tuple(count.places.areas(count.number).tolist()), count.class_of) for count in following(block)
        } == really
        assert not len(proven_to_follow(block, []))
        for places in places_of(block):
            for number, free in enumerate(freed_by_flows(block, [places])[0].tolist()):
                count = tuple(places.areas(number).tolist()), int(places.class_of[number])
                assert free == (count not in really)


def drawn_block(rng, periods):
    """Six areas in three regions, two and one, of two classes that are shown at any levels, or of two periods of one;
    and all tables of people with as many in each area in which all holds that is known."""
    k, people, few = int(rng.integers(2, 6)), rng.integers(0, 4, (6, 2)), rng.random() < 0.6 > periods
    if few:  # of whom there are no more than that, as they are nowhere shown
        people[:, 1] = rng.permutation(6) < k - 1
    region_of = [np.arange(6), np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 0, 0, 1, 1]), np.zeros(6, np.int64)]
    region_of = region_of[int(rng.integers(0, 2)) :]
    last = len(region_of) - 1
    level_of = np.where(people > 0, rng.integers(-1, last + 1, people.shape), SUPPRESSED).astype(np.int8)
    level_of[:, 1] = SUPPRESSED if few else level_of[:, 1]
    mates = None
    if periods:
        some = [(level_of == level) | ((level == last) & (level_of >= 0)) for level in range(last + 1)]
        shown = [np.bincount(of, here.any(axis=1)) for of, here in zip(region_of, some)]
        mates = np.zeros(2, np.int64), [sparse.csr_matrix(of[:, None]) for of in shown]
    bounded = bool(((people * (level_of == SUPPRESSED)).sum(axis=0) < k).all())
    storeys = Storeys(region_of, [None] * (last + 1), k, bool(rng.random() < 0.5), bounded, mates)
    block = Block(people, level_of, storeys, [own_totals(profile_of(people), own_regions(6), [])], np.arange(2))
    first = np.array(list(product(*(range(number + 1) for number in people.sum(axis=1).tolist()))))
    tables = np.stack([first, people.sum(axis=1) - first], axis=2)
    fits = np.ones(len(tables), bool)
    for family, of in zip(block.families, region_of):
        for region, one in np.ndindex(family.n_regions, 2):
            number = tables[:, of == region, one].sum(axis=1)
            fits &= (number >= family.low[region, one]) & (number <= family.high[region, one])
    return block, tables[fits]


@pytest.mark.slow
@pytest.mark.parametrize("periods", [False, True])
def test_flows_free_what_smaller_regions_leave_where_some_table_does(periods):
    """All of it in what regions leave without smaller ones that show the class; of periods nothing that none frees.

    The last of these towns are some where several areas have to have more people, or one must not.
    """
    n_free = n_not = 0
    for seed in (*range(60), 224, 282, 304, 357, 398, 578):
        block, tables = drawn_block(np.random.default_rng(seed), periods)
        flows = Flows(block)
        for places in left_places_of(block, np.ones(2, bool)):
            for number in range(len(places)):
                of_count = tables[:, places.areas(number), places.class_of[number]].sum(axis=1)
                really = bool((of_count == 0).any() or (of_count >= block.k).any())
                found = flows.free(places, number)
                assert really if found else periods or not really
                n_free += really
                n_not += not really
    assert n_free and n_not


@pytest.mark.slow
def test_one_flow_can_be_more_by_itself_where_some_table_has_it_so():
    """And none of the others is less; of few of them all are tried."""
    answers = set()
    for seed in range(30):
        block, tables = drawn_block(np.random.default_rng(seed), False)
        flows = Flows(block)
        for areas, of_class, more in product(combinations(range(6), 3), range(2), (1, block.k - 1)):
            at = np.array(areas)
            added = tables[:, at, of_class] - block.people[at, of_class]
            really = bool(((added >= 0).all(axis=1) & (added >= more).any(axis=1)).any())
            assert flows._more_by_itself(at * 2 + of_class, more) == really
            answers.add(really)
    assert answers == {True, False}


@pytest.mark.parametrize(
    ("limit", "seed", "at"), [("MOST_ROUNDS", 3, 1), ("MOST_ROUNDS", 4, 0), ("MOST_LOOSENED", 8, 0)]
)
def test_what_is_left_follows_still_and_is_warned_of(limit, seed, at, monkeypatch):
    """Where no more is tried: counts that follow from the tables alone are left as well, if nobody looked at them."""
    areas, profile = town_of(np.random.default_rng(seed), 4, 5)
    plan = list(plans(areas, profile))[at]
    table = own_totals(profile, own_regions(len(areas)), ["sex"])
    monkeypatch.setattr(published_counts, limit, 0)
    held = hold_against_counts(plan, [table], areas)
    block = block_of(held.plan, table)
    left = following(block)
    assert held.n_left == len(left) > 0 and (sum(follows_anyway(block, left)) > 0) == (seed == 4)
    heard = Heard()
    beside = TablesBeside(areas, [table])
    _, told_of, (family,) = hold_beside(plan, beside, heard)
    (warned,) = (sentence for sentence in heard.said if sentence.startswith("! "))
    assert warned.startswith(f"! {held.n_left} count") and warned[2:] in told_of and family.undecided == held.n_left


class SomePlaces(SimpleNamespace):
    """Counts of areas and classes."""

    def __init__(self, area, class_of):
        super().__init__(area=area, class_of=class_of)

    def __len__(self) -> int:
        return len(self.area)


@pytest.mark.parametrize("counted", [True, False])
def test_who_may_move_is_who_lives_near_first_and_everybody_last(counted):
    """Areas in an order of their own; of stretches of it with half of those around."""
    rng = np.random.default_rng(3)
    for n, u in ((10, 3), (250, 20), (251, 20), (150, 60), (151, 60), (1200, 5), (1201, 5), (2000, 4)):
        order = rng.permutation(n)
        group = np.append(rng.integers(0, 3, u - 2), [0, 1])
        tables = [SimpleNamespace(group=np.append(group, 3))] if counted else []
        block: Any = SimpleNamespace(n=n, u=u, order=order, place=np.argsort(order), tables=tables)
        places: Any = SomePlaces(rng.integers(0, n, 6), rng.integers(0, u, 6))
        kind = group[places.class_of] if counted else places.class_of
        turns = [(size, of.tolist(), which.tolist()) for size, of, which in _who_may_move(block, places)]
        everybody, at = [-1] * 6, np.argsort(order)[places.area]
        if n * u <= 5000:
            assert turns == [(-1, everybody, everybody)]
            continue
        stretches = [(size, (at // size).tolist()) for size in (50, 400, 3200) if n > 3 * size]
        areas = [*stretches, (-1, everybody)]
        assert turns == [(size, of, which) for which in (kind.tolist(), everybody) for size, of in areas]
        for size, of_areas in stretches:
            for stretch in set(of_areas):
                place = np.arange(n)
                near = order[(place >= size * (stretch - 0.5)) & (place < size * (stretch + 1.5))]
                beside: Any = _beside(block, _Movable(size, stretch, -1))
                assert beside.tolist() == sorted(near.tolist())
        for which in set(kind.tolist()):
            own = np.flatnonzero(group == which).tolist() if counted else [which]
            alike: Any = _counted_as_one(block, which)
            assert alike.tolist() == own
        assert _beside(block, _Movable(-1, -1, 0)) is None and _counted_as_one(block, -1) is None


def test_where_all_classes_are_of_one_kind_nobody_is_asked_twice():
    block: Any = SimpleNamespace(n=1000, u=6, place=np.arange(1000), tables=[SimpleNamespace(group=np.zeros(7))])
    places: Any = SomePlaces(np.array([60, 999]), np.array([0, 5]))
    turns = [(size, of.tolist(), which.tolist()) for size, of, which in _who_may_move(block, places)]
    assert turns == [(50, [1, 19], [-1, -1]), (-1, [-1, -1], [-1, -1])]


def test_people_of_a_region_that_lies_in_no_larger_one_flow_out():
    """Of three areas the last is in no region; two classes, each a flow of its own."""
    people, region_of = np.array([[3, 1], [1, 2], [2, 2]]), [np.arange(3), np.array([0, 0, -1])]
    storeys = Storeys(region_of, [None] * 2, 3, False, False)
    block = Block(
        people, np.zeros((3, 2), np.int8), storeys, [own_totals(profile_of(people), own_regions(3), [])], np.arange(2)
    )
    flows = Flows(block)
    to = dict(zip(flows._arcs.start[flows._first_arc[0] :].tolist(), flows._arcs.end[flows._first_arc[0] :].tolist()))
    areas = flows._arcs.end[:6].reshape(3, 2)
    around = [[to[node] for node in of_area] for of_area in areas.tolist()]
    assert around[0] == around[1] and len({0, *around[0]}) == 3 and around[2] == [0, 0]
    assert [to[node] for node in around[0]] == [0, 0]


@pytest.mark.parametrize("opened", [False, True])
def test_each_region_has_an_arc_of_its_own_whoever_else_may_come_and_go(opened):
    """Six areas in regions of two and of all, of which two halves of regions may move."""
    people = np.arange(1, 13).reshape(6, 2)
    region_of = [np.arange(6), np.arange(6) // 2, np.zeros(6, np.int64)]
    table = own_totals(profile_of(people), own_regions(6), [])
    block = Block(
        people, np.ones((6, 2), np.int8), Storeys(region_of, [None] * 3, 3, False, False), [table], np.arange(2)
    )
    some = np.array([1, 2, 3])
    flows = Flows(block, some, None, opened)
    arcs, starts = flows._arcs, []
    for level, family in enumerate(block.families):
        for region in np.unique(region_of[level][some]).tolist():
            for class_of in range(2):
                arc = flows._arc(level, region, class_of)
                assert (arcs.down[arc], arcs.up[arc]) == (family.down[region, class_of], family.up[region, class_of])
                starts.append(arcs.start[arc])
    assert len(set(starts)) == len(starts) and 0 not in starts
    shared = {starts[6], starts[7], *starts[-2:]} if opened else set()  # the region of one half, and the whole
    assert {end for start, end in zip(arcs.start, arcs.end) if not start and end in starts} == shared


def test_what_else_is_asked_holds_of_what_was_joined():
    """In the first area all have one value: of several levels it goes up, as many as must; of one it is told later."""
    areas = make_areas(list("abcd"), [(0, 0), (100, 0), (0, 900), (100, 900)])
    pairs = Crosswalk(np.array([0, 0, 1, 1]), 2)
    levels = make_levels(areas, [own_regions(4), pairs, Crosswalk(np.zeros(4, np.int64), 1)])
    values = {"a": "xxxx", "b": "yxy", "c": "xy", "d": "xyx"}
    home, value = zip(*((area, one) for area, of in values.items() for one in of))
    sex, shown = column_from_values(["F"] * len(home)), {"ill": column_from_values(list(value))}
    records = match_records(RecordTable(column_from_values(list(home)), {"sex": sex}, shown, sensitive=("ill",)), areas)
    requirement = RecordSource(records).requirement(2, 2, 100.0)
    plan = plan_by_levels(records.profile, levels, 2, np.zeros(4, np.int8))
    for asked in (None, replace(requirement, l_diversity=1)):
        assert _holding(plan, plan.levels_of_cells, asked).tolist() == [0] * 4
    after = _holding(plan, plan.levels_of_cells, requirement)
    assert after[0] == 1 and (after < 2).all()
    now = plan_by_levels(records.profile, levels, 2, after)
    cells = np.arange(4)
    assert requirement.holds(cells, now.equivalence_class_of, len(now.records)).all()
    of_one = suppress(records.profile, pairs, 2)
    assert _holding(of_one, of_one.levels_of_cells, requirement).tolist() == of_one.levels_of_cells.tolist()


def test_coarser_values_lose_more_than_any_region():
    """At each level with coarser values as much again as the largest region of any level."""
    areas, profile = town_of(np.random.default_rng(0), 6, 6)
    levels = make_levels(areas, [own_regions(6), *(Crosswalk(np.arange(6) // of, 6 // of) for of in (2, 6))])
    geography = [LOSSES[MEAN_DISTANCE](areas, profile, crosswalk) for crosswalk in levels.crosswalks]
    most = max(float(of.max()) for of in geography) + 1
    assert most > 2
    cells: Any = SimpleNamespace(profile=profile, levels=levels, class_of=[None, np.arange(6), np.arange(6)])
    losses = _losses(cells, areas, MEAN_DISTANCE)
    assert [of.tolist() for of in losses] == [(of + most * number).tolist() for number, of in enumerate(geography)]


def test_what_programs_have_loosened_is_tried_by_an_exchange_before_other_programs(monkeypatch):
    areas, profile = town_of(np.random.default_rng(1), 6, 6)
    plan = next(plans(areas, profile))
    cells, table = _released_cells(plan, level_of_cells(plan), None), own_totals(profile, own_regions(6), ["sex"])
    storeys = Storeys(plan.levels.region_of, [None] * 3, K, False, cells.bounded)
    losses = _losses(cells, areas, MEAN_DISTANCE)
    work = _Work(cells, [table], np.arange(len(profile.classes)), storeys, losses, None)
    asked: list[tuple[object, ...]] = []

    def is_free(block, count, *more):
        asked.append(more)
        return True

    monkeypatch.setattr(published_counts, "is_free", is_free)
    before = work.block.level_of.copy()
    ways = [work._loosened(count) for count in following(work.block)]
    assert asked and set(asked) == {(0,)}
    assert all(frees == (way is not None) for way, frees in ways) and (work.block.level_of == before).all()
