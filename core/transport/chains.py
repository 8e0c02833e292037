"""Chains of moves: the cheapest that relieve an overfull facility, and those that refill one with room."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from ..errors import VbasError
from ..scientific import spatial
from .loads import Loads, Move, smallest_by_group

FIRST_WIDTH = 32  # ways out of a facility that are listed where the nearest facilities are not enough
WIDEN_BY = 4  # times as many whenever these are not enough either


class WaysOut(NamedTuple):
    """The cheapest move out of a facility to each of the facilities listed.

    targets : (m,) facilities, each once; extra : (m,) how much farther the target is than the present facility;
    movers : (m,) the destination that would move; horizon : every move that is not listed has extra + price of its
    target at or above it. That holds while the members stay, since prices only rise.
    """

    targets: np.ndarray
    extra: np.ndarray
    movers: np.ndarray
    horizon: float


class Relief:
    """Relieves the facilities of `loads`, whose prices nothing else may change in the meantime.

    Chains run on the graph of the S facilities, whose arcs are single moves of a destination. A price rises only
    where the load has reached the capacity; together with every destination being at its cheapest facility that proves
    the allocation optimal once no facility is overfull, provided none was short at the start (complementary slackness).
    """

    def __init__(self, loads: Loads) -> None:
        self.loads = loads
        self._ways_out: list[WaysOut | None] = [None] * len(loads.load)
        self._width = np.zeros(len(loads.load), np.int64)  # 0: the lists of the members

    def relieve(self, facility: int) -> None:
        """Move one destination out of an overfull facility, along the cheapest chain that ends where there is room.

        One step of the successive shortest path method with potentials (Edmonds and Karp 1972).
        """
        chain = self._cheapest_chain(facility)
        self.loads.shift(chain)
        for _, before, after in chain:
            self._ways_out[before] = self._ways_out[after] = None

    def _cheapest_chain(self, start: int) -> list[Move]:
        """Dijkstra's method from `start` to the first facility with room; raises the prices of those it passes.

        No move is missed because it is not listed: when the search has come as far as such a move could lead, its list
        is widened and the search goes on from there.
        """
        load, prices = self.loads.load, self.loads.prices
        reached, waiting = np.full(len(load), np.inf), np.full(len(load), np.inf)
        came_from, movers = np.full(len(load), -1, np.int64), np.full(len(load), -1, np.int64)
        reached[start] = waiting[start] = 0.0
        passed: list[int] = []
        horizons: list[tuple[float, int]] = []
        while True:
            at = int(waiting.argmin())
            if horizons and horizons[0][0] <= waiting[at]:
                at = heapq.heappop(horizons)[1]
                self._widen(at)
            elif waiting[at] == np.inf:
                raise VbasError.saying("No facility with room can be reached: please report these points.")
            elif load[at] < self.loads.capacity:
                break
            else:
                waiting[at] = np.inf
                passed.append(at)
            ways = self._ways(at)
            farther = ways.extra + (prices[ways.targets] - prices[at])
            np.maximum(farther, 0.0, out=farther)  # below 0 by rounding only
            farther += reached[at]
            shorter = farther < reached[ways.targets]
            targets = ways.targets[shorter]
            reached[targets] = waiting[targets] = farther[shorter]
            came_from[targets], movers[targets] = at, ways.movers[shorter]
            if ways.horizon < np.inf:
                heapq.heappush(horizons, (reached[at] + ways.horizon - prices[at], at))
        prices[passed] += reached[at] - reached[passed]
        chain = []
        while at != start:
            chain.append((int(movers[at]), int(came_from[at]), at))
            at = int(came_from[at])
        return chain

    def _ways(self, facility: int) -> WaysOut:
        """The ways out of a facility, kept until its members change or the list is widened."""
        ways = self._ways_out[facility]
        if ways is None:
            members = np.array(self.loads.members[facility], np.int64)
            width = int(self._width[facility])
            ways = self._all_ways(facility, members, width) if width else self._near_ways(facility, members)
            self._ways_out[facility] = ways
        return ways

    def _widen(self, facility: int) -> None:
        self._width[facility] = max(FIRST_WIDTH, WIDEN_BY * self._width[facility])
        self._ways_out[facility] = None

    def _near_ways(self, facility: int, members: np.ndarray) -> WaysOut:
        """The ways to the facilities in the lists of the members."""
        arcs, own = self.loads.arcs, self.loads.distance[members]
        targets = arcs.targets[members]
        position = np.repeat(np.arange(len(members), dtype=np.int64), targets.shape[1])
        targets, extra = targets.ravel(), (arcs.lengths[members] - own[:, None]).ravel()
        chosen = smallest_by_group(targets, extra, without=facility)
        horizon = float((arcs.horizon[members] - own).min())
        return WaysOut(targets[chosen], extra[chosen], members[position[chosen]], horizon)

    def _all_ways(self, facility: int, members: np.ndarray, width: int) -> WaysOut:
        """The `width` cheapest ways out at the present prices, of those to all facilities."""
        arcs = self.loads.arcs
        extras = spatial.distance.cdist(arcs.points[members], arcs.facilities)
        extras -= self.loads.distance[members][:, None]
        mover = extras.argmin(axis=0)
        extra = extras[mover, np.arange(len(mover), dtype=np.int64)]
        values = extra + self.loads.prices
        values[facility] = np.inf
        if width + 1 >= len(values):
            targets, horizon = np.flatnonzero(values < np.inf), np.inf
        else:
            cheapest = np.argpartition(values, width)[: width + 1]
            targets, horizon = cheapest[:width], float(values[cheapest[width]])
        return WaysOut(targets, extra[targets], members[mover[targets]], horizon)


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
        self._start = np.searchsorted(targets[by_target], np.arange(len(loads.load) + 1, dtype=np.int64))

    def refill(self, facility: int) -> None:
        """Bring one destination to a facility with room and a price, or lower its price to 0."""
        self.loads.shift(self._cheapest_chain(facility))

    def _cheapest_chain(self, start: int) -> list[Move]:
        """Dijkstra's method backwards from `start`; lowers the prices of the facilities it passes."""
        loads, prices = self.loads, self.loads.prices
        reached, waiting = np.full(len(prices), np.inf), np.full(len(prices), np.inf)
        goes_to, movers = np.full(len(prices), -1, np.int64), np.full(len(prices), -1, np.int64)
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
