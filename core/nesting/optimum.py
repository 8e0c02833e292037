"""The best level for each cell of the profile: fewest suppressed records first, then the least sum of losses.

Classes do not touch each other, so each is a tree problem of its own; they are solved side by side. From the areas up,
every region learns what it would cost to hand up 0, 1, 2, … records of a class to the region above. A region that has
fewer than k records of a class has no choice, it hands up all of them; so only the others are worked out. On the way up
only costs are kept; which choices are behind them is found again for the few states that are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

# Up to this k a region may release a part of what arrives and hand up the rest; beyond, it releases all or nothing,
# which loses a little more and saves a factor of k in time.
LARGEST_K_IN_PARTS = 20
NOT_SHOWN = -1


@dataclass(frozen=True, eq=False)
class ProfileCells:
    """ProfileCells of the profile, the records of one class in one area: arrays (m,) int64."""

    area: np.ndarray
    class_of: np.ndarray
    records: np.ndarray


@dataclass(frozen=True, eq=False)
class _Table:
    """What handing up costs at the nodes (a region and a class) that have k records or more, a column each.

    cost : (k + 1, rows), by the number of records handed up: the least loss of what is released inside the region, plus
    what those handed up would lose if they were released there. The last stands for k and more, `most` of them: to hand
    up more than k is worth it only where single cells are large
    loss : (rows,), the loss of a record released in the region
    """

    cost: np.ndarray
    most: np.ndarray
    loss: np.ndarray


@dataclass(frozen=True, eq=False)
class _Items:
    """What has to be placed at a level: cells that no region below could show, and the nodes below that had a choice.

    Arrays (i,) int64: key, the class and region; records; cell, the number of the cell, and row, that of the node in
    the table below, -1 for the other kind
    """

    key: np.ndarray
    records: np.ndarray
    cell: np.ndarray
    row: np.ndarray

    def at(self, chosen: np.ndarray) -> _Items:
        """Some of the items."""
        return _Items(self.key[chosen], self.records[chosen], self.cell[chosen], self.row[chosen])


@dataclass(frozen=True, eq=False)
class _Steps:
    """How the states of a level came about, item by item: enough to find the choices behind one of them again.

    first : (rows,), the first item of each row, the others follow it; charge : (k + 1, i), what it costs to place so
    many records of an item here, infinite where they cannot be; before : for the second items, the third, …, the
    states without them, see _with_items
    """

    first: np.ndarray
    charge: np.ndarray
    before: list[np.ndarray]


@dataclass(frozen=True, eq=False)
class _Stage:
    """One level worked out, kept to walk the choices back.

    items : what had a choice at this level; row : (i,), of each of them; origin : (k + 1, rows), the state behind each
    number of records handed up; many : (i,), the records of each item in the cheapest way to place k or more
    """

    items: _Items
    row: np.ndarray
    origin: np.ndarray
    steps: _Steps
    many: np.ndarray


def best_levels(
    cells: ProfileCells, region_of: Sequence[np.ndarray], losses: Sequence[np.ndarray], k: int
) -> np.ndarray:
    """The level at which each cell is shown, (m,) int64, 0 the finest; NOT_SHOWN where its records are suppressed.

    region_of : of each level, finest first, the region of each area, (n,), nested, -1 for areas without cells
    losses : of each level, the loss of a record that is released in each of its regions
    Wherever a class is shown it has at least k records in that region. Nothing is suppressed but classes with fewer
    than k records in a region of the coarsest level. The sum of losses is the least if records that a region with a
    choice hands up stay together at the next level, and if of all ways to hand up k or more the cheapest is the right
    one (methods: section 12).
    """
    n_cells = len(cells.records)
    key = cells.class_of * len(losses[0]) + region_of[0][cells.area]
    items = _Items(key, cells.records, np.arange(n_cells), np.full(n_cells, -1))
    table = _Table(np.empty((k + 1, 0)), np.empty(0, np.int64), np.empty(0))
    stages = []
    for level, loss in enumerate(losses):
        items, table, stage = _work_out(items, loss, table, k)
        stages.append(stage)
        if level + 1 < len(losses):
            inside = region_of[level] >= 0
            parent = np.zeros(len(loss), np.int64)
            parent[region_of[level][inside]] = region_of[level + 1][inside]
            class_of, region = np.divmod(items.key, len(loss))
            items = replace(items, key=class_of * len(losses[level + 1]) + parent[region])
    return _walk_back(stages, n_cells, k)


def _work_out(items: _Items, loss: np.ndarray, below: _Table, k: int) -> tuple[_Items, _Table, _Stage]:
    """The items of the next level, the table of this one, and how it came about.

    loss : of each region of this level; below : the table of the level below
    """
    order = np.argsort(items.key, kind="stable")
    keys = items.key[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    number = np.diff(starts, append=len(keys))
    records = np.add.reduceat(items.records[order], starts)
    chooses = records >= k
    chosen = order[np.repeat(chooses, number)]
    keys, records, number = keys[starts[chooses]], records[chooses], number[chooses]
    # Rows with many items come first, so that those that have an item left are always the first ones.
    by_number = np.argsort(-number, kind="stable")
    row = np.argsort(by_number)
    rest, items = items.at(np.delete(np.arange(len(order)), chosen)), items.at(chosen)
    following = _Items(
        np.concatenate([rest.key, keys]),
        np.concatenate([rest.records, records]),
        np.concatenate([rest.cell, np.full(len(keys), -1)]),
        np.concatenate([rest.row, row]),
    )
    row_of, row_loss = np.repeat(row, number), loss[keys[by_number] % len(loss)]
    charge, most = _charges(items, row_loss[row_of], below, k)
    cost, origin, steps = _solved(items, charge, (np.cumsum(number) - number)[by_number], number[by_number])
    many, _ = _traced(steps, np.arange(len(row)), np.zeros_like(row), np.full_like(row, k))
    most = np.bincount(row_of, np.where(many < k, many, most), len(row)).astype(np.int64)
    return following, _Table(cost, most, row_loss), _Stage(items, row_of, origin, steps, many)


def _charges(items: _Items, loss: np.ndarray, below: _Table, k: int) -> tuple[np.ndarray, np.ndarray]:
    """What it costs to place 0, 1, …, k records of each item here, (k + 1, i), and how many the last ones are, (i,).

    A cell hands up all it has, a node what its row of the table allows; loss : (i,), of a record released here
    """
    charge, most = np.full((k + 1, len(loss)), np.inf), items.records.copy()
    cells, nodes = np.flatnonzero(items.row < 0), np.flatnonzero(items.row >= 0)
    charge[np.minimum(most[cells], k), cells] = most[cells] * loss[cells]
    rows = items.row[nodes]
    most[nodes] = below.most[rows]
    rise = loss[nodes] - below.loss[rows]
    cost = below.cost[:, rows]
    cost[:-1] += np.arange(k)[:, None] * rise
    cost[-1] += most[nodes] * rise
    charge[:, nodes] = cost
    return charge, most


def _solved(
    items: _Items, charge: np.ndarray, first: np.ndarray, number: np.ndarray
) -> tuple[np.ndarray, np.ndarray, _Steps]:
    """The cost by records handed up and the state behind each, both (k + 1, rows), and how they came about.

    first : (rows,), as in _Steps; number : (rows,), of items, falling
    """
    k = len(charge) - 1
    parts = k if k <= LARGEST_K_IN_PARTS else 0
    kind = np.where(items.row < 0, np.minimum(items.records, k), k + 1).astype(np.int16)
    cost, origin = np.empty((k + 1, len(first))), np.empty((k + 1, len(first)), np.int64)
    states = np.full((parts + 1, k + 1, len(first)), np.inf)
    states[0] = charge[:, first]
    states[1:, 0] = states[0, 1 : parts + 1]
    before = []
    for turn in range(1, 1 + number.max(initial=0)):
        left = np.searchsorted(-number, -turn)
        done = slice(left, states.shape[2])
        cost[:, done], origin[:, done] = _closed(states[..., left:])
        if left:
            before.append(states[..., :left])
            added = first[:left] + turn
            states = _with_items(before[-1], charge[:, added], kind[added])
    return cost, origin, _Steps(first, charge, before)


def _with_items(states: np.ndarray, charge: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """The least cost of each state with one more item in each row: (parts + 1, k + 1, rows), as without it.

    states[r, p] : r records are released here and p are handed up; the last r and the last p stand for k and more
    charge : (k + 1, rows); kind : (rows,), the only finite row of charge, k + 1 where there may be several
    """
    k = len(charge) - 1
    new = np.empty_like(states)
    by_kind = np.argsort(kind, kind="stable")
    for rows in np.split(by_kind, np.flatnonzero(np.diff(kind[by_kind])) + 1):
        of_kind = int(kind[rows[0]])
        columns = range(k + 1) if of_kind > k else range(of_kind, of_kind + 1)
        new[..., rows] = _handed_up(states.take(rows, axis=2), charge.take(rows, axis=1), columns)
    # Records cost the same here whether released or handed up, so that states[r, p] is states[p, r].
    return np.minimum(new, new.swapaxes(0, 1)) if len(states) > 1 else new


def _handed_up(states: np.ndarray, charge: np.ndarray, columns: range) -> np.ndarray:
    """The same if the items' records are handed up, as many as one of these columns of the charge tells."""
    k = states.shape[1] - 1
    new = np.full_like(states, np.inf)
    enough = states[:, k]  # the least of the states from which `column` records more lead to k and more
    for column in range(columns.stop):
        if column:
            enough = np.minimum(enough, states[:, k - column])
        if column in columns and np.isfinite(charge[column]).any():
            np.minimum(new[:, column:k], states[:, : k - column] + charge[column], out=new[:, column:k])
            np.minimum(new[:, k], enough + charge[column], out=new[:, k])
    return new


