"""Regions that are joined until they hold, region by region in plain loops; and what holds exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vbas.core.adjacency import adjacency_of_pairs
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError
from vbas.core.levels import own_regions
from vbas.core.nesting.holding import Counted, Holding, counted_by, held_percent, joined_until_held
from vbas.core.nesting.making import LevelOptions, build_levels, joined_by, regions_as_areas

from .nested_cases import profile_of

N = 9


def town(seed: int, neighbours: int | None):
    """Areas of so many people, and their records by class; of some, pairs of neighbours with the length of borders.

    neighbours : the most pairs; None for areas of which nobody looked who is beside whom
    """
    rng = np.random.default_rng(seed)
    areas = make_areas([f"a{i}" for i in range(N)], rng.random((N, 2)) * 1000, rng.integers(1, 50, N).astype(float))
    if neighbours is not None:
        drawn = rng.integers(0, N - 1, (neighbours, 2)).tolist()
        pairs = sorted({tuple(sorted(pair)) for pair in drawn if pair[0] != pair[1]})
        first, second = np.array(pairs, np.int64).reshape(-1, 2).T
        areas = replace(areas, neighbours=adjacency_of_pairs(first, second, rng.random(len(first)), N))
    return areas, profile_of(rng.poisson(rng.choice([1.0, 5.0], (N, 1)), (N, 3)))


def held(members: list[int], counts: np.ndarray, least: int) -> float:
    of_class = counts[members].sum(axis=0)
    return 100.0 * of_class[of_class >= least].sum() / of_class.sum() if of_class.sum() else 100.0


def joined_by_hand(areas, counts, least, percent):
    """Each that does not hold with the nearest, a neighbour where it has any; the shortest first, each once a round."""
    regions = [[i] for i in range(len(areas))]
    pairs = set() if areas.neighbours is None else set(zip(*(ends.tolist() for ends in areas.neighbours.pairs())))
    while True:
        centres = [np.average(areas.points[own], axis=0, weights=areas.population[own]) for own in regions]
        wanted = []
        for number, own in enumerate(regions):
            if held(own, counts, least) >= percent:
                continue
            others = [i for i in range(len(regions)) if i != number]
            beside = [i for i in others if any((a, b) in pairs or (b, a) in pairs for a in own for b in regions[i])]
            far = {i: float(np.hypot(*(centres[i] - centres[number]))) for i in beside or others}
            nearest = min(far, key=lambda i: far[i])
            wanted.append((far[nearest], number, nearest))
        if not wanted:
            return sorted(sorted(own) for own in regions)
        if len(regions) == 1:
            return None
        taken: set[int] = set()
        for _, number, nearest in sorted(wanted):
            if not taken & {number, nearest}:
                taken |= {number, nearest}
                first, last = sorted((number, nearest))
                regions[first], regions[last] = regions[first] + regions[last], []
        regions = [own for own in regions if own]


@pytest.mark.parametrize("neighbours", [None, 0, 7])
@pytest.mark.parametrize("percent", [40, 75, 95])
def test_regions_are_joined_as_by_hand(percent, neighbours):
    joined = 0
    for seed in range(12):
        areas, profile = town(seed, neighbours)
        counts = profile.counts.toarray()
        expected = joined_by_hand(areas, counts, 4, percent)
        fractions: list[float] = []
        arguments = (areas, [counted_by(profile)], own_regions(N), Holding(4, 1.0, percent), fractions.append)
        if expected is None:
            with pytest.raises(InputError, match="HELD_PERCENT"):
                joined_until_held(*arguments)
            continue
        found = joined_until_held(*arguments)
        assert sorted(np.flatnonzero(found.region_of == one).tolist() for one in range(found.n_regions)) == expected
        assert fractions == sorted(fractions) and all(0 <= fraction <= 1 for fraction in fractions)
        assert bool(fractions) == (found.n_regions < N) and (not fractions or fractions[0] == 0)
        joined += found.n_regions < N
    assert joined > 3


def pair_of(first: list[int], second: list[int]):
    areas = make_areas(["a", "b"], [(0.0, 0.0), (10.0, 0.0)], [10.0, 10.0])
    return areas, [counted_by(profile_of(np.array([first, second])))]


@pytest.mark.parametrize(("percent", "n_regions"), [(59.9, 2), (60.0, 2), (60.1, 1)])
def test_a_region_holds_with_exactly_the_share_that_is_asked_for(percent, n_regions):
    areas, tables = pair_of([6, 4], [6, 4])
    assert held_percent(tables, own_regions(2), 5).tolist() == [60.0, 60.0]
    assert joined_until_held(areas, tables, own_regions(2), Holding(5, 1.0, percent)).n_regions == n_regions


@pytest.mark.parametrize(
    ("k", "reserve", "least"), [(5, 1.0, 5), (5, 1.2, 6), (4, 1.25, 5), (4, 1.26, 6), (3, 1.5, 5), (10, 1.1, 11)]
)
def test_a_class_needs_k_times_the_reserve_and_no_more(k, reserve, least):
    assert Holding(k, reserve).least == least
    areas, tables = pair_of([least], [least - 1])
    assert held_percent(tables, own_regions(2), least).tolist() == [100.0, 0.0]
    assert joined_until_held(areas, tables, own_regions(2), Holding(k, reserve, 1.0)).n_regions == 1
    assert joined_until_held(areas, tables, own_regions(2), Holding(k, reserve, 0.0)).n_regions == 2


def test_nobody_holds_and_the_worst_table_and_period_counts():
    profile = profile_of(np.array([[5, 0, 2, 2], [0, 0, 0, 0]]))
    by_period = Counted(profile, np.array([0, 0, 1, 1]))
    assert held_percent([by_period], own_regions(2), 5).tolist() == [0.0, 100.0]
    assert held_percent([Counted(profile, np.array([0, 0, 1, 1]))], own_regions(2), 2).tolist() == [100.0, 100.0]
    other = counted_by(profile_of(np.array([[9, 1], [0, 0]])))
    assert held_percent([by_period, other], own_regions(2), 2).tolist() == [90.0, 100.0]
    assert held_percent([], own_regions(2), 2).tolist() == [100.0, 100.0]


@pytest.mark.parametrize("seed", range(4))
def test_regions_as_areas_are_recounted(seed):
    areas, _ = town(seed, 7)
    region_of = np.random.default_rng(seed).integers(-1, 3, N)
    region_of[:3] = [0, 1, 2]
    crosswalk = Crosswalk(region_of, 3)
    regions = regions_as_areas(areas, crosswalk)
    borders: dict[tuple[int, int], float] = {}
    own, beside = areas.neighbours, regions.neighbours
    assert own is not None and beside is not None
    for first, second, border in zip(own.owners.tolist(), own.others.tolist(), own.borders.tolist()):
        pair = int(region_of[first]), int(region_of[second])
        if first < second and min(pair) >= 0 and pair[0] != pair[1]:
            key = min(pair), max(pair)
            borders[key] = borders.get(key, 0.0) + border
    found = {
        (a, b): border
        for a, b, border in zip(beside.owners.tolist(), beside.others.tolist(), beside.borders.tolist())
        if a < b
    }
    assert found == pytest.approx(borders)
    for number in range(3):
        members = np.flatnonzero(region_of == number)
        assert regions.population[number] == areas.population[members].sum()
        centre = np.average(areas.points[members], axis=0, weights=areas.population[members])
        assert regions.points[number] == pytest.approx(centre)
    both = joined_by(crosswalk, Crosswalk(np.array([0, 1, 0]), 2))
    assert both.region_of.tolist() == [-1 if r < 0 else (0, 1, 0)[r] for r in region_of.tolist()]


@pytest.mark.parametrize(
    ("coarsest", "ratio", "numbers"),
    [
        (1, 2.0, [9, 4, 2, 1]),
        (1, 3.0, [9, 3, 1]),
        (3, 2.0, [9, 4, 3]),
        (9, 2.0, [9]),
        (8, 1.2, [9, 8]),
        (1, 9.0, [9, 1]),
    ],
)
def test_each_level_has_the_number_of_regions_that_the_ratio_asks_for(coarsest, ratio, numbers):
    areas = make_areas([f"a{i}" for i in range(N)], [(100.0 * i, 0.0) for i in range(N)], np.ones(N))
    options = LevelOptions(coarsest, ratio, aggregation="basic Voronoi")
    levels = build_levels(areas, profile_of(np.ones((N, 1), np.int64)), options=options)
    assert [crosswalk.n_regions for crosswalk in levels.crosswalks] == numbers
