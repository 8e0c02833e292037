"""The transportation solver against scipy's assignment of copied facilities, and what its proof promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from vbas.core.errors import Cancelled, InputError
from vbas.core.transport import allocate, loads, lower_bound

from ..exploring import tried


def least_cost(points, facilities, capacity):
    """The optimum, by an assignment in which every facility stands `capacity` times."""
    costs = np.repeat(cdist(points, facilities), capacity, axis=1)
    rows, columns = linear_sum_assignment(costs)
    return costs[rows, columns].sum()


def check_optimal(points, facilities, capacity, found):
    """Equal cost to the oracle, loads within the capacity, and a proof that holds over all arcs."""
    n, size = len(points), len(facilities)
    costs = cdist(points, facilities)
    own = costs[np.arange(n), found.facility_of]
    assert found.facility_of.shape == (n,)
    assert (found.loads == np.bincount(found.facility_of, minlength=size)).all()
    assert found.loads.max() <= capacity
    scale = max(costs.max(), 1.0)
    assert own.sum() == pytest.approx(least_cost(points, facilities, capacity), rel=1e-12, abs=1e-12 * scale)
    assert found.cost == pytest.approx(own.sum(), rel=1e-12)
    # Dual feasibility and complementary slackness, by brute force.
    assert (found.prices >= 0).all()
    assert (found.prices[found.loads < capacity] == 0).all()
    reduced = costs + found.prices - (own + found.prices[found.facility_of])[:, None]
    assert reduced.min() >= -1e-11 * scale
    assert found.gap <= 1e-12


@st.composite
def problems(draw):
    """Up to 200 destinations: random or on a grid (ties, coinciding points), capacity from exactly n to ample."""
    n = draw(st.integers(1, 200))
    size = draw(st.integers(1, min(n, 40)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["random", "grid", "few places", "clusters", "facilities apart"]))
    points: np.ndarray
    facilities: np.ndarray
    if kind == "random":
        points, facilities = rng.random((n, 2)) * 1e6, rng.random((size, 2)) * 1e6
    elif kind == "grid":
        points, facilities = rng.integers(0, 8, (n, 2)) * 10.0, rng.integers(0, 8, (size, 2)) * 10.0
    elif kind == "few places":
        points, facilities = rng.integers(0, 2, (n, 2)) * 1.0, rng.integers(0, 2, (size, 2)) * 1.0
    elif kind == "clusters":
        points = rng.random((5, 2))[rng.integers(0, 5, n)] * 1e6 + rng.normal(0, 1e3, (n, 2))
        facilities = points[rng.choice(n, size, replace=False)]
    else:  # all the people in one corner: chains over many facilities
        points, facilities = rng.random((n, 2)) * 1e3, rng.random((size, 2)) * 1e6
    capacity = -(-n // size) + draw(st.integers(0, 3))
    return points, facilities, capacity


@pytest.mark.slow
@settings(max_examples=tried(60, 150), deadline=None)
@given(problems(), st.sampled_from([2, 12]))
def test_optimal_whatever_the_problem(problem, n_nearest):
    points, facilities, capacity = problem
    # Shorter lists must be widened sooner and give the same.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loads, "NEAREST", n_nearest)
        check_optimal(points, facilities, capacity, allocate(points, facilities, capacity))


@pytest.mark.slow
@settings(max_examples=tried(40, 100), deadline=None)
@given(problems(), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-6, 0.1, 10.0]))
def test_a_warm_start_is_optimal_too(problem, seed, shake):
    points, facilities, capacity = problem
    before = allocate(points, facilities, capacity)
    rng = np.random.default_rng(seed)
    moved = facilities + rng.normal(0, shake * (np.ptp(points) + 1), facilities.shape)
    check_optimal(points, moved, capacity, allocate(points, moved, capacity, start=before))


@pytest.mark.slow
@pytest.mark.parametrize("size", [30, 100])
def test_a_warm_start_saves_chains(size):
    rng = np.random.default_rng(3)
    points, facilities = rng.random((1500, 2)) ** 2, rng.random((size, 2))
    capacity = -(-1500 // size)
    before = allocate(points, facilities, capacity)
    moved = facilities + rng.normal(0, 1e-4, facilities.shape)
    cold, warm = allocate(points, moved, capacity), allocate(points, moved, capacity, start=before)
    assert warm.n_chains < cold.n_chains / 2
    assert warm.cost == pytest.approx(cold.cost, rel=1e-12)


@settings(max_examples=50, deadline=None)
@given(problems())
def test_no_swap_and_no_move_improves(problem):
    points, facilities, capacity = problem
    plan = allocate(points, facilities, capacity)
    costs = cdist(points, facilities)
    tolerance = 1e-11 * max(costs.max(), 1.0)
    own = costs[np.arange(len(points)), plan.facility_of]
    with_room = plan.loads < capacity
    if with_room.any():
        assert (costs[:, with_room] >= own[:, None] - tolerance).all()
    crossed = costs[:, plan.facility_of]  # destination i at the facility of destination k
    assert (crossed + crossed.T >= own[:, None] + own[None, :] - tolerance).all()


@pytest.mark.parametrize(("n", "size"), [(60, 60), (60, 1), (1, 1), (60, 20)])
def test_capacity_exactly_n(n, size):
    rng = np.random.default_rng(n + size)
    points, facilities = rng.random((n, 2)), rng.random((size, 2))
    plan = allocate(points, facilities, n // size)
    check_optimal(points, facilities, n // size, plan)
    assert (plan.loads == n // size).all()


@pytest.mark.parametrize("seed", range(40))
def test_many_ties(seed):
    """Tens of facilities and more than a hundred destinations on 8 x 8 places: after a rise of prices, ties decide."""
    rng = np.random.default_rng(seed)
    points, facilities = rng.integers(0, 8, (160, 2)) * 10.0, rng.integers(0, 8, (38, 2)) * 10.0
    plan = allocate(points, facilities, 5)
    check_optimal(points, facilities, 5, plan)
    check_optimal(points, facilities, 5, allocate(points, facilities, 5, start=plan))


def test_everything_at_one_place():
    plan = allocate(np.zeros((50, 2)), np.zeros((20, 2)), 3)
    assert plan.cost == 0 and plan.gap == 0 and plan.loads.max() <= 3 and plan.loads.sum() == 50


def test_far_from_the_origin_and_many_facilities_at_once():
    """People crowded where there are few facilities: chains pass many of them, over arcs not listed at first."""
    rng = np.random.default_rng(0)
    points = np.vstack([rng.normal(0, 1e3, (150, 2)), rng.random((50, 2)) * 1e6]) + 5e6
    facilities = rng.random((100, 2)) * 1e6 + 5e6
    check_optimal(points, facilities, 2, allocate(points, facilities, 2))


def test_unlimited_is_the_nearest_facility():
    rng = np.random.default_rng(1)
    points, facilities = rng.random((500, 2)), rng.random((40, 2))
    plan = allocate(points, facilities, 500)
    assert (plan.facility_of == cdist(points, facilities).argmin(axis=1)).all()
    assert (plan.prices == 0).all() and plan.n_chains == 0


def test_the_bound_is_never_above_the_optimum():
    rng = np.random.default_rng(2)
    points, facilities = rng.random((90, 2)), rng.random((30, 2))
    optimum = least_cost(points, facilities, 3)
    for scale in (0.0, 0.01, 0.1, 1.0):
        prices = rng.random(30) * scale
        by_hand = (cdist(points, facilities) + prices).min(axis=1).sum() - 3 * prices.sum()
        assert lower_bound(points, facilities, 3, prices) == pytest.approx(by_hand, rel=1e-12)
        assert by_hand <= optimum


def test_same_input_same_output_and_nothing_changed():
    rng = np.random.default_rng(4)
    points, facilities = rng.integers(0, 30, (400, 2)) * 1.0, rng.integers(0, 30, (60, 2)) * 1.0
    given_points, given_facilities = points.copy(), facilities.copy()
    first = allocate(points, facilities, 7)
    prices = first.prices.copy()
    again = allocate(points, facilities, 7)
    assert (first.facility_of == again.facility_of).all() and (first.prices == again.prices).all()
    warm = allocate(points, facilities + 1, 7, start=first)
    warm_again = allocate(points, facilities + 1, 7, start=first)
    assert (warm.facility_of == warm_again.facility_of).all() and (warm.prices == warm_again.prices).all()
    assert (points == given_points).all() and (facilities == given_facilities).all() and (first.prices == prices).all()


@pytest.mark.parametrize(
    ("n", "size", "capacity", "words"),
    [
        (10, 3, 3, "3 facilities of capacity 3 cannot serve 10 destinations: raise the capacity to 4"),
        (10, 3, 0, "at least 1"),
        (10, 3, 3.5, "whole number"),
        (0, 3, 3, "no destinations"),
        (10, 0, 3, "no facilities"),
    ],
)
def test_what_cannot_be_solved_is_refused_in_one_sentence(n, size, capacity, words):
    with pytest.raises(InputError, match=words) as refusal:
        allocate(np.zeros((n, 2)), np.zeros((size, 2)), capacity)
    assert str(refusal.value).count(".") == 1 + str(refusal.value).count("3.5")


def test_missing_coordinates_are_refused():
    points = np.zeros((4, 2))
    points[2, 0] = np.nan
    with pytest.raises(InputError, match="The coordinates of 1 destination are not finite"):
        allocate(points, np.zeros((2, 2)), 2)


def test_a_start_with_other_facilities_is_refused():
    rng = np.random.default_rng(5)
    start = allocate(rng.random((10, 2)), rng.random((5, 2)), 2)
    with pytest.raises(InputError, match="5 facilities, but there are 4"):
        allocate(rng.random((10, 2)), rng.random((4, 2)), 3, start=start)


def test_progress_is_told_and_may_cancel():
    rng = np.random.default_rng(6)
    points, facilities = rng.random((300, 2)), rng.random((60, 2))
    told: list[float] = []
    allocate(points, facilities, 5, progress=told.append)
    assert told == sorted(told) and told[-1] == 1.0

    def cancel(fraction):
        raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        allocate(points, facilities, 5, progress=cancel)
