"""The regions at one moment: their areas, what they suppress, and how far their areas lie from the middle."""

from __future__ import annotations

import numpy as np

from ... import counted
from ...elementary import norms
from ...errors import InputError
from ...scientific import sparse
from ...voronoi import mean_centres
from .series_rows import SeriesRows
from .territory import MOST_16_BITS, Territory

# Counts that are held at once, of regions by classes: 2 GB.
MOST_COUNTS = 500_000_000
# Regions without areas, for areas that become a region of their own: a share of the others, and at least so many.
SPARE_SHARE, LEAST_SPARE = 0.05, 2
SHORTEST = np.finfo(float).tiny


class Regions:
    """A division of a territory that moves change; some regions are without areas, which the moves may give them.

    region_of : (n,) int64; counts : (n_regions, C) records; lost : weight of what is suppressed, but for what no
    division can release; sizes, centres : of each region, (0, 0) for one without areas
    distances : (n,) metres from each area's point to the centre; pull : (n_regions, 2) the sum of the unit vectors from
    the centre to the areas, by which the sum of distances grows when the centre moves the other way
    """

    def __init__(self, territory: Territory, region_of: np.ndarray) -> None:
        self.territory = territory
        self.divide(region_of)

    def divide(self, region_of: np.ndarray) -> None:
        """Take over a division, its regions numbered anew without gaps, those without areas last.

        Raises InputError where the counts are too many to hold.
        """
        used, position = np.unique(region_of, return_inverse=True)
        n_classes = self.territory.counts.shape[1]
        n_regions = len(used) + max(LEAST_SPARE, int(SPARE_SHARE * len(used)))
        if n_regions * n_classes > MOST_COUNTS:
            raise InputError.saying(
                "“anonymity exchange” cannot hold so many counts: of {regions} by {classes} of QUASI_IDENTIFIERS. "
                "Choose fewer or coarser quasi-identifiers, fewer regions, or another AGGREGATION.",
                regions=counted.regions(len(used)),
                classes=counted.classes(n_classes),
            )
        self.region_of = position.reshape(-1).astype(np.int64)
        self.counts = self.territory.grouped(self.region_of, n_regions).toarray()
        lost = self.territory.lost_of_regions(self.counts)
        self.lost = float(lost.sum())
        dense = self.territory.dense
        self._rows = None if dense is None else Rows(dense, self.counts, lost, self.territory.k)
        self._series = SeriesRows(self.territory, self.counts) if self.territory.n_periods > 1 else None
        self.measure()

    @property
    def n_regions(self) -> int:
        """Number of regions, those without areas included."""
        return len(self.counts)

    @property
    def empty(self) -> np.ndarray:
        """The regions without areas."""
        return np.flatnonzero(self.sizes == 0)

    @property
    def length(self) -> float:
        """The sum of the distances from the areas to the centres, metres."""
        return float(self.distances.sum())

    def measure(self) -> None:
        """Find centres and distances again."""
        n_areas, n_regions = len(self.territory), self.n_regions
        self.sizes: np.ndarray = np.zeros(n_regions, np.int64)
        self.distances: np.ndarray = np.zeros(n_areas)
        self.centres: np.ndarray = np.zeros((n_regions, 2))
        self.pull: np.ndarray = np.zeros((n_regions, 2))
        self._measure(np.arange(n_areas, dtype=np.int64), self.region_of, np.arange(n_regions, dtype=np.int64))

    def _measure(self, areas: np.ndarray, position: np.ndarray, regions: np.ndarray) -> None:
        """The same for some regions; areas : all areas of these; position : of their region among them."""
        points = self.territory.points[areas]
        self.sizes[regions] = np.bincount(position, minlength=len(regions))
        centres = mean_centres(points, position, len(regions))
        offsets = points - centres[position]
        distances = norms(offsets)
        units = offsets / np.maximum(distances, SHORTEST)[:, None]
        self.centres[regions], self.distances[areas] = centres, distances
        self.pull[regions, 0] = np.bincount(position, units[:, 0], len(regions))
        self.pull[regions, 1] = np.bincount(position, units[:, 1], len(regions))

    def loss_change(self, areas: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, int]:
        """By how much each single move changes what is suppressed, (m,); and the entries that were looked at."""
        territory = self.territory
        if self._rows is not None:
            whole = self._rows.loss_change(areas, self.region_of[areas], targets)
            return whole.astype(float), territory.n_entries(areas)
        if self._series is not None:
            return self._series.loss_change(areas, self.region_of[areas], targets), territory.n_entries(areas)
        own = territory.counts[areas]
        class_of = own.indices
        change: np.ndarray = np.zeros(1, own.dtype)
        for region, sign in ((self.region_of[areas], -1), (targets, 1)):
            before = self.counts.reshape(-1).take(self._places(own, region))
            change = change + territory.lost(before + sign * own.data, class_of) - territory.lost(before, class_of)
        return _sums_of_rows(own, change), own.nnz

    def length_change(self, areas: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """By how much each single move changes the sum of distances, (m,) metres, to first order in the centres' moves.

        An area alone in its region takes the whole of its distance, which is 0, along.
        """
        points, sources = self.territory.points[areas], self.region_of[areas]
        from_source, from_target = points - self.centres[sources], points - self.centres[targets]
        left, joined = self.distances[areas], norms(from_target)
        unit = from_source / np.maximum(left, SHORTEST)[:, None]
        source_moves = -from_source / np.maximum(self.sizes[sources] - 1, 1)[:, None]
        share = 1.0 / (self.sizes[targets] + 1)
        return (
            joined * (1 - share)
            - left
            - _sums_of_pairs((self.pull[sources] - unit) * source_moves)
            - _sums_of_pairs(self.pull[targets] * from_target * share[:, None])
        )

    def move(self, areas: np.ndarray, targets: np.ndarray, loss_change: np.ndarray) -> None:
        """Make moves of which no two share a region; loss_change : (m,), of each."""
        sources = self.region_of[areas]
        if self._rows is not None:
            self._rows.move(areas, sources, targets)
        elif self._series is not None:
            self._series.move(areas, sources, targets)
        else:
            self._move_entries(areas, targets)
        self.region_of[areas] = targets
        self.lost += float(loss_change.sum())
        changed = np.concatenate([sources, targets])
        position = np.full(self.n_regions, -1, np.int64)
        position[changed] = np.arange(len(changed), dtype=np.int64)
        of_area = position[self.region_of]
        members = np.flatnonzero(of_area >= 0)
        self._measure(members, of_area[members], changed)

    def _move_entries(self, areas: np.ndarray, targets: np.ndarray) -> None:
        own, counts = self.territory.counts[areas], self.counts.reshape(-1)
        counts[self._places(own, self.region_of[areas])] -= own.data
        counts[self._places(own, targets)] += own.data

    def _places(self, own: sparse.csr_matrix, regions: np.ndarray) -> np.ndarray:
        """Where the classes of some areas, the rows of a matrix, are counted in a region for each, (entries,) int64."""
        return (regions * self.counts.shape[1]).take(own.tocoo(copy=False).row) + own.indices


def _sums_of_pairs(pairs: np.ndarray) -> np.ndarray:
    """The sum of each row of two: in a fifth of the time of summing along an axis."""
    return pairs[:, 0] + pairs[:, 1]


def _sums_of_rows(matrix: sparse.csr_matrix, values: np.ndarray) -> np.ndarray:
    """The sum of what stands for the entries of each row of a matrix, (rows,) float."""
    sums = np.zeros(matrix.shape[0])
    if values.dtype.kind == "f":
        # In the order of the entries: other orders round otherwise.
        return np.bincount(matrix.tocoo(copy=False).row, values, len(sums))
    filled = np.flatnonzero(np.diff(matrix.indptr))
    if len(filled):
        sums[filled] = np.add.reduceat(values, matrix.indptr[filled])
    return sums


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
