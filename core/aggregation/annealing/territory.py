"""The territory that is divided: the areas, their neighbours, and the records of each class that live there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...adjacency import Adjacency
from ...elementary import norms
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
    """

    points: np.ndarray
    adjacency: Adjacency
    counts: sparse.csr_matrix
    k: int
    weights: np.ndarray | None
    unavoidable: float
    total: float

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
        if self.weights is not None or n * n_classes > MOST_DENSE or 2 * most + self.k > MOST_16_BITS:
            return None
        if self.counts.nnz < LEAST_DENSE * n * n_classes:
            return None
        return self.counts.astype(np.uint16).toarray()

    def n_entries(self, areas: np.ndarray) -> int:
        """How many entries some areas have in `counts`."""
        return int((self.starts[areas + 1] - self.starts[areas]).sum())

    def lost(self, records: np.ndarray, class_of: np.ndarray | slice = slice(None)) -> np.ndarray:
        """The weight of what is suppressed of so many records of a class in a region, of the shape of `records`."""
        below: np.ndarray = np.multiply(records, records < self.k)
        return below if self.weights is None else below * self.weights[class_of]

    def grouped(self, region_of: np.ndarray, n_regions: int) -> sparse.csr_matrix:
        """The records of each class in each region, (n_regions, C)."""
        ones = np.ones(len(self), self.counts.dtype)
        members = sparse.csr_matrix((ones, (region_of, np.arange(len(self)))), shape=(n_regions, len(self)))
        return (members @ self.counts).tocsr()

    def lost_of_rows(self, grouped: sparse.csr_matrix) -> np.ndarray:
        """The weight of what each row of such a matrix suppresses, (n_regions,) float."""
        row = np.repeat(np.arange(grouped.shape[0]), np.diff(grouped.indptr))
        return np.bincount(row, self.lost(grouped.data, grouped.indices), grouped.shape[0])


def runs(starts: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The positions of several runs one after the other, (sum of lengths,), and the lengths."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths), lengths


def territory_of(
    points: np.ndarray, adjacency: Adjacency, profile: Profile, k: int, weights: np.ndarray | None
) -> Territory:
    """The territory of these areas; classes of fewer than k records everywhere together are set aside."""
    sizes = np.asarray(profile.counts.sum(axis=0)).reshape(-1)
    weight = sizes if weights is None else sizes * weights
    kept = np.flatnonzero(sizes >= k)
    counts = profile.counts.tocsc()[:, kept].tocsr()
    counts = counts.astype(np.int32 if sizes.sum() <= MOST_32_BITS else np.int64)
    return Territory(
        points - points.mean(axis=0),
        adjacency,
        counts,
        k,
        None if weights is None else weights[kept],
        float(weight.sum() - weight[kept].sum()),
        float(weight.sum()),
    )
