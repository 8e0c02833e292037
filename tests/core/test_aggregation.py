"""Basic and iterative Voronoi."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.aggregation.basic_voronoi import basic_voronoi
from vbas.core.aggregation.iterative_voronoi import iterative_voronoi, relocate
from vbas.core.site_location.random_sites import random_sites

from ..exploring import tried
from .strategies import regions


def distances(points, sites):
    return np.hypot(*(points[:, None, :] - sites[None, :, :]).transpose(2, 0, 1))


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.data())
def test_basic_voronoi_is_the_nearest_site_and_covers_every_area_once(data):
    areas = data.draw(regions())
    sites = random_sites(areas, None, data.draw(st.integers(1, len(areas)))).sites
    result = basic_voronoi(areas, None, sites)
    every = distances(areas.points, sites)
    own = np.hypot(*(areas.points - result.sites[result.crosswalk.region_of]).T)
    assert np.allclose(own, every.min(axis=1))
    assert result.crosswalk.region_of.shape == (len(areas),)
    assert set(result.crosswalk.region_of) == set(range(result.crosswalk.n_regions))
    assert len(result.sites) == result.crosswalk.n_regions


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.data())
def test_iterative_voronoi_ends_at_a_fixed_point(data):
    areas = data.draw(regions())
    start = random_sites(areas, None, data.draw(st.integers(1, len(areas)))).sites
    result = iterative_voronoi(areas, None, start)
    region_of, sites = result.crosswalk.region_of, result.sites
    assert set(region_of) == set(range(result.crosswalk.n_regions))
    for region in range(result.crosswalk.n_regions):
        assert np.allclose(areas.points[region_of == region].mean(axis=0), sites[region])
    own = np.hypot(*(areas.points - sites[region_of]).T)
    assert np.allclose(own, distances(areas.points, sites).min(axis=1), atol=1e-6)
    again = iterative_voronoi(areas, None, start)
    assert (again.crosswalk.region_of == region_of).all()


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_iterating_never_lengthens_squared_distances(data):
    areas = data.draw(regions(coinciding=False))
    start = random_sites(areas, None, data.draw(st.integers(1, len(areas)))).sites
    basic, iterated = basic_voronoi(areas, None, start), iterative_voronoi(areas, None, start)

    def squares(result):
        return ((areas.points - result.sites[result.crosswalk.region_of]) ** 2).sum()

    assert squares(iterated) <= squares(basic) * (1 + 1e-12)


@pytest.mark.slow
@settings(max_examples=tried(10, 30), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_sites=st.integers(2, 300), spread=st.floats(0.1, 3.0))
def test_asking_only_where_the_nearest_site_can_change_gives_what_asking_for_all_gives(seed, n_sites, spread):
    rng = np.random.default_rng(seed)
    # Dense towns and an empty country, as census areas lie: distances to the own site differ a thousandfold.
    points = 1e5 * rng.standard_normal((600, 2)) * np.exp(spread * rng.standard_normal((600, 1)))
    start = points[rng.choice(600, n_sites, replace=False)]
    site_of, sites, _ = relocate(points, start)
    plain_of, plain = distances(points, start).argmin(axis=1), start
    for _ in range(1000):
        used, plain_of = np.unique(plain_of, return_inverse=True)
        plain = np.array([points[plain_of == s].mean(axis=0) for s in range(len(used))])
        nearest = distances(points, plain).argmin(axis=1)
        if (nearest == plain_of).all():
            break
        plain_of = nearest
    assert (site_of == plain_of).all()
    assert np.allclose(sites, plain)
