"""The curve of regions against suppression: its points against plans, its budget against all numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Ask, rate
from vbas.core.areas import make_areas
from vbas.core.configuration import Configuration, aggregate
from vbas.core.errors import Cancelled, InputError
from vbas.core.evaluation import mean_distance_released
from vbas.core.nesting.making import LevelOptions, build_levels
from vbas.core.plan import suppress
from vbas.core.profile import profile_records
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records
from vbas.core.site_number import SiteNumberOptions
from vbas.core.suppression import Terms
from vbas.core.trade_off.curve import (
    ALWAYS,
    STRAIGHT,
    UNDECIDED,
    Curve,
    CurvePoint,
    coarse_to_fine,
    filled_up,
    numbers_left,
    numbers_on_curve,
)
from vbas.core.trade_off.nested_curve import NestedCurve

from .strategies import regions, tables


def matched(table, areas, k):
    """The records in their areas; a town that nobody lives in is none."""
    try:
        return match_records(table, areas, "suppress", k)
    except InputError:
        reject()


@pytest.mark.slow
@given(st.data(), st.integers(2, 6))
@settings(max_examples=30, deadline=None)
def test_each_point_is_what_a_release_of_its_regions_suppresses(data, k):
    areas = data.draw(regions(most=25))
    records = matched(data.draw(tables(areas)), areas, k)
    profile, n_unmatched = records.profile, records.n_unmatched
    curve = Curve(areas, profile, Configuration(), Terms(k, n_unmatched=n_unmatched))
    said = list(curve.filled())
    numbers = numbers_on_curve(len(areas))
    assert sorted(one.n_sites for one in said) == [one.n_sites for one in curve.points]
    assert {*coarse_to_fine(numbers)[:ALWAYS]} <= {one.n_sites for one in said} <= {*numbers}
    assert curve.whole and not list(curve.filled())
    for below, above in zip(curve.points, curve.points[1:]):  # whatever is left out lies where nothing bends
        if any(below.n_sites < number < above.n_sites for number in numbers):
            least, most = sorted((below.percent, above.percent))
            assert most - least <= STRAIGHT or least >= UNDECIDED
    for point in curve.points:
        options = SiteNumberOptions(n_sites=point.n_sites, k=k)
        run = aggregate(areas, profile, Configuration("given number", number_options=options))
        plan = suppress(profile, run.aggregation.crosswalk, k)
        lost = profile.n_records - plan.n_released + n_unmatched
        assert point.n_regions == run.aggregation.crosswalk.n_regions
        assert point.percent == pytest.approx(100 * lost / (profile.n_records + n_unmatched))
        assert np.array_equal(curve.aggregation(point.n_sites).crosswalk.region_of, run.aggregation.crosswalk.region_of)
        assert point.mean_distance == pytest.approx(mean_distance_released(areas, plan))


@given(st.data(), st.integers(2, 5))
@settings(max_examples=10, deadline=None)
def test_each_point_of_the_nested_line_is_what_rating_its_levels_gives(data, k):
    areas = data.draw(regions(most=12))
    records = matched(data.draw(tables(areas)), areas, k)
    terms = Terms(k, n_unmatched=records.n_unmatched)
    curve = Curve(areas, records.profile, Configuration(), terms)
    line = NestedCurve(areas, records, curve, Ask(k, nested=True), LevelOptions())
    for point in line.filled():
        number = point.n_sites
        levels = build_levels(areas, records.profile, curve.aggregation(number).crosswalk)
        measures = rate(areas, records, levels, Ask(k, nested=True)).measures
        assert (point.percent, point.mean_distance) == (measures.suppression_percent, measures.mean_distance)
        assert point.percent <= curve.point(number).percent + 1e-9  # levels suppress no more than their finest
    assert line.whole and line.known(1) == line.points[0]


@pytest.mark.slow
@given(st.data(), st.floats(0, 60))
@settings(max_examples=20, deadline=None)
def test_a_budget_finds_a_number_within_it_or_there_is_none_at_one_region(data, budget):
    areas = data.draw(regions(most=20))
    records = matched(data.draw(tables(areas)), areas, 3)
    curve = Curve(areas, records.profile, Configuration(), Terms(3, n_unmatched=records.n_unmatched))
    found = curve.most_within(budget)
    every = {number: curve.point(number).percent for number in range(1, len(areas) + 1)}
    if found is None:
        assert every[1] > budget
    else:
        assert found.percent == every[found.n_sites] <= budget
        # What is tried just above is above the budget, as far as it was tried.
        assert found.n_sites == len(areas) or every[found.n_sites + 1] > budget


@given(st.integers(1, 3000), st.integers(2, 40))
def test_the_numbers_go_from_one_region_to_all_areas(n_areas, most):
    numbers = numbers_on_curve(n_areas, most)
    assert numbers[0] == 1 and numbers[-1] == n_areas
    assert numbers == sorted(set(numbers)) and len(numbers) <= most


def test_numbers_where_nothing_bends_are_not_run():
    """A line that is flat, bends, and then suppresses more than anybody would release."""
    numbers, found = list(range(1, 26)), {}

    def point(number, progress):
        found[number] = CurvePoint(number, number, 0.0 if number < 12 else 4.0 * (number - 11), 1.0)
        return found[number]

    run = [one.n_sites for one in filled_up(numbers, found, point)]
    assert run[:ALWAYS] == coarse_to_fine(numbers)[:ALWAYS] and len(run) == len(set(run)) < 20
    assert {11, 12, 13, 14, 15, 16} <= {*run}  # all that lies between a tenth and a quarter
    assert not {2, 3, 5, 6} & {*run} and not numbers_left(numbers, found)


@given(st.lists(st.integers(), min_size=1, max_size=50, unique=True))
def test_every_number_comes_once_and_both_ends_first(numbers):
    numbers = sorted(numbers)
    order = coarse_to_fine(numbers)
    assert sorted(order) == numbers
    if len(numbers) > 1:
        assert order[:2] == [numbers[0], numbers[-1]]
    if len(numbers) > 4:  # no half is looked at twice before the other was once
        assert numbers[1] not in order[:3] and numbers[-2] not in order[:3]


def test_a_curve_can_be_cancelled_and_goes_on_where_it_was(monkeypatch):
    rng = np.random.default_rng(3)
    areas = make_areas([str(i) for i in range(50)], rng.random((50, 2)) * 1000)
    columns = {"age": column_from_values(rng.integers(0, 9, 900).tolist())}
    profile, _ = profile_records(rng.integers(0, 50, 900), columns, 50)
    curve = Curve(areas.with_population(profile.area_sizes), profile, Configuration(), Terms(5))

    def stop(fraction):
        if fraction > 0.3:
            raise Cancelled("enough")

    with pytest.raises(Cancelled):
        list(curve.filled(stop))
    known = len(curve.points)
    assert 0 < known < ALWAYS and not curve.whole
    ran = []
    again = curve.aggregation

    def counted(number, progress):
        ran.append(number)
        return again(number, progress)

    monkeypatch.setattr(curve, "aggregation", counted)
    list(curve.filled())
    assert curve.whole and len(ran) == len(curve.points) - known
