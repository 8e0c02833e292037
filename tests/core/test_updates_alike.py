"""Updates in which each row looks like k - 1 others of its class and region, in all that it shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import Areas, make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import PrivacyError
from vbas.core.levels import Levels
from vbas.core.records.columns import Column, column_from_values
from vbas.core.records.matching import Records, match_records
from vbas.core.records.table import RecordTable
from vbas.core.release import apply
from vbas.core.releases.earlier import Earlier
from vbas.core.releases.identical_rows import numbers_of_identical
from vbas.core.releases.updating import HELD_BACK, SHOWN, Update
from vbas.core.report.sign import Signing, sign_page

from .nested_cases import random_levels
from .rows_told import assert_no_few_came_or_left, assert_rows_are_alike, carried, published_of, told

FIELDS = {"ill": np.array(["flu", "cold", None], dtype=object), "job": np.array([1, 2, ""], dtype=object)}
FIELDS["town"] = np.array(["x", "y", "z"], dtype=object)


def town_of(people: list[tuple[int, ...]], areas: Areas, names: tuple[str, ...], sensitive: int) -> Records:
    """Records of people: area, class, and what they show in some fields, the first of which are sensitive."""
    area = column_from_values([areas.identifiers[one[0]] for one in people])
    classes = Column(np.array([one[1] for one in people], np.int64), np.array(["u", "v"], dtype=object))
    beside = {
        name: Column(np.array([one[2 + at] for one in people], np.int64), FIELDS[name]) for at, name in enumerate(names)
    }
    return match_records(RecordTable(area, {"q": classes}, beside, None, sensitive=names[:sensitive]), areas)


@st.composite
def towns(draw):
    """Areas, levels, k, names of fields, how many of them are sensitive, what is asked of these, and the people of
    three months and more."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, k = draw(st.integers(2, 5)), draw(st.integers(2, 4))
    areas = make_areas([f"a{i}" for i in range(n)], rng.integers(0, 99, (n, 2)).astype(float), np.ones(n))
    levels = random_levels(areas, rng, draw(st.integers(1, 3)), draw(st.booleans()))
    rare, names = draw(st.sampled_from([0.05, 0.3])), ("ill", "job", "town")[: draw(st.integers(1, 3))]

    def person() -> tuple[int, ...]:
        return int(rng.integers(n)), int(rng.random() < 0.3), *(rng.random((len(names), 2)) < rare).sum(axis=1).tolist()

    months = [[person() for _ in range(draw(st.integers(6 * k, 300)))]]
    for _ in range(draw(st.integers(2, 3))):
        stay = [one for one in months[-1] if rng.random() < 0.97]
        moved = [(int(rng.integers(n)), *one[1:]) if rng.random() < 0.03 else one for one in stay]
        months.append(moved + [person() for _ in range(rng.integers(0, 9))])
    sensitive = draw(st.integers(0, len(names)))
    asked = draw(st.sampled_from([{}, {"l_diversity": 2}])) if sensitive else {}
    return areas, levels, k, names, sensitive, asked, [month for month in months if len(month) >= 2 * k]


def rare_in(month: list[tuple[int, ...]], levels: Levels, k: int) -> int:
    """People of a month whose values fewer than k of their class have in the largest region, where k of it live."""
    largest = levels.crosswalks[-1].region_of
    shown = Counter((largest[area], of_class, tuple(of)) for area, of_class, *of in month if largest[area] >= 0)
    people: Counter[tuple[int, int]] = Counter()
    for (region, of_class, _), n in shown.items():
        people[region, of_class] += n
    return sum(n for (region, of_class, _), n in shown.items() if n < k <= people[region, of_class])


@pytest.mark.slow
@settings(max_examples=20)
@given(towns())
def test_each_row_of_an_update_looks_like_k_and_nothing_else_is_given_up_for_that(case):
    areas, levels, k, names, sensitive, asked, months = case
    accounts = carried(areas, levels, k, [town_of(month, areas, names, sensitive) for month in months], **asked)
    shown = [told(account, names) for account in accounts]
    assert_no_few_came_or_left(shown, k, range(sensitive) if asked else [])
    for month, account, rows in zip(months[1:], accounts[1:], shown[1:]):
        assert_rows_are_alike(rows, k)
        for (what, level, region, code), values in rows.items():
            inside = levels.crosswalks[level].region_of
            there = Counter(
                tuple(repr(FIELDS[name][value]) for name, value in zip(names, of))
                for area, of_class, *of in month
                if of_class == code and inside[area] == region
            )
            assert not values - there
            assert what == "all" or values.total() >= k
        n_shown = sum(values.total() for (what, *_), values in rows.items() if what == "label")
        assert n_shown + account.measures.n_suppressed == len(month)
        assert account.changed is not None and account.changed.n_followed == 0
        assert account.changed.n_rare <= account.measures.n_suppressed
        assert account.changed.n_rare == rare_in(month, levels, k)
    for at, old in enumerate(shown):  # nor do the numbers of a class tell of a few
        for new in shown[at + 1 :]:
            for place in new.keys() & old.keys():
                change = abs(new[place].total() - old[place].total())
                assert change == 0 or change >= k


