"""Region counts held by the classes that occur: the form for so many classes that whole rows would be mostly empty."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ...arrays import to_list
from .region_counts import LocalCounts, RegionCounts, levels_of_groups

ENTRIES_AT_ONCE = 2**22  # of counts that change, summed at a time: bounds the memory of a trial
NONE_LEFT = np.iinfo(np.int64).max


class SparseCounts(RegionCounts):
    """For each region the classes that occur, ascending, and their counts."""

    def __init__(self, counts: sparse.csr_matrix, grouped: sparse.csr_matrix) -> None:
        self.areas = counts.astype(np.int64)
        stretches = zip(to_list(grouped.indptr[:-1]), to_list(grouped.indptr[1:]))
        self.rows = [
            (grouped.indices[start:stop].astype(np.int64), grouped.data[start:stop].astype(np.int64))
            for start, stop in stretches
        ]
        self.n_classes = counts.shape[1]

    def local(self, regions: np.ndarray, areas: np.ndarray) -> LocalCounts:  # noqa: D102
        return _SparseLocal(self, regions, areas)

    def of(self, regions: np.ndarray, classes: np.ndarray) -> np.ndarray:  # noqa: D102
        found = np.zeros((len(regions), len(classes)))
        for out, region in zip(found, to_list(regions)):
            used, values = self.rows[region]
            position = np.searchsorted(used, classes)
            inside = position < len(used)
            inside[inside] = used[position[inside]] == classes[inside]
            out[inside] = values[position[inside]]
        return found

    def at(self, region: int, level: int) -> np.ndarray:  # noqa: D102
        used, values = self.rows[region]
        return used[values == level]


class _SparseLocal(LocalCounts):
    """Only the counts of classes that occur in the areas are compared; of the others it is enough to know the level."""

    def __init__(self, counts: SparseCounts, regions: np.ndarray, areas: np.ndarray) -> None:
        self._counts, self._regions = counts, regions
        picked = counts.areas[areas]
        # The classes that occur in the areas, (U,), and the areas' counts of them.
        self._classes, local_classes = np.unique(picked.indices, return_inverse=True)
        shape = (len(areas), len(self._classes))
        self._areas = sparse.csr_matrix((picked.data, local_classes.reshape(-1), picked.indptr), shape)
        self._before = counts.of(regions, self._classes).astype(np.int64)
        self._levels_before = levels_of_groups(_as_matrix([counts.rows[region][1] for region in to_list(regions)]))

    def levels(self, slot: np.ndarray, signs: np.ndarray) -> np.ndarray:
        per_area = max(self._areas.nnz // max(self._areas.shape[0], 1), 1)
        step = max(ENTRIES_AT_ONCE // (per_area * max(int(np.count_nonzero(signs)) // len(slot), 1)), 1)
        parts = [slice(start, start + step) for start in range(0, len(slot), step)]
        return np.hstack([self._levels(slot[few], signs[few]) for few in parts])

    def transfer(self, slot: int, signs: np.ndarray) -> None:
        region = int(self._regions[slot])
        used, values = self._counts.rows[region]
        change = sparse.csr_matrix(signs[None, :].astype(np.int64)) @ self._areas
        touched = self._classes[change.indices]
        classes = np.union1d(used, touched).astype(np.int64)
        row = np.zeros(len(classes), np.int64)
        row[np.searchsorted(classes, used)] = values
        row[np.searchsorted(classes, touched)] += change.data
        self._counts.rows[region] = (classes[row > 0], row[row > 0])

    def _levels(self, slot: np.ndarray, signs: np.ndarray) -> np.ndarray:
        """As `levels`, for a few regions."""
        change = sparse.csr_matrix(signs.astype(np.int64)) @ self._areas
        pair = np.repeat(np.arange(len(slot)), np.diff(change.indptr))
        before = self._before[slot[pair], change.indices]
        after = before + change.data
        level, at_level, classes = self._levels_before[:, slot]
        classes = classes + _count(pair[after > 0], len(slot)) - _count(pair[before > 0], len(slot))
        unchanged_at_level = at_level - _count(pair[(before == level[pair]) & (before > 0)], len(slot))
        least = _least_positive(after, change.indptr)
        # Where none of the unchanged classes is at the old level any more, they are all above it.
        rest, rest_at = level.copy(), unchanged_at_level
        for p in to_list(np.flatnonzero((unchanged_at_level == 0) & (least > level))):
            touched = self._classes[change.indices[change.indptr[p] : change.indptr[p + 1]]]
            rest[p], rest_at[p] = self._rest(int(slot[p]), touched)
        new = np.where(rest_at > 0, np.minimum(rest, least), least)
        at_new = np.where(rest == new, rest_at, 0) + _count(pair[after == new[pair]], len(slot))
        return np.stack([np.where(classes > 0, new, 0), np.where(classes > 0, at_new, 0), classes])

    def _rest(self, slot: int, touched: np.ndarray) -> tuple[int, int]:
        """The least count among the classes of a region that were not touched, and how many have it; 0 for none."""
        used, values = self._counts.rows[int(self._regions[slot])]
        values = values[~np.isin(used, touched)]
        least = int(values.min(initial=NONE_LEFT))
        return least, int(np.count_nonzero(values == least))


def _as_matrix(rows: list[np.ndarray]) -> sparse.csr_matrix:
    """Rows of counts of whatever classes, as the rows of a sparse matrix."""
    pointers = np.cumsum([0, *(len(row) for row in rows)])
    values = np.concatenate([np.zeros(0, np.int64), *rows])
    return sparse.csr_matrix((values, np.zeros(len(values), np.int64), pointers), (len(rows), 1))


def _count(pairs: np.ndarray, n_pairs: int) -> np.ndarray:
    """How often each pair occurs, (P,) int64."""
    return np.bincount(pairs, minlength=n_pairs).astype(np.int64)


def _least_positive(values: np.ndarray, pointers: np.ndarray) -> np.ndarray:
    """The least value above 0 of each stretch, NONE_LEFT where there is none."""
    least = np.full(len(pointers) - 1, NONE_LEFT)
    filled = np.diff(pointers) > 0
    if filled.any():
        least[filled] = np.minimum.reduceat(np.where(values > 0, values, NONE_LEFT), pointers[:-1][filled])
    return least
