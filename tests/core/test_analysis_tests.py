"""Maps and tests of spread records against plain recounts; tests hold their level through the release."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse, stats

from vbas.core.adjacency import adjacency_of_pairs
from vbas.core.analysis.moran import HIGH_HIGH, moran
from vbas.core.analysis.outcome import Outcome, cases_of, outcome_of, p_text, p_values, with_cases
from vbas.core.analysis.rates import (
    EMPIRICAL_BAYES,
    KERNEL,
    RAW,
    candidate_bandwidths,
    chosen_bandwidth,
    kernel_of,
    rate_map,
)
from vbas.core.analysis.released import released_rows
from vbas.core.analysis.scan import BERNOULLI, EITHER, HIGH, LOW, POISSON, scan
from vbas.core.analysis.spreading import spread
from vbas.core.areas import make_areas
from vbas.core.crosswalk import crosswalk_from_table
from vbas.core.errors import InputError
from vbas.core.levels import Levels, own_regions
from vbas.core.neighbours import point_neighbours
from vbas.core.nesting.making import build_levels
from vbas.core.profile import Profile
from vbas.core.records.columns import Column, column_from_values

from ..exploring import tried
from .release_to_spread import nested_release

SIDE = 12
DRAWS = 39  # enough to reject at 5 %


def town(seed, n_people=9_000):
    """Areas on an uneven grid, and people of classes of which some are rare."""
    rng = np.random.default_rng(seed)
    x, y = np.meshgrid(np.arange(SIDE), np.arange(SIDE))
    points = np.column_stack([x.ravel(), y.ravel()]) * 500.0 + rng.uniform(-150, 150, (SIDE**2, 2))
    share = rng.dirichlet(np.full(SIDE**2, 8.0))
    kinds = rng.dirichlet(np.full(12, 0.6))
    table = rng.poisson(np.outer(share, kinds) * n_people)
    profile = Profile(
        sparse.csr_matrix(table),
        np.arange(12).reshape(-1, 1),
        (np.array([f"q{i}" for i in range(12)], dtype=object),),
        ("q",),
    )
    areas = make_areas([f"a{i}" for i in range(SIDE**2)], points, table.sum(axis=1))
    return areas, profile


def spread_town(seed, k=5):
    """Rows of a nested release, where each lives, and their weights."""
    areas, profile = town(seed)
    rows, home = nested_release(areas, profile, build_levels(areas, profile), k)
    return areas, rows, home, spread(rows)


def random_outcome(seed, n=7, n_profiles=9, n_strata=2):
    """Cells with weights by chance, as no release has them."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(n, 0.4), n_profiles) * (rng.random((n_profiles, n)) < 0.6)
    weights[weights.sum(axis=1) == 0, 0] = 1
    weights /= weights.sum(axis=1, keepdims=True)
    stratum, profile = np.repeat(np.arange(n_strata), n_profiles), np.tile(np.arange(n_profiles), n_strata)
    at_risk = rng.integers(5, 40, len(stratum))
    return Outcome(sparse.csr_matrix(weights), stratum, profile, at_risk, rng.binomial(at_risk, 0.2))


def test_cases_expected_and_information_are_those_of_draws():
    outcome = random_outcome(0)
    dense = outcome.weights.toarray()
    np.testing.assert_allclose(outcome.cases_by_area, outcome.cases @ dense[outcome.profile])
    drawn = np.concatenate(list(outcome.drawn(40_000, 1)))
    assert drawn.shape == (40_000, 7)
    np.testing.assert_allclose(drawn.sum(axis=1), outcome.n_cases)
    np.testing.assert_allclose(drawn.mean(axis=0), outcome.expected, atol=0.05)
    # Of a common outcome the covariance of draws is smaller by 1 - rate, stratum by stratum.
    parts = []
    for one in np.unique(outcome.stratum):
        inside = outcome.stratum == one
        alone = replace(
            outcome,
            stratum=outcome.stratum[inside] * 0,
            profile=outcome.profile[inside],
            at_risk=outcome.at_risk[inside],
            cases=outcome.cases[inside],
        )
        parts.append(alone.information() * (1 - alone.rates[0]))
    np.testing.assert_allclose(np.cov(drawn.T), sum(parts), atol=0.12)


