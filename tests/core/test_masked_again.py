"""Whether points may have been masked before."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vbas.core.masking.homes import NEARLY_ALL, share_in_common
from vbas.core.masking.placing import NO_AREA


@given(st.lists(st.integers(0, 9), min_size=1), st.randoms(use_true_random=False))
def test_the_same_points_are_all_in_common_whatever_their_order(areas, shuffled):
    other = list(areas)
    shuffled.shuffle(other)
    assert share_in_common(np.array(areas), np.array(other)) == 1.0
    kept = np.array([*other, NO_AREA])[: max(1, len(other) // 2)]  # half of them
    assert share_in_common(np.array([*areas, NO_AREA]), kept) == 1.0


def test_other_people_are_told_apart_where_they_are_few():
    rng = np.random.default_rng(0)
    shares = [share_in_common(*rng.integers(0, 1_000, (2, 300))) for _ in range(50)]
    assert max(shares) < NEARLY_ALL / 2
    updated = rng.integers(0, 1_000, 300)
    changed = np.concatenate([updated[:270], rng.integers(0, 1_000, 60)])
    assert share_in_common(updated, changed) >= NEARLY_ALL
    assert share_in_common(updated, np.empty(0, np.int64)) == 0.0
