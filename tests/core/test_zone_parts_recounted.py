"""Zones of a release, and their parts that some geography names, gathered area by area in plain loops."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from vbas.core.areas import make_areas
from vbas.core.disclosure import guessing, zone_flows, zone_tables
from vbas.core.disclosure.guessing import ZoneSample
from vbas.core.disclosure.zone_flows import Tables
from vbas.core.disclosure.zone_tables import ReleasedClasses, parts_of, too_many_pairs, zones_of

from ..each import for_each_seed
from .nested_cases import random_levels


def drawn(seed: int, in_zones: bool):
    """A release in which some regions show some classes, and the people of its areas."""
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(2, 11)), int(rng.integers(1, 4))
    areas = make_areas([f"a{i}" for i in range(n)], rng.random((n, 2)), np.ones(n))
    levels = random_levels(areas, rng, int(rng.integers(1, 5)), left_out=bool(rng.random() < 0.3))
    shown = [
        (level, region, one)
        for level, crosswalk in enumerate(levels.crosswalks)
        for region in range(crosswalk.n_regions)
        for one in range(n_classes)
        if rng.random() < 0.4
    ] or [(0, 0, 0)]
    shown = [shown[i] for i in rng.permutation(len(shown))]
    level, region, class_of = (np.array(column) for column in zip(*shown))
    released = ReleasedClasses(levels, level, region, class_of, rng.integers(2, 9, len(shown)), in_zones)
    return released, shown, rng.integers(0, 4, n) * 7.0, rng


def areas_of(shown, levels, number: int, in_zones: bool) -> list[int]:
    """The areas in which what is shown may live, people or not."""
    level, region, one = shown[number]
    found = []
    for i in np.flatnonzero(levels.region_of[level] == region).tolist():
        finer = [
            at
            for at in range(level)
            if (at, int(levels.region_of[at][i]), one) in shown
            and (in_zones or (at == 0 and (levels.region_of[0] == levels.region_of[0][i]).sum() == 1))
        ]
        if not finer:
            found.append(i)
    return found


@for_each_seed(30)
def test_zones_and_their_parts_are_those_of_loops_over_areas(seed):
    in_zones = seed >= 15
    released, shown, people, rng = drawn(seed % 15, in_zones)
    levels = released.levels
    everywhere = [areas_of(shown, levels, number, in_zones) for number in range(len(shown))]
    inhabited = [[i for i in own if people[i] >= 1] for own in everywhere]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(zone_tables, "CLASSES_AT_ONCE", [1, 20, 4_000_000][seed % 3])
        zones = zones_of(released, people)
    several = [number for number, own in enumerate(inhabited) if len(own) > 1]
    assert zones.released.tolist() == several
    assert zones.count.tolist() == [int(released.records[number]) for number in several]
    pairs = list(zip(zones.zone.tolist(), zones.area.tolist()))
    assert pairs == [(zone, i) for zone, number in enumerate(several) for i in inhabited[number]]
    room = people.astype(int)
    for number, own in enumerate(inhabited):
        if len(own) == 1:
            room[own[0]] -= released.records[number]
    assert zones.room.tolist() == room.tolist() and zones.contradicted == bool((room < 0).any())
    n_pairs = sum(map(len, everywhere))
    for most in (0, n_pairs - 1, n_pairs, n_pairs + 1):
        assert too_many_pairs(released, most) == (n_pairs if n_pairs > max(most, 0) else 0) or most < 0

    asked = rng.random(len(shown)) < 0.7
    table = rng.integers(0, 4, len(pairs))
    for which in (None, asked):
        expected: dict[tuple[int, frozenset[int]], set[tuple[int, int]]] = {}
        n_areas = n_larger = n_rests = 0
        for zone, number in enumerate(several):
            if which is not None and not which[number]:
                continue
            whole = frozenset(inhabited[number])
            expected |= {(zone, frozenset([i])): {(-1, i)} for i in whole}
            n_areas, n_rests = n_areas + len(whole), n_rests + len(whole) * (len(whole) > 2)
            for level in range(shown[number][0]):
                for region in range(levels.crosswalks[level].n_regions):
                    inside = frozenset(i for i in whole if levels.region_of[level][i] == region)
                    if 1 < len(inside) < len(whole):
                        expected.setdefault((zone, inside), set()).add((level, region))
            larger = [part for of, part in expected if of == zone and len(part) > 1]
            n_larger, n_rests = n_larger + len(larger), n_rests + sum(len(whole) - len(part) > 1 for part in larger)
        for with_table, k in ((False, 0), (True, 3)):
            parts = parts_of(zones, released, which, table if with_table else None, k)
            assert (parts.n_areas, parts.n_larger, parts.n_rests) == (n_areas, n_larger, n_rests)
            found = {}
            for part in range(len(parts)):
                at = parts.pairs[part].indices
                assert set(zones.zone[at].tolist()) == {int(parts.zone[part])}
                key = int(parts.zone[part]), frozenset(zones.area[at].tolist())
                assert key not in found
                found[key] = int(parts.level[part]), int(parts.region[part])
            wanted = expected
            if with_table:
                held = {pair: int(number) for pair, number in zip(pairs, table)}

                def may_follow(zone, own, held=held, k=k):
                    inside = sum(held[zone, i] for i in own)
                    return 1 <= inside < k or 1 <= zones.count[zone] - inside < k

                wanted = {key: named for key, named in expected.items() if may_follow(*key)}
            assert found.keys() == wanted.keys()
            assert all(name in wanted[key] for key, name in found.items())


def test_zones_whose_areas_may_all_hold_none_are_fitted_by_themselves(monkeypatch):
    """With k = 3 two areas without k hold four at most: of four in three areas each may hold none, of five not."""
    asked = []

    def seen(sample, holds, k):
        asked.append((sample.count.tolist(), holds.tolist()))
        return 1.0, 1.0, 1.0

    monkeypatch.setattr(guessing, "_fitted", seen)
    count, zone = np.array([3, 5, 4, 6]), np.repeat(np.arange(4), 3)
    records = np.array([[3, 0, 0], [5, 0, 0], [2, 2, 0], [2, 2, 2]]).ravel()
    sample = ZoneSample(count, np.zeros(4, np.int64), zone, np.full(12, 9.0), records, (), 4)
    holds = (records >= 1) & (records < 3)
    chances = guessing._by_the_method(sample, holds, 3)
    nobody, two = [False] * 3, [True, True, False]
    assert asked == [([3, 4], nobody + two), ([5, 6], nobody + [True] * 3)]
    np.testing.assert_allclose(chances, guessing.by_people_alone(sample, 3))


@for_each_seed(60)
def test_a_known_table_is_held_where_all_of_it_fits(seed):
    rng = np.random.default_rng(seed)
    zone, area = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 0, 1, 2])
    table, count, room = rng.integers(0, 4, 5), np.array([4, 6]), rng.integers(3, 6, 3)
    if rng.random() < 0.7:
        table[[0, 2]] = count[0] - table[1], count[1] - table[3:].sum()
    fits = all(number >= 0 for number in table) and all(
        sum(table[zone == of]) == n for of, n in enumerate(count.tolist())
    )
    fits = fits and all(sum(table[area == of]) <= n for of, n in enumerate(room.tolist()))
    known = Tables(zone, area, count, room, np.arange(3), table)
    assert (known.table is not None) == fits
    spare = [n - sum(table[area == of]) for of, n in enumerate(room.tolist())] if fits else room.tolist()
    assert known.spare.tolist() == spare


@for_each_seed(20)
def test_areas_are_stuck_where_no_table_has_a_record_fewer_or_more_there(seed):
    """By going through all tables of three zones and four areas."""
    rng, n_stuck = np.random.default_rng(seed), 0
    while True:
        pairs = [(of, i) for of in range(3) for i in range(4) if rng.random() < 0.5]
        table = rng.integers(0, 3, len(pairs))
        zone, area = (np.array(column, np.int64) for column in zip(*pairs))
        of_zone, of_area = zone == np.arange(3)[:, None], area == np.arange(4)[:, None]
        count, room = of_zone @ table, of_area @ table + (rng.random(4) < 0.3)
        if len(pairs) <= 7 and of_zone.any(axis=1).all() and count.max() < 4:
            break
    tables = np.indices((4,) * len(pairs)).reshape(len(pairs), -1).T
    tables = tables[(tables @ of_zone.T == count).all(axis=1) & (tables @ of_area.T <= room).all(axis=1)]
    known = Tables(zone, area, count, room, np.arange(4), table)
    for of in range(3):
        every = np.flatnonzero(zone == of)
        for chosen in product((False, True), repeat=len(every)):
            some = every[np.array(chosen)]
            numbers, now = tables[:, some].sum(axis=1), int(table[some].sum())
            for fewer, may_move in ((True, now), (False, count[of] - now)):
                if not may_move:  # nobody asks
                    continue
                is_stuck = not (numbers < now if fewer else numbers > now).any()
                assert known.stuck(of, some, fewer) == is_stuck
                n_stuck += is_stuck
    assert n_stuck


@for_each_seed(30)
def test_what_is_known_of_all_areas_of_all_zones_is_a_table(seed):
    released, shown, people, rng = drawn(seed, in_zones=True)
    people += 50.0
    pairs = [(number, i) for number in range(len(shown)) for i in areas_of(shown, released.levels, number, True)]
    of, area = (np.array(column, np.int64) for column in zip(*pairs))
    records = rng.integers(0, 4, len(pairs))
    released = replace(released, records=np.bincount(of, records, len(shown)).astype(np.int64))
    zones = zones_of(released, people)
    order = rng.permutation(len(pairs))
    known = of[order], area[order], records[order]
    table = zone_tables._tables_of(zones, released, known).table
    if len(zones.zone):
        expected = dict(zip(pairs, records.tolist()))
        keys = zip(zones.released[zones.zone].tolist(), zones.area.tolist())
        assert table is not None and table.tolist() == [expected[key] for key in keys]


@pytest.mark.parametrize("neighbours", [False, True])
def test_pairs_are_drawn_by_whole_areas_as_many_at_a_time_as_may_be(neighbours, monkeypatch):
    monkeypatch.setattr(zone_flows, "PAIRS_AT_ONCE", 6)
    rng = np.random.default_rng(1)
    for n in (3, 8, 20):
        area = np.sort(rng.integers(0, n, 3 * n))
        tables: Any = SimpleNamespace(room=np.zeros(n), area=area, _order=rng.permutation(n), _rng=rng)
        among = np.flatnonzero(rng.random(len(area)) < 0.8)
        blocks = list(Tables._blocks(tables, among, neighbours))
        assert sorted(np.concatenate(blocks).tolist()) == among.tolist()
        areas = [set(area[block].tolist()) for block in blocks]
        assert sum(map(len, areas)) == len(set(area[among].tolist())) and all(areas)
        if len(among) > 6:
            largest = int(np.bincount(area[among]).max())
            assert all(len(block) < 6 + largest for block in blocks) and len(blocks) >= len(among) // (6 + largest)
