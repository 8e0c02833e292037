"""Balanced density: exactly as many sites as asked for, spread like the population."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.benchmarks import real_data as real
from vbas.core.areas import make_areas
from vbas.core.site_location.balanced_density import balanced_density
from vbas.core.voronoi import nearest_site

from .strategies import regions


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_exactly_the_number_of_sites_each_the_mean_of_some_points(data):
    areas = data.draw(regions(most=80))
    n_sites = data.draw(st.integers(1, len(areas)))
    sites = balanced_density(areas, None, n_sites).sites
    assert sites.shape == (n_sites, 2)
    assert np.isfinite(sites).all()
    assert (sites >= areas.points.min(axis=0) - 1e-9).all()
    assert (sites <= areas.points.max(axis=0) + 1e-9).all()


@settings(max_examples=100, deadline=None)
@given(regions(most=40))
def test_as_many_sites_as_areas_gives_every_point_its_own(areas):
    sites = balanced_density(areas, None, len(areas)).sites
    assert sorted(map(tuple, sites)) == sorted(map(tuple, areas.points))


def test_worked_example():
    # Four columns of four points, a person each, four sites: two rows of two cells of four points.
    grid = np.array([(x, y) for y in range(4) for x in range(4)], dtype=float)
    areas = make_areas([f"{i:02d}" for i in range(16)], grid)
    sites = balanced_density(areas, None, 4).sites
    assert sites.tolist() == [[0.5, 0.5], [2.5, 0.5], [0.5, 2.5], [2.5, 2.5]]


def test_last_point_goes_where_the_row_comes_nearer_to_its_ideal():
    # One row of five; ideal 5 per cell: 4 + 3 is 2 over, 4 is 1 under, so the second point opens the next cell (Eq. 9).
    areas = make_areas(list("abcde"), [[x, 0] for x in range(5)]).with_population(np.array([4, 3, 2, 0, 1]))
    sites = balanced_density(areas, None, 2).sites
    assert sites.tolist() == [[0.0, 0.0], [2.5, 0.0]]


def test_populations_are_balanced_on_real_areas(real_data):
    pytest.importorskip("osgeo", reason="GDAL is not there")
    areas = real.canada("East")
    population = np.random.default_rng(1).integers(400, 701, len(areas)).astype(float)
    areas = areas.with_population(population)
    sites = balanced_density(areas, None, 100).sites
    shares = np.bincount(nearest_site(areas.points, sites), population, 100) / population.sum()
    drawn = areas.points[np.random.default_rng(1).choice(len(areas), 100, replace=False)]
    by_chance = np.bincount(nearest_site(areas.points, drawn), population, 100) / population.sum()
    assert shares.std() < 0.8 * by_chance.std()
