"""Allocations changed one destination at a time, with facilities that follow them: Cooper's transportation-location."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import to_list
from ..scientific import spatial
from ..voronoi import nearest_site
from .facilities import recentred
from .loads import CHUNK, distances

SMALLEST_GAIN = 1e-12  # of the largest coordinate: less is rounding
FEW = 16  # changed facilities looked at one by one; with more, all destinations search again
SAME = 1e-12  # relative difference of sums that rounding may make
NOWHERE = -1


class Snapshot(NamedTuple):
    """A state of `SingleMoves`: the sum of the distances, the facility of each destination, the facilities."""

    cost: float
    facility_of: np.ndarray
    facilities: np.ndarray


class SingleMoves:
    """An allocation, its facilities, and for each destination the nearest facility that has room.

    points : (n, 2); facilities : (S, 2); facility_of, distance : (n,) the present facility and how far it is;
    load : (S,); room_at, room_distance : (n,) the nearest facility with room, NOWHERE and inf where there is none.
    """

    def __init__(self, points: np.ndarray, facilities: np.ndarray, capacity: int) -> None:
        self.points = points
        self.capacity = capacity
        self.room_at = np.full(len(points), NOWHERE, np.int64)
        self.room_distance = np.full(len(points), np.inf)
        self._smallest_gain = SMALLEST_GAIN * float(np.abs(points).max())
        self.restore(Snapshot(np.inf, nearest_site(points, facilities), facilities))

    @property
    def excess(self) -> int:
        """Destinations beyond the capacity, over all facilities."""
        return int(np.maximum(self.load - self.capacity, 0).sum())

    @property
    def cost(self) -> float:
        """Sum of the distances to the present facilities."""
        return float(self.distance.sum())

    def snapshot(self) -> Snapshot:
        """The present state, for `restore`."""
        return Snapshot(self.cost, self.facility_of.copy(), self.facilities.copy())

    def restore(self, state: Snapshot) -> None:
        """Take up a state, such as an earlier one."""
        self.facility_of, self.facilities = state.facility_of.copy(), state.facilities.copy()
        self.distance = distances(self.points, self.facilities[self.facility_of])
        self.load = np.bincount(self.facility_of, minlength=len(self.facilities))
        self._update_room(np.ones(len(self.facilities), bool))

    def move_cheapest(self) -> np.ndarray:
        """Make the cheapest move from an overfull facility to one with room; the two facilities, (S,) bool."""
        candidates = np.flatnonzero((self.load > self.capacity)[self.facility_of])
        price = self.room_distance[candidates] - self.distance[candidates]
        return self._move(candidates[[int(price.argmin())]])

    def recentre(self, changed: np.ndarray) -> None:
        """Move the facilities whose destinations changed, (S,) bool, to their centres."""
        members = np.flatnonzero(changed[self.facility_of])
        before = self.facilities
        self.facilities = recentred(self.points[members], self.facility_of[members], before)
        self.distance[members] = distances(self.points[members], self.facilities[self.facility_of[members]])
        self._update_room((self.facilities != before).any(axis=1))

    def move_nearer(self) -> np.ndarray:
        """Move each destination that has a nearer facility with room there; the facilities concerned, (S,) bool.

        Where there is no room for all, those that gain most go first (ties: in order).
        """
        gain = self.distance - self.room_distance
        eager = np.flatnonzero(gain > self._smallest_gain)
        order = np.lexsort((eager, -gain[eager], self.room_at[eager]))
        eager = eager[order]
        targets = self.room_at[eager]
        first = np.searchsorted(targets, targets)
        admitted = np.arange(len(eager), dtype=np.int64) - first < (self.capacity - self.load)[targets]
        return self._move(eager[admitted])

    def _move(self, destinations: np.ndarray) -> np.ndarray:
        """Move each destination to its nearest facility with room; the facilities left and joined, (S,) bool."""
        concerned = np.zeros(len(self.load), bool)
        if len(destinations):
            targets = self.room_at[destinations]
            had_room = self.load < self.capacity
            concerned[self.facility_of[destinations]] = concerned[targets] = True
            self.facility_of[destinations] = targets
            self.distance[destinations] = self.room_distance[destinations]
            self.load = np.bincount(self.facility_of, minlength=len(self.load))
            self._update_room(had_room != (self.load < self.capacity))
        return concerned

    def _update_room(self, changed: np.ndarray) -> None:
        """Bring `room_at` up to date after facilities moved, filled up or got room, (S,) bool."""
        if not changed.any():
            return
        open_ = np.flatnonzero(self.load < self.capacity)
        newly_open = np.flatnonzero(changed & (self.load < self.capacity))
        if len(newly_open) > FEW:
            self._search_room(np.arange(len(self.points), dtype=np.int64), open_)
            return
        stale = (self.room_at == NOWHERE) | changed[self.room_at]
        self._search_room(np.flatnonzero(stale), open_)
        for facility in to_list(newly_open):
            there = distances(self.points, self.facilities[facility])
            nearer = there < self.room_distance
            self.room_at[nearer] = facility
            self.room_distance[nearer] = there[nearer]

    def _search_room(self, destinations: np.ndarray, open_: np.ndarray) -> None:
        """Find the nearest of the facilities with room, `open_`, for some destinations."""
        if not len(open_):
            self.room_at[destinations], self.room_distance[destinations] = NOWHERE, np.inf
            return
        here = self.points[destinations]
        if len(destinations) * len(open_) <= CHUNK // 16:  # quicker than building a tree
            nearest = spatial.distance.cdist(here, self.facilities[open_]).argmin(axis=1)
        else:
            nearest = spatial.cKDTree(self.facilities[open_]).query(here)[1]
        self.room_at[destinations] = open_[nearest]
        self.room_distance[destinations] = distances(here, self.facilities[open_[nearest]])


def settle(moves: SingleMoves, changed: np.ndarray) -> bool:
    """Centres, then nearer facilities with room, until nothing moves. changed : (S,) bool, to be centred first.

    Every step lowers the sum of the distances (medians) or of their squares (mean centres), so that it ends. Once no
    facility is overfull, the sum of the distances counts: where a step makes it worse, the best state so far is
    restored, and the result is False.
    """
    best = None if moves.excess else moves.snapshot()
    while changed.any():
        moves.recentre(changed)
        changed = moves.move_nearer()
        if moves.excess:
            continue
        if best is not None and moves.cost > best.cost * (1 + SAME):
            moves.restore(best)
            return False
        best = moves.snapshot()
    return True
