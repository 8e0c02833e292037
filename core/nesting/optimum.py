"""The best level for each cell of the profile: fewest suppressed records first, then the least sum of losses.

Classes do not touch each other, so each is a tree problem of its own; they are solved side by side. From the areas up,
every region learns what it would cost to pass 0, 1, 2, … records of a class to its parent, the region above. A region
that has fewer than k records of a class has no choice, it passes all of them to its parent; so only the others are
worked out. What the cells among their items can do is known by their pattern; the regions within are added to that. On
the way up only costs are kept; which choices are behind them is found again for the few states that are asked for.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..dataclass import dataclass
from .patterns import Patterns
from .states import Steps, solved, traced
from .tree import Tree

# Up to this k a region may release a part of what arrives and pass the rest to its parent; beyond, it releases all or
# nothing, which loses a little more and saves a factor of k in time.
LARGEST_K_IN_PARTS = 20
NOT_SHOWN = -1


@dataclass(frozen=True, eq=False)
class ProfileCells:
    """Cells of the profile, the records of one class in one area: arrays (m,) int64."""

    area: np.ndarray
    class_of: np.ndarray
    records: np.ndarray


@dataclass(frozen=True, eq=False)
class _Items:
    """What has to be placed at a level: cells, or the nodes of the level below.

    Arrays (i,), ascending by class and place; number : which of them
    """

    class_of: np.ndarray
    place: np.ndarray
    records: np.ndarray
    number: np.ndarray

    def at(self, chosen: np.ndarray) -> _Items:
        """Some of the items."""
        return _Items(self.class_of[chosen], self.place[chosen], self.records[chosen], self.number[chosen])


@dataclass(frozen=True, eq=False)
class _Table:
    """What passing to the parent costs at the nodes (a region and a class) that have k records or more, a column each.

    cost : (k + 1, rows), by the number of records passed to the parent: the least loss of what is released inside the
    region, plus what those passed to the parent would lose if they were released there. The last stands for k and more,
    `most` of them: to pass on more than k is worth it only where single cells are large
    loss : (rows,), the loss of a record released in the region
    """

    cost: np.ndarray
    most: np.ndarray
    loss: np.ndarray


@dataclass(frozen=True, eq=False)
class _Rows:
    """The nodes of a level, ascending by class and place, and what they are made of.

    class_of, place, records : (rows,), of each; cells : the cells that no region below could show, in their turn
    first, length : (rows,), the first cell of each row and how many it has; first_node, n_nodes : (rows,), the same of
    the nodes of the level below, which are in their order
    """

    class_of: np.ndarray
    place: np.ndarray
    records: np.ndarray
    cells: np.ndarray
    first: np.ndarray
    length: np.ndarray
    first_node: np.ndarray
    n_nodes: np.ndarray


@dataclass(frozen=True, eq=False)
class _Stage:
    """One level worked out, kept to walk the choices back.

    rows, pattern : the nodes and the pattern of the cells of each; origin : (k + 1, rows), the state behind each number
    of records passed to the parent; mixed : the rows that have nodes, in the order of `steps`, how their states came
    about; begins : (mixed rows,) bool, whether the first node is what the states begin with, for want of cells; many :
    (nodes,), the records of each node in the cheapest way to place k or more
    """

    rows: _Rows
    pattern: np.ndarray
    origin: np.ndarray
    mixed: np.ndarray
    begins: np.ndarray
    steps: Steps
    many: np.ndarray


def patterns_for(k: int) -> Patterns:
    """Room for the patterns of a k, to be handed to `best_levels` again and again."""
    return Patterns(k, k if k <= LARGEST_K_IN_PARTS else 0)


def best_levels(
    cells: ProfileCells, tree: Tree, k: int, turn: np.ndarray | None = None, patterns: Patterns | None = None
) -> np.ndarray:
    """The level at which each cell is shown, (m,) int64, 0 the finest; NOT_SHOWN where its records are suppressed.

    turn : (m,), the order among the cells of a region, of which one of equal choices is taken; as they come where None
    patterns : of `patterns_for`, what was learnt before
    Wherever a class is shown it has at least k records in that region. Nothing is suppressed but classes with fewer
    than k records in a region of the coarsest level. The sum of losses is the least if records that a region with a
    choice passes to its parent stay together at the next level, and if of all ways to pass on k or more the cheapest is
    the right one (methods: section 12).
    """
    patterns = patterns_for(k) if patterns is None else patterns
    patterns.make_room()
    left, turn = _in_order(cells, tree), np.arange(len(cells.records), dtype=np.int64) if turn is None else turn
    nodes = left.at(np.empty(0, np.int64))
    table = _Table(np.empty((k + 1, 0)), np.empty(0, np.int64), np.empty(0))
    stages = []
    for level, loss in enumerate(tree.loss):
        rows, left = _gathered(left, nodes, len(loss), turn, k)
        table, stage = _work_out(rows, cells.records, loss[rows.place], table, patterns)
        stages.append(stage)
        if level + 1 < len(tree):
            within = tree.within[level]
            left = replace(left, place=within[left.place])
            nodes = _Items(rows.class_of, within[rows.place], rows.records, np.arange(len(rows.place), dtype=np.int64))
    return _walk_back(stages, len(cells.records), patterns)


def _in_order(cells: ProfileCells, tree: Tree) -> _Items:
    """The cells by class and place."""
    place = tree.place[cells.area]
    key = cells.class_of * len(tree.loss[0]) + place
    items = _Items(cells.class_of, place, cells.records, np.arange(len(key), dtype=np.int64))
    return items if (key[1:] >= key[:-1]).all() else items.at(np.argsort(key, kind="stable"))


def _gathered(cells: _Items, nodes: _Items, n_places: int, turn: np.ndarray, k: int) -> tuple[_Rows, _Items]:
    """The nodes of a level, and the cells of regions that have fewer than k records."""
    last = np.append((np.diff(cells.place) != 0) | (np.diff(cells.class_of) != 0), True)[: len(cells.place)]
    stops = np.flatnonzero(last) + 1
    starts = np.append(0, stops[:-1])[: len(stops)]
    runs = cells.class_of[starts] * n_places + cells.place[starts]
    records = np.add.reduceat(cells.records, starts) if len(starts) else np.empty(0, np.int64)
    of_node = nodes.class_of * n_places + nodes.place
    above = of_node[np.diff(of_node, prepend=-1) != 0]
    at = np.searchsorted(runs, above)
    there = np.append(runs, -1)[at] == above
    chosen = records >= k
    chosen[at[there]] = True
    keys = np.sort(np.concatenate([runs[chosen], above[~there]]), kind="stable")
    row_of_run, row_of_node = np.searchsorted(keys, runs[chosen]), np.searchsorted(keys, of_node)
    total = np.bincount(row_of_node, nodes.records, len(keys)).astype(np.int64)
    total[row_of_run] += records[chosen]
    length = np.zeros(len(keys), np.int64)
    length[row_of_run] = (stops - starts)[chosen]
    placed = np.repeat(chosen, stops - starts)
    number, row = cells.number[placed], np.repeat(np.arange(len(keys), dtype=np.int64), length)
    number = number[np.argsort(row * (int(turn.max(initial=0)) + 1) + turn[number])]
    n_nodes = np.bincount(row_of_node, minlength=len(keys))
    class_of, place = np.divmod(keys, n_places)
    counts = np.cumsum(length) - length, length, np.cumsum(n_nodes) - n_nodes, n_nodes
    return _Rows(class_of, place, total, number, *counts), cells.at(np.flatnonzero(~placed))


def _work_out(
    rows: _Rows, records: np.ndarray, loss: np.ndarray, below: _Table, patterns: Patterns
) -> tuple[_Table, _Stage]:
    """The table of a level, and how it came about.

    records : of all cells; loss : (rows,), of a record released in each row; below : the table of the level below
    """
    k, of_cells, n_rows = patterns.k, records[rows.cells], len(loss)
    row_of_cell, row_of_node = (
        np.repeat(np.arange(n_rows, dtype=np.int64), rows.length),
        np.repeat(np.arange(n_rows, dtype=np.int64), rows.n_nodes),
    )
    # Cells alone lose the same whatever becomes of them, as long as it can be.
    pattern = patterns.numbers(np.minimum(of_cells, k), rows.first, rows.length)
    lost = np.bincount(row_of_cell, of_cells * loss[row_of_cell], n_rows)
    cost = np.where(patterns.ends[pattern].T, lost, np.inf)
    origin = patterns.origin[pattern].T.astype(np.int64)
    # Rows with many nodes come first, so that those that have a node left are always the first ones.
    mixed = np.flatnonzero(rows.n_nodes)
    mixed = mixed[np.argsort((rows.length == 0)[mixed] - rows.n_nodes[mixed], kind="stable")]
    begins, first = rows.length[mixed] == 0, rows.first_node[mixed]
    charge = _charges(below, loss[row_of_node])
    start = np.where(np.moveaxis(patterns.reach[pattern[mixed]], 0, -1), lost[mixed], np.inf)
    start[0][:, begins] = charge[:, first[begins]]
    start[:, 0, begins] = start[0, : len(start)][:, begins]
    cost[:, mixed], origin[:, mixed], steps = solved(start, first + begins, rows.n_nodes[mixed] - begins, charge)
    stage = _Stage(rows, pattern, origin, mixed, begins, steps, np.empty(0, np.int64))
    many, _ = _traced(stage, np.arange(len(mixed), dtype=np.int64), np.zeros_like(mixed), np.full_like(mixed, k))
    placed = np.where(many < k, many, below.most)
    most = np.bincount(row_of_cell, of_cells, n_rows) + np.bincount(row_of_node, placed, n_rows)
    return _Table(cost, most.astype(np.int64), loss), replace(stage, many=many)


def _charges(below: _Table, loss: np.ndarray) -> np.ndarray:
    """What it costs to place 0, 1, …, k records of each node here, (k + 1, nodes); loss : (nodes,), of a record."""
    rise, charge = loss - below.loss, below.cost
    charge[:-1] += np.arange(len(charge) - 1, dtype=np.int64)[:, None] * rise
    charge[-1] += below.most * rise
    return charge


def _traced(stage: _Stage, some: np.ndarray, released: np.ndarray, passed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many records each node of some rows places, and whether they are released here; 0 for those of other rows.

    some : ascending positions among the mixed rows; released, handed : of each, the state in the end, which is changed
    to that of the cells alone
    """
    columns, here = traced(stage.steps, some, released, passed)
    alone = np.flatnonzero(stage.begins[some])
    nodes = stage.rows.first_node[stage.mixed[some[alone]]]
    columns[nodes], here[nodes] = np.maximum(released[alone], passed[alone]), released[alone] > 0
    return columns, here


