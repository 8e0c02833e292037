"""The second check of masked points before a release, and the ring itself: each fails alone if it is taken out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import shapely

from vbas.core.errors import PrivacyError
from vbas.core.masking.donut import MASKED, OUT_OF_REACH, Masking, check_released
from vbas.core.masking.placing import first_inside

SHAPES = np.array([shapely.box(0, 0, 100, 100), shapely.box(100, 0, 200, 100)], dtype=object)
shapely.prepare(SHAPES)
POINTS = np.array([[50.0, 50.0], [150.0, 50.0], [90.0, 50.0], [10.0, 10.0]])
AREA_OF = np.array([0, 1, 0, 0])
INNER, OUTER = 10.0, 30.0


def masking_to(places):
    """Points masked to these places; those at NaN are not."""
    places = np.array(places, float)
    masked = np.isfinite(places[:, 0])
    return Masking(
        places,
        np.where(masked, MASKED, OUT_OF_REACH).astype(np.int8),
        np.full(len(places), INNER),
        np.full(len(places), OUTER),
        np.hypot(*(places - POINTS).T),
        np.full(len(places), 5.0),
    )


GOOD = [[70.0, 50.0], [150.0, 75.0], [75.0, 50.0], [np.nan, np.nan]]


def check(masking, written=None):
    check_released(masking.points if written is None else np.array(written), POINTS, masking, AREA_OF, SHAPES)


def test_points_in_their_ring_and_their_area_pass():
    check(masking_to(GOOD))
    # To the layer's coordinates and back costs up to millimetres.
    check(masking_to(GOOD), np.array(GOOD) + 0.004)


@pytest.mark.parametrize(
    ("point", "place"),
    [
        (0, [50.0, 50.0]),  # where it was
        (0, [59.9, 50.0]),  # nearer than the inner radius
        (1, [180.1, 50.0]),  # farther than the outer radius
        (2, [110.0, 50.0]),  # in its ring, in the neighbouring area
        (3, [-10.0, 10.0]),  # in no area
    ],
    ids=["unmoved", "inside the inner radius", "beyond the outer radius", "in another area", "in no area"],
)
def test_one_point_that_is_not_in_its_ring_and_area_stops_the_release(point, place):
    places = [list(row) for row in GOOD]
    places[point] = place
    with pytest.raises(PrivacyError, match=r"^1 masked point is not in its ring or not in its own area"):
        check(masking_to(places))


def test_what_is_written_must_be_where_masking_put_it():
    written = np.array(GOOD)
    written[1] += (0.5, 0.0)  # still in its ring and its area
    with pytest.raises(PrivacyError, match=r"^1 masked"):
        check(masking_to(GOOD), written)


@pytest.mark.parametrize("place", [[30.0, 10.0], [30.0, np.nan], [np.nan, 10.0]])
def test_a_point_that_was_not_masked_must_not_be_written(place):
    written = np.array(GOOD)
    written[3] = place
    with pytest.raises(PrivacyError, match=r"^1 masked"):
        check(masking_to(GOOD), written)
    # Even where masking has a place for it.
    masking = masking_to(written)
    with pytest.raises(PrivacyError, match=r"^1 masked"):
        check(replace(masking, reason=masking_to(GOOD).reason))


def test_every_point_is_looked_at_whatever_the_order_of_areas():
    points = np.repeat(POINTS[:2], 500, axis=0)
    order = np.random.default_rng(0).permutation(1000)
    points, area_of = points[order], np.repeat([0, 1], 500)[order]
    places = points + np.array([0.0, 20.0])
    for wrong in (0, 499, 999):
        moved = places.copy()
        moved[wrong] = points[wrong] + (60.0, 0.0) if area_of[wrong] == 0 else points[wrong] - (60.0, 0.0)
        masking = replace(
            masking_to(GOOD),
            points=moved,
            reason=np.zeros(1000, np.int8),
            inner=np.full(1000, INNER),
            outer=np.full(1000, 70.0),
        )
        with pytest.raises(PrivacyError, match=r"^1 masked"):
            check_released(moved, points, masking, area_of, SHAPES)


def test_a_draw_inside_the_inner_or_beyond_the_outer_radius_or_outside_the_area_is_not_taken():
    direction = np.zeros((1, 5))
    distance = np.array([[5.0, 10.0, 30.0, 45.0, 20.0]])  # too near, on the circles (open ring), too far, good
    place = first_inside(POINTS[:1], direction, distance, np.array([INNER]), np.array([OUTER]), lambda p: p[:, 0] < 99)
    assert place.tolist() == [[70.0, 50.0]]
    beyond = first_inside(POINTS[:1], direction, distance, np.array([INNER]), np.array([OUTER]), lambda p: p[:, 0] < 60)
    assert np.isnan(beyond).all()
