"""Which areas are neighbours, and the length of the border they share."""

from __future__ import annotations

import numpy as np

from .dataclass import dataclass
from .scientific import sparse


@dataclass(frozen=True, eq=False)
class Adjacency:
    """The neighbours of n areas, each pair listed from both sides: area i has others[starts[i]:starts[i + 1]].

    starts : (n + 1,) int64; others : (2 b,) int64, ascending for each area
    borders : (2 b,) float, metres of border that each pair shares, 0 where none, NaN where it was not measured
    """

    starts: np.ndarray
    others: np.ndarray
    borders: np.ndarray

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def owners(self) -> np.ndarray:
        """The area each entry belongs to, (2 b,) int64."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.starts))

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Every pair of neighbours once, the lower number in front: two (b,) int64 arrays."""
        owners = self.owners
        once = owners < self.others
        return owners[once], self.others[once]

    def matrix(self) -> sparse.csr_matrix:
        """(n, n) matrix with a 1 for each pair of neighbours, from both sides."""
        return sparse.csr_matrix((np.ones(len(self.others), np.int8), self.others, self.starts), shape=(len(self),) * 2)

    def components(self) -> np.ndarray:
        """Which connected part of the map each area belongs to, (n,) int64 from 0."""
        first, second = self.pairs()
        return connected_parts(first, second, len(self))

    def within(self, members: np.ndarray) -> Adjacency:
        """That of some of the areas alone, numbered from 0; members : (m,) their positions, ascending."""
        number = np.full(len(self), -1, np.int64)
        number[members] = np.arange(len(members), dtype=np.int64)
        first, second = number[self.owners], number[self.others]
        pairs = (first >= 0) & (first < second)
        return adjacency_of_pairs(first[pairs], second[pairs], self.borders[pairs], len(members))


def adjacency_of_pairs(first: np.ndarray, second: np.ndarray, borders: np.ndarray, n: int) -> Adjacency:
    """Adjacency of n areas from pairs (b,), each given once.

    borders : (b,) metres they share, NaN where it was not measured
    """
    owners, others = np.concatenate([first, second]), np.concatenate([second, first])
    order = np.lexsort([others, owners])
    starts = np.searchsorted(owners[order], np.arange(n + 1, dtype=np.int64))
    return Adjacency(starts.astype(np.int64), others[order].astype(np.int64), np.tile(borders, 2)[order].astype(float))


def connected_parts(first: np.ndarray, second: np.ndarray, n: int) -> np.ndarray:
    """The connected part each of n areas belongs to, (n,) int64 from 0; first, second : (b,) the pairs connected."""
    links = sparse.coo_matrix((np.ones(len(first), np.int8), (first, second)), shape=(n, n))
    return sparse.csgraph.connected_components(links, directed=False)[1].astype(np.int64)
