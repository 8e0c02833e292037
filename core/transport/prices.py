"""Prices of overfull facilities raised for all of them at once, before the exact part begins."""

from __future__ import annotations

import numpy as np

from .arcs import Arcs

LEAST_PROGRESS = 0.03  # share of the excess a round must remove to be worth its time
ROUND_LIMIT = 100


def raise_prices(arcs: Arcs, prices: np.ndarray, capacity: int) -> np.ndarray:
    """Raise the price of each overfull facility until only `capacity` destinations still prefer it, again and again.

    prices : (S,), such that every facility with a positive price is the cheapest of at least `capacity` destinations.
    That stays so, but for ties, since the others only become dearer later: no price rises above the least optimal one
    (the auction of Demange, Gale and Sotomayor 1986, for many facilities at once). Ends where it no longer pays.
    """
    prices = prices.copy()
    excess_before = np.inf
    for _ in range(ROUND_LIMIT):
        facility, least, second = arcs.two_cheapest(prices)
        load = np.bincount(facility, minlength=len(prices))
        excess = load - capacity
        total = np.maximum(excess, 0).sum()
        if total == 0 or total > excess_before * (1 - LEAST_PROGRESS):
            break
        excess_before = total
        # How much dearer the facility may become before the destination leaves for another, listed or not.
        loyalty = np.maximum(np.minimum(second, arcs.horizon) - least, 0.0)
        order = np.lexsort((loyalty, facility))
        start = np.cumsum(load) - load
        overfull = np.flatnonzero(excess > 0)
        rise = loyalty[order[start[overfull] + excess[overfull] - 1]]
        prices[overfull] += np.where(np.isfinite(rise), rise, 0.0)
    return prices
