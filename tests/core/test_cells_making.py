"""Cells from shapes and points, neighbours, packed populations, chunks, descriptions."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.cells import Minimum, PartitionOptions, make_cells, partition_cells
from vbas.core.cells.cells import cells_of_points, cells_of_polygons, grid_borders, grid_size
from vbas.core.cells.measures import PackedMinimums, describe_groups
from vbas.core.cells.partition import BRANCHES_OUT, connected_areas, cut_into_chunks, large_areas, leave_out_branching
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError, VbasError
from vbas.core.report.partition import median_person


def box(x, y, size=250.0, across=1, up=1):
    return shapely.box(x, y, x + across * size, y + up * size)


def pairs(cells):
    return set(zip(*map(np.ndarray.tolist, cells.adjacency.pairs())))


def field_of(side, people, size=100.0):
    positions = np.array([(x, y) for x in range(side) for y in range(side)])
    people = np.asarray(people, float).reshape(side * side, -1)
    boxes = size * np.hstack([positions, positions + 1])
    fields = [f"y{i}" for i in range(people.shape[1])]
    return make_cells(range(side * side), boxes, people, fields, grid_borders(positions, False), size)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["edge", "edge or corner"]))
def test_squares_as_polygons_points_and_areas_are_the_same_cells(seed, neighbours):
    rng = np.random.default_rng(seed)
    there = np.flatnonzero(rng.random(36) < 0.6)
    if len(there) < 2:
        there = np.array([0, 1])
    low = 250.0 * np.column_stack([there // 6, there % 6]) + (598_000, 6_643_250)
    shapes = np.array([box(x, y) for x, y in low])
    population = rng.integers(0, 9, (len(there), 2)).astype(float)
    names = [f"c{i}" for i in there]
    polygons = cells_of_polygons(names, shapes, shapes, population, ["a", "b"], neighbours)
    centres, drawn = cells_of_points(names, low + 125, 250, "centre", population, ["a", "b"], neighbours)
    corners, also = cells_of_points(names, low, 250, "lower left corner", population, ["a", "b"], neighbours)
    # One triangle makes the layer one of areas of any shape, far from the others.
    more = np.append(shapes, shapely.Polygon([(0, 0), (250, 0), (0, 250)]))
    areas = cells_of_polygons([*names, "x"], more, more, np.vstack([population, [[1, 1]]]), ["a", "b"], neighbours)
    plain = {
        (i, j)
        for i in range(len(shapes))
        for j in range(i + 1, len(shapes))
        if (shapes[i].intersection(shapes[j]).length > 0 if neighbours == "edge" else shapes[i].intersects(shapes[j]))
    }
    assert pairs(polygons) == pairs(centres) == pairs(corners) == pairs(areas) == plain
    for cells in (polygons, centres, corners):
        assert cells.cell_size == 250
        assert np.allclose(cells.boxes[:, 2:] - cells.boxes[:, :2], 1)
        assert np.allclose(cells.boxes[:, :2] - cells.boxes[:, :2].min(axis=0), (low - low.min(axis=0)) / 250)
    for polygon, one, other in zip(shapes, drawn, also):
        assert polygon.equals(one) and polygon.equals(other)


def test_what_is_a_grid_of_squares():
    assert grid_size(np.array([box(0, 0), box(500, 250)])) == 250
    assert grid_size(np.array([box(0, 0), box(100, 250)])) is None  # off the grid
    assert grid_size(np.array([box(0, 0), box(250, 0, across=2)])) is None
    assert grid_size(np.array([box(0, 0), shapely.Polygon([(250, 0), (500, 0), (250, 250)])])) is None


def test_areas_of_any_shape_are_measured_by_their_typical_side():
    shapes = np.array([box(0, 0, 100, 2, 2), box(200, 0, 100, 2, 2), box(0, 200, 100, 4, 1)])
    cells = cells_of_polygons("abc", shapes, shapes, np.ones((3, 1)), ["y"], "edge")
    assert cells.cell_size == 200
    assert pairs(cells) == {(0, 1), (0, 2), (1, 2)}
    assert cells.boxes[2].tolist() == [0, 1, 2, 1.5]


def test_points_that_are_no_grid_are_refused():
    ones = np.ones((3, 1))
    points = np.array([(0, 0), (250, 0), (380, 250)])
    with pytest.raises(InputError, match="1 point of CELLS is not on a grid of 250 metres"):
        cells_of_points("abc", points, 250, "centre", ones, ["y"], "edge")
    with pytest.raises(InputError, match=r"shares? a square"):
        cells_of_points("abc", np.array([(0, 0), (250, 0), (255, 0)]), 250, "centre", ones, ["y"], "edge")
    with pytest.raises(InputError, match="CELL_SIZE"):
        cells_of_points("abc", points, 0, "centre", ones, ["y"], "edge")


@pytest.mark.parametrize(
    ("identifiers", "people", "said"),
    [
        (["a", "a"], [1, 1], "not unique"),
        (["a", None], [1, 1], "missing in 1 cell"),
        (["a", "b"], [1, np.nan], "“y” is missing in 1 cell"),
        (["a", "b"], [1, -2], "“y” is negative in 1 cell"),
        (["a", "b"], [1, 1e300], "more people than there are"),
    ],
)
def test_cells_that_cannot_be_used_are_refused(identifiers, people, said):
    boxes = np.array([(0, 0, 1, 1), (1, 0, 2, 1)])
    with pytest.raises(InputError, match=said):
        make_cells(identifiers, boxes, np.array(people, float)[:, None], ["y"], np.array([(0, 1)]), 1.0)


def test_fractions_are_rounded_down_to_parts_whose_sums_are_exact():
    boxes = np.array([(i, 0, i + 1, 1) for i in range(3)])
    cells = make_cells("abc", boxes, np.array([[33.34], [33.33], [33.33]]), ["y"], np.array([(0, 1), (1, 2)]), 1.0)
    assert (cells.population[:, 0] <= [33.34, 33.33, 33.33]).all()
    assert (cells.population * 1024 == np.floor(cells.population * 1024)).all()
    # 33.34 + 33.33 + 33.33 is 100 on paper; rounded down it is short, and short is not enough.
    with pytest.raises(InputError, match="No connected set"):
        partition_cells(cells, [Minimum((0,), 100)])
    assert partition_cells(cells, [Minimum((0,), 99.9)]).measures.n_groups == 1


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_packed_minimums_are_column_by_column_arithmetic(seed, empty_years):
    rng = np.random.default_rng(seed)
    people = rng.integers(0, rng.choice([2, 10, 1_000_000_000]), (6, 5)) * rng.integers(0, 2, (6, 1))
    people[0, 0] += 1
    boxes = np.array([(i, 0, i + 1, 1) for i in range(6)])
    cells = make_cells(range(6), boxes, people.astype(float), list("abcde"), np.empty((0, 2)), 1.0)
    minimums = [Minimum((0, 1, 2), int(rng.integers(1, 30))), Minimum((4,), float(rng.integers(1, 9)) / 2)]
    packed_minimums = PackedMinimums(minimums, empty_years)
    packed = packed_minimums.pack(cells)
    chosen = rng.random(6) < 0.5
    total = sum(one for one, there in zip(packed, chosen) if there)
    sums = people[chosen].sum(axis=0)
    short = [(sums[c], m.k) for m in minimums for c in m.columns if sums[c] < m.k]
    used = sums[[0, 1, 2, 4]]
    if empty_years:
        assert packed_minimums.enough(total) == (all(people == 0 for people, _ in short) and bool(used.any()))
    else:
        assert packed_minimums.enough(total) == (not short)


@pytest.mark.slow
def test_chunks_are_connected_and_hold_their_minimum():
    pytest.importorskip("networkx")
    rng = np.random.default_rng(2)
    cells = field_of(30, rng.poisson(10, 900))
    minimums = [Minimum((0,), 100)]
    packed_minimums = PackedMinimums(minimums)
    packed = packed_minimums.pack(cells)
    whole = connected_areas(cells, packed, packed_minimums)
    chunks = cut_into_chunks(cells, whole, np.array([0]), packed, packed_minimums, seed=0)
    assert chunks.min() == 0 and chunks.max() > 2
    assert np.bincount(chunks, cells.population[:, 0]).min() >= 100
    assert (cut_into_chunks(cells, whole, np.array([], int), packed, packed_minimums, seed=0) == whole).all()
    # Communities of too few people join others.
    many = PackedMinimums([Minimum((0,), 1500)])
    larger = cut_into_chunks(cells, whole, np.array([0]), packed, many, seed=0)
    assert np.bincount(larger, cells.population[:, 0]).min() >= 1500
    assert larger.min() == 0 and 1 < larger.max() + 1 < chunks.max() + 1
    options = PartitionOptions(restarts=2, chunk_cells=200)
    done = partition_cells(cells, minimums, "random growth", options)
    assert done.n_areas == chunks.max() + 1
    for group in range(done.crosswalk.n_regions):
        assert len(set(chunks[done.crosswalk.region_of == group])) == 1


def test_a_missing_library_is_named_where_it_is_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    cells = field_of(10, np.full(100, 50))
    with pytest.raises(VbasError, match="networkx"):
        partition_cells(cells, [Minimum((0,), 100)], "random growth", PartitionOptions(chunk_cells=50))
    # No area is that large: it is not needed.
    partition_cells(cells, [Minimum((0,), 100)], "random growth", PartitionOptions(chunk_cells=100, restarts=1))


def test_groups_are_described_as_by_hand():
    shapes = np.array([box(0, 0), box(250, 0), box(250, 250), box(1000, 0)])
    people = np.array([[10, 20, 1], [30, 40, 2], [50, 0, 3], [7, 8, 9]], float)
    cells = cells_of_polygons("abcd", shapes, shapes, people, ["p1", "p2", "h"], "edge")
    found = describe_groups(
        cells, [Minimum((0, 1), 1), Minimum((2,), 1)], Crosswalk(np.array([0, 0, 0, -1]), 1), shapes
    )
    assert found.cells.tolist() == [3]
    assert found.population.tolist() == [[90, 60, 6]]
    assert found.least.tolist() == [[60, 6]]
    assert found.area_km2[0] == pytest.approx(3 * 0.0625)
    assert found.people.tolist() == [75]
    assert found.density[0] == pytest.approx(75 / (3 * 0.0625))
    hull = 250**2 * 3.5
    assert found.area_hull[0] == pytest.approx(3 / 3.5)
    assert found.sqrt_hull[0] == pytest.approx(np.sqrt(hull))
    assert found.diagonal[0] == pytest.approx(np.hypot(2, 2))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 100.0, 250.0, 260.0, 600.0]), st.booleans())
def test_neighbours_within_a_distance(seed, distance, irregular):
    rng = np.random.default_rng(seed)
    there = np.flatnonzero(rng.random(36) < 0.3)
    if len(there) < 2:
        there = np.array([0, 2])
    low = 250.0 * np.column_stack([there // 6, there % 6]) + (598_000, 6_643_250)
    shapes = np.array([box(x, y) for x, y in low])
    if irregular:
        shapes = np.append(shapes, shapely.Polygon([(598_100, 6_643_000), (598_900, 6_643_000), (598_000, 6_643_240)]))
    ones = np.ones((len(shapes), 1))
    cells = cells_of_polygons(range(len(shapes)), shapes, shapes, ones, ["y"], "within a distance", distance=distance)
    plain = {
        (i, j)
        for i in range(len(shapes))
        for j in range(i + 1, len(shapes))
        if shapes[i].distance(shapes[j]) <= distance + 1e-3
    }
    assert pairs(cells) == plain
    assert cells.surface == pytest.approx(shapely.area(shapes))
    if not irregular:
        points, _ = cells_of_points(
            range(len(shapes)), low + 125, 250, "centre", ones, ["y"], "within a distance", distance
        )
        assert pairs(points) == plain and points.surface == pytest.approx(250.0**2)


def test_areas_to_cut_by_cells_or_by_surface():
    people = np.ones((4, 4))
    shapes = np.array([box(250 * x, 250 * y) for x in range(4) for y in range(4)])
    cells = cells_of_polygons(range(16), shapes, shapes, people.reshape(16, 1), ["y"], "edge")
    area_of = np.array([0] * 10 + [1] * 5 + [-1])
    assert large_areas(cells, area_of, PartitionOptions(chunk_cells=7)).tolist() == [0]
    assert large_areas(cells, area_of, PartitionOptions(chunk_km2=0.625)).tolist() == []
    assert large_areas(cells, area_of, PartitionOptions(chunk_km2=0.3)).tolist() == [0, 1]
    assert large_areas(cells, area_of, PartitionOptions(chunk_cells=7, chunk_km2=0.3)).tolist() == [0, 1]
    with pytest.raises(InputError, match="surface of the cells is not known"):
        large_areas(field_of(4, people), area_of, PartitionOptions(chunk_km2=1.0))


def test_groups_that_branch_out_are_left_out():
    # A bar of three cells, which fills its hull, and an L of three, which fills three quarters.
    positions = [(0, 0), (1, 0), (2, 0), (5, 0), (6, 0), (5, 1)]
    shapes = np.array([box(250 * x, 250 * y) for x, y in positions])
    cells = cells_of_polygons(range(6), shapes, shapes, np.full((6, 1), 40.0), ["y"], "edge")
    minimums = [Minimum((0,), 100)]
    partition = partition_cells(cells, minimums)
    share = describe_groups(cells, minimums, partition.crosswalk, shapes).area_hull
    assert share.tolist() == pytest.approx([1.0, 3 / 3.5])
    left = leave_out_branching(cells, minimums, partition, share, 0.9, 0.99)
    assert left.crosswalk.region_of.tolist() == [0, 0, 0, -1, -1, -1]
    assert left.reason.tolist() == [0, 0, 0, *[BRANCHES_OUT] * 3]
    assert left.measures.non_pop == pytest.approx(0.5)
    assert leave_out_branching(cells, minimums, partition, share, 0.8, 0.99).crosswalk.n_regions == 2
    with pytest.raises(InputError, match="lower LEAST_HULL_SHARE"):
        leave_out_branching(cells, minimums, partition, share * 0.5, 0.9, 0.99)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=8))
def test_the_person_in_the_middle(groups):
    values, people = np.array(groups, float).T
    if not people.sum():
        return
    everyone = sorted(value for value, n in groups for _ in range(n))
    assert median_person(values, people) == everyone[(len(everyone) - 1) // 2]
