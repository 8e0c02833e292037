"""Alternating location-allocation and transportation-location: limits, ends, notes, each step checked by hand."""

from __future__ import annotations

import re
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from vbas.core.aggregation import APPROACHES, AggregationOptions
from vbas.core.approach import choosing_sites, using_setting
from vbas.core.areas import make_areas
from vbas.core.configuration import RECOMMENDED
from vbas.core.errors import Cancelled, InputError
from vbas.core.transport import allocate
from vbas.core.transport.facilities import alternate_location_allocation, equal_groups, facility_capacity, recentred
from vbas.core.transport.single_moves import SingleMoves, settle

from .strategies import regions as some_regions

NAMES = sorted(using_setting(APPROACHES, "capacity_factor"))
FACTORS = [1.0, 1.2, 2.0, 5.0, 0.0]


def clustered(n, seed=0):
    """Areas of a country: a few towns, and some country between."""
    rng = np.random.default_rng(seed)
    towns = rng.random((6, 2)) * 1e6
    points = np.vstack([towns[rng.integers(0, 6, n - n // 4)], rng.random((n // 4, 2)) * 1e6])
    return make_areas([f"46{i:06d}" for i in range(n)], points + rng.normal(0, 2e4, (n, 2)))


def total_distance(areas, result):
    return np.hypot(*(areas.points - result.sites[result.crosswalk.region_of]).T).sum()


def loads(result):
    return np.bincount(result.crosswalk.region_of)


def test_both_are_offered_and_the_recommended_combinations_with_them():
    assert NAMES == ["alternating location-allocation", "transportation-location"]
    assert set(NAMES) < set(choosing_sites(APPROACHES))
    assert {"all-rounder by transport", "compact by transport"} <= set(RECOMMENDED)


@pytest.mark.parametrize(
    ("n", "size", "factor", "limit"),
    [
        (10, 3, 1.0, 4),
        (25, 5, 1.2, 6),  # 1.2 x 5 is 6.000... in the mind, 6.0 or more in floating point
        (17, 4, 1.2, 6),  # 1.2 x 5
        (15, 5, 1.1, 4),  # 3.3 rounds up
        (500, 5, 1.1, 110),  # 110.00000000000001 in floating point
        (10, 3, 2.0, 8),
        (10, 3, 5.0, 10),  # never more than there are
        (10, 3, 0.0, 10),
        (10, 10, 1.0, 1),
        (10, 1, 1.0, 10),
    ],
)
def test_the_capacity_rounds_up(n, size, factor, limit):
    assert facility_capacity(n, size, factor) == limit


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("factor", [0.99, -1.0, 0.5, float("nan"), float("inf")])
def test_other_factors_are_refused_in_one_sentence(name, factor):
    with pytest.raises(InputError, match=r"^CAPACITY_FACTOR is \S+, but must be at least 1[^.]*\.$"):
        APPROACHES[name](clustered(20), None, 4, AggregationOptions(capacity_factor=factor))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(some_regions(), st.data())
def test_every_region_keeps_its_limit(areas, data):
    n_sites = data.draw(st.integers(1, len(areas)))
    options = AggregationOptions(
        capacity_factor=data.draw(st.sampled_from([*FACTORS, 1.37])),
    )
    for name in NAMES:
        result = APPROACHES[name](areas, None, n_sites, options)
        assert loads(result).max() <= facility_capacity(len(areas), n_sites, options.capacity_factor)
        assert loads(result).min() >= 1
        assert len(result.sites) == result.crosswalk.n_regions <= n_sites
        assert (result.crosswalk.region_of >= 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_notes_tell_the_rounds_the_gap_the_loads_and_the_end(name):
    areas = clustered(300)
    result = APPROACHES[name](areas, None, 40, AggregationOptions(capacity_factor=1.2))
    text = " ".join(result.notes)
    assert re.search(r"ended after \d+ (allocations|moves out of overfull regions): \w+", text)
    told = re.search(r"relative gap of ([\d.]+)(?: × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?(?:\.| at most\.)", text)
    assert told
    digits, power = told.groups()
    gap = float(f"{digits}e{(power or '0').translate(str.maketrans('⁻⁰¹²³⁴⁵⁶⁷⁸⁹', '-0123456789'))}")
    assert 0 <= gap <= 1e-12
    assert f"The largest region has {loads(result).max()} areas, at most 10 were allowed." in result.notes
    unlimited = APPROACHES[name](areas, None, 40, AggregationOptions())
    assert f"The largest region has {loads(unlimited).max()} areas, without a limit." in unlimited.notes


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("factor", [1.0, 1.2, 0.0])
def test_same_input_same_output(name, factor):
    options = AggregationOptions(capacity_factor=factor)
    first, again = (APPROACHES[name](clustered(200), None, 30, options) for _ in range(2))
    assert (first.crosswalk.region_of == again.crosswalk.region_of).all()
    assert (first.sites == again.sites).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_looser_limit_is_more_compact_and_the_two_meet(name):
    areas = clustered(800, seed=3)
    by_factor = [total_distance(areas, APPROACHES[name](areas, None, 100, AggregationOptions(f))) for f in FACTORS]
    assert by_factor[0] > by_factor[1] > by_factor[2] > 0.99 * by_factor[3]
    other = APPROACHES[next(n for n in NAMES if n != name)](areas, None, 100, AggregationOptions(5.0))
    assert by_factor[3] == pytest.approx(total_distance(areas, other), rel=0.03)


@pytest.mark.slow
def test_tight_limits_cost_transportation_location_more():
    areas = clustered(800, seed=3)
    alternating, single = (
        total_distance(areas, APPROACHES[n](areas, None, 100, AggregationOptions(1.0))) for n in NAMES
    )
    assert alternating < 0.97 * single


@pytest.mark.parametrize("factor", [1.0, 1.2])
def test_the_allocation_of_the_alternating_result_is_optimal(factor):
    areas = clustered(400, seed=5)
    result = APPROACHES["alternating location-allocation"](areas, None, 60, AggregationOptions(factor))
    best = allocate(areas.points, result.sites, facility_capacity(400, 60, factor))
    assert total_distance(areas, result) == pytest.approx(best.cost, rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_it_starts_from_the_sites_that_are_given(name):
    """Without a limit both are a plain search from there: nearest site, then the middle, as long as that helps."""
    areas = clustered(150, seed=2)
    for seed in range(4):
        own = np.random.default_rng(seed).random((12, 2)) * 1e6
        options = AggregationOptions(start_sites=tuple(map(tuple, own.tolist())))
        result, sites, least = APPROACHES[name](areas, None, 12, options), own, np.inf
        while True:
            apart = cdist(areas.points, sites)
            nearest = apart.argmin(axis=1)
            if apart.min(axis=1).sum() >= least * (1 - 1e-12):
                break
            least = apart.min(axis=1).sum()
            sites = np.array(
                [areas.points[nearest == i].mean(axis=0) if (nearest == i).any() else sites[i] for i in range(12)]
            )
        assert total_distance(areas, result) == pytest.approx(least)
        with pytest.raises(InputError, match="SITES has 12 points, but the number of sites is 11"):
            APPROACHES[name](areas, None, 11, options)


@pytest.mark.parametrize("name", NAMES)
def test_what_does_not_fit_is_refused(name):
    areas = clustered(20)
    for n_sites in (0, 21):
        with pytest.raises(
            InputError, match=f"number of sites is {n_sites}, but must be between 1 and the number of areas, 20"
        ):
            APPROACHES[name](areas, None, n_sites, AggregationOptions())


def test_the_loop_ends_with_the_best_seen(monkeypatch):
    """A move of the sites that makes the sum of the distances worse is taken back."""
    areas = clustered(200)
    start = alternate_location_allocation(areas.points, 20)
    worse = {"moves": 0}

    def away(points, facility_of, facilities):
        worse["moves"] += 1
        return recentred(points, facility_of, facilities) + (1e5 if worse["moves"] == 3 else 0.0)

    module = import_module("vbas.core.aggregation.alternating_location_allocation")
    monkeypatch.setattr(module, "recentred", away)
    result = APPROACHES["alternating location-allocation"](areas, None, 20, AggregationOptions(1.0))
    assert worse["moves"] == 3
    assert "ended after 4 allocations: the next one was no better" in result.notes[0]
    sites = start
    for _ in range(2):
        sites = recentred(areas.points, allocate(areas.points, sites, 10).facility_of, sites)
    assert total_distance(areas, result) == pytest.approx(allocate(areas.points, sites, 10).cost, rel=1e-9)


def test_single_moves_end_with_the_best_seen(monkeypatch):
    areas = clustered(100)
    calls = {"n": 0}

    def away(points, facility_of, facilities):
        calls["n"] += 1
        centres = recentred(points, facility_of, facilities)
        return centres + (1e6 if calls["n"] == 2 else 0.0)

    monkeypatch.setattr("vbas.core.transport.single_moves.recentred", away)
    moves = SingleMoves(areas.points, areas.points[:10], 100)
    moves.recentre(np.ones(10, bool))
    changed = moves.move_nearer()
    before = moves.snapshot()
    assert changed.any() and settle(moves, changed) is False
    assert moves.cost == pytest.approx(before.cost, rel=1e-12)
    assert (moves.facility_of == before.facility_of).all() and (moves.load == np.bincount(before.facility_of)).all()


@settings(max_examples=60, deadline=None)
@given(some_regions(least=5), st.data())
def test_single_moves_know_the_nearest_facility_with_room(areas, data):
    """After any moves: the nearest with room is the one a search over all facilities finds; none is nearer at rest."""
    size = data.draw(st.integers(2, min(len(areas), 12)))
    capacity = -(-len(areas) // size)
    moves = SingleMoves(areas.points, areas.points[:size] + 0.25, capacity)
    settle(moves, np.ones(size, bool))
    while True:
        costs = cdist(areas.points, moves.facilities)
        assert np.allclose(moves.distance, costs[np.arange(len(areas)), moves.facility_of])
        open_ = np.flatnonzero(moves.load < capacity)
        if len(open_):
            assert np.allclose(moves.room_distance, costs[:, open_].min(axis=1))
            assert (moves.load[moves.room_at] < capacity).all()
            if moves.excess:  # at the very end the best seen may not be at rest
                assert (costs[:, open_].min(axis=1) >= moves.distance - 1e-6).all()
        if not moves.excess:
            break
        overfull = np.flatnonzero((moves.load > capacity)[moves.facility_of])
        cheapest = (costs[:, open_].min(axis=1) - moves.distance)[overfull].min()
        cost_before, excess_before = moves.cost, moves.excess
        changed = moves.move_cheapest()
        assert moves.excess == excess_before - 1
        assert moves.cost - cost_before == pytest.approx(cheapest, abs=1e-6)
        settle(moves, changed)


@pytest.mark.parametrize(("n", "size"), [(100, 7), (100, 100), (100, 1), (64, 13)])
def test_the_seeding_starts_from_equal_groups_and_ends_at_rest(n, size):
    points = clustered(n).points
    sizes = np.bincount(equal_groups(points, size), minlength=size)
    assert sizes.max() - sizes.min() <= 1
    facilities = alternate_location_allocation(points, size)
    nearest = cdist(points, facilities).argmin(axis=1)
    assert np.allclose(recentred(points, nearest, facilities), facilities)


def test_the_seeding_bears_coinciding_points():
    points = np.repeat([[0.0, 0.0], [5.0, 5.0]], 10, axis=0)
    facilities = alternate_location_allocation(points, 6)
    assert facilities.shape == (6, 2) and np.isfinite(facilities).all()


@pytest.mark.parametrize("name", NAMES)
def test_progress_rises_and_may_cancel(name):
    areas = clustered(300)
    told: list[float] = []
    APPROACHES[name](areas, None, 40, AggregationOptions(1.0), told.append)
    assert told == sorted(told) and told[0] >= 0 and told[-1] == 1.0

    def cancel(fraction):
        raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        APPROACHES[name](areas, None, 40, AggregationOptions(1.0), cancel)
