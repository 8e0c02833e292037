"""Households near a point, counted by a KD-tree: the actual anonymity (Allshouse 2010, section 2.3)."""

from __future__ import annotations

from itertools import chain

import numpy as np
from scipy.spatial import cKDTree

from ..errors import InputError, first_values
from ..progress import Progress, silent

# Points queried at once, and neighbours held at once where each has its own weight.
_POINTS_AT_ONCE = 50_000
_NEIGHBOURS_AT_ONCE = 4_000_000


class Households:
    """Household locations to be counted.

    points : (h, 2) planar metres; weights : (h,) how many households each location stands for, one each where None.
    """

    def __init__(self, points: np.ndarray, weights: np.ndarray | None = None) -> None:
        self.points = points
        self.weights = np.ones(len(points)) if weights is None else weights
        self._unweighted = weights is None
        self._tree = cKDTree(points)

    def __len__(self) -> int:
        return len(self.points)

    def nearer_than(self, points: np.ndarray, distances: np.ndarray, progress: Progress = silent) -> np.ndarray:
        """Households strictly nearer to each point than its distance, (N,) float: k_act (section 2.3).

        points : (N, 2); distances : (N,) metres. A household at the point itself counts, as in the paper.
        """
        counts = np.zeros(len(points))
        # The tree counts up to and including a radius: the next smaller number makes that "strictly nearer".
        below = np.nextafter(distances, 0.0)
        for start in range(0, len(points), _POINTS_AT_ONCE):
            some = slice(start, start + _POINTS_AT_ONCE)
            found = self._tree.query_ball_point(points[some], below[some], return_length=True)
            counts[some] = found if self._unweighted else self._weighted_sums(points[some], below[some], found)
            progress(min(some.stop / len(points), 1.0))
        counts[distances <= 0] = 0.0
        return counts

    def distance_to_reach(self, points: np.ndarray, numbers: np.ndarray, progress: Progress = silent) -> np.ndarray:
        """The distance within which a number of households is reached, (N, j) metres; inf where there are too few.

        numbers : (j,). k_act, the households strictly nearer than D, is below numbers[j] exactly where D is not
        larger than this distance, so one search serves every displacement.
        """
        reached = np.full((len(points), len(numbers)), np.inf)
        left = np.arange(len(points))
        most = max(int(np.ceil(numbers.max())), 1)
        while len(left):
            most = min(most, len(self))
            size = max(_NEIGHBOURS_AT_ONCE // most, 1)
            for start in range(0, len(left), size):
                rows = left[start : start + size]
                distance, household = self._tree.query(points[rows], k=np.arange(1, most + 1))
                total = self.weights[household].cumsum(axis=1)
                for j, number in enumerate(numbers.tolist()):
                    enough = total >= number
                    has = enough[:, -1]
                    reached[rows[has], j] = distance[has, enough[has].argmax(axis=1)]
                progress(min((start + size) / len(left), 1.0))
            if most == len(self):
                break
            left = left[np.isinf(reached[left]).any(axis=1)]
            most *= 4
        return reached

    def _weighted_sums(self, points: np.ndarray, distances: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Sums of the weights within each distance, (n,), a manageable number of neighbours at a time."""
        sums = np.zeros(len(points))
        part = (np.cumsum(lengths) - lengths) // _NEIGHBOURS_AT_ONCE
        for number in np.unique(part):
            rows = np.flatnonzero(part == number)
            lists = self._tree.query_ball_point(points[rows], distances[rows])
            neighbour = np.fromiter(chain.from_iterable(lists), np.int64, int(lengths[rows].sum()))
            owner = np.repeat(np.arange(len(rows)), lengths[rows])
            sums[rows] = np.bincount(owner, weights=self.weights[neighbour], minlength=len(rows))
        return sums


def make_households(points: np.ndarray, weights: np.ndarray | None, field: str = "HOUSEHOLD_COUNT") -> Households:
    """Households from a layer, which are checked; points without a position (NaN) are left out.

    points : (h, 2); weights : (h,) or None. Raises InputError where there are none, or a number is missing or negative.
    """
    there = np.isfinite(points).all(axis=1)
    if weights is not None:
        for wrong, word in ((~np.isfinite(weights), "missing"), (weights < 0, "negative")):
            if wrong.any():
                raise InputError(
                    f"HOUSEHOLD_COUNT field “{field}” is {word} in {int(wrong.sum())} rows (first: "
                    f"{first_values(np.flatnonzero(wrong)[:6] + 1)}, counted from 1): correct it, or leave the field "
                    "empty to count each point as one household."
                )
        there &= weights > 0
        weights = weights[there]
    if not there.any():
        raise InputError("HOUSEHOLDS has no households with a position: give a layer with a point per household.")
    return Households(points[there], weights)
