"""Totals that others publish: nothing below k follows from them and from the release."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError
from vbas.core.levels import Levels, make_levels, own_regions
from vbas.core.nesting.planning import nest
from vbas.core.plan import suppress
from vbas.core.privacy.margins import _smallest_to_add, disclosed_columns, hold_against_margins, parse_margins
from vbas.core.profile import profile_records
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import PERSONS, RecordTable

from ..exploring import tried
from .strategies import column_from_array

MARGINS = (("age", "sex"), ("job",))


@st.composite
def people(draw, most: int = 120):
    """Areas and people of three quasi-identifiers, some kinds of them rare."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_areas = draw(st.integers(20, most)), draw(st.integers(2, 5))
    areas = make_areas([f"a{i}" for i in range(n_areas)], rng.random((n_areas, 2)))
    columns = {
        name: column_from_array(rng.choice(size, n, p=rng.dirichlet(np.ones(size))))
        for name, size in (("age", 3), ("sex", 2), ("job", 3))
    }
    return areas, profile_records(rng.integers(0, n_areas, n), columns, n_areas)[0], draw(st.integers(2, 5))


def plans(areas, profile, k):
    crosswalk = Crosswalk(np.arange(len(areas)) // 2, (len(areas) + 1) // 2)
    yield crosswalk, suppress(profile, crosswalk, k)
    whole = Crosswalk(np.zeros(len(areas), np.int64), 1)
    yield whole, nest(areas, profile, make_levels(areas, [own_regions(len(areas)), whole]), k)


def tables_of(crosswalk, profile, plan):
    """Of each region: the records of each class, and which classes are suppressed anywhere in it."""
    counts = profile.counts.tocoo()
    found: list[tuple[Counter, set]] = [(Counter(), set()) for _ in range(crosswalk.n_regions)]
    for area, one, number, equivalence_class in zip(counts.row, counts.col, counts.data, plan.equivalence_class_of):
        totals, lost = found[crosswalk.region_of[area]]
        totals[int(one)] += int(number)
        if equivalence_class < 0:
            lost.add(int(one))
    return found


def margin_of(profile, one, margin):
    return tuple(int(profile.classes[one, profile.quasi_identifiers.index(name)]) for name in margin)


@pytest.mark.slow
@settings(max_examples=tried(40, 120), deadline=None)
@given(people())
def test_suppressed_records_of_every_total_are_none_or_k_of_two_classes_unless_all_are_suppressed(case):
    areas, profile, k = case
    for crosswalk, plan in plans(areas, profile, k):
        fractions = [0.0]
        held, cost = hold_against_margins(plan, MARGINS, fractions.append)
        assert fractions == sorted(fractions) and fractions[-1] in (0.0, 1.0)
        assert cost == plan.n_released - held.n_released
        assert not (held.released & ~plan.released).any()
        used = held.equivalence_class_of[held.equivalence_class_of >= 0]
        assert (
            np.bincount(used, profile.counts.data[held.equivalence_class_of >= 0], len(held.records))[held.released]
            >= k
        ).all()
        for totals, lost in tables_of(crosswalk, profile, held):
            for margin in MARGINS:
                for key in {margin_of(profile, total, margin) for total in totals}:
                    group = [total for total in totals if margin_of(profile, total, margin) == key]
                    hidden = [one for one in group if one in lost]
                    people_hidden = sum(totals[one] for one in hidden)
                    assert not hidden or len(hidden) == len(group) or (people_hidden >= k and len(hidden) > 1)


@pytest.mark.slow
@settings(max_examples=tried(20, 60), deadline=None)
@given(people(most=60))
def test_no_count_below_k_follows_from_totals_but_those_that_the_totals_tell_alone(case):
    areas, profile, k = case
    for crosswalk, plan in plans(areas, profile, k):
        held, _ = hold_against_margins(plan, MARGINS)
        for totals, lost in tables_of(crosswalk, profile, held):
            alone = disclosed(profile, totals, sorted(totals), k)
            assert disclosed(profile, totals, sorted(lost), k) <= alone


def disclosed(profile, totals, hidden, k):
    """The classes that totals and what is shown bound within 1 to k - 1."""
    rows, sums = [], []
    for margin in MARGINS:
        for key in sorted({margin_of(profile, one, margin) for one in hidden}):
            rows.append([float(margin_of(profile, one, margin) == key) for one in hidden])
            sums.append(sum(totals[one] for one in hidden if margin_of(profile, one, margin) == key))
    return (
        {hidden[column] for column in disclosed_columns(np.array(rows), np.array(sums, float), k)} if hidden else set()
    )


@pytest.mark.slow
@settings(max_examples=tried(20, 60), deadline=None)
@given(people(most=50))
def test_no_way_suppresses_fewer_records(case):
    """Against every choice of further classes in each region."""
    areas, profile, k = case
    _, plan = next(iter(plans(areas, profile, k)))
    crosswalk = plan.crosswalk
    before = [lost for _, lost in tables_of(crosswalk, profile, plan)]
    held, _ = hold_against_margins(plan, MARGINS)
    for (totals, lost), anyway in zip(tables_of(crosswalk, profile, held), before):
        released = [total for total in totals if total not in anyway]
        if not anyway or len(released) > 8:
            continue
        alone = disclosed(profile, totals, sorted(totals), k)
        least = sum(totals.values())
        for chosen in product((False, True), repeat=len(released)):
            hidden = anyway | {one for one, out in zip(released, chosen) if out}
            cost = sum(totals[one] for one in hidden)
            if (
                cost < least
                and enough(profile, totals, hidden, k)
                and disclosed(profile, totals, sorted(hidden), k) <= alone
            ):
                least = cost
        assert sum(totals[one] for one in lost) == least


def enough(profile, totals, hidden, k):
    """Whether nothing of a total is suppressed, or all, or k records of two classes."""
    for margin in MARGINS:
        for key in {margin_of(profile, one, margin) for one in hidden}:
            group = [total for total in totals if margin_of(profile, total, margin) == key]
            out = [one for one in group if one in hidden]
            if len(out) < len(group) and (len(out) < 2 or sum(totals[one] for one in out) < k):
                return False
    return True


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_disclosed_unknowns_are_those_of_every_whole_solution(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 5))
    rows = (rng.random((int(rng.integers(1, 4)), n)) < 0.7).astype(float)
    rows = np.vstack([rows, np.ones(n)]) if n == 3 else rows[rows.any(axis=1)]
    if not len(rows) or not rows.any(axis=0).all():
        return
    true = rng.integers(0, 4, n)
    assert set(disclosed_columns(rows, rows @ true, 4)) == in_every_whole_solution(rows, rows @ true, 4)


