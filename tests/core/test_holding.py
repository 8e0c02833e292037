"""Regions that hold in every table and period, with something in reserve."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError
from vbas.core.levels import own_regions
from vbas.core.nesting.holding import Holding, counted_by, held_percent, joined_until_held
from vbas.core.profile import Profile


def town(seed, n_periods=2, n=12):
    """Areas with records of three classes in each period."""
    rng = np.random.default_rng(seed)
    areas = make_areas([f"a{i}" for i in range(n)], rng.random((n, 2)) * 5_000, np.ones(n))
    classes = np.array([(at, period) for period in range(n_periods) for at in range(3)])
    counts = rng.poisson(rng.choice([0.5, 4.0, 9.0], (n, 1)), (n, len(classes)))
    years = np.array([str(2020 + i) for i in range(n_periods)], dtype=object)
    categories = (np.array(["x", "y", "z"], dtype=object), years)
    return areas, Profile(sparse.csr_matrix(counts), classes, categories, ("age", "year"))


def by_hand(profile, crosswalk, least):
    """Of each region the least share, over the years, of records that are of classes of `least` and more."""
    counts, worst = profile.counts.toarray(), []
    for region in range(crosswalk.n_regions):
        of_region = counts[crosswalk.region_of == region].sum(axis=0)
        shares = []
        for year in range(len(profile.categories[1])):
            own = of_region[profile.classes[:, 1] == year]
            shares.append(100 * own[own >= least].sum() / own.sum() if own.sum() else 100.0)
        worst.append(min(shares))
    return worst


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 9999), st.integers(2, 8), st.sampled_from((1.0, 1.25, 1.5, 2.0)), st.integers(1, 100))
def test_every_region_holds_and_no_two_are_joined_that_held(seed, k, reserve, percent):
    areas, profile = town(seed)
    holding = Holding(k, reserve, percent)
    assert holding.least == math.ceil(k * reserve)
    tables = [counted_by(profile, "year")]
    try:
        found = joined_until_held(areas, tables, own_regions(len(areas)), holding)
    except InputError as error:
        everybody = Crosswalk(np.zeros(len(areas), np.int64), 1)
        assert by_hand(profile, everybody, holding.least)[0] < percent and "HELD_PERCENT" in str(error)
        return
    held = by_hand(profile, found, holding.least)
    assert np.allclose(held, held_percent(tables, found, holding.least))
    assert min(held) >= percent - 1e-9
    at_first = by_hand(profile, own_regions(len(areas)), holding.least)
    for region in range(found.n_regions):
        parts = np.flatnonzero(found.region_of == region)
        assert len(parts) == 1 or min(at_first[i] for i in parts) < percent


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 9999))
def test_more_reserve_makes_no_finer_regions_hold(seed):
    areas, profile = town(seed)
    tables = [counted_by(profile, "year"), counted_by(town(seed + 1)[1], "year")]
    finest = own_regions(len(areas))
    shares = [held_percent(tables, finest, Holding(4, reserve).least) for reserve in (1, 1.25, 1.5, 2)]
    assert all((more <= less).all() for less, more in zip(shares, shares[1:]))
    together = held_percent(tables, finest, 4)
    assert np.array_equal(together, np.minimum(*(held_percent([one], finest, 4) for one in tables)))


def test_of_classes_that_are_the_same_in_all_periods_regions_show_less_than_they_hold_as_the_guide_says():
    below = n_regions = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        areas = make_areas([f"a{i}" for i in range(40)], rng.random((40, 2)) * 5_000, np.ones(40))
        counts = rng.poisson(np.tile(rng.gamma(1.0, 6.0, (40, 8)), 3))
        classes = np.array([(age, year) for year in range(3) for age in range(8)])
        categories = (np.array(list("abcdefgh"), dtype=object), np.array(["1", "2", "3"], dtype=object))
        profile = Profile(sparse.csr_matrix(counts), classes, categories, ("age", "year"))
        found = joined_until_held(areas, [counted_by(profile, "year")], own_regions(40), Holding(5, 1.0, 80.0))
        for region in range(found.n_regions):
            years = counts[found.region_of == region].sum(axis=0).reshape(3, 8)
            same = ((years >= 5) | (years == 0)).all(axis=0)
            below += ((years * same).sum(axis=1) / np.maximum(years.sum(axis=1), 1)).min() < 0.8
            n_regions += 1
    assert 0.25 < below / n_regions < 0.42


def test_without_a_share_nothing_is_joined():
    areas, profile = town(0)
    finest = own_regions(len(areas))
    assert joined_until_held(areas, [counted_by(profile)], finest, Holding(5, 2.0)) is finest


@pytest.mark.parametrize(
    ("holding", "problem"),
    [
        (Holding(5, 0.5, 80), "RESERVE is 0.5"),
        (Holding(5, math.nan, 80), "RESERVE is nan"),
        (Holding(5, 1, 101), "HELD_PERCENT is 101"),
        (Holding(5000, 1, 80), "Of all areas together 0.0 %"),
    ],
)
def test_what_means_nothing_is_refused(holding, problem):
    areas, profile = town(0)
    with pytest.raises(InputError, match=problem):
        joined_until_held(areas, [counted_by(profile)], own_regions(len(areas)), holding)
