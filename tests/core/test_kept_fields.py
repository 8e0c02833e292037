"""Fields released beside the quasi-identifiers: what gives away the area or the person is refused or warned of."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting.planning import nest
from vbas.core.plan import suppress
from vbas.core.privacy import association
from vbas.core.privacy.association import RowsByArea, regained_identifier
from vbas.core.privacy.kept_field import EXPOSED
from vbas.core.privacy.kept_fields import examine_kept_fields
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable
from vbas.core.release import apply

from .strategies import column_from_array

N_AREAS, N, AREAS_PER_REGION = 60, 6_000, 6


@pytest.fixture(scope="module")
def town():
    """Areas, the area of each record, its age in years and its sex, and six areas to a region."""
    rng = np.random.default_rng(1)
    areas = make_areas([f"46{i:04d}" for i in range(N_AREAS)], rng.random((N_AREAS, 2)) * 10_000)
    area = rng.integers(0, N_AREAS, N)
    crosswalk = Crosswalk(np.arange(N_AREAS) // AREAS_PER_REGION, N_AREAS // AREAS_PER_REGION)
    return areas, area, rng.integers(0, 80, N), rng.integers(0, 2, N), crosswalk


def found(town, values, missing=None, nested=False):
    """What is found in one kept field, and the records and plan that it was looked at with."""
    areas, area, age, sex, crosswalk = town
    quasi = {"age group": column_from_array(age // 5 * 5), "sex": column_from_array(sex)}
    table = RecordTable(
        column_from_array(areas.identifiers[area].astype(str)), quasi, {"field": column_from_array(values, missing)}
    )
    records = match_records(table, areas)
    if nested:
        plan = nest(areas, records.profile, make_levels(areas, [own_regions(N_AREAS), crosswalk]), 5)
    else:
        plan = suppress(records.profile, crosswalk, 5)
    return examine_kept_fields(plan, records)[0], plan, records


def test_harmless_fields_are_released_without_a_word(town):
    rng = np.random.default_rng(2)
    for values in (
        rng.integers(0, 8, N),  # a diagnosis
        rng.integers(0, 300, N),  # one of many codes
        np.round(rng.normal(50, 15, N)),  # a score
        np.zeros(N, int),
        np.where(rng.random(N) < 0.999, "", "x"),
    ):
        for nested in (False, True):
            one, plan, records = found(town, values, nested=nested)
            assert (one.refusal, one.warning) == ("", "")
            apply(plan, records)


@pytest.mark.parametrize("nested", [False, True])
def test_the_area_in_45_per_cent_of_the_rows_is_refused(town, nested):
    rng = np.random.default_rng(3)
    one, plan, records = found(town, town[1] + 1000, rng.random(N) > 0.45, nested)
    assert "stands for the area" in one.refusal
    assert one.bits_left == 0 < one.bits_before
    assert one.in_one_area > (0.5 if nested else 0.99)  # rows whose region is their area learn nothing
    with pytest.raises(InputError, match="stands for the area"):
        apply(plan, records)


def test_an_area_code_with_a_few_errors_is_refused(town):
    rng = np.random.default_rng(4)
    codes = np.where(rng.random(N) < 0.0001, rng.integers(0, N_AREAS, N), town[1])
    assert "stands for the area" in found(town, codes)[0].refusal


def test_a_code_that_begins_with_the_area_is_refused(town):
    codes = np.array([f"{area:02d}-{row:05d}" for row, area in enumerate(town[1])])
    one = found(town, codes)[0]
    assert "characters of “field” stand for the area" in one.refusal


def test_the_next_larger_unit_is_warned_of_with_the_rows_it_puts_below_k(town):
    one, plan, records = found(town, town[1] // 3)
    assert one.refusal == ""
    assert "where in the region a person lives" in one.warning
    groups = Counter(
        zip(plan.equivalence_class_of[records.cell_of].tolist(), records.table.kept["field"].codes.tolist())
    )
    assert one.below_k == sum(n for (equivalence_class, _), n in groups.items() if equivalence_class >= 0 and n < 5)
    assert f"{one.below_k} rows" in one.warning


def test_personal_numbers_in_45_per_cent_of_the_rows_are_refused(town):
    rng = np.random.default_rng(5)
    one = found(town, rng.permutation(N) + 10**9, rng.random(N) > 0.45)[0]
    assert f"a value of its own in {one.rows} of the {N} rows" in one.refusal


@pytest.mark.parametrize("each", [2, 4])
def test_numbers_that_a_few_rows_share_are_warned_of_where_every_area_is_shown_by_itself(town, each):
    """As of a household, or a person with several rows: no value is of one row, and none says more than the area."""
    areas, area, _age, sex, _ = town
    quasi = {"sex": column_from_array(sex)}
    shared = np.empty(N, np.int64)
    shared[np.argsort(area, kind="stable")] = np.arange(N, dtype=np.int64) // each
    codes = column_from_array(areas.identifiers[area].astype(str))
    records = match_records(RecordTable(codes, quasi, {"number": column_from_array(shared)}), areas)
    one = examine_kept_fields(suppress(records.profile, own_regions(N_AREAS), 5), records)[0]
    assert (one.refusal, one.single) == ("", 0)
    assert "has a value of fewer than 5 rows in 100 % of its rows" in one.warning


def test_dates_of_birth_are_refused_as_finer_ages_that_leave_people_alone(town):
    rng = np.random.default_rng(6)
    born = 20_000 - town[2] * 365 - rng.integers(0, 365, N)
    one = found(town, born)[0]
    assert one.refines == "age group"
    assert "alone with it in their class" in one.refusal


def test_exact_ages_beside_age_groups_are_warned_of(town):
    one, plan, records = found(town, town[2])
    assert (one.refines, one.refusal) == ("age group", "")
    groups = Counter(zip(plan.equivalence_class_of[records.cell_of].tolist(), town[2].tolist()))
    assert one.alone == sum(n == 1 for (equivalence_class, _), n in groups.items() if equivalence_class >= 0)
    assert f"alone: {one.alone}" in one.warning


def test_where_every_area_is_shown_by_itself_nothing_more_can_be_learned(town):
    areas, area, _age, sex, _ = town
    quasi = {"sex": column_from_array(sex)}
    table = RecordTable(
        column_from_array(areas.identifiers[area].astype(str)), quasi, {"code": column_from_array(area)}
    )
    records = match_records(table, areas)
    one = examine_kept_fields(suppress(records.profile, own_regions(N_AREAS), 5), records)[0]
    assert (one.refusal, one.bits_before) == ("", 0)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_bits_and_rows_in_one_area_equal_a_plain_recount(seed):
    rng = np.random.default_rng(seed)
    n, n_areas = int(rng.integers(10, 80)), int(rng.integers(2, 6))
    areas = make_areas([f"a{i}" for i in range(n_areas)], rng.random((n_areas, 2)))
    area = rng.integers(0, n_areas, n)
    values, missing = rng.integers(0, 4, n), rng.random(n) < 0.2
    table = RecordTable(
        column_from_array(areas.identifiers[area].astype(str)),
        {"sex": column_from_array(np.zeros(n, int))},
        {"field": column_from_array(values, missing)},
    )
    records = match_records(table, areas)
    region_of = np.unique(rng.integers(0, 2, n_areas), return_inverse=True)[1].reshape(-1)
    plan = suppress(records.profile, Crosswalk(region_of, int(region_of.max()) + 1), 2)
    one = examine_kept_fields(plan, records)[0]
    released = plan.equivalence_class_of[records.cell_of] >= 0
    rows = [(region_of[a], v, a) for a, v, lost, there in zip(area, values, missing, released) if there and not lost]
    places, groups, regions = Counter(rows), Counter(row[:2] for row in rows), Counter(row[0] for row in rows)
    by_region = Counter((region, a) for region, _, a in rows)
    left = -sum(count * np.log2(count / groups[key[:2]]) for key, count in places.items()) / max(len(rows), 1)
    before = -sum(count * np.log2(count / regions[region]) for (region, _), count in by_region.items())
    assert one.bits_left == pytest.approx(left, abs=1e-9)
    assert one.bits_before == pytest.approx(before / max(len(rows), 1), abs=1e-9)
    several = {region for region in regions if len({a for r, _, a in rows if r == region}) > 1}
    in_one_area = sum(
        count for key, count in groups.items() if count > 1 and key[0] in several and _areas(rows, key) == 1
    )
    assert one.in_one_area == pytest.approx(in_one_area / max(len(rows), 1))


def _areas(rows, key):
    return len({area for region, value, area in rows if (region, value) == key})


def test_a_field_that_could_hardly_tell_the_finer_value_is_let_pass(monkeypatch):
    """One man among 99 women, shown as “*”: that pairs of one ward are of one sex tells nothing of the ward."""
    shown, sex = np.zeros(100, int), (np.arange(100) == 0).astype(int)
    ward = np.arange(100) // 2
    assert regained_identifier(ward, {"sex": RowsByArea(shown, sex)}, EXPOSED)[0] == ""
    # As many men as women: wards of one sex tell it.
    sex = ward % 2
    name, disclosed = regained_identifier(ward, {"sex": RowsByArea(shown, sex)}, EXPOSED)
    assert name == "sex" and disclosed.rows == 100 and disclosed.placed > 30
    for share, said in ((disclosed.narrowing_share, "sex"), (disclosed.narrowing_share + 1e-9, "")):
        monkeypatch.setattr(association, "WARNED_SHARE", share)
        assert regained_identifier(ward, {"sex": RowsByArea(shown, sex)}, 2.0)[0] == said
