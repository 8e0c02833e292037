"""Sums that may hold 1 to k-1 people as far as interval propagation can tell: what is asked of several releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .chunk import Chunk
from .overlay import UNBOUNDED, differences


@dataclass(frozen=True, eq=False)
class SmallSums:
    """Sums of the unknowns of a chunk, and the releases that they are of (none where that is told by the cell).

    members : (q, cells * u) matrix of 0 and 1; low, high : (q,) int64 bounds; releases : q of them, or none
    """

    members: sparse.csr_matrix
    low: np.ndarray
    high: np.ndarray
    releases: Sequence[tuple[int, ...]]


def small_cells(chunk: Chunk) -> SmallSums:
    """All overlay cells by joint class that may hold 1 to k-1 people as far as propagation can tell."""
    bounds = chunk.bounds
    may = (bounds.low < chunk.k) & (bounds.high >= 1) & ~chunk.contradicted
    at = np.flatnonzero(may.ravel())
    members = sparse.csr_matrix(
        (np.ones(len(at), np.int64), (np.arange(len(at)), at)), shape=(len(at), bounds.low.size)
    )
    return SmallSums(members, bounds.low.ravel()[at], bounds.high.ravel()[at], [])


def small_suppressed(chunk: Chunk) -> SmallSums:
    """Suppressed classes of regions of more than one overlay cell or joint class."""
    low, high, parts, releases = [], [], [], []
    n_joint = chunk.n_joint
    for one, least, most in zip(chunk.families, chunk.bounds.sum_low, chunk.bounds.sum_high):
        region, class_of = np.nonzero((one.low == 0) & (least < chunk.k) & (most >= 1) & (most < UNBOUNDED))
        rows = one.members()[region]
        of_class = (one.class_of == class_of[:, None]) & ~chunk.contradicted
        several = np.asarray(rows.sum(axis=1)).ravel() * of_class.sum(axis=1) > 1
        several &= of_class.any(axis=1) & (one.low[region, class_of] == 0) & one.exact
        rows, of_class, region, class_of = rows[several], of_class[several], region[several], class_of[several]
        low.append(least[region, class_of])
        high.append(most[region, class_of])
        parts.append(_pairs_by_row(rows, sparse.csr_matrix(of_class.astype(np.int64)), n_joint))
        releases += [(one.release,)] * len(region)
    return SmallSums(sparse.vstack(parts).tocsr(), np.concatenate(low), np.concatenate(high), releases)


def small_differences(chunk: Chunk) -> SmallSums:
    """Differences of two regions of two releases, one within the other, of more than one overlay cell."""
    low, high, rows, columns, releases = [], [], [], [], []
    n_joint, first = chunk.n_joint, 0
    exact = [i for i, one in enumerate(chunk.families) if one.exact]
    for large, small in ((a, b) for a in exact for b in exact if _comparable(chunk, a, b)):
        outer, inner = chunk.families[large], chunk.families[small]
        for b, a, left in differences(outer, inner):
            least, most = _bounds_of_difference(chunk, large, small, b, a, left)
            may = np.flatnonzero((least < chunk.k) & (most >= 1) & ~chunk.contradicted & (outer.class_of >= 0))
            rows.append(first + np.repeat(np.arange(len(may)), len(left)))
            columns.append((left * n_joint + may[:, None]).ravel())
            low.append(least[may])
            high.append(most[may])
            releases += [(outer.release, inner.release)] * len(may)
            first += len(may)
    row, column = (np.concatenate([np.empty(0, np.int64), *parts]) for parts in (rows, columns))
    shape = (first, chunk.bounds.low.size)
    members = sparse.csr_matrix((np.ones(len(row), np.int64), (row, column)), shape=shape)
    nothing = np.empty(0, np.int64)
    return SmallSums(members, np.concatenate([nothing, *low]), np.concatenate([nothing, *high]), releases)


def _comparable(chunk: Chunk, large: int, small: int) -> bool:
    outer, inner = chunk.families[large], chunk.families[small]
    schema = chunk.over.schema_of
    plain = len(np.unique(outer.class_of[outer.class_of >= 0])) == (outer.class_of >= 0).sum()
    return outer.release != inner.release and schema[outer.release] == schema[inner.release] and plain


def _bounds_of_difference(
    chunk: Chunk, large: int, small: int, b: int, a: int, left: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the people of region b who are not in region a, by joint class."""
    bounds, class_of = chunk.bounds, chunk.families[large].class_of
    low = bounds.sum_low[large][b, class_of] - bounds.sum_high[small][a, class_of]
    high = bounds.sum_high[large][b, class_of] - bounds.sum_low[small][a, class_of]
    return np.maximum(low, bounds.low[left].sum(axis=0)), np.minimum(high, bounds.high[left].sum(axis=0))


def _pairs_by_row(cells: sparse.csr_matrix, joint: sparse.csr_matrix, n_joint: int) -> sparse.csr_matrix:
    """Row by row, all pairs of a cell and a joint class: (q, cells * u) from (q, cells) and (q, u)."""
    n_cells, n_classes = np.diff(cells.indptr), np.diff(joint.indptr)
    row = np.repeat(np.arange(len(n_cells)), n_cells)
    times = n_classes[row]
    of_cell = np.repeat(cells.indices.astype(np.int64), times)
    within = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    of_joint = joint.indices[np.repeat(joint.indptr[:-1][row], times) + within]
    column = of_cell * n_joint + of_joint
    shape = (len(n_cells), cells.shape[1] * n_joint)
    return sparse.csr_matrix((np.ones(len(column), np.int64), (np.repeat(row, times), column)), shape=shape)
