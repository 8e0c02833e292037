"""What moves change of what is suppressed, by whole rows of counts: where most classes live in most areas."""

from __future__ import annotations

import numpy as np

from .territory import MOST_16_BITS

# Counts looked at together: as many as stay near the processor.
AT_ONCE = 100_000


class Rows:
    """The records of each class in areas and regions, as rows of numbers of 16 bits.

    of_areas : (n, C) uint16; counts : (n_regions, C) records, changed by `move`; lost : (n_regions,) records that each
    region suppresses, weighing 1 each; k : the smallest class that is released
    """

    def __init__(self, of_areas: np.ndarray, counts: np.ndarray, lost: np.ndarray, k: int) -> None:
        self._of_areas, self._counts, self._lost, self._k = of_areas, counts, lost.astype(np.int64), k
        # So many that one more area does not overflow, and that one area less leaves k.
        self._most = MOST_16_BITS - int(of_areas.max(initial=0))
        self._near_k = np.minimum(counts, self._most).astype(np.uint16)
        n_classes = max(counts.shape[1], 1)
        self._at_once = max(1, AT_ONCE // (2 * n_classes))
        self._sum_type = np.uint16 if (k - 1) * n_classes <= MOST_16_BITS else np.uint32

    def loss_change(self, areas: np.ndarray, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """By how many records each single move changes what is suppressed, (m,) int64."""
        change = -(self._lost[sources] + self._lost[targets])
        for begin in range(0, len(areas), self._at_once):
            some = slice(begin, begin + self._at_once)
            regions = np.concatenate([sources[some], targets[some]])
            left, joined = self._below_k(self._moved(self._near_k, areas[some], regions)).reshape(2, -1)
            change[some] += left
            change[some] += joined
        return change

    def move(self, areas: np.ndarray, sources: np.ndarray, targets: np.ndarray) -> None:
        """Make moves of which no two share a region."""
        regions = np.concatenate([sources, targets])
        counts = self._moved(self._counts, areas, regions)
        self._counts[regions] = counts
        near_k = np.minimum(counts, self._most).astype(np.uint16)
        self._near_k[regions] = near_k
        self._lost[regions] = self._below_k(near_k)

    def _moved(self, counts: np.ndarray, areas: np.ndarray, regions: np.ndarray) -> np.ndarray:
        """The rows of the regions that areas (m,) leave, then of those that they join, (2 m, C), after the moves."""
        rows, moved = counts.take(regions, axis=0), self._of_areas.take(areas, axis=0)
        rows[: len(areas)] -= moved
        rows[len(areas) :] += moved
        return rows

    def _below_k(self, records: np.ndarray) -> np.ndarray:
        """The sum of the numbers below k of each row, which are overwritten."""
        np.multiply(records, records < self._k, out=records)
        return np.add.reduce(records, axis=1, dtype=self._sum_type)
