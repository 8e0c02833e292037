"""Nested levels as a tree: regions renumbered so that those within one region follow each other at every level."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..dataclass import dataclass


@dataclass(frozen=True, eq=False)
class Tree:
    """Levels of regions in an order in which cells that are sorted once stay sorted at every level.

    place : (n,) int64, the place of each area at the finest level, -1 where it has none. A place is a region, numbered
    such that those within a region of the next level follow each other, ascending by their own number
    within : of each level but the last, the place at the next level that holds each place, ascending
    loss : of each level, the loss of a record that is released in each place
    """

    place: np.ndarray
    within: tuple[np.ndarray, ...]
    loss: tuple[np.ndarray, ...]

    def __len__(self) -> int:
        return len(self.loss)


def tree_of(region_of: Sequence[np.ndarray], losses: Sequence[np.ndarray]) -> Tree:
    """The tree of nested levels, finest first.

    region_of : of each level, the region of each area, (n,), -1 for areas without cells; losses : of each level, the
    loss of a record that is released in each of its regions
    """
    rank = np.arange(len(losses[-1]), dtype=np.int64)
    within: list[np.ndarray] = []
    loss = [losses[-1]]
    for level in range(len(losses) - 2, -1, -1):
        inside = region_of[level] >= 0
        parent = np.zeros(len(losses[level]), np.int64)
        parent[region_of[level][inside]] = region_of[level + 1][inside]
        order = np.argsort(rank[parent], kind="stable")
        within.insert(0, rank[parent][order])
        loss.insert(0, losses[level][order])
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order), dtype=np.int64)
    return Tree(np.append(rank, -1)[region_of[0]], tuple(within), tuple(loss))
