"""Candidate addresses: counted as by brute force, and what too few of them lead to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.benchmarks import point_attacks
from vbas.core.masking import candidates as candidates_module
from vbas.core.masking.audit import Masker, Trial, audit, donuts
from vbas.core.masking.candidates import candidates, candidates_of_all, hiding, hold_back
from vbas.core.masking.donut import EARLIER_ELSEWHERE, FEW_CANDIDATES, MASKED, donut_mask, unmasked_sentence
from vbas.core.masking.homes import homes_of
from vbas.core.masking.placing import own_areas
from vbas.core.masking.populations import Households

from .donut_towns import ragged_town


@st.composite
def small_towns(draw):
    """Addresses on a grid in a few areas, some in none, each one household or several; places and their rings."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    h, n, areas = int(rng.integers(1, 40)), int(rng.integers(1, 25)), int(rng.integers(1, 4))
    addresses = rng.integers(0, 12, (h, 2)).astype(float)
    weights = rng.choice([0.25, 1.0, 3.0], h) if draw(st.booleans()) else None
    # Whole and half numbers: many addresses lie exactly on a circle.
    inner = rng.choice([0.5, 1.0, 2.0, 5.0], areas)
    outer = inner + rng.choice([1.0, 3.0, 1e5], areas)
    area_of = rng.integers(0, areas, n)
    places = rng.integers(0, 12, (n, 2)).astype(float)
    places[rng.random(n) < 0.1] = np.nan
    return Households(addresses, weights), rng.integers(-1, areas, h), places, area_of, inner[area_of], outer[area_of]


def possible(households, household_area, place, area, inner, outer):
    """Whether a point could have come from each household, (h,), one after another."""
    return np.array(
        [
            own == area and inner <= np.hypot(*(place - address)) <= outer
            for address, own in zip(households.points, household_area)
        ]
    )


@settings(deadline=None, max_examples=150)
@given(small_towns())
def test_candidates_are_what_trying_every_address_gives(town):
    households, household_area, places, *rings = town
    counts = candidates(*town)
    for i, place in enumerate(places):
        if np.isnan(place).any():
            assert np.isnan(counts[i])
        else:
            fits = possible(households, household_area, place, *(ring[i] for ring in rings))
            assert counts[i] == pytest.approx(households.weights[fits].sum(), abs=1e-9)


@settings(deadline=None, max_examples=100)
@given(small_towns(), st.integers(0, 2**32 - 1), st.sampled_from([1, 7, 1 << 20]))
def test_candidates_of_several_places_fit_them_all(town, seed, at_once):
    households, household_area, _, *rings = town
    rng = np.random.default_rng(seed)
    owner = rng.integers(0, len(rings[0]), 30)
    places = rng.integers(0, 12, (30, 2)).astype(float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates_module, "NEIGHBOURS_AT_ONCE", at_once)
        found = candidates_of_all(households, household_area, places, owner, *rings)
    for i in range(len(rings[0])):
        own = places[owner == i]
        if not len(own):
            assert np.isnan(found[i])
            continue
        fits = np.all(
            [possible(households, household_area, place, *(ring[i] for ring in rings)) for place in own], axis=0
        )
        assert found[i] == pytest.approx(households.weights[fits].sum(), abs=1e-9)


def test_the_true_home_is_always_a_candidate():
    cells, points = ragged_town(800)
    area_of = own_areas(points, cells)
    people = np.where(area_of >= 0, 25.0, 0.0)
    masking = donut_mask(points, area_of, people, cells, 5, 50, "uniform in area", np.random.default_rng(0))
    rows = np.flatnonzero(masking.masked)
    for i in rows[:200]:
        only = Households(points[i : i + 1])
        args = (masking.points[i : i + 1], area_of[i : i + 1], masking.inner[i : i + 1], masking.outer[i : i + 1])
        assert candidates(only, area_of[i : i + 1], *args) == [1.0]


TWO = np.array([shapely.box(0, 0, 100, 100), shapely.box(100, 0, 200, 100)], dtype=object)


def one_home(n_near, n_beyond, seed=0, earlier=None, k_min=5):
    """A home at the middle of the first area, addresses a few metres off its place there and beyond the border."""
    rng = np.random.default_rng(seed)
    homes = homes_of(np.array([[50.0, 50.0], [50.0, 50.0]]), np.zeros(2, int), np.full(2, 100.0))
    moved = donut_mask(homes.points, homes.area_of, homes.people, TWO, 5, 50, "uniform in area", rng)
    near = np.full((n_near, 2), 50.0)
    households = Households(np.vstack([near, moved.points + [[15.0, 0.0]] * 1, [[150.0, 50.0]] * max(n_beyond, 1)]))
    area = own_areas(households.points, TWO)
    area[n_near] = -1
    hiding_of = hiding(moved, homes, households, area, earlier)
    return homes, moved, hiding_of, homes.of_points(hold_back(moved, hiding_of, k_min))


def test_points_with_too_few_candidates_are_held_back_and_their_displacement_kept_for_the_audit():
    _, moved, found, masking = one_home(4, 50)
    assert found.alone.tolist() == [4.0]  # those beyond the border do not count
    assert masking.reason.tolist() == [FEW_CANDIDATES] * 2
    assert np.isnan(masking.points).all()
    assert masking.drawn.all() and not masking.masked.any()
    assert (masking.displacement == moved.displacement).all()
    assert unmasked_sentence(masking.counts()) == ""
    assert one_home(5, 0)[3].masked.all()


