"""An allocation that is being brought down to the capacity: who is where, at which price."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..arrays import to_list
from .arcs import Arcs, distances

Move = tuple[int, int, int]  # destination, from facility, to facility


class Loads:
    """Destinations, each at its cheapest facility (distance + price), and what the facilities carry.

    prices : (S,), not negative; facility_of : (n,); distance : (n,) to its facility; load : (S,);
    members : the destinations of each facility. All change as the work goes on; the arrays given are copied.
    """

    def __init__(self, arcs: Arcs, prices: np.ndarray, facility_of: np.ndarray, capacity: int) -> None:
        self.arcs = arcs
        self.capacity = capacity
        self.prices = prices.copy()
        self.facility_of = facility_of.copy()
        self.distance = distances(arcs.points, arcs.facilities[facility_of])
        self.load = np.bincount(facility_of, minlength=len(prices))
        by_facility = np.argsort(facility_of, kind="stable")
        self.members = [to_list(part) for part in np.split(by_facility, np.cumsum(self.load)[:-1])]

    @property
    def overfull(self) -> np.ndarray:
        """Facilities above the capacity."""
        return np.flatnonzero(self.load > self.capacity)

    @property
    def short(self) -> np.ndarray:
        """Facilities with room although they have a price: a better allocation would use them or lower the price."""
        return np.flatnonzero((self.load < self.capacity) & (self.prices > 0))

    @property
    def excess(self) -> int:
        """Destinations beyond the capacity, over all facilities."""
        return int(np.maximum(self.load - self.capacity, 0).sum())

    def shift(self, chain: Iterable[Move]) -> None:
        """Make the moves of a chain."""
        for destination, before, after in chain:
            self.members[before].remove(destination)
            self.members[after].append(destination)
            self.facility_of[destination] = after
            self.distance[destination] = distances(self.arcs.points[destination], self.arcs.facilities[after])
            self.load[before] -= 1
            self.load[after] += 1


def smallest_by_group(groups: np.ndarray, values: np.ndarray, without: int) -> np.ndarray:
    """Positions of the smallest value of each group but `without`, in order of group. groups, values : (m,)."""
    order = np.lexsort((values, groups))
    ordered = groups[order]
    first = ordered != without
    first[1:] &= ordered[1:] != ordered[:-1]
    return order[first]
