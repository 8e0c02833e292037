"""What every way to partition is called with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PartitionOptions:
    """Settings; each approach reads those it needs.

    neighbours_by_corner and the minimums belong to the cells; here are the settings of the search:
    attempts : growths that may fail before `random growth` gives up (R of Algorithm 1), in each area
    restarts : runs from different starts, of which the best by the loss is kept, area by area
    beta : weight of the people left out in the loss; seed : of every random draw
    newly_built_first : whether `random growth` partitions newly built cells among themselves first
    exchanges : whether cells are exchanged between groups in the end
    regroupings : how often, per group, `compact growth` merges a group with neighbours and splits it anew
    chunk_cells : connected areas of more cells are cut into Louvain communities; 0 never
    empty_years : whether a group may have nobody in a year, as one of newly built cells has before they were built
    """

    attempts: int = 10_000
    restarts: int = 10
    beta: float = 0.99
    seed: int = 0
    newly_built_first: bool = True
    exchanges: bool = True
    regroupings: int = 30
    chunk_cells: int = 0
    empty_years: bool = False
