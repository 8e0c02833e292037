"""Counts that people free who change places, and areas that nobody tells apart: held against programs of their own."""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from vbas.core.disclosure.block import Block, Storeys
from vbas.core.disclosure.count_tables import MANY, CountTable
from vbas.core.disclosure.exchanges import Places, exchange_fits, places_of
from vbas.core.disclosure.following import following
from vbas.core.disclosure.moves import _fitting, _Moves, freed_by_moves
from vbas.core.plan import SUPPRESSED

from ..each import for_each_seed

K = 4


def block_of(rng: np.random.Generator) -> Block:
    """Some areas, shown at any levels, of which some lie in the same regions of all; totals of areas, or of regions."""
    n, u = int(rng.integers(4, 9)), 4
    people = rng.integers(0, rng.choice([3, 8]), (n, u)) * (rng.random((n, u)) < 0.7)
    regions = [np.arange(n), np.arange(n) // 2, np.arange(n) // 4, np.zeros(n, np.int64)][int(rng.integers(4)) :]
    level_of = rng.integers(SUPPRESSED, len(regions), (n, u)).astype(np.int8)
    if rng.random() < 0.2:
        regions = [np.where(np.arange(n) < n - 1, of, -1) for of in regions]
        level_of[-1] = SUPPRESSED
    zone = regions[int(rng.integers(len(regions)))]
    tables = []
    for group in ([0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 1])[: int(rng.integers(4))]:
        totals = np.zeros((int(zone.max()) + 1, max(group) + 1), np.int64)
        for area, class_of in zip(*np.nonzero(people)):
            if zone[area] >= 0:
                totals[zone[area], group[class_of]] += people[area, class_of]
        names = tuple((str(number),) for number in range(totals.shape[1]))
        tables.append(
            CountTable("totals", ("q",), zone, len(totals), np.array(group), totals.shape[1], totals, totals, names)
        )
    storeys = Storeys(regions, [None] * len(regions), K, bool(rng.integers(2)), bounded=False)
    return Block(people, level_of, storeys, tables, np.arange(u))


def may_be_free(block: Block, places: Places, number: int) -> bool:
    """Whether some whole numbers of people fit all that is known, and are nobody in a count, or k and more."""
    n, u = block.n, block.u
    rows, low, high = [], [], []
    for family in block.known:
        for region in range(family.n_regions):
            for group in range(family.n_groups):
                inside = np.outer(family.region[:-1] == region, family.group[:-1] == group).ravel()
                rows.append(inside)
                low.append(family.low[region, group])
                high.append(np.inf if family.high[region, group] >= MANY else family.high[region, group])
    count = np.zeros((n, u))
    count[:, places.classes(number)] = places.inside(number)
    return any(
        milp(
            np.zeros(n * u),
            integrality=np.ones(n * u),
            bounds=Bounds(0, np.inf),
            constraints=[
                LinearConstraint(np.array(rows, float), low, np.array(high, float)),
                LinearConstraint(count.ravel(), *ends),
            ],
            options={"presolve": False},  # with it HiGHS of SciPy 1.10 takes some that have a solution for infeasible
        ).status
        == 0
        for ends in ((0, 0), (K, np.inf))
    )


@for_each_seed(40)
def test_who_is_free_as_people_change_places_is_free(seed):
    """Were more held to be free, a small count that follows would be published."""
    block = block_of(np.random.default_rng(seed))
    asked = list(places_of(block))
    for places, free in zip(asked, freed_by_moves(block, asked)):
        for number in np.flatnonzero(free).tolist():
            assert may_be_free(block, places, number), (places.areas(number), places.class_of[number], block.people)


def test_several_who_change_places_fit_where_the_people_do_after_all_of_them():
    fit = kept_out = 0
    for seed in range(60):
        rng = np.random.default_rng(3000 + seed)
        block = block_of(rng)
        m, (n, u) = 60, block.people[:-1, :-1].shape
        area, before, after = rng.integers(0, n, m), rng.integers(0, u, m), rng.integers(0, u, m)
        other = np.where(rng.random(m) < 0.3, n, rng.integers(0, n, m))
        fits = (before != after) & (area != other)
        fits &= exchange_fits(block.known, block.people, area, before, other, after, np.ones(m, np.int64))
        own = np.flatnonzero(fits)[: fits.sum() // 3 * 3]
        number = np.arange(len(own)) // 3 * 2  # three each, of every second count
        moves = _Moves(number, area[own], before[own], after[own], other[own], fits[own])
        expected = []
        for of in np.unique(number).tolist():
            table = block.people.copy()
            for at in own[number == of].tolist():
                table[area[at], before[at]] -= 1
                table[area[at], after[at]] += 1
                table[other[at], after[at]] -= 1
                table[other[at], before[at]] += 1
            if fit_all(block, table[:-1, :-1]):
                expected.append(of)
        assert _fitting(block, moves).tolist() == expected
        fit, kept_out = fit + len(expected), kept_out + len(np.unique(number)) - len(expected)
    assert fit > 20 and kept_out > 20


def fit_all(block: Block, people: np.ndarray) -> bool:
    """Whether people, (n, u), could be so."""
    sums = [
        (people[np.ix_(family.region[:-1] == region, family.group[:-1] == group)].sum(), family, (region, group))
        for family in block.known
        for region in range(family.n_regions)
        for group in range(family.n_groups)
    ]
    return bool((people >= 0).all()) and all(family.low[at] <= total <= family.high[at] for total, family, at in sums)


def test_of_those_that_are_free_most_are_so_as_people_change_places():
    n_free = n_moved = 0
    for seed in range(20):
        block = block_of(np.random.default_rng(seed))
        asked = list(places_of(block))
        for places, free in zip(asked, freed_by_moves(block, asked)):
            n_moved += int(free.sum())
            n_free += sum(may_be_free(block, places, number) for number in range(len(places)))
    assert n_free > 100 and n_moved > 0.6 * n_free


@for_each_seed(40)
def test_what_follows_is_what_no_people_free(seed):
    """Whether areas that nobody tells apart count as one, or not."""
    block = block_of(np.random.default_rng(1000 + seed))
    follow = {count.key for count in following(block)}
    for places in places_of(block):
        for number in range(len(places)):
            key = places.inside(number).tobytes(), places.classes(number).tobytes()
            assert (key in follow) == (not may_be_free(block, places, number)), (places.areas(number), block.people)


@for_each_seed(20)
def test_what_moves_is_known_of_areas_that_count_as_one(seed):
    rng = np.random.default_rng(2000 + seed)
    block = block_of(rng)
    joined, kind = block.joined().block, block.joined().kind
    assert (joined.people[:-1, :-1].sum(axis=0) == block.people[:-1, :-1].sum(axis=0)).all()
    for level, released in enumerate(block.released):
        for region, group in zip(*np.nonzero(released)):
            block.moved_up(level, int(region), int(group))
            for family, other in zip(block.known, joined.known):
                assert np.array_equal(family.region[:-1], other.region[kind])
                for name in ("low", "high", "down", "up"):
                    assert np.array_equal(getattr(family, name), getattr(other, name))


def test_people_far_from_each_other_free_a_count_together():
    """Two of each age and sex, far apart: the women of 1 and the men of 2 are nobody where all others are four."""
    n = 6_000
    people = np.zeros((n, 4), np.int64)
    people[[0, 2_000, 4_000, n - 1], [0, 1, 2, 3]] = 2
    nowhere, whole = np.full((n, 4), SUPPRESSED, np.int8), np.zeros(n, np.int64)
    four, names = np.array([[4, 4]], np.int64), (("1",), ("2",))
    tables = [
        CountTable("totals", ("q",), whole, 1, np.array(group, np.int64), 2, four, four, names)
        for group in ([0, 0, 1, 1], [0, 1, 0, 1])
    ]
    block = Block(people, nowhere, Storeys([whole], [None], K, zones=False, bounded=False), tables, np.arange(4))
    assert not following(block)
