"""What a plan shows where, cell by cell, as it is held against tables of counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import turns
from ..crosswalk import Crosswalk
from ..dataclass import dataclass
from ..disclosure.count_tables import CountTable
from ..levels import Levels
from ..plan import SUPPRESSED, area_of_cells
from ..profile import Profile
from ..scientific import sparse
from .series import Series


@dataclass(frozen=True, eq=False)
class ReleasedCells:
    """What is shown where, cell by cell of a profile, under levels; class_of : of each level, as in `Storeys`.

    in_part : whether classes that are shown may lack some of their people, as those of an update do
    areas_first : whether level 0 is that of the areas, each of one row of the profile or more, and shows nothing
    """

    profile: Profile
    levels: Levels
    class_of: Sequence[np.ndarray | None]
    k: int
    level_of: np.ndarray
    in_zones: bool
    series: Series | None = None
    in_part: bool = False
    areas_first: bool = False

    @property
    def mates(self) -> tuple[np.ndarray, list[sparse.csr_matrix]] | None:
        """Of classes that are the same in all periods, what regions show in some period, as in `Storeys`."""
        if self.series is None:
            return None
        base, last = self.series.base, len(self.levels) - 1
        level_of = np.full(base.counts.nnz, SUPPRESSED, np.int64)
        level_of[self.series.cell] = self.level_of
        matrices = []
        for level, crosswalk in enumerate(self.levels.crosswalks):
            cells = np.flatnonzero(level_of >= 0 if level == last else level_of == level)
            at = crosswalk.region_of[area_of_cells(base)[cells]], base.counts.indices[cells]
            shape = (crosswalk.n_regions, base.counts.shape[1])
            matrices.append(sparse.csr_matrix((np.ones(len(cells), np.int64), at), shape=shape))
        return self.series.class_of, matrices

    @property
    def bounded(self) -> bool:
        """Whether all classes that a coarsest region does not show have fewer than k records there."""
        if self.in_part:
            return False
        region = self.levels.crosswalks[-1].region_of[area_of_cells(self.profile)]
        of, lost = self.class_of[-1], (region >= 0) & (self.level_of == SUPPRESSED)
        class_of = self.profile.counts.indices if of is None else of[self.profile.counts.indices]
        _, at = np.unique(region[lost] * len(self.profile.classes) + class_of[lost], return_inverse=True)
        return bool((np.bincount(at.reshape(-1), self.profile.counts.data[lost]) < self.k).all())


@dataclass(frozen=True, eq=False)
class InRows:
    """Cells of which no two have the same row of their profile and the same class; see `in_rows`.

    tables, losses : of these rows and levels; position : (m,) of each cell that there was, that among these
    """

    cells: ReleasedCells
    tables: Sequence[CountTable]
    losses: Sequence[np.ndarray]
    position: np.ndarray

    def levels_of(self, level_of: np.ndarray) -> np.ndarray:
        """The levels of the cells that there were, (m,); level_of : of these."""
        own: np.ndarray = level_of[self.position]
        return np.where(own > 0, own - 1, SUPPRESSED).astype(np.int8)


def in_rows(
    cells: ReleasedCells, everybody: Profile, tables: Sequence[CountTable], losses: Sequence[np.ndarray]
) -> InRows:
    """The cells of a plan in part, with an area in as many rows as it has people of one class in different places.

    everybody : all people, those too whom no cell holds, as they wait; losses : of each level, by region
    The areas are one more level, below the others: whose people a row has nobody knows, and nobody asks.
    """
    n, n_classes = everybody.counts.shape
    area, class_of = area_of_cells(cells.profile), cells.profile.counts.indices.astype(np.int64)
    held = sparse.csr_matrix((cells.profile.counts.data.astype(np.int64), (area, class_of)), shape=(n, n_classes))
    waiting = (everybody.counts - held).tocoo()
    some = waiting.data > 0
    area, class_of = np.append(area, waiting.row[some]), np.append(class_of, waiting.col[some])
    people = np.append(cells.profile.counts.data, waiting.data[some])
    level_of = np.append(
        np.where(cells.level_of >= 0, cells.level_of + 1, SUPPRESSED), np.full(some.sum(), SUPPRESSED, np.int64)
    )

    order = np.lexsort((class_of, area))
    number = np.empty(len(order), np.int64)
    number[order] = turns(area[order] * n_classes + class_of[order])
    n_rows = np.ones(n, np.int64)
    np.maximum.at(n_rows, area, number + 1)
    row = (np.cumsum(n_rows) - n_rows)[area] + number

    order = np.lexsort((class_of, row))
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order), dtype=np.int64)
    ends = np.searchsorted(row[order], np.arange(n_rows.sum() + 1, dtype=np.int64))
    shape = (int(n_rows.sum()), n_classes)
    counts = sparse.csr_matrix((people[order], class_of[order], ends), shape=shape)
    area_of = np.repeat(np.arange(n, dtype=np.int64), n_rows)
    crosswalks = (replace(crosswalk, region_of=crosswalk.region_of[area_of]) for crosswalk in cells.levels.crosswalks)
    by_row = replace(
        cells,
        profile=replace(cells.profile, counts=counts),
        levels=Levels((Crosswalk(area_of, n), *crosswalks)),
        class_of=(None, *cells.class_of),
        level_of=level_of[order].astype(np.int8),
        areas_first=True,
    )
    own_tables = [replace(table, zone_of=table.zone_of[area_of]) for table in tables]
    return InRows(by_row, own_tables, [np.zeros(n), *losses], position[: len(cells.level_of)])
