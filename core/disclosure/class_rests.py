"""What is left of the classes of one release once those of another within them are taken away.

A class of a nested release is shown in regions of several sizes, one of one level only in some of its regions. Where a
region of another release lies across some of these, all of them together hold just the people that they show: no other
region of that class touches them. What the other release shows within them can be taken away, and so can the areas of
which it is known how many they hold.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from ..arrays import to_list
from .chunk import Chunk
from .counts import REST
from .small_counts import Asked, pairs_by_row, within_of


def left_of_classes(chunk: Chunk) -> Iterator[Asked]:
    """What is left of each class of each release, where that is 1 to k-1 people: nothing is open of it."""
    releases = chunk.over.releases
    shown = [_Shown(chunk, release) for release in range(len(releases))]
    for release, own in enumerate(shown):
        if not releases[release].whole:
            continue  # there may be people beside those that it shows
        for class_of in own.classes():
            for other, theirs in enumerate(shown):
                if other != release:
                    yield from _left_of_class(chunk, own, theirs, class_of, other)


class _Shown:
    """What a release shows in a chunk. cells : (L, cells) matrix of 0 and 1, of its L equivalence classes there;
    members : (L, u) bool; records, class_of : (L,) int64
    """

    def __init__(self, chunk: Chunk, release: int) -> None:
        cells, members, records, class_of = [], [], [], []
        for family in (family for family in chunk.families if family.release == release):
            equivalence_class, region, joint = chunk.equivalence_classes_of(family)
            cells.append(family.members()[:-1][region])
            members.append(family.class_of[None, :] == family.class_of[joint][:, None])
            records.append(chunk.over.releases[release].records[equivalence_class])
            class_of.append(family.class_of[joint])
        self.cells = sparse.vstack(cells).tocsr()
        self.members = np.concatenate(members)
        self.records, self.class_of = np.concatenate(records), np.concatenate(class_of)

    def classes(self) -> list[int]:
        """The classes that are shown."""
        return to_list(np.unique(self.class_of))


def _left_of_class(chunk: Chunk, own: _Shown, theirs: _Shown, class_of: int, other: int) -> Iterator[Asked]:
    """What is left of one class once what another release shows within it is taken away."""
    mine = own.class_of == class_of
    joint = own.members[mine.argmax()]
    finer = ~(theirs.members & ~joint).any(axis=1)
    if chunk.contradicted[joint].any() or not finer.any():
        return
    equivalence_classes, parts = own.cells[mine], theirs.cells[finer]
    # All equivalence classes of the class that touch an equivalence class of the other release, each such choice once.
    touched = np.unique((parts @ equivalence_classes.T).toarray() > 0, axis=0)
    touched = touched[touched.any(axis=1)].astype(np.int64)
    cells = (touched @ equivalence_classes > 0).astype(np.int64)
    places = sparse.csr_matrix(cells)
    inside, within = within_of(places, parts), within_of(places, equivalence_classes)
    low, high = chunk.bounds.low[:, joint].sum(axis=1), chunk.bounds.high[:, joint].sum(axis=1)
    alone = np.diff(equivalence_classes.indptr) == 1  # a single area shows all that it has of the class
    low[equivalence_classes[alone].indices] = high[equivalence_classes[alone].indices] = own.records[mine][alone]
    known = (cells > 0) & (low == high) & ~(inside @ parts).toarray().astype(bool)
    taken = inside @ theirs.records[finer]
    left = within @ own.records[mine] - taken - known @ low
    at = np.flatnonzero((left >= 1) & (left < chunk.k) & (taken > 0))
    if len(at):
        people = sparse.csr_matrix(((cells > 0) & ~known)[at].astype(np.int64))
        groups = sparse.csr_matrix(np.tile(joint.astype(np.int64), (len(at), 1)))
        yield Asked(
            pairs_by_row(people, groups, chunk.n_joint),
            left[at],
            left[at],
            taken[at],
            np.full(len(at), REST, dtype=object),
            np.full(len(at), other),
            0,
        )