AREAS = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
ONE_LEVEL, TWO_LEVELS = Crosswalk(np.array([0, 1]), 2), Crosswalk(np.array([0, 0]), 1)


def month_of(numbers: dict[tuple[int, int], int]) -> Records:
    """People of one class who show an illness; numbers : of each area and illness."""
    return town_of([(a, 0, ill) for (a, ill), n in numbers.items() for _ in range(n)], AREAS, ("ill",), 1)


def test_rare_rows_are_shown_in_a_larger_region_or_not_at_all():
    """k = 3: two have a cold in each area, four in both together; one has none in all."""
    people = {(0, 0): 20, (1, 0): 20, (0, 1): 2, (1, 1): 2, (0, 2): 1}
    levels = Levels((ONE_LEVEL, TWO_LEVELS))
    for _ in range(4):  # whom nobody needs is held back by chance now and then
        first, now = carried(AREAS, levels, 3, [month_of(people), month_of(people)])
        rows = told(now, ["ill"])
        assert first.release.n_records == 45 and ("'cold'",) in told(first, ["ill"])["label", 0, 0, 0]
        assert all(("'cold'",) not in values for place, values in rows.items() if place[:2] == ("label", 0))
        assert ("None",) not in rows["all", 1, 0, 0]
        if rows["all", 1, 0, 0]["'cold'",] == 4:
            break
    else:
        raise AssertionError("four with a cold in the larger region")
    assert now.changed is not None and now.changed.n_rare == 1
    assert any("1 record is held back because its values are rare" in note for note in now.notes)
    assert any("looks like at least 2 others of its class and region in “ill”" in note for note in now.notes)
    terms = dict(sign_page(now, Signing(), "", "", "").terms)
    assert terms["Records of rare values"].startswith("1 held back")
    shown = carried(AREAS, levels, 3, [month_of(people), month_of(people)], SHOWN)[1]
    assert shown.changed is not None and (shown.changed.n_rare, shown.changed.n_followed) == (0, 2)


def test_a_release_with_a_rare_row_is_refused_whatever_made_it():
    people = {(0, 0): 20, (1, 0): 20, (0, 1): 2}
    first = anonymise(AREAS, month_of(people), Levels((ONE_LEVEL,)), Ask(3, earlier=Earlier([])))
    records = month_of(people)
    assert apply(first.plan, records, (), first.requirement).n_records == 42
    with pytest.raises(PrivacyError, match="a row that fewer than 3 rows of its class look like"):
        apply(first.plan, records, (), replace(first.requirement, rows_identical=3))
    for followed, alike in ((HELD_BACK, 3), (SHOWN, 1)):
        update = Update(0, followed=followed)
        ask = Ask(3, earlier=Earlier([published_of(first)]), update=update)
        assert anonymise(AREAS, month_of(people), Levels((ONE_LEVEL,)), ask).requirement.rows_identical == alike


def test_all_of_a_region_and_those_within_tell_of_no_few_by_their_values():
    """k = 3: in each of two areas one with flu left and one with a cold came, and both show none of it: three and more
    fewer. Together they are two with flu and two with a cold."""
    before = {(0, 0): 12, (0, 1): 12, (1, 0): 12, (1, 1): 12}
    after = {(0, 0): 11, (0, 1): 13, (1, 0): 12, (1, 1): 12}
    for followed in (HELD_BACK, SHOWN):
        for _ in range(3):
            months = [month_of(before), month_of(after)]
            accounts = carried(AREAS, Levels((ONE_LEVEL, TWO_LEVELS)), 3, months, followed)
            assert_no_few_came_or_left([told(account, ["ill"]) for account in accounts], 3)


@pytest.mark.parametrize("around", [False, True])
def test_the_numbers_of_a_label_are_the_largest_that_can_be(around):
    """By brute force: every number of people of three values, and of all that is to be shown."""
    k, rng = 3, np.random.default_rng(0)
    for people in product((0, 2, 3, 5, 7), repeat=3):
        free = np.array(people)
        for total in (0, 3, 5, 8, 11):
            can = [
                [n for n in range(most + 1) if n in (0, most) or (n >= k and (not around or most - n >= k))]
                if most >= k
                else [0]
                for most in people
            ]
            best = max(sum(numbers) for numbers in product(*can) if sum(numbers) <= total)
            shown, order = np.array([total]), rng.random(3)
            found = numbers_of_identical(np.zeros(3, np.int64), free, [], shown, np.array([around]), k, order)
            assert found.sum() == best and all(n in of for n, of in zip(found.tolist(), can))
