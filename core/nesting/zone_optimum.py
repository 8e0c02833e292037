"""The cheapest places to show classes at, where a place that shows a class shows all that arrives at it.

As in `optimum`, a class is a tree problem of its own, and each place learns from the areas up what it would cost to
pass 0, 1, 2, … records to the place around it. Here a place shows all or nothing, and it matters whether what arrives
includes a *decoy*: k records or more from one part. Without one, a place may show the class only where it is said that
it may.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..dataclass import dataclass
from .zones import Storey


@dataclass(frozen=True, eq=False)
class Allowed:
    """What the places of a level that have a choice may do: arrays (rows,) bool, and their price.

    price : what a record costs that is shown there; shows : whether it may show the class at all; alone : whether it
    may do so without a decoy
    """

    price: np.ndarray
    shows: np.ndarray
    alone: np.ndarray


@dataclass(frozen=True, eq=False)
class _Stage:
    """One level worked out, kept to walk the choices back; rows in `order`, those with more parts first.

    before : the states without the last part, the last but one, …; charge : (k + 1, parts) what each part costs here
    lone_is_best : whether k or more are cheaper without a decoy; shows : whether passing nothing means to show all;
    shown_alone : whether it does so without one
    """

    order: np.ndarray
    first: np.ndarray
    before: list[np.ndarray]
    charge: np.ndarray
    cost: np.ndarray
    lone_is_best: np.ndarray
    shows: np.ndarray
    shown_alone: np.ndarray


def cheapest_release(storeys: Sequence[Storey], allowed: Sequence[Allowed], k: int) -> list[np.ndarray]:
    """Where each class is shown: of each level, (rows,) bool.

    The fewest records are left over in the end, then the sum of prices is the least: of all ways to pass on k or more
    the cheapest is taken for the right one, as in `optimum.best_levels`.
    """
    stages: list[_Stage] = []
    cost, many, price = np.empty((k + 1, 0)), np.empty(0), np.empty(0)
    for storey, of_level in zip(storeys, allowed):
        above = storey.above
        charge, rise = cost, of_level.price[above] - price
        charge[:k] += np.arange(k, dtype=np.int64)[:, None] * rise
        charge[k] += many * rise
        stage, cost, many = _worked_out(storey, of_level, charge, many, k, finest=not stages)
        stages.append(stage)
        price = of_level.price
    return _walked_back(stages, k)


def _worked_out(
    storey: Storey, allowed: Allowed, charge: np.ndarray, many: np.ndarray, k: int, finest: bool
) -> tuple[_Stage, np.ndarray, np.ndarray]:
    """A level; what passing 0, 1, …, k and more records costs each of its rows, and how many the last are.

    charge, many : the same of the parts, (k + 1, parts) and (parts,)
    """
    n_rows = len(storey)
    order = np.argsort(-storey.number, kind="stable")
    first, number, alone = storey.first[order], storey.number[order], storey.alone[order]
    # By records: 0 to k - 1, then k and more without a decoy, and with one. How many those are is in `counts`.
    states = np.full((k + 2, n_rows), np.inf)
    states[np.minimum(alone, k), np.arange(n_rows, dtype=np.int64)] = alone * allowed.price[order]
    counts = np.where(alone >= k, alone, 0) * np.ones((2, 1))
    before: list[np.ndarray] = []
    while True:
        left = int(np.searchsorted(-number, -len(before), side="left"))
        if not left:
            break
        parts = first[:left] + len(before)
        before.append(states[:, :left].copy())
        states[:, :left], counts[:, :left] = _with_part(before[-1], counts[:, :left], charge[:, parts], many[parts], k)
    lone_is_best = states[k] < states[k + 1]
    shown_alone = lone_is_best & (allowed.alone[order] | finest)
    could = np.where(shown_alone, states[k], states[k + 1])
    release = np.where(allowed.shows[order], could, np.inf)
    cost = np.concatenate([states[:k], np.minimum(states[k], states[k + 1])[None]])
    shows = np.isfinite(release) & (release <= cost[0])
    cost[0] = np.where(shows, release, cost[0])
    passed = np.where(lone_is_best, counts[0], counts[1])
    back = np.empty(n_rows, np.int64)
    back[order] = np.arange(n_rows, dtype=np.int64)
    stage = _Stage(order, first, before, charge, cost, lone_is_best, shows, shown_alone)
    return stage, cost[:, back], passed[back]


def _with_part(
    states: np.ndarray, counts: np.ndarray, charge: np.ndarray, many: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The states and counts with one more part in each row; many : (rows,) the part's records where they are k or
    more."""
    new, new_counts = np.full_like(states, np.inf), counts.copy()

    def take(row: int, cost: np.ndarray, count: np.ndarray) -> None:
        better = cost < new[row]
        np.copyto(new[row], cost, where=better)
        np.copyto(new_counts[row - k], count, where=better)

    best, count = states[k], counts[0]  # of k - column records and more, without a decoy
    for column in range(k):
        if column:
            better = states[k - column] < best
            best, count = np.where(better, states[k - column], best), np.where(better, k - column, count)
        np.minimum(new[column:k], states[: k - column] + charge[column], out=new[column:k])
        take(k, best + charge[column], count + column)
        take(k + 1, states[k + 1] + charge[column], counts[1] + column)
    for state, of_state in ((0, 0.0), (k + 1, counts[1])):
        better = states[state] < best
        best, count = np.where(better, states[state], best), np.where(better, of_state, count)
    take(k + 1, best + charge[k], count + many)
    return new, new_counts


