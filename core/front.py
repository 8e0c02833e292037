"""The Pareto front: which of several rows nothing beats."""

from __future__ import annotations

import numpy as np

CHUNK = 256  # rows held against all others at once


def unbeaten(measures: np.ndarray) -> np.ndarray:
    """Whether no other row is at least as good in every measure and better in one, (n,) bool.

    measures : (n, m), less is better. Rows that are equal in all do not beat each other.
    """
    table = np.asarray(measures, dtype=float)
    best = np.ones(len(table), bool)
    for start in range(0, len(table), CHUNK):
        rows = table[start : start + CHUNK, None, :]
        no_worse = (table[None, :, :] <= rows).all(axis=2)
        better = (table[None, :, :] < rows).any(axis=2)
        best[start : start + CHUNK] = ~(no_worse & better).any(axis=1)
    return best
