"""The best level for each cell of the profile: fewest suppressed records first, then the least sum of losses.

Classes do not touch each other, so each is a tree problem of its own; they are solved side by side. From the areas up,
every region learns what it would cost to hand up 0, 1, 2, … records of a class to the region above. A region that has
fewer than k records of a class has no choice, it hands up all of them; so only the others are worked out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

# Up to this k a region may release a part of what arrives and hand up the rest; beyond, it releases all or nothing,
# which costs 2 to 4 % more loss and saves a factor of k in time.
LARGEST_K_IN_PARTS = 20
NOT_SHOWN = -1


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of the profile, the records of one class in one area: arrays (m,) int64."""

    area: np.ndarray
    class_of: np.ndarray
    records: np.ndarray


@dataclass(frozen=True, eq=False)
class _Table:
    """What handing up costs at the nodes (a region and a class) that have k records or more, a row each.

    cost : (rows, k + 1), by the number of records handed up: the least loss of what is released inside the region, plus
    what those handed up would lose if they were released there. The last column stands for k and more, `most` of them:
    to hand up more than k is worth it only where single cells are large
    loss : (rows,), the loss of a record released in the region
    """

    cost: np.ndarray
    most: np.ndarray
    loss: np.ndarray


@dataclass(frozen=True, eq=False)
class _Items:
    """What has to be placed at a level: cells that no region below could show, and the nodes below that had a choice.

    Arrays (i,) int64: key, the region and class; records; cell, the number of the cell, and row, that of the node in
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
class _Stage:
    """One level worked out, kept to walk the choices back.

    items : what had a choice at this level; steps : item by item, the rows, the items added to them and what is behind
    each state; origin : (rows, k + 1), the state behind each number of records handed up
    """

    items: _Items
    steps: list[tuple[np.ndarray, np.ndarray, np.ndarray]]
    origin: np.ndarray


def best_levels(cells: Cells, region_of: Sequence[np.ndarray], losses: Sequence[np.ndarray], k: int) -> np.ndarray:
    """The level at which each cell is shown, (m,) int64, 0 the finest; NOT_SHOWN where its records are suppressed.

    region_of : of each level, finest first, the region of each area, (n,), nested, -1 for areas without cells
    losses : of each level, the loss of a record that is released in each of its regions
    Wherever a class is shown it has at least k records in that region. Nothing is suppressed but classes with fewer
    than k records in a region of the coarsest level. The sum of losses is the least if records that a region with a
    choice hands up stay together at the next level, and if of all ways to hand up k or more the cheapest is the right
    one (methods: section 12).
    """
    n_classes = int(cells.class_of.max(initial=0)) + 1
    n_cells = len(cells.records)
    items = _Items(
        region_of[0][cells.area] * n_classes + cells.class_of, cells.records, np.arange(n_cells), np.full(n_cells, -1)
    )
    table = _Table(np.empty((0, k + 1)), np.empty(0, np.int64), np.empty(0))
    stages = []
    for level, loss in enumerate(losses):
        items, table, stage = _work_out(items, loss, n_classes, table, k)
        stages.append(stage)
        if level + 1 < len(losses):
            inside = region_of[level] >= 0
            parent = np.zeros(len(loss), np.int64)
            parent[region_of[level][inside]] = region_of[level + 1][inside]
            region, class_of = np.divmod(items.key, n_classes)
            items = replace(items, key=parent[region] * n_classes + class_of)
    return _walk_back(stages, n_cells, k)


def _work_out(items: _Items, loss: np.ndarray, n_classes: int, below: _Table, k: int) -> tuple[_Items, _Table, _Stage]:
    """The items of the next level, the table of this one, and how it came about.

    loss : of each region of this level; below : the table of the level below
    """
    keys, node_of = np.unique(items.key, return_inverse=True)
    node_of = node_of.reshape(-1)
    records = np.bincount(node_of, items.records, len(keys)).astype(np.int64)
    chooses = records >= k
    rest = items.at(~chooses[node_of])
    items, row_of = items.at(chooses[node_of]), (np.cumsum(chooses) - 1)[node_of[chooses[node_of]]]
    keys, records = keys[chooses], records[chooses]
    row_loss = loss[keys // n_classes]
    # states[i, r, p]: r records are released here and p are handed up; the last r and the last p stand for k and more.
    parts = k if k <= LARGEST_K_IN_PARTS else 0
    states = np.full((len(keys), parts + 1, k + 1), np.inf)
    states[:, 0, 0] = 0.0
    most = np.zeros(states.shape[:2], np.int64)
    order = np.argsort(items.row[items.row >= 0])
    charged = _charged_here(below, row_loss[row_of[items.row >= 0][order]])
    steps = []
    for added, rows in _turns(row_of):
        options = _options(items.at(added), row_loss[rows], charged)
        states[rows], most[rows], behind = _add_items(states[rows], most[rows], options)
        steps.append((rows, added, behind))
    cost, origin = _closed(states)
    table = _Table(cost, most[np.arange(len(most)), origin[:, -1] // (k + 1)], row_loss)
    none = np.full(len(keys), -1)
    following = _Items(
        np.concatenate([rest.key, keys]),
        np.concatenate([rest.records, records]),
        np.concatenate([rest.cell, none]),
        np.concatenate([rest.row, np.arange(len(keys))]),
    )
    return following, table, _Stage(items, steps, origin)


def _charged_here(children: _Table, loss: np.ndarray) -> _Table:
    """The table with what is handed up charged by the loss of the region above; loss : (rows,)."""
    rise = loss - children.loss
    cost = children.cost + np.arange(children.cost.shape[1]) * rise[:, None]
    cost[:, -1] = children.cost[:, -1] + children.most * rise
    return _Table(cost, children.most, loss)


def _turns(row_of: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The first item of each row, then the second of those that have one, …: pairs (items, their rows)."""
    items = np.argsort(row_of, kind="stable")
    rows = row_of[items]
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    turn = np.arange(len(rows)) - np.repeat(starts, np.diff(starts, append=len(rows)))
    by_turn = np.argsort(turn, kind="stable")
    for due in np.split(by_turn, np.cumsum(np.bincount(turn))[:-1]) if len(rows) else ():
        yield items[due], rows[due]


