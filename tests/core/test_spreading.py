"""Weights of released rows against plain recounts, and what must always hold of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy import sparse

from vbas.core.analysis.fitting import AS_WEIGHTS, Margin, fit, margin_of, raked
from vbas.core.analysis.released import ReleasedRows, released_rows
from vbas.core.analysis.spreading import AT_LEVEL_1, IN_ZONES, NONE, spread
from vbas.core.areas import make_areas
from vbas.core.crosswalk import crosswalk_from_table
from vbas.core.errors import InputError
from vbas.core.levels import Levels, own_regions, without_last_repeats
from vbas.core.nesting.making import build_levels
from vbas.core.records.columns import Column, column_from_values

from ..exploring import tried
from .nested_cases import nested_cases, profile_of
from .release_to_spread import nested_release, released, weights_by_hand

NO_SHRINK = (Phase.explicit, Phase.reuse, Phase.generate)


def whole(case):
    """The same with no area left out, and the areas as level 1."""
    areas, profile, levels = case
    if any((crosswalk.region_of < 0).any() for crosswalk in levels.crosswalks):
        levels = Levels(())
    return areas, profile, Levels((own_regions(len(areas)), *levels.crosswalks))


@pytest.mark.slow
@settings(deadline=None, phases=NO_SHRINK, max_examples=60)
@given(nested_cases(), st.integers(2, 6), st.sampled_from([NONE, AT_LEVEL_1]))
def test_weights_are_those_of_a_recount(case, k, leave_out):
    areas, profile, levels = whole(case) if leave_out == AT_LEVEL_1 else case
    rows, home = nested_release(areas, profile, levels, k)
    weights = spread(rows, leave_out, ["q"])
    expected = weights_by_hand(rows, leave_out, len(without_last_repeats(levels)))
    found = weights.row_weights().toarray()
    for row, of_row in enumerate(expected):
        assert {i: found[row, i] for i in np.flatnonzero(found[row])} == pytest.approx(of_row)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    counts = weights.counts(rows.fields["q"].codes.astype(np.int64), profile.counts.shape[1])
    np.testing.assert_allclose(
        counts.estimate.sum(axis=1), np.bincount(rows.fields["q"].codes, minlength=profile.counts.shape[1])
    )
    if areas.population.all():
        assert all(found[row, area] > 0 for row, area in enumerate(home))  # nobody is ruled out who lives there


@pytest.mark.slow
@settings(deadline=None, phases=NO_SHRINK, max_examples=60)
@given(nested_cases(left_out=False), st.integers(0, 2**32 - 1))
def test_in_zones_areas_within_a_region_that_shows_the_class_have_no_weight(case, seed):
    areas, profile, levels = whole(case)
    shows = np.random.default_rng(seed).random((len(levels), profile.counts.shape[0], profile.counts.shape[1])) < 0.3
    cells = np.full(profile.counts.nnz, -1)
    area, one = np.repeat(np.arange(len(areas)), np.diff(profile.counts.indptr)), profile.counts.indices
    for level, crosswalk in reversed(list(enumerate(levels.crosswalks))):
        cells = np.where(shows[level, crosswalk.region_of[area], one], level, cells)
    rows, home = released(areas, levels, profile, cells)
    found = spread(rows, IN_ZONES, ["q"]).row_weights().toarray()
    for row, of_row in enumerate(weights_by_hand(rows, IN_ZONES, len(without_last_repeats(levels)))):
        assert {i: found[row, i] for i in np.flatnonzero(found[row])} == pytest.approx(of_row)
        assert found[row, home[row]] > 0 or areas.population[home[row]] == 0


@settings(deadline=None, phases=NO_SHRINK, max_examples=40)
@given(nested_cases(left_out=False))
def test_all_shown_in_areas_is_the_true_table(case):
    areas, profile, _ = case
    levels = Levels((own_regions(len(areas)),))
    rows, _ = released(areas, levels, profile, np.zeros(profile.counts.nnz, int))
    counts = spread(rows).counts(rows.fields["q"].codes.astype(np.int64), profile.counts.shape[1])
    np.testing.assert_array_equal(counts.estimate, profile.counts.T.toarray())
    np.testing.assert_array_equal(counts.rows, counts.estimate)
    np.testing.assert_allclose(counts.effective, counts.estimate)
    assert (counts.at_area[counts.estimate > 0] == 1).all()


@settings(deadline=None, phases=NO_SHRINK, max_examples=40)
@given(nested_cases(), st.integers(0, 2**32 - 1))
def test_what_is_behind_an_estimate_and_exposures_against_a_recount(case, seed):
    areas, profile, levels = case
    rows, _ = nested_release(areas, profile, levels, 3)
    rng = np.random.default_rng(seed)
    rows = replace(rows, counts=rng.integers(1, 9, len(rows)))
    weights = spread(rows)
    w, n = weights.row_weights().toarray(), rows.records
    counts = weights.counts()
    np.testing.assert_allclose(counts.estimate[0], n @ w)
    np.testing.assert_allclose(counts.rows[0], n @ (w > 0))
    np.testing.assert_allclose(counts.effective[0], np.nan_to_num((n @ w) ** 2 / np.maximum(n @ w**2, 1e-300)))
    x = rng.normal(1e6, 10, len(areas))
    mean, deviation = weights.exposure(x)
    np.testing.assert_allclose(mean, w @ x)
    np.testing.assert_allclose(
        deviation, [np.sqrt(np.average((x - x @ row) ** 2, weights=row)) for row in w], atol=1e-5
    )


def test_an_exposure_that_is_missing_where_rows_may_live():
    rows = two_levels([1, 1, 2], [1, 2, 1])
    with pytest.raises(InputError, match="1 area has no exposure"):
        spread(rows).exposure([1, 2, float("nan")])
    assert spread(two_levels([1, 1], [1, 2])).exposure([1, 2, float("nan")])[0].tolist() == [1, 2]


def test_areas_cannot_be_left_out_where_the_release_was_not_made_like_that():
    with pytest.raises(InputError, match=r"1 class is then left without an area .first: level 2, region 1\)"):
        spread(two_levels([1, 1, 1, 2], [1, 2, 3, 1]), AT_LEVEL_1, ["q"])
    areas = make_areas(list("abc"), np.zeros((3, 2)), [10, 20, 30], in_metres=True)
    levels = Levels((crosswalk_from_table(areas, list("abc"), [1, 1, 2]),))
    with pytest.raises(InputError, match="level 1 of the release joins areas"):
        spread(ReleasedRows(areas, levels, np.zeros(1, int), np.zeros(1, int), {}), AT_LEVEL_1)


def test_levels_of_coarser_values_leave_nothing_out():
    rows = two_levels([1, 2], [1, 1])
    assert spread(rows, AT_LEVEL_1, ["q"]).row_weights().toarray()[1, 0] == 0
    coarser = replace(
        rows, levels=Levels((*rows.levels.crosswalks, rows.levels.crosswalks[-1])), level=np.array([0, 2])
    )
    for leave_out in (AT_LEVEL_1, IN_ZONES):
        assert spread(coarser, leave_out, ["q"]).row_weights().toarray()[1, 0] > 0


def test_a_release_of_one_level_and_one_of_other_levels():
    areas = make_areas(list("abc"), np.zeros((3, 2)), [10, 20, 30], in_metres=True)
    one = Levels((crosswalk_from_table(areas, list("abc"), [7, 7, 9]),))
    rows = released_rows(areas, one, {"vbas_region": column_from_values(["9", "7"])})
    assert spread(rows).row_weights().toarray().tolist() == [[0, 0, 1], [1 / 3, 2 / 3, 0]]
    with pytest.raises(InputError, match="no field vbas_level"):
        released_rows(areas, Levels((*one.crosswalks, *one.crosswalks)), {"vbas_region": column_from_values([7])})
    with pytest.raises(InputError, match="level 1, region 8"):
        released_rows(areas, one, {"vbas_region": column_from_values([7, 8])})


def two_levels(level, region, value="x"):
    """Rows of three areas of 10, 20 and 30 people, the areas and all of them together."""
    areas = make_areas(list("abc"), np.zeros((3, 2)), [10, 20, 30], in_metres=True)
    levels = Levels((own_regions(3), crosswalk_from_table(areas, list("abc"), [1, 1, 1])))
    fields = {"q": Column(np.zeros(len(level), np.int64), np.array([value], object))}
    return ReleasedRows(areas, levels, np.array(level) - 1, np.array(region) - 1, fields)


# ---- tables of people by area


@pytest.mark.slow
@settings(deadline=None, phases=NO_SHRINK, max_examples=tried(50, 120))
@given(nested_cases(most_areas=10), st.integers(2, 5), st.sampled_from([NONE, AT_LEVEL_1]), st.integers(0, 2**32 - 1))
def test_a_table_of_the_same_people_is_met(case, k, leave_out, seed):
    areas, profile, levels = whole(case) if leave_out == AT_LEVEL_1 else case
    rows, _ = nested_release(areas, profile, levels, k)
    n_classes = profile.counts.shape[1]
    group = np.random.default_rng(seed).integers(0, 2, n_classes)
    people = np.array([profile.counts[:, group == one].sum(axis=1).A1 for one in (0, 1)], float)
    group_of = group[rows.fields["q"].codes]
    weights = spread(rows, leave_out, ["q"])
    fitted = fit(rows, weights, Margin(group_of, people, ("first", "second")))
    w = fitted.spread.row_weights().toarray()
    np.testing.assert_allclose(w.sum(axis=1), 1)
    assert not (w[weights.row_weights().toarray() == 0] > 0).any() or not areas.population.all()
    estimate = fitted.spread.counts(group_of, 2).estimate
    assert (estimate <= people + 1e-6).all()
    assert fitted.unknown == 0 and not fitted.contradictions
    np.testing.assert_allclose(estimate.sum(axis=1), np.bincount(group_of, minlength=2))
    if np.array_equal(np.bincount(group_of, minlength=2), people.sum(axis=1)):  # nobody is suppressed
        np.testing.assert_allclose(estimate, people, atol=1e-6)


def test_a_table_of_a_rare_group_is_met_where_a_larger_region_has_it_in_one_area():
    """A record that is shown in a larger region, where the table has people in one of its areas alone, lives there."""
    rows = two_levels([1] + [2] * 3, [1] + [1] * 3)
    for people in ([4.0, 0.0, 0.0], [5.0, 0.0, 0.0], [1.0, 3.0, 0.0]):
        fitted = fit(rows, spread(rows), Margin(np.zeros(4, int), np.array([people]), ("x",)))
        np.testing.assert_allclose(fitted.spread.counts().estimate, [np.minimum(people, [4, 3, 0])], atol=1e-6)


@pytest.mark.slow
@settings(deadline=None, phases=NO_SHRINK, max_examples=tried(100, 1000))
@given(nested_cases(most_areas=10), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_a_table_by_a_rare_field_of_the_same_people_is_met(case, k, seed):
    """Who has it does not depend on the class, so that few have it in an area and nobody in most."""
    rng = np.random.default_rng(seed)
    areas, profile, levels = case
    rows, home = nested_release(areas, profile, levels, k)
    group_of = (rng.random(len(rows)) < 0.15).astype(int)
    people = np.zeros((2, len(areas)))
    np.add.at(people, (group_of, home), 1.0)
    estimate = fit(rows, spread(rows), Margin(group_of, people, ("most", "few"))).spread.counts(group_of, 2).estimate
    np.testing.assert_allclose(estimate, people, atol=1e-6)


def test_people_beyond_the_release_are_left_over():
    rows = two_levels([1] * 4 + [2] * 6, [1] * 4 + [1] * 6)
    margin = Margin(np.zeros(10, int), np.array([[4.0, 1.0, 8.0]]), ("x",))
    fitted = fit(rows, spread(rows), margin)
    # The first area is full: of the 9 people of the others 6 are released, each as likely.
    np.testing.assert_allclose(fitted.spread.counts().estimate, [[4, 2 / 3, 16 / 3]], atol=1e-6)
    assert fitted.left_over == pytest.approx(3)


@pytest.mark.parametrize(
    ("people", "sentence"),
    [
        ([3.0, 5.0, 5.0], "“x”: area a has 4 records, the table has 3 people there"),
        ([1.0, 5.0, 5.0], "“x”: area a has 4 records, the table has 1 person there"),
        ([4.0, 2.0, 3.0], "“x”: region 1 of level 2 shows 10 records with those within, the table has 9 people there"),
    ],
)
def test_a_contradiction_is_named(people, sentence):
    rows = two_levels([1] * 4 + [2] * 6, [1] * 4 + [1] * 6)
    margin = Margin(np.zeros(10, int), np.array([people]), ("“x”",))
    with pytest.raises(InputError, match=sentence):
        fit(rows, spread(rows), margin)
    fitted = fit(rows, spread(rows), margin, AS_WEIGHTS)
    assert sentence in fitted.contradictions[0].sentence
    w = fitted.spread.row_weights().toarray()
    np.testing.assert_allclose(w[0], [1, 0, 0])
    np.testing.assert_allclose(w[-1], np.array(people) / sum(people))


@pytest.mark.parametrize(
    ("people", "sentence"),
    [
        (
            [20.0, 20.0, 0.0, 0.0],
            "“x”: region 1 of level 2 shows 6 records for which the table has nobody left: its people in the areas "
            "where they can live are other records.",
        ),
        (
            [20.0, 20.0, 2.0, 3.0],
            "“x”: no weights meet the table in all areas; in area d the nearest that were found are off by 0.6.",
        ),
    ],
)
def test_a_contradiction_of_where_rows_can_live_is_named(people, sentence):
    """Six rows of the region can live in the last two areas alone, where the first ones show the class themselves. That
    the table has enough people in the region is no contradiction, and was called one."""
    areas = make_areas(list("abcd"), [(0, 0), (900, 0), (0, 900), (900, 900)], np.full(4, 30.0))
    levels = Levels((own_regions(4), crosswalk_from_table(areas, list("abcd"), [1] * 4)))
    numbers = {"vbas_level": [1] * 8 + [2] * 6, "vbas_region": [1] * 4 + [2] * 4 + [1] * 6, "q": [1] * 14}
    rows = released_rows(areas, levels, {name: column_from_values(values) for name, values in numbers.items()})
    margin = Margin(np.zeros(14, int), np.array([people]), ("“x”",))
    with pytest.raises(InputError, match=sentence):
        fit(rows, spread(rows, AT_LEVEL_1), margin)
    assert fit(rows, spread(rows, AT_LEVEL_1), margin, AS_WEIGHTS).contradictions[0].sentence == sentence


def test_a_table_is_read_by_text_and_values_that_it_lacks_are_spread_by_people():
    rows = two_levels([2, 2], [1, 1], value=5)
    table = {"q": column_from_values(["5", "5", "5", "6"])}
    margin, outside = margin_of(rows, column_from_values(["a", "b", "c", "elsewhere"]), table, np.array([1, 1, 0, 9]))
    assert (margin.people.tolist(), margin.group_of.tolist(), outside) == ([[1, 1, 0], [0, 0, 0]], [0, 0], 9)
    np.testing.assert_allclose(fit(rows, spread(rows), margin).spread.counts().estimate, [[1, 1, 0]], atol=1e-6)
    other = two_levels([2, 2], [1, 1], value=7)
    fitted = fit(other, spread(other), margin_of(other, column_from_values(["a", "b", "c", "c"]), table, np.ones(4))[0])
    assert fitted.unknown == 2
    np.testing.assert_allclose(fitted.spread.counts().estimate, [[2 / 6, 4 / 6, 1]])


@pytest.mark.parametrize(
    ("areas", "people", "sentence"),
    [
        (["a", "b"], [1, 1], "MARGINS has no row for 1 area where people live .“c”."),
        (["a", "b", "c"], [1, -1, 1], "MARGIN_COUNT is negative in 1 row"),
        (["a", "b", "c"], [1, float("nan"), 1], "MARGIN_COUNT is missing"),
    ],
)
def test_a_table_that_cannot_be_used(areas, people, sentence):
    rows = two_levels([2], [1])
    with pytest.raises(InputError, match=sentence):
        margin_of(
            rows, column_from_values(areas), {"q": column_from_values(["x"] * len(areas))}, np.array(people, float)
        )


@pytest.mark.slow
@settings(deadline=None, phases=NO_SHRINK, max_examples=tried(10, 25))
@given(st.integers(0, 2**32 - 1))
def test_a_table_is_met_where_areas_are_nearly_full(seed):
    """Proportional fitting alone would need hundreds of thousands of steps in a third of these."""
    rng = np.random.default_rng(seed)
    areas = make_areas([f"a{i}" for i in range(80)], rng.uniform(0, 1e4, (80, 2)), rng.integers(50, 300, 80))
    counts = rng.poisson(rng.exponential(3, (1, 40)) * rng.uniform(0.3, 1.7, (80, 40)))
    profile = profile_of(counts)
    rows, _ = nested_release(areas, profile, build_levels(areas, profile), 5)
    people = counts.sum(axis=1)[None].astype(float)
    fitted = fit(rows, spread(rows), Margin(np.zeros(len(rows), int), people, ("all",)))
    estimate = fitted.spread.counts().estimate
    assert (estimate <= people + 1e-6).all() and not fitted.contradictions
    if len(rows) == counts.sum():
        np.testing.assert_allclose(estimate, people, atol=1e-6)


@pytest.mark.parametrize(
    ("matrix", "rows", "columns", "off"),
    [([[1, 0], [1, 1]], [5, 1], [1, 5], 4), ([[1, 1], [1, 1], [1, 0]], [3, 3, 10], [2, 14], 8)],
)
def test_sums_that_no_factors_meet_are_off_by_a_number(matrix, rows, columns, off):
    """The factors grow for ever: what is said of the table is a number of people all the same."""
    of_rows, of_columns, gap = raked(
        sparse.csr_matrix(np.array(matrix, float)), np.array(rows, float), np.array(columns, float)
    )
    reached = of_rows @ np.array(matrix, float) * of_columns
    assert gap == pytest.approx(off) and np.abs(reached - columns).max() == pytest.approx(off)
