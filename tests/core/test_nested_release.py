"""Nested releases: what must hold for each, held against plain rules and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError
from vbas.core.evaluation import records_by_level
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting import optimum
from vbas.core.nesting.losses import LOSSES
from vbas.core.nesting.planning import CELLS_AT_ONCE, LARGEST_K, cells_within, nest
from vbas.core.plan import SUPPRESSED, area_of_cells
from vbas.core.privacy.diversity import Shares
from vbas.core.privacy.requirement import Requirement

from ..exploring import tried
from .nested_cases import by_brute_force, by_plain_rule, loss_of, nested_cases, profile_of


def levels_of_cells(plan) -> np.ndarray:
    """The level at which each cell is shown, (n, C); -2 where there is no record."""
    counts = plan.profile.counts
    shown = np.full(counts.shape, -2)
    shown[area_of_cells(plan.profile), counts.indices] = plan.level_of
    return shown


@pytest.mark.slow
@settings(max_examples=tried(120, 300), deadline=None)
@given(nested_cases(), st.integers(2, 9), st.booleans(), st.sampled_from(list(LOSSES)))
def test_every_equivalence_class_holds_k_records_and_only_what_is_too_rare_everywhere_is_suppressed(
    case, k, whole, loss
):
    areas, profile, levels = case
    with pytest.MonkeyPatch.context() as patched:
        if whole:
            patched.setattr(optimum, "LARGEST_K_IN_PARTS", 1)
        plan = nest(areas, profile, levels, k, loss)
    counts, shown = profile.counts.toarray(), levels_of_cells(plan)
    equivalence_classes: dict[tuple[int, int, int], int] = {}
    for area, one in zip(*np.nonzero(counts)):
        level = shown[area, one]
        assert level in range(-1, len(levels))
        if level >= 0:
            region = int(levels.crosswalks[level].region_of[area])
            assert region >= 0
            equivalence_classes[level, region, one] = equivalence_classes.get((level, region, one), 0) + int(
                counts[area, one]
            )
        coarsest = levels.crosswalks[-1].region_of
        alone = coarsest[area] < 0 or counts[coarsest == coarsest[area], one].sum() < k
        assert (level == SUPPRESSED) == alone
    assert all(records >= k for records in equivalence_classes.values())
    found = zip(plan.level.tolist(), plan.region.tolist(), plan.class_of.tolist(), plan.records.tolist())
    assert {(level, region, one): records for level, region, one, records in found} == equivalence_classes
    for cell, (area, one) in enumerate(zip(area_of_cells(profile), profile.counts.indices)):
        equivalence_class = plan.equivalence_class_of[cell]
        if shown[area, one] < 0:
            assert equivalence_class == SUPPRESSED
        else:
            assert (plan.level[equivalence_class], plan.class_of[equivalence_class]) == (shown[area, one], one)
            assert plan.region[equivalence_class] == levels.crosswalks[shown[area, one]].region_of[area]


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(nested_cases(), st.integers(2, 9), st.booleans(), st.sampled_from(list(LOSSES)))
def test_it_is_never_worse_than_the_bottom_up_rule(case, k, whole, loss):
    areas, profile, levels = case
    with pytest.MonkeyPatch.context() as patched:
        if whole:
            patched.setattr(optimum, "LARGEST_K_IN_PARTS", 1)
        shown = levels_of_cells(nest(areas, profile, levels, k, loss))
    losses = [LOSSES[loss](areas, profile, crosswalk) for crosswalk in levels.crosswalks]
    counts = profile.counts.toarray()
    plain = by_plain_rule(counts, levels, k)
    for one in range(counts.shape[1]):
        here = counts[:, one]
        lost, lost_plainly = here[shown[:, one] < 0].sum(), here[plain[:, one] < 0].sum()
        assert lost <= lost_plainly
        if lost == lost_plainly:
            loss_here = loss_of(here, shown[:, one], levels, losses)
            assert loss_here <= loss_of(here, plain[:, one], levels, losses) * (1 + 1e-9) + 1e-9


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(nested_cases(most_areas=6, most_levels=4), st.integers(2, 6), st.sampled_from(list(LOSSES)))
def test_it_is_the_optimum_of_brute_force_or_close_to_it(case, k, loss):
    areas, profile, levels = case
    losses = [LOSSES[loss](areas, profile, crosswalk) for crosswalk in levels.crosswalks]
    shown = levels_of_cells(nest(areas, profile, levels, k, loss))
    for one, counts in enumerate(profile.counts.toarray().T):
        suppressed, least = by_brute_force(counts, levels, losses, k)
        assert counts[shown[:, one] < 0].sum() == suppressed
        found = loss_of(counts, shown[:, one], levels, losses)
        assert found >= least - 1e-6
        # With one or two levels nothing that is passed to the parent can part later, and what one cell passes to the
        # parent stays whole.
        exact = len(levels) <= 2 and levels.crosswalks[0].n_regions == len(areas)
        assert found <= least * (1 + 1e-9) + 1e-6 if exact else found <= least * 1.25 + 1e-6


def test_less_memory_means_fewer_cells_at_a_time():
    assert cells_within(2_000, 5) == CELLS_AT_ONCE
    assert CELLS_AT_ONCE > cells_within(256, 20) > cells_within(64, 20) > cells_within(1, 20) >= 1
    assert cells_within(0, 1_000) == 1


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(nested_cases(), st.integers(2, 6))
def test_the_same_input_gives_the_same_plan_in_chunks_of_any_size(case, k):
    areas, profile, levels = case
    plan = nest(areas, profile, levels, k)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("vbas.core.plan.CELLS_AT_ONCE", 2)  # what is gone through cell by cell
        again = nest(areas, profile, levels, k, at_once=3)
        assert np.array_equal(plan.equivalence_class_of, again.equivalence_class_of)
        assert np.array_equal(records_by_level(plan), records_by_level(again))
    for name in ("level_of", "level", "region", "class_of", "records", "released"):
        assert np.array_equal(getattr(plan, name), getattr(again, name)), name


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(nested_cases(), st.integers(2, 4), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_whatever_more_is_asked_of_an_equivalence_class_holds_in_the_finest_place_left(case, k, distinct, seed):
    """l-diversity: each cell has a set of diagnoses, each equivalence class needs `distinct` of them."""
    areas, profile, levels = case
    rng = np.random.default_rng(seed)
    sets = rng.integers(0, 2, (profile.counts.nnz, 4)).astype(bool)
    sets[:, 0] |= ~sets.any(axis=1)
    cell, value = np.nonzero(sets)
    requirement = Requirement(
        k, shares=(Shares("diagnosis", cell, value, np.ones(len(cell), np.int64)),), l_diversity=distinct
    )
    plan = nest(areas, profile, levels, k, requirement=requirement)
    used = np.flatnonzero(plan.equivalence_class_of >= 0)
    for equivalence_class in range(len(plan.records)):
        assert sets[used[plan.equivalence_class_of[used] == equivalence_class]].any(axis=0).sum() >= distinct
    assert (np.bincount(plan.equivalence_class_of[used], profile.counts.data[used], len(plan.records)) >= k).all()
    area, class_of = area_of_cells(profile), profile.counts.indices
    top = levels.crosswalks[-1].region_of[area]
    for one in range(len(area)):
        group = np.flatnonzero((top == top[one]) & (class_of == class_of[one]))
        possible = profile.counts.data[group].sum() >= k and sets[group].any(axis=0).sum() >= distinct
        assert (plan.equivalence_class_of[one] >= 0) == (possible and top[one] >= 0)


def test_large_cells_go_up_only_as_far_as_a_lone_record_needs_them():
    # A lone record needs one of two neighbours; the smaller one goes up with it, the other keeps its own area.
    areas = make_areas(["a", "b", "c"], np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]))
    plan = nest(areas, profile_of(np.array([[1], [40], [30]])), make_levels(areas, [own_regions(3), one_region(3)]), 5)
    assert plan.level_of is not None and plan.level_of.tolist() == [1, 0, 1]


def one_region(n: int) -> Crosswalk:
    return Crosswalk(np.zeros(n, np.int64), 1)


def test_settings_outside_their_range_are_refused_in_a_sentence():
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [1.0, 0.0]]))
    levels = make_levels(areas, [own_regions(2), one_region(2)])
    profile = profile_of(np.array([[5], [5]]))
    for k, loss, words in ((1, "mean distance", "K is 1"), (LARGEST_K + 1, "mean distance", "up to"), (5, "x", "LOSS")):
        with pytest.raises(InputError, match=words):
            nest(areas, profile, levels, k, loss)
