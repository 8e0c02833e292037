"""Cells partitioned into groups that reach their minimums in every year: a file per approach, `APPROACHES` by name.

An approach is called as `approach(area, draws, options, progress)` on one area (`ConnectedCells`) and returns its
`Grouping`; `partition_cells` does the whole job and ends in a crosswalk (Bjerre-Nielsen & Gandil 2018).
"""

from __future__ import annotations

from .cells import Cells, PartitionOptions, make_cells
from .measures import Minimum
from .partition import APPROACHES, REASONS, Partition, partition_cells

__all__ = [
    "APPROACHES",
    "REASONS",
    "Cells",
    "Minimum",
    "Partition",
    "PartitionOptions",
    "make_cells",
    "partition_cells",
]
