"""Outcomes that are planted, and what is found of them: what must hold whatever the people."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from vbas.core.analysis.moving import OUTER, move_by_donut, rings
from vbas.core.analysis.outcome import Outcome
from vbas.core.analysis.planted_comparison import PlantedComparison
from vbas.core.analysis.planting import (
    MOST_AREAS,
    Planting,
    exact_cases,
    exposure_effect,
    measures_of,
    plant,
    rare_groups,
    slope_of_shares,
)
from vbas.core.areas import make_areas
from vbas.core.comparison import compare
from vbas.core.configuration import Configuration
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError
from vbas.core.levels import own_regions
from vbas.core.plan import suppress
from vbas.core.profile import Profile
from vbas.core.report.objectives import researcher_section
from vbas.core.site_number import SiteNumberOptions

SIDE = 9
FEW = Planting(outcomes=3, draws=39, seed=4)


@pytest.fixture(scope="module")
def town():
    """81 areas of about 250 people; “rare” live in the west, and are 3 of 100."""
    rng = np.random.default_rng(2)
    x, y = np.meshgrid(np.arange(SIDE), np.arange(SIDE))
    points = np.column_stack([x.ravel(), y.ravel()]) * 400.0 + rng.uniform(-90, 90, (SIDE**2, 2))
    rare = rng.poisson(np.where(x.ravel() < 3, 20, 1))
    table = np.column_stack([rare, rng.poisson(180, SIDE**2), rng.poisson(60, SIDE**2)])
    values = (np.array(["rare", "usual", "other"], dtype=object),)
    profile = Profile(sparse.csr_matrix(table), np.arange(3).reshape(-1, 1), values, ("group",))
    return make_areas(range(SIDE**2), points, profile.area_sizes), profile


@given(st.integers(0, 2**31), st.integers(20, 200))
@settings(max_examples=25, deadline=None)
def test_every_draw_has_as_many_cases_of_each_stratum_and_no_more_than_people(seed, n_cases):
    rng = np.random.default_rng(seed)
    people = rng.integers(0, 40, 60) + 5
    strata = rng.integers(0, 3, 60)
    usual = np.array([1.0, 2.0, 0.5])[strata]
    drawn = [exact_cases(rng, people, usual * rng.uniform(1, 2, 60), strata, usual, n_cases) for _ in range(2)]
    assert np.bincount(strata, drawn[0]).tolist() == np.bincount(strata, drawn[1]).tolist()
    assert all((cases >= 0).all() and (cases <= people).all() for cases in drawn)
    assert abs(int(drawn[0].sum()) - n_cases) <= 2


def test_cases_fall_by_risk():
    rng = np.random.default_rng(0)
    people, risk = np.full(10, 200), np.where(np.arange(10) < 5, 3.0, 1.0)
    strata = np.zeros(10, np.int64)
    drawn = np.sum([exact_cases(rng, people, risk, strata, np.ones(10), 200) for _ in range(200)], axis=0)
    assert drawn[:5].sum() / drawn[5:].sum() == pytest.approx(3.0, rel=0.05)


def test_an_effect_is_that_of_the_likelihood_by_brute_force():
    rng = np.random.default_rng(3)
    stratum, at_risk = np.repeat([0, 1], 6), rng.integers(50, 90, 12)
    cases, exposure = rng.binomial(at_risk, 0.2), rng.random(6)
    outcome = Outcome(sparse.identity(6, format="csr"), stratum, np.tile(np.arange(6), 2), at_risk, cases)
    found, error = exposure_effect(outcome, exposure)
    x = np.tile(exposure, 2)

    def likelihood(effect):
        weight = at_risk * np.exp(effect * x)
        of_strata = np.bincount(stratum, weight)
        return float((cases * np.log(weight / of_strata[stratum])).sum())

    tried = np.linspace(-3, 3, 6001)
    assert found == pytest.approx(tried[np.argmax([likelihood(effect) for effect in tried])], abs=2e-3)
    assert 0 < error < 1


def test_true_areas_lose_nothing_and_one_region_all(town):
    areas, profile = town
    planted = plant(areas, profile, FEW)
    true = planted.analysis_of(planted.true_areas())
    np.testing.assert_allclose(true.rare_slopes, 1.0)
    assert true.suppressed == 0 and (true.rare_kept == 1).all()
    own = planted.analysis_of(planted.release(suppress(profile, own_regions(len(areas)), 2)))
    assert own.suppressed < 0.02 and own.rare_slopes[0] > 0.95
    whole = planted.analysis_of(planted.release(suppress(profile, Crosswalk(np.zeros(len(areas), np.int64), 1), 5)))
    np.testing.assert_allclose(whole.rare_slopes, 0.0, atol=1e-9)
    assert (whole.planted_in_clusters == 0).all() and np.isnan(whole.estimate).all()
    np.testing.assert_allclose(whole.map_error, 1.0, atol=0.05)
    assert measures_of(whole, true, FEW).cluster_found == 0


def test_all_readings_have_the_same_outcomes(town):
    areas, profile = town
    planted = plant(areas, profile, FEW)
    again = plant(areas, profile, FEW)
    for one, other in zip(planted.drawn, again.drawn):
        np.testing.assert_array_equal(one.mapped, other.mapped)
        np.testing.assert_array_equal(one.inside, other.inside)
    n_cases = {int(one.mapped.sum()) for one in planted.drawn}
    assert len(n_cases) == 1


def test_a_planted_effect_is_found(town):
    areas, profile = town
    planted = plant(areas, profile, Planting(outcomes=40, draws=19))
    estimates = np.array([exposure_effect(_outcome(planted, one.modelled), one.exposure)[0] for one in planted.drawn])
    assert estimates.mean() == pytest.approx(0.7, abs=3 * estimates.std() / np.sqrt(len(estimates)))


def _outcome(planted, cases):
    counts = planted.profile.counts
    area = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    at_risk, n = np.bincount(area, counts.data), counts.shape[0]
    return Outcome(sparse.identity(n, format="csr"), np.zeros(n, int), np.arange(n), at_risk, np.bincount(area, cases))


def test_masked_people_hide_among_their_own_and_nobody_is_lost(town):
    areas, profile = town
    inner, outer = rings(areas, profile, 5)
    assert (inner < outer).all() and (inner > 0).all()
    area = np.repeat(np.arange(len(areas)), np.diff(profile.counts.indptr))
    far = np.hypot(*(areas.points[area][:, None] - areas.points).T).T
    of_class = profile.counts.toarray().T[profile.counts.indices]
    # All areas whose middle lies within the outer ring cannot have more than OUTER * k, but for the last one's people.
    inside = np.where(far < outer[:, None] / 1.5, of_class, 0).sum(axis=1)
    assert (inside <= OUTER * 5 + profile.counts.data).all()
    moved = move_by_donut(areas, profile, 5, 1)
    np.testing.assert_array_equal(np.bincount(moved.cell, moved.people), profile.counts.data)
    lonely = move_by_donut(areas, profile, int(profile.class_sizes[0]), 1)
    assert (lonely.to[profile.counts.indices[lonely.cell] == 0] == -1).all()
    assert (lonely.to[profile.counts.indices[lonely.cell] > 0] >= 0).all()


def test_rare_groups_and_slopes(town):
    _, profile = town
    assert [np.flatnonzero(one).tolist() for one in rare_groups(profile, 0.05)] == [[0]]
    assert [np.flatnonzero(one).tolist() for one in rare_groups(profile, 0.0001)] == [[0]]  # the rarest
    true, people = np.array([10.0, 0.0, 5.0]), np.full(3, 20.0)
    assert slope_of_shares(true, people, true, people) == pytest.approx(1.0)
    assert slope_of_shares(np.full(3, 5.0), people, true, people) == pytest.approx(0.0)
    assert np.isnan(slope_of_shares(true, people, people / 4, people))


def test_what_cannot_be_planted_is_said(town):
    areas, profile = town
    many = make_areas(range(MOST_AREAS + 1), np.arange(2.0 * MOST_AREAS + 2).reshape(-1, 2) * 500)
    with pytest.raises(InputError, match="at most 3000 areas"):
        plant(many, profile, FEW)
    few = Profile(profile.counts[:, :0], profile.classes[:0], profile.categories, profile.quasi_identifiers)
    with pytest.raises(InputError, match="too few people"):
        plant(areas, few, FEW)


def test_a_comparison_says_what_is_found_of_each_release(town):
    areas, profile = town
    planted = PlantedComparison(areas, profile, FEW)
    given_number = Configuration("given number", number_options=SiteNumberOptions(n_sites=6))
    outcomes = compare(areas, profile, [given_number], 5, nested=["from the areas up"], planted=planted)
    one_level, nested = (outcome.analysis for outcome in outcomes)
    assert one_level is not None and nested is not None, [outcome.problem for outcome in outcomes]
    assert nested.map_error < one_level.map_error
    assert nested.rare_slope > one_level.rare_slope
    section = researcher_section(outcomes, planted.references([5]), FEW)
    assert [row[1] for row in section.rows][:2] == ["true areas", "donut masking"]
    assert [row[0] for row in section.rows] == [None, None, 1, 2]
    assert all(len(row) == len(section.header) for row in section.rows)
    assert not researcher_section(outcomes, [], None).rows
