"""Counts by region and class while sites move, levels of anonymity, and the terms of the objectives.

A table of regions has four rows, int64: the level of anonymity of each region (methods: alpha_a; 0 where no record
lives), the number of its classes with that few records, the number of its classes, the number of its areas.
"""

from __future__ import annotations

from typing import Union

import numpy as np

from ...arrays import to_list
from ...dataclass import dataclass
from ...scientific import sparse

EXACT_IN_FLOAT32 = 2**24
CELLS_AT_ONCE = 2**22  # of counts summed at a time: bounds the memory
SMALL_PRODUCT = 2**18  # multiplications: larger matrix products are spread over threads, which costs more than it saves
ENTRIES_AT_ONCE = 2**22  # of counts that change, summed at a time: bounds the memory
NONE_LEFT = NO_LEVEL = np.iinfo(np.int64).max
RegionCounts = Union["DenseCounts", "SparseCounts"]
LocalCounts = Union["_DenseLocal", "_SparseLocal"]


def levels_of_groups(grouped: sparse.csr_matrix) -> np.ndarray:
    """Level, classes at that level and classes of each region, (3, S) int64, from G without explicit zeros.

    The level is the smallest count of a class that occurs, 0 where none does.
    """
    classes = np.diff(grouped.indptr).astype(np.int64)
    level, at_level = np.zeros(len(classes), np.int64), np.zeros(len(classes), np.int64)
    filled = classes > 0
    if filled.any():
        starts = grouped.indptr[:-1][filled]
        level[filled] = np.minimum.reduceat(grouped.data, starts)
        at_level[filled] = np.add.reduceat((grouped.data == np.repeat(level, classes)).astype(np.int64), starts)
    return np.stack([level, at_level, classes])


