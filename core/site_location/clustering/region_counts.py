"""Records by aggregated region and class while sites move: the counts G, changed region by region."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy import sparse


class LocalCounts(ABC):
    """The counts of the few regions that a few areas could leave or join, as they are."""

    @abstractmethod
    def levels(self, slot: np.ndarray, signs: np.ndarray) -> np.ndarray:
        """The levels, (3, P) as from `levels_of_rows`, of regions after areas have left or joined them.

        slot : (P,) positions among the regions; signs : (P, m) int8, 1 for an area that joins, -1 for one that leaves
        """

    @abstractmethod
    def transfer(self, slot: int, signs: np.ndarray) -> None:
        """Let areas leave and join a region for good; signs : (m,). What is local is out of date then."""


class RegionCounts(ABC):
    """The counts G[a, c] of the aggregated regions and M[i, c] of the areas."""

    @abstractmethod
    def local(self, regions: np.ndarray, areas: np.ndarray) -> LocalCounts:
        """The counts of some regions (t,), which some areas (m,) may leave or join."""

    @abstractmethod
    def of(self, regions: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """G for some regions (t,) and classes (B,): (t, B) float."""

    @abstractmethod
    def at(self, region: int, level: int) -> np.ndarray:
        """The classes, ascending, of which the region has exactly `level` (> 0) records."""


def group(counts: sparse.csr_matrix, region_of: np.ndarray, n_regions: int) -> sparse.csr_matrix:
    """G as a sparse matrix, (n_regions, C), its columns sorted, from counts (n, C) and the region of each area (n,)."""
    ones = np.ones(len(region_of), np.int64)
    membership = sparse.csr_matrix((ones, (region_of, np.arange(len(region_of)))), (n_regions, len(region_of)))
    grouped = membership @ counts
    grouped.eliminate_zeros()
    grouped.sort_indices()
    return grouped


def levels_of_groups(grouped: sparse.csr_matrix) -> np.ndarray:
    """Level, classes at that level and classes of each region, (3, S) int64, from G without explicit zeros.

    The level is the least count of a class that occurs, 0 where none does.
    """
    classes = np.diff(grouped.indptr).astype(np.int64)
    level, at_level = np.zeros(len(classes), np.int64), np.zeros(len(classes), np.int64)
    filled = classes > 0
    if filled.any():
        starts = grouped.indptr[:-1][filled]
        level[filled] = np.minimum.reduceat(grouped.data, starts)
        at_level[filled] = np.add.reduceat((grouped.data == np.repeat(level, classes)).astype(np.int64), starts)
    return np.stack([level, at_level, classes])
