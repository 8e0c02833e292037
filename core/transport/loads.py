"""Loads: which facility serves each destination and at which price, and the arcs to the others."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..arrays import to_list
from ..elementary import norm
from ..scientific import spatial

NEAREST = 12  # facilities in the list of each destination
CHUNK = 2_000_000  # distances held at once where all facilities are examined


class Arcs:
    """The arcs that are listed, and for each destination a bound on those that are not.

    points : (n, 2); facilities : (S, 2); targets, lengths : (n, K) facilities and their distances, an arc may be
    listed twice; horizon : (n,) every facility that is not listed is at least that far away, whatever its price.
    """

    def __init__(self, points: np.ndarray, facilities: np.ndarray) -> None:
        self.points = points
        self.facilities = facilities
        count = min(NEAREST, len(facilities))
        _, targets = spatial.cKDTree(facilities).query(points, k=count)
        self.targets = targets.reshape(len(points), count).astype(np.int64)
        self.lengths = distances(points[:, None, :], facilities[self.targets])
        everything = count == len(facilities)
        self.horizon = np.full(len(points), np.inf) if everything else self.lengths.max(axis=1)

    def two_cheapest(self, prices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The cheapest listed facility of each destination, its distance + price, and the second lowest, each (n,)."""
        everyone = np.arange(len(self.points), dtype=np.int64)
        values = self.lengths + prices[self.targets]
        place = values.argmin(axis=1)
        facility, lowest = self.targets[everyone, place], values[everyone, place]
        values[self.targets == facility[:, None]] = np.inf
        return facility, lowest, values.min(axis=1)

    def cheapest(self, prices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The cheapest of ALL facilities for each destination, and its distance + price, (n,) each.

        Prices are not negative, so the list decides wherever its best is within the horizon; for the other
        destinations every facility is examined, in bounded memory.
        """
        facility, lowest, _ = self.two_cheapest(prices)
        unsure = np.flatnonzero(lowest > self.horizon)
        step = max(1, CHUNK // len(self.facilities))
        for first in range(0, len(unsure), step):
            some = unsure[first : first + step]
            values = spatial.distance.cdist(self.points[some], self.facilities) + prices
            best = values.argmin(axis=1)
            better = values[np.arange(len(some), dtype=np.int64), best] < lowest[some]
            facility[some[better]] = best[better]
            lowest[some[better]] = values[better, best[better]]
        return facility, lowest

    def add(self, facility: np.ndarray) -> None:
        """List one more arc for each destination: to facility[i], (n,)."""
        self.targets = np.column_stack([self.targets, facility])
        self.lengths = np.column_stack([self.lengths, distances(self.points, self.facilities[facility])])


def distances(here: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Euclidean distances of arrays of points (..., 2), broadcast."""
    return norm(here[..., 0] - there[..., 0], here[..., 1] - there[..., 1])


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
