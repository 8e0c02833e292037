"""Climbing: one site at a time is moved as long as the objective of the clustering rises."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Callable

import numpy as np

from ...arrays import to_list
from ...dataclass import dataclass
from ...elementary import norm, norms
from ...language import tr
from ...progress import Progress, silent
from .counts import Terms
from .state import Change, ClusteringState, Proposals

FEW, MANY = 16, 512  # proposals counted at a time: more where few are made, to waste little after one that is
MOVES_PER_SITE = 1_000  # a climb needs a handful of moves per site; see `Climb.reason` for what happens beyond


@dataclass(frozen=True)
class Variant:
    """How the published variants of the clustering differ.

    propose : (state, region, classes (B,)) -> positions (B, 2), one for each bottleneck class of the region
    rises : (now, then) -> (B,) bool, whether the objective is higher after each move
    window : (now, then) -> range of the share |E_alpha| / |E| within which all these moves, of which none is made, stay
        refused while nothing changes nearby; None where that is not certain
    """

    propose: Callable[[ClusteringState, int, np.ndarray], np.ndarray]
    rises: Callable[[Terms, Terms], np.ndarray]
    window: Callable[[Terms, Terms], tuple[float, float] | None]


@dataclass()
class Climb:
    """How a climb went.

    rounds : times the regions at the lowest level were listed; moves : moves committed; proposals : moves counted;
    since_last_move : proposals refused since the last move, pace : and before the moves made lately;
    reason : why it stopped, the end of a sentence; limited : whether it stopped at the limit of moves
    """

    rounds: int = 0
    moves: int = 0
    proposals: int = 0
    since_last_move: int = 0
    pace: float = 0.0
    reason: str = ""
    limited: bool = False


def climb(
    state: ClusteringState, variant: Variant, k: int, record: Climb, progress: Progress = silent
) -> Iterator[ClusteringState]:
    """Move sites until every region has level k or no move raises the objective; yields the state after each move.

    Every region at the lowest level proposes, for each of its bottleneck classes in turn, a move of its site; a move is
    made if the objective rises. When the level of a region rises, or the lowest level changes, the regions at the
    lowest level are listed again, in their order. What was refused is not counted again while nothing it depends on has
    changed. The objective rises with every move and takes a finite number of values, so that the climb ends.
    """
    refused = RefusedRegions(state)
    limit = int(MOVES_PER_SITE * (len(state.sites) + 10))
    while True:
        level = state.lowest
        if level >= k:
            record.reason = tr("every region has reached {k} records in its smallest class", k=k)
            return
        record.rounds += 1
        before = record.moves
        yield from _round(state, variant, level, limit, refused, record, progress)
        if record.moves >= limit:
            record.limited = True
            record.reason = tr(
                "the limit of {limit} moves was reached, although further moves would be better", limit=limit
            )
            return
        if record.moves == before:
            # Where areas are as near to two sites, a move elsewhere may have let a tie fall the other way.
            if state.has_ties and refused.relied_upon:
                refused.forget()
                continue
            record.reason = tr("no move of a region at the lowest level raises the objective any more")
            return


def _round(
    state: ClusteringState,
    variant: Variant,
    level: int,
    limit: int,
    refused: RefusedRegions,
    record: Climb,
    progress: Progress,
) -> Iterator[ClusteringState]:
    """Visit the regions at the lowest level in their order, until one of them rises above it."""
    region = -1
    while (region := refused.next_region(level, region)) >= 0:
        progress(1.0 - 0.5 ** (record.proposals / (50.0 * len(state.sites))))
        for change in _visit(state, variant, region, level, refused, record):
            record.moves += 1
            refused.forget_near(change)
            yield state
            if record.moves >= limit:
                return
            if state.anonymity[region] != level or state.lowest != level:
                return


def _visit(
    state: ClusteringState, variant: Variant, region: int, level: int, refused: RefusedRegions, record: Climb
) -> Iterator[Change]:
    """Propose a move for each bottleneck class of a region; yields the changes of those that are made."""
    bottlenecks = pending = state.counts.at(region, level)
    visit = _Visit()
    while len(pending):
        chunk = int(np.clip(max(record.since_last_move, record.pace) / 2, FEW, MANY))
        proposals = state.try_moves(region, variant.propose(state, region, pending[:chunk]))
        rises = variant.rises(state.now, proposals.terms)
        if not rises.any():
            record.proposals += len(rises)
            record.since_last_move += len(rises)
            visit.add(proposals, variant.window(state.now, proposals.terms))
            pending = pending[chunk:]
            continue
        first = int(rises.argmax())
        record.proposals += first + 1
        record.pace += (record.since_last_move + first - record.pace) / 8
        record.since_last_move = 0
        following = bottlenecks[bottlenecks > pending[first]]
        visit.made_moves = True
        yield state.commit(proposals, first)
        pending = np.intersect1d(following, state.counts.at(region, level), assume_unique=True)
    if not visit.made_moves:
        refused.remember(region, visit)


@dataclass()
class _Visit:
    """What the refused proposals of one visit rest on."""

    touched: list[np.ndarray] = field(default_factory=list)
    positions: list[np.ndarray] = field(default_factory=list)
    lower: float = -np.inf
    upper: float = np.inf
    certain: bool = True
    made_moves: bool = False

    def add(self, proposals: Proposals, window: tuple[float, float] | None) -> None:
        """Take note of proposals of which none was made."""
        self.touched.append(proposals.touched)
        self.positions.append(proposals.positions)
        if window is None:
            self.certain = False
        else:
            self.lower, self.upper = max(self.lower, window[0]), min(self.upper, window[1])


class RefusedRegions:
    """Regions all of whose proposals were refused, for as long as that is certain to happen again.

    A refusal rests on the regions that the proposals touch, those adjacent (where the proposals come from), the areas
    within reach of the proposed positions, the lowest level, and, between moves that leave the sum of the levels alone,
    on the share |E_alpha| / |E|.
    """

    def __init__(self, state: ClusteringState) -> None:
        self._state = state
        n_sites = len(state.sites)
        self._known = np.zeros(n_sites, bool)
        self._lower = np.full(n_sites, -np.inf)
        self._upper = np.full(n_sites, np.inf)
        self._centre = np.zeros((n_sites, 2))
        self._radius = np.zeros(n_sites)
        self._rests_on: list[list[int]] = [[] for _ in range(n_sites)]
        self._resting: list[set[int]] = [set() for _ in range(n_sites)]
        self.relied_upon = False

    def next_region(self, level: int, after: int) -> int:
        """The first region at the level, behind `after` in the order, whose proposals must be counted; -1 if none."""
        at_level = self._state.anonymity[after + 1 :] == level
        now = self._state.now
        share = int(now.classes_at_lowest[0]) / int(now.classes[0])
        # Near the ends of the window rounding could mislead: count again there.
        inside = (self._lower[after + 1 :] < share - 1e-12) & (share + 1e-12 < self._upper[after + 1 :])
        unknown = np.flatnonzero(at_level & ~(self._known[after + 1 :] & inside))
        self.relied_upon |= len(unknown) < int(np.count_nonzero(at_level))
        return int(unknown[0]) + after + 1 if len(unknown) else -1

    def remember(self, region: int, visit: _Visit) -> None:
        """All proposals of a region were refused."""
        if not visit.certain:
            return
        self._known[region] = True
        self._lower[region], self._upper[region] = visit.lower, visit.upper
        positions = np.concatenate(visit.positions)
        self._centre[region] = 0.5 * (positions.min(axis=0) + positions.max(axis=0))
        self._radius[region] = norms(positions - self._centre[region]).max()
        for other in self._rests_on[region]:
            self._resting[other].discard(region)
        on = to_list(np.unique(np.concatenate([*visit.touched, self._state.adjacent(region), [region]])))
        self._rests_on[region] = on
        for other in on:
            self._resting[other].add(region)

    def forget(self) -> None:
        """Count everything again."""
        self._known[:] = False
        self.relied_upon = False

    def forget_near(self, change: Change) -> None:
        """Forget the refusals that rest on what a move has changed."""
        for region in to_list(change.regions):
            self._known[list(self._resting[region])] = False
        areas = self._state.points[change.areas]
        reach = self._state.distances[change.areas]
        gap = norm(
            areas[:, None, 0] - self._centre[:, 0],
            areas[:, None, 1] - self._centre[:, 1],
        )
        self._known[(gap <= (reach[:, None] + self._radius) * (1 + 1e-9)).any(axis=0)] = False
