"""Households counted, the audit grid, the smallest K_INNER, heterogeneity, utility, the release."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import shapely
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr

from vbas.core.errors import InputError, PrivacyError
from vbas.core.masking.audit import (
    Masker,
    OuterRule,
    Trial,
    audit,
    compared,
    donuts,
    numbers_of,
    quintiles,
    smallest_k_inner,
)
from vbas.core.masking.donut import (
    check_no_coordinates,
    check_released,
    kept_warnings,
    release_order,
    unmasked_sentence,
)
from vbas.core.masking.placing import own_areas
from vbas.core.masking.populations import (
    Households,
    categories_of,
    heterogeneity,
    make_households,
    make_populations,
    rank_correlation,
)
from vbas.core.masking.utility import nearest_neighbour, ripley_k, utility
from vbas.core.records.columns import column_from_values

from .donut_towns import masked_town, ragged_town


def masker(seed=0, weights=None, n=2000):
    cells, points = ragged_town(n)
    area_of = own_areas(points, cells)
    households = Households(points, weights)
    counted = np.bincount(area_of[area_of >= 0], weights=households.weights[area_of >= 0], minlength=len(cells))
    people = np.where(area_of >= 0, counted[area_of], 0.0)
    return Masker(households, area_of, people, cells, "uniform in distance", seed)


@pytest.mark.parametrize("weighted", [False, True])
def test_households_nearer_than_a_distance_against_all_pairs(weighted):
    # On a grid, so that many households lie exactly at the distance: those do not count.
    rng = np.random.default_rng(0)
    points = rng.integers(0, 30, (400, 2)).astype(float)
    weights = rng.choice([0.5, 1, 2, 7.25], 400) if weighted else None
    asked, distances = points[:200], rng.integers(0, 14, 200).astype(float)
    households = Households(points, weights)
    nearer = cdist(asked, points) < distances[:, None]
    expected = (nearer * (1.0 if weights is None else weights)).sum(axis=1)
    assert np.allclose(households.nearer_than(asked, distances), expected)
    assert (cdist(asked, points) == distances[:, None]).any()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_distance_that_reaches_a_number_tells_who_falls_short(weighted):
    rng = np.random.default_rng(1)
    points = rng.integers(0, 40, (300, 2)).astype(float)
    weights = rng.choice([0.25, 1, 3], 300) if weighted else None
    households = Households(points, weights)
    numbers = np.array([5.0, 25.0, households.weights.sum(), households.weights.sum() + 1])
    needed = households.distance_to_reach(points, numbers)
    for distances in (rng.integers(1, 40, 300).astype(float), rng.uniform(1, 80, 300)):
        short = households.nearer_than(points, distances)[:, None] < numbers
        assert np.array_equal(short, distances[:, None] <= needed)
    # A search for few widens until light locations add up to them.
    assert np.array_equal(households.distance_to_reach(points, numbers[:2]), needed[:, :2])
    assert np.isinf(needed[:, 3]).all()
    assert np.isfinite(needed[:, 2]).all()


def test_the_grid_is_what_counting_every_household_gives():
    one = masker()
    grid, _ = audit(one, donuts([5, 15]), [5, 10, 25])
    assert grid.k_outer.tolist() == [50, 150]
    for i, k_inner in enumerate((5, 15)):
        masking = one.run(Trial(k_inner, 10 * k_inner))
        rows = np.flatnonzero(masking.masked)
        k_act = one.households.nearer_than(one.households.points[rows], masking.displacement[rows])
        for j, k_min in enumerate((5, 10, 25)):
            assert grid.percent_below[i, j] == pytest.approx(100 * np.mean(k_act < k_min))
            area = int(one.area_of[rows[0]])
            own = one.area_of[rows] == area
            assert grid.percent_below_by_area[i, j, area] == pytest.approx(100 * np.mean(k_act[own] < k_min))
        assert grid.percent_not_masked[i] == pytest.approx(100 * np.mean(~masking.masked))
    assert grid.households.sum() == (one.area_of >= 0).sum()
    # A run depends on its own K_INNER only.
    alone, _ = audit(one, donuts([15]), [10])
    assert alone.percent_below[0, 0] == grid.percent_below[1, 1]


def test_a_location_of_several_households_weighs_as_many():
    rng = np.random.default_rng(5)
    one = masker(weights=rng.integers(1, 4, 2000).astype(float))
    grid, _ = audit(one, donuts([10]), [10])
    masking = one.run(Trial(10, 100))
    rows = np.flatnonzero(masking.masked)
    short = one.households.nearer_than(one.households.points[rows], masking.displacement[rows]) < 10
    weights = one.households.weights[rows]
    assert grid.percent_below[0, 0] == pytest.approx(100 * weights[short].sum() / weights.sum())


def test_evenly_spread_households_do_not_fall_short_and_clustered_ones_do():
    def lattice(n, west, side):
        steps = west + (np.arange(n) + 0.5) * side / n
        return np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)

    cells = np.array([shapely.box(0, 0, 4000, 4000)], dtype=object)
    shares = []
    for points in (lattice(70, 0, 4000), np.vstack([lattice(35, 0, 4000), lattice(60, 100, 300)])):
        n = len(points)
        one = Masker(Households(points), np.zeros(n, int), np.full(n, float(n)), cells, "uniform in area", 0)
        shares.append(float(audit(one, donuts([40]), [20])[0].percent_below[0, 0]))
    assert shares[0] < 0.1
    assert shares[1] > 1


@pytest.mark.slow
def test_the_smallest_k_inner_meets_the_rate_and_the_one_below_does_not():
    one = masker()
    grid, needed = audit(one, donuts([5, 40]), [5, 15])
    found = smallest_k_inner(one, grid, needed, 2.0)
    assert [s.k_min for s in found] == [5, 15]
    for j, smallest in enumerate(found):

        def share(k, j=j):
            masking = one.run(Trial(k, 10 * k))
            return 100 * np.mean((masking.displacement <= needed[:, j])[masking.masked])

        assert smallest.k_inner is not None and 5 <= smallest.k_inner <= 45
        assert share(smallest.k_inner) == pytest.approx(smallest.percent_below)
        not_masked = 100 * np.mean(~one.run(Trial(smallest.k_inner, 10 * smallest.k_inner)).masked)
        assert smallest.percent_not_masked == pytest.approx(not_masked)
        assert share(smallest.k_inner) <= 2.0 < share(smallest.k_inner - 1)
    # From nothing but K_INNER = 1 the search has to double.
    from_one = audit(one, donuts([1]), [5, 15])
    assert all(s.percent_below <= 2.0 for s in smallest_k_inner(one, *from_one, 2.0))


def test_no_k_inner_is_claimed_where_none_does():
    cells = np.array([shapely.box(0, 0, 100, 100)], dtype=object)
    points = np.random.default_rng(0).uniform(0, 100, (10, 2))
    one = Masker(Households(points), np.zeros(10, int), np.full(10, 10.0), cells, "uniform in area", 0)
    smallest = smallest_k_inner(one, *audit(one, donuts([5]), [25]), 1.0)
    assert smallest[0].k_inner is None


@pytest.mark.parametrize("text", ["", "5,x", "0", "-1,5", "nan", "inf"])
def test_lists_that_are_none_are_refused(text):
    with pytest.raises(InputError, match="K_MIN"):
        numbers_of(text, "K_MIN")


def test_lists_are_read_as_people_write_them():
    assert numbers_of("5, 10;15 5", "K_INNER") == [5, 10, 15]


def test_heterogeneity_is_the_variance_of_density_in_the_sub_areas():
    big = np.array([shapely.box(0, 0, 2000, 1000), shapely.box(2000, 0, 4000, 1000), shapely.box(9e3, 0, 9.1e3, 9)])
    finer = np.array([shapely.box(x, 0, x + 1000, 1000) for x in (0, 1000, 2000, 3000)] + [shapely.box(-99, 0, -9, 9)])
    found = heterogeneity(big, finer, np.array([10.0, 30.0, 50.0, np.nan, 9.0]))
    assert found.n_parts.tolist() == [2, 2, 0]
    assert found.variance[:2] == pytest.approx([100.0, 625.0])
    assert found.variation[:2] == pytest.approx([0.5, 1.0])
    assert np.isnan([found.variance[2], found.variation[2]]).all()


def test_rank_correlation_agrees_with_scipy():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 9, (2, 50)).astype(float)
    assert rank_correlation(first, second + first) == pytest.approx(spearmanr(first, second + first)[0])
    assert np.isnan(rank_correlation(first, np.ones(50)))


def test_neighbours_and_ripley_against_all_pairs():
    points = np.random.default_rng(2).uniform(0, 1000, (150, 2))
    apart = cdist(points, points)
    np.fill_diagonal(apart, np.inf)
    assert nearest_neighbour(points) == pytest.approx(apart.min(axis=1).mean())
    for distance in (50.0, 200.0):
        expected = 1e6 * (apart <= distance).sum() / (150 * 149)
        assert ripley_k(points, np.array([distance]), 1e6)[0] == pytest.approx(expected)


def test_utility_tells_what_masking_does():
    cells, _ = ragged_town(2)
    rng = np.random.default_rng(0)
    clustered = np.repeat(rng.uniform(500, 5500, (40, 2)), 20, axis=0) + rng.normal(0, 15, (800, 2))
    _, points, area_of, masking = masked_town(town=(cells, clustered))
    rows = masking.masked
    found = utility(points[rows], masking.points[rows], area_of[rows], cells, rng)
    assert found is not None
    assert found.mean_displacement == pytest.approx(masking.displacement[rows].mean())
    assert found.percent_in_own_area == 100
    # Masking spreads clusters out.
    assert found.neighbour_after > 2 * found.neighbour_before
    assert found.index_before < 0.5 < found.index_after
    assert (found.k_after[:5] < 0.5 * found.k_before[:5]).all()
    elsewhere = utility(points[rows], points[rows] + 1e5, area_of[rows], cells, np.random.default_rng(0))
    assert elsewhere is not None and elsewhere.percent_in_own_area == 0
    assert utility(points[:2], points[:2], area_of[:2], cells, np.random.default_rng(0)) is None


def test_the_order_of_a_release_follows_from_what_it_shows():
    rng = np.random.default_rng(0)
    places = rng.integers(0, 4, (60, 2)).astype(float)
    values = rng.choice(np.array(["a", "b", None]), 60)
    shown = []
    for shuffle in (np.arange(60), rng.permutation(60)):
        kept = {"v": column_from_values(values[shuffle].tolist())}
        order = release_order(places[shuffle], kept)
        shown.append([(*places[shuffle][i].tolist(), values[shuffle][i]) for i in order])
    assert shown[0] == shown[1]


def test_the_second_check_finds_a_point_that_was_not_moved_or_left_its_area():
    cells, points, area_of, masking = masked_town()
    good = masking.points
    check_released(good, points, masking, area_of, cells)
    check_released(good + 0.001, points, masking, area_of, cells)
    first = int(np.flatnonzero(masking.masked)[0])
    unmasked = int(np.flatnonzero(~masking.masked)[0])
    for row, place in ((first, points[first]), (first, good[first] + 0.5), (unmasked, good[first])):
        wrong = good.copy()
        wrong[row] = place
        with pytest.raises(PrivacyError, match="1 masked point"):
            check_released(wrong, points, masking, area_of, cells)


@pytest.mark.parametrize("times", [0.1, 30.0])
def test_the_second_check_does_not_trust_the_masking(times):
    cells, points, area_of, masking = masked_town(k_inner=3, k_outer=30)
    centre = int(np.flatnonzero(masking.masked)[0])
    cells[area_of[centre]] = shapely.box(-1e5, -1e5, 1e5, 1e5)
    moved = masking.points.copy()
    moved[centre] = points[centre] + times * (moved[centre] - points[centre])
    with pytest.raises(PrivacyError, match="1 masked point"):
        check_released(moved, points, replace(masking, points=moved), area_of, cells)


def test_fields_that_repeat_a_coordinate_are_refused():
    rng = np.random.default_rng(0)
    metres, degrees = rng.uniform(0, 5000, (50, 2)), rng.uniform(45, 46, (50, 2))
    age = column_from_values(rng.integers(0, 90, 50).tolist())
    check_no_coordinates({"age": age, "name": column_from_values(["x"] * 50)}, metres, degrees)
    for values in (metres[:, 0].round(), degrees[:, 1].round(4), np.char.mod("%.3f", degrees[:, 0])):
        with pytest.raises(InputError, match="“y”"):
            check_no_coordinates({"age": age, "y": column_from_values(values.tolist())}, metres, degrees)


@pytest.mark.parametrize(
    "field",
    [
        lambda x, y: x / 1000,
        lambda x, y: np.round(x / 0.3048, 1),
        lambda x, y: 7_000_000 - y,
        lambda x, y: np.round(x * np.cos(0.03) - y * np.sin(0.03)),
    ],
)
def test_a_field_that_repeats_a_coordinate_in_another_unit_is_refused(field):
    """Kilometres, feet, from the north, and in a system that is turned; a distance to somewhere is none."""
    rng = np.random.default_rng(8)
    places = rng.uniform((500_000, 5_000_000), (503_000, 5_004_000), (60, 2))
    with pytest.raises(InputError, match="repeats a coordinate"):
        check_no_coordinates({"east": column_from_values(field(*places.T).tolist())}, places)
    far = column_from_values(np.round(np.hypot(*(places - places.mean(axis=0)).T)).tolist())
    age = column_from_values(rng.integers(20, 90, 60).tolist())
    check_no_coordinates({"far": far, "age": age, "same": column_from_values([3] * 60)}, places)
    three_homes = np.repeat(places[:3], 20, axis=0)
    check_no_coordinates({"size": column_from_values([1] * 20 + [4] * 20 + [2] * 20)}, three_homes)


def test_a_field_with_a_value_per_row_is_warned_of():
    kept = {"id": column_from_values(list(range(10))), "sex": column_from_values(["F", "M"] * 5)}
    assert ["“id”" in w for w in kept_warnings(kept)] == [True]


def test_what_was_not_masked_is_one_sentence():
    assert unmasked_sentence({"masked": 5}) == ""
    assert unmasked_sentence({"masked": 5, "in no area": 2, "no position": 1}) == (
        "3 of 8 points could not be masked and are not released: in no area (2), no position (1)."
    )
    assert unmasked_sentence({"masked": 0, "in no area": 1}) == (
        "The only point could not be masked and is not released: in no area (1)."
    )


def test_populations_by_category():
    found = make_populations(np.array([[10, 20], [np.nan, 40]]), np.array(["a", "b"]), ("46", "F"))
    codes = categories_of(column_from_values([46, "F", None, 46.0]), found.categories, "group")
    assert codes.tolist() == [0, 1, -1, 0]
    people = found.of_points(np.array([0, 1, 1, 1]), codes)
    assert people[[0, 1, 3]].tolist() == [10, 40, 0]
    assert np.isnan(people[2])
    with pytest.raises(InputError, match=r"“group”.*“X”"):
        categories_of(column_from_values(["F", "X"]), found.categories, "group")
    with pytest.raises(InputError, match="negative in 1"):
        make_populations(np.array([1.0, -1.0]), np.array(["a", "b"]))


def test_household_counts_are_checked():
    points = np.array([[0.0, 0.0], [np.nan, np.nan], [1.0, 1.0]])
    assert len(make_households(points, None)) == 2
    assert len(make_households(points, np.array([1.0, 5.0, 0.0]))) == 1
    for weights, word in (([1, np.nan, 1], "missing"), ([1, 1, -2], "negative"), ([1, 1, 2e9], "more than 1")):
        with pytest.raises(InputError, match=word):
            make_households(points, np.array(weights, float), "n")
    with pytest.raises(InputError, match="no households"):
        make_households(points[1:2], None)


def test_displacement_stands_beside_the_share_that_falls_short():
    rng = np.random.default_rng(3)
    one = masker(weights=rng.integers(1, 4, 2000).astype(float))
    grid, _ = audit(one, donuts([5, 20]), [5])
    for i, trial in enumerate(grid.trials):
        masking = one.run(trial)
        rows = masking.masked
        # Households one by one, as often as each location stands for.
        every = np.repeat(masking.displacement[rows], one.households.weights[rows].astype(int))
        assert grid.mean_displacement[i] == pytest.approx(every.mean())
        assert grid.median_displacement[i] == np.sort(every)[(len(every) - 1) // 2]
    assert grid.mean_displacement[1] > 1.5 * grid.mean_displacement[0]


def test_each_k_inner_is_tried_with_each_k_outer_above_it():
    rules = [OuterRule(number=20.0), OuterRule(number=100.0)]
    assert donuts([5, 20], rules) == [Trial(5, 20), Trial(5, 100), Trial(20, 100)]
    assert donuts([5, 20], [OuterRule(3.0)]) == [Trial(5, 15), Trial(20, 60)]
    with pytest.raises(InputError, match="K_OUTER has no number above K_INNER = 20"):
        donuts([5, 20], rules[:1])
    with pytest.raises(InputError, match="K_INNER is 0"):
        donuts([0], rules)


def test_a_trial_is_the_mask_with_that_outer_radius():
    one = masker()
    trials = donuts([5], [OuterRule(number=20.0), OuterRule(number=100.0)])
    grid, needed = audit(one, trials, [5, 15])
    for i, trial in enumerate(trials):
        masking = one.run(trial)
        rows = np.flatnonzero(masking.masked)
        k_act = one.households.nearer_than(one.households.points[rows], masking.displacement[rows])
        assert grid.percent_below[i, 1] == pytest.approx(100 * np.mean(k_act < 15))
    assert grid.percent_below[0, 1] > grid.percent_below[1, 1]
    assert grid.narrowest() == [0]
    # The smallest K_INNER is that of its own K_OUTER, and no larger than that allows.
    rules = [OuterRule(number=20.0), OuterRule(number=100.0)]
    smallest = smallest_k_inner(one, grid, needed, 2.0, rules)
    assert [(s.k_min, s.k_outer) for s in smallest] == [(5, 20), (5, 100), (15, 20), (15, 100)]
    assert smallest[2].k_inner is None
    for j, row in ((0, smallest[0]), (0, smallest[1]), (1, smallest[3])):
        assert row.k_inner is not None and row.k_outer is not None and row.k_inner < row.k_outer

        def share(k, j=j, k_outer=row.k_outer):
            masking = one.run(Trial(k, k_outer))
            return 100 * np.mean((masking.displacement <= needed[:, j])[masking.masked])

        assert share(row.k_inner) <= 2.0 < share(row.k_inner - 1)
        assert row.mean_displacement == pytest.approx(np.nanmean(one.run(Trial(row.k_inner, row.k_outer)).displacement))
    nothing = smallest_k_inner(one, *audit(one, [Trial(0.5, 1.0)], [5]), 2.0, [OuterRule(number=1.0)])
    assert (nothing[0].k_inner, nothing[0].k_outer) == (None, 1.0)


def test_a_perturbation_is_the_donut_without_its_hole():
    one = masker()
    trials = donuts([5, 10], [OuterRule(number=50.0), OuterRule(number=100.0)])
    beside = compared(["random perturbation", "centre of the area"], trials)
    assert [(t.k_inner, t.k_outer, t.method) for t in beside[:2]] == [
        (0.0, 50.0, "random perturbation"),
        (0.0, 100.0, "random perturbation"),
    ]
    assert compared([], trials) == []
    masking, donut = one.run(beside[0]), one.run(Trial(5, 50))
    assert (masking.inner[masking.masked] == 0).all()
    assert np.array_equal(masking.outer, donut.outer, equal_nan=True)
    # Everybody can be masked who lives in an area, and stays there; some stay nearly where they are.
    assert np.array_equal(masking.masked, one.area_of >= 0)
    rows = masking.masked
    assert np.array_equal(own_areas(masking.points[rows], one.shapes), one.area_of[rows])
    share = masking.displacement[rows] / masking.outer[rows]
    assert 0 < share.min() < 0.01
    grid, _ = audit(one, [Trial(5, 50), beside[0]], [5])
    assert grid.percent_below[1, 0] > grid.percent_below[0, 0] + 5
    assert grid.mean_displacement[1] < grid.mean_displacement[0]


def test_at_the_centre_all_of_an_area_are_candidates():
    one = masker(weights=np.random.default_rng(0).integers(1, 4, 2000).astype(float))
    (centre,) = compared(["centre of the area"], donuts([5]))
    masking = one.run(centre)
    inside = one.area_of >= 0
    assert np.array_equal(masking.masked, inside)
    for area in np.unique(one.area_of[inside]).tolist():
        here = one.area_of == area
        expected = shapely.get_coordinates(shapely.centroid(one.shapes[area]))[0]
        assert np.allclose(masking.points[here], expected)
        assert np.allclose(one.candidates(centre, masking)[here], one.households.weights[here].sum())
    assert np.isnan(masking.points[~inside]).all() and np.isnan(one.candidates(centre, masking)[~inside]).all()
    moved = np.hypot(*(masking.points - one.households.points).T)
    k_act = (cdist(one.households.points, one.households.points) < moved[:, None]) @ one.households.weights
    grid, _ = audit(one, [centre], [5, 40])
    weights = one.households.weights * inside
    for j, k_min in enumerate((5, 40)):
        assert grid.percent_below[0, j] == pytest.approx(100 * weights[k_act < k_min].sum() / weights.sum())
        few = np.bincount(one.area_of[inside], weights=weights[inside], minlength=36)[one.area_of] < k_min
        assert grid.percent_below_candidates[0, j] == pytest.approx(100 * weights[few].sum() / weights.sum())


def test_fifths_of_areas_by_counting():
    rng = np.random.default_rng(0)
    for values in (rng.random(40), rng.integers(0, 4, 30).astype(float), np.zeros(7), np.array([np.nan, 3.0, 1.0])):
        known = values[np.isfinite(values)]
        ends = [np.quantile(known, share) for share in (0.2, 0.4, 0.6, 0.8)]
        expected = [np.nan if np.isnan(v) else 1 + sum(v > end for end in ends) for v in values]
        assert np.array_equal(quintiles(values), expected, equal_nan=True)
    assert np.bincount(quintiles(np.arange(100.0)).astype(int)).tolist() == [0, 20, 20, 20, 20, 20]
    # Where most areas have none that falls short, the others are the worst.
    assert quintiles(np.array([0.0] * 9 + [1.0])).tolist() == [1.0] * 9 + [5.0]
    assert np.isnan(quintiles(np.full(3, np.nan))).all()
