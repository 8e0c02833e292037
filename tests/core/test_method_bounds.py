"""What follows for somebody who knows the method: every origin that could have given the release is tried."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure.method_bounds import MethodBounds, _Index, _parts_of, method_bounds
from vbas.core.disclosure.zone_tables import ReleasedClasses
from vbas.core.levels import make_levels, own_regions

from ..each import for_each_seed
from .test_zone_parts_recounted import drawn

OWN, MIDDLE = 1, 4  # what a record loses in its own area, and in the region of three


def release(n_parts, records, around):
    """One class in a region of some areas, shown there by so many; around : by how many all around it, 0 for nobody."""
    n = n_parts + 1  # the last area lies outside of the region
    areas = make_areas([f"a{i}" for i in range(n)], np.array([[float(i), 0.0] for i in range(n)]), np.ones(n))
    region = Crosswalk(np.append(np.zeros(n_parts, np.int64), 1), 2)
    levels = make_levels(areas, [own_regions(n), region, Crosswalk(np.zeros(n, np.int64), 1)])
    more = around > 0
    return ReleasedClasses(
        levels,
        np.array([1] + [2] * more),
        np.zeros(1 + more, np.int64),
        np.zeros(1 + more, np.int64),
        np.array([records] + [around] * more),
        in_zones=False,
    )


def could_be(number, records, k, far):
    """Whether an area may hold so many of those that its region shows: nothing would have been lost less otherwise.

    far : what a record loses in the region around, None where that does not show the class
    """
    rest = records - number
    if number < k:  # which cannot be shown by itself
        return True
    if rest == 0 or rest >= k:  # what is left, if anything, could have stayed, and the area would lose less
        return False
    return far is None or number * OWN + rest * far >= records * MIDDLE


def bounds_by_trial(n_parts, records, k, far):
    allowed = [number for number in range(records + 1) if could_be(number, records, k, far)]
    origins = [one for one in product(allowed, repeat=n_parts) if sum(one) == records]
    numbers = {one[0] for one in origins}  # by symmetry those of each area
    return (min(numbers), max(numbers)) if numbers else (0, records)


@given(st.integers(2, 4), st.integers(2, 9), st.integers(2, 4), st.sampled_from([None, 4, 5, 6, 7, 10, 13, 40]))
@example(n_parts=2, records=5, k=5, far=None)
@example(n_parts=2, records=9, k=3, far=13)
@example(n_parts=2, records=20, k=8, far=13)
@example(n_parts=2, records=18, k=7, far=10)
@example(n_parts=2, records=24, k=9, far=40)
@example(n_parts=2, records=24, k=9, far=7)
@example(n_parts=3, records=8, k=4, far=7)
def test_bounds_of_areas_are_those_of_all_origins_that_give_the_release(n_parts, records, k, far):
    records = max(records, k)
    shown = release(n_parts, records, 0 if far is None else k)
    losses = [np.full(n_parts + 1, OWN), np.full(2, MIDDLE), np.full(1, 0 if far is None else far)]
    found = method_bounds(shown, np.ones(n_parts + 1), losses, k)
    of_region = np.flatnonzero(found.released == 0)
    assert len(of_region) == n_parts and (found.areas[of_region] == 1).all()
    low, high = bounds_by_trial(n_parts, records, k, far)
    assert set(zip(found.low[of_region].tolist(), found.high[of_region].tolist())) == {(low, high)}


def test_an_area_where_nobody_lives_holds_nobody():
    shown = release(3, 5, 0)
    losses = [np.full(4, OWN), np.full(2, MIDDLE), np.zeros(1)]
    found = method_bounds(shown, np.array([1, 1, 0, 1]), losses, 5)
    numbers = dict(zip(found.part.tolist(), zip(found.low.tolist(), found.high.tolist())))
    assert numbers == {0: (1, 4), 1: (1, 4), 2: (0, 0)}  # five in two areas, neither all of them
    assert found.n_areas == 2 and found.n_parts == 0


def test_parts_of_two_areas_are_parts_and_of_one_areas():
    low, high = np.array([1, 1, 1, 0, 4]), np.array([4, 4, 4, 4, 5])
    bounds = MethodBounds(np.zeros(5, np.int64), np.arange(5), np.array([1, 2, 3, 1, 2]), low, high, 5)
    assert bounds.small.tolist() == [True, True, True, False, False]
    assert (bounds.n_areas, bounds.n_parts) == (1, 2)


@pytest.mark.parametrize("own", [MIDDLE, MIDDLE + 1])
def test_where_an_area_loses_no_less_nothing_follows(own):
    losses = [np.full(3, own), np.full(2, MIDDLE), np.zeros(1)]
    found = method_bounds(release(2, 7, 0), np.ones(3), losses, 5)
    assert list(zip(found.low.tolist(), found.high.tolist())) == [(0, 7), (0, 7)]


@for_each_seed(60)
def test_what_each_part_of_a_region_may_hold_in_plain_loops(seed):
    released, shown, people, rng = drawn(seed, False)
    levels, k = released.levels, int(rng.integers(2, 6))
    records = released.records + k - 2  # k and more of each
    released = ReleasedClasses(levels, released.level, released.region, released.class_of, records, False)
    losses = [rng.integers(0, 5, of.n_regions) + 2.0 * level for level, of in enumerate(levels.crosswalks)]
    index, region_of = _Index(released, people), levels.region_of
    for level in range(1, len(levels)):
        expected = []
        for at, (of_level, region, one) in enumerate(shown):
            if of_level != level:
                continue
            inside = np.flatnonzero(region_of[level] == region)
            higher = [(over, int(region_of[over][inside[0]])) for over in range(level + 1, len(levels))]
            around = next((losses[over][of] for over, of in higher if (over, of, one) in shown), np.inf)
            loss, number = losses[level][region], int(records[at])
            for part in np.unique(region_of[level - 1][inside]).tolist():
                own, shows = losses[level - 1][part], (level - 1, part, one) in shown
                areas = [i for i in np.flatnonzero(region_of[level - 1] == part).tolist() if people[i] > 0]
                areas = [i for i in areas if (0, int(region_of[0][i]), one) not in shown]
                few = 0 if shows else min(k - 1, number)
                left = number - (1 if shows else k)  # at most beside a part that could be shown
                dear = sum((number - rest) * own + rest * around < number * loss for rest in range(1, k))
                least, most = number - min(k - 1, left), number - 1 - dear
                if least > most or not areas or own >= loss:
                    least, most = 0, -1
                few = 0 if not areas else number if own >= loss else few
                expected.append((at, part, len(areas), few, least, most))
        found = _parts_of(index, level, losses, k)
        assert sorted(zip(*(column.tolist() for column in found))) == sorted(expected)
