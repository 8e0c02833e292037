"""Updates of a release: what stays, what moves, and that nobody who has all of them learns of a change of a few."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.areas import Areas, make_areas
from vbas.core.levels import Levels
from vbas.core.nesting.flattening import flatten
from vbas.core.records.columns import Column, column_from_values
from vbas.core.records.matching import Records, match_records
from vbas.core.records.table import RecordTable
from vbas.core.releases.earlier import Earlier
from vbas.core.releases.updates import visible_changes
from vbas.core.releases.updating import Update

from .nested_cases import random_levels

CLASSES = np.array(["u", "v", "w"], dtype=object)


def town_of(people: list[tuple[int, int]], areas: Areas, counted: bool) -> Records:
    """Records of people, (area, class) each."""
    rows = sorted(set(people)) if counted else people
    counts = np.array([people.count(row) for row in rows], np.int64) if counted else None
    area = column_from_values([areas.identifiers[a] for a, _ in rows])
    table = RecordTable(area, {"q": Column(np.array([c for _, c in rows], np.int64), CLASSES)}, {}, counts)
    return match_records(table, areas)


@st.composite
def updated_towns(draw):
    """Areas, levels of one or more, k, and the people of several months, some of whom came, left and moved."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, k = draw(st.integers(2, 8)), draw(st.integers(2, 4))
    areas = make_areas([f"a{i}" for i in range(n)], rng.integers(0, 99, (n, 2)).astype(float), np.ones(n))
    levels = random_levels(areas, rng, draw(st.integers(1, 3)), draw(st.booleans()))
    size = draw(st.integers(k, 90))
    people = [(int(rng.integers(n)), int(rng.integers(3) * rng.integers(2))) for _ in range(size)]
    months = [people]
    for _ in range(draw(st.integers(1, 3))):
        stay = [one for one in months[-1] if rng.random() < 0.93]
        moved = [(int(rng.integers(n)), c) if rng.random() < 0.06 else (a, c) for a, c in stay]
        months.append(moved + [(int(rng.integers(n)), int(rng.integers(3))) for _ in range(rng.integers(0, 9))])
    return areas, levels, k, [month for month in months if len(month) >= k], draw(st.booleans())


def carried(areas: Areas, levels: Levels, k: int, months: list[list[tuple[int, int]]], counted: bool) -> list[Account]:
    """The release of each month, which carries on the one before."""
    accounts: list[Account] = []
    for month in months:
        published = [account.published for account in accounts if account.published is not None]
        ask = Ask(k, earlier=Earlier(published), update=Update(len(published) - 1) if published else None)
        accounts.append(anonymise(areas, town_of(month, areas, counted), levels, ask))
    return accounts


def shown(account: Account) -> dict[tuple[int, int, int], int]:
    """Level, region and class of each row of a release, with how many show it, read from the rows alone."""
    release = account.release
    rows: dict[tuple[int, int, int], int] = {}
    for level, region, code, count in zip(
        release.level.tolist(), release.region.tolist(), release.fields["q"].codes.tolist(), release.counts.tolist()
    ):
        rows[level, region, code] = rows.get((level, region, code), 0) + count
    return rows


def in_all_regions(account: Account) -> dict[tuple[int, int, int], int]:
    """The same of each region with all regions within."""
    release, sums = account.release, dict[tuple[int, int, int], int]()
    for level in range(len(account.levels)):
        region = flatten(account.levels, release.level, release.region, level)
        for at, code, count in zip(region.tolist(), release.fields["q"].codes.tolist(), release.counts.tolist()):
            if at >= 0:
                sums[level, at, code] = sums.get((level, at, code), 0) + count
    return sums


@settings(max_examples=60)
@given(updated_towns())
def test_no_change_of_a_few_is_seen_between_any_two_months(case):
    areas, levels, k, months, counted = case
    accounts = carried(areas, levels, k, months, counted)
    for read in (shown, in_all_regions):
        numbers = [read(account) for account in accounts]
        for later, new in enumerate(numbers):
            for old in numbers[:later]:
                few = [key for key in new.keys() & old.keys() if 0 < abs(new[key] - old[key]) < k]
                assert not few, (read.__name__, few)
    for later, account in enumerate(accounts):
        for earlier in accounts[:later]:
            assert earlier.published is not None and account.published is not None
            changes = visible_changes(earlier.published, account.published, k)
            assert changes is not None and not len(changes)


@settings(max_examples=60)
@given(updated_towns())
def test_each_month_shows_people_of_now_k_of_each_class_and_counts_the_others_as_suppressed(case):
    areas, levels, k, months, counted = case
    for month, account in zip(months, carried(areas, levels, k, months, counted)):
        rows = shown(account)
        assert min(rows.values(), default=k) >= k
        for (level, region, code), count in in_all_regions(account).items():
            inside = levels.crosswalks[level].region_of == region
            assert count <= sum(1 for area, of in month if of == code and inside[area])
        assert account.measures.n_records == len(month)
        assert account.measures.n_suppressed == len(month) - sum(rows.values())