@pytest.mark.parametrize(
    ("rows", "sums"),
    [
        ([[1, 1, 1, 0], [1, 1, 0, 1], [0, 1, 1, 1]], [5, 4, 4]),
        ([[1, 1, 1, 0], [0, 1, 1, 1], [1, 0, 1, 1]], [6, 4, 5]),
        ([[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1]], [6, 8, 7]),
    ],
)
def test_half_a_person_hides_nobody(rows, sums):
    """Linear programs let an unknown be 0.5, or 3.5, where it is 1 to 3 of all whole numbers."""
    expected = in_every_whole_solution(np.array(rows), np.array(sums), 4)
    assert expected and set(disclosed_columns(np.array(rows), np.array(sums), 4)) == expected


def in_every_whole_solution(rows, sums, k):
    """The unknowns that lie within 1 to k - 1 whatever whole numbers add up to the sums."""
    every = np.array(list(product(range(int(sums.max()) + 1), repeat=rows.shape[1])))
    fitting = every[(every @ rows.T == sums).all(axis=1)]
    return set(np.flatnonzero((fitting.min(axis=0) >= 1) & (fitting.max(axis=0) < k)).tolist())


@pytest.mark.parametrize(("people", "disclosed"), [(0, []), (1, [0]), (4, [0]), (5, [])])
def test_a_total_of_one_unknown_tells_it_up_to_one_less_than_k(people, disclosed):
    assert disclosed_columns(np.array([[1.0]]), np.array([people]), 5) == disclosed


