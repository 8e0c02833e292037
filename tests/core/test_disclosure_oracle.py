"""What releases and tables tell together, and zones and people: against every table of whole numbers there is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk, number_compactly
from vbas.core.disclosure import asked
from vbas.core.disclosure.count_tables import own_totals, published_table
from vbas.core.disclosure.counts import Count
from vbas.core.disclosure.disclosed import DisclosedCounts, find_disclosed
from vbas.core.disclosure.published import Published, publish
from vbas.core.disclosure.zone_tables import proven_small, records_of, released_classes
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting.decoys import Conditions, Secrets
from vbas.core.nesting.planning import nest
from vbas.core.plan import Plan, suppress

from ..exploring import tried
from .every_world import Class, Reader, TooMany, Town, comparable, groups_of, pinned, places_of, tables_of
from .release_cases import profile_over


def counted(found: DisclosedCounts, tables: np.ndarray, classes: list[Class]) -> Iterator[tuple[Count, np.ndarray]]:
    """Each count that is told, and its people in every table; but for those of values that nobody shows."""
    over = found.overlay
    for count in found.counts:
        values = [over.values_of(int(joint)) for joint in count.joint]
        if any(None in of.values() for of in values):
            continue
        some = [at for at, one in enumerate(classes) if any(all(one[name] == of[name] for name in of) for of in values)]
        areas = np.isin(over.cell_of, count.cells)
        yield count, tables[:, areas][:, :, some].sum(axis=(1, 2)) - count.less


def test_what_follows_in_all_tables_is_told_and_what_is_told_follows_in_all_tables():
    told = free = 0
    for seed in range(tried(60, 600)):
        town = Town(np.random.default_rng(seed))
        k = int(town.rng.integers(2, 5))
        plans = [town.plan(k) for _ in range(2 - seed % 2)]
        releases = [publish(plan, town.areas, "a release", coarsened=levels) for plan, levels in plans]
        releases = comparable([*releases, *([town.table(k)] if town.rng.random() < 0.5 or seed % 2 else [])])
        classes = town.classes(releases) if all(len(release.records) for release in releases) else None
        if classes is None:
            continue
        readers = [Reader(release) for release in releases]
        try:
            tables = tables_of(readers, classes, town.n)
        except TooMany:
            continue
        assert (tables == town.by_class).all(axis=(1, 2)).any(), seed
        found = find_disclosed(releases)
        assert not found.n_undecided and not len(found.contradicted), seed
        asked = list(product(places_of(readers), groups_of(readers, classes)))
        follows = pinned(tables, asked, k, readers, classes)
        assert bool(found.counts) >= bool(follows), (seed, follows)
        for count, people in counted(found, tables, classes):
            assert count.low <= people.min() and people.max() <= count.high, (seed, count)
        told, free = told + bool(follows), free + (not follows)
    assert told > 5 and free > 10


def test_a_table_of_all_people_is_held_against_releases_though_it_has_no_field():
    """Ten live there, and nine are shown: of the other class there is one, in the area that the other release names."""
    areas = make_areas(["a", "b"], [(0, 0), (900, 0)])
    profile = profile_over(np.array([[9, 1], [5, 5]]), [("x", "0"), ("x", "1")], ("p", "q"))
    plans = [suppress(profile, Crosswalk(np.array(of), max(of) + 1), 3) for of in ([0, 0], [0, 1])]
    shown = [replace(publish(plan, areas), bounded=False, held_back=None) for plan in plans]
    nothing, nine = (only(release, some) for release, some in zip(shown, ([], [0])))
    total = published_table(own_totals(profile, own_regions(2), [], "all"), areas, 3)
    assert not find_disclosed([nothing, nine], 3).counts
    assert {(one.low, one.high) for one in find_disclosed([nothing, nine, total], 3).counts} == {(1, 1)}


def only(release: Published, some: list[int]) -> Published:
    """A release that shows some of its equivalence classes."""
    columns = {name: getattr(release, name)[some] for name in ("level", "region", "class_of", "records")}
    return replace(release, **columns)


@pytest.mark.parametrize("fine", ["0", "1"])
def test_a_coarser_value_of_which_one_finer_value_is_seen_is_that_value(fine):
    """As many values are seen at both levels: five of A in all, four of them in the first area, so one in the other."""
    areas = make_areas(["a", "b"], [(0, 0), (900, 0)])
    people = np.array([[4, 1], [1, 8]])
    as_it_is = profile_over(people, [("x", fine), ("x", "2")], ("p", "q"))
    coarse = profile_over(people, [("A",), ("B",)], ("q",))
    wide = publish(suppress(as_it_is, Crosswalk(np.zeros(2, np.int64), 1), 2), areas, "wide")
    near = publish(suppress(coarse, own_regions(2), 2), areas, "near", coarsened={"q": 1})
    found = find_disclosed(comparable([wide, replace(near, bounded=False)]))
    assert {(one.low, one.high) for one in found.counts} == {(1, 1)}


def ways(count: int, areas: int) -> Iterator[tuple[int, ...]]:
    """All ways to put so many people into some areas."""
    if areas == 1:
        yield (count,)
        return
    for first in range(count + 1) if areas else ():
        yield from ((first, *rest) for rest in ways(count - first, areas - 1))


def zone_tables(zones: list[tuple[int, list[int]]], people: np.ndarray) -> np.ndarray:
    """All tables of records by zone and area in which no area has more than its people, (tables, pairs)."""
    found: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), tuple(people.tolist()))]
    for count, areas in zones:
        every = list(ways(count, len(areas)))
        after = []
        for before, room in found:
            for way in every:
                left = list(room)
                for area, number in zip(areas, way):
                    left[area] -= number
                if min(left) >= 0:
                    after.append((before + way, tuple(left)))
        found = after
        if len(found) > 50_000:
            raise TooMany
    return np.array([table for table, _ in found], np.int64).reshape(len(found), sum(len(of) for _, of in zones))


def drawn_plan(rng: np.random.Generator) -> tuple[Plan, np.ndarray]:
    """A nested plan, in zones or not, and how many people live in each area: sometimes fewer than records."""
    n, n_classes, k = int(rng.integers(2, 6)), int(rng.integers(1, 4)), int(rng.integers(2, 6))
    counts = rng.integers(0, k + 2, (n, n_classes)) * (rng.random((n, n_classes)) < 0.7)
    counts[0, 0] += k
    people = counts.sum(axis=1) + rng.integers(0, [1, 2, 4][int(rng.integers(3))], n) + 0.5 * (rng.random() < 0.1)
    if rng.random() < 0.05:
        people[int(rng.integers(n))] = 1
    areas = make_areas([f"a{at}" for at in range(n)], rng.random((n, 2)) * 1000, people, in_metres=True)
    crosswalks = [own_regions(n)]
    for _ in range(int(rng.integers(0, 3))):
        joined = rng.integers(0, crosswalks[-1].n_regions // 2 + 1, crosswalks[-1].n_regions)
        crosswalks.append(number_compactly(joined[crosswalks[-1].region_of])[0])
    profile = profile_over(counts, [(f"c{of}",) for of in range(n_classes)], ("p",))
    secrets = None if rng.random() < 0.5 else Secrets(np.random.default_rng(int(rng.integers(1000))))
    conditions = None if rng.random() < 0.3 else Conditions(people, secrets, int(rng.integers(0, 3)), 0.0)
    return nest(areas, profile, make_levels(areas, crosswalks), k, conditions=conditions), people


def test_what_zones_and_people_prove_is_what_holds_in_every_table():
    proven = 0
    for seed in range(tried(150, 2_000)):
        rng = np.random.default_rng(seed)
        plan, people = drawn_plan(rng)
        shown, _ = released_classes(plan)
        regions = plan.levels.region_of
        columns = (shown.level, shown.region, shown.class_of, shown.records)
        rows = list(zip(*(column.tolist() for column in columns)))
        there = {row[:3] for row in rows}
        zones = []
        for level, region, one, records in rows:
            lower = {
                area: [at for at in range(level) if (at, int(regions[at][area]), one) in there]
                for area in np.flatnonzero((regions[level] == region) & (people >= 1)).tolist()
            }
            alone = {
                area
                for area, levels in lower.items()
                if any((regions[at] == regions[at][area]).sum() == 1 for at in levels)
            }
            outside = {area for area, levels in lower.items() if levels} if shown.in_zones else alone
            zones.append((records, sorted(lower.keys() - outside)))
        try:
            tables = zone_tables(zones, np.floor(people).astype(int))
        except TooMany:
            continue
        known = records_of(plan) if rng.random() < 0.5 else None
        proof = proven_small(shown, people, plan.k, known, every=known is None or rng.random() < 0.5)
        assert proof.contradicted == (not len(tables)) and not len(proof.open_parts) and not len(proof.open_rests)
        if proof.contradicted:
            continue
        starts = np.cumsum([0, *(len(areas) for _, areas in zones)])
        expected: tuple[set[object], set[object]] = (set(), set())
        for number, (count, areas) in enumerate(zones):
            parts = {(area,) for area in areas}
            for level in range(rows[number][0]):
                for region in set(regions[level][areas].tolist()):
                    parts.add(tuple(area for area in areas if regions[level][area] == region))
            for part in (part for part in parts if len(part) < len(areas)):
                at = [int(starts[number]) + areas.index(area) for area in part]
                inside = tables[:, at].sum(axis=1)
                rest = count - inside
                if inside.min() >= 1 and inside.max() < plan.k:
                    expected[0].add((number, part))
                if len(areas) - len(part) > 1 and rest.min() >= 1 and rest.max() < plan.k:
                    expected[1].add((number, part))
        pairs, of = proof.of.pairs, proof.of
        for told, should in zip((proof.parts, proof.rests), expected):
            named = {
                (int(proof.zones.released[of.zone[at]]), tuple(sorted(proof.zones.area[pairs[at].indices].tolist())))
                for at in told.tolist()
            }
            assert named == should, seed
        proven += len(expected[0]) + len(expected[1])
    assert proven > 10


def test_of_a_table_of_more_people_nobody_is_taken_away():
    """Of the ten who are shown in both areas, a table says of the first that there are no more than nine."""
    areas = make_areas(["a", "b"], [(0, 0), (900, 0)])
    profile = profile_over(np.array([[7], [3]]), [("x",)], ("p",))
    both = replace(publish(suppress(profile, Crosswalk(np.zeros(2, np.int64), 1), 3), areas), held_back=None)
    first = Crosswalk(np.array([0, -1]), 1)
    table = own_totals(profile, first, ["p"], "more")
    for low, high, told in ((0, 9, set()), (9, 9, {(1, 1)}), (7, 9, set()), (8, 9, {(1, 2)})):
        bounded = replace(table, low=np.full_like(table.low, low), high=np.full_like(table.high, high))
        found = find_disclosed([both, published_table(bounded, areas, 3)], 3)
        assert {(one.low, one.high) for one in found.counts} == told


def test_however_few_places_are_looked_at_at_once_the_same_is_told(monkeypatch):
    told = 0
    for seed in range(12):
        town = Town(np.random.default_rng(seed))
        releases = comparable(
            [publish(plan, town.areas, coarsened=levels) for plan, levels in (town.plan(3), town.plan(3))]
        )
        expected = _as_text(find_disclosed(releases))
        with monkeypatch.context() as changed:
            changed.setattr(asked, "AT_ONCE", 1)
            assert _as_text(find_disclosed(releases)) == expected
        told += len(expected)
    assert told > 3


def _as_text(found: DisclosedCounts) -> list[str]:
    columns = (
        (one.kind, one.cells.tolist(), one.joint.tolist(), one.low, one.high, one.releases) for one in found.counts
    )
    return sorted(map(str, columns))