def _closed(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cost by records handed up, once all items are added, and the state behind each, both (k + 1, rows)."""
    parts, k = states.shape[0] - 1, states.shape[1] - 1
    cost = states[0].copy()
    origin = np.repeat(np.arange(k + 1)[:, None], states.shape[2], axis=1)
    if parts:
        released = states[parts] < cost
        np.copyto(cost, states[parts], where=released)
        origin += released * (parts * (k + 1))
    else:  # all that arrived is released, where that is k or more
        released = cost[k] < cost[0]
        cost[0, released] = cost[k, released]
        origin[0, released] = k
    return cost, origin


def _choices(stage: _Stage, released: np.ndarray, handed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many records each item places, (i,), and whether they are released here, (i,) bool.

    released, handed : (rows,), the state in the end. Where k or more all go one way, the choices are known.
    """
    k = len(stage.origin) - 1
    many = (released == 0) & (handed == k) | (released == k) & (handed == 0)
    rows = np.flatnonzero(~many & (released + handed > 0))
    columns, here = _traced(stage.steps, rows, released[rows], handed[rows])
    columns = np.where(many[stage.row], stage.many, columns)
    return columns, here | (many & (released > 0))[stage.row] & (columns > 0)


def _traced(steps: _Steps, rows: np.ndarray, released: np.ndarray, handed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same for some rows, ascending, 0 for the items of the others; released, handed : (some rows,), changed."""
    n_items = steps.charge.shape[1]
    columns, here = np.zeros(n_items, np.int64), np.zeros(n_items, bool)
    for turn in range(len(steps.before), 0, -1):
        before = steps.before[turn - 1]
        n = np.searchsorted(rows, before.shape[2])
        items = steps.first[rows[:n]] + turn
        choice = _last_choice(before, steps.charge[:, items], rows[:n], released[:n], handed[:n])
        columns[items], here[items], released[:n], handed[:n] = choice
    items = steps.first[rows]
    columns[items], here[items] = np.maximum(released, handed), released > 0
    return columns, here


def _last_choice(
    before: np.ndarray, charge: np.ndarray, rows: np.ndarray, released: np.ndarray, handed: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What the last item of some rows places and whether here, and what was released and handed up without it.

    before : the states of all rows. Of equal choices it is the one of fewer records, then the one that hands them up.
    """
    some = np.flatnonzero(released)
    line = before[released, :, rows].T if len(some) else before[0].take(rows, axis=1)
    column, least, before_handed = _last_step(line, handed, charge)
    here, before_released = np.zeros(len(rows), bool), released.copy()
    if len(some):
        line = before[:, handed[some], rows[some]]
        column_here, least_here, at = _last_step(line, released[some], charge[:, some])
        better = (least_here < least[some]) | (least_here == least[some]) & (column_here < column[some])
        chosen = some[better]
        here[chosen], column[chosen] = True, column_here[better]
        before_released[chosen], before_handed[chosen] = at[better], handed[chosen]
    return column, here, before_released, before_handed


def _last_step(line: np.ndarray, at: np.ndarray, charge: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How many records lead to `at` at the least cost, that cost, and from where: all (rows,).

    line : (k + 1, rows), the cost of where they may come from; charge : (k + 1, rows), of so many records
    """
    k, rows = len(line) - 1, np.arange(len(at))
    cost = np.minimum.accumulate(line[::-1], axis=0)  # all that has k or more in the end
    exact = np.flatnonzero(at < k)
    before = at[exact] - np.arange(k + 1)[:, None]
    cost[:, exact] = np.where(before < 0, np.inf, line[before, exact])
    cost += charge
    column = cost.argmin(axis=0)
    origin = at - column
    several = np.flatnonzero((at == k) & (column > 0))
    costs = line[:, several] + charge[column[several], several]
    costs[np.arange(k + 1)[:, None] < origin[several]] = np.inf
    origin[several] = costs.argmin(axis=0)
    return column, cost[column, rows], origin


def _walk_back(stages: Sequence[_Stage], n_cells: int, k: int) -> np.ndarray:
    """The level at which each cell is shown."""
    level_of = np.full(n_cells, NOT_SHOWN)
    handed = np.zeros(stages[-1].origin.shape[1], np.int64)
    shown: np.ndarray = np.full(len(handed), NOT_SHOWN)  # where what is handed up is released
    for level in range(len(stages) - 1, -1, -1):
        stage = stages[level]
        state = stage.origin[handed, np.arange(len(handed))]
        if k > LARGEST_K_IN_PARTS:  # all that arrived is released here, or nothing
            shown = np.where(state != handed, level, shown)
        columns, here = _choices(stage, *np.divmod(state, k + 1))
        shown_items = np.where(here, level, shown[stage.row])
        cells = stage.items.cell >= 0
        level_of[stage.items.cell[cells]] = shown_items[cells]
        if level:
            handed, shown = (np.empty(stages[level - 1].origin.shape[1], np.int64) for _ in range(2))
            rows = stage.items.row[~cells]
            handed[rows], shown[rows] = columns[~cells], shown_items[~cells]
    return level_of
