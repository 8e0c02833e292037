"""Region counts held as whole rows: the quicker form where there are few classes."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .region_counts import LocalCounts, RegionCounts

EXACT_IN_FLOAT32 = 2**24
CELLS_AT_ONCE = 2**22  # of counts summed at a time: bounds the memory of a trial
SMALL_PRODUCT = 2**18  # multiplications: larger matrix products are spread over threads, which costs more than it saves


class DenseCounts(RegionCounts):
    """The counts of n areas and S regions as float rows over all classes; whole numbers, exact."""

    def __init__(self, counts: sparse.csr_matrix, grouped: sparse.csr_matrix) -> None:
        largest = int(np.asarray(counts.sum(axis=0)).max(initial=0))
        kind = np.float32 if largest < EXACT_IN_FLOAT32 else np.float64
        self.areas = counts.astype(kind).toarray()
        self.regions = grouped.astype(kind).toarray()

    def local(self, regions: np.ndarray, areas: np.ndarray) -> LocalCounts:  # noqa: D102
        return _DenseLocal(self, regions, areas)

    def of(self, regions: np.ndarray, classes: np.ndarray) -> np.ndarray:  # noqa: D102
        return self.regions[np.ix_(regions, classes)].astype(float)

    def at(self, region: int, level: int) -> np.ndarray:  # noqa: D102
        return np.flatnonzero(self.regions[region] == level)


class _DenseLocal(LocalCounts):
    def __init__(self, counts: DenseCounts, regions: np.ndarray, areas: np.ndarray) -> None:
        self._counts, self._regions = counts, regions
        self._before, self._areas = counts.regions[regions], counts.areas[areas]

    def levels(self, slot: np.ndarray, signs: np.ndarray) -> np.ndarray:
        step = max(CELLS_AT_ONCE // max(self._before.shape[1], 1), 1)
        parts = [slice(start, start + step) for start in range(0, len(slot), step)]
        return np.hstack([levels_of_rows(self._rows(slot[few], signs[few])) for few in parts])

    def transfer(self, slot: int, signs: np.ndarray) -> None:
        self._counts.regions[self._regions[slot]] = self._rows(np.array([slot]), signs[None, :])[0]

    def _rows(self, slot: np.ndarray, signs: np.ndarray) -> np.ndarray:
        """The counts, (P, C), of the regions `slot` (P,) after the transfers `signs` (P, m)."""
        rows = self._before[slot]
        signs = signs.astype(rows.dtype)
        n_areas, n_classes = self._areas.shape
        height = max(SMALL_PRODUCT // max(n_areas * n_classes, 1), 2)
        width = max(SMALL_PRODUCT // max(height * n_areas, 1), 1)
        for top in range(0, len(slot), height):
            few = signs[top : top + height]
            if len(few) == 1:  # one row would be a product of another kind, spread over threads much sooner
                few = np.repeat(few, 2, axis=0)
            for left in range(0, n_classes, width):
                sums = few @ self._areas[:, left : left + width]
                rows[top : top + height, left : left + width] += sums[: len(slot) - top]
        return rows


def levels_of_rows(rows: np.ndarray) -> np.ndarray:
    """Level, classes at that level and classes of regions given as rows of counts, (P, C) float: (3, P) int64.

    The level is the least count of a class that occurs, 0 where none does. The rows are used up.
    """
    # As bits, numbers that are not negative keep their order, and 0 less one is the largest of all: one pass finds the
    # least count that is not 0.
    bits: np.ndarray = rows.view(f"u{rows.itemsize}")
    one = bits.dtype.type(1)
    bits -= one
    zero_less_one = ~(one - one)
    least = bits.min(axis=1, initial=zero_less_one)
    absent = _count(bits == zero_less_one)
    classes = bits.shape[1] - absent
    at_level = np.where(classes > 0, _count(bits == least[:, None]), 0)
    least += one
    return np.stack([least.view(rows.dtype).astype(np.int64), at_level, classes])


def _count(marks: np.ndarray) -> np.ndarray:
    """How many are marked in each row, (P,) int64; several times faster than numpy's own count along an axis."""
    narrow = np.uint16 if marks.shape[1] < 2**16 else np.uint32
    return marks.view(np.uint8).sum(axis=1, dtype=narrow).astype(np.int64)
