"""Regions that are merged with each other: what is kept of them, and with which other one each may be merged."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import Callable

import numpy as np

from ..adjacency import Adjacency
from ..areas import Areas
from ..arrays import to_list
from ..elementary import norm, norms
from ..language import plural
from ..parameters import MAXIMUM, check_choice
from ..records.columns import codes_of_labels
from .options import ISLAND_CHOICES, JOIN, LONGEST_BORDER, NEIGHBOUR_CHOICES, SMALLEST, BaselineOptions


class Merger:
    """The regions while they are merged. It begins with every area a region; a region is known by one of its areas.

    population : by region; n_alive : regions there are; n_joined : those that had no neighbour and joined the nearest
    """

    def __init__(self, areas: Areas, adjacency: Adjacency, options: BaselineOptions) -> None:
        check_choices(options)
        n = len(areas)
        self.population: list[float] = to_list(areas.population)
        self.n_alive, self.n_joined = n, 0
        self._options = options
        self._stuck: set[int] = set()
        self._most = options.most if options.most > 0 else np.inf
        self._own = list(range(n))
        self._alive = np.ones(n, bool)
        self._size = np.ones(n)
        self._sum = areas.points.astype(float)
        self._side = np.zeros(n, np.int64) if options.boundary is None else codes_of_labels(options.boundary)
        starts, others, borders = to_list(adjacency.starts), to_list(adjacency.others), to_list(adjacency.borders)
        self._borders = [dict(zip(others[a:b], borders[a:b])) for a, b in zip(starts[:-1], starts[1:])]

    def of(self, area: int) -> int:
        """The region an area is in now."""
        own = self._own
        while own[area] != area:
            own[area] = own[own[area]]
            area = own[area]
        return area

    def labels(self) -> np.ndarray:
        """The region of each area, (n,) int64, named after its first area."""
        region = np.array([self.of(area) for area in range(len(self._own))], np.int64)
        _, first, position = np.unique(region, return_index=True, return_inverse=True)
        return first[position.reshape(-1)]

    def partner(self, region: int) -> int | None:
        """The region this one is to be merged with by the choices made, None where there is none it may go with."""
        borders = self._borders[region]
        allowed = [other for other in borders if self._may_merge(region, other)]
        if allowed:
            choice = self._options.neighbour
            if choice == LONGEST_BORDER:
                return min(allowed, key=lambda other: (-borders[other], self._distance(region, other), other))
            if choice == SMALLEST:
                return min(allowed, key=lambda other: (self.population[other], self._distance(region, other), other))
            return min(allowed, key=lambda other: (self._distance(region, other), other))
        if borders or self._options.islands != JOIN:
            return None
        return self._nearest_of_all(region)

    def merge(self, region: int, other: int) -> int:
        """Make one of two regions; the number it goes by from now on."""
        if other not in self._borders[region]:
            self.n_joined += 1
        # The one with fewer neighbours is taken in: fewer of them have to be changed.
        kept, gone = (region, other) if len(self._borders[region]) >= len(self._borders[other]) else (other, region)
        mine, theirs = self._borders[kept], self._borders[gone]
        mine.pop(gone, None)
        for neighbour, border in theirs.items():
            if neighbour != kept:
                mine[neighbour] = mine.get(neighbour, 0.0) + border
                around = self._borders[neighbour]
                around[kept] = around.get(kept, 0.0) + around.pop(gone)
        self._borders[gone] = {}
        self.population[kept] += self.population[gone]
        self._sum[kept] += self._sum[gone]
        self._size[kept] += self._size[gone]
        self._own[gone] = kept
        self._alive[gone] = False
        self.n_alive -= 1
        return kept

    def merge_smallest(self, at_risk: Callable[[int], bool]) -> Iterator[tuple[int, int, int]]:
        """Merge the smallest region at risk with its partner, again and again, until none is left that has one.

        Yields after each merge the number the region goes by, the number that is gone, and how many regions wait. Of
        regions as small as each other the one with the lower number goes first.
        """
        waiting = [(people, region) for region, people in enumerate(self.population) if at_risk(region)]
        heapify(waiting)
        while waiting:
            people, region = heappop(waiting)
            if self.of(region) != region or self.population[region] != people or not at_risk(region):
                continue  # it was merged since
            partner = self.partner(region)
            if partner is None:
                self._stuck.add(region)
                continue
            kept = self.merge(region, partner)
            yield kept, partner if kept == region else region, len(waiting)
            if at_risk(kept):
                heappush(waiting, (self.population[kept], kept))

    def notes(self, at_risk: Callable[[int], bool], state: str) -> tuple[str, ...]:
        """Sentences on what merging came to; state : what is said of regions still at risk."""
        notes = [
            plural(
                "Merging neighbours left {n} region.",
                "Merging neighbours left {n} regions.",
                self.n_alive,
            )
        ]
        if self.n_joined:
            notes.append(
                plural(
                    "{n} region without a neighbour joined the nearest region.",
                    "{n} regions without a neighbour joined the nearest region.",
                    self.n_joined,
                )
            )
        left = sum(self.of(region) == region and at_risk(region) for region in self._stuck)
        if left:
            notes.append(
                plural(
                    "{n} region is still {state}: it has no neighbour it may be merged with.",
                    "{n} regions are still {state}: they have no neighbour they may be merged with.",
                    left,
                    state=state,
                )
            )
        return tuple(notes)

    def _may_merge(self, region: int, other: int) -> bool:
        same_side = self._side[region] == self._side[other]
        return bool(same_side) and self.population[region] + self.population[other] <= self._most

    def _distance(self, region: int, other: int) -> float:
        """Metres between the mean centres of two regions."""
        apart = self._sum[region] / self._size[region] - self._sum[other] / self._size[other]
        return float(norm(apart[0], apart[1]))

    def _nearest_of_all(self, region: int) -> int | None:
        """The region whose mean centre is nearest, wherever it is."""
        population = np.asarray(self.population)
        fits = population + population[region] <= self._most
        allowed = np.flatnonzero(self._alive & fits & (self._side == self._side[region]))
        allowed = allowed[allowed != region]
        if not len(allowed):
            return None
        centres = self._sum[allowed] / self._size[allowed, None]
        return int(allowed[norms(centres - self._sum[region] / self._size[region]).argmin()])


def check_choices(options: BaselineOptions) -> None:
    """Raises InputError for an unknown choice of neighbour or islands, and for a maximum that is not a population."""
    for name, value, choices in (
        ("NEIGHBOUR", options.neighbour, NEIGHBOUR_CHOICES),
        ("ISLANDS", options.islands, ISLAND_CHOICES),
    ):
        check_choice(name, value, choices)
    MAXIMUM.check(options.most)
