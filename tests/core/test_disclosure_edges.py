"""What an attacker is told by, on its edges: recounted by trying everything, or by plain loops."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from vbas.core.disclosure.method_bounds import _bounds, _numbers
from vbas.core.disclosure.programs import Problem, tables_of
from vbas.core.disclosure.shown_rows import _n_rare, shown_in
from vbas.core.disclosure.values import Values

from .test_register_packs import release_of


def allowed(held):
    few, least, most = held
    return {*range(few + 1), *range(least, most + 1)}


@pytest.mark.parametrize("seed", range(40))
def test_bounds_of_parts_are_those_of_all_that_add_up(seed):
    rng = np.random.default_rng(seed)
    records = int(rng.integers(0, 12))
    held = []
    for _ in range(int(rng.integers(1, 4))):
        few, least = int(rng.integers(0, 5)), int(rng.integers(0, 9))
        held.append((few, least, least + int(rng.integers(-1, 4))) if rng.random() < 0.7 else (few, 0, -1))
    for own in held:
        assert set(_numbers(own)) == allowed(own)
    fitting = [some for some in product(*(sorted(allowed(own)) for own in held)) if sum(some) == records]
    low, high = _bounds(records, tuple(held))
    columns = list(zip(*fitting)) or [()] * len(held)
    assert low == [min(column, default=0) for column in columns]
    assert high == [max(column, default=records) for column in columns]


@pytest.mark.parametrize("seed", range(5))
def test_tables_fit_all_sums_and_say_of_which_unknowns_they_say_something(seed):
    rng = np.random.default_rng(seed)
    rows = (rng.random((3, 8)) < 0.4).astype(np.int64)
    rows[:, 6:] = 0  # of these two no sum is known
    high = rng.integers(1, 5, 8)
    sums = rows @ rng.integers(0, high + 1)
    nothing = sparse.csr_matrix((0, 8), dtype=np.int64)
    problem = Problem(sparse.csr_matrix(rows), sums, sums, np.zeros(8, np.int64), high, nothing, np.zeros(0, np.int64))
    tables = tables_of(problem)
    assert len(tables) > 2
    for table in tables:
        assert (rows @ table.people == sums).all() and (table.people >= 0).all() and (table.people <= high).all()
        assert not table.open.any()


@pytest.mark.parametrize("seed", range(6))
def test_rows_of_rare_values_are_those_of_fewer_than_k_of_their_class(seed):
    rng, release = np.random.default_rng(seed), release_of(seed)
    at = np.repeat(np.arange(len(release.records)), 4)
    value, number = np.tile(np.arange(4), len(release.records)), rng.integers(0, 3, len(at))
    here = number > 0
    values = Values("ill", np.array(["", "a", "b", "c"], object), at[here], value[here], number[here])
    release = replace(release, sensitive=(values,))
    assert shown_in(release, ("ill",)) is values
    alike: Counter[tuple[int, int]] = Counter()
    rows = list(
        zip(release.class_of[values.equivalence_class].tolist(), values.value.tolist(), values.records.tolist())
    )
    for of, text, n in rows:
        alike[of, text] += n
    for k in (2, 5, 9):
        assert _n_rare(release, ("ill",), k) == sum(n for of, text, n in rows if alike[of, text] < k)
