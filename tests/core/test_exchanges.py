"""Counts that an exchange of people frees: tried one exchange after the other, each held against all that is known."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from vbas.core.disclosure.block import Block, Storeys
from vbas.core.disclosure.count_tables import CountTable
from vbas.core.disclosure.exchanges import Exchanges, freed_beyond, freed_by_exchange, places_of
from vbas.core.plan import SUPPRESSED

K = 3


def block_of(rng: np.random.Generator) -> Block:
    """Four or five areas, at most eight of three classes in each, shown at any levels; totals of area, or of groups."""
    n = int(rng.integers(4, 6))
    people = rng.integers(0, rng.choice([4, 9]), (n, 3)) * (rng.random((n, 3)) < 0.8)
    level_of = rng.choice([0, 1, 2, SUPPRESSED], (n, 3)).astype(np.int8)
    regions = [np.arange(n), np.arange(n) // 2, np.zeros(n, np.int64)][int(rng.integers(2)) :]
    if len(regions) == 2:
        level_of[level_of == 2] = 1
    groups = np.array([0, 0, rng.integers(2)])
    totals = np.zeros((n, int(groups.max()) + 1), np.int64)
    np.add.at(totals.T, groups, people.T)
    names = tuple((str(group),) for group in range(totals.shape[1]))
    table = CountTable("totals", ("q",), np.arange(n), n, groups, totals.shape[1], totals, totals, names)
    storeys = Storeys(regions, [None] * len(regions), K, bool(rng.integers(2)), bounded=False)
    return Block(people, level_of, storeys, [table][: int(rng.integers(2))], np.arange(3))


def fits(block: Block, table: np.ndarray) -> bool:
    """Whether people could be so, (n + 1, u + 1): sums recounted region by region."""
    if (table < 0).any():
        return False
    for family in block.known:
        for region, group in product(range(family.n_regions), range(family.n_groups)):
            inside = np.ix_(family.region[:-1] == region, family.group[:-1] == group)
            if not family.low[region, group] <= table[:-1, :-1][inside].sum() <= family.high[region, group]:
                return False
    return True


def exchanged(block: Block, i: int, j: int, one: int, other: int, number: int) -> np.ndarray:
    """People of an area of one class turned into another's, and the other way round in another area."""
    table = block.people.copy()
    for area, sign in ((i, -1), (j, 1)):
        table[area, one] += sign * number
        table[area, other] -= sign * number
    return table


def frees(block: Block, areas: np.ndarray, i: int, j: int, one: int, other: int) -> bool:
    """Whether an exchange of one area in a count with one outside leaves nobody in it, or puts k there."""
    people = int(block.people[areas, one].sum())
    found = False
    for number in (people, people - K):
        table = exchanged(block, i, j, one, other, number)
        found |= fits(block, table) and table[areas, one].sum() in (0, K)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_a_count_is_freed_where_an_exchange_beyond_its_region_is_possible_and_nowhere_else(seed):
    """Were too much held to be possible, a small count that follows would be published."""
    rng, freed, kept = np.random.default_rng(seed), 0, 0
    for _ in range(15):
        block = block_of(rng)
        exchanges, table = Exchanges(block), [family.group for family in block.tables]
        for places in places_of(block):
            if places.within is None:
                continue
            region = np.arange(block.n) if places.within < 0 else block.storeys.region_of[places.within]
            done = freed_beyond(exchanges, block, places)
            for number in range(len(places)):
                areas, one = places.areas(number), int(places.class_of[number])
                alike = [c for c in range(block.u) if c != one and all(group[c] == group[one] for group in table)]
                possible = any(
                    frees(block, areas, i, j, one, other)
                    for i in areas.tolist()
                    for j in [*np.flatnonzero(region != region[i]).tolist(), block.n]
                    for other in alike
                )
                assert bool(done[number]) == possible, (areas, one, block.people)
                freed, kept = freed + possible, kept + (not possible)
    assert freed and kept


@pytest.mark.parametrize("seed", range(3))
def test_an_exchange_with_any_area_is_found_where_there_is_one(seed):
    """Of the area with most people of a count, with any other, of any class, or with people of whom nobody knows."""
    rng, freed, kept = np.random.default_rng(seed), 0, 0
    for _ in range(10):
        block = block_of(rng)
        for places in places_of(block):
            done = freed_by_exchange(block, places)
            for number in range(len(places)):
                areas, i, one = places.areas(number), int(places.area[number]), int(places.class_of[number])
                possible = any(
                    frees(block, areas, i, j, one, other)
                    for j in [*np.setdiff1d(np.arange(block.n), areas).tolist(), block.n]
                    for other in range(block.u + 1)
                    if other != one
                )
                assert bool(done[number]) == possible, (areas, one, block.people)
                freed, kept = freed + possible, kept + (not possible)
    assert freed and kept
