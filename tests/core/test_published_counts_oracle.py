"""A release beside counts that others publish, and the people of each area: against every table that fits them all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk, number_compactly
from vbas.core.disclosure.count_tables import MANY, CountTable, own_totals
from vbas.core.disclosure.inhabitants import inhabitants_of
from vbas.core.disclosure.published import publish
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting.decoys import Conditions, Secrets
from vbas.core.nesting.planning import nest
from vbas.core.plan import Plan
from vbas.core.privacy import beside
from vbas.core.privacy.beside import TablesBeside, hold_beside_and_together, people_beside, too_many_together
from vbas.core.privacy.count_rows import CountRows
from vbas.core.privacy.derivable import NO_SMALL_COUNT
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable

from ..exploring import tried
from .as_before import Heard
from .every_world import Reader, Sum, TooMany, Town, pinned, tables_of


def told_by(table: CountTable, n_classes: int) -> Iterator[Sum]:
    """What a table says of the people."""
    for zone in range(table.n_zones):
        for group in range(table.n_groups):
            areas, classes = np.flatnonzero(table.zone_of == zone), np.flatnonzero(table.group_of == group)
            members = [area * n_classes + one for area in areas.tolist() for one in classes.tolist()]
            yield members, int(table.low[zone, group]), int(table.high[zone, group])


def asked_of(plan: Plan, tables: list[CountTable]) -> Iterator[tuple[np.ndarray, tuple[int]]]:
    """Each class in areas, regions, what smaller regions that show it leave of them, and zones of tables."""
    regions, n = plan.levels.region_of, len(plan.levels.region_of[0])
    shown = list(zip(*(of[plan.released].tolist() for of in (plan.level, plan.region, plan.class_of))))
    for one in range(len(plan.profile.classes)):
        yield from ((np.arange(n) == area, (one,)) for area in range(n))
        for table in tables:
            yield from ((table.zone_of == zone, (one,)) for zone in range(table.n_zones))
        for level, region_of in enumerate(regions):
            for region in set(region_of.tolist()):
                smaller = [regions[at] == of for at, of, own in shown if own == one and at < level]
                left = (region_of == region) & ~np.logical_or.reduce([np.zeros(n, bool), *smaller])
                yield from ((areas, (one,)) for areas in (region_of == region, left) if areas.any())


def held(seed: int) -> tuple[set[object], set[object]] | None:
    """What follows from a plan in zones, the people of each area and a table; and what follows without the plan."""
    town = Town(np.random.default_rng(seed), most=12)
    rng, k = town.rng, int(town.rng.integers(2, 5))
    profile, records = town.profile(("p", "q"), False), town.people.sum(axis=1)
    people = (records + rng.integers(0, 3, town.n) * (rng.random() < 0.5)).astype(float)
    areas = town.areas.with_population(people)
    zones = number_compactly(rng.integers(0, 2, town.n))[0]
    tables = [own_totals(profile, zones, names) for names in ([], ["p"], ["q"]) if rng.random() < 0.5]
    if rng.random() < 0.3:
        tables = [replace(table, low=np.zeros_like(table.low), high=table.high + 1) for table in tables]
    conditions = Conditions(people, Secrets(np.random.default_rng(seed)))
    plan = nest(areas, profile, town.levels(True), k, conditions=conditions)
    known = inhabitants_of(profile, people)
    beside = TablesBeside(areas, tables, people=people_beside(tables, profile, known))
    plan, said, _ = hold_beside_and_together(plan, beside, known)
    if not plan.released.any() or any("may follow" in sentence for sentence in said):
        return None
    classes = [{"p": values[0], "q": values[1]} for values in _values(profile)]
    of_areas = [(list(range(at * len(classes), (at + 1) * len(classes))), 0, int(people[at])) for at in range(town.n)]
    sums = [*of_areas, *(one for table in tables for one in told_by(table, len(classes)))]
    reader = Reader(replace(publish(plan, areas), held_back=None))
    try:
        with_plan, alone = tables_of([reader], classes, town.n, sums), tables_of([], classes, town.n, sums)
    except TooMany:
        return None
    assert (with_plan == profile.counts.toarray()).all(axis=(1, 2)).any()
    asked = list(asked_of(plan, tables))
    return set(pinned(with_plan, asked, k)), set(pinned(alone, asked, k))


def _values(profile) -> list[tuple[str, ...]]:
    return [tuple(of[code] for of, code in zip(profile.categories, codes)) for codes in profile.classes.tolist()]


def test_nothing_follows_from_zones_tables_and_people_together():
    looked_at = 0
    for seed in range(tried(40, 600)):
        told = held(seed)
        if told is not None:
            assert told[0] <= told[1], seed
            looked_at += 1
    assert looked_at > 15


def test_people_are_known_beside_tables_of_larger_units_alone():
    """Of areas that a table counts by themselves, no more people than live there, nothing is added."""
    town = Town(np.random.default_rng(0))
    profile, n = town.profile(("p", "q"), False), town.n
    people = profile.area_sizes + 1.5
    known = inhabitants_of(profile, people)
    by_area = own_totals(profile, own_regions(n), ["p"])
    by_unit = own_totals(profile, Crosswalk(np.zeros(n, np.int64), 1), ["p"])
    assert people_beside([], profile, known) is None and people_beside([by_area], profile, known) is None
    for tables in ([by_unit], [replace(by_area, zone_of=np.full(n, -1))], [replace(by_area, high=by_area.high + 2)]):
        table = people_beside(tables, profile, known)
        assert table is not None and not table.low.any() and not table.group_of.any() and not table.exact
        assert table.zone_of.tolist() == list(range(n)) == list(range(table.n_zones))
        assert table.high[:, 0].tolist() == (profile.area_sizes + 1).tolist()
    too_few = inhabitants_of(profile, np.where(np.arange(n) == 1, profile.area_sizes - 1, people))
    fewer = people_beside([by_unit], profile, too_few)
    assert fewer is not None and (fewer.high[:, 0] == MANY).tolist() == [at == 1 for at in range(n)]
    first = replace(by_area, group_of=np.where(np.arange(len(by_area.group_of)) == 0, -1, by_area.group_of))
    assert people_beside([first], profile, known) is not None


def test_where_there_are_too_many_areas_and_classes_to_look_at_all_together_it_is_said(monkeypatch):
    monkeypatch.setattr(beside, "MOST_TOGETHER", 4_000)
    rng = np.random.default_rng(0)
    n = 40
    areas = make_areas([f"a{at}" for at in range(n)], rng.random((n, 2)) * 9_000, in_metres=True)
    homes, ages = np.repeat(areas.identifiers, 30), rng.integers(0, 101, 30 * n)
    quasi = {
        "age": column_from_values(ages.tolist()),
        "sex": column_from_values(rng.choice(["f", "m"], 30 * n).tolist()),
    }
    records = match_records(RecordTable(column_from_values(homes.tolist()), quasi, kept={}), areas, k=3)
    levels = make_levels(areas, [own_regions(n), Crosswalk(np.zeros(n, np.int64), 1)])
    areas = areas.with_population(np.full(n, 31.0))
    of_all = CountRows(["all"], {}, [30 * n], dict.fromkeys(areas.identifiers.tolist(), "all"))
    said = Heard()
    ask = Ask(k=3, published_counts=of_all, disclosure=NO_SMALL_COUNT)
    (sentence,) = [note for note in anonymise(areas, records, levels, ask, log=said).notes if "prove together" in note]
    assert n * len(records.profile.classes) > beside.MOST_TOGETHER and said.said.count(f"! {sentence}") == 1
    by_all = own_totals(records.profile, levels.crosswalks[1], [])
    few = people_beside([by_all], records.profile, inhabitants_of(records.profile, areas.population))
    assert few is not None and too_many_together(few) == sentence and too_many_together(None) == ""
    assert not too_many_together(replace(few, group_of=few.group_of[: beside.MOST_TOGETHER // n]))
