"""What sums prove of unknowns: by linear programs, and by going through all tables."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from vbas.core.disclosure.programs import Problem, decide

K = 3


def by_hand(rows, sums, high, asked):
    """The least and the most of each sum asked about, of all tables of whole numbers that fit."""
    tables = [
        table for table in np.array(list(product(*(range(most + 1) for most in high)))) if (rows @ table == sums).all()
    ]
    values = np.array([asked @ table for table in tables])
    return values.min(axis=0), values.max(axis=0)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_decided_is_what_all_tables_say(seed):
    """Bounds of unknowns that are looked at as one still hold: else a count that follows would be taken for free."""
    rng = np.random.default_rng(seed)
    n_disclosed = 0
    for _ in range(6):
        n = int(rng.integers(3, 6))
        rows = (rng.random((2, n)) < 0.7).astype(np.int64)
        rows[:, 1] = rows[:, 0]  # two in the very same sums
        high = rng.integers(1, 4, n)
        truth = rng.integers(0, high + 1)
        asked = np.eye(n, dtype=np.int64)[2:]
        least, most = by_hand(rows, rows @ truth, high, asked)
        sums = rows @ truth
        problem = Problem(
            sparse.csr_matrix(rows),
            sums,
            sums,
            np.zeros(n, np.int64),
            high,
            sparse.csr_matrix(asked),
            np.zeros(len(asked), np.int64),
        )
        answers = decide(problem, K)
        in_a_sum = rows[:, 2:].any(axis=0)  # of others nothing but their own bounds is known, which is no disclosure
        follows = (least >= 1) & (most < K) & in_a_sum
        assert answers.decided.all() and not answers.contradicted.any()
        assert (answers.low > 0).tolist() == follows.tolist()
        assert (answers.low[follows] == least[follows]).all() and (answers.high[follows] == most[follows]).all()
        n_disclosed += int(follows.sum())
    assert n_disclosed
