"""What an update calls the same is the same in every byte of its rows; what it shows finer tells nothing."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.areas import Areas, make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.levels import Levels
from vbas.core.nesting.flattening import flatten
from vbas.core.records.columns import Column, column_from_values
from vbas.core.records.matching import Records, match_records
from vbas.core.records.table import RecordTable
from vbas.core.releases.earlier import Earlier
from vbas.core.releases.examining import examine_all
from vbas.core.releases.updating import FOLLOWED, SHOWN, Update

from .nested_cases import random_levels
from .rows_told import assert_no_few_came_or_left, carried, published_of, told

SEX, ILL, JOB = (np.array(of, dtype=object) for of in (["F", "M"], ["flu", "cold, bad", None], [1, 2, None]))
Person = tuple[int, int, int, int]  # area, class, illness, job
Label = tuple[int, int, int]  # level, region, class


def town_of(people: Sequence[Person], areas: Areas, kept: Sequence[str], sensitive: bool) -> Records:
    """Records of people, who show what they have and do, as far as that is kept."""
    columns = {
        name: Column(np.array([person[at] for person in people], np.int64), values)
        for at, name, values in ((2, "ill", ILL), (3, "job", JOB))
        if name in kept
    }
    area = column_from_values([areas.identifiers[person[0]] for person in people])
    sex = Column(np.array([person[1] for person in people], np.int64), SEX)
    return match_records(RecordTable(area, {"q": sex}, columns, sensitive=tuple(kept[:1]) if sensitive else ()), areas)


@st.composite
def towns(draw):
    """Areas, levels, k, the people of several months, the fields that are kept, whether the first of them is sensitive
    and has to be diverse, and what becomes of rare values."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, k = draw(st.integers(2, 4)), draw(st.integers(2, 3))
    areas = make_areas([f"a{i}" for i in range(n)], rng.integers(0, 99, (n, 2)).astype(float), np.ones(n))
    levels = random_levels(areas, rng, draw(st.sampled_from([1, 2, 3])), draw(st.booleans()))

    def person() -> Person:
        return int(rng.integers(n)), int(rng.random() < 0.2), *((rng.random((2, 2)) < 0.3).sum(axis=1).tolist())

    months = [[person() for _ in range(draw(st.integers(6 * k, 60)))]]
    for _ in range(draw(st.integers(1, 3))):
        stay = [one for one in months[-1] if rng.random() < 0.98]
        some = stay[int(rng.integers(len(stay)))]
        if rng.random() < 0.5:  # one and all who look like that get better, or change their job
            later = person()[2:]
            stay = [(*some[:2], *later) if one == some else one for one in stay]
        many = int(rng.choice([0, 1, k, 2 * k]))
        came = some if rng.random() < 0.5 else person()
        months.append(stay + [came] * many + [person() for _ in range(int(rng.integers(3)))])
    kept = draw(st.sampled_from([(), ("ill",), ("ill", "job")]))
    asked = {"l_diversity": 2} if kept and draw(st.booleans()) else {}
    towns = [town_of(month, areas, kept, bool(asked)) for month in months if len(month) >= 2 * k]
    return areas, levels, k, towns, asked, draw(st.sampled_from(FOLLOWED))


def lines_of(account: Account) -> dict[Label, Counter[str]]:
    """Of each class of a region the lines of a CSV file that show it, as they would be written."""
    release, lines = account.release, dict[Label, Counter[str]]()
    columns = [column.categories[column.codes].tolist() for column in release.fields.values()]
    numbers = release.level.tolist(), release.region.tolist(), release.fields["q"].codes.tolist()
    for *label, count, values in zip(*numbers, release.counts.tolist(), list(zip(*columns))):
        written = io.StringIO()
        csv.writer(written).writerow([*label[:2], *values])
        level, region, code = label
        lines.setdefault((level, region, code), Counter())[written.getvalue()] += count
    return lines


@pytest.mark.slow
@settings(max_examples=25)
@given(towns())
def test_what_is_counted_as_the_same_is_the_same_rows_byte_for_byte(case):
    areas, levels, k, months, asked, followed = case
    accounts = carried(areas, levels, k, months, followed, **asked)
    for before, after in zip(accounts, accounts[1:]):
        old, new = lines_of(before), lines_of(after)
        assert after.changed is not None
        assert after.changed.same == sum(old[label] == new[label] for label in old.keys() & new.keys())
        assert after.changed.other == len(old.keys() & new.keys()) - after.changed.same
        assert after.changed.gone == len(old.keys() - new.keys())
        assert after.changed.new == len(new.keys() - old.keys())


