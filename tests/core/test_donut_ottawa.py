"""The paper's finding on real areas: the households of Ottawa in dissemination areas."""

from __future__ import annotations

import pytest

from vbas.benchmarks import ottawa_data
from vbas.benchmarks.donut_table import masker
from vbas.core.masking.audit import audit


@pytest.fixture(scope="module")
def grid(real_data):
    if not ottawa_data.available():
        pytest.skip(f"the files of Ottawa are not in {real_data}")
    return audit(masker(), [5, 15, 30, 75], [5, 10, 25])[0]


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
