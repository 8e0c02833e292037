"""Candidate arcs: from each destination to its nearest facilities, with a bound on all the others."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

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
        _, targets = cKDTree(facilities).query(points, k=count)
        self.targets = targets.reshape(len(points), count).astype(np.int64)
        self.lengths = distances(points[:, None, :], facilities[self.targets])
        everything = count == len(facilities)
        self.horizon = np.full(len(points), np.inf) if everything else self.lengths.max(axis=1)

    def two_cheapest(self, prices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The cheapest listed facility of each destination, its distance + price, and the second lowest, each (n,)."""
        everyone = np.arange(len(self.points))
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
            values = cdist(self.points[some], self.facilities) + prices
            best = values.argmin(axis=1)
            better = values[np.arange(len(some)), best] < lowest[some]
            facility[some[better]] = best[better]
            lowest[some[better]] = values[better, best[better]]
        return facility, lowest

    def add(self, facility: np.ndarray) -> None:
        """List one more arc for each destination: to facility[i], (n,)."""
        self.targets = np.column_stack([self.targets, facility])
        self.lengths = np.column_stack([self.lengths, distances(self.points, self.facilities[facility])])


def distances(here: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Euclidean distances of arrays of points (..., 2), broadcast."""
    x, y = here[..., 0] - there[..., 0], here[..., 1] - there[..., 1]
    return np.sqrt(x * x + y * y)  # takes half the time of np.hypot, whose care with extreme numbers no map needs
