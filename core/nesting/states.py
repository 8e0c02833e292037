"""What regions can do that hold smaller regions with a choice of their own: states, and the choices behind them.

A state is (r, p): r records are released in the region and p are passed to the parent, where k stands for k and more; r
is at most k, or 0 where all or nothing is released. Items are added one by one. Records cost the same whether they are
released in the region or passed to the parent, so that (r, p) costs what (p, r) does.
"""

from __future__ import annotations

import numpy as np

from ..dataclass import dataclass


@dataclass(frozen=True, eq=False)
class Steps:
    """How the states came about, item by item: enough to find the choices behind one of them again.

    first : (rows,), the first item of each row, the others follow it; rows with more items come first
    charge : (k + 1, i), what it costs to place so many records of an item here, infinite where they cannot be
    before : for the first items, the second, …, the states without them, (parts + 1, k + 1, rows that have them)
    """

    first: np.ndarray
    charge: np.ndarray
    before: list[np.ndarray]


def solved(
    start: np.ndarray, first: np.ndarray, number: np.ndarray, charge: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Steps]:
    """The cost by records passed to the parent and the state behind each, both (k + 1, rows), and how they came about.

    start : (parts + 1, k + 1, rows), the least cost of each state before any item is added; first, charge : as in
    Steps; number : (rows,), of items, falling
    """
    cost, origin = np.empty(start.shape[1:]), np.empty(start.shape[1:], np.int64)
    left = int(np.searchsorted(-number, 0))
    cost[:, left:], origin[:, left:] = _closed(start[:: max(len(start) - 1, 1), :, left:])
    states, before, turn = start, [], 0
    while left:
        on = int(np.searchsorted(-number, -turn - 1))
        added, last = charge[:, first[:left] + turn], slice(on, left)
        before.append(states[..., :left])
        cost[:, last], origin[:, last] = _closed(_ends(states[..., last], added[:, last]))
        states = _with_items(states[..., :on], added[:, :on])
        left, turn = on, turn + 1
    return cost, origin, Steps(first, charge, before)


def _with_items(states: np.ndarray, charge: np.ndarray) -> np.ndarray:
    """The least cost of each state with one more item in each row, as without it; charge : (k + 1, rows)."""
    new = _passed_on(states, charge)
    return np.minimum(new, new.swapaxes(0, 1)) if len(states) > 1 else new


def _ends(states: np.ndarray, charge: np.ndarray) -> np.ndarray:
    """The same of the states that matter in the end: those that release nothing, and k and more, (2, k + 1, rows).

    Where all or nothing is released, the only line, (1, k + 1, rows).
    """
    if len(states) == 1:
        return _passed_on(states, charge)
    k = len(charge) - 1
    ends = _passed_on(states[::k], charge)
    np.minimum(ends[0], states[:, 0] + charge[0], out=ends[0])
    enough = states[:, k]
    for column in range(k + 1):
        if column:
            enough = np.minimum(enough, states[:, k - column])
        np.minimum(ends[1], enough + charge[column], out=ends[1])
    return ends


def _passed_on(states: np.ndarray, charge: np.ndarray) -> np.ndarray:
    """The same if the item's records are passed to the parent; states : of any numbers of records released."""
    k = len(charge) - 1
    new = np.full_like(states, np.inf)
    enough = states[:, k]  # the least of the states from which `column` records more lead to k and more
    for column in range(k + 1):
        if column:
            enough = np.minimum(enough, states[:, k - column])
        np.minimum(new[:, column:k], states[:, : k - column] + charge[column], out=new[:, column:k])
        np.minimum(new[:, k], enough + charge[column], out=new[:, k])
    return new


def _closed(ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cost by records passed on, once all items are added, and the state behind each, both (k + 1, rows)."""
    k = ends.shape[1] - 1
    cost = ends[0].copy()
    origin = np.repeat(np.arange(k + 1, dtype=np.int64)[:, None], ends.shape[2], axis=1)
    if len(ends) > 1:
        released = ends[1] < cost
        np.copyto(cost, ends[1], where=released)
        origin += released * (k * (k + 1))
    else:  # all that arrived is released, where that is k or more
        released = cost[k] < cost[0]
        cost[0, released] = cost[k, released]
        origin[0, released] = k
    return cost, origin


def traced(steps: Steps, rows: np.ndarray, released: np.ndarray, passed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many records each item of some rows places, (i,), and whether they are released here, (i,) bool.

    rows : ascending; items of other rows place 0. released, handed : (some rows,), the state in the end, which is
    changed to the one before any item was added
    """
    n_items = steps.charge.shape[1]
    columns, here = np.zeros(n_items, np.int64), np.zeros(n_items, bool)
    for turn in range(len(steps.before) - 1, -1, -1):
        before = steps.before[turn]
        n = np.searchsorted(rows, before.shape[2])
        items = steps.first[rows[:n]] + turn
        choice = _last_choice(before, steps.charge[:, items], rows[:n], released[:n], passed[:n])
        columns[items], here[items], released[:n], passed[:n] = choice
    return columns, here


def _last_choice(
    before: np.ndarray, charge: np.ndarray, rows: np.ndarray, released: np.ndarray, passed: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What the last item of some rows places and whether here, and what was released and passed to the parent without
    it.

    before : the states of all rows. Of equal choices it is the one of fewer records, then the one that hands them up.
    """
    some = np.flatnonzero(released)
    line = before[released, :, rows].T if len(some) else before[0].take(rows, axis=1)
    column, least, before_passed = _last_step(line, passed, charge)
    here, before_released = np.zeros(len(rows), bool), released.copy()
    if len(some):
        line = before[:, passed[some], rows[some]]
        column_here, least_here, at = _last_step(line, released[some], charge[:, some])
        better = (least_here < least[some]) | (least_here == least[some]) & (column_here < column[some])
        chosen = some[better]
        here[chosen], column[chosen] = True, column_here[better]
        before_released[chosen], before_passed[chosen] = at[better], passed[chosen]
    return column, here, before_released, before_passed


def _last_step(line: np.ndarray, at: np.ndarray, charge: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How many records lead to `at` at the least cost, that cost, and from where: all (rows,).

    line : (k + 1, rows), the cost of where they may come from; charge : (k + 1, rows), of so many records
    """
    k, rows = len(line) - 1, np.arange(len(at), dtype=np.int64)
    cost = np.minimum.accumulate(line[::-1], axis=0)  # all that has k or more in the end
    exact = np.flatnonzero(at < k)
    before = at[exact] - np.arange(k + 1, dtype=np.int64)[:, None]
    cost[:, exact] = np.where(before < 0, np.inf, line[before, exact])
    cost += charge
    column = cost.argmin(axis=0)
    origin = at - column
    several = np.flatnonzero(at == k)
    costs = line[:, several] + charge[column[several], several]
    costs[np.arange(k + 1, dtype=np.int64)[:, None] < origin[several]] = np.inf
    origin[several] = costs.argmin(axis=0)
    return column, cost[column, rows], origin
