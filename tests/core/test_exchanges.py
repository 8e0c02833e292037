"""Counts that an exchange of people frees: tried one exchange after the other, each held against all that is known."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from vbas.core.disclosure.block import Block, Storeys
from vbas.core.disclosure.count_tables import CountTable
from vbas.core.disclosure.exchanges import exchange_fits, freed_by_exchange, places_of
from vbas.core.plan import SUPPRESSED

from ..each import for_each_seed

K = 3


def block_of(rng: np.random.Generator) -> Block:
    """Four or five areas, at most eight of three classes in each, shown at any levels; totals of area, or of groups;
    the last area may be left out."""
    n = int(rng.integers(4, 6))
    people = rng.integers(0, rng.choice([4, 9]), (n, 3)) * (rng.random((n, 3)) < 0.8)
    level_of = rng.choice([0, 1, 2, SUPPRESSED], (n, 3)).astype(np.int8)
    regions = [np.arange(n), np.arange(n) // 2, np.zeros(n, np.int64)][int(rng.integers(3)) :]
    if rng.random() < 0.3:
        regions = [np.where(np.arange(n) < n - 1, of, -1) for of in regions]
        level_of[-1] = SUPPRESSED
    level_of = np.minimum(level_of, len(regions) - 1)
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


@for_each_seed(40)
def test_an_exchange_fits_where_all_sums_that_it_moves_may_move_as_far(seed):
    rng = np.random.default_rng(seed)
    n, u, q = 4, 3, 30
    families: list[Any] = []
    for n_regions, n_groups in ((4, 3), (2, 2), (2, 3)):
        shape = n_regions + 1, n_groups + 1
        down, up = rng.integers(0, 4, shape), rng.integers(0, 4, shape)
        region, group = rng.integers(0, n_regions + 1, n + 1), rng.integers(0, n_groups + 1, u + 1)
        families.append(SimpleNamespace(region=region, group=group, down=down, up=up))
    families = families[: int(rng.integers(0, 4))]
    people = rng.integers(0, 5, (n, u))
    area, other = rng.integers(0, n, (2, q))
    class_of, company = rng.integers(0, u, (2, q))
    number = rng.integers(1, 4, q)

    def may(own, theirs, one, another, few):
        if people[own, one] < few or people[theirs, another] < few:
            return False
        for family in families:
            here, there = family.region[own], family.region[theirs]
            its, of_others = family.group[one], family.group[another]
            if here != there and its != of_others:
                less = min(family.down[here, its], family.down[there, of_others])
                more = min(family.up[here, of_others], family.up[there, its])
                if min(less, more) < few:
                    return False
        return True

    every = zip(*(of.tolist() for of in (area, other, class_of, company, number)))
    expected = [may(*one) for one in every]
    found = exchange_fits(families, people, area, class_of, other, company, number)
    assert found.tolist() == expected


@for_each_seed(10)
def test_levels_of_coarser_values_count_classes_together(seed):
    """By numbers of their own, of which some are those of classes elsewhere."""
    rng = np.random.default_rng(seed)
    people, regions = rng.integers(0, 5, (4, 3)), [np.array([0, 0, 1, 1]), np.zeros(4, np.int64)]
    level_of = np.where(people > 0, rng.integers(-1, 2, (4, 3)), SUPPRESSED).astype(np.int8)
    classes, of = np.array([1, 2, 4]), np.array([9, 5, 5, 9, 7])
    block = Block(people, level_of, Storeys(regions, [None, of], K, False, bounded=False), [], classes)
    assert [group.tolist() for group in block.group_of] == [[0, 1, 2], [0, 0, 1]]
    assert block.families[1].sums[0, :-1].tolist() == [people[:, :2].sum(), people[:, 2].sum()]
    for level, groups in enumerate(([[0], [1], [2]], [[0, 1], [2]])):
        shown = np.where(level_of == level, people, 0)
        for region, (at, own) in product(range(int(regions[level].max()) + 1), enumerate(groups)):
            assert block.released[level][region, at] == shown[regions[level] == region][:, own].sum()