def test_draws_keep_the_cases_of_each_stratum():
    outcome = random_outcome(3)
    only = with_cases(outcome, np.where(outcome.stratum == 0, outcome.cases, 0))
    first = np.concatenate(list(only.drawn(20, 5)))
    np.testing.assert_array_equal(first, np.concatenate(list(only.drawn(20, 5))))
    assert (first != np.concatenate(list(only.drawn(20, 6)))).any()
    at_risk = np.where(only.stratum == 0, only.at_risk, 0)
    np.testing.assert_allclose(only.expected, only.n_cases * only.by_area(at_risk) / at_risk.sum())


def best_circle(points, outcome, model, looked_for, largest=0.5):
    """The published statistic by brute force, of areas that are all known."""
    cases, expected, people = outcome.cases_by_area, outcome.expected, outcome.denominator
    total, n = cases.sum(), people.sum()

    def entropy(a, b):
        return a * np.log(a / b) if a > 0 else 0.0

    best = 0.0
    for centre in points:
        far = np.hypot(*(points - centre).T)
        for radius in np.unique(far):
            inside = far <= radius
            c, e, m = cases[inside].sum(), expected[inside].sum(), people[inside].sum()
            if e > largest * total or e <= 0 or (looked_for == HIGH and c < 2):
                continue
            if (looked_for == HIGH and c <= e) or (looked_for == LOW and c >= e):
                continue
            if model == POISSON:
                ratio = entropy(c, e) + entropy(total - c, total - e)
            else:
                p = total / n
                ratio = entropy(c, m * p) + entropy(m - c, m * (1 - p))
                ratio += entropy(total - c, (n - m) * p) + entropy(n - m - total + c, (n - m) * (1 - p))
            best = max(best, ratio)
    return best


@pytest.mark.parametrize("model", [POISSON, BERNOULLI])
@pytest.mark.parametrize("looked_for", [HIGH, LOW, EITHER])
def test_where_all_areas_are_known_it_is_the_published_statistic(model, looked_for):
    rng = np.random.default_rng(4)
    points = rng.uniform(0, 5_000, (25, 2))
    at_risk = rng.integers(40, 90, 25)
    cases = rng.binomial(at_risk, 0.25)
    outcome = Outcome(sparse.identity(25, format="csr"), np.zeros(25, int), np.arange(25), at_risk, cases)
    result = scan(points, outcome, model, looked_for, n_draws=39)
    assert result.most_likely is not None
    assert result.most_likely.llr == pytest.approx(best_circle(points, outcome, model, looked_for))
    drawn = np.concatenate(list(outcome.drawn(39, 0)))
    by_hand = [
        best_circle(points, replace(outcome, cases=one.astype(int)), model, looked_for) for one in np.round(drawn[:3])
    ]
    np.testing.assert_allclose(result.drawn[:3], by_hand)
    areas = np.concatenate([cluster.areas for cluster in result.clusters])
    assert len(set(areas.tolist())) == len(areas)
    ratios = [cluster.llr for cluster in result.clusters]
    assert ratios == sorted(ratios, reverse=True)


def test_of_more_people_than_can_be_drawn_from_a_sentence_says_what_to_do():
    at_risk, cases = np.array([600_000_000, 400_000_000]), np.array([300_000_000, 1])
    outcome = Outcome(sparse.identity(2, format="csr"), np.zeros(2, int), np.arange(2), at_risk, cases)
    with pytest.raises(InputError, match="chance cannot be drawn among them: name more fields in ADJUST"):
        next(outcome.drawn(9))


