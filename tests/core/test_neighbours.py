"""Neighbours of polygons and points, and the borders they share."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vbas.core.drawing import pieces, voronoi_cells_of
from vbas.core.neighbours import point_neighbours, polygon_neighbours

from ..exploring import tried


def listed(adjacency):
    """{(i, j): border} of all entries, both ways."""
    owners = adjacency.owners.tolist()
    return dict(zip(zip(owners, adjacency.others.tolist()), adjacency.borders.tolist()))


def squares(rows, cols, size=10.0):
    return np.array(
        [shapely.box(x * size, y * size, (x + 1) * size, (y + 1) * size) for y in range(rows) for x in range(cols)]
    )


def test_squares_meet_along_edges_and_not_in_corners():
    links = listed(polygon_neighbours(squares(2, 3)))
    assert links == {
        (a, b): 10.0 for pair in [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)] for a, b in (pair, pair[::-1])
    }


def test_parts_that_touch_are_one_piece_and_others_are_not():
    """Along an edge, in a corner; with a gap, and where only the boxes around them meet."""
    one = shapely.box(0, 0, 1, 1)
    corner = shapely.Polygon([(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)])
    others = [shapely.box(1, 0, 2, 1), shapely.box(1, 1, 2, 2), shapely.box(1.1, 0, 2, 1)]
    shapes = [shapely.MultiPolygon([one, other]) for other in others]
    shapes.append(shapely.MultiPolygon([corner, shapely.box(2, 2, 3, 3)]))
    assert pieces(np.array(shapes, dtype=object)).tolist() == [1, 1, 2, 2]


def test_borders_are_measured_in_the_units_asked_for_and_overlaps_count():
    shapes = np.array([shapely.box(0, 0, 2, 2), shapely.box(2, 1, 4, 2), shapely.box(1, 1.5, 2, 5)])
    links = listed(polygon_neighbours(shapes, lambda s: shapely.transform(s, lambda c: c * 1000)))
    assert links[0, 1] == links[1, 0] == 1000
    assert links[0, 2] == pytest.approx(0.5 * 3000)  # half the outline of what they share, 1 x 0.5


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(3, 40), st.sampled_from([4e4, 400.0, 4.0]))
@example(393153090, 3, 4e4)
@settings(max_examples=tried(20, 60), deadline=None)
def test_points_are_neighbours_where_their_drawn_cells_meet(seed, n, width):
    """Also of points nearly on a line, whose cells have corners far away."""
    rng = np.random.default_rng(seed)
    points = rng.random((n, 2)) * [1e5, width] + [500_000, 5_000_000]
    links = listed(point_neighbours(points))
    cells = voronoi_cells_of(points)
    for i in range(n):
        for j in range(i + 1, n):
            meeting = shapely.intersection(shapely.buffer(cells[i], 1e-3), shapely.buffer(cells[j], 1e-3))
            border = shapely.length(meeting) / 2
            if border > 1.0:
                assert links[i, j] == pytest.approx(border, abs=0.1), (i, j)
            elif links.get((i, j), 0.0) > 1.0:
                pytest.fail(f"{i} and {j} do not meet")


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 4, 12]), st.integers(2, 40))
@settings(max_examples=60, deadline=None)
def test_points_hang_together_even_where_they_coincide_or_stand_in_line(seed, reach, n):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, reach, (n, 2)).astype(float) * [1, rng.integers(0, 2)]
    adjacency = point_neighbours(points)
    assert (adjacency.components() == 0).all()
    links = listed(adjacency)
    assert all(links[j, i] == border and i != j for (i, j), border in links.items())
    assert len(links) == len(adjacency.others)


def test_a_square_grid_of_points_has_no_diagonal_neighbours():
    points = np.array([(x, y) for y in range(4) for x in range(5)], float) * 100
    links = listed(point_neighbours(points))
    assert len(links) == 2 * (4 * 4 + 5 * 3)
    assert links[6, 7] == pytest.approx(100)
