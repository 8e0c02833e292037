"""The transportation problem with whole destinations, solved to optimality, with the proof as part of the result."""

from __future__ import annotations

import numpy as np

from ..arrays import to_list
from ..dataclass import dataclass
from ..errors import InputError, VbasError
from ..language import plural, tr
from ..progress import Progress, silent
from .chains import Refill, Relief
from .loads import Arcs, Loads

GAP_ALARM = 1e-9  # far above rounding: an error in the code
REFILL_LIMIT = 8
ROUND_WORTH = 0.03  # share of the excess that a round of raising prices must remove to be worth its time
ROUND_LIMIT = 100
WARM_WORTH = 2  # bringing a destination back is that many times as fast as moving one out


@dataclass(frozen=True, eq=False)
class Allocation:
    """Which facility serves which destination, and how far from the optimum that is at most.

    facility_of : (n,) int64; loads : (S,) int64, destinations of each facility; capacity : the limit they keep;
    prices : (S,) float, dual prices of the capacities, not negative; cost : sum of the distances; gap : (cost - bound)
    / cost, where the bound, computed from the prices over ALL n x S arcs, is one that no allocation can undercut;
    n_chains : chains of moves that were needed.
    """

    facility_of: np.ndarray
    loads: np.ndarray
    capacity: int
    prices: np.ndarray
    cost: float
    gap: float
    n_chains: int


def allocate(
    points: np.ndarray,
    facilities: np.ndarray,
    capacity: int,
    start: Allocation | None = None,
    progress: Progress = silent,
) -> Allocation:
    """Allocate each destination to one facility, at most `capacity` to each, with the smallest sum of distances.

    points : (n, 2) destinations with a demand of 1 each; facilities : (S, 2), same planar units; capacity : whole
    number, at least 1; start : the allocation of a similar problem with S facilities, whose prices shorten the work.
    progress reports the share of the overload that is gone.

    The transportation problem of Croft 2018, section 2.4 (Ford and Fulkerson 1956), by successive shortest paths over
    lazily listed arcs; memory grows with the arcs listed, not with n x S. Same input, same output.
    Raises InputError where S x capacity < n, and for input that is empty or not finite.
    """
    points, facilities, capacity = _checked(points, facilities, capacity)
    arcs = Arcs(points, facilities)
    loads = _cold_start(arcs, capacity)
    if start is not None:
        if len(start.prices) != len(facilities):
            raise InputError.saying(
                "The start has {facilities}, but there are {n_facilities}.",
                facilities=_facilities(len(start.prices)),
                n_facilities=len(facilities),
            )
        loads = _start(arcs, start.prices, capacity, WARM_WORTH * loads.excess) or loads
    relief = Relief(loads)
    total = loads.excess
    n_chains = 0
    for facility in to_list(loads.overfull):
        while loads.load[facility] > capacity:
            relief.relieve(facility)
            n_chains += 1
            progress(n_chains / total)
    cost = float(loads.distance.sum())
    bound = lower_bound(points, facilities, capacity, loads.prices)
    gap = max(cost - bound, 0.0) / cost if cost > 0 else 0.0
    if gap > GAP_ALARM:
        raise VbasError.saying(
            "The allocation could not be proved optimal (gap {gap:.1e}): please report these points.", gap=gap
        )
    return Allocation(loads.facility_of, loads.load, capacity, loads.prices, cost, gap, n_chains)


def _cold_start(arcs: Arcs, capacity: int) -> Loads:
    """Loads from no prices at all."""
    free = np.zeros(len(arcs.facilities))
    raised = _raise_prices(arcs, free, capacity)
    return _start(arcs, raised, capacity, len(arcs.points)) or Loads(arcs, free, arcs.cheapest(free)[0], capacity)


