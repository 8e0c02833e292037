"""Voronoi cells: what lies in them is nearest to their point, and they cover the ground once, drawn either way."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core import voronoi
from vbas.core.drawing import buffered_hull
from vbas.core.voronoi import voronoi_cells


def grids(turn, uneven):
    """36 points at the crossings of lines that are turned: every four of neighbours are as good as on one circle."""
    x = np.array([-3, -1.93, -0.98, 0.09, 1.07, 2.11]) if uneven else np.arange(6.0)
    points = np.column_stack([one.ravel() for one in np.meshgrid(x, x + 0.1)])
    return points @ np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]) * 20_000


def check(points, cells, clip):
    assert shapely.is_valid(cells).all()
    assert shapely.area(cells).sum() == pytest.approx(clip.area, rel=1e-6)
    assert (shapely.distance(cells, shapely.points(points)) <= 1e-6 * np.ptp(points)).all()
    inside = shapely.get_coordinates(shapely.point_on_surface(cells))
    own = np.linalg.norm(inside - points, axis=1)
    nearest = np.linalg.norm(inside[:, None] - points, axis=2).min(axis=1)
    np.testing.assert_allclose(own, nearest, atol=1e-6 * np.ptp(points))


@pytest.mark.parametrize("qhull", [False, True])
@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("turn", [0.0, 0.2, 0.5, 1e-9])
@pytest.mark.parametrize("shift", [0.0, 7_000_000.0])
def test_points_of_which_many_lie_on_one_circle(monkeypatch, turn, uneven, qhull, shift):
    if qhull:
        monkeypatch.setattr(voronoi, "LARGEST_OVERLAP", -1.0)
    points = grids(turn, uneven) + shift
    clip = buffered_hull(points)
    check(points, voronoi_cells(points, clip), clip)


@pytest.mark.slow
@given(st.integers(2, 60), st.integers(0, 2**32 - 1), st.sampled_from([0, 3, 1_000_000]))
@settings(deadline=None)
def test_both_ways_draw_the_same(n, seed, whole):
    rng = np.random.default_rng(seed)
    points = np.unique(rng.integers(0, whole, (n, 2)) if whole else rng.normal(0, 1, (n, 2)), axis=0).astype(float)
    if len(points) < 2:
        return
    clip = buffered_hull(points)
    with pytest.MonkeyPatch.context() as patch:
        cells = voronoi_cells(points, clip)
        patch.setattr(voronoi, "LARGEST_OVERLAP", -1.0)
        others = voronoi_cells(points, clip)
    check(points, others, clip)
    np.testing.assert_allclose(shapely.area(cells), shapely.area(others), rtol=1e-6, atol=1e-9 * clip.area)
