"""Dots: groups that may be shown, places, shares, the second look."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.cells.dots import (
    BY_COUNT,
    BY_RATE,
    Dots,
    GroupCounts,
    check_dots,
    counts_of_rates,
    counts_of_rows,
    draw_dots,
    largest_remainders,
    random_places,
)
from vbas.core.errors import InputError, PrivacyError

SQUARES = shapely.box([0, 10, 20], 0, [10, 20, 30], 10)


def groups_of(counts):
    counts = np.array(counts, np.int64)
    return GroupCounts(np.array([f"g{i}" for i in range(len(counts))], object), counts, tuple("xyz"[: counts.shape[1]]))


@given(st.lists(st.lists(st.integers(0, 12), min_size=2, max_size=2), min_size=1, max_size=6), st.integers(2, 12))
def test_a_group_is_shown_where_each_count_is_0_or_enough(counts, least):
    groups = groups_of(counts)
    expected = [not any(0 < count < least for count in row) for row in counts]
    assert groups.may_be_shown(least).tolist() == expected
    assert groups.smallest.tolist() == [min([count for count in row if count], default=0) for row in counts]


@pytest.mark.parametrize("allocation", [BY_RATE, BY_COUNT])
def test_groups_with_a_small_count_have_no_dots(allocation):
    groups = groups_of([[40, 60], [9, 91], [0, 30]])
    dots = draw_dots(SQUARES, groups, 10, 1, allocation, 0)
    assert np.bincount(dots.group).tolist() == [100, 0, 30]
    assert set(dots.category[dots.group == 2].tolist()) == {1}
    inside = shapely.contains_xy(SQUARES[dots.group], *dots.points.T)
    assert inside.all()
    if allocation == BY_COUNT:
        assert np.bincount(dots.category[dots.group == 0]).tolist() == [40, 60]


def test_no_category_is_drawn_over_the_others():
    """The last on a map covers the rest: of two halves the second alone was seen where dots are dense."""
    dots = draw_dots(SQUARES, groups_of([[500, 500], [0, 200], [300, 0]]), 10, 1, BY_COUNT, 0)
    assert (np.diff(dots.group) >= 0).all()
    last = dots.category[dots.group == 0][-100:]
    assert 20 < (last == 0).sum() < 80


def test_categories_are_drawn_with_the_rate():
    groups = groups_of([[30_000, 70_000]])
    drawn = [int((draw_dots(SQUARES[:1], groups, 10, 1, BY_RATE, seed).category == 0).sum()) for seed in range(5)]
    assert len(set(drawn)) > 1
    assert all(abs(n - 30_000) < 5 * np.sqrt(100_000 * 0.21) for n in drawn)


def test_nothing_but_what_is_shown_changes_the_dots():
    """Two sets of people that differ in a hidden group only give the same map, whoever knows the seed."""
    first, second = groups_of([[40, 60], [9, 91], [20, 30]]), groups_of([[40, 60], [1, 999], [20, 30]])
    one, other = (draw_dots(SQUARES, groups, 10, 1, BY_RATE, 7) for groups in (first, second))
    assert (one.points == other.points).all() and (one.category == other.category).all()


def test_dots_for_several_people():
    dots = draw_dots(SQUARES, groups_of([[40, 64], [10, 10], [0, 24]]), 10, 10, BY_COUNT, 0)
    assert np.bincount(dots.group).tolist() == [10, 2, 2]
    assert np.bincount(dots.category[dots.group == 0]).tolist() == [4, 6]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=4), st.integers(0, 20))
def test_remainders_are_as_near_as_they_can_be(counts, n_dots):
    """No other way to give whole dots to the categories comes nearer to their shares."""
    if not sum(counts):
        return
    found = largest_remainders(np.array([counts]), np.array([n_dots]))[0].tolist()
    assert sum(found) == n_dots
    shares = [count * n_dots / sum(counts) for count in counts]
    near = [(int(share), int(share) + 1) for share in shares]
    best = min(sum(abs(a - b) for a, b in zip(way, shares)) for way in product(*near) if sum(way) == n_dots)
    assert sum(abs(a - b) for a, b in zip(found, shares)) == pytest.approx(best)


SHAPES = {
    "square": shapely.box(0, 0, 4, 4),
    "hole": shapely.box(0, 0, 6, 6).difference(shapely.box(2, 2, 5, 3)),
    "two parts": shapely.union_all([shapely.box(0, 0, 1, 1), shapely.box(5, 0, 6, 4)]),
    "branches": shapely.union_all([shapely.box(0, 0, 8, 0.1), shapely.box(0, 0, 0.1, 8), shapely.box(4, 0, 4.1, 7)]),
    "slanted": shapely.Polygon([(0, 0), (7, 2), (3, 3), (6, 8), (-2, 5)]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_every_place_is_as_likely(name):
    """Dots in the cells of a grid against the surface of the shape in each."""
    shape, n = SHAPES[name], 40_000
    points = random_places(np.array([shape]), np.zeros(n, np.int64), np.random.default_rng(3))
    assert shapely.distance(shape, shapely.points(points)).max() < 1e-9
    west, south, east, north = shape.bounds
    edges = [np.linspace(west, east, 5), np.linspace(south, north, 5)]
    found = np.histogram2d(points[:, 0], points[:, 1], bins=edges)[0]
    low, high = [np.meshgrid(*(edge[part] for edge in edges), indexing="ij") for part in (slice(4), slice(1, 5))]
    expected = n * shapely.area(shapely.intersection(shape, shapely.box(*low, *high))) / shape.area
    assert (np.abs(found - expected) <= 5 * np.sqrt(expected) + 1e-9).all()


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=9, unique=True))
def test_places_lie_in_any_polygon(corners):
    hull = shapely.convex_hull(shapely.multipoints(corners))
    if hull.area == 0:
        return
    points = random_places(np.array([hull]), np.zeros(200, np.int64), np.random.default_rng(0))
    assert shapely.distance(hull, shapely.points(points)).max() < 1e-9


def test_rates_become_counts():
    names = np.array(["a", "b", "c"], object)
    groups = counts_of_rates(names, np.array([200.0, 0, 31]), np.array([0.25, np.nan, 1 / 3]), ["people", "employed"])
    assert groups.counts.tolist() == [[50, 150], [0, 0], [10, 21]]
    assert groups.categories == ("employed", "others")
    for people, rate, wrong in (
        (10.5, 0.5, "whole"),
        (-1, 0.5, "negative"),
        (1e19, 0.5, "more than 1\u00a0000\u00a0000\u00a0000\u00a0000"),
        (10, 1.5, "more than 1"),
        (10, -0.1, "neg"),
    ):
        with pytest.raises(InputError, match=wrong):
            counts_of_rates(names[:1], np.array([people]), np.array([rate]), ["people", "employed"])


def test_rows_become_counts():
    names = np.array(["a", "b"], object)
    group, category = np.array([0, 1, 1, -1]), np.array([1, 0, 0, 1])
    assert counts_of_rows(names, group, category, ["x", "y"], None).counts.tolist() == [[0, 1], [2, 0]]
    assert counts_of_rows(names, group, category, ["x", "y"], np.array([5, 2, 3, 9])).counts.tolist() == [
        [0, 5],
        [5, 0],
    ]


def test_no_group_to_show_is_refused():
    with pytest.raises(InputError, match="No group can be shown"):
        draw_dots(SQUARES, groups_of([[3, 9], [1, 0], [0, 0]]), 10, 1, BY_RATE, 0)
    with pytest.raises(InputError, match="raise PEOPLE_PER_DOT"):
        draw_dots(SQUARES[:1], groups_of([[10**9, 0]]), 10, 1, BY_RATE, 0)


def test_the_second_look():
    groups = groups_of([[40, 60], [9, 91], [0, 30]])
    dots = draw_dots(SQUARES, groups, 10, 1, BY_RATE, 0)
    check_dots(dots, dots.points, SQUARES, groups, 10)
    with pytest.raises(PrivacyError, match="outside"):
        check_dots(dots, dots.points + 5.0, SQUARES, groups, 10)
    wrong = Dots(np.array([1]), np.array([0]), np.array([[15.0, 5.0]]))
    with pytest.raises(PrivacyError, match="below 10"):
        check_dots(wrong, wrong.points, SQUARES, groups, 10)
