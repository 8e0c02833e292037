"""What is left of the classes of one release once those of another within them are taken away.

A class of a nested release is shown in regions of several sizes, one of one level only in some of its regions. Where a
region of another release lies across some of these, all of them together hold just the people that they show: no other
region of that class touches them. What the other release shows within them can be taken away, and so can the areas of
which it is known how many they hold.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..arrays import to_list
from ..dataclass import dataclass
from ..scientific import sparse
from .chunk import Chunk
from .counts import REST
from .overlay import NONE
from .small_counts import SmallCounts, pairs_by_row, within_of


def left_of_classes(chunk: Chunk) -> Iterator[SmallCounts]:
    """What is left of each class of each release, where that is 1 to k-1 people: nothing is open of it."""
    releases = chunk.over.releases
    released = [_ReleasedClasses(chunk, release) for release in range(len(releases))]
    for release, own in enumerate(released):
        if releases[release].whole:  # of others there may be people beside those that it shows
            lefts = [left for other in released if other is not own for left in _left_of(chunk, own, other)]
            if lefts:
                yield _asked(chunk, own, sorted(lefts, key=lambda left: left.order))


class _ReleasedClasses:
    """What a release shows in a chunk, of its L equivalence classes there.

    joint_class : (u,) the class of each joint class, NONE where it has none; class_of, records : (L,) int64; cells :
    (L, cells) matrix of 0 and 1
    """

    def __init__(self, chunk: Chunk, release: int) -> None:
        families = [family for family in chunk.families if family.release == release]
        cells, records, class_of = [], [], []
        for family in families:
            equivalence_class, region, joint = chunk.equivalence_classes_of(family)
            cells.append(family.members[:-1][region])
            records.append(chunk.over.releases[release].records[equivalence_class])
            class_of.append(family.class_of[joint])
        self.release, self.joint_class = release, families[0].class_of
        self.cells = sparse.vstack(cells).tocsr()
        self.records, self.class_of = np.concatenate(records), np.concatenate(class_of)

    def class_within(self, other: _ReleasedClasses) -> np.ndarray:
        """(L of the other,) the class of this release that holds each equivalence class of another, NONE for none."""
        least = np.full(int(other.joint_class.max(initial=NONE)) + 2, np.iinfo(np.int64).max, np.int64)
        most = np.full_like(least, NONE)
        np.minimum.at(least, other.joint_class, self.joint_class)
        np.maximum.at(most, other.joint_class, self.joint_class)
        return np.where(least == most, most, NONE)[other.class_of]


@dataclass(frozen=True, eq=False)
class _Left:
    """A place and a class, and how many are left there. order : by class, other release, and equivalence classes;
    cells : those that may hold them; class_of, other, left, taken : as in SmallCounts
    """

    order: tuple[int, int, list[int]]
    cells: np.ndarray
    left: int
    taken: int


def _left_of(chunk: Chunk, own: _ReleasedClasses, theirs: _ReleasedClasses) -> Iterator[_Left]:
    """What is left of the classes of one release once what another shows within them is taken away.

    All classes at once: a column of the matrices is a cell of a class.
    """
    n_cells, n_classes = chunk.over.n_cells, int(own.joint_class.max(initial=NONE)) + 1
    wrong = np.unique(own.joint_class[chunk.contradicted])
    class_within = own.class_within(theirs)
    finer = np.flatnonzero((class_within != NONE) & np.isin(class_within, own.class_of) & ~np.isin(class_within, wrong))
    if not len(finer):
        return
    of_class = _of_class(own.cells, own.class_of, n_classes)
    parts = _of_class(theirs.cells[finer], class_within[finer], n_classes)
    # All equivalence classes of a class that touch an equivalence class of the other release, each such choice once.
    touched = _once(parts @ of_class.T)
    places = sparse.csr_matrix(touched @ of_class)
    places.data[:] = 1
    inside = within_of(places, parts)
    taken = inside @ theirs.records[finer]
    if not taken.any():
        return
    order = np.argsort(own.joint_class, kind="stable")
    starts = np.searchsorted(own.joint_class[order], np.arange(n_classes, dtype=np.int64))
    low, high = (
        np.add.reduceat(values[:, order], starts, axis=1).T.ravel() for values in (chunk.bounds.low, chunk.bounds.high)
    )
    alone = np.flatnonzero(np.diff(of_class.indptr) == 1)  # a single area shows all that it has of the class
    at = of_class.indices[of_class.indptr[alone]]
    low[at] = high[at] = own.records[alone]
    gone = sparse.csr_matrix(inside @ parts)
    gone.data[:] = 1
    known = sparse.csr_matrix(places - gone)  # 0 where somebody is gone
    known.data *= (low == high)[known.indices]
    left = within_of(places, of_class) @ own.records - taken - known @ low
    for row in to_list(np.flatnonzero((left >= 1) & (left < chunk.k) & (taken > 0))):
        column = places.indices[places.indptr[row] : places.indptr[row + 1]]
        certain = known.indices[known.indptr[row] : known.indptr[row + 1]]
        certain = certain[known.data[known.indptr[row] : known.indptr[row + 1]] > 0]
        chosen = np.sort(touched.indices[touched.indptr[row] : touched.indptr[row + 1]])
        place = int(column[0]) // n_cells, theirs.release, to_list(-chosen)
        yield _Left(place, np.setdiff1d(column, certain) % n_cells, int(left[row]), int(taken[row]))


def _of_class(cells: sparse.csr_matrix, class_of: np.ndarray, n_classes: int) -> sparse.csr_matrix:
    """(L, classes * cells) matrix of 0 and 1 from (L, cells) and the class of each row."""
    n_cells = cells.shape[1]
    column = cells.indices + n_cells * np.repeat(class_of, np.diff(cells.indptr))
    return sparse.csr_matrix((cells.data, column, cells.indptr), shape=(cells.shape[0], n_classes * n_cells))


def _once(rows: sparse.csr_matrix) -> sparse.csr_matrix:
    """(r, n) matrix of 0 and 1: which columns of a row are not 0, each such choice once, without that of none."""
    rows = sparse.csr_matrix(rows)
    rows.data = np.ones(len(rows.data), np.int64)
    draws = np.random.default_rng(0).integers(0, 2**62, rows.shape[1], dtype=np.uint64)
    some = np.flatnonzero(np.diff(rows.indptr))
    keys = np.add.reduceat(draws[rows.indices], rows.indptr[some]) if len(some) else np.empty(0, np.uint64)
    return rows[some[np.unique(keys, return_index=True)[1]]]


def _asked(chunk: Chunk, own: _ReleasedClasses, lefts: list[_Left]) -> SmallCounts:
    """What is left of the classes of a release, as it is asked about."""
    sizes = np.array([len(rest.cells) for rest in lefts], np.int64)
    cell = np.concatenate([rest.cells for rest in lefts])
    ones, row = np.ones(len(cell), np.int64), np.repeat(np.arange(len(lefts), dtype=np.int64), sizes)
    people = sparse.csr_matrix((ones, (row, cell)), shape=(len(lefts), chunk.over.n_cells))
    joint = np.array([rest.order[0] for rest in lefts], np.int64)[:, None] == own.joint_class
    left, taken = (np.array([getattr(rest, name) for rest in lefts], np.int64) for name in ("left", "taken"))
    return SmallCounts(
        pairs_by_row(people, sparse.csr_matrix(joint.astype(np.int64)), chunk.n_joint),
        left,
        left,
        taken,
        np.full(len(lefts), REST, dtype=object),
        np.array([rest.order[1] for rest in lefts], np.int64),
        0,
    )
