"""The report for release says nothing that depends on a suppressed record: without them it is the same page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.attribute_costs import AttributeCost
from vbas.core.crosswalk import number_compactly
from vbas.core.levels import Levels, make_levels, own_regions
from vbas.core.plan import suppress
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable
from vbas.core.release import apply
from vbas.core.report.internal import Remarks, internal_report
from vbas.core.report.map_data import MapData
from vbas.core.report.provenance import Provenance
from vbas.core.report.release import PublicReport, page_of, release_report
from vbas.core.source import RecordSource

from ..exploring import tried
from .strategies import column_from_array

SIDE = 4
N = SIDE * SIDE
X, Y = map(np.ravel, np.meshgrid(np.arange(SIDE), np.arange(SIDE)))
SQUARES = shapely.box(X * 1000.0, Y * 1000.0, X * 1000.0 + 1000, Y * 1000.0 + 1000)
REGIONS = number_compactly((X // 2 + 2 * (Y // 2)).astype(np.int64))[0]
K = 4


def areas_with(population):
    points = np.column_stack([X * 1000.0 + 500, Y * 1000.0 + 500])
    return make_areas([f"a{i}" for i in range(N)], points, population)


def records_of(areas, rows, counted=False):
    """Records of rows (area, sex, age, illness)."""
    area, sex, age, ill = (np.array([str(row[i]) for row in rows], dtype=object) for i in range(4))
    counts = np.full(len(rows), 2, np.int64) if counted else None
    table = RecordTable(
        column_from_array(np.array([f"a{one}" for one in area], dtype=object)),
        {"sex": column_from_array(sex), "age": column_from_array(age)},
        {"ill": column_from_array(ill)},
        counts,
    )
    return match_records(table, areas, k=K)


def shown_rows_of(rng):
    """Rows that are released whatever else there is: classes of at least K in every region where they are."""
    rows = []
    for region in range(REGIONS.n_regions):
        members = np.flatnonzero(REGIONS.region_of == region)
        for sex in ("f", "m"):
            for age in ("old", "young"):
                if rng.random() < 0.8:
                    rows += [
                        (int(rng.choice(members)), sex, age, int(rng.integers(3))) for _ in range(rng.integers(K, 12))
                    ]
    return rows or [(0, "f", "old", 1)] * K


def rare_rows_of(rng):
    """Rows of classes that nobody else has, fewer than K of each: suppressed at every level."""
    return [
        (int(rng.integers(N)), rng.choice(["f", "m", "x"]), f"rare {i}", int(rng.integers(5)))
        for i in range(rng.integers(0, 8))
        for _ in range(rng.integers(1, K))
    ]


def levels_of(areas, nested):
    if not nested:
        return Levels((REGIONS,))
    return make_levels(areas, [own_regions(N), REGIONS, number_compactly(np.zeros(N, np.int64))[0]])


def both_pages(rows, nested=False, counted=False):
    """The public report and the internal one (of one level)."""
    public = areas_with(np.arange(1.0, N + 1))
    records = records_of(public, rows, counted)
    populated = public.with_population(records.profile.area_sizes)  # what the regions were balanced by
    levels = levels_of(public, nested)
    account = anonymise(populated, records, levels, Ask(K))
    release = account.release
    shapes = [SQUARES, np.array([shapely.union_all(SQUARES[REGIONS.region_of == r]) for r in range(4)])]
    map_data = MapData(SQUARES, shapes if nested else shapes[1:])
    published = PublicReport(release, 2, levels, K, public, map_data, False, [("k", K)], "1", "today")
    remarks = Remarks(costs=(0.0, [AttributeCost("sex", 0.0)], 0.0))
    return release_report(published), "" if nested else internal_report(account, map_data, Provenance(), remarks)


@pytest.mark.slow
@settings(deadline=None, max_examples=tried(7, 20))
@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_it_is_the_same_whatever_was_suppressed(shown_seed, rare_seed):
    rows = shown_rows_of(np.random.default_rng(shown_seed))
    rare = rare_rows_of(np.random.default_rng(rare_seed))
    page, internal = both_pages(rows)
    other, other_internal = both_pages([*rows, *rare])
    assert other == page
    assert (other_internal != internal) == bool(rare)  # what the internal report is for


@pytest.mark.slow
@settings(deadline=None, max_examples=tried(5, 12))
@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_a_nested_one_too(shown_seed, rare_seed):
    rows = shown_rows_of(np.random.default_rng(shown_seed))
    rare = rare_rows_of(np.random.default_rng(rare_seed))
    assert both_pages([*rows, *rare], nested=True)[0] == both_pages(rows, nested=True)[0]


def test_counted_records_are_told_as_records():
    rows = [(0, "f", "old", 1)] * 6
    page, _ = both_pages(rows, counted=True)
    assert "every one of its 12 records" in page
    assert both_pages([*rows, (3, "x", "rare", 2)], counted=True)[0] == page


def test_it_says_what_may_be_said():
    rows = [(0, "f", "old", 1)] * 6 + [(15, "m", "young", 1)] * 4
    page, _ = both_pages([*rows, (3, "x", "rare", 2)])
    for words in ("4-anonymous", "10 records", "For release", "k", "is not said here", "old", "young", "25.00"):
        assert words in page
    for words in ("rare", "suppress", "11 records", "Internal", ">x<"):
        assert words not in page


def test_an_empty_release_is_told_as_such():
    page, _ = both_pages([(i, "f", f"rare {i}", 1) for i in range(6)])
    assert "No record is released" in page


def test_where_people_have_several_records_the_risk_is_that_of_k():
    areas = areas_with(np.ones(N))
    records = records_of(areas, [(0, "f", "old", 1)] * 8)
    published = PublicReport(apply(suppress(records.profile, REGIONS, K), records), 2, Levels((REGIONS,)), K)
    assert "12.50" in release_report(published)  # 1 / 8
    page = release_report(replace(published, counts_people=True))
    assert "12.50" not in page and ">25<" in page


@pytest.mark.parametrize(("kind", "said"), [("persons", "people"), ("households", "households")])
def test_it_says_whom_k_counts(kind, said):
    areas = areas_with(np.ones(N))
    table = records_of(areas, [(0, "f", "old", 1)] * 8).table
    own = column_from_array(np.arange(8) // 2)
    records = match_records(replace(table, members={kind: own}), areas, k=K)
    account = anonymise(areas, RecordSource(records), Levels((REGIONS,)), Ask(k=K))
    assert f"k counts {said}, not their records" in page_of(account, None, None, (), ())


@pytest.mark.parametrize("nested", [False, True])
def test_distances_are_those_of_the_people_of_the_layer(nested):
    """Of four areas in a square, all with as many people, each is 707 m from the middle."""
    areas = areas_with(np.ones(N))
    records = records_of(areas, [(i % N, "f", "old", 1) for i in range(64)])
    plan = suppress(records.profile, REGIONS, K)
    levels = Levels((REGIONS,)) if not nested else make_levels(areas, [REGIONS, REGIONS])
    page = release_report(PublicReport(apply(plan, records), 2, levels, K, areas))
    assert "707.11" in page
