"""The paper's finding on real areas: pseudo-households of Ottawa in dissemination areas, counted alike and weighted."""

from __future__ import annotations

from importlib import import_module

import pytest

from vbas.core.masking.audit import audit, donuts

from ..exploring import EXPLORES, tried

pytest.importorskip("osgeo", reason="GDAL is not there")
# Of weighted persons; the last takes as long as all others.
K_INNER = tried([5, 75, 125, 375], [5, 75, 125, 375, 1875])
pytestmark = pytest.mark.slow  # whichever comes first counts all of Ottawa
ottawa_data, donut_table = (import_module(f"vbas.benchmarks.{name}") for name in ("ottawa_data", "donut_table"))


@pytest.fixture(scope="module")
def grid(real_data):
    if not ottawa_data.available():
        pytest.skip(f"the files of Ottawa are not in {real_data}")
    return audit(donut_table.masker(), donuts([5, 15, 30, 75]), [5, 10, 25])[0]


@pytest.fixture(scope="module")
def weighted(real_data):
    if not ottawa_data.available():
        pytest.skip(f"the files of Ottawa are not in {real_data}")
    return audit(donut_table.masker(weighted=True), donuts(K_INNER), [5, 25, 125, 625])[0]


def test_with_k_inner_as_large_as_k_min_several_per_cent_fall_short(grid):
    assert 2 < grid.percent_below[0, 0] < 6


def test_tripled_less_than_one_per_cent_falls_short(grid):
    assert grid.percent_below[1, 0] < 1
    assert grid.percent_below[2, 1] < 1
    assert grid.percent_below[3, 2] < 1


def test_most_households_find_a_place_in_their_own_area(grid):
    assert grid.percent_not_masked[0] < 0.1
    assert grid.percent_not_masked[1] < 1
    assert grid.reasons.sum(axis=1).tolist() == [38461] * 4


def test_weighted_persons_hide_behind_those_of_their_own_point(weighted):
    # A point stands for 27 persons on average, who count: K_MIN below that says little about the neighbours.
    assert weighted.percent_below[0, 0] < 0.1
    assert weighted.percent_below[1, 1] < 1


def test_weighted_tripling_keeps_failures_below_one_per_cent_in_persons_too(weighted):
    assert weighted.percent_below[2, 2] > 2
    assert weighted.percent_below[3, 2] < 1
    if EXPLORES:
        assert weighted.percent_below[4, 3] < 1


def test_weighted_everybody_counts_once_and_empty_points_for_nobody(weighted):
    assert weighted.reasons.sum(axis=1) == pytest.approx([1_017_449] * len(K_INNER), abs=1)
    assert weighted.households.sum() <= weighted.reasons[0].sum() + 1
    assert weighted.percent_not_masked[0] < 0.1
