"""Facilities that have a price but also room, refilled by cheapest chains of moves, prices falling."""

from __future__ import annotations

import numpy as np

from .loads import Loads, Move, smallest_by_group


class Refill:
    """Refills the facilities of `loads` over the listed arcs, until no facility with room has a price.

    The mirror image of `relief.Relief`: a chain starts at a facility that has a price for nothing and runs back,
    against the moves, to an overfull facility, or to one whose price falls to 0, which may then have room.
    """

    def __init__(self, loads: Loads) -> None:
        self.loads = loads
        targets = loads.arcs.targets.ravel()
        by_target = np.argsort(targets, kind="stable")
        self._owners = by_target // loads.arcs.targets.shape[1]
        self._lengths = loads.arcs.lengths.ravel()[by_target]
        self._start = np.searchsorted(targets[by_target], np.arange(len(loads.load) + 1))

    def refill(self, facility: int) -> None:
        """Bring one destination to a facility with room and a price, or lower its price to 0."""
        self.loads.shift(self._cheapest_chain(facility))

    def _cheapest_chain(self, start: int) -> list[Move]:
        """Dijkstra's method backwards from `start`; lowers the prices of the facilities it passes."""
        loads, prices = self.loads, self.loads.prices
        reached, waiting = np.full(len(prices), np.inf), np.full(len(prices), np.inf)
        goes_to, movers = np.full(len(prices), -1), np.full(len(prices), -1)
        reached[start] = waiting[start] = 0.0
        passed: list[int] = []
        end, length = start, np.inf  # the facility whose price would be the first to fall to 0, and how far that is
        while True:
            at = int(waiting.argmin())
            if length <= waiting[at]:
                break
            if loads.load[at] > loads.capacity:
                end, length = at, waiting[at]
                break
            waiting[at] = np.inf
            passed.append(at)
            if reached[at] + prices[at] < length:
                end, length = at, reached[at] + prices[at]
            sources, extra, who = self._ways_in(at)
            farther = extra + (prices[at] - prices[sources])
            np.maximum(farther, 0.0, out=farther)  # below 0 by rounding only
            farther += reached[at]
            shorter = farther < reached[sources]
            sources = sources[shorter]
            reached[sources] = waiting[sources] = farther[shorter]
            goes_to[sources], movers[sources] = at, who[shorter]
        prices[passed] = np.maximum(prices[passed] - (length - reached[passed]), 0.0)
        if loads.load[end] <= loads.capacity:
            prices[end] = 0.0
        chain = []
        while end != start:
            chain.append((int(movers[end]), end, int(goes_to[end])))
            end = int(goes_to[end])
        return chain

    def _ways_in(self, facility: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The cheapest listed move into a facility from each other one: (facilities, how much farther, movers)."""
        here = slice(self._start[facility], self._start[facility + 1])
        owners = self._owners[here]
        sources = self.loads.facility_of[owners]
        extra = self._lengths[here] - self.loads.distance[owners]
        chosen = smallest_by_group(sources, extra, without=facility)
        return sources[chosen], extra[chosen], owners[chosen]