def _walk_back(stages: list[_Stage], n_cells: int, patterns: Patterns) -> np.ndarray:
    """The level at which each cell is shown."""
    k = patterns.k
    level_of = np.full(n_cells, NOT_SHOWN, np.int64)
    passed = np.zeros(stages[-1].origin.shape[1], np.int64)
    released_at: np.ndarray = np.full(
        len(passed), NOT_SHOWN, np.int64
    )  # where what is passed to the parent is released
    for level in range(len(stages) - 1, -1, -1):
        stage, rows = stages[level], stages[level].rows
        state = stage.origin[passed, np.arange(len(passed), dtype=np.int64)]
        if not patterns.parts:  # all that arrived is released here, or nothing
            released_at = np.where(state != passed, level, released_at)
        released, up = np.divmod(state, k + 1)
        # Where k or more all go one way, the choices are known.
        many = (released == 0) & (up == k) | (released == k) & (up == 0)
        all_here = many & (released > 0)
        some = np.flatnonzero((~many & (state > 0))[stage.mixed])
        at = stage.mixed[some]
        released, up = released[at], up[at]
        columns, here = _traced(stage, some, released, up)
        state[at] = released * (k + 1) + up
        cells_here = np.repeat(all_here, rows.length)
        parted = np.flatnonzero(~many & (state > k) & (rows.length > 0))
        cells_here |= patterns.released(stage.pattern[parted], state[parted], rows.first[parted], len(rows.cells))
        level_of[rows.cells] = np.where(cells_here, level, np.repeat(released_at, rows.length))
        many, all_here, released_at = (np.repeat(of_row, rows.n_nodes) for of_row in (many, all_here, released_at))
        passed = np.where(many, stage.many, columns)
        released_at = np.where(here | all_here, level, released_at)
    return level_of
