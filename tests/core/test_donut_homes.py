"""Homes: points at one place, or of one household, share one move, so that many members give no more away than one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.benchmarks import point_attacks
from vbas.core.errors import InputError
from vbas.core.masking.donut import CATEGORY_MISSING, MASKED, NOBODY, donut_mask
from vbas.core.masking.homes import ONE_HOUSEHOLD, SAME_PLACE, homes_of
from vbas.core.records.columns import column_from_values

from .donut_towns import ragged_town
from .test_donut_masking import SQUARE


def grouped(points, area_of, people, households=None):
    """The same by joining pairs one after another."""
    group = list(range(len(points)))
    for i in range(len(points)):
        for j in range(i):
            alike = area_of[i] == area_of[j] != -1 and people[i] > 0 and people[j] > 0
            near = np.hypot(*(points[i] - points[j])) <= SAME_PLACE
            related = households is not None and households[i] is not None and households[i] == households[j]
            if alike and (near or related):
                group = [group[j] if one == group[i] else one for one in group]
    return group


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_homes_are_what_joining_pairs_gives(seed, with_households):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    points = rng.integers(0, 6, (n, 2)) * 0.75
    area_of = rng.integers(-1, 2, n)
    people = rng.choice([0.0, 5.0, 7.0, np.nan], n, p=[0.1, 0.4, 0.4, 0.1])
    named = rng.choice(np.array([None, "a", "b", "c", "d", "e"]), n).tolist() if with_households else None
    homes = homes_of(points, area_of, people, column_from_values(named) if named else None, "h")
    expected = grouped(points, area_of, people, named)
    assert np.array_equal(homes.home_of[:, None] == homes.home_of, np.equal.outer(expected, expected))
    assert np.array_equal(np.unique(homes.home_of, return_index=True)[1], np.sort(np.unique(expected, True)[1]))
    for home in range(len(homes)):
        rows = homes.home_of == home
        assert homes.members[home] == rows.sum()
        assert (area_of[rows] == homes.area_of[home]).all()
        assert (points[rows] == homes.points[home]).all(axis=1).any()
        assert np.array_equal(people[rows].min(), homes.people[home], equal_nan=True)


def masked_homes(points, people, household=None, seed=0):
    homes = homes_of(points, np.zeros(len(points), int), people, household, "hh")
    rng = np.random.default_rng(seed)
    moved = donut_mask(homes.points, homes.area_of, homes.people, SQUARE, 5, 50, "uniform in distance", rng)
    return homes, homes.of_points(moved)


def test_points_of_one_place_go_to_one_place_and_others_do_not():
    points = np.repeat([[500.0, 500.0], [300.0, 400.0]], [10, 3], axis=0)
    homes, masking = masked_homes(points, np.full(13, 100.0))
    assert len(homes) == 2
    assert len(np.unique(masking.points, axis=0)) == 2
    assert (masking.points[:10] == masking.points[0]).all()
    assert "13 points in 2 homes, up to 10 in one" in homes.sentence()
    assert masked_homes(points[9:11], np.full(2, 100.0))[0].sentence() == ""


def test_coordinates_that_differ_by_their_rounding_are_one_place():
    points = np.array([[500.0, 500.0], [500.0, 500.0], [500.4, 500.4], [503.0, 500.0]])
    homes, masking = masked_homes(points, np.full(4, 100.0))
    assert homes.home_of.tolist() == [0, 0, 0, 1]
    assert homes.points[0].tolist() == [500.0, 500.0]
    assert (masking.points[2] == masking.points[0]).all()


def test_a_home_moves_as_far_as_its_rarest_member_must():
    points = np.full((3, 2), 500.0)
    homes, masking = masked_homes(points, np.array([100.0, 20.0, 60.0]))
    assert homes.people.tolist() == [20.0]
    assert masking.inner == pytest.approx(np.sqrt(1e6 / np.pi * 5 / 20))
    assert masking.k_est.min() >= 5


def test_members_that_cannot_be_masked_keep_their_reason_and_stop_nobody():
    points = np.full((4, 2), 500.0)
    homes, masking = masked_homes(points, np.array([100.0, 0.0, np.nan, 100.0]))
    assert homes.home_of.tolist() == [0, 1, 2, 0]
    assert masking.reason.tolist() == [MASKED, NOBODY, CATEGORY_MISSING, MASKED]
    assert np.isnan(masking.points[1:3]).all()


def test_a_household_is_where_most_of_its_members_are():
    points = np.array([[500.0, 500.0], [510.0, 500.0], [510.0, 500.0], [300.0, 500.0]])
    household = column_from_values(["a", "a", "a", None])
    homes, masking = masked_homes(points, np.full(4, 100.0), household)
    assert homes.home_of.tolist() == [0, 0, 0, 1]
    assert homes.points.tolist() == [[510.0, 500.0], [300.0, 500.0]]
    assert (masking.points[:3] == masking.points[0]).all()


def test_members_in_another_area_stay_there():
    points = np.array([[510.0, 500.0], [500.0, 500.0]])
    homes = homes_of(points, np.array([0, 1]), np.full(2, 9.0), column_from_values(["a", "a"]), "hh")
    assert homes.points.tolist() == points.tolist()
    assert homes.area_of.tolist() == [0, 1]


def test_a_household_all_over_the_town_is_refused():
    points = np.array([[500.0, 500.0], [500.0, 500.0], [500.0 + ONE_HOUSEHOLD + 1, 500.0]])
    household = column_from_values(["F", "F", "F"])
    with pytest.raises(InputError, match=r"HOUSEHOLD_ID “hh”: 1 household has members more than 100 m .*“F”"):
        masked_homes(points, np.full(3, 100.0), household)
    points[2, 0] -= 2
    assert len(masked_homes(points, np.full(3, 100.0), household)[0]) == 1


def test_points_without_a_common_place_move_as_if_there_were_no_homes():
    _, points = ragged_town(500)
    area_of = np.zeros(500, int)
    homes = homes_of(points, area_of, np.full(500, 60.0))
    assert np.array_equal(homes.points, points)
    assert np.array_equal(homes.home_of, np.arange(500))


@pytest.fixture(scope="module")
def place():
    return point_attacks.town()


def test_ten_members_moved_one_by_one_give_their_home_away(place):
    # The attack works: otherwise the next test would show nothing.
    alone, ten = (max(point_attacks.homes_guessed(place, 5, members, shared=False)) for members in (1, 10))
    assert alone < 10
    assert ten > 40


def test_a_home_of_ten_is_guessed_no_more_often_than_a_home_of_one(place):
    alone, two, ten = (max(point_attacks.homes_guessed(place, 5, members, shared=True)) for members in (1, 2, 10))
    assert alone == two == ten < 10
