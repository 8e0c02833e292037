"""Split and merge: as many sites as asked for, and no less compact regions than those it starts from."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.aggregation import APPROACHES as AGGREGATIONS
from vbas.core.areas import make_areas
from vbas.core.errors import Cancelled
from vbas.core.site_location import APPROACHES

from .strategies import regions


def length(areas, sites):
    """The sum of the distances to mean centres after iterative Voronoi from these sites, and how many regions."""
    crosswalk = AGGREGATIONS["iterative Voronoi"](areas, None, sites).crosswalk
    centres = crosswalk.mean_centres(areas.points)[crosswalk.region_of]
    return float(np.hypot(*(areas.points - centres).T).sum()), crosswalk.n_regions


@settings(max_examples=60, deadline=None)
@given(areas=regions(), share=st.floats(0, 1))
def test_exactly_so_many_sites_in_the_middle_of_regions_no_less_compact_than_from_the_start(areas, share):
    n_sites = 1 + int(share * (len(areas) - 1))
    sites = APPROACHES["split and merge"](areas, None, n_sites).sites
    assert sites.shape == (n_sites, 2)
    assert np.isfinite(sites).all()
    start = APPROACHES["balanced density"](areas, None, n_sites).sites
    (before, n_before), (after, n_after) = length(areas, start), length(areas, sites)
    assert n_after >= n_before
    if n_after == n_before:
        assert after <= before * (1 + 1e-9)
    again = APPROACHES["split and merge"](areas, None, n_sites).sites
    assert (again == sites).all()


def clusters(seed, n=8):
    """A few areas in a row of groups far apart."""
    draws = np.random.default_rng(seed)
    points = np.column_stack([draws.choice([0, 1e4, 3e4], n) + draws.random(n) * 500, draws.random(n) * 500])
    return make_areas([str(i) for i in range(n)], points, draws.integers(1, 900, n).astype(float))


@pytest.mark.slow
def test_on_small_maps_it_is_near_the_best_of_all_divisions():
    ratios = []
    for seed in range(12):
        areas = clusters(seed)
        best = np.inf
        for labels in product(range(3), repeat=len(areas)):
            own = np.array(labels)
            if len(set(labels)) == 3:
                centres = np.array([areas.points[own == region].mean(axis=0) for region in range(3)])
                best = min(best, float(np.hypot(*(areas.points - centres[own]).T).sum()))
        ratios.append(length(areas, APPROACHES["split and merge"](areas, None, 3).sites)[0] / best)
    assert min(ratios) >= 1 - 1e-9
    assert np.median(ratios) < 1.05


def test_sites_leave_a_crowd_for_where_they_are_missed():
    draws = np.random.default_rng(2)
    crowd, country = draws.random((300, 2)) * 1e3, draws.random((300, 2)) * 1e5
    people = np.concatenate([np.full(300, 1000.0), np.full(300, 1.0)])
    areas = make_areas([str(i) for i in range(600)], np.concatenate([crowd, country]), people)
    start, sites = (APPROACHES[name](areas, None, 30).sites for name in ("balanced density", "split and merge"))
    (before, _), (after, n_regions) = length(areas, start), length(areas, sites)
    assert n_regions == 30
    assert after < 0.7 * before


def test_progress_and_cancelling():
    told: list[float] = []
    areas = clusters(1, 60)
    APPROACHES["split and merge"](areas, None, 12, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0

    def stop(fraction):
        raise Cancelled("Cancelled.")

    with pytest.raises(Cancelled):
        APPROACHES["split and merge"](areas, None, 12, progress=stop)