@pytest.mark.parametrize("model", [POISSON, BERNOULLI])
def test_an_area_with_more_than_half_of_all_is_no_cluster(model):
    """What is more likely in it is less likely in the others: they are the circle."""
    points, at_risk = np.column_stack([np.arange(4) * 500.0, np.zeros(4)]), np.array([7000, 1000, 1000, 1000])
    cases = np.array([90, 4, 3, 3])
    outcome = Outcome(sparse.identity(4, format="csr"), np.zeros(4, int), np.arange(4), at_risk, cases)
    assert not any(0 in cluster.areas for cluster in scan(points, outcome, model, HIGH, n_draws=19).clusters)
    found = scan(points, outcome, model, LOW, n_draws=19).most_likely
    assert found is not None and sorted(found.areas.tolist()) == [1, 2, 3]
    assert found.relative_risk == pytest.approx(10 / 30 / (90 / 70))
    single = scan(points, replace(outcome, cases=np.array([50, 30, 10, 10])), model, HIGH, 0.05, 19).most_likely
    assert single is not None and single.areas.tolist() == [1]


def test_a_cluster_is_told_with_its_risk():
    rng = np.random.default_rng(0)
    areas, rows, home, weights = spread_town(0)
    inside = np.hypot(*(areas.points - areas.points[65]).T) < 1_100
    is_case = (rng.random(len(rows)) < np.where(inside[home], 0.3, 0.1)).astype(int)
    outcome = outcome_of(rows, weights, is_case)
    found = scan(areas.points, outcome, n_draws=199).most_likely
    assert found is not None
    assert found.p_value == 1 / 200
    assert np.mean(inside[found.areas]) > 0.7
    assert found.effective < found.expected  # some of it is spread
    assert found.relative_risk > found.cases / found.expected
    assert 2 < found.relative_risk < 4


@pytest.mark.parametrize("seed", range(12))
def test_a_circle_of_just_two_cases_is_looked_at(seed):
    """However adding up what is expected rounds."""
    rng = np.random.default_rng(seed)
    at_risk, cases = rng.integers(4_000, 9_999, 9), np.array([2, 0, 0, 0, 1, 0, 0, 1, 0])
    outcome = Outcome(sparse.identity(9, format="csr"), np.zeros(9, int), np.arange(9), at_risk, cases)
    likeliest = scan(np.arange(18.0).reshape(9, 2), outcome, n_draws=1).most_likely
    assert likeliest is not None and likeliest.areas.tolist() == [0]


def test_areas_at_one_place_come_in_together():
    points = np.array([[0.0, 0], [0, 0], [500, 0], [900, 0], [1_300, 0]])
    at_risk, cases = np.full(5, 50), np.array([20, 1, 2, 2, 2])
    outcome = Outcome(sparse.identity(5, format="csr"), np.zeros(5, int), np.arange(5), at_risk, cases)
    found = scan(points, outcome, n_draws=19).most_likely
    assert found is not None and set(found.areas.tolist()) == {0, 1}


def test_moran_is_that_of_a_recount():
    rng = np.random.default_rng(2)
    outcome = random_outcome(2)
    pairs = np.array([(i, j) for i in range(7) for j in range(i + 1, 7) if rng.random() < 0.5 or j == i + 1]).T
    neighbours = adjacency_of_pairs(pairs[0], pairs[1], np.ones(pairs.shape[1]), 7)
    found = moran(neighbours, outcome, n_draws=19)
    w = neighbours.matrix().toarray()
    w = w / w.sum(axis=1, keepdims=True)
    z = (outcome.cases_by_area - outcome.expected) / np.sqrt(outcome.expected)
    z = z - z.mean()
    assert found.index == pytest.approx(7 / w.sum() * (z @ w @ z) / (z @ z))
    np.testing.assert_allclose(found.local, 7 * z * (w @ z) / (z @ z))
    assert ((found.kind == HIGH_HIGH) == ((z >= 0) & (w @ z >= 0))).all()


