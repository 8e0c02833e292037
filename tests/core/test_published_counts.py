"""Counts that others publish by area: held against every table of people that fits, in small cases."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.areas import Areas, make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure import block_flows, programs
from vbas.core.disclosure.block import Block, Storeys
from vbas.core.disclosure.block_flows import freed_by_flows
from vbas.core.disclosure.count_tables import CountTable, own_totals
from vbas.core.disclosure.exchanges import places_of
from vbas.core.disclosure.following import Open, following, is_free
from vbas.core.disclosure.undecided import proven_to_follow
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting.decoys import Conditions, Secrets
from vbas.core.nesting.planning import nest
from vbas.core.plan import SUPPRESSED, Plan, area_of_cells, plan_by_levels, suppress
from vbas.core.privacy.diversity import shares_of
from vbas.core.privacy.published_counts import _Work, hold_against_counts
from vbas.core.privacy.released_cells import ReleasedCells
from vbas.core.privacy.requirement import Requirement
from vbas.core.profile import profile_records

from ..exploring import tried
from .nested_cases import profile_of
from .strategies import column_from_array

pytestmark = pytest.mark.slow

K = 3


@st.composite
def towns(draw, n_areas: int = 4, most: int = 5):
    """Areas, and people by sex and job, of which a few of each sex live in each area."""
    return town_of(np.random.default_rng(draw(st.integers(0, 2**32 - 1))), n_areas, most)


def town_of(rng, n_areas, most):
    """Such areas and people, of one draw."""
    shares = rng.dirichlet([0.7, 0.7], (n_areas, 2))
    numbers = rng.integers(0, most + 1, (n_areas, 2))
    area, sex, job = [], [], []
    for i in range(n_areas):
        for s in range(2):
            count = rng.binomial(numbers[i, s], shares[i, s, 0])
            for j, number in enumerate((count, numbers[i, s] - count)):
                area += [i] * number
                sex += ["fm"[s]] * number
                job += ["ab"[j]] * number
    if not area:
        area, sex, job = [0], ["f"], ["a"]
    areas = make_areas([f"a{i}" for i in range(n_areas)], rng.random((n_areas, 2)) * 1000)
    columns = {"sex": column_from_array(np.array(sex)), "job": column_from_array(np.array(job))}
    return areas, profile_records(np.array(area), columns, n_areas)[0]


def plans(areas, profile):
    n = len(areas)
    pairs, whole = Crosswalk(np.arange(n) // 2, (n + 1) // 2), Crosswalk(np.zeros(n, np.int64), 1)
    yield nest(areas, profile, make_levels(areas, [own_regions(n), pairs, whole]), K)
    yield nest(areas, profile, make_levels(areas, [own_regions(n), pairs]), K)
    yield suppress(profile, pairs, K)
    secrets = Secrets(np.random.default_rng(0))
    levels = make_levels(areas, [own_regions(n), pairs, whole])
    yield nest(areas, profile, levels, K, conditions=Conditions(profile.area_sizes.astype(float), secrets))


def every_table(profile, table):
    """All tables of people with the totals of a table by area, (tables, areas, classes)."""
    n, n_classes = profile.counts.shape
    shares = []
    for zone, group in product(range(n), range(table.n_groups)):
        members, total = np.flatnonzero(table.group_of == group), int(table.low[zone, group])
        possible = [each for each in product(range(total + 1), repeat=len(members)) if sum(each) == total]
        shares.append((zone, members, np.array(possible, np.int8)))
    sizes = [len(numbers) for _, _, numbers in shares]
    tables = np.zeros((int(np.prod(sizes)), n, n_classes), np.int8)
    after = len(tables)
    for (zone, members, numbers), size in zip(shares, sizes):
        after //= size
        tables[:, zone, members] = numbers[np.arange(len(tables)) // after % size]
    return tables


def fitting(tables: np.ndarray, plan: Plan) -> np.ndarray:
    """Those tables of people from which the release could have come."""
    fits = np.ones(len(tables), bool)
    last = len(plan.levels) - 1
    shown = [
        (int(level), int(region), int(one), int(records))
        for level, region, one, records, out in zip(plan.level, plan.region, plan.class_of, plan.records, plan.released)
        if out
    ]
    area, of = area_of_cells(plan.profile), plan.levels.region_of
    hidden = plan.equivalence_class_of == SUPPRESSED
    lost = np.zeros((plan.levels.crosswalks[last].n_regions, tables.shape[2]), np.int64)
    np.add.at(lost, (of[last][area[hidden]], plan.profile.counts.indices[hidden]), plan.profile.counts.data[hidden])
    bounded = (lost < plan.k).all()
    for level, crosswalk in enumerate(plan.levels.crosswalks):
        for region in range(crosswalk.n_regions):
            inside = np.flatnonzero(of[level] == region)
            for one in range(tables.shape[2]):
                least = sum(
                    records
                    for fine, part, same, records in shown
                    if same == one and fine <= level and set(np.flatnonzero(of[fine] == part)) <= set(inside)
                )
                here = any(shown[:3] == (level, region, one) for shown in shown)
                people = tables[:, inside, one].sum(axis=1)
                fits &= people >= least
                if (level == last and least) or (here and (len(inside) == 1 or plan.in_zones)):
                    fits &= people == least
                if level == last and not least and bounded:
                    fits &= people < plan.k
    return tables[fits]


def told(tables: np.ndarray, sets: list[tuple[list[int], int]], k: int) -> set[tuple[tuple[int, ...], int]]:
    """The counts of some areas and a class that lie within 1 to k - 1 in all tables."""
    counts = {(tuple(areas), one): tables[:, areas, one].sum(axis=1) for areas, one in sets}
    return {key for key, count in counts.items() if count.min() >= 1 and count.max() < k}


def asked_of(plan: Plan) -> list[tuple[list[int], int]]:
    """Areas, regions, and what smaller regions that show a class leave of them."""
    sets = []
    n, n_classes = plan.profile.counts.shape
    for one in range(n_classes):
        sets += [([i], one) for i in range(n)]
        for level, crosswalk in enumerate(plan.levels.crosswalks):
            for region in range(crosswalk.n_regions):
                inside = np.flatnonzero(crosswalk.region_of == region)
                covered = np.zeros(n, bool)
                for fine, part, same, out in zip(plan.level, plan.region, plan.class_of, plan.released):
                    if out and same == one and fine < level:
                        covered |= plan.levels.region_of[fine] == part
                sets += [(inside.tolist(), one), (inside[~covered[inside]].tolist(), one)]
    return [(areas, one) for areas, one in sets if areas]


def are_zones(plan: Plan) -> bool:
    """Whether each area shows a class with the smallest region around that shows it."""
    shown = set(zip(*(column[plan.released].tolist() for column in (plan.level, plan.region, plan.class_of))))
    area, class_of = area_of_cells(plan.profile).tolist(), plan.profile.counts.indices.tolist()
    for i, one, own in zip(area, class_of, plan.equivalence_class_of.tolist()):
        around = [level for level in range(len(plan.levels)) if (level, plan.levels.region_of[level][i], one) in shown]
        if around[:1] != ([] if own == SUPPRESSED else [plan.level[own]]):
            return False
    return True


def block_of(plan: Plan, *tables) -> Block:
    profile = plan.profile
    level_of = np.append(plan.level, SUPPRESSED)[plan.equivalence_class_of]
    people, levels = profile.counts.toarray(), np.full(profile.counts.shape, SUPPRESSED, np.int8)
    levels[area_of_cells(profile), profile.counts.indices] = level_of
    area = area_of_cells(profile)
    hidden = level_of == SUPPRESSED
    lost = np.zeros((plan.levels.crosswalks[-1].n_regions, people.shape[1]), np.int64)
    np.add.at(
        lost, (plan.levels.region_of[-1][area[hidden]], profile.counts.indices[hidden]), profile.counts.data[hidden]
    )
    bounded = bool((lost < plan.k).all())
    storeys = Storeys(plan.levels.region_of, [None] * len(plan.levels), plan.k, plan.in_zones, bounded)
    return Block(people, levels, storeys, tables, np.arange(people.shape[1]))


def by_hand(people: list[list[int]], level_of: list[list[int]], *regions_of: list[int]) -> tuple[Areas, Plan]:
    """Areas with so many people of each class, and a plan that shows them at these levels: areas, then regions."""
    counts, n = np.array(people), len(people)
    profile = profile_of(counts)
    areas = make_areas([f"a{i}" for i in range(n)], [(100.0 * i, 0.0) for i in range(n)], counts.sum(axis=1) + 10.0)
    regions = [Crosswalk(np.array(region), max(region) + 1) for region in regions_of]
    levels = make_levels(areas, [own_regions(n), *regions])
    of_cells = np.array(level_of, np.int8)[area_of_cells(profile), profile.counts.indices]
    return areas, plan_by_levels(profile, levels, K, of_cells)


def found_in(plan: Plan, *tables) -> set[tuple[tuple[int, ...], int]]:
    """The areas and the class of each small count that follows."""
    counts = following(block_of(plan, *tables))
    return {(tuple(count.places.areas(count.number).tolist()), count.class_of) for count in counts}


@settings(max_examples=tried(30, 60), deadline=None)
@given(towns())
def test_what_is_found_to_follow_follows_and_what_is_found_free_is_free(case):
    areas, profile = case
    table = own_totals(profile, own_regions(len(areas)), ["sex"])
    tables = every_table(profile, table)
    for plan in plans(areas, profile):
        block = block_of(plan, table)
        assert all((room >= 0).all() for family in block.known for room in (family.down, family.up))
        possible = fitting(tables, plan)
        assert (possible == profile.counts.toarray()).all(axis=(1, 2)).any()  # the truth is among them
        really = told(possible, asked_of(plan), K)
        found = {(tuple(count.places.areas(count.number).tolist()), count.class_of) for count in following(block)}
        assert found == really


@settings(max_examples=tried(20, 60), deadline=None)
@given(towns())
def test_nothing_follows_from_a_release_that_was_held_against_counts(case):
    areas, profile = case
    table = own_totals(profile, own_regions(len(areas)), ["sex"])
    tables = every_table(profile, table)
    for plan in plans(areas, profile):
        held = hold_against_counts(plan, [table], areas)
        new = held.plan
        assert (new.records[new.released] >= K).all()
        assert not new.in_zones or are_zones(new)
        assert new.n_released == plan.n_released - held.n_suppressed
        possible = fitting(tables, new)
        anyway = told(tables, asked_of(new), K)
        assert told(possible, asked_of(new), K) <= anyway or held.n_left


def test_what_is_not_decided_is_taken_to_follow(monkeypatch):
    """No program may be asked, and two tables are no flows: nothing that follows passes, and more is mended."""
    taken_to_follow = 0
    for seed in range(tried(3, 8)):
        areas, profile = town_of(np.random.default_rng(seed), 4, 5)
        both = [own_totals(profile, own_regions(len(areas)), [name]) for name in ("sex", "job")]
        for plan in plans(areas, profile):
            block = block_of(plan, *both)
            found = {count.key for count in following(block)}
            with monkeypatch.context() as without_programs:
                without_programs.setattr(programs, "MOST_UNKNOWNS", 0)
                doubted = {count.key for count in following(block)}
                held = hold_against_counts(plan, both, areas)
            assert found <= doubted
            taken_to_follow += len(doubted - found)
            new = block_of(held.plan, *both)
            assert held.n_left or not following(new)
    assert taken_to_follow


@pytest.mark.parametrize(("beside", "follows"), [(1, True), (2, False)])
def test_an_exchange_frees_a_count_only_where_it_puts_k_people_there(beside, follows):
    """Six are of the first class, five at most in the second area: one in the first, and no more than live there."""
    _, plan = by_hand([[1, beside], [5, 0]], [[1, SUPPRESSED], [1, SUPPRESSED]], [0, 0])
    table = own_totals(plan.profile, own_regions(2), [])
    assert (((0,), 0) in found_in(plan, table, table)) == follows  # two are no flows


def test_a_zone_of_several_areas_has_a_small_count_though_none_of_its_areas_has():
    """Of the zone of four, three of the second class live in the first area and nowhere else: one is of the first."""
    areas, plan = by_hand([[1, 3], [0, 0], [5, 0]], [[1, 0], [1, 0], [1, 0]], [0, 0, 0])
    table = own_totals(plan.profile, Crosswalk(np.array([0, 0, 1]), 2), [])
    assert found_in(plan, table) == {((0, 1), 0)}
    held = hold_against_counts(plan, [table], areas)
    assert held.n_followed == 1 and not held.n_left and not found_in(held.plan, table)


def test_what_smaller_regions_leave_has_a_small_count_though_none_of_its_areas_has():
    """Of eight of the second class three live in the last area: of the six people between, one is not of that class."""
    people = [[3, 0], [1, 2], [0, 3], [4, 3]]
    areas, plan = by_hand(people, [[0, 2], [2, 2], [2, 2], [2, 0]], [0, 0, 0, 1], [0, 0, 0, 0])
    table = own_totals(plan.profile, own_regions(4), [])
    assert found_in(plan, table) == {((1, 2), 0)}
    held = hold_against_counts(plan, [table], areas)
    assert held.n_followed == 1 and not held.n_left and not found_in(held.plan, table)


def test_what_is_asked_of_values_holds_of_classes_that_were_joined():
    """As above; of each class a person with “a” lives in both places, so that 2 of 3 and 3 of 5 with “b” become 5 of 7:
    each may be shown alone, and not the two together."""
    people = [[3, 0], [1, 2], [0, 3], [4, 3]]
    areas, plan = by_hand(people, [[0, 2], [2, 2], [2, 2], [2, 0]], [0, 0, 0, 1], [0, 0, 0, 0])
    row = np.repeat(np.arange(6), plan.profile.counts.data)
    person = np.array([1, 2, 3, 1, 11, 14, 15, 16, 17, 6, 4, 5, 7, 11, 12, 13])
    ill = np.isin(person, [1, 6, 11, 14], invert=True).astype(int)
    shares = shares_of("ill", row, ill, None, {"persons": person})
    requirement = Requirement(K, shares=(shares,), max_share=67.0)

    def holds(of):
        shown = np.flatnonzero(of.equivalence_class_of != SUPPRESSED)
        number = of.equivalence_class_of[shown]
        return requirement.holds(shown, number, len(of.records))[np.unique(number)].all()

    table = own_totals(plan.profile, own_regions(4), [])
    assert holds(plan) and not holds(hold_against_counts(plan, [table], areas).plan)
    held = hold_against_counts(plan, [table], areas, requirement=requirement).plan
    assert holds(held) and not found_in(held, table)


@settings(max_examples=tried(12, 40), deadline=None)
@given(towns(n_areas=3, most=4))
def test_nothing_follows_from_several_tables_together(case):
    """Sums of several kinds at once, which linear programs alone do not decide."""
    areas, profile = case
    both = [own_totals(profile, own_regions(len(areas)), [name]) for name in ("sex", "job")]
    tables = every_table(profile, both[0])
    by_job = np.stack([tables[:, :, both[1].group_of == job].sum(axis=2) for job in range(both[1].n_groups)], axis=2)
    tables = tables[(by_job == both[1].low).all(axis=(1, 2))]
    for plan in plans(areas, profile):
        held = hold_against_counts(plan, both, areas)
        possible = fitting(tables, held.plan)
        assert told(possible, asked_of(held.plan), K) <= told(tables, asked_of(held.plan), K) or held.n_left


@settings(max_examples=tried(15, 40), deadline=None)
@given(towns(), st.integers(1, 3))
def test_counts_of_more_people_are_the_most_there_can_be(case, more):
    areas, profile = case
    table = own_totals(profile, own_regions(len(areas)), ["sex"])
    wider = replace(table, low=np.zeros_like(table.low), high=table.high + more)
    for plan in plans(areas, profile):
        held = hold_against_counts(plan, [wider], areas)
        assert not held.n_left
        assert not following(block_of(held.plan, wider))


@settings(max_examples=tried(8, 20), deadline=None)
@given(towns(n_areas=6, most=4), st.integers(0, 2**16))
def test_flows_decide_what_programs_decide(case, seed):
    """Counts of zones of several areas, of none, and of some classes alone."""
    areas, profile = case
    rng = np.random.default_rng(seed)
    zone_of = rng.integers(-1, 3, len(areas))
    names = [["sex"], ["job"], []][seed % 3]
    table = own_totals(profile, Crosswalk(np.sort(np.maximum(zone_of, 0)), 3), names)
    table = replace(table, zone_of=np.where(zone_of < 0, -1, table.zone_of))
    true = table.true_counts(profile)
    table = replace(table, low=np.maximum(true - seed % 2, 0), high=true)
    for plan in plans(areas, profile):
        block = block_of(plan, table)
        for places in places_of(block):
            follows = proven_to_follow(block, [(places, number) for number in range(len(places))])
            assert np.array_equal(~freed_by_flows(block, [places])[0], follows)
            with pytest.MonkeyPatch.context() as changed:
                changed.setattr(block_flows, "FEW", 0)  # first of the classes of a kind
                assert np.array_equal(~freed_by_flows(block, [places])[0], follows)
                changed.setattr(block_flows, "STRETCHES", (1,))  # and of two areas at a time
                assert np.array_equal(~freed_by_flows(block, [places])[0], follows)


@pytest.mark.parametrize("seed", [3, 6])
def test_nothing_is_left_where_a_class_that_is_shown_can_be_suppressed(seed):
    """In regions of one level there is no other way, in the first of them either."""
    areas, profile = town_of(np.random.default_rng(seed), 4, 5)
    table = own_totals(profile, own_regions(4), [])
    held = hold_against_counts(suppress(profile, Crosswalk(np.array([0, 0, 1, 1]), 2), K), [table], areas)
    assert held.n_followed and held.n_suppressed and not held.n_coarser
    assert not held.n_left and not found_in(held.plan, table)


def test_without_tables_nothing_is_looked_at_and_nothing_changes():
    areas, plan = by_hand([[5, 3], [4, 4]], [[0, 0], [0, 0]], [0, 0])
    held = hold_against_counts(plan, [], areas)
    assert held.plan is plan
    assert (held.n_followed, held.n_anyway, held.n_left, held.n_coarser, held.n_suppressed, held.n_tried) == (0,) * 6


def test_a_count_that_people_further_away_free_is_left_as_it_is():
    """In three areas somebody may be of the class of the next one: no exchange of two of them does that, and two are
    further away than the areas that are looked at first."""
    n = 60
    people = np.tile([0, 0, 0, 5], (n, 1))
    people[0], people[1:30], people[30], people[31] = [1, 0, 0, 0], [1, 1, 1, 3], [0, 5, 0, 0], [0, 0, 5, 0]
    _, plan = by_hand(people.tolist(), np.ones_like(people).tolist(), [0] * n)

    def table_of(zone_of: np.ndarray, group_of: np.ndarray) -> CountTable:
        shape = int(zone_of.max()) + 1, int(group_of.max()) + 1
        table = CountTable("known", ("q",), zone_of, shape[0], group_of, shape[1], np.zeros(shape), np.zeros(shape))
        counts = table.true_counts(plan.profile)
        return replace(table, low=counts, high=counts)

    each, area = np.arange(4), np.arange(n)
    tables = [table_of(area, 0 * each), table_of(0 * area, each)]
    tables.append(table_of(np.where((area > 0) & (area < 30), area - 1, -1), each))
    for own, nobody in ((0, [2, 3]), (30, [0, 3]), (31, [1, 3])):  # everybody knows that these are not there
        tables.append(table_of(np.where(area == own, 0, -1), np.isin(each, nobody).astype(np.int64)))
    cells = ReleasedCells(plan.profile, plan.levels, [None, None], K, plan.levels_of_cells, plan.in_zones)
    storeys = Storeys(plan.levels.region_of, [None, None], K, plan.in_zones, cells.bounded)
    work = _Work(cells, tables, np.arange(4), storeys, [np.zeros(n), np.full(1, 1000.0)], None)
    (count,) = [
        Open(places, number)
        for places in places_of(work.block)
        for number in range(len(places))
        if places.areas(number).tolist() == [0] and places.class_of[number] == 0
    ][:1]
    before = work.block.level_of.copy()
    assert not is_free(work.block, count)
    assert work._hidden(count)
    assert np.array_equal(work.block.level_of, before) and (before >= 0).sum() == plan.profile.counts.nnz