def test_a_total_with_one_suppressed_class_needs_another():
    """However many records the class has, the total less what is shown gives them; the smallest other is added."""
    group, records = np.zeros(3, np.int64), np.array([9, 20, 7])
    assert _smallest_to_add([group], records, np.array([True, False, False]), 5).tolist() == [2]
    assert _smallest_to_add([group], records, np.array([True, False, True]), 5).tolist() == []


def test_without_the_cure_a_single_person_follows_from_the_total():
    ages = ["old"] * 1 + ["old"] * 9 + ["old"] * 7 + ["young"] * 20
    jobs = ["cook"] + ["clerk"] * 9 + ["none"] * 7 + ["none"] * 20
    columns = {"age": column_from_array(np.array(ages)), "job": column_from_array(np.array(jobs))}
    profile = profile_records(np.zeros(37, np.int64), columns, 2)[0]
    plan = suppress(profile, Crosswalk(np.zeros(2, np.int64), 1), 5)
    assert plan.n_released == 36  # the old are 17, and 16 of them are shown: one cook is left
    held, cost = hold_against_margins(plan, [("age",)])
    assert (held.n_released, cost) == (29, 7)
    again, more = hold_against_margins(held, [("age",)])
    assert (again.n_released, more) == (29, 0)


def test_a_class_that_only_rows_of_nobody_have_hides_nobody():
    """Of 22 old people 16 are shown. The six who are left are cooks and priests, fewer than five of either, so that two
    and more are of each; no judge is among the records."""
    jobs_of_old = [("cook", 2), ("priest", 4), ("clerk", 9), ("none", 7), ("judge", 0)]
    ages, jobs, numbers = zip(*[("old", *of) for of in jobs_of_old], ("young", "none", 20))
    columns = {"age": column_from_values(ages), "job": column_from_values(jobs)}
    areas = make_areas(["a", "b"], [(0, 0), (1, 0)])
    records = match_records(RecordTable(column_from_values(["a"] * 6), columns, {}, np.array(numbers)), areas)
    levels = Levels((Crosswalk(np.zeros(2, np.int64), 1),))
    assert anonymise(areas, records, levels, Ask(5)).release.n_records == 36
    # With the seven they are thirteen of three jobs.
    assert anonymise(areas, records, levels, Ask(5, published_margins="age")).release.n_records == 29


def test_margins_are_read_as_sets_of_quasi_identifiers():
    assert parse_margins("age;sex, job", ["age", "sex", "job"]) == [("age", "sex"), ("job",)]
    assert parse_margins(" ", ["age"]) == []
    with pytest.raises(InputError, match="names “home”"):
        parse_margins("age;home", ["age"])
    with pytest.raises(InputError, match="names no quasi-identifier"):
        parse_margins(";, ;", ["age"])


@pytest.mark.parametrize("several", [False, True])
def test_of_persons_with_several_records_it_is_said_that_totals_are_held_against_records(several):
    sex, age = column_from_values(list("FM" * 12)), column_from_values(["old", "young"] * 12)
    whose = column_from_values([number // (2 if several else 1) for number in range(24)])
    table = RecordTable(
        column_from_values(["a", "a", "b", "b"] * 6), {"sex": sex, "age": age}, {}, members={PERSONS: whose}
    )
    areas = make_areas(["a", "b"], [(0, 0), (1, 0)])
    levels = Levels((Crosswalk(np.zeros(2, np.int64), 1),))
    account = anonymise(areas, match_records(table, areas), levels, Ask(3, published_margins="sex, age"))
    assert any("records, not persons" in note for note in account.notes) == several
