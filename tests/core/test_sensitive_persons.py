"""Sensitive values of persons who have several rows: what a class has in common is counted by person.

The oracle counts sets of persons by value, one equivalence class after the other, from the raw rows.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk, number_compactly
from vbas.core.errors import PrivacyError
from vbas.core.generalising.hierarchies import Hierarchy
from vbas.core.levels import make_levels, own_regions, with_coarser_values
from vbas.core.nesting.coarser import nest_coarser
from vbas.core.nesting.coarser_places import places_of
from vbas.core.nesting.planning import nest
from vbas.core.nesting.views import as_released
from vbas.core.plan import SUPPRESSED, suppress
from vbas.core.privacy.checking import check_release
from vbas.core.privacy.diversity import Tally
from vbas.core.privacy.requirement import measure
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records, requirement_of
from vbas.core.records.table import HOUSEHOLDS, PERSONS, RecordTable
from vbas.core.release import apply
from vbas.core.suppression import Terms, suppressed_by_class

from ..exploring import tried
from .strategies import column_from_array, regions

K = 5
# Five persons of one class in one area, each with a visit “hiv”, one of them with six further visits.
FIVE = [(person, "hiv") for person in range(5)] + [(0, f"other {i}") for i in range(6)]


def five(**more):
    """The five as records of one area and one class, and their area."""
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [1000.0, 0.0]]), np.ones(2))
    person, ill = zip(*FIVE)
    columns = {"person": list(person), "ill": list(ill), "area": ["a"] * len(FIVE), "sex": ["F"] * len(FIVE), **more}
    encoded = {name: column_from_values(values) for name, values in columns.items()}
    table = RecordTable(
        encoded["area"],
        {"sex": encoded["sex"]},
        {"ill": encoded["ill"]},
        members={PERSONS: encoded["person"]},
        sensitive=("ill",),
    )
    return areas, match_records(table, areas, k=K)


@pytest.mark.parametrize("asked", [{"l_diversity": 2}, {"max_share": 60.0}])
@pytest.mark.parametrize("nested", [False, True])
def test_what_all_persons_have_is_not_hidden_by_further_rows_of_one(asked, nested):
    areas, records = five()
    requirement = requirement_of(records, K, **asked)
    both = Crosswalk(np.zeros(2, np.int64), 1)
    if nested:
        levels = make_levels(areas, [own_regions(2), both])
        plan = nest(areas, records.profile, levels, K, requirement=requirement)
    else:
        plan = suppress(records.profile, both, K, requirement)
    assert plan.n_released == 0
    lost = suppressed_by_class(records.profile, both, Terms(K, requirement))
    assert lost.tolist() == [len(FIVE)]  # which a suppression budget goes by


def test_the_second_count_refuses_a_plan_that_counted_rows():
    _, records = five()
    plan = suppress(records.profile, own_regions(2), K, requirement_of(records, K))
    assert plan.n_released == len(FIVE)
    with pytest.raises(PrivacyError, match="1 class whose people have more in common"):
        apply(plan, records, [], requirement_of(records, K, 2))
    with pytest.raises(PrivacyError, match="more in common"):
        apply(plan, records, [], requirement_of(records, K, 1, 60.0))
    apply(plan, records, [], requirement_of(records, K))


def test_any_table_with_such_a_class_is_refused():
    person, ill = zip(*FIVE)
    columns = {"sex": column_from_values(["F"] * len(FIVE))}
    members, sensitive = {PERSONS: column_from_values(list(person))}, {"ill": column_from_values(list(ill))}
    for l_diversity, max_share in ((2, 100.0), (1, 60.0)):
        check = check_release(columns, {}, K, members, sensitive, l_diversity, max_share)
        assert (check.k_found, check.l_found, check.classes_below) == (5, 1, 1)
        assert check.diversity["ill"].largest_share.tolist() == [100.0]
    # By rows alone, each of them a person, the same table holds what is asked.
    by_rows = check_release(columns, {}, K, sensitive=sensitive, l_diversity=2, max_share=60.0)
    assert (by_rows.l_found, by_rows.classes_below) == (7, 0)


def test_persons_of_two_areas_who_are_few_in_each_are_nearly_all_together():
    """Three of five have it in either area, and all of them in both together."""
    visits = [("a", p, "hiv" if p < 3 else "flu") for p in range(5)] + [
        ("b", p, "hiv" if p > 1 else "flu") for p in range(5)
    ]
    area, person, ill = zip(*visits)
    areas, records = five(area=list(area), person=list(person), ill=list(ill), sex=["F"] * len(visits))
    requirement = requirement_of(records, K, 2, 60.0)
    together = Crosswalk(np.zeros(2, np.int64), 1)
    assert suppress(records.profile, own_regions(2), K, requirement).n_released == len(visits)
    assert suppress(records.profile, together, K, requirement).n_released == 0
    # Of nested levels the finer one hides them, and nothing joins them.
    plan = nest(areas, records.profile, make_levels(areas, [own_regions(2), together]), K, requirement=requirement)
    assert plan.n_released == len(visits) and plan.level[plan.released].tolist() == [0, 0]


@st.composite
def visits(draw):
    """Areas and visits of persons in households, most of whom have several values; k, l and the largest share."""
    areas = draw(regions(least=3, most=10))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_persons = draw(st.integers(5, 40))
    n = n_persons * draw(st.integers(1, 4))
    person = np.concatenate([np.arange(n_persons), rng.integers(0, n_persons, n - n_persons)])
    household = rng.integers(0, max(2, n_persons // 2), n_persons)[person]
    home = rng.integers(0, len(areas), n_persons)[person]
    moved = rng.random(n) < draw(st.sampled_from([0.0, 0.3]))
    area = np.where(moved, rng.integers(0, len(areas), n), home)
    n_values = draw(st.integers(1, 6))
    often = rng.random(n) < draw(st.sampled_from([0.0, 0.3, 0.7]))
    ill = np.where(often, 0, rng.integers(0, n_values, n))
    kinds = draw(st.sampled_from([(PERSONS,), (HOUSEHOLDS,), (PERSONS, HOUSEHOLDS), ()]))
    of_kind = {PERSONS: person, HOUSEHOLDS: household}
    table = RecordTable(
        column_from_array(areas.identifiers[area].astype(str)),
        {"sex": column_from_array(np.array(["F", "M"])[rng.integers(0, 2, n_persons)[person]])},
        {"ill": column_from_array(ill, rng.random(n) < 0.05)},
        None,
        {kind: column_from_array(of_kind[kind]) for kind in kinds},
        ("ill",),
    )
    k = draw(st.integers(2, 4))
    asked = draw(st.integers(1, 4)), draw(st.sampled_from([100.0, 75.0, 50.0]))
    return areas, match_records(table, areas, k=k), k, *asked


def holders_of(equivalence_classes, records, field="ill"):
    """Of each equivalence class, and of each kind of people, who has which value: {class: [{value: {who}}, …]}."""
    table = records.table
    columns = [column.codes.tolist() for column in table.members.values()]
    if PERSONS not in table.members:
        columns.append(list(range(len(table))))
    ill = table.kept[field].codes.tolist()
    found: defaultdict[int, list[defaultdict[object, set]]] = defaultdict(lambda: [defaultdict(set) for _ in columns])
    for row, equivalence_class in enumerate(equivalence_classes):
        if equivalence_class >= 0:
            for kind, codes in enumerate(columns):
                found[equivalence_class][kind][ill[row]].add(codes[row])
    return found


def fewest_values(holders):
    """The fewest values that could be those of everybody, by trying numbers of the commonest ones."""
    sizes = sorted((len(who) for who in holders.values()), reverse=True)
    n_people = len(set().union(*holders.values()))
    return next(n for n in range(1, len(sizes) + 1) if sum(sizes[:n]) >= n_people)


def nobody_is_told(holders, l_diversity, max_share):
    """What an outsider could say of everybody: no l - 1 values cover all, and no value is had by too large a share."""
    everybody = set().union(*holders.values())
    for holder in holders.values():
        assert 100 * len(holder) <= max_share * len(everybody) + 1e-6
    for named in combinations(holders, min(l_diversity - 1, len(holders))):
        assert l_diversity == 1 or set().union(*(holders[value] for value in named)) != everybody


def short(of_kinds, l_diversity, max_share):
    """Whether an equivalence class falls short of what is asked, by the oracle."""
    share = max(
        100 * max(len(who) for who in holders.values()) / len(set().union(*holders.values())) for holders in of_kinds
    )
    return min(map(fewest_values, of_kinds)) < l_diversity or share > max_share + 1e-9


def planned(case, nested):
    areas, records, k, l_diversity, max_share = case
    requirement = requirement_of(records, k, l_diversity, max_share)
    crosswalk, _ = number_compactly(np.random.default_rng(0).integers(0, 3, len(areas)))
    if not nested:
        return suppress(records.profile, crosswalk, k, requirement), requirement
    levels = make_levels(areas, [own_regions(len(areas)), crosswalk, Crosswalk(np.zeros(len(areas), np.int64), 1)])
    return nest(areas, records.profile, levels, k, requirement=requirement), requirement


@pytest.mark.slow
@settings(max_examples=tried(65, 200), deadline=None)
@given(visits(), st.booleans())
def test_nobody_of_a_released_equivalence_class_is_told_counted_by_sets_of_persons(case, nested):
    _, records, _, l_diversity, max_share = case
    plan, requirement = planned(case, nested)
    found = holders_of(plan.equivalence_class_of[records.cell_of].tolist(), records)
    assert set(found) == set(np.flatnonzero(plan.released).tolist())
    measured = measure(requirement, plan.equivalence_class_of, len(plan.records)).diversity["ill"]
    for equivalence_class, of_kinds in found.items():
        for holders in of_kinds:
            nobody_is_told(holders, l_diversity, max_share)
        assert not short(of_kinds, l_diversity, max_share)
        assert measured.distinct[equivalence_class] == min(map(fewest_values, of_kinds))
        shares = [100 * max(map(len, holders.values())) / len(set().union(*holders.values())) for holders in of_kinds]
        assert measured.largest_share[equivalence_class] == pytest.approx(max(shares))
    assert len(apply(plan, records, [], requirement)) == plan.n_released  # the second count finds the same


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(visits())
def test_under_one_level_nothing_is_suppressed_that_holds_what_is_asked(case):
    _, records, k, l_diversity, max_share = case
    plan, requirement = planned(case, False)
    everything = replace(plan, released=np.ones(len(plan.released), bool))
    for equivalence_class, of_kinds in holders_of(
        everything.equivalence_class_of[records.cell_of].tolist(), records
    ).items():
        people = min(len(set().union(*holders.values())) for holders in of_kinds)
        assert plan.released[equivalence_class] == (people >= k and not short(of_kinds, l_diversity, max_share))
    if plan.released.sum() < len(plan.released) and requirement.asks_for_values:
        failing = [
            equivalence_class
            for equivalence_class, of_kinds in holders_of(
                everything.equivalence_class_of[records.cell_of].tolist(), records
            ).items()
            if short(of_kinds, l_diversity, max_share) and everything.sizes[equivalence_class] >= k
        ]
        if failing:
            released = plan.released.copy()
            released[failing[0]] = True
            with pytest.raises(PrivacyError, match="1 class whose people have more in common"):
                apply(replace(plan, released=released), records, [], requirement)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(visits())
def test_the_distance_of_an_equivalence_class_is_that_of_its_people(case):
    _, records, _, _, _ = case
    plan, requirement = planned(case, False)
    found = holders_of(plan.equivalence_class_of[records.cell_of].tolist(), records)
    measured = measure(requirement, plan.equivalence_class_of, len(plan.records)).diversity["ill"]
    together = list(
        holders_of(np.where(plan.equivalence_class_of[records.cell_of] >= 0, 0, -1).tolist(), records).values()
    )

    def weighed(holders):
        everybody = set().union(*holders.values())
        own = {who: sum(who in holder for holder in holders.values()) for who in everybody}
        return {
            value: sum(1 / own[who] for who in holders_of_value) / len(everybody)
            for value, holders_of_value in holders.items()
        }

    for equivalence_class, of_kinds in found.items():
        apart = []
        for holders, all_holders in zip(of_kinds, together[0]):
            here, there = weighed(holders), weighed(all_holders)
            apart.append(sum(abs(here.get(value, 0) - there[value]) for value in there) / 2)
            n, n_all = (len(set().union(*one.values())) for one in (holders, all_holders))
            apart += [len(who) / n - len(all_holders[value]) / n_all for value, who in holders.items()]
        assert measured.distance[equivalence_class] == pytest.approx(max(apart))
        assert 0 <= measured.distance[equivalence_class] <= 1 + 1e-12


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(visits())
def test_last_levels_of_coarser_values_are_counted_by_sets_of_persons(case):
    areas, records, k, l_diversity, max_share = case
    requirement = requirement_of(records, k, l_diversity, max_share)
    values = records.profile.categories[0]
    codes = np.arange(len(values)), np.zeros(len(values), np.int64)
    above = Hierarchy("sex", codes, (values, np.array(["any"], dtype=object)))
    levels = make_levels(areas, [own_regions(len(areas)), Crosswalk(np.zeros(len(areas), np.int64), 1)])
    places = places_of(records.profile, with_coarser_values(levels, [("sex", 1)]), {"sex": above})
    plan = nest_coarser(areas, places, k, requirement=requirement)
    found = holders_of(plan.equivalence_class_of[records.cell_of].tolist(), records)
    assert set(found) == set(np.flatnonzero(plan.released).tolist())
    for of_kinds in found.values():
        assert not short(of_kinds, l_diversity, max_share)
    assert len(apply(as_released(plan, places), records, [], requirement)) == plan.n_released
    cells = np.flatnonzero(plan.equivalence_class_of == SUPPRESSED)
    if len(cells) and requirement.asks_for_values:
        # At the last level all of a place is shown, or it falls short, or too few are left.
        last = places.of_cells.crosswalks[-1].region_of
        for place in np.unique(last[cells]).tolist():
            left = [row for row, cell in enumerate(records.cell_of.tolist()) if last[cell] == place]
            whole = holders_of([0 if row in set(left) else -1 for row in range(len(records.table))], records)[0]
            people = min(len(set().union(*holders.values())) for holders in whole)
            assert people < k or short(whole, l_diversity, max_share)


@given(st.lists(st.lists(st.integers(1, 4), max_size=3), min_size=1, max_size=6), st.integers(-6, 2))
def test_two_values_are_found_as_the_fewest_are(held, more):
    """Also where people have several values, and where some have none, as of linked tables."""
    tally = Tally(
        np.repeat(np.arange(len(held)), [len(counts) for counts in held]),
        np.array([value for counts in held for value in range(len(counts))], np.int64),
        np.array([count for counts in held for count in counts], np.int64),
        np.empty(0),
        np.array([max(sum(counts) + more, *counts) if counts else 0 for counts in held]),
    )
    assert np.array_equal(tally.several_values(), tally.fewest_values() >= 2)
    assert tally.most_holders().tolist() == [max(counts, default=0) for counts in held]
