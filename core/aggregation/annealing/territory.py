"""The territory that is divided: the areas, their neighbours, and the records of each class that live there."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...adjacency import Adjacency
from ...dataclass import dataclass
from ...elementary import norms
from ...privacy.series import Series, series_of
from ...profile import Profile
from ...scientific import sparse

MOST_32_BITS = 2**31 - 1
MOST_16_BITS = 2**16 - 1
# Whole rows are looked at, in numbers of 16 bits, where at least this share of the classes lives in an area: an entry
# found by its index takes as long as some ten of a row. They take 400 MB at most.
LEAST_DENSE, MOST_DENSE = 1 / 16, 200_000_000


@dataclass(frozen=True, eq=False)
class Territory:
    """Fixed inputs of the annealing.

    points : (n, 2) metres, near the origin; adjacency : of the n areas; counts : (n, C) records of each class that some
    region could release; k : the smallest class that is released; weights : (C,) what a suppressed record of each class
    weighs, None for 1 each; unavoidable : weight of the records of all other classes, suppressed whatever the regions
    are; total : weight of all records
    n_periods : of classes that are the same in all periods, how many these are: the classes of the first period come
    first, then the same of the second, and so on; in a region all of a class are suppressed that has 1 to k - 1 in one
    """

    points: np.ndarray
    adjacency: Adjacency
    counts: sparse.csr_matrix
    k: int
    weights: np.ndarray | None
    unavoidable: float
    total: float
    n_periods: int = 1

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where the entries of each area begin in `counts`, (n + 1,) int64."""
        return self.counts.indptr.astype(np.int64)

    @cached_property
    def owners(self) -> np.ndarray:
        """The area of each entry of the adjacency, (2 b,) int64."""
        return self.adjacency.owners

    @cached_property
    def spacing(self) -> float:
        """A distance that is typical of neighbours, metres: their mean."""
        first, second = self.adjacency.pairs()
        offsets = self.points[first] - self.points[second]
        return float(norms(offsets).mean()) if len(first) else 0.0

    @cached_property
    def dense(self) -> np.ndarray | None:
        """The same as `counts`, (n, C) uint16, where looking at whole rows is faster and all fits into them."""
        n, n_classes = self.counts.shape
        most = int(self.counts.data.max(initial=0))
        if (
            self.weights is not None
            or self.n_periods > 1
            or n * n_classes > MOST_DENSE
            or 2 * most + self.k > MOST_16_BITS
        ):
            return None
        if self.counts.nnz < LEAST_DENSE * n * n_classes:
            return None
        return self.counts.astype(np.uint16).toarray()

    @cached_property
    def series_of_areas(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of classes that are the same in all periods, those of each area: where they begin, (n + 1,) int64; the
        classes, (m,); and the records in each period, (n_periods, m)."""
        n, n_series = self.counts.shape[0], max(self.counts.shape[1] // self.n_periods, 1)
        of_all = self.counts.tocoo()
        period, class_of = np.divmod(of_all.col.astype(np.int64), n_series)
        key, at = np.unique(of_all.row * n_series + class_of, return_inverse=True)
        records = np.zeros((self.n_periods, len(key)), self.counts.dtype)
        records[period, at.reshape(-1)] = of_all.data
        area, class_of = np.divmod(key, n_series)
        return np.searchsorted(area, np.arange(n + 1, dtype=np.int64)), class_of, records

    def n_entries(self, areas: np.ndarray) -> int:
        """How many entries some areas have in `counts`."""
        return int((self.starts[areas + 1] - self.starts[areas]).sum())

    def lost(self, records: np.ndarray, class_of: np.ndarray | slice = slice(None)) -> np.ndarray:
        """The weight of what is suppressed of so many records of a class in a region, of the shape of `records`."""
        below: np.ndarray = np.multiply(records, records < self.k)
        return below if self.weights is None else below * self.weights[class_of]

    def lost_of_regions(self, counts: np.ndarray) -> np.ndarray:
        """The weight of what regions suppress, (n_regions,); counts : (n_regions, C) records."""
        if self.n_periods == 1:
            return self.lost(counts).sum(axis=1)
        return self.lost_of_series(counts).sum(axis=1)

    def lost_of_series(self, counts: np.ndarray) -> np.ndarray:
        """The weight of what regions suppress of each class over all periods, (n_regions, C / n_periods)."""
        by_period = counts.reshape(len(counts), self.n_periods, -1)
        short = ((by_period > 0) & (by_period < self.k)).any(axis=1)
        if self.weights is not None:
            by_period = by_period * self.weights.reshape(self.n_periods, -1)
        return by_period.sum(axis=1) * short

    def grouped(self, region_of: np.ndarray, n_regions: int) -> sparse.csr_matrix:
        """The records of each class in each region, (n_regions, C)."""
        ones = np.ones(len(self), self.counts.dtype)
        members = sparse.csr_matrix(
            (ones, (region_of, np.arange(len(self), dtype=np.int64))), shape=(n_regions, len(self))
        )
        return (members @ self.counts).tocsr()

    def lost_of_rows(self, grouped: sparse.csr_matrix) -> np.ndarray:
        """The weight of what each row of such a matrix suppresses, (n_regions,) float."""
        row, n_regions = (
            np.repeat(np.arange(grouped.shape[0], dtype=np.int64), np.diff(grouped.indptr)),
            grouped.shape[0],
        )
        if self.n_periods == 1:
            return np.bincount(row, self.lost(grouped.data, grouped.indices), n_regions)
        n_series = grouped.shape[1] // self.n_periods
        key = row * n_series + grouped.indices % n_series
        short = np.bincount(key[grouped.data < self.k], minlength=n_regions * n_series) > 0
        weight = grouped.data if self.weights is None else grouped.data * self.weights[grouped.indices]
        return np.bincount(row, weight * short[key], n_regions)


def territory_of(
    points: np.ndarray,
    adjacency: Adjacency,
    profile: Profile,
    k: int,
    weights: np.ndarray | None,
    period: str = "",
) -> Territory:
    """The territory of these areas; classes that no region could release are set aside.

    period : the quasi-identifier that says the period, of classes that are the same in all periods
    """
    sizes = np.asarray(profile.counts.sum(axis=0)).reshape(-1)
    weight = sizes if weights is None else sizes * weights
    kept, n_periods = np.flatnonzero(sizes >= k), 1
    counts = profile.counts.tocsc()
    if period:
        kept, n_periods = _whole_in_all(series_of(profile, period), sizes, k)
        # A class that nobody has in some period has a column without entries there, the last.
        counts = sparse.hstack([counts, sparse.csc_matrix((len(points), 1), dtype=counts.dtype)], "csc")
        weights = None if weights is None else np.append(weights, 0.0)
        weight = np.append(weight, 0)
    counts = counts[:, kept].tocsr()
    counts = counts.astype(np.int32 if sizes.sum() <= MOST_32_BITS else np.int64)
    return Territory(
        points - points.mean(axis=0),
        adjacency,
        counts,
        k,
        None if weights is None else weights[kept],
        float(weight.sum() - weight[kept].sum()),
        float(weight.sum()),
        n_periods,
    )


def _whole_in_all(series: Series, sizes: np.ndarray, k: int) -> tuple[np.ndarray, int]:
    """The classes that some region could release in all periods, period by period, (T C',) positions, the last but one
    more where nobody has it; and how many periods there are. sizes : (C,) records of each class with its period."""
    n_series = int(series.class_of.max(initial=-1)) + 1
    position = np.full((series.n_periods, n_series), len(sizes), np.int64)
    position[series.period_of, series.class_of] = np.arange(len(sizes), dtype=np.int64)
    there = np.append(sizes, 0)[position]
    whole = (there > 0).any(axis=0) & ~((there > 0) & (there < k)).any(axis=0)
    return position[:, whole].reshape(-1), series.n_periods
