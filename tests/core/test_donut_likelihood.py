"""What K_MIN candidates are not: equally likely, or of the point's category. Counted by a program of its own."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from vbas.core.masking.candidates import candidates, hiding
from vbas.core.masking.donut import donut_mask
from vbas.core.masking.homes import homes_of
from vbas.core.masking.placing import own_areas
from vbas.core.masking.populations import Households

from .donut_towns import ragged_town


def addresses(n):
    """Areas of the ragged town, its addresses, and the area of each."""
    cells, points = ragged_town(n)
    area = own_areas(points, cells)
    return cells, points[area >= 0], area[area >= 0]


def room(cells, points, area, inner, outer, distance, n=1000):
    """The chance that a draw of each address falls inside its area, by drawing."""
    rng = np.random.default_rng(7)
    direction, draw = 2 * np.pi * rng.random((len(points), n)), rng.random((len(points), n))
    a, b = inner[:, None], outer[:, None]
    far = a + draw * (b - a) if distance == "uniform in distance" else np.sqrt(a**2 + draw * (b**2 - a**2))
    x, y = points[:, :1] + far * np.cos(direction), points[:, 1:] + far * np.sin(direction)
    inside = [shapely.contains_xy(cells[own], *xy).mean() for own, *xy in zip(area, x, y)]
    return np.maximum(inside, 0.5 / n)


def chances(town, masking, distance):
    """Of the points with five candidates or more, the chance by which the true address is told, by Bayes' rule."""
    cells, points, area = town
    fits = room(cells, points, area, masking.inner, masking.outer, distance)
    told_by = []
    for i in np.flatnonzero(masking.masked):
        far = np.hypot(*(points - masking.points[i]).T)
        able = (area == area[i]) & (far >= masking.inner[i]) & (far <= masking.outer[i])
        likely = np.where(able, 1 / fits, 0) / (far if distance == "uniform in distance" else 1)
        if able.sum() >= 5:
            told_by.append(likely[i] / likely.sum())
    return np.array(told_by)


@pytest.mark.parametrize("distance", ["uniform in distance", "uniform in area"])
def test_an_address_whose_ring_has_little_room_is_likelier_as_the_guide_says(distance):
    shares = {}
    for n in (700, 3000):
        town = cells, points, area = addresses(n)
        people = np.bincount(area, minlength=len(cells))[area].astype(float)
        masking = donut_mask(points, area, people, cells, 15, 150, distance, np.random.default_rng(1))
        chance = chances(town, masking, distance)
        shares[n] = [100 * np.mean(chance > least) for least in (0.2, 0.5)]
    assert 7 <= shares[700][0] <= 11
    assert 1 <= shares[700][1] <= 2.5
    assert shares[3000][0] < 0.5


@pytest.mark.parametrize(("k_inner", "least", "most"), [(5, 8, 16), (15, 18, 32)])
def test_candidates_count_whoever_lives_there_and_the_sentence_says_so(k_inner, least, most):
    cells, points, area = addresses(3000)
    rng = np.random.default_rng(0)
    home = np.repeat(np.arange(len(points)), 2)
    home = home[rng.random(len(home)) < 0.1]
    people = np.bincount(area[home], minlength=len(cells)).astype(float)
    of_points = points[home], area[home], people[area[home]]
    masking = donut_mask(*of_points, cells, k_inner, 10 * k_inner, "uniform in distance", rng)
    has = np.unique(home)
    everybody, own = (
        candidates(Households(points[some]), area[some], masking.points, area[home], masking.inner, masking.outer)
        for some in (np.arange(len(points)), has)
    )
    enough = everybody >= 5
    assert least <= 100 * np.mean(own[enough] < 5) <= most
    homes = homes_of(*of_points)
    moved = donut_mask(homes.points, homes.area_of, homes.people, cells, 5, 50, "uniform in distance", rng)
    plain, by_category = (
        hiding(moved, homes, Households(points), area, by_category=by).shortfall(1).sentence() for by in (False, True)
    )
    assert by_category == (
        f"{plain} The addresses are counted whoever lives there: who knows where people of the point's category live "
        "guesses among these alone, and they may be fewer than 1."
    )
