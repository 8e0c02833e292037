"""Attacks on donut-masked points: how often a home is guessed, and how few addresses a point hides among.

    python benchmarks/point_attacks.py

The town is made up: 64 square areas of 500 m, 8 to 120 addresses in each, half of them crowded around a few places.
Where the folder of real data is (see `real_data.py`), the pseudo-households of Ottawa in its dissemination areas are
attacked as well. People in an area: its addresses. K_INNER as printed, K_OUTER ten times as much, uniform in distance.

The attacker has every address, the areas and the settings, and knows which points belong to one home. Two guesses: the
address nearest to the centre of the home's masked points; the address in whose ring most of them lie, and among those
the one that most likely sent them there (a place at distance d is likely in proportion to 1 / d).

before : each point moves on its own, and nothing is held back; after : the points of a home share one move, and homes
with fewer than five candidate addresses are held back. A home that is held back counts as not guessed.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
import shapely

from vbas.core.masking.candidates import K_MIN, Hiding, hiding, hold_back
from vbas.core.masking.donut import Masking, donut_mask
from vbas.core.masking.homes import homes_of
from vbas.core.masking.placing import own_areas
from vbas.core.masking.populations import Households

MEMBERS = (1, 2, 5, 10)
K_INNER = (5, 15)
N_HOMES = 1500


class Town(NamedTuple):
    """shapes : (m,) polygons; addresses : (h, 2) planar metres; area_of : (h,)."""

    shapes: np.ndarray
    addresses: np.ndarray
    area_of: np.ndarray

    def people(self) -> np.ndarray:
        """Addresses in the area of each address, (h,)."""
        return np.bincount(self.area_of, minlength=len(self.shapes))[self.area_of].astype(float)


def town(seed: int = 0, side: int = 8) -> Town:
    """side x side areas with addresses, half of them crowded."""
    rng = np.random.default_rng(seed)
    west, south = (axis.ravel() * 500.0 for axis in np.meshgrid(np.arange(side), np.arange(side)))
    addresses = []
    for corner in np.column_stack([west, south]):
        n = int(rng.integers(8, 121))
        crowded = rng.uniform(50, 450, (3, 2))[rng.integers(0, 3, n // 2)] + rng.normal(0, 25, (n // 2, 2))
        addresses.append(corner + np.clip(np.vstack([crowded, rng.uniform(1, 499, (n - n // 2, 2))]), 1, 499))
    shapes = shapely.box(west, south, west + 500, south + 500)
    places = np.unique(np.vstack(addresses).round(1), axis=0)
    return Town(shapes, places, own_areas(places, shapes))


def real_town() -> Town | None:
    """Ottawa; None where its files are not there."""
    try:
        from vbas.benchmarks import ottawa_data
    except ImportError:
        return None
    if not ottawa_data.available():
        return None
    city = ottawa_data.ottawa()
    area_of = own_areas(city.households, city.shapes)
    return Town(city.shapes, city.households[area_of >= 0], area_of[area_of >= 0])


def masked(place: Town, home: np.ndarray, k_inner: float, seed: int, shared: bool) -> tuple[Masking, np.ndarray]:
    """Points at addresses home (n,) masked, alone or by home; and the points' people (n,)."""
    points, area_of, people = place.addresses[home], place.area_of[home], place.people()[home]
    rng, how = np.random.default_rng(seed), ("uniform in distance",)
    if not shared:
        return donut_mask(points, area_of, people, place.shapes, k_inner, 10 * k_inner, *how, rng), people
    homes = homes_of(points, area_of, people)
    moved = donut_mask(homes.points, homes.area_of, homes.people, place.shapes, k_inner, 10 * k_inner, *how, rng)
    hiding_of = hiding(moved, homes, Households(place.addresses), place.area_of)
    return homes.of_points(hold_back(moved, hiding_of, K_MIN)), people


def guessed(place: Town, home: np.ndarray, masking: Masking, members: int) -> tuple[float, float]:
    """Per cent of the homes guessed right by the centre and by the rings.

    home : (n * members,) address of each point, those of one home adjacent.
    """
    places = masking.points.reshape(-1, members, 2)
    inner, outer = (radius.reshape(-1, members)[:, 0] for radius in (masking.inner, masking.outer))
    true = home.reshape(-1, members)[:, 0]
    known = np.isfinite(places).all(axis=(1, 2))
    right = np.zeros(2)
    for area in np.unique(place.area_of[true]):
        near = np.flatnonzero(place.area_of == area)
        rows = np.flatnonzero(known & (place.area_of[true] == area))
        centre = places[rows].mean(axis=1)
        by_centre = np.hypot(*np.moveaxis(centre[:, None] - place.addresses[near], 2, 0)).argmin(axis=1)
        far = np.hypot(*np.moveaxis(places[rows][:, :, None] - place.addresses[near], 3, 0))
        fits = (far >= inner[rows, None, None]) & (far <= outer[rows, None, None])
        by_rings = (1e6 * fits.sum(axis=1) - np.log(far).sum(axis=1)).argmax(axis=1)
        right += [(near[guess] == true[rows]).sum() for guess in (by_centre, by_rings)]
    shares = 100.0 * right / len(true)
    return float(shares[0]), float(shares[1])