@pytest.mark.parametrize("seed", range(12))
def test_where_all_records_weigh_alike_nothing_is_told_from_chance(seed):
    """In one region every outcome is spread alike: what adding up leaves is neither a pattern nor a rate."""
    rng = np.random.default_rng(seed)
    people, ages = rng.integers(1, 60, 7), rng.integers(5, 60, 3)
    weights = sparse.csr_matrix(people[None] / people.sum())
    outcome = Outcome(weights, np.arange(3), np.zeros(3, int), ages, rng.binomial(ages - 1, 0.3) + 1)
    row = adjacency_of_pairs(np.arange(6), np.arange(1, 7), np.ones(6), 7)
    statistics = moran(row, outcome, DRAWS)
    assert (statistics.index, statistics.p_value, statistics.local_p.tolist()) == (0, 1, [1] * 7)
    shrunk = rate_map(np.arange(14.0).reshape(7, 2), outcome, EMPIRICAL_BAYES)
    assert shrunk.ratio_low.tolist() == shrunk.ratio_high.tolist() == pytest.approx([1] * 7)


def test_local_p_values_count_draws_of_the_same_cases():
    """Of one case the draws are few patterns: the data's own is among them, as often as its area has people."""
    at_risk, neighbours = np.array([3, 4, 5, 6, 7, 8]), adjacency_of_pairs(np.arange(5), np.arange(1, 6), np.ones(5), 6)
    for area in range(6):
        cases = (np.arange(6) == area).astype(int)
        outcome = Outcome(sparse.identity(6, format="csr"), np.zeros(6, int), np.arange(6), at_risk, cases)
        for seed in range(5):
            found = moran(neighbours, outcome, n_draws=199, seed=seed)
            same = sum((drawn[:, area] == 1).sum() for drawn in outcome.drawn(199, seed))
            assert np.nanmin(found.local_p) >= (1 + same) / 200 and found.p_value >= (1 + same) / 200


def test_p_values_count_what_is_at_least_as_large():
    assert p_values(np.array([3.0, 0.0, 9.0]), np.array([1.0, 2.0, 3.0])).tolist() == [0.5, 1.0, 0.25]
    ties = p_values(np.array([-1.0, -30.0, 30.0]), np.array([-1 - 2e-16, -30 - 4e-15, 30 - 4e-15, -31.0]))
    assert ties.tolist() == [3 / 5, 4 / 5, 2 / 5]  # what differs by rounding is as large, below 0 too


@pytest.mark.parametrize(
    ("p", "text"), [(1.0, "1.000"), (0.0424, "0.042"), (0.001, "0.001"), (2e-4, "0.0002"), (1e-5, "0.00001")]
)
def test_no_p_value_is_nothing(p, text):
    assert p_text(p) == text


def test_intervals_hold_what_draws_of_places_and_chance_give():
    rng = np.random.default_rng(1)
    outcome = random_outcome(8, n_strata=1)
    points = rng.uniform(0, 3_000, (7, 2))
    found = rate_map(points, outcome, KERNEL, 700.0)
    kernel = kernel_of(points, 700.0)
    of_cases = np.zeros((4_000, 7))
    for profile, cases in zip(outcome.profile, outcome.cases):
        of_cases += rng.multinomial(cases, outcome.weights[profile].toarray().ravel(), 4_000)
    below = kernel @ outcome.expected + found.prior
    drawn = (of_cases @ kernel.T + found.prior) / below
    np.testing.assert_allclose(drawn.mean(axis=0), found.ratio, rtol=0.02)
    np.testing.assert_allclose(drawn.std(axis=0), found.sd_places, rtol=0.08)
    chance = rng.poisson(outcome.cases, (4_000, len(outcome.cases))) @ outcome.weights.toarray()[outcome.profile]
    np.testing.assert_allclose((chance @ kernel.T / below).std(axis=0), found.sd_chance, rtol=0.08)
    assert (found.ratio_low < found.ratio).all() and (found.ratio < found.ratio_high).all()


