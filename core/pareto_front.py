"""The Pareto front: which of several rows nothing beats."""

from __future__ import annotations

import numpy as np

CHUNK = 256  # rows held against all others at once


def pareto_front(measures: np.ndarray) -> np.ndarray:
    """Whether no other row is at least as good in every measure and better in one, (n,) bool.

    measures : (n, m), less is better. Rows that are equal in all do not beat each other.
    """
    table = np.asarray(measures, dtype=float)
    best = np.ones(len(table), bool)
    for start in range(0, len(table), CHUNK):
        rows = table[start : start + CHUNK, None, :]
        no_worse = np.all(table[None, :, :] <= rows, axis=2)
        better = np.any(table[None, :, :] < rows, axis=2)
        best[start : start + CHUNK] = ~np.any(no_worse & better, axis=1)
    return best