@dataclass(frozen=True, eq=False)
class _Options:
    """What items may hand up: arrays (o,) of the position of the item, the column and the charge.

    most : (items,), the records in the last column
    """

    item: np.ndarray
    column: np.ndarray
    charge: np.ndarray
    most: np.ndarray


def _options(items: _Items, loss: np.ndarray, charged: _Table) -> _Options:
    """A cell hands up all it has, a node what its row of the table allows; loss : (items,)."""
    k = charged.cost.shape[1] - 1
    cells, nodes = np.flatnonzero(items.row < 0), np.flatnonzero(items.row >= 0)
    cost = charged.cost[items.row[nodes]]
    position, column = np.nonzero(np.isfinite(cost))
    most = items.records.copy()
    most[nodes] = charged.most[items.row[nodes]]
    return _Options(
        np.concatenate([cells, nodes[position]]),
        np.concatenate([np.minimum(items.records[cells], k), column]),
        np.concatenate([items.records[cells] * loss[cells], cost[position, column]]),
        most,
    )


def _add_items(states: np.ndarray, most: np.ndarray, options: _Options) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The states with one more item each, and what is behind them: (rows, parts + 1, k + 1) int32.

    Behind a state stand the state before, the item's column, and whether those records are released here.
    """
    parts, k = states.shape[1] - 1, states.shape[2] - 1
    before = np.arange((parts + 1) * (k + 1), dtype=np.int32).reshape(parts + 1, k + 1) * (2 * (k + 1))
    new, behind = np.full_like(states, np.inf), np.zeros(states.shape, np.int32)
    for column in np.unique(options.column).tolist():
        of = np.flatnonzero(options.column == column)
        rows = options.item[of]
        value = states[rows] + options.charge[of, None, None]
        got, got_behind = new[rows], behind[rows]
        # Handed up. Of all that is beyond the last exact number only the cheapest is remembered.
        code = before + 2 * column
        _improve(got[:, :, column:k], got_behind[:, :, column:k], value[..., : k - column], code)
        _improve_by_best(got[:, :, k], got_behind[:, :, k], value[..., k - column :], code, axis=2)
        if parts and column:  # released here
            code = code + 1
            kept = max(parts - column, 0)
            _improve(got[:, column:parts], got_behind[:, column:parts], value[:, :kept], code)
            _improve_by_best(got[:, parts], got_behind[:, parts], value[:, kept:], code, axis=1)
        new[rows], behind[rows] = got, got_behind
    state, column, here = _decoded(behind[:, :, k], k)
    rows = np.arange(len(states))[:, None]
    handed = np.where(column == k, options.most[:, None], column) * ~here
    old = np.where(state % (k + 1) == k, most[rows, state // (k + 1)], state % (k + 1))
    return new, old + handed, behind


def _improve(target: np.ndarray, behind: np.ndarray, value: np.ndarray, code: np.ndarray) -> None:
    """Put each lower value in its place, with its code; `value` begins where `code` does, and may be smaller."""
    better = value < target
    np.copyto(target, value, where=better)
    np.copyto(behind, code[: value.shape[1], : value.shape[2]], where=better)


def _improve_by_best(target: np.ndarray, behind: np.ndarray, value: np.ndarray, code: np.ndarray, axis: int) -> None:
    """The same with the lowest value along an axis; `value` ends where `code` does."""
    best = np.expand_dims(value.argmin(axis=axis), axis)
    lowest = np.take_along_axis(value, best, axis).squeeze(axis)
    codes = code[code.shape[0] - value.shape[1] :, code.shape[1] - value.shape[2] :]
    better = lowest < target
    np.copyto(target, lowest, where=better)
    np.copyto(behind, np.take_along_axis(codes[None], best, axis).squeeze(axis), where=better)


def _decoded(behind: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The state before, the item's column, and whether those records are released here."""
    state, rest = np.divmod(behind, 2 * (k + 1))
    return state, rest // 2, rest % 2 == 1