def test_ratios_as_they_are_and_shrunk():
    at_risk, cases = np.array([1000, 1000, 1000, 10]), np.array([30, 60, 60, 1])
    outcome = Outcome(sparse.identity(4, format="csr"), np.zeros(4, int), np.arange(4), at_risk, cases)
    points = np.arange(8.0).reshape(4, 2) * 700
    raw, shrunk = rate_map(points, outcome, RAW), rate_map(points, outcome, EMPIRICAL_BAYES)
    np.testing.assert_allclose(raw.ratio, cases / outcome.expected)
    low, high = stats.gamma.ppf(0.025, 60), stats.gamma.ppf(0.975, 61)  # Garwood's
    np.testing.assert_allclose([raw.ratio_low[1], raw.ratio_high[1]], np.array([low, high]) / outcome.expected[1])
    towards = (shrunk.ratio - 1) / (raw.ratio - 1)
    assert (towards > 0).all() and (towards < 1).all() and towards[3] < towards[0]
    assert not raw.sd_places.any() and np.isnan(raw.hidden_share).sum() == 0
    none = Outcome(outcome.weights, outcome.stratum, outcome.profile, np.array([9, 9, 9, 0]), np.array([3, 0, 3, 0]))
    empty = rate_map(points, none, RAW)
    assert np.isnan(empty.ratio[3]) and empty.ratio[1] == 0 and empty.ratio_low[1] == 0 and empty.ratio_high[1] > 0


def test_few_cases_tell_few_areas_of_an_even_map_from_the_rate_of_all():
    """Far from few cases each adds next to nothing to a smoothed ratio: that says nothing of one more case there."""
    x, y = np.meshgrid(np.arange(7.0), np.arange(7.0))
    points, at_risk = np.column_stack([x.ravel(), y.ravel()]) * 400, np.full(49, 100)
    differing = []
    for n_cases in (1, 2, 3, 5):
        for seed in range(5):
            cases = np.random.default_rng(seed).multivariate_hypergeometric(at_risk, n_cases)
            outcome = Outcome(sparse.identity(49, format="csr"), np.zeros(49, int), np.arange(49), at_risk, cases)
            found = rate_map(points, outcome, KERNEL, 300.0)
            differing.append(np.mean((found.ratio_high < 1) | (found.ratio_low > 1)))
    assert np.mean(differing) <= 0.05


def test_the_bandwidth_follows_the_pattern():
    rng = np.random.default_rng(0)
    areas, rows, home, weights = spread_town(1)
    even = (rng.random(len(rows)) < 0.2).astype(int)
    inside = np.hypot(*(areas.points - areas.points[65]).T) < 900
    cluster = (rng.random(len(rows)) < np.where(inside[home], 0.6, 0.1)).astype(int)
    wide, prior = chosen_bandwidth(areas.points, outcome_of(rows, weights, even))
    narrow, _ = chosen_bandwidth(areas.points, outcome_of(rows, weights, cluster))
    assert narrow < 900 and (wide > 900 or prior > 0)


def test_where_nobody_is_a_case_no_map_foretells_more():
    """So may planted outcomes be that a release shows nobody of: the median of nothing is no number."""
    areas, rows, _, weights = spread_town(1)
    everybody = outcome_of(rows, weights, np.ones(len(rows), int))
    nobody = with_cases(everybody, np.zeros_like(everybody.cases))
    wide, prior = chosen_bandwidth(areas.points, nobody)
    assert wide == candidate_bandwidths(areas.points, nobody.expected).max() and prior == 0


def test_nobody_is_at_risk_where_nothing_is_shown():
    """An area that the crosswalk leaves out has no records, whatever its people: no rate is low for that."""
    areas = make_areas(["a", "b", "c"], [(0, 0), (900, 0), (0, 900)], [30, 30, 40])
    crosswalk = crosswalk_from_table(areas, ["a", "b", "c"], [1, 2, None])
    rows = released_rows(areas, Levels((crosswalk,)), {"vbas_region": column_from_values([1, 2])})
    outcome = outcome_of(rows, spread(rows), np.ones(2, int), (), areas.population)
    assert outcome.expected.tolist() == [1, 1, 0] and outcome.denominator.tolist() == [30, 30, 0]


