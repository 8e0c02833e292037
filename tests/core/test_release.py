"""Suppression and release: k-anonymous always, nobody invented or lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.aggregation.basic_voronoi import basic_voronoi
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError, PrivacyError
from vbas.core.evaluation import evaluate
from vbas.core.plan import suppress
from vbas.core.records.columns import Column, column_from_values
from vbas.core.records.fields import RecordFields
from vbas.core.records.matching import check_no_area_copy, match_areas, match_records
from vbas.core.records.table import RecordTable
from vbas.core.release import apply
from vbas.core.site_location.random_sites import random_sites

from ..exploring import tried
from .strategies import column_from_array, regions, tables


def rows_of(columns, counts, n):
    """Rows as plain tuples with their number of records, in Python."""
    rows = zip(*(column.categories[column.codes].tolist() for column in columns))
    weights = np.ones(n, int).tolist() if counts is None else counts.tolist()
    return list(zip(rows, weights))


@pytest.mark.slow
@settings(max_examples=tried(60, 150), deadline=None)
@given(st.data())
def test_every_release_is_k_anonymous_and_complete(data):
    areas = data.draw(regions())
    table = data.draw(tables(areas, counted=data.draw(st.booleans())))
    k = data.draw(st.integers(2, 8))
    codes = match_areas(table, areas, "suppress")
    records = match_records(table, areas, "suppress")
    n_sites = data.draw(st.integers(1, len(areas)))
    result = basic_voronoi(areas, None, random_sites(areas, None, n_sites).sites)
    crosswalk = result.crosswalk
    if data.draw(st.booleans()):
        left_out = crosswalk.region_of.copy()
        left_out[0] = -1
        crosswalk = Crosswalk(left_out, crosswalk.n_regions)
    plan = suppress(records.profile, crosswalk, k)
    released = apply(plan, records)

    shown = [Column(released.region, np.arange(crosswalk.n_regions)), *released.fields.values()]
    written = rows_of(shown, released.counts, len(released.region))
    sizes: Counter[tuple] = Counter()
    classes_of_input: Counter[tuple] = Counter()
    for row, weight in written:
        sizes[row[:3]] += weight
    assert all(size >= k for size in sizes.values())

    # The oracle: count the input in plain Python, drop what is small, and expect the very rest.
    own = rows_of([*table.quasi_identifiers.values(), *table.kept.values()], table.counts, len(table))
    expected: Counter[tuple] = Counter()
    for (row, weight), code in zip(own, codes):
        region = crosswalk.region_of[code] if code >= 0 else -1
        if region >= 0:
            expected[(int(region), *row)] += weight
            classes_of_input[(int(region), *row[:2])] += weight
    expected = Counter({row: n for row, n in expected.items() if n and classes_of_input[row[:3]] >= k})
    got: Counter[tuple] = Counter()
    for row, weight in written:
        got[row] += weight
    assert got == expected

    measures, _ = evaluate(areas, plan, result.sites, records.n_unmatched)
    assert measures.n_records == table.n_records
    assert released.n_records + measures.n_suppressed == table.n_records


def simple_table(order=slice(None), counts=None, sex="FFFFMF"):
    areas = np.array(["a", "a", "b", "b", "c", "c"])[order]
    sex = np.array(list(sex))[order]
    return RecordTable(column_from_array(areas), {"sex": column_from_array(sex)}, {}, counts)


def test_order_of_release_does_not_depend_on_order_of_records():
    areas = make_areas(["a", "b", "c"], [[0, 0], [1, 0], [2, 0]])
    results = []
    for order in (np.arange(6), np.array([5, 0, 4, 3, 1, 2])):
        table = simple_table(order, sex="FMFMMF")
        records = match_records(table, areas)
        results.append(apply(suppress(records.profile, Crosswalk(np.array([0, 0, 1]), 2), 2), records))
    assert len(results[0]) == 4
    for name in ("region",):
        assert (getattr(results[0], name) == getattr(results[1], name)).all()
    assert (results[0].fields["sex"].codes == results[1].fields["sex"].codes).all()


@pytest.mark.parametrize("counted", [False, True])
def test_rows_are_the_same_where_their_combinations_fit_no_number(counted, monkeypatch):
    table = simple_table(counts=np.array([3, 1, 2, 4, 5, 2]) if counted else None)
    areas = make_areas(["a", "b"], [(0, 0), (1000, 0)])
    both = []
    for largest in (2**63 - 1, 1):
        monkeypatch.setattr("vbas.core.records.columns.LARGEST_INT64", largest)
        monkeypatch.setattr("vbas.core.profile.LARGEST_INT64", largest)
        records = match_records(table, areas, "suppress", k=2)
        release = apply(suppress(records.profile, Crosswalk(np.array([0, 0]), 1), k=2), records)
        rows = [(name, column.codes.tolist()) for name, column in release.fields.items()]
        profile = records.profile.counts.toarray().tolist(), records.profile.classes.tolist(), records.cell_of.tolist()
        both.append((rows, release.region.tolist(), release.level.tolist(), release.counts.tolist(), profile))
    assert both[0] == both[1] and both[0][3]


def test_a_release_is_counted_anew():
    """A profile that claims more records than there are lets small classes through: that is noticed."""
    areas = make_areas(["a", "b", "c"], [[0, 0], [1, 0], [2, 0]])
    table = simple_table()
    records = match_records(table, areas)
    wrong = replace(records.profile, counts=records.profile.counts * 10)
    with pytest.raises(PrivacyError, match="a class of fewer than 2 records"):
        apply(suppress(wrong, Crosswalk(np.array([0, 0, 1]), 2), 2), records)


def test_rows_that_stand_for_nobody_are_not_released():
    areas = make_areas(["a", "b", "c"], [[0, 0], [1, 0], [2, 0]])
    table = simple_table(counts=np.array([5, 0, 5, 5, 5, 5]))
    table = replace(table, kept={"colour": column_from_values(list("pqpppp"))})
    records = match_records(table, areas)
    result = apply(suppress(records.profile, Crosswalk(np.array([0, 0, 0]), 1), 4), records)
    colour = result.fields["colour"]
    assert colour.categories[colour.codes].tolist() == ["p", "p"]
    assert result.counts.tolist() == [20, 5]


def test_counted_rows_of_different_areas_are_added_up():
    areas = make_areas(["a", "b", "c"], [[0, 0], [1, 0], [2, 0]])
    table = simple_table(counts=np.array([2, 1, 3, 0, 4, 1]))
    records = match_records(table, areas)
    result = apply(suppress(records.profile, Crosswalk(np.array([0, 0, 0]), 1), 4), records)
    assert result.counts.tolist() == [7, 4]


@pytest.mark.parametrize(
    ("quasi_identifiers", "kept", "words"),
    [
        ([], [], "QUASI_IDENTIFIERS is empty"),
        (["da"], [], "“da” in QUASI_IDENTIFIERS is the identifier"),
        (["sex"], ["da"], "“da” in KEEP_FIELDS is the identifier"),
        (["sex"], ["DAUID"], "“DAUID” in KEEP_FIELDS is the identifier"),
        (["sex"], ["sex"], "KEEP_FIELDS repeats"),
        (["n"], [], "“n” is RECORD_COUNT"),
        (["vbas_region"], [], "a name that the release itself uses"),
    ],
)
def test_fields_that_would_give_the_area_away_are_refused(quasi_identifiers, kept, words):
    with pytest.raises(InputError, match=words):
        RecordFields("da", quasi_identifiers, kept, "n").check("DAUID")


@pytest.mark.parametrize(
    ("quasi_identifiers", "kept", "counted", "words"),
    [
        ([], ["home"], False, "QUASI_IDENTIFIERS is empty"),
        (["sex"], ["sex"], False, "KEEP_FIELDS repeats quasi-identifiers .*“sex”"),
        (["VBAS_region"], [], False, "“VBAS_region” has a name that the release itself uses"),
        (["sex"], ["records"], True, "“records” has a name that the release itself uses"),
        (["sex"], ["records"], False, ""),
    ],
)
def test_the_library_refuses_names_that_a_release_cannot_have(quasi_identifiers, kept, counted, words):
    areas = make_areas(["a", "b"], [[0, 0], [1, 0]])
    home, other = column_from_values(["a", "a", "b", "b"]), column_from_values([1, 2, 1, 2])
    counts = np.ones(4, np.int64) if counted else None
    table = RecordTable(home, dict.fromkeys(quasi_identifiers, other), dict.fromkeys(kept, other), counts)
    if not words:
        assert match_records(table, areas, k=2).table is table
        return
    with pytest.raises(InputError, match=words):
        match_records(table, areas, k=2)


def test_a_copy_of_the_area_under_another_name_is_refused():
    areas = make_areas(["a", "b", "c"], [[0, 0], [1, 0], [2, 0]])
    table = simple_table()
    copied = RecordTable(table.area, table.quasi_identifiers, {"home": table.area})
    codes = match_areas(table, areas, "stop")
    check_no_area_copy(table, areas, codes)
    with pytest.raises(InputError, match="“home” holds the identifier"):
        check_no_area_copy(copied, areas, codes)


def test_a_copy_that_lost_its_leading_zeros_is_refused():
    areas = make_areas(["01", "02", "10"], [[0, 0], [1, 0], [2, 0]])
    home = column_from_values(["01", "02", "10"] * 2)
    table = RecordTable(
        home, {"sex": column_from_values(list("FFFMMM"))}, {"block": column_from_values([1, 2, 10] * 2)}
    )
    with pytest.raises(InputError, match="“block” holds the identifier"):
        match_records(table, areas, k=2)
    twice = make_areas(["01", "1", "10"], [[0, 0], [1, 0], [2, 0]])  # nobody knows which of two areas a 1 is
    assert twice.named_by(np.array(["1", "001", "010", "0", None], object)).tolist() == [1, -1, 2, -1, -1]


@pytest.mark.parametrize("unmatched", ["stop", "suppress"])
def test_areas_that_lost_their_leading_zeros_are_named(unmatched):
    areas = make_areas(["01", "02", "10"], [[0, 0], [1, 0], [2, 0]])
    said = "“1”, “2”: there are such areas but for leading zeros"
    table = RecordTable(column_from_values([1, 2, 10, 10]), {"sex": column_from_values(list("FFMM"))}, {})
    if unmatched == "suppress":
        assert said in match_records(table, areas, k=2, unmatched=unmatched).warnings[-1]
        return
    with pytest.raises(InputError, match=f"2 records have an area in “RECORD_REGION” that is not in .*{said}"):
        match_records(table, areas, k=2)
    with pytest.raises(InputError, match=f"No record's .*{said}"):
        match_records(replace(table, area=column_from_values([1, 2, 1, 2])), areas, k=2)


def test_areas_that_were_read_as_real_numbers_are_named():
    areas = make_areas(["01", "02", "10"], [[0, 0], [1, 0], [2, 0]])
    table = RecordTable(
        column_from_values(["1.0", "2.0", "10.0", "10.0"]), {"sex": column_from_values(list("FFMM"))}, {}
    )
    with pytest.raises(
        InputError, match=r"No record's .*“1\.0”, “10\.0”, “2\.0”: there are such areas but for .* or a “\.0”"
    ):
        match_records(table, areas, k=2)
    block = RecordTable(
        column_from_values(["01", "02", "10"] * 2),
        {"sex": column_from_values(list("FFFMMM"))},
        {"block": column_from_values(["1.0", "2.0", "10.0"] * 2)},
    )
    with pytest.raises(InputError, match="“block” holds the identifier"):
        match_records(block, areas, k=2)


def test_unknown_and_missing_areas_are_counted_and_named():
    areas = make_areas(["a", "b"], [[0, 0], [1, 0]])
    table = RecordTable(column_from_values(["a", "x", None, "x"]), {"sex": column_from_values(list("FFMM"))}, {})
    with pytest.raises(InputError, match=r"3 records .*“x”, \(missing\)\)"):
        match_areas(table, areas, "stop")
    assert match_areas(table, areas, "suppress").tolist() == [0, -1, -1, -1]
