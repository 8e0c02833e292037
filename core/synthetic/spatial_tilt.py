"""Shares that vary from area to area: each category has a smooth random field that makes it more or less common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from .distributions import Distributions
from .sampler import Sampler, sampler_of_shares, stream

WAVES = 64
ROUND_LIMIT = 200
CLOSE_ENOUGH = 1e-9
# Beyond these, one category takes all, or neighbours no longer resemble each other at all; and numbers overflow.
STRONGEST, SHORTEST = 10.0, 0.001


@dataclass(frozen=True, eq=False)
class SpatialTilt:
    """How shares vary over the map.

    points : (n, 2), of the areas, metres
    strength : the spread of the logarithm of a category's odds from area to area; 0 is none, 0.5 is
        typical of the neighbourhoods of a city, 1 is strong
    reach : metres over which the shares stay similar: the correlation falls to 0.6 at this distance, to 0.1 at twice it
    """

    points: np.ndarray
    strength: float
    reach: float


def tilted_samplers(
    distributions: Distributions, rows: np.ndarray, population: np.ndarray, tilt: SpatialTilt, seed: int
) -> tuple[Sampler, ...]:
    """A sampler per attribute, with a row per area.

    rows : (n,) int64, the province of each area; population : (n,). A category's share in area i is proportional to
    the province's share, multiplied by exp(strength · field at i); each province as a whole keeps its shares.
    Raises InputError for a strength that is not from 0 to STRONGEST and a reach below SHORTEST.
    """
    if not (0 <= tilt.strength <= STRONGEST and SHORTEST <= tilt.reach < np.inf):
        raise InputError(
            f"Shares cannot vary with strength {tilt.strength:g} over {tilt.reach:g} metres: give a strength from 0 to "
            f"{STRONGEST:g} and a reach of at least {SHORTEST:g}."
        )
    return tuple(
        sampler_of_shares(
            name,
            found.categories,
            _tilted(
                found.shares, rows, population, tilt.strength * _random_fields(tilt, name, found.shares.shape[1], seed)
            ),
        )
        for name, found in distributions.attributes.items()
    )


def _random_fields(tilt: SpatialTilt, attribute: str, n_categories: int, seed: int) -> np.ndarray:
    """A smooth random field per category at the points, (n, m), of mean 0 and variance 1 over all seeds.

    A sum of waves of random direction, whose wave numbers are normal: its correlation is exp(-d² / (2 reach²)).
    """
    rng = stream(seed, attribute, "spatial tilt")
    fields = np.empty((len(tilt.points), n_categories))
    for category in range(n_categories):
        wave = rng.standard_normal((2, WAVES)) / tilt.reach
        phase = rng.uniform(0, 2 * np.pi, WAVES)
        fields[:, category] = np.sqrt(2 / WAVES) * np.cos(tilt.points @ wave + phase).sum(axis=1)
    return fields


def _tilted(shares: np.ndarray, rows: np.ndarray, population: np.ndarray, logarithm: np.ndarray) -> np.ndarray:
    """The shares of each area, (n, m), whose average over each province, weighted by population, is the province's.

    shares : (P, m); logarithm : (n, m), by which each category is lifted before the province's shares are restored.
    """
    lift = np.exp(logarithm)
    base = shares.copy()
    people = np.bincount(rows, population, len(shares))
    inhabited = people > 0
    for _ in range(ROUND_LIMIT):
        lifted = base[rows] * lift
        own = lifted / lifted.sum(axis=1, keepdims=True)
        totals = np.column_stack([np.bincount(rows, population * share, len(shares)) for share in own.T])
        average = totals[inhabited] / people[inhabited, None]
        if np.abs(average - shares[inhabited]).max() < CLOSE_ENOUGH:
            break
        # A category with share 0 stays at 0.
        base[inhabited] *= shares[inhabited] / np.maximum(average, np.finfo(float).tiny)
    return own
