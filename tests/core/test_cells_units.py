"""Groups within units, and cells of no group that fall back to their unit; oracles are plain recounts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.areas import make_areas
from vbas.core.cells import Minimum, PartitionOptions, partition_cells
from vbas.core.cells.partition import COMPLETES_REST, TAKEN, TOO_FEW, UNIT_TOO_SMALL
from vbas.core.cells.units import fall_back, make_units, measure_units, within_units
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError
from vbas.core.levels import make_levels

from .test_cells_partition import grids, line, squares

OPTIONS = PartitionOptions(restarts=2, regroupings=3)


@settings(max_examples=60, deadline=None)
@given(grids(), st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(2, 60), st.booleans())
def test_each_rest_and_each_unit_reaches_the_minimums(cells, seed, n_units, k, empty_years):
    rng = np.random.default_rng(seed)
    names = [f"u{i}" for i in rng.integers(0, n_units, len(cells))]
    units = make_units(cells, names, "parish")
    minimums = [Minimum((0, 1, 2), k)]
    divided = within_units(cells, units)
    options = PartitionOptions(restarts=1, regroupings=2, empty_years=empty_years)
    try:
        partition = partition_cells(divided, minimums, "compact growth", options)
    except InputError:
        return
    for group in range(partition.crosswalk.n_regions):
        members = np.flatnonzero(partition.crosswalk.region_of == group)
        assert len({names[cell] for cell in members.tolist()}) == 1
    fallen = fall_back(divided, minimums, partition, units, 0.99, empty_years)
    fine, coarse = fallen.levels.crosswalks
    areas = make_areas(cells.identifiers.tolist(), cells.boxes[:, :2])
    make_levels(areas, [fine, coarse], keep_all=True)  # nested, and leave out the same
    for level in (fine, coarse):
        for region in range(level.n_regions):
            people = cells.population[level.region_of == region].sum(axis=0)
            assert len(people) and all(n >= k or (empty_years and n == 0) for n in people.tolist())
    # What is left of a unit without its groups is its rest: nobody can subtract down to fewer.
    for unit in range(len(units)):
        inside = units.unit_of == unit
        grouped = inside & (fallen.partition.crosswalk.region_of >= 0)
        rest = inside & (fine.region_of >= fallen.partition.crosswalk.n_regions)
        assert (inside & (fine.region_of >= 0) == grouped | rest).all()
        left = cells.population[inside & ~grouped].sum(axis=0)
        if not rest.any() and left.any():
            # Such a rest is on neither level. Where years may be empty, no group of the unit could complete it.
            everybody = cells.population[inside].sum(axis=0)
            assert (everybody[everybody > 0] < k).any() if empty_years else not grouped.any()
            if not grouped.any():
                assert (fallen.partition.reason[inside] == UNIT_TOO_SMALL).all()
    assert fallen.n_cells == int((fine.region_of >= fallen.partition.crosswalk.n_regions).sum())
    assert ((fallen.partition.reason == TAKEN) == (fallen.partition.crosswalk.region_of >= 0)).all()


def test_the_group_with_the_fewest_people_completes_a_rest():
    # Two towns and a hamlet of 20 in one unit; a village of 30 in another.
    cells = squares([(0, 0), (5, 0), (9, 0), (20, 0)], [150, 110, 20, 30])
    units = make_units(cells, ["a", "a", "a", "b"], "parish")
    minimums = [Minimum((0,), 100)]
    partition = partition_cells(within_units(cells, units), minimums, "compact growth", OPTIONS)
    assert partition.crosswalk.n_regions == 2
    fallen = fall_back(cells, minimums, partition, units, 0.99, False)
    assert fallen.n_completing == 1 and fallen.n_cells == 2
    assert [one.region_of.tolist() for one in fallen.levels.crosswalks] == [[0, 1, 1, -1], [0, 0, 0, -1]]
    assert fallen.partition.reason.tolist()[1] == COMPLETES_REST
    assert fallen.partition.reason.tolist()[3] == UNIT_TOO_SMALL
    assert fallen.rest_of.tolist() == [0]
    assert fallen.partition.measures.non_pop == pytest.approx(160 / 310)


def test_a_newcomer_whom_no_group_completes_costs_no_group():
    """Three inhabited squares and a far one with one person in a year in which nobody else is there."""
    cells = squares([(0, 0), (1, 0), (2, 0), (4, 0)], [(100, 0), (100, 0), (100, 0), (0, 1)])
    units = make_units(cells, ["A"] * 4, "parish")
    minimums = [Minimum((0, 1), 100)]
    partition = partition_cells(cells, minimums, "random growth", PartitionOptions(empty_years=True))
    fallen = fall_back(cells, minimums, partition, units, 0.99, True)
    fine, coarse = fallen.levels.crosswalks
    assert fine.region_of.tolist() == [0, 1, 2, -1]
    assert coarse.region_of.tolist() == [0, 0, 0, -1]
    assert fallen.partition.reason[3] == TOO_FEW
    assert fallen.n_completing == fallen.n_cells == 0


def test_a_border_between_units_divides_groups():
    cells = line(60, 60, 60, 60)
    whole = partition_cells(cells, [Minimum((0,), 100)], options=OPTIONS)
    assert whole.measures.n_groups == 2
    units = make_units(cells, ["a", "b", "b", "b"], "municipality")
    divided = partition_cells(within_units(cells, units), [Minimum((0,), 100)], options=OPTIONS)
    assert divided.crosswalk.region_of.tolist() == [-1, 0, 0, 0]


def test_each_unit_keeps_the_best_of_its_runs():
    """More restarts never make a connected unit worse by the loss it has on its own."""
    rng = np.random.default_rng(4)
    cells = squares([(x, y) for x in range(12) for y in range(8)], rng.integers(0, 50, 96))
    units = make_units(cells, [str(x // 4) for x in range(12) for _ in range(8)], "municipality")
    minimums = [Minimum((0,), 100)]

    def losses(restarts):
        options = PartitionOptions(restarts=restarts, beta=0.9)
        partition = partition_cells(within_units(cells, units), minimums, "random growth", options)
        measured = measure_units(cells, minimums, partition.crosswalk, units)
        return -0.9 * measured.left_out - 0.1 * measured.distance

    runs = [losses(restarts) for restarts in (1, 3, 8)]
    assert (runs[1] >= runs[0] - 1e-12).all() and (runs[2] >= runs[1] - 1e-12).all()
    assert (runs[2] > runs[0]).any()


def test_the_measures_of_a_unit():
    cells = line(60, 60, 30, 100)
    units = make_units(cells, ["a", "a", "a", "b"], "parish")
    measured = measure_units(cells, [Minimum((0,), 100)], Crosswalk(np.array([0, 0, -1, 1]), 2), units)
    assert measured.cells.tolist() == [3, 1]
    assert measured.groups.tolist() == [1, 1]
    assert measured.left_out.tolist() == pytest.approx([0.2, 0])
    assert measured.distance.tolist() == pytest.approx([np.hypot(2, 1), np.hypot(1, 1)])


def test_a_cell_without_a_unit_is_refused():
    with pytest.raises(InputError, match="“parish” is empty in 1 cell"):
        make_units(line(1, 2), ["a", None], "parish")
