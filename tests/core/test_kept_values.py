"""Fields that tell in some rows only what they should not: judged value by value, whatever the other rows hold."""

from __future__ import annotations

import numpy as np
import pytest

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting.planning import nest
from vbas.core.plan import suppress
from vbas.core.privacy.association import Places, RowsByArea, refined_identifier
from vbas.core.privacy.checking import check_release
from vbas.core.privacy.kept_field import EXPOSED
from vbas.core.privacy.kept_fields import examine_kept_fields
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable
from vbas.core.release import apply

from .strategies import column_from_array

N_AREAS, N, AREAS_PER_REGION, K = 60, 12_000, 6, 5
FILLERS = {"empty text": [""], "a word": ["unknown"], "words": ["", "unknown", "refused", "n/a"], "nothing": [None]}
CROSSWALK = Crosswalk(np.arange(N_AREAS) // AREAS_PER_REGION, N_AREAS // AREAS_PER_REGION)


@pytest.fixture(scope="module")
def town():
    """Areas, and of each record its area, its age in years and its sex."""
    rng = np.random.default_rng(1)
    areas = make_areas([f"46{i:04d}" for i in range(N_AREAS)], rng.random((N_AREAS, 2)) * 10_000)
    return areas, rng.integers(0, N_AREAS, N), rng.integers(0, 80, N), rng.integers(0, 2, N)


def looked_at(town, values, nested=False, rows=slice(None), crosswalk=CROSSWALK):
    """What is found in one kept field, and the plan and records that it was looked at with."""
    areas, area, age, sex = town
    quasi = {"age group": column_from_array(age[rows] // 5 * 5), "sex": column_from_array(sex[rows])}
    of_areas = column_from_array(areas.identifiers[area[rows]].astype(str))
    table = RecordTable(of_areas, quasi, {"field": column_from_values(list(values))})
    records = match_records(table, areas)
    if nested:
        plan = nest(areas, records.profile, make_levels(areas, [own_regions(N_AREAS), crosswalk]), K)
    else:
        plan = suppress(records.profile, crosswalk, K)
    return examine_kept_fields(plan, records)[0], plan, records


def in_some_rows(values, share, fillers, seed=0):
    """The values in a share of the rows, a filler in the others."""
    rng = np.random.default_rng(seed)
    there = rng.random(len(values)) < share
    others = rng.integers(0, len(fillers), len(values))
    return [value if mine else fillers[i] for value, mine, i in zip(values, there.tolist(), others.tolist())]


@pytest.mark.slow
@pytest.mark.parametrize("nested", [False, True], ids=["one level", "nested"])
@pytest.mark.parametrize("filler", FILLERS)
@pytest.mark.parametrize("share", [0.45, 0.2, 0.05])
def test_the_area_in_some_rows_is_refused_whatever_the_others_hold(town, share, filler, nested):
    codes = [f"A{area}" for area in town[1].tolist()]
    one, plan, records = looked_at(town, in_some_rows(codes, share, FILLERS[filler]), nested)
    assert "“field” stands for the area" in one.refusal
    assert one.disclosed.placed_share == pytest.approx(share, abs=0.02)
    with pytest.raises(InputError, match="stands for the area"):
        apply(plan, records)


@pytest.mark.slow
@pytest.mark.parametrize("filler", FILLERS)
def test_a_code_that_begins_with_the_area_is_refused_in_a_fifth_of_the_rows(town, filler):
    codes = [f"{area:02d}-{row:06d}" for row, area in enumerate(town[1].tolist())]
    one = looked_at(town, in_some_rows(codes, 0.2, FILLERS[filler]))[0]
    assert "characters of “field” stand for the area" in one.refusal and one.prefix in (2, 3)


@pytest.mark.slow
@pytest.mark.parametrize("filler", FILLERS)
@pytest.mark.parametrize("share", [0.45, 0.2, 0.05])
def test_personal_numbers_in_some_rows_are_refused(town, share, filler):
    numbers = [str(10**9 + i) for i in range(N)]
    one = looked_at(town, in_some_rows(numbers, share, FILLERS[filler]))[0]
    assert "a value of its own" in one.refusal


@pytest.mark.parametrize("filler", FILLERS)
def test_dates_of_birth_in_some_rows_are_finer_ages_that_leave_people_alone(town, filler):
    born = [f"d{age * 365 + i % 365}" for i, age in enumerate(town[2].tolist())]
    one = looked_at(town, in_some_rows(born, 0.45, FILLERS[filler]))[0]
    assert one.refines == "age group" and "alone with it in their class" in one.refusal


def test_what_the_region_says_already_is_not_refused(town):
    """All rows stand in single areas; then all but a few: those few, and no others, would be told by a code."""
    codes = [f"A{area}" for area in town[1].tolist()]
    one = looked_at(town, codes, crosswalk=own_regions(N_AREAS))[0]
    assert (one.refusal, one.warning, one.disclosed.rows) == ("", "", 0)
    one, plan, _ = looked_at(town, codes, nested=True)
    assert one.disclosed.rows == plan.records[plan.released & (plan.level == 1)].sum() < N
    assert one.disclosed.placed == one.disclosed.rows


def test_a_region_that_is_nearly_one_area_says_it_already(town):
    """Nine in ten people of a region live in one of its areas: so do those of any value."""
    areas, area, age, sex = town
    rng = np.random.default_rng(3)
    mostly = np.where(rng.random(N) < 0.9, area // AREAS_PER_REGION * AREAS_PER_REGION, area)
    one = looked_at((areas, mostly, age, sex), rng.integers(0, 400, N).tolist())[0]
    assert (one.refusal, one.warning, one.disclosed.placed) == ("", "", 0)
    one = looked_at((areas, mostly, age, sex), mostly.tolist())[0]
    assert "stands for the area" in one.refusal


@pytest.mark.parametrize(("share", "refused"), [(0.007, False), (0.016, True)])
def test_from_one_row_in_a_hundred_on_a_field_is_refused(town, share, refused):
    """Only in some areas, so that many rows share each code."""
    there = np.flatnonzero(town[1] < AREAS_PER_REGION)[: int(share * N)]
    codes = np.full(N, "", dtype=object)
    codes[there] = [f"A{area}" for area in town[1][there].tolist()]
    one = looked_at(town, codes.tolist())[0]
    assert bool(one.refusal) == refused
    if not refused:
        assert f"{one.disclosed.placed} one that stands for it" in one.warning and one.disclosed.placed >= 0.006 * N


@pytest.mark.parametrize(("wrong", "refused"), [(0.08, True), (0.2, False)])
def test_codes_with_some_errors_stand_for_the_area_as_long_as_most_are_right(town, wrong, refused):
    """Of two rows that share a code, both are right in 85 and in 64 of 100 cases."""
    rng = np.random.default_rng(4)
    near = town[1] // AREAS_PER_REGION * AREAS_PER_REGION + rng.integers(0, AREAS_PER_REGION, N)
    codes = np.where(rng.random(N) < wrong, near, town[1])
    one = looked_at(town, codes.tolist())[0]
    assert bool(one.refusal) == refused and (refused or "where in the region" in one.warning)


@pytest.mark.parametrize(("n", "said"), [(60, False), (500, True)])
def test_below_a_hundred_rows_a_share_of_single_values_says_nothing(town, n, said):
    one = looked_at(town, list(range(n)), rows=slice(n), crosswalk=Crosswalk(np.zeros(N_AREAS, int), 1))[0]
    assert one.looked_at <= n and bool(one.refusal) == said


def test_many_single_values_beside_more_common_ones_are_warned_of(town):
    """Two rows in five have an own value, the others one of 600: they may be names, or the tail of a diagnosis."""
    rng = np.random.default_rng(5)
    values = np.where(rng.random(N) < 0.2, 1000 + np.arange(N), rng.integers(0, N // 4, N))
    one = looked_at(town, values.tolist())[0]
    assert one.refusal == "" and "if others know it of a person" in one.warning


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_numbers_that_hardly_any_two_share_are_names_in_some_rows_and_in_all(town, share):
    """Of the rows that have one, four in five have one of their own; of all rows, where they all have one, three."""
    among = N if share < 1 else 2 * N
    numbers = np.random.default_rng(9).integers(0, among, N).tolist()
    one = looked_at(town, in_some_rows(numbers, share, [""]))[0]
    assert "a value of its own" in one.refusal
    assert one.single / one.rare == pytest.approx(0.81 if share < 1 else 0.6, abs=0.03)


@pytest.mark.parametrize(("share", "warned"), [(0.06, False), (0.15, True)])
def test_a_next_larger_unit_in_some_rows_is_warned_of(town, share, warned):
    """Half a region each: two rows that share one come from one area in one of three cases, others in one of six."""
    units = [f"unit {area // 2}" for area in town[1].tolist()]
    one = looked_at(town, in_some_rows(units, share, [""]))[0]
    assert one.refusal == "" and ("where in the region" in one.warning) == warned


def test_a_value_that_closes_little_of_what_the_region_leaves_open_does_not_stand_for_the_area():
    """Of two rows of a region 79 in 100 are of one area anyway, of two that share the value 84."""
    area, value = np.zeros(10_000, int), np.ones(10_000, int)
    area[:1_190] = 1
    value[790:1_790] = 0
    agreement = Places(0 * area, area).agreement(value)
    assert (agreement.shared.max() >= 0.8 > agreement.base.max()) and not agreement.stands.any()
    assert RowsByArea(0 * area, area).disclosed_by(value).placed == 0


def test_the_incomes_of_homes_are_not_codes_of_areas(town):
    """Those of one home share an income, and few others of the region do; others elsewhere do."""
    rng = np.random.default_rng(6)
    order = np.argsort(town[1], kind="stable")
    home = np.empty(N, int)
    home[order] = np.arange(N) // 3
    incomes = rng.integers(0, 1000, N // 3 + 1)[home]
    one = looked_at(town, incomes.tolist())[0]
    assert one.refusal == ""
    assert "stands for the area" in looked_at(town, home.tolist())[0].refusal


def test_numbers_that_begin_anew_in_each_region_stand_for_the_area(town):
    """The third area of a region is “3” in every region: many areas have it, and many rows of each region."""
    one = looked_at(town, in_some_rows((town[1] % AREAS_PER_REGION).tolist(), 0.2, [""]))[0]
    assert "stands for the area" in one.refusal


def test_values_that_go_with_age_are_no_finer_ages(town):
    """Grades of a school are; diagnoses of which a few are of one age group are not."""
    rng = np.random.default_rng(7)
    age = town[2]
    diagnoses = np.where(rng.random(N) < 0.05, 1000 + age // 5 * 2 + rng.integers(0, 2, N), rng.integers(0, 60, N))
    assert looked_at(town, diagnoses.tolist())[0].refines == ""
    grades = np.where((age >= 5) & (age < 15), age, -1)
    assert looked_at(town, grades.tolist())[0].refines == "age group"


@pytest.mark.parametrize(("wrong", "finer"), [(1, True), (40, False)])
def test_a_finer_value_is_of_one_coarser_one_but_for_hardly_a_row(wrong, finer):
    """Four fine values of two coarse ones, 4 000 rows each, some of them wrong."""
    fine = np.arange(16_000) % 4
    coarse = fine // 2
    coarse[: 4 * wrong] = 1 - coarse[: 4 * wrong]
    name, rows = refined_identifier(fine, {"age": RowsByArea(0 * coarse, coarse)}, EXPOSED)
    assert (name == "age") == finer and rows.all() == finer


def test_chance_is_taken_off_where_few_share_a_value():
    """Two areas in each region, two rows of each value: half of them lie in one area, and tell nothing."""
    rng = np.random.default_rng(8)
    region, value = np.repeat(np.arange(50), 200), np.repeat(np.arange(5_000), 2)
    area = 2 * region + rng.integers(0, 2, 10_000)
    agreement = Places(region, area).agreement(value)
    assert agreement.rows[1] > 4_000 and agreement.base.max() < 0.6
    assert RowsByArea(region, area).disclosed_by(value).placed == 0


@pytest.mark.parametrize(("rows", "counted"), [(9, False), (10, True)])
def test_fewer_than_ten_rows_beyond_chance_say_nothing(rows, counted):
    area = np.arange(1_000) % 10
    value = np.full(1_000, 1)
    value[np.flatnonzero(area == 3)[:rows]] = 0
    assert (RowsByArea(0 * area, area).disclosed_by(value).placed == rows) == counted


def test_identifiers_of_areas_in_a_fifth_of_the_rows_of_any_table_are_told():
    areas = make_areas([f"46{i:04d}" for i in range(50)], np.random.default_rng(0).random((50, 2)))
    sex = column_from_values(["F", "M"] * 500)
    for fillers in FILLERS.values():
        codes = in_some_rows([f"46{i % 50:04d}" for i in range(1000)], 0.2, fillers)
        check = check_release({"sex": sex}, {"code": column_from_values(codes)}, K, areas=areas)
        (problem,) = check.problems
        assert "“code” holds identifiers of REGIONS in 1" in problem or "in 2" in problem
    years = column_from_values([460_040 + i % 60 for i in range(1000)])  # ten of sixty are like identifiers
    assert check_release({"sex": sex}, {"years": years}, K, areas=areas).problems == ()
