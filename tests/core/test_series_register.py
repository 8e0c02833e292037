"""Releases whose classes are the same in all periods, held against others: that a missing number is nobody is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure.in_series import holds_in_plan
from vbas.core.disclosure.overlay import overlay
from vbas.core.errors import InputError, PrivacyError
from vbas.core.levels import Levels, make_levels, own_regions
from vbas.core.plan import SUPPRESSED, plan_by_levels, suppress
from vbas.core.privacy.in_each_period import with_series
from vbas.core.privacy.requirement import Requirement
from vbas.core.privacy.series import EACH_BY_ITSELF, THE_SAME
from vbas.core.privacy.series import series_of as series_of_profile
from vbas.core.publish.register.published_releases import add_release, earlier_releases, read_register
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import Records, match_records
from vbas.core.records.table import RecordTable
from vbas.core.releases.earlier import REPAIR, Earlier
from vbas.core.releases.updating import Update

from .nested_cases import random_levels

K = 5


def town_of(people: list[tuple[str, str, str]]) -> Records:
    """Records of people: area, class, year."""
    area, shown, year = (column_from_values(list(column)) for column in zip(*people))
    return match_records(RecordTable(area, {"q": shown, "year": year}, {}), AREAS)


AREAS = make_areas(list("abcdef"), np.arange(12.0).reshape(6, 2), np.ones(6))
NUMBERS = {"2024": {"a": 20, "b": 15, "c": 15, "d": 15, "f": 20}, "2025": {"d": 2, "e": 8, "f": 3}}
PEOPLE = [(area, "u", year) for year, of_area in NUMBERS.items() for area, n in of_area.items() for _ in range(n)]
FIRST, SECOND = (Levels((Crosswalk(np.array(of), 3),)) for of in ([0, 1, 0, 2, 1, 1], [2, 0, 2, 0, 2, 1]))


def series_of(levels: Levels, earlier: Earlier, **asked: Any) -> Account:
    ask = Ask(K, earlier=earlier, period="year", periods=THE_SAME)
    return anonymise(AREAS, town_of(PEOPLE), levels, replace(ask, **asked))


def test_that_a_missing_number_is_nobody_tells_a_small_count_beside_another_release(tmp_path):
    """Of 2025 the first shows nobody in a and c, and 11 in b, e and f; the second 8 in a, c and e. So all of these are
    in e, and 3 in b and f; where others may be in a or c, 3 to 11 are."""
    register = tmp_path / "register.gpkg"
    add_release(register, series_of(FIRST, earlier_releases(register)))
    (first,) = read_register(register)
    assert first.period == "year" and sorted(first.records.tolist()) == [11, 35, 35]
    with pytest.raises(PrivacyError, match="would give away"):
        series_of(SECOND, earlier_releases(register))
    assert series_of(SECOND, Earlier([replace(first, period="")])).release.n_records == 43
    mended = series_of(SECOND, earlier_releases(register, REPAIR))
    assert mended.release.n_records < 43 and mended.published is not None
    add_release(register, mended)
    assert len(read_register(register)) == 2


def test_of_nested_levels_a_missing_number_is_nobody_in_the_coarsest_region(tmp_path):
    """Of 2025 the first shows 8 of u in b and c, and of w, whom it shows there of 2024, nobody: so the 6 of 2025 whom
    the second shows in c are of u, and 2 are in b. Where up to 4 may be of w, as in a and in d, up to 6 are."""
    register = tmp_path / "register.gpkg"
    numbers = {
        "2024": {"a": {"u": 6}, "b": {"u": 5, "w": 3}, "c": {"u": 6, "w": 3}},
        "2025": {"a": {"u": 6, "w": 4}, "b": {"u": 2}, "c": {"u": 6}, "d": {"w": 4}},
    }
    people = [
        (area, q, year)
        for year, by_area in numbers.items()
        for area, of in by_area.items()
        for q, n in of.items()
        for _ in range(n)
    ]
    records = town_of(people)
    levels = make_levels(AREAS, [own_regions(6), Crosswalk(np.array([0, 1, 1, 2, 0, 0]), 3)])
    add_release(register, anonymise(AREAS, records, levels, Ask(K, earlier=earlier_releases(register), period="year")))
    (first,) = read_register(register)
    shown = zip(first.level.tolist(), first.region.tolist(), first.class_of.tolist(), first.records.tolist())
    assert [of[3] for of in shown if of[:2] == (1, 1)] == [11, 8, 6] and first.period == "year"
    years = match_records(RecordTable(records.table.area, {"year": records.table.quasi_identifiers["year"]}, {}), AREAS)
    halves = Levels((Crosswalk(np.array([0, 0, 1, 0, 0, 0]), 2),))
    with pytest.raises(
        PrivacyError, match=r"would give away .*“Update a release”.*“repair”, which may suppress most rec"
    ):
        anonymise(AREAS, years, halves, Ask(K, earlier=earlier_releases(register)))
    unknown = Earlier([replace(first, period="")])
    assert anonymise(AREAS, years, halves, Ask(K, earlier=unknown)).release.n_records == len(people)


def test_a_series_of_which_some_areas_are_lost_is_none():
    """In a all of w are of 2025, and in b of 2024: b is shown and a is not, though both are in one coarsest region."""
    people = [("a", "w", "2025")] * 2 + [("b", "w", "2024")] * 6
    profile = town_of(people).profile
    levels = make_levels(AREAS, [own_regions(6), Crosswalk(np.zeros(6, np.int64), 1)])
    series = series_of_profile(profile, "year")
    for level_of, holds in (([SUPPRESSED, 0], False), ([SUPPRESSED, SUPPRESSED], True), ([1, 0], True)):
        assert holds_in_plan(plan_by_levels(profile, levels, 2, np.array(level_of, np.int8)), series) == holds


def test_a_series_is_no_release_to_be_updated(tmp_path):
    first = series_of(FIRST, Earlier([])).published
    assert first is not None
    with pytest.raises(InputError, match="same classes in all periods of “year”"):
        series_of(FIRST, Earlier([first]), periods=EACH_BY_ITSELF, update=Update(0))


def test_a_year_more_is_refused_in_words_that_fit_and_carried_on_as_an_update():
    """The regions are the same: only that one release shows 2025 and the other does not stands between them."""
    one_year = town_of([person for person in PEOPLE if person[2] == "2024"])
    ask = Ask(K, earlier=Earlier([]), period="year", periods=EACH_BY_ITSELF)
    first = anonymise(AREAS, one_year, FIRST, ask).published
    assert first is not None
    with pytest.raises(PrivacyError, match=r"of a further period.* Carry the last release on"):
        series_of(FIRST, Earlier([first]), periods=EACH_BY_ITSELF)
    carried = series_of(FIRST, Earlier([first]), periods=EACH_BY_ITSELF, update=Update(0))
    assert carried.changed is not None and carried.changed.same == len(first.records)
    assert carried.release.n_records == series_of(FIRST, Earlier([]), periods=EACH_BY_ITSELF).release.n_records


def test_who_moved_within_a_coarsest_region_is_named_where_releases_contradict_each_other():
    """The same regions and the same values: two of a moved to b, and no total of a coarsest region changed."""
    levels = make_levels(AREAS, [own_regions(6), Crosswalk(np.zeros(6, np.int64), 1)])
    before, after = ({"a": 20, "b": 20, "c": 20}, {"a": 18, "b": 22, "c": 20})
    ask = Ask(2, earlier=Earlier([]), nested=True)
    first, second = ([(area, "u", "2024") for area, n in of.items() for _ in range(n)] for of in (before, after))
    published = anonymise(AREAS, town_of(first), levels, ask).published
    assert published is not None
    with pytest.raises(PrivacyError, match=r"all moves were within the largest regions\."):
        anonymise(AREAS, town_of(second), levels, replace(ask, earlier=Earlier([published])))


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_what_a_series_is_known_to_tell_is_true(seed, n_levels):
    """The people of each region and class lie within what the overlay takes for known."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    areas = make_areas([f"a{i}" for i in range(n)], rng.integers(0, 99, (n, 2)).astype(float), np.ones(n))
    levels = random_levels(areas, rng, n_levels, bool(rng.integers(2)))
    size = int(rng.integers(20, 150))
    at, of, year = (rng.integers(0, m, size) for m in (n, 3, 4))
    keep = (of * 7 + year * 3 + at) % 4 > 0  # so that some are in some years only
    names = (areas.identifiers[at[keep]], of[keep].astype(str), year[keep].astype(str))
    columns = [column_from_values(values.tolist()) for values in names]
    records = match_records(RecordTable(columns[0], {"q": columns[1], "year": columns[2]}, {}), areas)
    ask = Ask(2, earlier=Earlier([]), period="year", periods=THE_SAME)
    released = anonymise(areas, records, levels, ask).published
    assert released is not None
    if not len(released.records):
        return
    assert released.period == "year"
    over = overlay([released])
    people = np.zeros((over.n_cells, len(over.entries)), np.int64)
    joint = {values: i for i, values in enumerate(over.schemas[0].classes)}
    number = {entry: i for i, entry in enumerate(over.entries[:, 0].tolist())}
    cell = dict(zip(over.areas.tolist(), over.cell_of.tolist()))
    for area, *values in zip(*(one.tolist() for one in names)):
        if tuple(values) in joint:
            people[cell[area], number[joint[tuple(values)]]] += 1
    for family in over.sums(np.arange(len(over.entries))):
        sums = family.members @ people
        for column, of_class in enumerate(family.class_of.tolist()):
            if of_class >= 0:
                low, high = family.low[:-1, of_class], family.high[:-1, of_class]
                assert (low <= sums[:-1, column]).all() and (sums[:-1, column] <= high).all()


def test_a_plan_that_shows_some_periods_of_a_class_is_no_series():
    """Each period by itself: d shows 15 of 2024 and not its 2 of 2025."""
    profile, crosswalk = town_of(PEOPLE).profile, FIRST.crosswalks[0]
    series = series_of_profile(profile, "year")
    by_itself = suppress(profile, crosswalk, K)
    assert not holds_in_plan(by_itself, series)
    assert holds_in_plan(suppress(profile, crosswalk, K, with_series(Requirement(K), profile, "year")), series)
