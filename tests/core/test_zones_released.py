"""Releases from which no small count follows, recounted from their rows.

Whatever else is asked of them, and whatever is published already, each region shows all records of a class that no
region within shows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.areas import Areas, make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure.published import publish
from vbas.core.errors import InputError, PrivacyError
from vbas.core.generalising import make_hierarchy
from vbas.core.levels import Levels, make_levels, own_regions, with_coarser_values
from vbas.core.nesting.planning import nest
from vbas.core.plan import suppress
from vbas.core.privacy.derivable import NO_SMALL_COUNT
from vbas.core.records.columns import Column, column_from_values
from vbas.core.records.matching import Records, match_records
from vbas.core.records.table import PERSONS, RecordTable
from vbas.core.releases.earlier import REPAIR, Earlier

from ..exploring import tried
from . import zone_attacker
from .test_zone_attacker import written

SEXES = np.array(["F", "M"], dtype=object)
AGES = np.array(["old", "young"], dtype=object)
N_AREAS = 12


def town(seed: int, n_rows: int = 160) -> tuple[Areas, Records, Levels]:
    """Areas in pairs, fours and one; some persons with two records, often in two areas."""
    rng = np.random.default_rng(seed)
    areas = make_areas([f"a{i}" for i in range(N_AREAS)], rng.integers(0, 900, (N_AREAS, 2)), np.full(N_AREAS, 60.0))
    quasi = {"sex": Column(rng.integers(0, 2, n_rows), SEXES), "age": Column(rng.integers(0, 2, n_rows), AGES)}
    persons = np.where(rng.random(n_rows) < 0.2, rng.integers(0, n_rows, n_rows), np.arange(n_rows))
    ill = Column(rng.integers(0, 3, n_rows), np.array(["a", "b", "c"], dtype=object))
    table = RecordTable(
        Column(rng.choice(N_AREAS, n_rows, p=rng.dirichlet(np.full(N_AREAS, 0.7))), areas.identifiers),
        quasi,
        {"ill": ill},
        members={PERSONS: column_from_values([f"p{i}" for i in persons])},
        sensitive=("ill",),
    )
    crosswalks = [own_regions(N_AREAS), *(Crosswalk(np.arange(N_AREAS) // n, -(-N_AREAS // n)) for n in (2, 4, 12))]
    return areas, match_records(table, areas), make_levels(areas, crosswalks)


def row_values_in(account: Account, levels: Levels) -> dict[tuple[str, ...], Counter[tuple[int, int]]]:
    """Of each class the records of each place, (level, region), that shows it, from the rows alone."""
    release = account.release
    shown: dict[tuple[str, ...], Counter[tuple[int, int]]] = {}
    names = account.plan.profile.quasi_identifiers
    rows = zip(
        *(release.fields[name].categories[release.fields[name].codes].tolist() for name in names),
        release.level.tolist(),
        release.region.tolist(),
        release.counts.tolist(),
    )
    for *values, level, region, count in rows:
        of_class = shown.setdefault(tuple(values), Counter())
        of_class[level, region] += count
    return shown


def check_zones(account: Account, records: Records, levels: Levels) -> int:
    """Hold the rows against the records, area by area; the number of zones above the finest level."""
    table, n_above = records.table, 0
    columns = [column.categories[column.codes].tolist() for column in table.quasi_identifiers.values()]
    live = Counter(zip(zip(*columns), table.area.codes.tolist()))
    for values, places in row_values_in(account, levels).items():
        zones: Counter[tuple[int, int]] = Counter()
        for area in range(len(table.area.categories)):
            for level, crosswalk in enumerate(levels.crosswalks):
                if (level, int(crosswalk.region_of[area])) in places:
                    zones[level, int(crosswalk.region_of[area])] += live[values, area]
                    break
        assert zones == places, values
        assert min(places.values()) >= account.ask.k
        n_above += sum(level > 0 for level, _ in places)
    return n_above


def one_level(areas: Areas, records: Records, seed: int, k: int):
    """What a release of three regions, in no relation to the levels, has published before."""
    region_of = np.random.default_rng(seed).integers(0, 3, N_AREAS)
    region_of[:3] = [0, 1, 2]
    return publish(suppress(records.profile, Crosswalk(region_of, 3), k), areas, "before")


ASKED: dict[str, dict[str, Any]] = {
    "k": {},
    "persons and their diagnoses": {"l_diversity": 2},
    "shares": {"max_share": 60.0},
    "totals that are published": {"published_margins": "sex; age"},
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize(
    "earlier", ["none", *(pytest.param(one, marks=pytest.mark.slow) for one in ("one level", "nested"))]
)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
@settings(max_examples=tried(1, 4), deadline=None)
def test_zones_stay_zones(asked, earlier, seed, k):
    areas, records, levels = town(seed)
    before = {
        "none": lambda: None,
        "one level": lambda: one_level(areas, records, seed, k),
        "nested": lambda: publish(nest(areas, records.profile, levels, k), areas, "before"),
    }[earlier]()
    ask = Ask(
        k,
        disclosure=NO_SMALL_COUNT,
        closed_by_chance=10.0,
        earlier=None if before is None else Earlier([before], REPAIR),
        **ASKED[asked],
    )
    try:
        account = anonymise(areas, records, levels, ask)
    except PrivacyError as error:
        assert "REGISTER" in str(error)
        return
    except InputError as error:  # a diagnosis that stands for the area
        assert "KEEP_FIELDS" in str(error)
        return
    check_zones(account, records, levels)
    assert account.no_small_count


@pytest.mark.parametrize("margins", ["", "sex; age"])
@pytest.mark.parametrize("earlier", ["none", pytest.param("one level", marks=pytest.mark.slow)])
@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
@settings(max_examples=tried(2, 5), deadline=None)
def test_what_moves_beside_others_is_held_against_the_people_of_all_classes_again(margins, earlier, seed, k):
    """All people are in the records, so that they tell what all classes together leave."""
    areas, records, levels = town(seed)
    areas = areas.with_population(np.bincount(records.table.area.codes, minlength=N_AREAS).astype(float))
    before = Earlier([one_level(areas, records, seed, k)], REPAIR) if earlier != "none" else None
    ask = Ask(k, disclosure=NO_SMALL_COUNT, closed_by_chance=10.0, earlier=before, published_margins=margins)
    table = replace(records.table, members={}, kept={}, sensitive=())
    try:
        account = anonymise(areas, replace(records, table=table), levels, ask)
    except PrivacyError:
        return
    release = written(account.plan, areas)
    assert not account.no_small_count or not release.counts or zone_attacker.AllClasses(release).proven(k) == []


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
@settings(max_examples=10, deadline=None)
def test_levels_that_show_coarser_values_are_zones_too(seed, k):
    areas, records, levels = town(seed, 40)
    ask = Ask(
        k,
        disclosure=NO_SMALL_COUNT,
        closed_by_chance=20.0,
        hierarchies={"age": make_hierarchy("age", AGES, [["*", "*"]])},
    )
    account = anonymise(areas, records, with_coarser_values(levels, [("age", 1)]), ask)
    assert account.no_small_count
    shown = {
        (level, region, *values): n
        for values, places in row_values_in(account, levels).items()
        for (level, region), n in places.items()
    }
    arrived: Counter[tuple[object, ...]] = Counter()
    columns = [column.categories[column.codes].tolist() for column in records.table.quasi_identifiers.values()]
    for area, sex, age in zip(records.table.area.codes.tolist(), *columns):
        path = [(level, int(of_area[area]), sex, age) for level, of_area in enumerate(levels.region_of)]
        path.append((len(levels), int(levels.region_of[-1][area]), sex, "*"))
        arrived.update([place for place in path if place in shown][:1])
    assert arrived == shown