def test_strata_and_people_from_elsewhere():
    areas = make_areas(["a", "b"], [(0, 0), (900, 0)], [30, 10])
    shown: dict[str, list[object]] = {"vbas_region": [1, 1, 2, 2], "age": ["old", "young", "old", "young"]}
    columns = {name: column_from_values(values) for name, values in shown.items()}
    rows = released_rows(areas, Levels((own_regions(2),)), columns, np.array([10, 20, 30, 40]))
    weights = spread(rows)
    outcome = outcome_of(rows, weights, np.array([1, 0, 0, 0]), ("age",))
    np.testing.assert_allclose(outcome.expected, [2.5, 7.5])
    outside = outcome_of(rows, weights, np.array([1, 0, 0, -1]), (), areas.population)
    assert outside.n_at_risk == 60 and outside.expected.tolist() == [7.5, 2.5]
    with pytest.raises(InputError, match="No released record is a case"):
        outcome_of(rows, weights, np.zeros(4, int))


def test_who_is_a_case():
    column = column_from_values(["flu", None, "cold", "flu"])
    assert cases_of(column, ("flu",)).tolist() == [1, -1, 0, 1]
    with pytest.raises(InputError, match="has no value “plague”: it has “cold”, “flu”"):
        cases_of(column, ("plague",))
    with pytest.raises(InputError, match="values beside 1 and 0"):
        cases_of(column, ())
    assert cases_of(column_from_values([1, 0, None, True]), ()).tolist() == [1, 0, -1, 1]
    assert cases_of(column_from_values(["1", "", "0", None]), ()).tolist() == [1, -1, 0, -1]
    assert cases_of(column_from_values(["flu", "", "cold"]), ("flu",)).tolist() == [1, -1, 0]
    assert cases_of(Column(np.empty(0, np.int64), np.empty(0, object)), ("flu",)).tolist() == []


def rejections(n_maps, k, outside=False, by_age=False, towns=1):
    """How often each test says something of maps on which nothing is planted."""
    found = {"Poisson": 0, "Bernoulli": 0, "Moran": 0, "local Moran": 0}
    for number in range(n_maps):
        if number % (n_maps // towns) == 0:
            areas, rows, _, weights = spread_town(number, k)
            neighbours = point_neighbours(areas.points)
        rng = np.random.default_rng([number, 7])
        risk = np.where(rows.fields["q"].codes % 3 == 0, 0.3, 0.1) if by_age else np.full(len(rows), 0.15)
        is_case = (rng.random(len(rows)) < risk).astype(int)
        people = areas.population if outside else None
        outcome = outcome_of(rows, weights, is_case, ("q",) if by_age else (), people)
        for model in (POISSON,) if outside or by_age else (POISSON, BERNOULLI):
            result = scan(areas.points, outcome, model, n_draws=DRAWS, seed=number, at_most=1).most_likely
            found[model] += result is not None and result.p_value <= 0.05
        of = moran(neighbours, outcome, DRAWS, number)
        found["Moran"] += of.p_value <= 0.05
        found["local Moran"] += bool(np.nanmin(of.local_p) <= 0.05)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("outside", [False, True])
def test_tests_hold_their_level_on_a_few_maps(outside):
    found = rejections(12, 5, outside)
    assert all(hits <= stats.binom.ppf(0.999, 12, 0.05) for hits in found.values()), found


@pytest.mark.slow
@pytest.mark.parametrize("kind", [{}, {"outside": True}, {"by_age": True}])
def test_tests_hold_their_level(kind):
    """Every test offered rejects 5 % of maps without a cluster, up to chance; benchmarks/analyses.py has more maps."""
    n_maps = tried(24, 60)
    found = rejections(n_maps, 5, towns=3, **kind)
    asked = {name: hits for name, hits in found.items() if name != "Bernoulli" or not kind}
    assert all(hits <= stats.binom.ppf(0.999, n_maps, 0.05) for hits in asked.values()), asked
    assert stats.binom.ppf(0.001, n_maps * len(asked), 0.05) <= sum(asked.values()), asked


def test_the_usual_permutation_of_moran_would_reject_spread_records():
    """What these tests are for: areas are alike because records are spread."""
    areas, rows, _, weights = spread_town(0, 40)
    rng = np.random.default_rng(0)
    outcome = outcome_of(rows, weights, (rng.random(len(rows)) < 0.15).astype(int))
    found = moran(point_neighbours(areas.points), outcome, 99)
    assert found.expected > 3 / np.sqrt(len(areas)) and found.p_value > 0.05
