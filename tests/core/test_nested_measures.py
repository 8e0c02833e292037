"""Nested releases from rows to rows: rated, flattened and recounted in plain Python."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError, PrivacyError
from vbas.core.evaluation import evaluate, evaluate_by_value, mean_distances
from vbas.core.levels import Levels
from vbas.core.nesting.flattening import flatten
from vbas.core.nesting.planning import nest
from vbas.core.nesting.recount import check_where_released
from vbas.core.plan import suppress
from vbas.core.records.matching import SUPPRESS, match_records
from vbas.core.release import apply

from ..exploring import tried
from .nested_cases import profile_of, random_levels, row_by_row
from .strategies import regions, tables


@st.composite
def releases(draw):
    """Areas, records, levels, the plan and what it releases."""
    areas = draw(regions(most=20))
    table = draw(tables(areas, counted=draw(st.booleans())))
    k = draw(st.integers(2, 6))
    assume(table.n_records >= k)
    records = match_records(table, areas, SUPPRESS, k)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    levels = random_levels(areas, rng, draw(st.integers(1, 4)), left_out=True)
    plan = nest(areas, records.profile, levels, k)
    try:
        return areas, records, levels, plan, apply(plan, records)
    except InputError:  # a further field that gives the area away, as few rows by chance do
        reject()


def rows_of(release):
    """(level, region, values of the quasi-identifiers, records) of each row."""
    columns = [release.fields[name] for name in ("sex", "age")]
    values = [column.categories[column.codes].tolist() for column in columns]
    return list(zip(release.level.tolist(), release.region.tolist(), zip(*values), release.counts.tolist()))


@pytest.mark.slow
@settings(max_examples=tried(50, 150), deadline=None)
@given(releases())
def test_the_rows_are_k_anonymous_by_level_region_and_quasi_identifiers(case):
    areas, records, _levels, plan, release = case
    classes: Counter[tuple] = Counter()
    for level, region, values, count in rows_of(release):
        classes[level, region, values] += count
    assert all(size >= plan.k for size in classes.values())
    measures, _ = evaluate(areas, plan, n_unmatched=records.n_unmatched)
    assert sum(classes.values()) == measures.n_records - measures.n_suppressed == release.n_records
    assert measures.n_records == records.table.n_records
    assert measures.discernibility == sum(size**2 for size in classes.values())


@pytest.mark.slow
@settings(max_examples=tried(60, 150), deadline=None)
@given(releases())
def test_measures_equal_a_plain_recount(case):
    areas, records, levels, plan, release = case
    measures, audit = evaluate(areas, plan, n_unmatched=records.n_unmatched)
    counts = records.profile.counts.tocoo()
    level_of = {(a, c): level for a, c, level in zip(counts.row.tolist(), counts.col.tolist(), plan.level_of.tolist())}
    cells = list(zip(counts.row.tolist(), counts.col.tolist(), counts.data.tolist()))
    sizes = records.profile.area_sizes
    metres = [mean_distances(areas, crosswalk) for crosswalk in levels.crosswalks]
    distance = entropy = compactness = 0.0
    for area, one, number in cells:
        level = level_of[area, one]
        if level >= 0:
            region_of = levels.crosswalks[level].region_of
            region = region_of[area]
            distance += number * metres[level][region]
            entropy += number * np.log2(sizes[region_of == region].sum() / sizes[area])
            centre = areas.points[region_of == region].mean(axis=0)
            released = sum(m for a, c, m in cells if a == area and level_of[a, c] >= 0)
            compactness += np.linalg.norm(areas.points[area] - centre) * number / released
    assert measures.mean_distance == pytest.approx(distance / max(release.n_records, 1))
    assert measures.non_uniform_entropy == pytest.approx(entropy)
    assert measures.compactness == pytest.approx(compactness)
    for row in range(len(audit.level)):
        level, region = int(audit.level[row]), int(audit.region[row])
        inside = [(level_of[a, c], m) for a, c, m in cells if levels.crosswalks[level].region_of[a] == region]
        assert audit.records[row] == sum(m for _, m in inside)
        assert audit.released[row] == sum(m for shown, m in inside if shown == level)
        assert audit.finer[row] == sum(m for shown, m in inside if 0 <= shown < level)
        assert audit.coarser[row] == sum(m for shown, m in inside if shown > level)
        assert audit.suppressed[row] == sum(m for shown, m in inside if shown < 0)
        equivalence_classes = [
            n for lv, r, n in zip(plan.level, plan.region, plan.records) if (lv, r) == (level, region)
        ]
        assert (audit.classes[row], audit.smallest[row]) == (
            len(equivalence_classes),
            min(equivalence_classes, default=0),
        )


@pytest.mark.slow
@settings(max_examples=tried(40, 100), deadline=None)
@given(releases())
def test_who_loses_is_counted_by_value_in_nested_and_single_releases(case):
    areas, records, levels, nested, _ = case
    for plan in (nested, suppress(records.profile, levels.crosswalks[0], nested.k)):
        release = apply(plan, records)
        by_value = evaluate_by_value(areas, plan)
        metres = [mean_distances(areas, crosswalk) for crosswalk in plan.levels.crosswalks]
        released: Counter[tuple] = Counter()
        distance: Counter[tuple] = Counter()
        for level, region, values, count in rows_of(release):
            for name, value in zip(("sex", "age"), values):
                released[name, value] += count
                distance[name, value] += count * metres[level][region]
        for i, key in enumerate(zip(by_value.quasi_identifiers, by_value.values)):
            assert by_value.records[i] - by_value.suppressed[i] == released[key]
            if released[key]:
                assert by_value.mean_distance[i] == pytest.approx(distance[key] / released[key])
            else:
                assert np.isnan(by_value.mean_distance[i])
        assert by_value.records.sum() == 2 * records.profile.n_records


@pytest.mark.slow
@settings(max_examples=tried(35, 100), deadline=None)
@given(releases(), st.integers(0, 3))
def test_flattened_rows_lie_in_the_region_that_holds_theirs_and_stay_k_anonymous(case, target):
    _areas, _, levels, plan, release = case
    target = min(target, len(levels) - 1)
    region = flatten(levels, release.level, release.region, target)
    classes: Counter[tuple] = Counter()
    for (level, own, values, count), found in zip(rows_of(release), region.tolist()):
        if level > target:
            assert found == -1
            continue
        inside = levels.crosswalks[level].region_of == own
        assert set(levels.crosswalks[target].region_of[inside].tolist()) == {found}
        classes[found, values] += count
    assert all(size >= plan.k for size in classes.values())


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(releases())
def test_the_recount_passes_what_the_records_give(case):
    _, records, levels, _, release = case
    check_where_released(release, records.profile, levels)


@pytest.mark.slow
@settings(max_examples=tried(60, 150), deadline=None)
@given(releases(), st.integers(0, 2**32 - 1))
def test_the_recount_refuses_rows_moved_to_where_nobody_of_their_class_lives(case, seed):
    _, records, levels, _, release = case
    rng = np.random.default_rng(seed)
    assume(len(release))
    release = row_by_row(release)
    row = int(rng.integers(len(release.region)))
    crosswalk = levels.crosswalks[release.level[row]]
    codes = [release.fields[name].codes[row] for name in ("sex", "age")]
    one = int(np.flatnonzero((records.profile.classes == codes).all(axis=1))[0])
    lives = crosswalk.totals(np.asarray(records.profile.counts[:, one].todense()).ravel())
    elsewhere = np.flatnonzero(lives == 0)
    assume(len(elsewhere))
    region = release.region.copy()
    region[row] = elsewhere[0]
    with pytest.raises(PrivacyError):
        check_where_released(replace(release, region=region), records.profile, levels)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(releases())
def test_one_level_of_a_crosswalk_is_the_release_of_one_level(case):
    areas, records, levels, nested, _ = case
    crosswalk: Crosswalk = levels.crosswalks[0]
    single = suppress(records.profile, crosswalk, nested.k)
    plan = nest(areas, records.profile, Levels((crosswalk,)), nested.k)
    assert np.array_equal(single.equivalence_class_of < 0, plan.equivalence_class_of < 0)
    one, other = apply(single, records), apply(plan, records)
    assert rows_of(one) == rows_of(other)
    sites = crosswalk.mean_centres(areas.points)
    expected, _ = evaluate(areas, single, sites, records.n_unmatched)
    found, _ = evaluate(areas, plan, n_unmatched=records.n_unmatched)
    assert found.mean_distance == pytest.approx(expected.mean_distance)
    assert (found.n_suppressed, found.discernibility) == (expected.n_suppressed, expected.discernibility)


def test_the_audit_names_the_smallest_class_of_each_region():
    """Whoever approves of a release reads there how near to k it comes."""
    areas = make_areas(list("abcd"), np.arange(8.0).reshape(4, 2))
    levels = Levels((Crosswalk(np.array([0, 0, 1, 1]), 2), Crosswalk(np.zeros(4, np.int64), 1)))
    plan = nest(areas, profile_of(np.array([[4, 9, 0], [3, 0, 2], [5, 0, 2], [1, 0, 2]])), levels, 5)
    _, audit = evaluate(areas, plan)
    assert audit.classes.tolist() == [2, 1, 1] and audit.smallest.tolist() == [7, 6, 6]
