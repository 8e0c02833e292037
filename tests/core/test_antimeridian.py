"""Shapes that come from a plane and cross the antimeridian, cut where they do."""

from __future__ import annotations

import numpy as np
import shapely

from vbas.core.drawing import joined_at_antimeridian, split_at_antimeridian


def split(*rings):
    ((shape),) = split_at_antimeridian(np.array([shapely.Polygon(rings[0], rings[1:])], dtype=object))
    assert shapely.is_valid(shape)
    assert shape.bounds[0] >= -180 and shape.bounds[2] <= 180
    return shape


def test_a_shape_that_crosses_is_two():
    shape = split([(178, -20), (-178, -20), (-178, -16), (178, -16)])
    assert sorted(part.bounds for part in shape.geoms) == [(-180, -20, -178, -16), (178, -20, 180, -16)]


def test_a_hole_that_crosses_is_a_hole_still():
    shape = split(
        [(-170, 0), (-170, 10), (170, 10), (170, 0)],
        [(-179, 4), (179, 4), (179, 6), (-179, 6)],
    )
    assert shape.area == 20 * 10 - 2 * 2
    assert not shape.intersects(shapely.Point(179.5, 5)) and not shape.intersects(shapely.Point(-179.5, 5))


def test_several_parts_are_cut_one_by_one():
    across = shapely.Polygon([(179, 0), (-179, 0), (-179, 1), (179, 1)])
    (shape,) = split_at_antimeridian(
        np.array([shapely.MultiPolygon([across, shapely.box(10, 0, 11, 1)])], dtype=object)
    )
    assert sorted(part.bounds for part in shape.geoms) == [(-180, 0, -179, 1), (10, 0, 11, 1), (179, 0, 180, 1)]


def test_a_shape_around_a_pole_reaches_it():
    for side in (1, -1):
        shape = split([(lon, side * 80) for lon in (-135, -45, 45, 135)])
        assert shape.bounds == ((-180, 80, 180, 90) if side > 0 else (-180, -90, 180, -80))
        assert shape.area == 360 * 10


def test_a_shape_around_a_pole_that_is_not_in_its_middle():
    # From 10 E to 190 E at 89 N, the other half at 70 N.
    shape = split([(100, 89), (-170, 89), (-80, 70), (10, 70)])
    assert shape.intersects(shapely.Point(-60, 89.9)) and shape.intersects(shapely.Point(100, 89.5))
    assert not shape.intersects(shapely.Point(100, 88))


def test_what_does_not_cross_stays_as_it_is():
    wide = shapely.box(-90, -10, 89, 10)
    shapes = np.array([wide, shapely.Point(180, 0), shapely.Polygon()], dtype=object)
    assert all(a is b for a, b in zip(split_at_antimeridian(shapes), shapes))
    # Shapes one after the other are not mistaken for one that jumps.
    apart = np.array([shapely.box(179, 0, 180, 1), shapely.box(-180, 0, -179, 1)], dtype=object)
    assert all(a is b for a, b in zip(split_at_antimeridian(apart), apart))


def test_shapes_on_both_sides_touch_once_they_are_joined():
    two_pieces = shapely.MultiPolygon([shapely.box(179.3, 0, 180, 1), shapely.box(-180, 0, -179.7, 1)])
    west, east = shapely.box(178, 1, 180, 2), shapely.box(-180, 1, -178.1, 2)
    two_pieces, west, east = joined_at_antimeridian(np.array([two_pieces, west, east], dtype=object))
    assert two_pieces.geom_type == "Polygon" and two_pieces.is_valid
    assert west.intersection(east).length == 1
    assert np.isclose(two_pieces.intersection(west).length, 0.7)
    assert np.isclose(two_pieces.intersection(east).length, 0.3)


def test_nothing_is_joined_where_nothing_is_to_be():
    one_side = np.array([shapely.box(178, 0, 180, 1), shapely.box(176, 0, 178, 1)], dtype=object)
    assert joined_at_antimeridian(one_side) is one_side
    with_greenwich = np.array([shapely.box(178, 0, 180, 1), shapely.box(-180, 0, -178, 1), shapely.box(-1, 0, 0, 1)])
    assert joined_at_antimeridian(with_greenwich) is with_greenwich