def _closed(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cost by records handed up, once all items are added, and the state behind each, both (rows, k + 1)."""
    parts, k = states.shape[1] - 1, states.shape[2] - 1
    cost = states[:, 0].copy()
    origin = np.tile(np.arange(k + 1), (len(states), 1))
    if parts:
        released = states[:, parts] < cost
        cost[released] = states[:, parts][released]
        origin[released] += parts * (k + 1)
    else:  # all that arrived is released, where that is k or more
        released = cost[:, k] < cost[:, 0]
        cost[released, 0] = cost[released, k]
        origin[released, 0] = k
    return cost, origin


def _walk_back(stages: Sequence[_Stage], n_cells: int, k: int) -> np.ndarray:
    """The level at which each cell is shown."""
    level_of = np.full(n_cells, NOT_SHOWN)
    handed = np.zeros(len(stages[-1].origin), np.int64)
    shown = np.full(len(handed), NOT_SHOWN)  # where what is handed up is released
    for level in range(len(stages) - 1, -1, -1):
        stage = stages[level]
        state = stage.origin[np.arange(len(handed)), handed]
        if k > LARGEST_K_IN_PARTS:  # all that arrived is released here, or nothing
            shown = np.where(state != handed, level, shown)
        columns, shown_items = np.empty(len(stage.items.row), np.int64), np.empty(len(stage.items.row), np.int64)
        for rows, items, behind in reversed(stage.steps):
            code = behind.reshape(len(rows), -1)[np.arange(len(rows)), state[rows]]
            state[rows], columns[items], here = _decoded(code, k)
            shown_items[items] = np.where(here, level, shown[rows])
        cells = stage.items.cell >= 0
        level_of[stage.items.cell[cells]] = shown_items[cells]
        if level:
            handed, shown = (np.empty(len(stages[level - 1].origin), np.int64) for _ in range(2))
            rows = stage.items.row[~cells]
            handed[rows], shown[rows] = columns[~cells], shown_items[~cells]
    return level_of
