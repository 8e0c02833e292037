"""Counts of a few people that are asked about, as sums of the unknowns of a chunk."""

from __future__ import annotations

import numpy as np

from ..dataclass import dataclass
from ..scientific import sparse


@dataclass(frozen=True, eq=False)
class SmallCounts:
    """Counts that may hold 1 to k-1 people as far as propagation can tell, and those that must.

    members : (q, cells * u) matrix of 0 and 1; low, high : (q,) int64 bounds; taken : (q,) int64, what is taken away
    from the people of the members; kind : (q,) object array of KINDS; release : (q,) whose counts are taken away, or
    whose region it is, NONE for none; n_left_out : counts that may and need not, where only those that must were
    wanted, and those that are too large to be decided; left_out : some of these: their cells and joint classes
    n_tried : so many were looked at, those ruled out among them
    """

    members: sparse.csr_matrix
    low: np.ndarray
    high: np.ndarray
    taken: np.ndarray
    kind: np.ndarray
    release: np.ndarray
    n_left_out: int
    left_out: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    n_tried: int = 0


def memberships(part_of: np.ndarray, n: int) -> sparse.csr_matrix:
    """(n, things) matrix of 0 and 1: which things are in each part; part_of : (things,), negative for those in none."""
    there = np.flatnonzero(part_of >= 0)
    there = there[np.argsort(part_of[there], kind="stable")]
    ends = np.append(0, np.cumsum(np.bincount(part_of[there], minlength=n)))
    # Whole numbers as scipy keeps them: others are looked through for what is too large.
    indices, ends = there.astype(np.int32), ends.astype(np.int32)
    return sparse.csr_matrix((np.ones(len(there), np.int64), indices, ends), shape=(n, len(part_of)))


def within_of(outer: sparse.csr_matrix, inner: sparse.csr_matrix) -> sparse.csr_matrix:
    """(a, b) matrix of 0 and 1: which rows of `inner`, (b, n), lie whole in each row of `outer`, (a, n).

    Both hold only what is not 0.
    """
    overlaps = sparse.csr_matrix(outer @ inner.T)
    overlaps.data = (overlaps.data == np.diff(inner.indptr)[overlaps.indices]).astype(np.int64)
    overlaps.eliminate_zeros()
    return overlaps


def pairs_by_row(cells: sparse.csr_matrix, joint: sparse.csr_matrix, n_joint: int) -> sparse.csr_matrix:
    """Row by row, all pairs of a cell and a joint class: (q, cells * u) from (q, cells) and (q, u)."""
    n_cells, n_classes = np.diff(cells.indptr), np.diff(joint.indptr)
    row = np.repeat(np.arange(len(n_cells), dtype=np.int64), n_cells)
    times = n_classes[row]
    of_cell = np.repeat(cells.indices.astype(np.int64), times)
    within = np.arange(times.sum(), dtype=np.int64) - np.repeat(np.cumsum(times, dtype=np.int64) - times, times)
    of_joint = joint.indices[np.repeat(joint.indptr[:-1][row], times) + within]
    column = of_cell * n_joint + of_joint
    shape = (len(n_cells), cells.shape[1] * n_joint)
    return sparse.csr_matrix((np.ones(len(column), np.int64), (np.repeat(row, times), column)), shape=shape)