class DenseCounts:
    """The counts M[i, c] of n areas and G[a, c] of S regions as float rows over all classes; whole numbers, exact.

    The quicker form where there are few classes.
    """

    def __init__(self, counts: sparse.csr_matrix, grouped: sparse.csr_matrix) -> None:
        largest = int(np.asarray(counts.sum(axis=0)).max(initial=0))
        kind = np.float32 if largest < EXACT_IN_FLOAT32 else np.float64
        self.areas = counts.astype(kind).toarray()
        self.regions = grouped.astype(kind).toarray()

    def local(self, regions: np.ndarray, areas: np.ndarray) -> LocalCounts:
        """The counts of some regions (t,), which some areas (m,) may leave or join."""
        return _DenseLocal(self, regions, areas)

    def of(self, regions: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """G for some regions (t,) and classes (B,): (t, B) float."""
        return self.regions[np.ix_(regions, classes)].astype(float)

    def at(self, region: int, level: int) -> np.ndarray:
        """The classes, ascending, of which the region has exactly `level` (> 0) records."""
        return np.flatnonzero(self.regions[region] == level)


class _DenseLocal:
    """The counts of the few regions that a few areas could leave or join, as they are."""

    def __init__(self, counts: DenseCounts, regions: np.ndarray, areas: np.ndarray) -> None:
        self._counts, self._regions = counts, regions
        self._before, self._areas = counts.regions[regions], counts.areas[areas]

    def levels(self, slot: np.ndarray, signs: np.ndarray) -> np.ndarray:
        """The levels, (3, P) as from `levels_of_rows`, of regions after areas have left or joined them.

        slot : (P,) positions among the regions; signs : (P, m) int8, 1 for an area that joins, -1 for one that leaves
        """
        step = max(CELLS_AT_ONCE // max(self._before.shape[1], 1), 1)
        parts = [slice(start, start + step) for start in range(0, len(slot), step)]
        return np.hstack([levels_of_rows(self._rows(slot[few], signs[few])) for few in parts])

    def transfer(self, slot: int, signs: np.ndarray) -> None:
        """Let areas leave and join a region for good; signs : (m,). What is local is out of date then."""
        self._counts.regions[self._regions[slot]] = self._rows(np.array([slot], np.int64), signs[None, :])[0]

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

    The level is the smallest count of a class that occurs, 0 where none does. The rows are used up.
    """
    # As bits, numbers that are not negative keep their order, and 0 less one is the largest of all: one pass finds the
    # smallest count that is not 0.
    bits: np.ndarray = rows.view(f"u{rows.itemsize}")
    unit = bits.dtype.type(1)
    bits -= unit
    zero_less_one = ~(unit - unit)
    smallest = bits.min(axis=1, initial=zero_less_one)
    absent = _count(bits == zero_less_one)
    classes = bits.shape[1] - absent
    at_level = np.where(classes > 0, _count(bits == smallest[:, None]), 0)
    smallest += unit
    return np.stack([smallest.view(rows.dtype).astype(np.int64), at_level, classes])


def _count(marks: np.ndarray) -> np.ndarray:
    """How many are marked in each row, (P,) int64; several times faster than numpy's own count along an axis."""
    narrow = np.uint16 if marks.shape[1] < 2**16 else np.uint32
    return marks.view(np.uint8).sum(axis=1, dtype=narrow).astype(np.int64)


class SparseCounts:
    """As `DenseCounts`: for each region the classes that occur, ascending, and their counts.

    The form for so many classes that whole rows would be mostly empty.
    """

    def __init__(self, counts: sparse.csr_matrix, grouped: sparse.csr_matrix) -> None:
        self.areas = counts.astype(np.int64)
        used, values = (
            np.split(part.astype(np.int64), grouped.indptr[1:-1]) for part in (grouped.indices, grouped.data)
        )
        self.rows = list(zip(used, values))
        self.n_classes = counts.shape[1]

    def local(self, regions: np.ndarray, areas: np.ndarray) -> LocalCounts:
        """The counts of some regions."""
        return _SparseLocal(self, regions, areas)

    def of(self, regions: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """G for some regions and classes."""
        counts = np.zeros((len(regions), len(classes)))
        for out, region in zip(counts, to_list(regions)):
            used, values = self.rows[region]
            position = np.searchsorted(used, classes)
            inside = position < len(used)
            inside[inside] = used[position[inside]] == classes[inside]
            out[inside] = values[position[inside]]
        return counts

    def at(self, region: int, level: int) -> np.ndarray:
        """The classes of which the region has exactly `level` records."""
        used, values = self.rows[region]
        return used[values == level]


class _SparseLocal:
    """As `_DenseLocal`: counts of classes that occur in the areas are compared; of the others the level is enough."""

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
        pair = np.repeat(np.arange(len(slot), dtype=np.int64), np.diff(change.indptr))
        before = self._before[slot[pair], change.indices]
        after = before + change.data
        level, at_level, classes = self._levels_before[:, slot]
        classes = classes + _times(pair[after > 0], len(slot)) - _times(pair[before > 0], len(slot))
        unchanged_at_level = at_level - _times(pair[(before == level[pair]) & (before > 0)], len(slot))
        smallest = _smallest_positive(after, change.indptr)
        # Where none of the unchanged classes is at the old level any more, they are all above it.
        rest, rest_at = level.copy(), unchanged_at_level
        for p in to_list(np.flatnonzero((unchanged_at_level == 0) & (smallest > level))):
            touched = self._classes[change.indices[change.indptr[p] : change.indptr[p + 1]]]
            rest[p], rest_at[p] = self._rest(int(slot[p]), touched)
        new = np.where(rest_at > 0, np.minimum(rest, smallest), smallest)
        at_new = np.where(rest == new, rest_at, 0) + _times(pair[after == new[pair]], len(slot))
        return np.stack([np.where(classes > 0, new, 0), np.where(classes > 0, at_new, 0), classes])

    def _rest(self, slot: int, touched: np.ndarray) -> tuple[int, int]:
        """The smallest count among the classes of a region that were not touched, and how many have it; 0 for none."""
        used, values = self._counts.rows[int(self._regions[slot])]
        values = values[~np.isin(used, touched)]
        smallest = int(values.min(initial=NONE_LEFT))
        return smallest, int(np.count_nonzero(values == smallest))


def _as_matrix(rows: list[np.ndarray]) -> sparse.csr_matrix:
    """Rows of counts of whatever classes, as the rows of a sparse matrix."""
    pointers = np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
    values = np.concatenate([np.zeros(0, np.int64), *rows])
    return sparse.csr_matrix((values, np.zeros(len(values), np.int64), pointers), (len(rows), 1))


def _times(pairs: np.ndarray, n_pairs: int) -> np.ndarray:
    """How often each pair occurs, (P,) int64."""
    return np.bincount(pairs, minlength=n_pairs).astype(np.int64)


def _smallest_positive(values: np.ndarray, pointers: np.ndarray) -> np.ndarray:
    """The smallest value above 0 of each stretch, NONE_LEFT where there is none."""
    smallest = np.full(len(pointers) - 1, NONE_LEFT, np.int64)
    filled = np.diff(pointers) > 0
    if filled.any():
        smallest[filled] = np.minimum.reduceat(np.where(values > 0, values, NONE_LEFT), pointers[:-1][filled])
    return smallest


@dataclass(frozen=True, eq=False)
class Terms:
    """What the objectives are made of, an entry per proposed move (or one, for the sites as they are), int64.

    Regions in which no record lives have no level and count nowhere.

    lowest : alpha, the lowest level of a region; NO_LEVEL where no record lives anywhere
    lowest_touched : the lowest level among those regions that any of the proposals changes
    levels : sum of the levels of the regions
    classes, classes_at_lowest : |E| and |E_alpha|, equivalence classes in all and those of alpha records
    regions, regions_at_lowest : |R| and |R_alpha|
    changes_regions : 1 where a region that has areas, or records, would be left without, or the other way round
    """

    lowest: np.ndarray
    lowest_touched: np.ndarray
    levels: np.ndarray
    classes: np.ndarray
    classes_at_lowest: np.ndarray
    regions: np.ndarray
    regions_at_lowest: np.ndarray
    changes_regions: np.ndarray

    def of(self, cases: np.ndarray) -> Terms:
        """The terms of proposals that come to these cases."""
        return Terms(*(entries[cases] for entries in vars(self).values()))


def as_they_are(regions: np.ndarray) -> Terms:
    """The terms of the sites as they are; regions : (4, S) table."""
    nothing = np.zeros(0, np.int64)
    return terms_of(regions, nothing, nothing, nothing, np.zeros((4, 0), np.int64), 1)


def terms_of(
    regions: np.ndarray,
    touched: np.ndarray,
    slot: np.ndarray,
    pair_case: np.ndarray,
    pair_state: np.ndarray,
    n_cases: int,
) -> Terms:
    """The terms of K cases, each of which changes a few regions.

    regions : (4, S) table as it is; touched : (t,) the regions that change in any case; pair_case, slot : (P,) the case
    and the position in `touched` of a region that the case changes; pair_state : (4, P) its column of the table then.
    """
    before = regions[:, touched]
    after = np.empty((n_cases, *before.shape), np.int64)
    after[:] = before
    after[pair_case, :, slot] = pair_state.T
    levels, at_level, classes, areas = after[:, 0], after[:, 1], after[:, 2], after[:, 3]
    untouched = regions[2] > 0
    untouched[touched] = False
    rest_levels, rest_at_level, rest_classes, _ = regions[:, untouched]
    rest_lowest = rest_levels.min(initial=NO_LEVEL)
    in_rest = rest_levels == rest_lowest
    occurs = classes > 0
    lowest_touched = np.where(occurs, levels, NO_LEVEL).min(axis=1, initial=NO_LEVEL)
    lowest = np.minimum(lowest_touched, rest_lowest)
    at_lowest = occurs & (levels == lowest[:, None])
    rest_is_lowest = lowest == rest_lowest
    other = (occurs != (before[2] > 0)) | ((areas > 0) != (before[3] > 0))
    return Terms(
        lowest=lowest,
        lowest_touched=lowest_touched,
        levels=levels.sum(axis=1) + rest_levels.sum(),
        classes=classes.sum(axis=1) + rest_classes.sum(),
        classes_at_lowest=(at_level * at_lowest).sum(axis=1) + rest_is_lowest * rest_at_level[in_rest].sum(),
        regions=occurs.sum(axis=1) + len(rest_levels),
        regions_at_lowest=at_lowest.sum(axis=1) + rest_is_lowest * in_rest.sum(),
        changes_regions=other.any(axis=1).astype(np.int64),
    )
