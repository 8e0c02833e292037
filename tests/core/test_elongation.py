"""Elongation: against plain recounts, and shapes whose figures are known."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from vbas.core.crosswalk import Crosswalk
from vbas.core.elongation import ELONGATED, MENTIONED, distorting, distortion_sentence, of_areas, outlines_of

CIRCLE = shapely.Point(3, 4).buffer(50, 256)
SQUARE = shapely.box(0, 0, 7, 7)
STRIP = shapely.box(0, 0, 5, 1)
ELL = shapely.union(shapely.box(0, 0, 2, 1), shapely.box(0, 0, 1, 2))
TWO = shapely.MultiPolygon([shapely.box(0, 0, 1, 1), shapely.box(2, 0, 3, 1)])


def test_shapes_whose_figures_are_known():
    measured = outlines_of(np.array([CIRCLE, SQUARE, STRIP, ELL, TWO]))
    assert measured.elongation[0] == pytest.approx(1.0, abs=1e-4)
    assert measured.elongation[1] == pytest.approx(math.sqrt(math.pi / 2))
    assert measured.elongation[2] == pytest.approx(math.sqrt(26) / (2 * math.sqrt(5 / math.pi)))
    assert measured.elongation[2] > ELONGATED > outlines_of(np.array([shapely.box(0, 0, 4.8, 1)])).elongation[0]
    assert measured.area_hull.tolist() == pytest.approx([1, 1, 1, 3 / 3.5, 2 / 3])
    assert measured.longest[3:].tolist() == pytest.approx([math.sqrt(8), math.sqrt(10)])


corners = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=3, max_size=9, unique=True)


@pytest.mark.slow
@given(lists=st.lists(corners, min_size=1, max_size=5), scale=st.sampled_from([0.01, 1.0, 1e5]))
def test_outlines_are_those_of_a_plain_recount(lists, scale):
    drawn = [shapely.Polygon(points).buffer(0) for points in lists]
    surfaces = np.array([shape for shape in drawn if shape.area > 0] or [SQUARE])
    shapes = shapely.transform(surfaces, lambda points: points * scale)
    measured = outlines_of(shapes)
    for i, shape in enumerate(shapes):
        points = shapely.get_coordinates(shape).tolist()
        longest = max(math.dist(start, end) for start, end in combinations(points, 2))
        assert measured.longest[i] == pytest.approx(longest)
        assert measured.elongation[i] == pytest.approx(longest / math.sqrt(4 * shape.area / math.pi))
        assert measured.area_hull[i] == pytest.approx(shape.area / shape.convex_hull.area)
    assert (measured.elongation > 1 - 1e-9).all() and (measured.area_hull < 1 + 1e-9).all()


def test_a_shape_that_shrank_to_nothing_in_the_plane_is_not_measured_and_distorts_nothing():
    dot, line = shapely.Polygon([(1, 1)] * 4), shapely.Polygon([(0, 0), (9, 0), (4, 0)])
    measured = outlines_of(np.array([dot, line, shapely.Polygon(), SQUARE]))
    assert np.isnan(measured.elongation[:3]).all() and np.isnan(measured.area_hull[:3]).all()
    assert measured.longest.tolist() == pytest.approx([0, 9, 0, 7 * math.sqrt(2)])
    crosswalk = Crosswalk(np.array([0, 1, 1, 1]), 2)
    assert not distorting(measured, crosswalk).any()
    assert not distortion_sentence(measured, crosswalk, None, np.array(list("abcd"), dtype=object))
    by_field = of_areas(measured, crosswalk)
    assert np.isnan(by_field["most_elongation"][0]) and np.isnan(by_field["least_area_hull"][0])
    assert by_field["most_elongation"][1] == measured.elongation[3] and by_field["least_area_hull"][1] == 1


def of_town(region_of):
    """Strips of 9 x 1 beside squares of 3 x 3."""
    widths, heights = [3, 9] * 5, [3, 1] * 5
    shapes = [shapely.box(0, 3 * i, width, 3 * i + height) for i, (width, height) in enumerate(zip(widths, heights))]
    return outlines_of(np.array(shapes)), Crosswalk(np.array(region_of), max(region_of) + 1)


def test_an_elongated_area_distorts_only_a_small_region():
    # The longest diameter of a strip is 9.06, that of a circle as large as 7 areas 8.96, as 8 areas 9.57.
    areas, crosswalk = of_town([0, 0, 0, 0, 0, 0, 0, 1, -1, -1])
    assert distorting(areas, crosswalk).tolist() == [False, True] * 4 + [False, False]
    areas, crosswalk = of_town([0, 0, 0, 0, 0, 0, 0, 0, 1, -1])
    assert not distorting(areas, crosswalk).any()


@given(region_of=st.lists(st.integers(0, 2), min_size=10, max_size=10))
def test_the_areas_of_each_region_are_those_of_a_plain_recount(region_of):
    numbers = {region: i for i, region in enumerate(dict.fromkeys(region_of))}
    areas, crosswalk = of_town([numbers[region] for region in region_of])
    by_field = of_areas(areas, crosswalk)
    for region in range(crosswalk.n_regions):
        members = [i for i, of in enumerate(crosswalk.region_of.tolist()) if of == region]
        circle = 2 * math.sqrt(9 * len(members) / math.pi)
        assert by_field["least_area_hull"][region] == min(areas.area_hull[i] for i in members)
        assert by_field["most_elongation"][region] == max(areas.elongation[i] for i in members)
        long = [i for i in members if areas.elongation[i] > 2 and areas.longest[i] > circle]
        assert by_field["distorting"][region] == len(long)


def test_the_warning_counts_people_and_is_silent_where_few_live():
    areas, crosswalk = of_town([0, 0, 0, 0, 0, 0, 0, 1, -1, -1])
    identifiers = np.array([f"46{i}" for i in range(10)], dtype=object)
    people = np.full(10, 10.0)
    said = distortion_sentence(areas, crosswalk, people, identifiers)
    assert said.startswith("4 areas of 10 are more than 2 times as long") and "40 % of the people live there." in said
    assert "“461”" in said and "“460”" not in said
    uncounted = distortion_sentence(areas, crosswalk, None, identifiers)
    assert "Such areas distort" in uncounted and "people live there" not in uncounted
    for few, told in ((0.2, True), (0.1, False)):
        people = np.where(distorting(areas, crosswalk), few, 10.0)
        assert (100 * 4 * few / people.sum() >= MENTIONED) == told
        assert bool(distortion_sentence(areas, crosswalk, people, identifiers)) == told
    round_ones = outlines_of(np.array([SQUARE] * 10))
    assert not distortion_sentence(round_ones, crosswalk, None, identifiers)