def _walked_back(stages: Sequence[_Stage], k: int) -> list[np.ndarray]:
    """Which rows show their class, by level."""
    released: list[np.ndarray] = []
    passed = np.isfinite(stages[-1].cost).argmax(axis=0)  # the fewest that are left over
    passed_of = np.empty_like(passed)
    passed_of[stages[-1].order] = passed
    for stage in reversed(stages):
        passed = passed_of[stage.order]
        shows = stage.shows & (passed == 0)
        here = np.empty(len(shows), bool)
        here[stage.order] = shows
        released.insert(0, here)
        state = np.where(passed == k, np.where(stage.lone_is_best, k, k + 1), passed)
        state = np.where(shows, np.where(stage.shown_alone, k, k + 1), state)
        passed_of = np.zeros(stage.charge.shape[1], np.int64)
        for turn in range(len(stage.before) - 1, -1, -1):
            before = stage.before[turn]
            n = before.shape[1]
            parts = stage.first[:n] + turn
            passed_of[parts], state[:n] = _last_part(before, stage.charge[:, parts], state[:n], k)
    return released


def _last_part(before: np.ndarray, charge: np.ndarray, state: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """What the last part of each row passes, and the state without it; of equal choices the one that passes least."""
    rows = np.arange(len(state), dtype=np.int64)
    passed, origin = np.zeros_like(state), np.zeros_like(state)
    least = np.full(len(state), np.inf)

    def take(column: int, cost: np.ndarray, at: np.ndarray | int) -> None:
        better = cost < least
        np.copyto(least, cost, where=better)
        np.copyto(passed, column, where=better)
        np.copyto(origin, at, where=better)

    few, enough, accompanied = state < k, state == k, state == k + 1
    best, at = before[k], np.full_like(state, k)
    for column in range(k):
        if column:
            better = before[k - column] < best
            best, at = np.where(better, before[k - column], best), np.where(better, k - column, at)
        there = few & (state >= column)
        from_few = np.where(there, before[np.where(there, state - column, 0), rows], np.inf)
        take(column, from_few + charge[column], state - column)
        take(column, np.where(enough, best + charge[column], np.inf), at)
        take(column, np.where(accompanied, before[k + 1] + charge[column], np.inf), k + 1)
    for other in (0, k + 1):
        better = before[other] < best
        best, at = np.where(better, before[other], best), np.where(better, other, at)
    take(k, np.where(accompanied, best + charge[k], np.inf), at)
    return passed, origin
