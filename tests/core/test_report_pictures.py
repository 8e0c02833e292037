"""Pictures of reports: outlines keep shared borders shared, classes and axes are round, nothing is lost."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.report import pictures
from vbas.core.report.numbers import formatted, formatted_rows
from vbas.core.report.pictures.axes import linear, logarithmic, with_outliers
from vbas.core.report.pictures.classes import CLASSES, classes_of
from vbas.core.report.pictures.maps import MOST_SHAPES, scale_bar
from vbas.core.report.pictures.outlines import paths
from vbas.core.voronoi import voronoi_cells


def rings_of(path):
    """The rings of a path's data, (p, 2) each."""
    found = []
    for part in re.findall(r"M(-?\d+) ?(-?\d+)l([^z]*)z", path):
        steps = np.array(re.findall(r"-?\d+", part[2]), int).reshape(-1, 2)
        found.append(np.vstack([[int(part[0]), int(part[1])], np.int64(part[:2]) + np.cumsum(steps, axis=0)]))
    return found


def edges_of(path):
    """Every straight piece of its outline, whichever way it is walked.

    Points are whole, so that what is narrower than their distance is walked to its end and back: it surrounds nothing.
    """
    walked = Counter(
        frozenset((tuple(a), tuple(b)))
        for ring in rings_of(path)
        for a, b in zip(ring.tolist(), np.roll(ring, -1, axis=0).tolist())
    )
    return Counter(edge for edge, times in walked.items() if times % 2 and len(edge) == 2)


def wiggly(n, seed):
    """A coverage of n cells whose borders have many points."""
    points = np.random.default_rng(seed).uniform(0, 1000, (n, 2))
    cells = voronoi_cells(points, shapely.box(-100, -100, 1100, 1100))
    return shapely.transform(
        shapely.segmentize(cells, 7.0), lambda c: c + 3 * np.column_stack([np.sin(c[:, 1]), np.cos(c[:, 0])])
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(st.integers(3, 40), st.integers(0, 10_000), st.sampled_from([1.0, 4.0, 30.0]))
def test_a_shared_border_stays_one_line_whatever_is_left_of_it(n, seed, tolerance):
    drawn = [edges_of(path) for path in paths(wiggly(n, seed), tolerance, 10**9)]
    together: Counter[tuple] = sum(drawn, Counter())
    outside = [edge for edge, times in together.items() if times == 1]
    # The coverage is one piece without gaps: what is drawn once is its outer rim, which runs around all cells.
    rim = shapely.unary_union([shapely.LineString(list(edge)) for edge in outside])
    hull = shapely.get_parts(shapely.polygonize([rim]))
    assert len(hull) == 1
    assert max(together.values()) <= 2
    inside = [path for path in drawn if not set(path) & set(outside)]
    assert all(all(together[edge] == 2 for edge in path) for path in inside)


def test_simplifying_leaves_far_fewer_points_and_stays_near():
    shapes = wiggly(20, 1)
    fine, coarse = (paths(shapes, tolerance, 10**9) for tolerance in (0.1, 5.0))
    assert sum(map(len, coarse)) < 0.2 * sum(map(len, fine))
    for shape, path in zip(shapes, coarse):
        (ring,) = rings_of(path)
        # As lines: GEOS 3.12.1 of Ubuntu 24.04 gives any distance between rings.
        outlines = [shapely.linestrings(shapely.get_coordinates(of)) for of in (shapely.Polygon(ring), shape)]
        assert shapely.hausdorff_distance(*outlines) < 12


def test_a_page_has_at_most_so_many_points():
    shapes = wiggly(40, 2)
    count = sum(len(ring) for path in paths(shapes, 0.1, 600) for ring in rings_of(path))
    assert 100 < count <= 600


def test_islands_holes_and_the_smallest_shapes_are_drawn():
    island = shapely.Point(50, 50).buffer(10)
    sea = shapely.box(0, 0, 100, 100) - island
    speck = shapely.box(300, 300, 300.1, 300.1)
    around, within, tiny = paths(np.array([sea, island, speck], dtype=object), 1.0, 10**9)
    assert len(rings_of(around)) == 2
    assert edges_of(within).items() <= edges_of(around).items()
    assert tiny.startswith("M298 298") and tiny.endswith("z")


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60))
def test_classes_are_in_order_and_every_value_has_one(values):
    values = np.array(values)
    place, labels = classes_of(values)
    assert len(labels) <= CLASSES
    assert place.min() >= 0 and place.max() < len(labels)
    order = np.argsort(values, kind="stable")
    assert (np.diff(place[order]) >= 0).all()


def test_classes_of_another_map_are_taken():
    _, labels = classes_of(np.arange(100.0))
    place, same = classes_of(np.array([-5.0, 50.0, 500.0]), like=np.arange(100.0))
    assert same == labels
    assert place.tolist() == [0, 2, CLASSES - 1]


@given(st.floats(0, 1e9), st.floats(1e-3, 1e9))
def test_a_linear_axis_holds_its_values_and_has_round_marks(low, extent):
    axis = linear("t", np.array([low, low + extent]))
    assert axis.low <= low + 1e-6 * extent and axis.high >= (low + extent) * (1 - 1e-8)
    marks = [value for value, _ in axis.marks()]
    assert 3 <= len(marks) <= 13
    places = axis.places(np.array(marks))
    assert (places > -1e-6).all() and (places < 1 + 1e-6).all()


