"""Regions drawn many at once are those drawn one by one, whatever their areas are."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core import drawing
from vbas.core.crosswalk import Crosswalk
from vbas.core.drawing import dissolve, multi_polygons, pieces, surface_of
from vbas.core.errors import Cancelled

from ..exploring import tried

SIDE = 5
SQUARES = [shapely.box(x, y, x + 1, y + 1) for y in range(SIDE) for x in range(SIDE)]


def one_by_one(shapes, crosswalk):
    """Each region by itself: along its edges, and where its areas overlap as polygons."""
    grid = 1e-9 * np.abs(shapely.total_bounds(shapes)).max()
    for region in range(crosswalk.n_regions):
        own = shapes[crosswalk.region_of == region]
        try:
            with np.errstate(invalid="ignore"):
                united = surface_of(shapely.coverage_union_all(own))
        except shapely.errors.GEOSException:
            united = None
        expected = shapely.area(own).sum()
        if united is None or not united.is_valid or abs(united.area - expected) > 1e-9 * expected:
            united = surface_of(shapely.union_all(own, grid_size=grid))
        yield united


@st.composite
def areas(draw):
    """Squares that touch; some moved over others, widened, empty, or of two pieces; and a region for each, or none."""
    shapes = []
    for square in SQUARES:
        kind = draw(st.sampled_from(["as it is"] * 6 + ["moved", "wider", "empty", "two pieces", "split edge"]))
        if kind == "moved":
            square = shapely.transform(square, lambda points: points + 0.5)
        elif kind == "wider":
            square = square.buffer(0.25)
        elif kind == "empty":
            square = shapely.Polygon()
        elif kind == "two pieces":
            square = shapely.MultiPolygon([square, shapely.box(-3, square.bounds[1], -2, square.bounds[3])])
        elif kind == "split edge":  # a corner more than its neighbour has
            square = shapely.segmentize(square, 0.5)
        shapes.append(square)
    n_regions = draw(st.integers(1, 8))
    region_of = draw(st.lists(st.integers(-1, n_regions - 1), min_size=len(shapes), max_size=len(shapes)))
    return np.array(shapes, dtype=object), Crosswalk(np.array(region_of, np.int64), n_regions)


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [1, 40, 10**6])
@settings(max_examples=tried(15, 40), deadline=None)
@given(drawn=areas())
def test_regions_are_those_drawn_one_by_one(at_once, drawn):
    shapes, crosswalk = drawn
    steps: list[float] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "POINTS_AT_ONCE", at_once)
        regions = dissolve(shapes, crosswalk, steps.append)
    for region, expected in zip(regions, one_by_one(shapes, crosswalk)):
        assert shapely.normalize(multi_polygons(np.array([region]))[0]) == shapely.normalize(
            multi_polygons(np.array([expected]))[0]
        )
    assert steps == sorted(steps) and steps[-1] == 1.0


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(drawn=areas())
def test_pieces_are_counted_shape_by_shape(drawn):
    shapes, crosswalk = drawn
    regions = dissolve(shapes, crosswalk)

    def counted(shape):
        groups: list[list[shapely.Geometry]] = []
        for part in shapely.get_parts(shape):
            near = [group for group in groups if any(part.intersects(other) for other in group)]
            groups = [group for group in groups if group not in near] + [[part, *(one for of in near for one in of)]]
        return len(groups)

    assert pieces(regions).tolist() == [counted(region) for region in regions]


def test_a_large_drawing_can_be_cancelled_on_its_way(monkeypatch):
    monkeypatch.setattr(drawing, "POINTS_AT_ONCE", 20)

    def cancelled(done):
        if done > 0.3:
            raise Cancelled

    with pytest.raises(Cancelled):
        dissolve(np.array(SQUARES, dtype=object), Crosswalk(np.arange(SIDE * SIDE) // 2, 13), cancelled)


def test_whatever_is_written_is_a_multipolygon():
    shapes = np.array([SQUARES[0], None, shapely.Polygon(), shapely.MultiPolygon(SQUARES[:1])], dtype=object)
    several = multi_polygons(shapes)
    assert [None if shape is None else shape.wkt for shape in several] == [
        shapely.MultiPolygon([SQUARES[0]]).wkt,
        None,
        "MULTIPOLYGON EMPTY",
        shapely.MultiPolygon(SQUARES[:1]).wkt,
    ]
    assert shapes[0] is SQUARES[0]
    assert len(multi_polygons(np.empty(0, dtype=object))) == 0


def squares_computed_each_for_itself(west, south, n=12):
    """Squares in a row of rows, in degrees: corners of neighbours differ by rounding."""
    corners = [(west + i * 0.01, south + j * 0.007) for i in range(n) for j in range(n)]
    return np.array(
        [shapely.Polygon([(x, y), (x + 0.01, y), (x + 0.01, y + 0.007), (x, y + 0.007)]) for x, y in corners]
    )


@pytest.mark.parametrize(("west", "south"), [(2.3, 48.8), (-97.1, 49.7), (-0.03, 0.01), (151.2, -33.9)])
@pytest.mark.parametrize("n_regions", [1, 5])
def test_regions_have_no_seams_where_corners_were_computed_twice(west, south, n_regions):
    squares = squares_computed_each_for_itself(west, south)
    crosswalk = Crosswalk(np.arange(len(squares)) // 12 * n_regions // 12, n_regions)
    regions = dissolve(squares, crosswalk)
    assert (shapely.get_type_id(regions) == shapely.GeometryType.POLYGON).all()
    assert (shapely.get_num_interior_rings(regions) == 0).all()
    # No slits: a region of whole rows is as long around as its box.
    around = shapely.length(shapely.box(*shapely.bounds(regions).T))
    assert shapely.length(regions) == pytest.approx(around, rel=1e-4)
    assert shapely.area(regions).sum() == pytest.approx(shapely.area(squares).sum(), rel=1e-4)


def test_an_area_by_itself_stays_as_it_is():
    twice = shapely.Polygon([(2.3, 48.8), (2.31, 48.8), (2.31, 48.807), (2.31 - 4e-16, 48.807), (2.3, 48.807)])
    far = shapely.Polygon([(3.0, 48.0), (3.1, 48.0), (3.1, 48.1)])
    for drawn, area in zip(dissolve(np.array([twice, far]), Crosswalk(np.arange(2), 2)), (twice, far)):
        assert shapely.equals_exact(shapely.normalize(drawn), shapely.normalize(area))
