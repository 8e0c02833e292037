"""The profile of rows that come with counts, some of which stand for nobody."""

from __future__ import annotations

import numpy as np

from vbas.core.profile import profile_records

from ..each import for_each_seed
from .strategies import column_from_array

FEW, MANY = 3, 14  # columns: of the many not all combinations can be numbered


@for_each_seed(8)
def test_rows_that_stand_for_nobody_are_as_if_they_were_not_there(seed):
    rng, n_columns = np.random.default_rng(seed), MANY if seed % 2 else FEW
    n, sizes = 60, [3, 2, 4, *[60] * (n_columns - FEW)]
    area, counts = rng.integers(-1, 4, n), rng.integers(0, 3, n)
    columns = {f"c{at}": rng.integers(0, size, n) for at, size in enumerate(sizes)}
    there = counts > 0
    every = profile_records(area, {name: column_from_array(of) for name, of in columns.items()}, 4, counts)
    counted = {name: column_from_array(of[there]) for name, of in columns.items()}
    profile, cell_of = profile_records(area[there], counted, 4, counts[there])
    assert np.array_equal(every[0].counts.toarray(), profile.counts.toarray())
    values, own = (
        [[of[code] for of, code in zip(which.categories, codes)] for codes in which.classes.tolist()]
        for which in (every[0], profile)
    )
    assert values == own
    assert every[1][there].tolist() == cell_of.tolist() and (every[1][~there] == -1).all()