def test_an_outlier_makes_the_axis_logarithmic_and_the_title_says_so():
    usual = np.array([10.0, 12.0, 14.0, 11.0])
    assert not with_outliers("t", usual).logarithmic
    axis = with_outliers("t", np.append(usual, 5000.0))
    assert axis.logarithmic and "logarithmic" in axis.title
    places = axis.places(usual)
    assert places.max() - places.min() > 0.02
    assert not with_outliers("t", np.array([0.0, 1.0, 1000.0])).logarithmic  # 0 has no place on it
    assert logarithmic("t", np.array([3.0, 70.0])).marks()[0][0] <= 3.0


def test_a_bar_that_would_press_the_others_is_cut_off_and_says_its_length():
    page = pictures.horizontal_bars(["a", "b", "c", "d", "e"], [1, 2, 3, 2, 4000.0], "text")
    assert "4000" in page and "cut off" in page
    widths = [float(one) for one in re.findall(r"h([\d.]+)v", page)]
    assert min(widths[:4]) > 0.05 * max(widths)
    assert "cut off" not in pictures.horizontal_bars(["a", "b"], [1.0, 5.0], "text")


def test_points_of_each_series_have_their_colour_and_key():
    points = [pictures.Point("1", "one", 1, 1, True, "k = 5"), pictures.Point("2", "two", 2, 2, False, "k = 10")]
    page = pictures.scatter(points, "t", "x", "y", "the best")
    assert "k = 5</li>" in page and "k = 10</li>" in page
    assert "the best</li>" in page and "Diamonds, the best: 1: one, 1 and 1." in page
    plain = pictures.scatter([("1", "one", 1, 1, True), ("2", "two", 2, 2, True)], "t", "x", "y", "the best")
    assert "others" not in plain
    assert "the best" not in pictures.scatter([("1", "one", 1, 1, False)], "t", "x", "y", "the best")


def groups_of(pattern: str, text: str) -> tuple[str, ...]:
    match = re.search(pattern, text)
    assert match, text
    return match.groups()


def test_the_scale_bar_is_as_long_as_it_says():
    for metres_wide in (120.0, 5_000.0, 730_000.0):
        scale = 640 / metres_wide
        bar = scale_bar(0.0, 0.0, scale, 640.0)
        start, end = map(float, groups_of(r"M([\d.]+) .*H([\d.]+)v", bar))
        number, unit = groups_of(r">([\d.\u00a0]+) (k?m)<", bar)
        metres = float(number.replace("\u00a0", "")) * (1000 if unit == "km" else 1)
        assert (unit == "km") == (metres >= 1000)
        assert (end - start) / scale == pytest.approx(metres, rel=0.01)
        assert 0.08 * metres_wide < metres <= 0.25 * metres_wide


def test_a_map_of_very_many_areas_draws_its_classes_and_stays_small():
    side = int(np.sqrt(4 * MOST_SHAPES))
    x, y = map(np.ravel, np.meshgrid(np.arange(side), np.arange(side)))
    squares = shapely.box(x * 100.0, y * 100.0, x * 100.0 + 100, y * 100.0 + 100)
    page = pictures.region_map(squares, x.astype(float), ["which one"] * len(x), "text", unit="a unit")
    assert len(page) < 20_000
    assert "which one" not in page
    assert page.count("<path") == CLASSES + 1  # and the scale


def test_the_map_says_what_its_colours_mean_and_where_north_is():
    squares = shapely.box([0, 10, 20], 0, [10, 20, 30], 10)
    page = pictures.region_map(squares, np.array([1.0, 2.0, 3.0]), ["a", "b", "c"], "text", unit="per km²", north=30.0)
    assert "rotate(30.0)" in page and ">N<" in page and "per km²" in page
    assert page.count("<li>") == 3
    assert ">N<" not in pictures.region_map(squares, np.ones(3), ["a", "b", "c"], "text")


def test_numbers_have_one_style():
    assert [formatted(one) for one in (0, 9999, 10_000, 1234567, -20_000)] == [
        "0",
        "9999",
        "10\u00a0000",
        "1\u00a0234\u00a0567",
        "-20\u00a0000",
    ]
    assert [formatted(one) for one in (12.9, 0.507, 0.000328, 1e-14, 1234.5, 5.0)] == [
        "12.90",
        "0.51",
        "0.000328",
        "0",
        "1234",
        "5",
    ]
    assert formatted(None) == "" and formatted(float("nan")) == "" and formatted(True) == "yes"
    assert formatted_rows([("a", 5.0, 3), ("b", 0.25, 4)]) == [["a", "5.00", "3"], ["b", "0.25", "4"]]
    assert formatted_rows([("a", 5.0), ("b", 6.0)]) == [["a", "5"], ["b", "6"]]


def test_a_map_of_few_points_is_smaller_and_loses_no_shape():
    circles = shapely.buffer(shapely.points(np.arange(0, 4000, 1000.0), np.zeros(4)), 400, quad_segs=64)
    whole, small = (
        pictures.region_map(circles, np.arange(4.0), list("abcd"), "Circles", most=most) for most in (8_000, 60)
    )
    assert len(small) < len(whole) - 300
    assert small.count("<path") == whole.count("<path")
