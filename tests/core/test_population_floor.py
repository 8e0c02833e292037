"""Population floor: regions in one piece, all at or over the floor, many and compact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.adjacency import adjacency_of_pairs, connected_parts
from vbas.core.aggregation import AggregationOptions
from vbas.core.aggregation.exchanges import exchange, stays_connected
from vbas.core.aggregation.population_floor import bridged, population_floor
from vbas.core.areas import make_areas
from vbas.core.comparison import compare, configurations_of
from vbas.core.configuration import Configuration
from vbas.core.errors import Cancelled, InputError
from vbas.core.neighbours import point_neighbours
from vbas.core.profile import profile_records

from ..exploring import tried
from .strategies import column_from_array
from .strategies import regions as some_regions


def with_floor(areas, floor, progress=lambda fraction: None):
    return population_floor(areas, None, 1, AggregationOptions(floor=floor), progress)


def pieces_of(adjacency, region_of):
    """Number of connected pieces of all regions together."""
    first, second = adjacency.pairs()
    same = region_of[first] == region_of[second]
    return connected_parts(first[same], second[same], len(region_of)).max() + 1


def distance(areas, region_of):
    sizes = np.bincount(region_of)
    centres = np.column_stack([np.bincount(region_of, areas.points[:, axis]) / sizes for axis in (0, 1)])
    return np.hypot(*(areas.points - centres[region_of]).T).sum()


@pytest.mark.slow
@given(st.data())
@settings(max_examples=tried(20, 50), deadline=None)
def test_every_region_is_in_one_piece_and_at_the_floor(data):
    areas = data.draw(some_regions())
    adjacency = point_neighbours(areas.points)
    if data.draw(st.booleans()):  # a map in several parts
        first, second = adjacency.pairs()
        kept = np.random.default_rng(data.draw(st.integers(0, 99))).random(len(first)) < 0.7
        adjacency = adjacency_of_pairs(first[kept], second[kept], np.ones(kept.sum()), len(areas))
    areas = replace(areas, neighbours=adjacency)
    floor = areas.population.sum() / data.draw(st.integers(1, 20))
    result = with_floor(areas, floor)
    region_of = result.crosswalk.region_of
    assert result.crosswalk.totals(areas.population).min() >= floor
    assert set(region_of.tolist()) == set(range(result.crosswalk.n_regions))
    assert pieces_of(bridged(areas, adjacency, floor)[0], region_of) == result.crosswalk.n_regions
    assert np.allclose(result.sites, result.crosswalk.mean_centres(areas.points))
    assert (with_floor(areas, floor).crosswalk.region_of == region_of).all()


def even_grid(side, population=1.0):
    points = np.array([(x, y) for y in range(side) for x in range(side)], float) * 100
    return make_areas([f"46{i:04d}" for i in range(side**2)], points, np.full(side**2, population))


def test_an_even_grid_is_cut_into_nearly_squares():
    result = with_floor(even_grid(16), 4)
    assert result.crosswalk.n_regions == 64
    squares = 256 * 50 * np.sqrt(2)
    assert squares <= distance(even_grid(16), result.crosswalk.region_of) * (1 + 1e-9) <= 1.25 * squares


def test_uneven_areas_give_nearly_as_many_regions_as_there_can_be():
    rng = np.random.default_rng(0)
    areas = make_areas([str(i) for i in range(2000)], rng.random((2000, 2)) * 1e5, rng.integers(400, 701, 2000))
    result = with_floor(areas, 3300)
    assert result.crosswalk.n_regions >= 0.86 * areas.population.sum() / 3300
    assert result.crosswalk.totals(areas.population).min() >= 3300


def test_the_number_of_sites_sets_the_floor_where_none_is_given():
    found = population_floor(even_grid(8), None, 16)
    assert found.crosswalk.n_regions == 16
    assert "a population of at least 4 " in found.notes[0]


def test_a_part_of_the_map_below_the_floor_crosses_the_gap_and_a_larger_one_does_not():
    points = np.array([(0, 0), (1, 0), (2, 0), (10, 0), (11, 0), (30, 0), (31, 0), (33, 0)], float) * 100
    areas = make_areas([str(i) for i in range(8)], points, np.array([5, 5, 5, 1, 1, 5, 5, 5]))
    adjacency = adjacency_of_pairs(np.array([0, 1, 3, 5, 6]), np.array([1, 2, 4, 6, 7]), np.ones(5), 8)
    result = with_floor(replace(areas, neighbours=adjacency), 7)
    region_of = result.crosswalk.region_of
    assert region_of[3] == region_of[4] == region_of[2]
    assert result.crosswalk.n_regions == 3
    assert "1 part of the map" in result.notes[1]
    joined, n_bridges = bridged(areas, adjacency, 7)
    assert n_bridges == 1
    assert joined.others[joined.starts[3] : joined.starts[4]].tolist() == [2, 4]


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_exchanging_shortens_distances_and_keeps_floor_and_pieces(data):
    areas = data.draw(some_regions(least=4, coinciding=False))
    adjacency = point_neighbours(areas.points)
    # Regions as a spanning forest leaves them: in one piece, of any shape.
    first, second = adjacency.pairs()
    chosen = np.random.default_rng(data.draw(st.integers(0, 999))).random(len(first)) < 0.3
    region_of = connected_parts(first[chosen], second[chosen], len(areas))
    floor = np.bincount(region_of, areas.population).min()
    found = exchange(areas, adjacency, region_of, floor)
    assert distance(areas, found) <= distance(areas, region_of)
    assert np.bincount(found, areas.population).min() >= floor
    assert found.max() == region_of.max()
    assert pieces_of(adjacency, found) == region_of.max() + 1


def test_exchanging_brings_back_what_was_swapped():
    areas = even_grid(4)
    squares = np.array([(i // 8) * 2 + (i % 4) // 2 for i in range(16)])
    swapped = squares.copy()
    swapped[[2, 5]] = squares[[5, 2]]
    assert (exchange(areas, point_neighbours(areas.points), swapped, 4) == squares).all()


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_staying_connected_is_what_a_search_of_the_whole_region_says(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 25))
    adjacency = point_neighbours(rng.random((n, 2)))
    first, second = adjacency.pairs()
    chosen = rng.random(len(first)) < 0.5
    labels = connected_parts(first[chosen], second[chosen], n)
    beside = [adjacency.others[a:b].tolist() for a, b in zip(adjacency.starts[:-1], adjacency.starts[1:])]
    area = int(rng.integers(n))
    source = labels[area]
    other = int(rng.choice(beside[area]))
    labels[area] = labels[other]
    for region in (source, labels[other]):
        members = labels == region
        inside = members[first] & members[second]
        whole = len(np.unique(connected_parts(first[inside], second[inside], n)[members])) == 1
        assert stays_connected(labels.tolist(), beside, region, (area,)) == (members.any() and whole)


def test_wrong_floors_and_cancelling():
    with pytest.raises(InputError, match="FLOOR is -1"):
        with_floor(even_grid(4), -1)
    with pytest.raises(InputError, match="FLOOR is 17, but all areas together have 16 people"):
        with_floor(even_grid(4), 17)
    with pytest.raises(InputError, match="FLOOR is 17, but all areas together have 1 person:"):
        with_floor(even_grid(2, 0.25), 17)

    def stop(fraction):
        raise Cancelled("Cancelled.")

    with pytest.raises(Cancelled):
        with_floor(even_grid(4), 4, stop)


def test_it_stands_once_in_a_comparison_whatever_the_locations_and_factors():
    settings_ = Configuration(aggregation_options=AggregationOptions(floor=160))
    found = configurations_of(
        ["entropy"], ["balanced density", "random"], ["population floor", "basic Voronoi"], [1.0, 0.0], settings_
    )
    assert [(one.site_number, one.title) for one in found] == [
        ("entropy", "population floor"),
        ("entropy", "balanced density · basic Voronoi"),
        ("entropy", "random · basic Voronoi"),
    ]
    areas = even_grid(8, 40)
    codes = np.repeat(np.arange(64), 40)
    columns = {"sex": column_from_array(np.random.default_rng(0).integers(0, 2, len(codes)))}
    outcomes = compare(areas, profile_records(codes, columns, 64)[0], found[:1], 5)
    assert outcomes[0].measures is not None and outcomes[0].measures.n_regions == 16
