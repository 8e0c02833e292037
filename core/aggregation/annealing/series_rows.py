"""What moves change where classes are the same in all periods."""

from __future__ import annotations

import numpy as np

from ...arrays import runs
from .territory import Territory


class SeriesRows:
    """The records of each class in regions, and in areas by class with a number for each period.

    counts : (n_regions, T C) records, period by period, changed by `move`
    """

    def __init__(self, territory: Territory, counts: np.ndarray) -> None:
        self._counts, self._k, self._weights = counts, territory.k, territory.weights
        self._n_classes = counts.shape[1] // territory.n_periods
        self._begins, self._class_of, self._records = territory.series_of_areas
        self._lost = territory.lost_of_series(counts)

    def loss_change(self, areas: np.ndarray, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """By how much each single move changes what is suppressed, (m,) float."""
        lengths = np.diff(self._begins)[areas]
        at = runs(self._begins[areas], lengths)
        class_of = self._class_of.take(at)
        change = np.zeros(len(at))
        for regions, sign in ((sources, -1), (targets, 1)):
            region = np.repeat(regions, lengths)
            change += self._after(region, class_of, at, sign) - self._lost[region, class_of]
        return np.bincount(np.repeat(np.arange(len(areas), dtype=np.int64), lengths), change, len(areas))

    def _after(self, region: np.ndarray, class_of: np.ndarray, at: np.ndarray, sign: int) -> np.ndarray:
        """The weight of what is suppressed of classes of regions once an area has left, or joined, (entries,)."""
        place, counts = region * self._counts.shape[1] + class_of, self._counts.reshape(-1)
        short, total = np.zeros(len(at), bool), np.zeros(len(at), np.int64 if self._weights is None else float)
        for period, records in enumerate(self._records):
            number = counts.take(place) + sign * records.take(at)
            short |= (number > 0) & (number < self._k)
            if self._weights is None:
                total += number
            else:
                total += number * self._weights.take(class_of + period * self._n_classes)
            place += self._n_classes
        return total * short

    def move(self, areas: np.ndarray, sources: np.ndarray, targets: np.ndarray) -> None:
        """Make moves of which no two share a region."""
        lengths = np.diff(self._begins)[areas]
        at = runs(self._begins[areas], lengths)
        class_of, counts = self._class_of.take(at), self._counts.reshape(-1)
        for regions, sign in ((sources, -1), (targets, 1)):
            region = np.repeat(regions, lengths)
            place = region * self._counts.shape[1] + class_of
            self._lost[region, class_of] = self._after(region, class_of, at, sign)
            for period, records in enumerate(self._records):
                counts[place + period * self._n_classes] += sign * records.take(at)