def homes_guessed(place: Town, k_inner: float, members: int, shared: bool, seed: int = 0) -> tuple[float, float]:
    """The same for some homes of as many members, before (each point on its own) and after (shared)."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(place.addresses), min(N_HOMES, len(place.addresses)), replace=False)
    home = np.repeat(chosen, members)
    return guessed(place, home, masked(place, home, k_inner, seed + 1, shared)[0], members)


class Twice(NamedTuple):
    """Every address masked twice, each time on its own.

    first, second : of the H homes; hiding : candidates of the second place, alone and with the first; k_act : (H,)
    """

    first: Masking
    second: Masking
    hiding: Hiding
    k_act: np.ndarray


def masked_twice(place: Town, k_inner: float, seed: int = 0) -> Twice:
    """Every address masked twice with different seeds."""
    everyone = np.arange(len(place.addresses))
    homes = homes_of(place.addresses, place.area_of, place.people())
    member = np.unique(homes.home_of, return_index=True)[1]
    both = [masked(place, everyone[member], k_inner, seed + i, False)[0] for i in (1, 2)]
    households = Households(place.addresses)
    hiding_of = hiding(both[1], homes, households, place.area_of, (both[0].points, np.arange(len(homes))))
    k_act = np.full(len(homes), np.nan)
    drawn = both[1].drawn
    k_act[drawn] = households.nearer_than(homes.points[drawn], both[1].displacement[drawn])
    return Twice(both[0], both[1], hiding_of, k_act)


def recounted(place: Town, area_of: np.ndarray, ring: Masking, *places: np.ndarray) -> np.ndarray:
    """Addresses in whose ring all places of a home lie, each measured from each, (H,); NaN where there is no place."""
    left = np.full(len(area_of), np.nan)
    known = np.isfinite(np.concatenate(places, axis=1)).all(axis=1)
    for area in np.unique(area_of[known]):
        rows, near = np.flatnonzero(known & (area_of == area)), place.addresses[place.area_of == area]
        fits = np.ones((len(rows), len(near)), bool)
        for place_points in places:
            far = np.hypot(*np.moveaxis(place_points[rows][:, None] - near, 2, 0))
            fits &= (far >= ring.inner[rows, None]) & (far <= ring.outer[rows, None])
        left[rows] = fits.sum(axis=1)
    return left


def print_guesses(name: str, place: Town) -> None:
    """Table of homes guessed."""
    print(f"\n{name}: {len(place.addresses)} addresses in {len(place.shapes)} areas. Homes guessed right, %:\n")
    print("| K_INNER | members masked | before, centre | before, rings | after, centre | after, rings |")
    print("|---|---|---|---|---|---|")
    for k_inner in K_INNER:
        for members in MEMBERS:
            shares = [*homes_guessed(place, k_inner, members, False), *homes_guessed(place, k_inner, members, True)]
            print(f"| {k_inner} | {members} | " + " | ".join(f"{share:.1f}" for share in shares) + " |")


def print_candidates(place: Town) -> None:
    """Table of points with fewer than K_MIN candidates: once, with k_act beside it; twice; after holding back."""
    homes = homes_of(place.addresses, place.area_of, place.people())
    print(
        f"\nEvery address masked, and masked again. Points with fewer than {K_MIN} candidate addresses, % of masked:\n"
    )
    print(
        "| K_INNER | masked once | of them with k_act of 5 or more | masked twice | held back | after, once | twice |"
    )
    print("|---|---|---|---|---|---|---|")
    for k_inner in K_INNER:
        run = masked_twice(place, k_inner)
        once = recounted(place, homes.area_of, run.second, run.second.points)
        twice = recounted(place, homes.area_of, run.second, run.second.points, run.first.points)
        released = hold_back(run.second, run.hiding, K_MIN).masked
        few = once < K_MIN
        few_of_all = f"{int((few & (run.k_act >= K_MIN)).sum())} of {int(few.sum())}"
        drawn = int(np.isfinite(once).sum())
        shares = [100.0 * rows.sum() / drawn for rows in (few, (twice < K_MIN) | few, run.second.masked & ~released)]
        shares += [100.0 * np.mean(left[released] < K_MIN) for left in (once, twice)]
        cells = [f"{share:.2f}" for share in shares]
        print(f"| {k_inner} | {cells[0]} | {few_of_all} | " + " | ".join(cells[1:]) + " |")


def main() -> int:
    """Print all tables."""
    for name, place in (("Made-up town", town()), ("Ottawa", real_town())):
        if place is None:
            print(f"\n{name}: the real data are not there: set VBAS_DATA.")
            continue
        print_guesses(name, place)
        print_candidates(place)
    return 0


if __name__ == "__main__":
    sys.exit(main())