def _raise_prices(arcs: Arcs, prices: np.ndarray, capacity: int) -> np.ndarray:
    """Raise the prices of all overfull facilities at once until only `capacity` destinations prefer each, in rounds.

    prices : (S,), such that every facility with a positive price is the cheapest of at least `capacity` destinations.
    That stays so, but for ties, since the others only become dearer later: no price rises above the lowest optimal one
    (the auction of Demange, Gale and Sotomayor 1986, for many facilities at once). Ends where it no longer pays.
    """
    prices = prices.copy()
    excess_before = np.inf
    for _ in range(ROUND_LIMIT):
        facility, lowest, second = arcs.two_cheapest(prices)
        load = np.bincount(facility, minlength=len(prices))
        excess = load - capacity
        total = np.maximum(excess, 0).sum()
        if total == 0 or total > excess_before * (1 - ROUND_WORTH):
            break
        excess_before = total
        # How much dearer the facility may become before the destination leaves for another, listed or not.
        loyalty = np.maximum(np.minimum(second, arcs.horizon) - lowest, 0.0)
        order = np.lexsort((loyalty, facility))
        start = np.cumsum(load) - load
        overfull = np.flatnonzero(excess > 0)
        rise = loyalty[order[start[overfull] + excess[overfull] - 1]]
        prices[overfull] += np.where(np.isfinite(rise), rise, 0.0)
    return prices


def _start(arcs: Arcs, prices: np.ndarray, capacity: int, limit: int) -> Loads | None:
    """Loads from given prices, refilled so that no facility is short.

    None where that does not pay: with more than `limit` destinations to move, or where rounding would keep it going.
    """
    facility_of, lowest = arcs.cheapest(prices)
    for _ in range(REFILL_LIMIT):
        loads = Loads(arcs, prices, facility_of, capacity)
        if not len(loads.short):
            return loads
        if int((capacity - loads.load[loads.short]).sum()) > limit:
            return None
        arcs.add(facility_of)
        refill = Refill(loads)
        for facility in to_list(loads.short):
            while loads.load[facility] < capacity and loads.prices[facility] > 0:
                refill.refill(facility)
        # Only the listed arcs were refilled: a destination that finds a cheaper facility among all of them goes there.
        prices = loads.prices
        cheapest, lowest = arcs.cheapest(prices)
        own = loads.distance + prices[loads.facility_of]
        rounding = 8 * np.finfo(float).eps * max(float(own.max()), float(prices.max()))
        facility_of = np.where(own - lowest > rounding, cheapest, loads.facility_of)
    return None


def lower_bound(points: np.ndarray, facilities: np.ndarray, capacity: int, prices: np.ndarray) -> float:
    """The lowest sum of distances that the prices allow, over all n x S arcs: weak duality.

    Any prices >= 0, (S,), give a bound; the optimal ones give the optimal cost.
    """
    return float(Arcs(points, facilities).cheapest(prices)[1].sum() - capacity * prices.sum())


def _destinations(n: int) -> str:
    return plural("{n} destination", "{n} destinations", n)


def _facilities(n: int) -> str:
    return plural("{n} facility", "{n} facilities", n)


def _checked(points: np.ndarray, facilities: np.ndarray, capacity: int) -> tuple[np.ndarray, np.ndarray, int]:
    """The input as arrays. Raises InputError where it cannot be used."""
    points = np.asarray(points, dtype=float).reshape(-1, 2)
    facilities = np.asarray(facilities, dtype=float).reshape(-1, 2)
    for values, none, things in (
        (points, tr("There are no destinations: give at least one."), _destinations),
        (facilities, tr("There are no facilities: give at least one."), _facilities),
    ):
        if not len(values):
            raise InputError(none)
        if not np.isfinite(values).all():
            raise InputError.saying(
                "The coordinates of {things} are not finite.",
                things=things(int((~np.isfinite(values).all(axis=1)).sum())),
            )
    if capacity != int(capacity) or capacity < 1:
        raise InputError.saying(
            "The capacity is {capacity}, but must be a whole number, at least 1.", capacity=capacity
        )
    if len(facilities) * int(capacity) < len(points):
        raise InputError.saying(
            "{facilities} of capacity {capacity} cannot serve {destinations}: raise the capacity to {needed} or add "
            "facilities.",
            facilities=_facilities(len(facilities)),
            capacity=int(capacity),
            destinations=_destinations(len(points)),
            needed=-(-len(points) // len(facilities)),
        )
    return points, facilities, int(capacity)