def test_as_many_rows_with_other_values_are_not_the_same():
    """k = 3: three with flu left area a, and three with a cold came; in area b nothing changed."""
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    levels = Levels((Crosswalk(np.array([0, 1]), 2),))
    before: list[Person] = [(a, 0, i % 2, 0) for a in range(2) for i in range(12)]
    after: list[Person] = [(0, 0, int(i < 9), 0) for i in range(12)] + before[12:]
    towns = [town_of(month, areas, ("ill",), False) for month in (before, after)]
    first = anonymise(areas, towns[0], levels, Ask(3, earlier=Earlier([])))
    ask = Ask(3, earlier=Earlier([published_of(first)]), update=Update(0, followed=SHOWN))
    for _ in range(50):  # now and then somebody is held back
        account = anonymise(areas, towns[1], levels, ask)
        if account.release.n_records == 24:
            break
    old, new = lines_of(first), lines_of(account)
    assert old[0, 0, 0].total() == new[0, 0, 0].total() == 12 and old[0, 0, 0] != new[0, 0, 0]
    assert account.changed is not None and (account.changed.same, account.changed.other) == (1, 1)
    # Written otherwise, a value is no other, and the row is not the same.
    table = towns[0].table
    capitals = replace(table, kept={"ill": Column(table.kept["ill"].codes, np.array(["FLU", *ILL[1:]], dtype=object))})
    changed = anonymise(areas, match_records(capitals, areas), levels, ask).changed
    assert changed is not None and changed.same == 0


def shown_finer(before: Account, after: Account) -> list[tuple[Label, Label]]:
    """The classes of regions that show more than the month before, or are new, with each region around them that
    showed the class then: who came may be of those whom it showed."""
    old, new = lines_of(before), lines_of(after)
    found = []
    for label in new:
        level, region, code = label
        if new[label].total() <= old.get(label, Counter()).total():
            continue
        for height in range(level + 1, len(after.levels)):
            one = (np.array([level], np.int8), np.array([region]))
            around = height, int(flatten(after.levels, *one, height)[0]), code
            if around in old:
                found.append((label, around))
    return found


@st.composite
def crowds(draw):
    """Areas in which few people of one class live at first, so that a larger region shows them, until more come."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, k = draw(st.integers(3, 6)), draw(st.integers(2, 4))
    areas = make_areas([f"a{i}" for i in range(n)], rng.integers(0, 99, (n, 2)).astype(float), np.ones(n))
    around = np.arange(n) // draw(st.integers(2, 3))
    three = [Crosswalk(np.arange(n), n), Crosswalk(around, int(around[-1]) + 1), Crosswalk(np.zeros(n, int), 1)]
    kept = draw(st.sampled_from([(), ("ill",)]))

    def some(number: np.ndarray) -> list[Person]:
        return [(a, 0, int(rng.random() < 0.5), 0) for a in np.repeat(np.arange(n), number).tolist()]

    months = [some(np.append(rng.integers(0, 2 * k, n - 1), 3 * k))]
    for _ in range(draw(st.integers(1, 3))):
        stay = [one for one in months[-1] if rng.random() < 0.95]
        months.append(stay + some(rng.integers(0, 2 * k, n) * (rng.random(n) < 0.5)))
    return areas, Levels(tuple(three)), k, [town_of(month, areas, kept, False) for month in months], {}, SHOWN


@pytest.mark.slow
@settings(max_examples=30)
@given(crowds())
def test_what_was_coarser_is_shown_finer_only_where_the_attacker_finds_nothing(case):
    """All months side by side: the attacker who has the register, and a plain one who has the rows."""
    areas, levels, k, months, asked, followed = case
    accounts = carried(areas, levels, k, months, followed, **asked)
    names = [name for name in accounts[0].release.fields if name != "q"]
    for number in range(1, len(accounts)):
        if shown_finer(accounts[number - 1], accounts[number]):
            so_far = accounts[: number + 1]
            assert not examine_all([published_of(account) for account in so_far]).n_counts
            assert_no_few_came_or_left([told(account, names) for account in so_far], k)
