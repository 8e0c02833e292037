"""The whole course: temperature and price from start to end, the best division seen, and the way back into a budget."""

from __future__ import annotations

import math

import numpy as np

from ...elementary import power_of
from ...progress import Progress, silent
from .joining import join_and_split, joins_of
from .moves import Batches
from .pieces import Surroundings
from .regions import Regions
from .territory import Territory

# All found by trial on real areas: see benchmarks/anonymity_exchange.py.
WORK_PER_AREA = 300_000  # entries of the profile
HOTTEST, COLDEST = 3.0, 0.03  # temperature, in mean distances of the start
ROUNDS, ROUNDS_END = 40, 0.8  # of joining and splitting, spread over so much of the whole
SHARE = 0.2  # of the regions that may be joined or split in a round
SLACK = 1.25  # no split suppresses more than so many budgets, which the moves that follow can bring back
LANDING = 0.9  # from so much of the whole on the best division is remembered
GAIN, LANDING_GAIN = 10.0, 150.0  # how fast the price follows what is suppressed, in powers per run
LAST_BATCHES = 400  # that lead back into the budget
REPORTED_EVERY = 32


def annealed(
    territory: Territory, start: np.ndarray, most_lost: float, seed: int, progress: Progress = silent
) -> np.ndarray:
    """Regions (n,) int64 from 0 with the least sum of distances to their centres found that suppress at most
    `most_lost`.

    start : (n,) the regions to start from. Never worse than that: more suppressed than `most_lost` where the start is
    above it, but no more than there; otherwise no longer distances.
    """
    regions = Regions(territory, start)
    batches = Batches(regions, Surroundings(territory.adjacency), np.random.default_rng(seed))
    best = Best(regions, most_lost)
    typical = regions.length / len(territory) or territory.spacing
    price = regions.length / (4.0 * max(regions.lost, most_lost, 1.0)) or 1.0
    # Of classes that are the same in all periods a move has so many times as many entries; some more are looked at.
    total = float(WORK_PER_AREA) * len(territory) * math.sqrt(territory.n_periods)
    n_batches, next_round = 0, 0.0
    while batches.work < total:
        done = batches.work / total
        if done >= next_round and done < ROUNDS_END:
            join_and_split(regions, price, SHARE, SLACK * most_lost, batches.draws)
            batches.relist()
            batches.work += 2.5 * territory.counts.nnz
            next_round += ROUNDS_END / ROUNDS
        batches.make(typical * HOTTEST * power_of(COLDEST / HOTTEST, done), price)
        step = batches.work / total - done
        gain = LANDING_GAIN if done > LANDING else GAIN
        price *= power_of((regions.lost + 1.0) / (most_lost + 1.0), gain * step)
        if done > LANDING:
            best.see(regions)
        n_batches += 1
        if n_batches % REPORTED_EVERY == 0:
            progress(0.95 * done)
    _back_into_budget(regions, batches, price, most_lost, progress)
    best.see(regions)
    progress(1.0)
    return best.region_of


class Best:
    """The best division seen: within the budget before outside, there the least suppressed, then the shortest."""

    def __init__(self, regions: Regions, most_lost: float) -> None:
        self._most_lost = most_lost
        self._key = self._rank(regions)
        self.region_of = regions.region_of.copy()

    def see(self, regions: Regions) -> None:
        """Remember this division if it is better."""
        key = self._rank(regions)
        if key < self._key:
            self._key, self.region_of = key, np.unique(regions.region_of, return_inverse=True)[1].reshape(-1)

    def _rank(self, regions: Regions) -> tuple[float, float]:
        # Weights are no whole numbers: their sums differ by rounding.
        over = regions.lost - self._most_lost
        return (over if over > 1e-9 * (self._most_lost + 1.0) else 0.0), regions.length


def _back_into_budget(regions: Regions, batches: Batches, price: float, most_lost: float, progress: Progress) -> None:
    """Moves at a rising price, then joins, until what is suppressed is within the budget, or nothing helps."""
    for batch in range(LAST_BATCHES):
        if regions.lost <= most_lost:
            return
        price *= 1.02
        batches.make(0.0, price)
        if batch % REPORTED_EVERY == 0:
            progress(0.95 + 0.05 * batch / LAST_BATCHES)
    while regions.lost > most_lost:
        regions.divide(regions.region_of)
        joins = joins_of(regions)
        helps = np.flatnonzero(joins.lost < 0)
        if not len(helps):
            return
        join = helps[np.argmin(joins.length[helps] / -joins.lost[helps])]
        region_of = regions.region_of
        regions.divide(np.where(region_of == joins.second[join], joins.first[join], region_of))
        progress(0.99)
