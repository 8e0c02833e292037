"""Donut masking: radii, laws, areas, what cannot be masked, and that nothing depends on luck."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from scipy import stats

from vbas.core.errors import Cancelled, InputError
from vbas.core.masking import DISTANCES, donut, placing
from vbas.core.masking.donut import (
    CATEGORY_MISSING,
    MASKED,
    NO_POSITION,
    NOBODY,
    OUT_OF_REACH,
    OUTSIDE,
    donut_mask,
    generator,
    radii,
)
from vbas.core.masking.placing import mask_stragglers, open_directions, own_areas, reach

from .donut_towns import masked_town, ragged_town

SQUARE = np.array([shapely.box(0, 0, 1000, 1000)], dtype=object)


def mask_at(point, k_inner, k_outer, people=100.0, shapes=SQUARE, n=1, distance="uniform in distance", seed=0):
    points = np.tile(np.array(point, float), (n, 1))
    rng = np.random.default_rng(seed)
    return donut_mask(points, np.zeros(n, int), np.full(n, people), shapes, k_inner, k_outer, distance, rng)


def test_radii_are_those_of_the_paper():
    # 1 km², 100 households: a circle of 10 households covers 0.1 km².
    inner, outer = radii(np.array([1e6, 1e6]), np.array([100.0, 0.0]), 10, 40)
    assert inner[0] == pytest.approx(np.sqrt(1e5 / np.pi))
    assert outer[0] == pytest.approx(2 * inner[0])
    assert np.isnan([inner[1], outer[1]]).all()


@pytest.mark.slow
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize(("k_inner", "k_outer"), [(2, 20), (8, 80), (45, 450), (58, 60)])
def test_every_masked_point_is_in_its_own_area_and_in_its_ring(distance, k_inner, k_outer):
    cells, points, area_of, masking = masked_town(k_inner, k_outer, distance)
    rows = np.flatnonzero(masking.masked)
    assert len(rows) > 1000
    moved = np.hypot(*(masking.points[rows] - points[rows]).T)
    assert (moved > masking.inner[rows]).all()
    assert (moved < masking.outer[rows]).all()
    assert np.array_equal(moved, masking.displacement[rows])
    assert shapely.contains(cells[area_of[rows]], shapely.points(masking.points[rows])).all()
    assert np.allclose(masking.k_est[rows], np.pi * moved**2 * 60 / shapely.area(cells)[area_of[rows]])
    # Nothing of a point that was not masked could be released.
    assert np.isnan(masking.points[~masking.masked]).all()


def test_the_two_laws_of_the_distance():
    # In the middle of a square whose side no ring reaches: the laws are those of the whole ring.
    for distance, low, high, share in (
        ("uniform in distance", 1.0, np.sqrt(10.0), lambda d: d),
        ("uniform in area", 1.0, 10.0, lambda d: d**2),
    ):
        masking = mask_at((500, 500), 5, 50, n=20_000, distance=distance)
        assert masking.masked.all()
        scaled = share(masking.displacement / masking.inner)
        law = stats.uniform(low, high - low)
        assert stats.kstest(scaled, law.cdf).pvalue > 0.01
        other = masking.displacement / masking.inner
        assert stats.kstest(other**2 if distance == "uniform in distance" else other, "uniform").pvalue < 1e-6
        angle = np.arctan2(*(masking.points - 500).T)
        assert stats.kstest(angle, stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("where", [(980.0, 20.0), (500.0, 500.0), (320.0, 750.0)])
def test_points_with_little_room_follow_the_law_of_plain_redrawing(distance, where):
    # The ring is all but outside: only the corners of the square lie in it.
    shapes, n = SQUARE, 4000
    inner = 0.97 * np.hypot(*(np.abs(np.array(where) - 500) + 500))
    outer = 1.6 * inner
    points, ring = np.tile(where, (n, 1)), np.full(n, inner)
    law = DISTANCES[distance]
    placed, met = mask_stragglers(
        points, np.zeros(n, int), ring, np.full(n, outer), shapes, law, np.random.default_rng(0)
    )
    assert met.all()
    assert np.isfinite(placed).all()
    rng = np.random.default_rng(1)
    direction, far = rng.uniform(0, 2 * np.pi, 2_000_000), law(rng.random(2_000_000), inner, outer)
    plain = np.array(where) + far[:, None] * np.column_stack([np.cos(direction), np.sin(direction)])
    plain = plain[shapely.contains_xy(shapes[0], *plain.T)]
    assert len(plain) > 200
    for axis in (0, 1):
        assert stats.ks_2samp(placed[:, axis], plain[:, axis]).pvalue > 0.01
    assert stats.ks_2samp(np.hypot(*(placed - where).T), np.hypot(*(plain - where).T)).pvalue > 0.01


def test_whether_a_ring_meets_its_area_is_decided_exactly():
    half = np.hypot(500, 500)
    for inner, expected in ((half * (1 - 1e-9), True), (half, False), (half * (1 + 1e-9), False)):
        meets, _ = reach(np.array([[500.0, 500.0]]), np.array([inner]), np.array([2 * inner]), SQUARE[0])
        assert meets[0] == expected
    # Two islands: a ring that passes between them meets neither, though the far one lies within twice its reach.
    islands = shapely.multipolygons([shapely.box(0, 0, 100, 100), shapely.box(1000, 0, 1100, 100)])
    point = np.array([[50.0, 50.0]])
    for inner, outer, expected in ((80, 900, False), (80, 960, True), (60, 90, True), (1080, 2000, False)):
        assert reach(point, np.array([float(inner)]), np.array([float(outer)]), islands)[0][0] == expected


def test_open_directions_miss_none():
    cells, points = ragged_town(400)
    rng = np.random.default_rng(3)
    for i in (14, 21, 30):
        own = points[own_areas(points, cells) == i]
        inner = rng.uniform(50, 700, len(own))
        is_open = open_directions(own, inner, cells[i])
        direction = rng.uniform(0, 2 * np.pi, (len(own), 4000))
        far = inner[:, None] + rng.uniform(0, 600, direction.shape)
        x, y = own[:, :1] + far * np.cos(direction), own[:, 1:] + far * np.sin(direction)
        inside = shapely.contains_xy(cells[i], x, y)
        sector = (direction / (2 * np.pi) * is_open.shape[1]).astype(int)
        assert np.take_along_axis(is_open, sector, axis=1)[inside].all()
        assert inside.any()
        # Most of what is shut is shut for a reason: no sector is open where the circle holds the whole area.
    assert not open_directions(np.array([[500.0, 500.0]]), np.array([800.0]), SQUARE[0]).any()


def test_a_sliver_is_reached_where_the_ring_all_but_misses():
    masking = mask_at((500, 500), 156.9, 200, n=50)  # the corners lie at 157.08
    assert masking.masked.all()
    corner = np.abs(masking.points - 500).min(axis=1)
    assert (corner > 499).all()


def test_a_point_that_no_draw_places_is_not_released_and_says_so(monkeypatch):
    monkeypatch.setattr(placing, "MOST_DRAWS", 0)
    masking = mask_at((500, 500), 156.9, 200, n=3)
    assert masking.counts() == {"ring meets the area in a sliver only": 3}
    assert np.isnan(masking.points).all()


def test_what_cannot_be_masked_says_why():
    shapes = np.array([shapely.box(0, 0, 100, 100), shapely.box(200, 0, 300, 100)], dtype=object)
    points = np.array([[50, 50], [np.nan, np.nan], [150, 50], [50, 50], [250, 50], [50, 50]], float)
    area_of = own_areas(points, shapes)
    people = np.array([100, 0, 0, np.nan, 0, 5], float)
    masking = donut_mask(points, area_of, people, shapes, 10, 100, "uniform in distance", np.random.default_rng(0))
    assert masking.reason.tolist() == [MASKED, NO_POSITION, OUTSIDE, CATEGORY_MISSING, NOBODY, OUT_OF_REACH]
    assert masking.masked.tolist() == [True] + [False] * 5
    assert masking.counts() == {
        "masked": 1,
        "no position": 1,
        "in no area": 1,
        "category missing": 1,
        "area without people": 1,
        "ring does not meet the area": 1,
    }


def test_same_points_and_seed_same_result_and_no_seed_never_twice():
    _, points, _, first = masked_town(seed=4)
    assert np.array_equal(first.points, masked_town(seed=4)[3].points, equal_nan=True)
    assert not np.array_equal(first.points, masked_town(seed=5)[3].points, equal_nan=True)
    draws = [generator(seed, points).random() for seed in (7, 7, 8, None, None)]
    assert draws[0] == draws[1]
    assert len(set(draws)) == 4
    # A seed alone does not tell the moves: they depend on where the points really are.
    assert generator(7, points + 1e-3).random() != draws[0]


def test_own_areas_agree_with_one_test_per_pair_and_prefer_the_first():
    cells, points = ragged_town(600)
    cells = np.append(cells, shapely.box(2000, 2000, 4000, 4000))  # overlaps
    points[5] = np.nan
    points[6] = (2000, 2000)
    within = shapely.intersects(cells[:, None], shapely.points(np.nan_to_num(points, nan=-9e9))[None])
    expected = np.where(within.any(axis=0), within.argmax(axis=0), -1)
    found = own_areas(points, cells)
    assert np.array_equal(found, expected)
    assert found[5] == -1
    assert (found == -1).sum() > 3


@pytest.mark.parametrize(("k_inner", "k_outer", "word"), [(0, 10, "K_INNER"), (10, 10, "K_OUTER"), (10, 5, "K_OUTER")])
def test_a_ring_that_is_none_is_refused(k_inner, k_outer, word):
    with pytest.raises(InputError, match=word):
        mask_at((500, 500), k_inner, k_outer)


def test_masking_can_be_cancelled():
    def stop(fraction):
        raise Cancelled("Cancelled")

    cells, points = ragged_town(100)
    area_of = own_areas(points, cells)
    with pytest.raises(Cancelled):
        donut_mask(points, area_of, np.full(100, 60.0), cells, 8, 80, "uniform in area", np.random.default_rng(0), stop)


def test_plain_draws_and_single_looks_give_the_same_law(monkeypatch):
    town = ragged_town(4000, seed=2)
    with_plain = masked_town(20, 200, town=town)[3]
    monkeypatch.setattr(donut, "PLAIN_DRAWS", ())
    without = masked_town(20, 200, town=town, seed=9)[3]
    assert np.array_equal(with_plain.reason, without.reason)
    rows = with_plain.masked
    assert stats.ks_2samp(with_plain.k_est[rows], without.k_est[rows]).pvalue > 0.01
