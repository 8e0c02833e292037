"""Levels: nested crosswalks, made from the areas up or from fields, and refused where they do not nest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.aggregation import APPROACHES as AGGREGATIONS
from vbas.core.aggregation.options import AggregationOptions
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError
from vbas.core.levels import levels_from_fields, make_levels, own_regions, with_least_population
from vbas.core.nesting.losses import LOSSES
from vbas.core.nesting.making import LevelOptions, build_levels, regions_as_areas
from vbas.core.site_location import APPROACHES as SITE_LOCATIONS

from .nested_cases import nested_cases, profile_of
from .strategies import regions


def check_nested(levels, n):
    """Every area is in one region of each level, and regions only ever join."""
    for fine, coarse in zip(levels.crosswalks, levels.crosswalks[1:]):
        assert coarse.n_regions < fine.n_regions
        for region in range(fine.n_regions):
            assert len(set(coarse.region_of[fine.region_of == region].tolist())) == 1
    for level, crosswalk in enumerate(levels.crosswalks):
        assert sorted(set(crosswalk.region_of.tolist())) == list(range(crosswalk.n_regions))
        assert len(crosswalk.region_of) == n
        parents = levels.parents(level)
        for area in range(n):
            if level + 1 < len(levels):
                assert parents[crosswalk.region_of[area]] == levels.crosswalks[level + 1].region_of[area]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    regions(least=3, coinciding=False),
    st.sampled_from(list(SITE_LOCATIONS)),
    st.sampled_from(list(AGGREGATIONS)),
    st.sampled_from([1.5, 2.0, 4.0]),
    st.integers(1, 3),
)
def test_levels_nest_whatever_approach_makes_them(areas, location, aggregation, ratio, coarsest):
    rng = np.random.default_rng(0)
    profile = profile_of(rng.integers(0, 5, (len(areas), 3)))
    options = LevelOptions(coarsest, ratio, site_location=location, aggregation=aggregation)
    try:
        levels = build_levels(areas, profile, options=options)
    except InputError as error:
        assert "coarser level" in str(error)
        return
    check_nested(levels, len(areas))
    assert levels.crosswalks[0].n_regions == len(areas)
    assert levels.crosswalks[-1].n_regions <= coarsest


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(regions(least=3, coinciding=False), st.floats(1.0, 2_000.0))
def test_the_finest_level_has_the_least_population(areas, least):
    profile = profile_of(np.ones((len(areas), 1), np.int64))
    if areas.population.sum() < least:
        with pytest.raises(InputError, match="LEAST_POPULATION"):
            build_levels(areas, profile, options=LevelOptions(least_population=least))
        return
    levels = build_levels(areas, profile, options=LevelOptions(least_population=least))
    check_nested(levels, len(areas))
    assert levels.crosswalks[0].totals(areas.population).min() >= least


def test_one_person_is_no_people():
    areas = make_areas(["a", "b"], [(0, 0), (9, 0)], [1, 0])
    with pytest.raises(InputError, match="LEAST_POPULATION is 5, but all areas together have 1 person:"):
        with_least_population(areas, make_levels(areas, (own_regions(2),)), 5)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(nested_cases(most_areas=16), st.integers(1, 120))
def test_given_levels_are_joined_until_what_any_of_them_leaves_over_has_the_least_population(case, least):
    areas, _, levels = case
    if levels.crosswalks[-1].totals(areas.population).sum() < least:
        with pytest.raises(InputError, match="LEAST_POPULATION"):
            with_least_population(areas, levels, least)
        return
    joined = with_least_population(areas, levels, least)
    for fine, coarse in zip(joined.crosswalks, joined.crosswalks[1:]):
        assert coarse.n_regions < fine.n_regions
    finest = joined.crosswalks[0]
    for crosswalk in joined.crosswalks:
        assert crosswalk.totals(areas.population).min() >= least
        for region in range(crosswalk.n_regions):
            inside = crosswalk.region_of == region
            # Every part of it that finer regions could leave over is made of whole finest ones.
            assert all(inside[finest.region_of == one].all() for one in set(finest.region_of[inside].tolist()))
    for one in joined.crosswalks:
        assert any(
            len(set(zip(one.region_of[inside].tolist(), old.region_of[inside].tolist()))) == old.n_regions
            for old in levels.crosswalks
            for inside in [old.region_of >= 0]
        )


def test_joined_units_keep_their_names():
    areas = make_areas(list("abcd"), np.array([[0.0, 0], [1, 0], [9, 0], [10, 0]]), np.array([100, 3, 50, 60]))
    levels = levels_from_fields(areas, ["tract", "town"], [["t1", "t2", "t3", "t4"], ["X", "X", "Y", "Y"]])
    joined = with_least_population(areas, levels, 40)
    assert joined.names[0] is not None and joined.names[1] is not None
    assert joined.names[0].tolist() == ["t1 + t2", "t3", "t4"]
    assert joined.names[1].tolist() == ["X", "Y"]


def test_the_finest_level_may_be_any_crosswalk_areas_left_out_included():
    areas = make_areas(list("abcdef"), np.array([[0, 0], [1, 0], [5, 0], [6, 0], [9, 9], [9, 8]]))
    finest = Crosswalk(np.array([1, 1, 0, 0, -1, 2]), 3)
    levels = build_levels(areas, profile_of(np.ones((6, 1), np.int64)), finest)
    assert [crosswalk.n_regions for crosswalk in levels.crosswalks] == [3, 2, 1]
    assert all(crosswalk.region_of[4] == -1 for crosswalk in levels.crosswalks)


def test_coarser_levels_come_about_whatever_population_floor_the_finest_has():
    """A floor that regions have already would join none of them: at coarser levels it is an even share."""
    areas = make_areas(list("abcdefgh"), [(i, 0) for i in range(8)], np.arange(8) + 20)
    for floor in (0.0, 1.0, 20.0):
        options = LevelOptions(aggregation="population floor", aggregation_options=AggregationOptions(floor=floor))
        levels = build_levels(areas, profile_of(np.ones((8, 1), np.int64)), options=options)
        check_nested(levels, 8)
        assert len(levels) > 2 and levels.crosswalks[-1].n_regions == 1


def test_regions_become_areas_with_their_people_centre_and_neighbours():
    areas = make_areas(list("abcd"), np.array([[0.0, 0.0], [4.0, 0.0], [8.0, 0.0], [8.0, 4.0]]), np.array([3, 1, 0, 0]))
    merged = regions_as_areas(areas, Crosswalk(np.array([0, 0, 1, 1]), 2))
    assert merged.points.tolist() == [[1.0, 0.0], [8.0, 2.0]]
    assert merged.population.tolist() == [4.0, 0.0]


def test_fields_make_levels_and_what_has_no_value_is_the_rest_of_the_coarser_one():
    areas = make_areas(list("abcdef"), np.arange(12.0).reshape(6, 2))
    tract = [1, 1.0, "2", None, None, 5]
    town = ["X", "X", "X", "X", "X", "Y"]
    levels = levels_from_fields(areas, ["tract", "town"], [tract, town])
    assert levels.names[0] is not None
    assert levels.names[0].tolist() == ["1", "2", "5", "rest of X"]
    assert levels.crosswalks[0].region_of.tolist() == [0, 0, 1, 3, 3, 2]
    assert levels.crosswalks[1].region_of.tolist() == [0, 0, 0, 0, 0, 1]


def test_fields_that_do_not_nest_are_refused_with_the_areas():
    areas = make_areas(list("abcd"), np.arange(8.0).reshape(4, 2))
    with pytest.raises(InputError, match=r"do not nest: 1 region of field “tract”.*areas “a”, “b”"):
        levels_from_fields(areas, ["tract", "town"], [[1, 1, 2, 3], ["X", "Y", "Y", "Y"]])
    with pytest.raises(InputError, match=r"1 area has a value in “tract”, but none in a coarser field.*d"):
        levels_from_fields(areas, ["tract", "town"], [[1, 1, 2, 3], ["X", "X", "Y", None]])
    with pytest.raises(InputError, match="empty in all areas"):
        levels_from_fields(areas, ["tract"], [[None] * 4])


def test_crosswalks_that_leave_out_different_areas_are_refused():
    areas = make_areas(list("abc"), np.arange(6.0).reshape(3, 2))
    with pytest.raises(InputError, match="1 area has a region in only one of level 1 and level 2"):
        make_levels(areas, [own_regions(3), Crosswalk(np.array([0, 0, -1]), 1)])


def test_settings_outside_their_range_are_refused():
    areas = make_areas(list("abc"), np.arange(6.0).reshape(3, 2))
    profile = profile_of(np.ones((3, 1), np.int64))
    for options, words in (
        (LevelOptions(ratio=1.0), "RATIO is 1"),
        (LevelOptions(coarsest=0), "COARSEST is 0"),
        (LevelOptions(least_population=-1), "LEAST_POPULATION is -1"),
        (LevelOptions(aggregation="x"), "AGGREGATION"),
    ):
        with pytest.raises(InputError, match=words):
            build_levels(areas, profile, options=options)


@settings(max_examples=60, deadline=None)
@given(regions(least=2), st.integers(0, 2**32 - 1))
def test_losses_equal_a_plain_recount(areas, seed):
    rng = np.random.default_rng(seed)
    profile = profile_of(rng.integers(0, 5, (len(areas), 2)))
    region_of = np.unique(rng.integers(0, 4, len(areas)), return_inverse=True)[1].reshape(-1)
    crosswalk = Crosswalk(region_of, int(region_of.max()) + 1)
    distances = LOSSES["mean distance"](areas, profile, crosswalk)
    bits = LOSSES["non-uniform entropy"](areas, profile, crosswalk)
    for region in range(crosswalk.n_regions):
        here = region_of == region
        people = areas.population[here] if areas.population[here].any() else np.ones(here.sum())
        centre = (people @ areas.points[here]) / people.sum()
        plain = people @ np.linalg.norm(areas.points[here] - centre, axis=1) / people.sum()
        assert distances[region] == pytest.approx(plain, abs=1e-6)
        assert bits[region] == pytest.approx(np.log2(max(1, profile.counts[here].sum())))