def test_k_min_0_holds_nothing_back_but_still_says_what_falls_short():
    _, _, found, masking = one_home(4, 0, k_min=0)
    assert masking.masked.all()
    said = found.shortfall(0).sentence()
    assert said.startswith("100.00 % of the masked points (2 of 2, in 1 of 1 home)")
    assert "K_MIN is 0, so they are not held back" in said
    assert found.shortfall(0).most


def test_the_share_counts_points_and_homes():
    _, _, found, _ = one_home(4, 0)
    short = found.shortfall(5)
    assert (short.points, short.homes, short.points_below, short.homes_below) == (2, 1, 2, 1)
    assert "They are held back. Most fall short" in short.sentence()
    enough = one_home(5, 0)[2].shortfall(5)
    assert not enough.most
    assert enough.sentence() == "Each masked point could have come from at least 5 addresses."


def test_a_building_of_many_households_is_not_called_as_many_addresses():
    """All of them at one door: whoever knows the addresses knows the home."""
    homes = homes_of(np.array([[50.0, 50.0]]), np.zeros(1, int), np.full(1, 100.0))
    moved = donut_mask(
        homes.points, homes.area_of, homes.people, TWO, 5, 50, "uniform in area", np.random.default_rng(0)
    )
    building = Households(np.array([[50.0, 50.0]]), np.array([30.0]))
    short = hiding(moved, homes, building, own_areas(building.points, TWO)).shortfall(5)
    assert (short.points, short.points_below) == (1, 0)
    assert short.sentence().startswith("Each masked point could have come from the addresses of at least 5 households;")
    assert "the addresses of fewer than 40 households" in replace(short, k_min=40, points_below=1).sentence()


def test_an_earlier_place_leaves_the_addresses_that_fit_both():
    homes, moved, _, _ = one_home(5, 0)
    outer, place = float(moved.outer[0]), moved.points[0]
    # Addresses: five at the home, and one that fits the place of now only.
    aside = place + (place - 50.0) / np.hypot(*(place - 50.0)) * float(moved.inner[0] + 1.0)
    households = Households(np.vstack([np.full((5, 2), 50.0), aside]))
    area = np.zeros(6, int)
    alone = hiding(moved, homes, households, area)
    assert alone.alone.tolist() == alone.left.tolist() == [6.0]
    assert alone.sentence() == ""
    before = 50.0 - (place - 50.0)  # as far on the other side
    far = float(np.hypot(*(before - aside)))
    both = hiding(moved, homes, households, area, (before[None], np.array([0])))
    assert both.alone.tolist() == [6.0]
    assert both.left.tolist() == [6.0 if far <= outer else 5.0]
    assert hold_back(moved, both, 7).reason.tolist() == [FEW_CANDIDATES]
    assert "1 home was masked before" in both.sentence()


def test_an_earlier_place_that_is_not_in_the_ring_leaves_nobody():
    homes, moved, _, _ = one_home(9, 0)
    households = Households(np.full((9, 2), 50.0))
    for place in ([50.0, 50.0], [50.0 + 1.1 * moved.outer[0], 50.0]):
        hiding_of = hiding(moved, homes, households, np.zeros(9, int), (np.array([place]), np.array([0])))
        assert hiding_of.left.tolist() == [0.0]
        assert hold_back(moved, hiding_of, 5).reason.tolist() == [EARLIER_ELSEWHERE]
        assert hold_back(moved, hiding_of, 0).reason.tolist() == [MASKED]
        assert "The earlier place of 1 of them is not in the ring" in hiding_of.sentence()
    unknown = hiding(moved, homes, households, np.zeros(9, int), (np.full((1, 2), np.nan), np.array([0])))
    assert unknown.left.tolist() == [9.0]


@pytest.fixture(scope="module")
def twice():
    place = point_attacks.town()
    homes = homes_of(place.addresses, place.area_of, place.people())
    run = point_attacks.masked_twice(place, 15)
    once = point_attacks.recounted(place, homes.area_of, run.second, run.second.points)
    both = point_attacks.recounted(place, homes.area_of, run.second, run.second.points, run.first.points)
    return run, once, both


def test_k_act_promises_more_than_an_outsider_has_to_guess_among(twice):
    run, once, _ = twice
    few = once < 5
    assert few.sum() > 10
    assert (run.k_act[few] >= 5).mean() > 0.8
    assert np.array_equal(run.hiding.alone, once, equal_nan=True)


def test_no_released_point_has_too_few_candidates_not_even_with_its_earlier_place(twice):
    run, once, both = twice
    assert (both < 5).sum() > (once < 5).sum()
    released = hold_back(run.second, run.hiding, 5).masked
    assert 0 < (run.second.masked & ~released).sum() < 0.05 * released.sum()
    assert not (once[released] < 5).any()
    assert not (both[released] < 5).any()


def test_the_audit_counts_candidates_beside_k_act():
    place = point_attacks.town(side=4)
    weights = np.random.default_rng(0).integers(1, 4, len(place.addresses)).astype(float)
    one = Masker(
        Households(place.addresses, weights), place.area_of, place.people(), place.shapes, "uniform in area", 3
    )
    grid, _ = audit(one, donuts([5, 15]), [5, 40])
    for i, k_inner in enumerate((5, 15)):
        masking = one.run(Trial(k_inner, 10 * k_inner))
        counts = candidates(one.households, place.area_of, masking.points, place.area_of, masking.inner, masking.outer)
        for j, k_min in enumerate((5, 40)):
            share = 100 * weights[counts < k_min].sum() / weights[masking.masked].sum()
            assert grid.percent_below_candidates[i, j] == pytest.approx(share)
    assert (grid.percent_below_candidates[:, 1] > 0).all()
