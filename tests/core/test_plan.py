"""The plan: an equivalence class for every cell of the profile, found again in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from vbas.core.crosswalk import Crosswalk, number_compactly
from vbas.core.levels import Levels
from vbas.core.plan import SUPPRESSED, plan_by_levels, suppress
from vbas.core.profile import Profile


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.data())
def test_every_cell_has_the_equivalence_class_of_its_region_and_class_or_is_suppressed(data):
    n, n_classes = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 5))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    counts = rng.integers(0, 4, (n, n_classes))
    region_of = rng.integers(-1, 3, n)
    crosswalk, _ = number_compactly(region_of)
    k = data.draw(st.integers(2, 6))
    profile = Profile(sparse.csr_matrix(counts), np.arange(n_classes)[:, None], (np.arange(n_classes),), ("q",))
    plan = suppress(profile, crosswalk, k)
    sizes: dict[tuple, int] = {}
    for area, one in np.ndindex(counts.shape):
        if crosswalk.region_of[area] >= 0 and counts[area, one]:
            key = (int(crosswalk.region_of[area]), one)
            sizes[key] = sizes.get(key, 0) + int(counts[area, one])
    found = zip(plan.region.tolist(), plan.class_of.tolist(), plan.records.tolist())
    assert {(region, one): records for region, one, records in found} == sizes
    assert len(plan.region) == len(sizes)
    equivalence_classes = iter(plan.equivalence_class_of.tolist())
    for area, one in np.ndindex(counts.shape):
        if counts[area, one]:
            equivalence_class, key = next(equivalence_classes), (int(crosswalk.region_of[area]), one)
            if sizes.get(key, 0) < k:
                assert equivalence_class == SUPPRESSED
            else:
                assert (plan.region[equivalence_class], plan.class_of[equivalence_class]) == key
    assert next(equivalence_classes, None) is None
    assert plan.n_released == sum(size for size in sizes.values() if size >= k)


def test_an_equivalence_class_of_fewer_than_k_records_is_shown_at_no_level():
    """Whoever chose the levels: here 4 records of one class are to be shown where they live, 5 of the other above."""
    finer, coarser = Crosswalk(np.array([0, 1]), 2), Crosswalk(np.array([0, 0]), 1)
    counts = sparse.csr_matrix(np.array([[4, 3], [0, 2]]))
    profile = Profile(counts, np.array([[0], [1]]), (np.array(["F", "M"], object),), ("sex",))
    plan = plan_by_levels(profile, Levels((finer, coarser)), 5, np.array([0, 1, 1]))
    assert plan.records.tolist() == [4, 5]
    assert plan.released.tolist() == [False, True]
    assert plan.equivalence_class_of.tolist() == [SUPPRESSED, 1, 1]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_equivalence_classes_of_several_levels_are_told_apart(seed, n_levels):
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(1, 8)), int(rng.integers(1, 4))
    counts = sparse.csr_matrix(rng.integers(0, 3, (n, n_classes)))
    profile = Profile(counts, np.arange(n_classes)[:, None], (np.arange(n_classes),), ("q",))
    crosswalks = [number_compactly(np.arange(n) // (level + 1))[0] for level in range(n_levels)]
    level_of = rng.integers(-1, n_levels, counts.nnz)
    plan = plan_by_levels(profile, Levels(tuple(crosswalks)), 2, level_of)
    equivalence_classes = plan.equivalence_classes_at(level_of)
    for cell, (area, one) in enumerate(zip(*counts.nonzero())):
        if level_of[cell] < 0:
            assert equivalence_classes[cell] == SUPPRESSED
            continue
        at = equivalence_classes[cell]
        region = crosswalks[level_of[cell]].region_of[area]
        assert (plan.level[at], plan.region[at], plan.class_of[at]) == (level_of[cell], region, one)
