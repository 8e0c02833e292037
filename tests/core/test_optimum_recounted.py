"""The best level of each cell of small cases, by going through all that there are."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import ceil

import numpy as np
import pytest

from vbas.core.crosswalk import number_compactly
from vbas.core.nesting import optimum, series_optimum
from vbas.core.nesting.optimum import NOT_SHOWN, ProfileCells, best_levels, patterns_for
from vbas.core.nesting.series_optimum import MOST_STATES, _most_promising, _States, _with_part
from vbas.core.nesting.tree import tree_of

from ..each import for_each_seed

MANY = 1_000


def drawn_case(seed, n_levels):
    """Cells of two classes in nested regions, of which the coarsest are one or two, and what a record loses in each."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    region_of = [np.arange(n)]
    for level in range(n_levels - 1):
        least = 1 if level < n_levels - 2 or rng.random() < 0.7 else 2
        joined = rng.integers(0, max(least, region_of[-1].max() // 2 + 1), region_of[-1].max() + 1)
        region_of.append(number_compactly(joined[region_of[-1]])[0].region_of)
    if rng.random() < 0.2:  # an area in no region
        region_of = [np.where(np.arange(n) == n - 1, -1, of) for of in region_of]
    n_regions = [int(of.max()) + 1 for of in region_of]
    losses = [rng.integers(0, 4, n_of) + 3.0 * level * (rng.random() < 0.8) for level, n_of in enumerate(n_regions)]
    k = int(rng.integers(2, 6))
    records = rng.integers(0, int(rng.integers(2, k + 3)), (2, n))
    class_of, area = np.nonzero(records * (region_of[0] >= 0))
    order = rng.permutation(len(area))  # they need not come in order
    cells = ProfileCells(area[order], class_of[order], records[class_of, area][order])
    return region_of, losses, k, cells, rng.permutation(len(area))


def shown_counts(region_of, area, records, levels):
    """How many records each region shows, by level and region."""
    counts: dict[tuple[int, int], int] = {}
    for of, number, level in zip(area, records, levels):
        key = level, int(region_of[level][of])
        counts[key] = counts.get(key, 0) + number
    return counts


def least_loss(region_of, losses, k, area, records):
    """Of all levels of some cells at which every region shows nobody, or k and more, the least loss."""
    best = np.inf
    for levels in product(range(len(region_of)), repeat=len(area)):
        if all(number >= k for number in shown_counts(region_of, area, records, levels).values()):
            best = min(best, sum(n * losses[lev][region_of[lev][of]] for of, n, lev in zip(area, records, levels)))
    return best


def least_loss_of_whole_regions(region_of, losses, k, area, records):
    """The same where each region shows all that comes to it, or nothing."""
    nodes = sorted({(level, int(of[at])) for level, of in enumerate(region_of) for at in area})
    best = np.inf
    for shows in product((False, True), repeat=len(nodes)):
        chosen = {node for node, here in zip(nodes, shows) if here}
        levels = [next((lev for lev, of in enumerate(region_of) if (lev, int(of[at])) in chosen), -1) for at in area]
        if -1 in levels:
            continue
        if all(number >= k for number in shown_counts(region_of, area, records, levels).values()):
            best = min(best, sum(n * losses[lev][region_of[lev][of]] for of, n, lev in zip(area, records, levels)))
    return best


def assert_best(region_of, losses, k, cells, levels, least):
    for class_of in range(2):
        for top in range(int(region_of[-1].max()) + 1):
            here = np.flatnonzero((cells.class_of == class_of) & (region_of[-1][cells.area] == top))
            area, records = cells.area[here].tolist(), cells.records[here].tolist()
            if sum(records) < k:
                assert (levels[here] == NOT_SHOWN).all()
                continue
            found = levels[here].tolist()
            assert NOT_SHOWN not in found
            assert all(number >= k for number in shown_counts(region_of, area, records, found).values())
            loss = sum(n * losses[lev][region_of[lev][of]] for of, n, lev in zip(area, records, found))
            assert loss == least(region_of, losses, k, area, records)


@for_each_seed(60)
def test_nothing_loses_less_than_the_best_levels(seed):
    region_of, losses, k, cells, turn = drawn_case(seed, 2 + seed % 2)
    tree, patterns = tree_of(region_of, losses), patterns_for(k)
    for given in (None, turn):
        for _ in range(2):  # what was learnt is of use the second time
            levels = best_levels(cells, tree, k, given, patterns)
            assert_best(region_of, losses, k, cells, levels, least_loss)


def test_what_a_region_would_lose_that_is_passed_by_does_not_count():
    """Three records could stay in their own area, and lose twice as much there as in the coarsest region."""
    region_of = [np.arange(3), np.array([0, 0, 1]), np.zeros(3, np.int64)]
    losses = [np.array([2.0, 9.0, 9.0]), np.full(2, 100.0), np.ones(1)]
    cells = ProfileCells(np.arange(3), np.zeros(3, np.int64), np.array([3, 1, 1]))
    assert best_levels(cells, tree_of(region_of, losses), 2).tolist() == [2, 2, 2]


def test_nothing_loses_less_where_regions_show_all_or_nothing(monkeypatch):
    monkeypatch.setattr(optimum, "LARGEST_K_IN_PARTS", 1)
    for seed in range(60):
        region_of, losses, k, cells, _ = drawn_case(seed, 2 + seed % 2)
        levels = best_levels(cells, tree_of(region_of, losses), k)
        assert_best(region_of, losses, k, cells, levels, least_loss_of_whole_regions)


@for_each_seed(10)
def test_the_possibilities_of_a_series_that_are_kept(seed):
    """Of those that pass the same the cheapest; of too many the one that passes all, and then in turn the cheapest of
    each weakest period and of each of ten parts of what is passed."""
    rng = np.random.default_rng(seed)
    number, n_periods = rng.integers(5, 90, 2), int(rng.integers(1, 4))
    n = int(number.sum())
    row, cost, records = np.repeat(np.arange(2), number), rng.permutation(n) / 2, rng.permutation(n)
    passed = rng.integers(0, 7, (n, n_periods)) * (rng.random((n, n_periods)) < 0.8)
    none = np.full(n, -1)
    kept = _most_promising(_States(row, cost, passed.astype(np.int16), records, none, none), None)
    expected = []
    for one in range(2):
        own = sorted(np.flatnonzero(row == one).tolist(), key=lambda state: cost[state])
        cheapest = list({tuple(passed[state].tolist()): state for state in reversed(own)}.values())
        cheapest.sort(key=lambda state: cost[state])
        mass = {state: int(passed[state].sum()) for state in cheapest}
        most, all_passed = max(mass.values()), max(cheapest, key=lambda state: records[state])
        turn: dict[int, int] = {}
        seen: Counter[tuple[str, int]] = Counter()
        for state in cheapest:
            weakest = min((of_period for of_period in passed[state].tolist() if of_period), default=MANY)
            kinds = ("weakest", weakest), ("part", ceil(Fraction(10 * mass[state], max(most, 1))))
            turn[state] = -1 if state == all_passed else min(seen[kind] for kind in kinds)
            seen.update(kinds)
        expected += sorted(cheapest, key=lambda state: (turn[state], cost[state]))[:MOST_STATES]
    assert kept.tolist() == sorted(expected)


def drawn_states(rng, row, n_periods, k):
    """Possibilities of these rows, none of which cost the same."""
    n, none = len(row), np.full(len(row), -1)
    passed = rng.integers(0, k + 1, (n, n_periods)).astype(np.int16)
    return _States(row, rng.permutation(n) + rng.random(n), passed, rng.integers(0, 9, n).astype(float), none, none)


@pytest.mark.parametrize("at_once", [1, 8, 1 << 22])
def test_a_part_more_joins_each_possibility_of_a_row_with_each_of_the_part(at_once, monkeypatch):
    """Of those that pass the same the cheapest is left; rows without a part stay as they were."""
    monkeypatch.setattr(series_optimum, "PAIRS_AT_ONCE", at_once)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        k, n_periods, n_rows, n_parts = int(rng.integers(2, 5)), int(rng.integers(1, 3)), 4, 5
        states = drawn_states(rng, np.repeat(np.arange(n_rows), rng.integers(1, 4, n_rows)), n_periods, k)
        of_parts = drawn_states(rng, np.repeat(np.arange(n_parts), rng.integers(1, 4, n_parts)), n_periods, k)
        part = np.where(rng.random(n_rows) < 0.7, rng.permutation(n_parts)[:n_rows], -1)
        starts = np.searchsorted(of_parts.row, np.arange(n_parts + 1))
        expected: set[tuple[object, ...]] = set()
        for row in range(n_rows):
            best: dict[tuple[int, ...], tuple[object, ...]] = {}
            for before in np.flatnonzero(states.row == row).tolist():
                for added in np.flatnonzero(of_parts.row == part[row]).tolist() if part[row] >= 0 else [-1]:
                    passed, cost, records = states.passed[before], states.cost[before], states.records[before]
                    if added >= 0:
                        passed = np.minimum(passed + of_parts.passed[added], k)
                        cost, records = cost + of_parts.cost[added], records + of_parts.records[added]
                    key = tuple(passed.tolist()) if added >= 0 else (-1, before)
                    one = (float(cost), row, before, added, tuple(passed.tolist()), float(records))
                    best[key] = min(best.get(key, one), one)
            expected |= set(best.values())
        found = _with_part(states, of_parts, part, starts, k, None)
        columns = found.cost, found.row, found.before, found.part, map(tuple, found.passed.tolist()), found.records
        listed = [(float(a), int(b), int(c), int(d), e, float(f)) for a, b, c, d, e, f in zip(*columns)]
        assert set(listed) == expected and len(listed) == len(expected)
        assert (np.diff(found.row) >= 0).all()
