"""RECORD_COUNT that is a survey weight: k by weight may rest on a single respondent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.plan import suppress
from vbas.core.privacy.weights import classes_on_few_rows, counted_rows, warning_of_weights
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable

from .strategies import column_from_array

N_AREAS, K = 40, 5


def survey(weights, seed=0, n=600):
    """600 respondents in 40 areas and 4 regions, each with a weight."""
    rng = np.random.default_rng(seed)
    areas = make_areas([f"a{i}" for i in range(N_AREAS)], rng.random((N_AREAS, 2)))
    quasi = {"age": column_from_array(rng.integers(0, 12, n)), "sex": column_from_array(rng.integers(0, 3, n))}
    area = column_from_array(np.array([f"a{i}" for i in rng.integers(0, N_AREAS, n)]))
    counts = None if weights is None else weights(rng, n)
    records = match_records(RecordTable(area, quasi, {}, counts), areas)
    crosswalk = Crosswalk(np.arange(N_AREAS) // 10, 4)
    return suppress(records.profile, crosswalk, K), records


def counted(most, dense, seed=0):
    """A true table: the records of each area and class, added up."""
    rng = np.random.default_rng(seed)
    areas = make_areas([f"a{i}" for i in range(N_AREAS)], rng.random((N_AREAS, 2)))
    people = 400 if dense else 60
    area = np.repeat(np.arange(N_AREAS), people)
    classes = rng.choice(most, len(area), p=rng.dirichlet(np.full(most, 5.0)))
    keys, counts = np.unique(area * most + classes, return_counts=True)
    table = RecordTable(
        column_from_array(np.array([f"a{i}" for i in keys // most])), {"q": column_from_array(keys % most)}, {}, counts
    )
    records = match_records(table, areas)
    return suppress(records.profile, Crosswalk(np.arange(N_AREAS) // 10, 4), K), records


def test_nearly_every_class_of_weighted_respondents_rests_on_fewer_than_k():
    plan, records = survey(lambda rng, n: rng.integers(20, 400, n))
    few, released = classes_on_few_rows(plan, counted_rows(records))
    by_hand: dict[int, list] = {}
    for row, cell in enumerate(records.cell_of.tolist()):
        equivalence_class = int(plan.equivalence_class_of[cell])
        by_hand.setdefault(equivalence_class, []).append(row)
    by_hand.pop(-1, None)
    assert released == len(by_hand) and few == sum(len(rows) < K for rows in by_hand.values())
    assert few / released > 0.5  # without the warning nobody would know: every class has k records by weight
    assert plan.records[plan.released].min() >= K
    warning = warning_of_weights(plan, counted_rows(records))
    assert f"{few} of {released} released classes rest on fewer than {K} rows" in warning

    # The cure: without RECORD_COUNT, k counts respondents.
    unweighted, rows = survey(None)
    assert (
        unweighted.records[unweighted.released].min() >= K
        and classes_on_few_rows(unweighted, counted_rows(rows))[0] == 0
    )
    assert warning_of_weights(unweighted, counted_rows(rows)) == ""


@pytest.mark.parametrize(("most", "dense"), [(2, True), (4, True), (60, True), (60, False), (200, False)])
def test_true_counts_are_taken_for_what_they_are(most, dense):
    plan, records = counted(most, dense)
    population = records.profile.area_sizes
    assert warning_of_weights(plan, counted_rows(records), population) == ""
    assert "more than the" in warning_of_weights(plan, counted_rows(records), population / 2)


def test_equal_weights_are_seen_and_a_small_table_is_left_alone():
    for n, warned in ((600, True), (12, False)):
        plan, records = survey(lambda _, n: np.full(n, 50), n=n)
        assert ("survey weight" in warning_of_weights(plan, counted_rows(records))) == warned


def test_rows_that_are_counted_together_say_the_same():
    """As an engine counts them: the rows of a cell and a count once, with how many there are."""
    plan, records = survey(lambda rng, n: rng.integers(20, 24, n))
    one_by_one = counted_rows(records)
    pairs, rows = np.unique(np.column_stack([one_by_one.cell, one_by_one.count]), axis=0, return_counts=True)
    together = replace(one_by_one, cell=pairs[:, 0], count=pairs[:, 1], rows=rows)
    assert len(rows) < together.n_rows == one_by_one.n_rows == 600
    assert together.median == one_by_one.median == np.median(records.table.counts)
    assert warning_of_weights(plan, together) == warning_of_weights(plan, one_by_one) != ""


def test_classes_of_nobody_are_no_sign_of_a_survey():
    """Where nobody is of a class, true counts would look as thin as those of a survey, and be refused as one."""
    plan, records = counted(3, dense=True)
    rows = counted_rows(records)
    profile, n_more = rows.profile, 40
    empty = replace(
        profile,
        counts=sparse.hstack([profile.counts, sparse.csr_matrix((N_AREAS, n_more), dtype=np.int64)]).tocsr(),
        classes=np.vstack([profile.classes, np.zeros((n_more, 1), np.int64)]),
    )
    assert warning_of_weights(plan, rows) == warning_of_weights(plan, replace(rows, profile=empty)) == ""


def test_how_many_rows_stand_for_one_record_is_told_to_a_tenth():
    plan, records = survey(lambda rng, n: np.where(np.arange(n) < 11, 1, rng.integers(20, 60, n)))
    told = warning_of_weights(plan, counted_rows(records))
    assert f"1.8 % of its rows stand for one record (the median is {np.median(records.table.counts):.0f})" in told
