"""What is left of regions that show a class, held against a count area by area; and what reports say of zones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.crosswalk import Crosswalk
from vbas.core.levels import Levels, make_levels, own_regions
from vbas.core.nesting.decoys import hold_decoys
from vbas.core.nesting.narrowing import can_be_narrowed, narrow
from vbas.core.plan import area_of_cells
from vbas.core.privacy.derivable import CLASS_HAS_K, NO_SMALL_COUNT
from vbas.core.records.table import PERSONS
from vbas.core.report.internal import Remarks, internal_report
from vbas.core.report.map_data import MapData
from vbas.core.report.provenance import Provenance
from vbas.core.report.release import PublicReport, release_report

from ..exploring import tried
from .rows_told import carried
from .test_updates_beside_counts import AREAS, town_of
from .test_zones_released import N_AREAS, town


def left_of(account: Account) -> Iterator[tuple[int, int]]:
    """Of each equivalence class that is shown: areas with people, and people, that are left, area by area."""
    plan, people = account.plan, account.areas.population
    shown = set(zip(plan.level[plan.released].tolist(), plan.region[plan.released], plan.class_of[plan.released]))
    region_of = plan.levels.region_of
    for level, region, class_of in sorted(shown):
        finer = range(level) if plan.in_zones else range(min(level, 1))
        left = [
            area
            for area in np.flatnonzero((region_of[level] == region) & (people > 0)).tolist()
            if not any((at, region_of[at][area], class_of) in shown for at in finer)
        ]
        yield len(left), int(people[left].sum())


@pytest.mark.slow
@pytest.mark.parametrize("disclosure", [CLASS_HAS_K, NO_SMALL_COUNT])
@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
@settings(max_examples=tried(10, 30), deadline=None)
def test_what_is_left_is_what_a_count_area_by_area_finds(disclosure, seed, k):
    areas, records, levels = town(seed)
    people = np.random.default_rng(seed).integers(0, 3, N_AREAS) * 40.0
    people[np.unique(records.table.area.codes)] += 200.0
    account = anonymise(areas.with_population(people), records, levels, Ask(k, disclosure=disclosure))
    plan = account.plan
    here = plan.released
    assert can_be_narrowed(levels, plan.in_zones)
    left = narrow(levels, people, plan.level[here], plan.region[here], plan.class_of[here], plan.in_zones)
    assert list(zip(left.left_areas.astype(int).tolist(), left.left_people.astype(int).tolist())) == list(
        left_of(account)
    )


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
@example(114473, 2)  # a person has two records in one area
@settings(max_examples=30, deadline=None)
def test_decoys_are_those_that_a_count_of_each_part_finds(seed, k):
    areas, records, levels = town(seed)
    account = anonymise(areas, records, levels, Ask(k, disclosure=NO_SMALL_COUNT))
    plan, persons = account.plan, records.table.members[PERSONS].codes
    people = Counter(cell for cell, _ in set(zip(records.cell_of.tolist(), persons.tolist())))
    area, released_classes = area_of_cells(plan.profile), plan.equivalence_class_of
    found = []
    for number in range(len(plan.records)):
        level = int(plan.level[number])
        parts: dict[int, int] = {}
        for cell in np.flatnonzero(released_classes == number).tolist():
            part = int(plan.levels.region_of[max(level - 1, 0)][area[cell]])
            parts[part] = parts.get(part, 0) + people[cell]
        found.append(level > 0 and max(parts.values(), default=0) >= k)
    assert hold_decoys(plan, account.requirement).tolist() == found


def test_larger_regions_that_may_show_a_part_only_are_not_narrowed_down():
    areas, records, levels = town(1)
    coarse = make_levels(areas, levels.crosswalks[1:])
    assert not can_be_narrowed(coarse, False)
    account = anonymise(areas, records, coarse, Ask(3))
    assert "Where the people of a larger region live" not in pages(account)[0]
    held = anonymise(areas, records, coarse, Ask(3, disclosure=NO_SMALL_COUNT))
    assert "Where the people of a larger region live" in pages(held)[0]


def test_of_an_update_nobody_is_said_to_live_only_in_areas_that_do_not_show_the_class():
    """Five people stay in area a, and two come who are shown with three of area b: they live in a all the same."""
    levels = Levels((own_regions(4), Crosswalk(np.zeros(4, np.int64), 1)))
    people = [(0, "F", "old")] * 5 + [(2, "F", "old")] * 9
    months = [town_of(people), town_of([*people, *[(0, "F", "old")] * 2, *[(1, "F", "old")] * 3])]
    drawn = (carried(AREAS, levels, 5, months) for _ in range(50))  # whether those who come are shown is drawn, too
    first, now = next(pair for pair in drawn if 1 in pair[1].plan.level[pair[1].plan.released])
    assert sorted(now.plan.records[now.plan.released].tolist()) == [5, 5, 9]
    for account, said in ((first, True), (now, False)):
        for page in pages(account):
            assert ("live in those of its areas that do not show the class" in page) == (said and "Internal" in page)
            assert "Where the people of a larger region live" not in page
            assert "as fine as what is asked of the release allows" in page and "finest level that hides" not in page


def pages(account: Account) -> tuple[str, str]:
    """The report for release, and the internal one."""
    ask, plan = account.ask, account.plan
    public = release_report(
        PublicReport(
            account.release,
            2,
            account.levels,
            ask.k,
            account.areas,
            no_small_count=account.no_small_count,
            in_zones=plan.in_zones,
            in_part=plan.in_part,
        )
    )
    nowhere = MapData(np.empty(N_AREAS, object), [])
    return public, internal_report(account, nowhere, Provenance(), Remarks())


def table_of(page: str, heading: str) -> list[list[str]]:
    """The rows of a section's table."""
    section = page.split(f">{heading}</h2>")[1].split("<h2")[0]
    return [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in section.split("<tr>")[2:]]


def test_reports_say_how_far_regions_can_be_narrowed_down_and_only_the_internal_one_the_price():
    areas, records, levels = town(3, 400)
    account = anonymise(areas, records, levels, Ask(3, disclosure=NO_SMALL_COUNT))
    public, internal = pages(account)
    heading = "Where the people of a larger region live"
    assert table_of(public, heading) == table_of(internal, heading)
    found = list(left_of(account))
    here = account.plan.level[account.plan.released] > 0
    total = table_of(public, heading)[-1]
    assert total[0] == "all" and int(total[1]) == here.sum()
    assert int(total[4]) == min(left for (left, _), above in zip(found, here) if above)
    assert int(total[5]) == min(people for (_, people), above in zip(found, here) if above)
    assert "holds a decoy" in internal or "hold a decoy" in internal
    assert "What must hold of the zones, and its price" in internal
    assert "decoy" not in public.replace("decoys", "") and "price" not in public
    price = re.search(r"The mean distance is ([\d.  ]+) m; without it would be ([\d.  ]+) m", internal)
    assert price is not None and float(price[1]) >= float(price[2])
    plain = pages(anonymise(areas, records, levels, Ask(3)))[1]
    assert "What must hold of the zones" not in plain and heading in plain


def test_what_must_be_left_is_named_with_its_price():
    areas, records, levels = town(3, 400)
    account = anonymise(areas, records, levels, Ask(3, least_left_areas=2))
    internal = pages(account)[1]
    assert "Asked is LEAST_LEFT_AREAS = 2." in internal and "a decoy" not in internal
    assert all(left >= 2 for (left, _), at in zip(left_of(account), account.plan.level[account.plan.released]) if at)
