"""What is asked of a class beside k rows: persons, households, sensitive values; recounted row by row."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Ask, anonymise, rate
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk, number_compactly
from vbas.core.errors import InputError, PrivacyError
from vbas.core.evaluation import RegionAudit, evaluate
from vbas.core.levels import Levels, make_levels, own_regions
from vbas.core.nesting.planning import nest
from vbas.core.plan import suppress
from vbas.core.privacy.diversity import diversity_of, several_values_of, shares_of
from vbas.core.privacy.requirement import Members, Requirement, measure
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records, requirement_of
from vbas.core.records.table import HOUSEHOLDS, PERSONS, RecordTable
from vbas.core.release import apply, nothing_released

from ..exploring import tried
from .strategies import column_from_array, regions
from .test_sensitive_persons import holders_of, short


@st.composite
def visits(draw):
    """Areas and visits of persons who live in households, with a diagnosis."""
    areas = draw(regions(least=3, most=12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_persons = draw(st.integers(5, 60))
    n = n_persons * draw(st.integers(1, 4))
    person = rng.integers(0, n_persons, n)
    household = rng.integers(0, max(2, n_persons // 2), n_persons)[person]
    home = rng.integers(0, len(areas), n_persons)[person]
    moved = rng.random(n) < draw(st.sampled_from([0.0, 0.2]))
    area = np.where(moved, rng.integers(0, len(areas), n), home)
    table = RecordTable(
        column_from_array(areas.identifiers[area].astype(str)),
        {"sex": column_from_array(rng.integers(0, 2, n_persons)[person])},
        {"diagnosis": column_from_array(rng.integers(0, draw(st.integers(1, 4)), n), rng.random(n) < 0.1)},
        None,
        {PERSONS: column_from_array(person), HOUSEHOLDS: column_from_array(household)},
        ("diagnosis",),
    )
    k = draw(st.integers(2, 5))
    return areas, match_records(table, areas, k=k), k, draw(st.integers(1, 3)), draw(st.sampled_from([100.0, 60.0]))


def classes_of(plan, records):
    """The rows behind each equivalence class that is shown: persons, households, number of rows."""
    equivalence_class = plan.equivalence_class_of[records.cell_of]
    table = records.table
    found: defaultdict[int, tuple[set, set, Counter]] = defaultdict(lambda: (set(), set(), Counter()))
    columns = (table.members[PERSONS], table.members[HOUSEHOLDS])
    for one, person, household in zip(equivalence_class.tolist(), *(column.codes.tolist() for column in columns)):
        if one >= 0:
            found[one][0].add(person)
            found[one][1].add(household)
            found[one][2]["rows"] += 1
    return found


def values_of(plan, records):
    """Who has which diagnosis, of each equivalence class that is shown."""
    return holders_of(plan.equivalence_class_of[records.cell_of].tolist(), records, "diagnosis")


@pytest.mark.slow
@settings(max_examples=tried(60, 150), deadline=None)
@given(visits(), st.booleans())
def test_every_class_holds_what_is_asked_counted_row_by_row(case, nested):
    areas, records, k, distinct, share = case
    requirement = requirement_of(records, k, distinct, share)
    rng = np.random.default_rng(0)
    crosswalk, _ = number_compactly(rng.integers(0, 3, len(areas)))
    if nested:
        levels = make_levels(areas, [own_regions(len(areas)), crosswalk])
        plan = nest(areas, records.profile, levels, k, requirement=requirement)
        audit: RegionAudit = evaluate(areas, plan)[1]
    else:
        plan = suppress(records.profile, crosswalk, k, requirement)
        audit = evaluate(areas, plan, crosswalk.mean_centres(areas.points))[1]
    found, values = classes_of(plan, records), values_of(plan, records)
    assert set(found) == set(np.flatnonzero(plan.released).tolist())
    for equivalence_class, (persons, households, rows) in found.items():
        assert min(len(persons), len(households)) >= k
        assert not short(values[equivalence_class], distinct, share)
        assert plan.sizes[equivalence_class] == min(len(persons), len(households), rows["rows"])
    release = apply(plan, records, [])
    assert set(release.fields) == {"sex", "diagnosis"}
    measured = measure(requirement, plan.equivalence_class_of, len(plan.records))
    if found:
        assert measured.smallest == {
            PERSONS: min(len(one[0]) for one in found.values()),
            HOUSEHOLDS: min(len(one[1]) for one in found.values()),
        }
    assert len(audit.records)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(visits())
def test_under_one_level_nothing_is_suppressed_that_holds_what_is_asked(case):
    areas, records, k, distinct, share = case
    crosswalk, _ = number_compactly(np.random.default_rng(1).integers(0, 3, len(areas)))
    plan = suppress(records.profile, crosswalk, k, requirement_of(records, k, distinct, share))
    everything = replace(plan, released=np.ones(len(plan.released), bool))
    values = values_of(everything, records)
    for equivalence_class, (persons, households, _) in classes_of(everything, records).items():
        enough = min(len(persons), len(households)) >= k
        assert plan.released[equivalence_class] == (enough and not short(values[equivalence_class], distinct, share))


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(visits())
def test_a_plan_that_counts_rows_is_refused_where_persons_are_known(case):
    areas, records, k, _, _ = case
    plan = suppress(records.profile, own_regions(len(areas)), k)
    found = classes_of(plan, records)
    if any(min(len(one[0]), len(one[1])) < k for one in found.values()):
        with pytest.raises(PrivacyError, match="fewer than"):
            apply(plan, records, [])
    else:
        apply(plan, records, [])


def test_settings_outside_their_range_are_refused():
    for make, words in (
        (lambda: Requirement(k=1), "K is 1"),
        (lambda: Requirement(l_diversity=0), "L_DIVERSITY is 0"),
        (lambda: Requirement(max_share=0), "MAX_SHARE is 0"),
        (lambda: Requirement(max_share=101), "MAX_SHARE is 101"),
    ):
        with pytest.raises(InputError, match=words):
            make()


def test_rows_without_a_person_and_counts_with_persons_are_refused():
    rng = np.random.default_rng(0)
    n = 40
    areas = [f"a{i}" for i in range(4)]
    from vbas.core.areas import make_areas

    made = make_areas(areas, rng.random((4, 2)))
    area = column_from_array(np.array(areas)[rng.integers(0, 4, n)])
    quasi = {"sex": column_from_array(rng.integers(0, 2, n))}
    missing = {PERSONS: column_from_array(np.arange(n), np.arange(n) < 3)}
    with pytest.raises(InputError, match="PERSON_ID is missing in 3 rows"):
        match_records(RecordTable(area, quasi, {}, None, missing), made)
    blank = {PERSONS: column_from_values(["", " ", None, *map(str, range(n - 3))])}  # as CSV files have them
    with pytest.raises(InputError, match="PERSON_ID is missing in 3 rows"):
        match_records(RecordTable(area, quasi, {}, None, blank), made)
    whole = {PERSONS: column_from_array(np.arange(n))}
    with pytest.raises(InputError, match="PERSON_ID and RECORD_COUNT cannot go together"):
        match_records(RecordTable(area, quasi, {}, np.ones(n, np.int64), whole), made)


def test_a_row_that_stands_for_nobody_shows_no_sensitive_value():
    """Six people with the flu and a row of no people with a cold have one value in common, not two."""
    cell_of, ill = np.zeros(3, np.int64), np.array([0, 0, 1])
    shares = shares_of("diagnosis", cell_of, ill, np.array([4, 2, 0]))
    assert diversity_of(np.array([0]), shares, 1).distinct.tolist() == [1]
    requirement = Requirement(5, (), (shares,), l_diversity=2)
    assert requirement.holds(np.array([0]), np.array([0]), 1).tolist() == [False]


@given(
    rows=st.lists(st.tuples(st.integers(-1, 5), st.integers(0, 3), st.integers(0, 2)), max_size=20),
    classes=st.lists(st.integers(-1, 3), min_size=6, max_size=6),
)
def test_two_values_of_records_are_found_as_the_rows_have_them(rows, classes):
    cell, value, count = np.array(rows or np.empty((0, 3)), np.int64).reshape(-1, 3).T
    several = several_values_of(np.array(classes), shares_of("d", cell, value, count), 4)
    shown = [{v for c, v, n in rows if c >= 0 and n and classes[c] == one} for one in range(4)]
    assert several.tolist() == [len(values) > 1 for values in shown]


def test_where_nothing_is_released_no_class_is_said_to_hold_0_persons():
    asked = Requirement(members=(Members(PERSONS, np.zeros(3, np.int64), np.arange(3)),))
    assert measure(asked, np.array([0]), 1).of_members() == [
        "k counts persons: the smallest released class holds 3 of them."
    ]
    assert measure(asked, np.array([-1]), 1).of_members() == ["k counts persons, and no class is released."]


@pytest.mark.parametrize(
    ("values", "asked", "said"),
    [
        (
            [0, 0, 0],
            {"l_diversity": 2},
            "“ill” has 1 value in all records, and L_DIVERSITY asks every class for 2.",
        ),
        (
            [0, 1, 1],
            {"l_diversity": 3},
            "“ill” has 2 values in all records, and L_DIVERSITY asks every class for 3.",
        ),
        ([0, 0, 0], {"max_share": 90.0}, "1 value in all records, so that 100 % of every class have it, and MAX_SHARE"),
        ([0, 1, 2], {"max_share": 30.0}, "3 values in all records, so that at least 33.33 % of every class have one"),
        ([0, 1, 1], {"l_diversity": 2, "max_share": 50.0}, "Choose fewer quasi-identifiers, or fewer regions."),
        ([0, 0, 0], {}, "Choose fewer quasi-identifiers, or fewer regions."),
    ],
)
def test_where_no_class_at_all_could_meet_what_is_asked_of_a_field_it_is_named(values, asked, said):
    shares = shares_of("ill", np.arange(3), np.array(values), None)
    assert said in nothing_released(Requirement(2, shares=(shares,), **asked), False)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (
            {"l_diversity": 4},
            "L_DIVERSITY is 4, and “ill” has only 3 values in all records, so nothing could be released",
        ),
        ({"max_share": 33.0}, "MAX_SHARE is 33 %, and “ill” has only 3 values in all records, .* allow 33.4 % or more"),
    ],
)
def test_what_the_values_of_all_records_cannot_hold_is_refused_before_the_work(asked, sentence):
    """It became a release of nobody, and was called done."""
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    ill = column_from_values(["cold", "flu", None] * 10)
    table = RecordTable(
        column_from_values(["a", "b"] * 15),
        {"sex": column_from_values(["F"] * 30)},
        {"ill": ill},
        sensitive=("ill",),
    )
    records, levels = match_records(table, areas), Levels((Crosswalk(np.array([0, 0]), 1),))
    for work in (anonymise, rate):
        with pytest.raises(InputError, match=sentence):
            work(areas, records, levels, Ask(3, **asked))
    possible = {"l_diversity": 3} if "l_diversity" in asked else {"max_share": 33.4}
    assert anonymise(areas, records, levels, Ask(3, **possible)).release.n_records == 30
