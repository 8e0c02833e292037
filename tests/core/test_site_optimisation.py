"""Site optimisation against a plain, slow version, and what it promises."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.aggregation import APPROACHES
from vbas.core.aggregation.site_optimisation import improvements
from vbas.core.areas import make_areas
from vbas.core.configuration import RECOMMENDED
from vbas.core.errors import Cancelled
from vbas.core.voronoi import nearest_site

from ..exploring import tried
from .strategies import regions as some_regions

optimise = APPROACHES["site optimisation"]


def distances(points, sites, site_of):
    return np.hypot(*(points - sites[site_of]).T).sum()


def plain_relocate(points, sites):
    """Nearest site, mean centre, until nothing changes; by hand, for points without ties."""
    while True:
        site_of = ((points[:, None] - sites) ** 2).sum(axis=2).argmin(axis=1)
        used = np.unique(site_of)
        moved = np.array([points[site_of == s].mean(axis=0) for s in used])
        if moved.shape == sites.shape and np.allclose(moved, sites, rtol=0, atol=1e-9):
            return sites, site_of
        sites = moved


def plain_steps(points, population, sites):
    """Compactness and sites after each step, as Croft 2018, section 2.3.3 tells it; sites are split by a millimetre."""
    ideal = population.sum() / len(sites)
    sites, site_of = plain_relocate(points, sites)
    yield distances(points, sites, site_of), sites

    def people():
        return np.array([population[site_of == s].sum() for s in range(len(sites))])

    while (people() < ideal / 2).any():
        sites, site_of = plain_relocate(points, sites[people() >= ideal / 2])
    yield distances(points, sites, site_of), sites
    while True:
        following = []
        for s, many in enumerate(people()):
            if many > 1.25 * ideal:
                members = points[site_of == s] - sites[s]
                axis = np.linalg.svd(members, full_matrices=False)[2][0]
                following += [sites[s] - 1e-3 * axis, sites[s] + 1e-3 * axis]
            elif many >= ideal / 2:
                following.append(sites[s])
        then, then_of = plain_relocate(points, np.array(following))
        if distances(points, then, then_of) >= distances(points, sites, site_of):
            return
        sites, site_of = then, then_of
        yield distances(points, sites, site_of), sites


def scattered(seed, n=150):
    """Areas that crowd in places, with unequal populations, no two in one place."""
    rng = np.random.default_rng(seed)
    points = rng.normal(0, 1, (n, 2)) * rng.lognormal(0, 1, (n, 1)) * 1000
    return make_areas(np.arange(n), points, rng.integers(0, 900, n).astype(float))


@pytest.mark.slow
@settings(max_examples=tried(15, 40), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_sites=st.sampled_from([12, 25, 5, 2, 1]))
def test_every_step_is_that_of_the_plain_version(seed, n_sites):
    areas = scattered(seed)
    sites = areas.points[np.random.default_rng(seed).choice(len(areas), n_sites, replace=False)]
    plain = list(islice(plain_steps(areas.points, areas.population, sites), 50))
    ours = list(islice(improvements(areas, sites), 50))
    assert len(ours) == len(plain)
    for mine, (compactness, their_sites) in zip(ours, plain):
        assert mine.compactness == pytest.approx(compactness, rel=1e-9)
        assert np.allclose(np.sort(mine.sites, axis=0), np.sort(their_sites, axis=0))


@settings(max_examples=80, deadline=None)
@given(areas=some_regions(), data=st.data())
def test_the_result_is_the_last_round_that_improved_and_a_note_tells_where_it_is_less_compact(areas, data):
    n_sites = data.draw(st.integers(1, len(areas)))
    sites = areas.points[:n_sites]
    result = optimise(areas, None, sites)
    last = list(improvements(areas, sites))[-1]
    ours = distances(areas.points, result.sites, result.crosswalk.region_of)
    assert ours == pytest.approx(last.compactness, rel=1e-12, abs=1e-9)
    relocated = APPROACHES["iterative Voronoi"](areas, None, sites)
    before = distances(areas.points, relocated.sites, relocated.crosswalk.region_of)
    assert ("less compact than iterative Voronoi" in result.notes[0]) == (ours > before * (1 + 1e-9))
    assert len(result.sites) == result.crosswalk.n_regions
    assert (np.bincount(result.crosswalk.region_of, minlength=result.crosswalk.n_regions) > 0).all()
    own = np.hypot(*(areas.points - result.sites[result.crosswalk.region_of]).T)
    nearest = np.hypot(*(areas.points - result.sites[nearest_site(areas.points, result.sites)]).T)
    assert np.allclose(own, nearest)
    again = optimise(areas, None, sites)
    assert again.sites.tobytes() == result.sites.tobytes() and again.notes == result.notes


@settings(max_examples=40, deadline=None)
@given(areas=some_regions(least=8), data=st.data())
def test_rounds_improve_and_begin_without_small_regions(areas, data):
    n_sites = data.draw(st.integers(1, len(areas)))
    steps = list(improvements(areas, areas.points[:n_sites]))
    assert len(steps) >= 2
    people = np.bincount(steps[1].site_of, weights=areas.population)
    assert (people >= areas.population.sum() / n_sites / 2).all()
    compactness = [step.compactness for step in steps[1:]]
    assert all(later < earlier for earlier, later in zip(compactness, compactness[1:]))


def test_a_crowded_site_is_split_across_its_long_axis_and_an_empty_one_removed():
    points = np.array([[0.0, 0], [1, 0], [100, 0], [101, 0], [1000, 0], [1001, 1], [1010, 0]])
    population = np.array([100, 100, 100, 100, 100, 100, 1.0])
    areas = make_areas(range(7), points, population)
    sites = np.array([[50.0, 0], [1000, 0], [1010, 0]])
    result = optimise(areas, None, sites)
    assert result.crosswalk.region_of.tolist() == [0, 0, 1, 1, 2, 2, 2]
    assert result.notes == (
        "Site optimisation went from 3 sites to 3 in 1 round of removing and splitting that made the regions "
        "more compact.",
    )


def test_where_removing_costs_more_than_splitting_gains_the_result_is_less_compact():
    """The published finding (Croft 2018, section 4.3): iterative Voronoi can be the more compact of the two."""
    points = np.array([[0.0, 0], [0, 0], [5000, 0], [9000, 0]])
    areas = make_areas(range(4), points, np.array([100.0, 100, 1, 1]))
    sites = np.array([[0.0, 0], [5000, 0], [9000, 0]])
    assert APPROACHES["iterative Voronoi"](areas, None, sites).sites.tolist() == sites.tolist()  # no distance at all
    # The ideal is 202 / 3 people, so the two sites of one person each go. The one left, at 3500, has 202 people, more
    # than 1.25 of the ideal, and is split there. The next round would take the right half away, for its 2 people, and
    # split the left one, all in one place: back to a single site, so that round is taken back.
    result = optimise(areas, None, sites)
    assert result.crosswalk.region_of.tolist() == [0, 0, 1, 1]
    assert result.sites.tolist() == [[0, 0], [7000, 0]]
    assert result.notes == (
        "Site optimisation went from 3 sites to 2 in 1 round of removing and splitting that made the regions more "
        "compact. Because sites with few people were removed, the regions are less compact than iterative Voronoi "
        "leaves them: 4000 metres in all against 0.",
    )


def test_all_in_one_place_and_in_a_line():
    here = make_areas(range(5), np.ones((5, 2)), np.arange(1.0, 6.0))
    assert optimise(here, None, np.ones((2, 2))).crosswalk.n_regions == 1
    line = make_areas(range(30), np.column_stack([np.arange(30.0), np.zeros(30)]), np.ones(30))
    assert optimise(line, None, np.array([[0.0, 0], [1, 0]])).crosswalk.n_regions >= 2


def test_a_limit_warns(monkeypatch):
    monkeypatch.setitem(optimise.function.__globals__, "ROUND_LIMIT", 1)
    for seed in range(20):
        areas = scattered(seed)
        notes = optimise(areas, None, areas.points[:20]).notes
        if "Warning" in notes[0]:
            assert "cut short after 1 rounds" in notes[0]
            return
    pytest.fail("no case was long enough")


def test_progress_rises_and_cancels():
    areas = scattered(1)
    seen: list[float] = []
    optimise(areas, None, areas.points[:20], progress=seen.append)
    assert seen == sorted(seen) and seen[-1] == 1.0 and len(seen) > 5

    def cancel(fraction):
        raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        optimise(areas, None, areas.points[:20], progress=cancel)


def test_the_combinations_it_belongs_to_are_offered():
    offered = {combination.number for combination in RECOMMENDED.values()}
    assert {1, 5, 6} <= offered
