"""The best level for cells that stand together over several periods.

What a region of some level shows of a class must hold in every period in which it occurs there: nobody, or k and more,
in each. As in `optimum`, classes do not touch each other, and from the areas up every region learns what it would cost
to pass some of its records to the region above. Here what is passed is a number for every period, so that there are
very many possibilities: of each region the most promising are kept. A region shows all that arrives, or nothing; in the
end, parts of what it shows are shown in smaller regions wherever both then hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..arrays import different_pairs, turns
from ..dataclass import dataclass
from ..scientific import sparse
from ..ties import Ties, ranks
from .series_helped import CellCounts, best_moves, places_of
from .tree import Tree

MOST_STATES = 20  # possibilities that are kept of a region and class
PAIRS_AT_ONCE = 1 << 22  # numbers of records, of possibilities that are looked at together
MOST_ROUNDS = 200
NOT_SHOWN = -1


@dataclass(frozen=True, eq=False)
class SeriesCells:
    """Cells of areas and classes over T periods: arrays (m,) int64.

    counted : (m, T), what k counts in each period; records : over all periods, what loses geography
    """

    area: np.ndarray
    class_of: np.ndarray
    counted: np.ndarray
    records: np.ndarray


@dataclass(frozen=True, eq=False)
class _States:
    """Possibilities, those of each row (a region and class) one after the other: arrays (s,).

    row : ascending; cost : what is lost by the records that are shown within, and by those that are passed on if they
    were shown here; passed : (s, T), what is passed on, counted up to k; records : how many that are
    before, part : which possibility without the last part, and which of that part, it was made from; -1 for none
    """

    row: np.ndarray
    cost: np.ndarray
    passed: np.ndarray
    records: np.ndarray
    before: np.ndarray
    part: np.ndarray

    def at(self, chosen: np.ndarray) -> _States:
        """Some of the possibilities."""
        return _States(*(column[chosen] for column in vars(self).values()))


@dataclass(frozen=True, eq=False)
class _Stage:
    """One level worked out, kept to walk the choices back.

    cells, row_of_cell : those that no region below could show; row_of_part : of each possibility of the level below,
    its row there; steps : the possibilities, with one part more each; origin, shows : of each possibility in the end,
    that of the last step that it is, and whether its records are shown here
    """

    cells: np.ndarray
    row_of_cell: np.ndarray
    row_of_part: np.ndarray
    steps: list[_States]
    origin: np.ndarray
    shows: np.ndarray


def best_levels_of_series(
    cells: SeriesCells, tree: Tree, k: int, ties: Ties = None, check: Callable[[], None] = lambda: None
) -> np.ndarray:
    """The level at which each cell is shown, (m,) int64, 0 the finest; NOT_SHOWN where its records are suppressed.

    Wherever a class is shown it has k in each period in which it has anybody there. Suppressed are the classes of a
    region of the coarsest level that have 1 to k - 1 there in some period, in all periods.
    ties : decides among possibilities that cost the same; the first is taken where None; check : called now and then,
    raises to cancel
    """
    place = tree.place[cells.area]
    left = np.flatnonzero(place >= 0)
    nodes, above = _none(cells.counted.shape[1]), np.empty((2, 0), np.int64)  # class and place of each row below
    price, stages = np.empty(0), []
    for level, loss in enumerate(tree.loss):
        rows, row_of_cell = _rows(cells, left, place, above, len(loss), k)
        class_of, own = np.divmod(rows, len(loss))
        row_of_node = np.searchsorted(rows, above[0] * len(loss) + above[1])
        rise = (loss[own[row_of_node]] - price)[nodes.row]
        nodes = replace(nodes, cost=nodes.cost + nodes.records * rise)
        here = row_of_cell >= 0
        start = _start(cells, left[here], row_of_cell[here], loss[own], k)
        steps = _with_parts(start, nodes, np.bincount(row_of_node, minlength=len(rows)), k, ties)
        row_of_part = nodes.row
        nodes, origin, shows = _closed(steps[-1], k)
        stages.append(_Stage(left[here], row_of_cell[here], row_of_part, steps, origin, shows))
        left, price = left[~here], loss[own]
        if level + 1 < len(tree):
            place = np.append(tree.within[level], -1)[place]
            above = np.array([class_of, tree.within[level][own]])
        check()
    return improved(cells, tree, k, _walked_back(stages, nodes, len(cells.area)), check)


def improved(
    cells: SeriesCells, tree: Tree, k: int, level_of: np.ndarray, check: Callable[[], None] = lambda: None
) -> np.ndarray:
    """The levels once no part of what an equivalence class shows can move to a smaller region, neither by itself nor
    where others help it (`series_helped`), and less be lost. check : as for `best_levels_of_series`"""
    level_of = lowered(cells, tree, k, level_of, check)
    places, due = places_of(tree, cells.area), np.unique(cells.class_of)
    for _ in range(MOST_ROUNDS):
        some = np.flatnonzero(np.isin(cells.class_of, due) & (level_of >= 0))
        if not len(some):
            break
        counts = CellCounts(cells.class_of[some], cells.counted[some], cells.records[some])
        check()
        moved, target = best_moves(counts, places.of(some), k, level_of[some])
        due = np.unique(cells.class_of[some[moved]])
        level_of[some[moved]] = target
        of_due = np.flatnonzero(np.isin(cells.class_of, due))
        own = SeriesCells(cells.area[of_due], cells.class_of[of_due], cells.counted[of_due], cells.records[of_due])
        level_of[of_due] = lowered(own, tree, k, level_of[of_due], check)
    return level_of


def _none(n_periods: int) -> _States:
    whole = np.empty(0, np.int64)
    return _States(whole, np.empty(0), np.empty((0, n_periods), np.int16), np.empty(0), whole, whole)


def _rows(
    cells: SeriesCells, left: np.ndarray, place: np.ndarray, above: np.ndarray, n_places: int, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The regions and classes of a level that have a choice, as ascending keys: where some period has k, or a region
    within has a choice; and the row of each cell that is left, -1 for none."""
    key = cells.class_of[left] * n_places + place[left]
    keys, at = np.unique(key, return_inverse=True)
    sums = _sums(at.reshape(-1), cells.counted[left], len(keys))
    rows = np.union1d(keys[(sums >= k).any(axis=1)], above[0] * n_places + above[1])
    row = np.searchsorted(rows, key)
    return rows, np.where(np.append(rows, -1)[row] == key, row, -1)


def _sums(group: np.ndarray, values: np.ndarray, n_groups: int) -> np.ndarray:
    """The sums of the lines of a table by group, (n_groups, T)."""
    lines = np.arange(len(group), dtype=np.int64)
    return sparse.csr_matrix((np.ones(len(group), np.int64), (group, lines)), (n_groups, len(group))) @ values


def _start(cells: SeriesCells, own: np.ndarray, row: np.ndarray, loss: np.ndarray, k: int) -> _States:
    """The one possibility of each row before any part is added: what comes from cells is passed on."""
    records = np.bincount(row, cells.records[own], len(loss))
    passed = np.minimum(_sums(row, cells.counted[own], len(loss)), k).astype(np.int16)
    none = np.full(len(loss), -1, np.int64)
    return _States(np.arange(len(loss), dtype=np.int64), records * loss, passed, records, none, none)


def _with_parts(start: _States, nodes: _States, number: np.ndarray, k: int, ties: Ties) -> list[_States]:
    """The possibilities of each row with none of its parts, with the first, the first two, and so on.

    nodes : the possibilities of the parts; number : (rows,), how many parts each row has, which follow each other
    """
    first, steps = np.cumsum(number) - number, [start]
    starts = np.searchsorted(nodes.row, np.arange(int(number.sum()) + 1, dtype=np.int64))
    for turn in range(int(number.max(initial=0))):
        part = np.where(number > turn, first + turn, -1)
        steps.append(_with_part(steps[-1], nodes, part, starts, k, ties))
    return steps


def _with_part(states: _States, nodes: _States, part: np.ndarray, starts: np.ndarray, k: int, ties: Ties) -> _States:
    """The possibilities with one part more.

    part : (rows,), which, -1 for none; starts : where the possibilities of each part begin
    """
    alone = np.flatnonzero(part[states.row] < 0)
    made = [replace(states.at(alone), before=alone, part=np.full(len(alone), -1, np.int64))]
    several = np.flatnonzero(part >= 0)
    begins = np.searchsorted(states.row, several)
    own = np.searchsorted(states.row, several, side="right") - begins
    others_begin = starts[part[several]]
    others = starts[part[several] + 1] - others_begin
    pairs = np.cumsum(own * others)
    most, done = max(PAIRS_AT_ONCE // states.passed.shape[1], 1), 0
    while done < len(several):
        reached = pairs[done - 1] if done else 0
        stop = max(int(np.searchsorted(pairs, reached + most, side="right")), done + 1)
        some = slice(done, stop)
        size = own[some] * others[some]
        within = np.arange(int(size.sum()), dtype=np.int64) - np.repeat(np.cumsum(size) - size, size)
        width = np.repeat(others[some], size)
        before = np.repeat(begins[some], size) + within // width
        added = np.repeat(others_begin[some], size) + within % width
        joined = _States(
            np.repeat(several[some], size),
            states.cost[before] + nodes.cost[added],
            np.minimum(states.passed[before] + nodes.passed[added], k),
            states.records[before] + nodes.records[added],
            before,
            added,
        )
        made.append(joined.at(_most_promising(joined, ties)))
        done = stop
    every = _joined(made)
    return every.at(np.argsort(every.row, kind="stable"))


def _most_promising(states: _States, ties: Ties) -> np.ndarray:
    """Which possibilities of each row are kept, positions: of those that pass the same the cheapest, and of others the
    cheapest by the weakest period, and by how much is passed in all; the one that passes everything always."""
    factors = np.random.default_rng(0).integers(1, 2**63, states.passed.shape[1], dtype=np.uint64)
    same = (states.passed.astype(np.uint64) * factors).sum(axis=1, dtype=np.uint64)
    order = np.lexsort((ranks(len(same), ties), states.cost, same, states.row))
    first = (np.diff(states.row[order], prepend=-1) != 0) | (np.diff(same[order], prepend=same[:1]) != 0)
    order = np.sort(order[first])
    left = states.at(order)
    number = np.bincount(left.row)
    if number.max(initial=0) <= MOST_STATES:
        return order
    passed = left.passed.astype(np.int64)
    weakest = np.where(passed > 0, passed, np.iinfo(np.int64).max).min(axis=1)
    mass = passed.sum(axis=1)
    most = np.zeros(len(number), np.int64)
    np.maximum.at(most, left.row, mass)
    share = -(-MOST_STATES * mass // (2 * np.maximum(most, 1)[left.row]))
    turn = np.minimum(_turns(left, weakest), _turns(left, share))
    turn[_turns(replace(left, cost=-left.records), np.zeros_like(mass)) == 0] = -1
    by_turn = np.lexsort((left.cost, turn, left.row))
    return np.sort(order[by_turn[turns(left.row[by_turn]) < MOST_STATES]])


def _turns(states: _States, kind: np.ndarray) -> np.ndarray:
    """The place of each possibility among those of its row and kind, the cheapest first, (s,)."""
    order = np.lexsort((states.cost, kind, states.row))
    new = (np.diff(states.row[order], prepend=-1) != 0) | (np.diff(kind[order], prepend=-1) != 0)
    turn = np.empty(len(order), np.int64)
    turn[order] = turns(np.cumsum(new))
    return turn


def _closed(states: _States, k: int) -> tuple[_States, np.ndarray, np.ndarray]:
    """The possibilities of a level in the end; which of those before each is, and whether its records are shown here.

    Where all that is passed holds, it may be shown; of all that pass nothing the cheapest is kept.
    """
    holds = ((states.passed == 0) | (states.passed == k)).all(axis=1)
    open_ = np.any(states.passed, axis=1)
    closing = np.flatnonzero(holds)  # those that pass nothing among them
    closing = closing[np.lexsort((states.cost[closing], states.row[closing]))]
    closing = closing[np.diff(states.row[closing], prepend=-1) != 0]
    shut = states.at(closing)
    shut = replace(shut, passed=np.zeros_like(shut.passed), records=np.zeros_like(shut.records))
    kept = np.flatnonzero(open_)
    left = states.at(kept)
    origin = np.concatenate([closing, kept])
    shows = np.concatenate([open_[closing], np.zeros(len(kept), bool)])
    every = _joined([shut, left])
    order = np.argsort(every.row, kind="stable")
    return every.at(order), origin[order], shows[order]


def _joined(some: list[_States]) -> _States:
    return _States(*(np.concatenate(columns) for columns in zip(*(vars(states).values() for states in some))))


def _walked_back(stages: list[_Stage], nodes: _States, n_cells: int) -> np.ndarray:
    """The level at which each cell is shown; nodes : the possibilities of the coarsest level."""
    level_of = np.full(n_cells, NOT_SHOWN, np.int64)
    # What passes nothing on, where there is a way to; else all of the class is suppressed.
    chosen = np.full(len(stages[-1].steps[0].row), NOT_SHOWN, np.int64)
    nothing_left = np.flatnonzero(~nodes.passed.any(axis=1))
    chosen[nodes.row[nothing_left]] = nothing_left
    released_at = np.full(len(chosen), NOT_SHOWN, np.int64)  # where what is passed on is shown
    for level in range(len(stages) - 1, -1, -1):
        stage = stages[level]
        released_at = np.where((chosen >= 0) & np.append(stage.shows, False)[chosen], level, released_at)
        at = np.append(stage.origin, -1)[chosen]
        level_of[stage.cells] = released_at[stage.row_of_cell]
        n_below = len(stages[level - 1].steps[0].row) if level else 0
        chosen_below, shown_below = np.full(n_below, -1, np.int64), np.full(n_below, NOT_SHOWN, np.int64)
        for step in reversed(stage.steps[1:]):
            rows = np.flatnonzero(at >= 0)
            part = step.part[at[rows]]
            with_part = part >= 0
            node = stage.row_of_part[part[with_part]]
            chosen_below[node], shown_below[node] = part[with_part], released_at[rows[with_part]]
            at[rows] = step.before[at[rows]]
        chosen, released_at = chosen_below, shown_below
    return level_of


def lowered(
    cells: SeriesCells, tree: Tree, k: int, level_of: np.ndarray, check: Callable[[], None] = lambda: None
) -> np.ndarray:
    """The levels once every part of an equivalence class is shown in the smaller region in which it lies, where it
    holds there, with what is shown there already, and what is left holds too; what saves most comes first."""
    place = [tree.place[cells.area]]
    for within in tree.within:
        place.append(np.append(within, -1)[place[-1]])
    level_of = level_of.copy()
    due = np.unique(cells.class_of[level_of > 0])
    for _ in range(MOST_ROUNDS):
        some = np.flatnonzero(np.isin(cells.class_of, due) & (level_of >= 0))
        if not len(some):
            break
        check()
        moved, target = _moves(cells, [of[some] for of in place], tree, k, some, level_of[some])
        level_of[moved] = target
        due = np.unique(cells.class_of[moved])
    return level_of


def _moves(
    cells: SeriesCells, place: list[np.ndarray], tree: Tree, k: int, some: np.ndarray, level_of: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Cells that can be shown in smaller regions, and their new level: of each equivalence class at most one part, and
    none that another move touches.

    place : of each level, that of each of some cells, whose levels are `level_of`
    """
    n_levels, n_cells = len(tree), len(some)
    n_places = np.array([len(loss) for loss in tree.loss], np.int64)
    first = np.cumsum(n_places) - n_places
    of_cell = (
        np.choose(level_of, place) if n_levels < 32 else np.array(place)[level_of, np.arange(n_cells, dtype=np.int64)]
    )
    n_all = int(n_places.sum())
    key = cells.class_of[some] * n_all + first[level_of] + of_cell
    keys, at = np.unique(key, return_inverse=True)
    at = at.reshape(-1)
    counted, records = cells.counted[some], cells.records[some]
    whole = _sums(at, counted, len(keys))
    loss_of = np.concatenate(tree.loss)
    moves: list[tuple[np.ndarray, ...]] = []
    n_found = 0
    for level in range(n_levels - 1):
        above = np.flatnonzero(level_of > level)
        if not len(above):
            break
        target = cells.class_of[some[above]] * n_all + first[level] + place[level][above]
        pairs, group = different_pairs(at[above], target)
        there = np.searchsorted(keys, pairs[:, 1])
        is_there = np.append(keys, -1)[there] == pairs[:, 1]
        beside = np.where(is_there[:, None], np.append(whole, whole[:1], axis=0)[there], 0)
        above, group = _peeled(above, group, counted, beside, k)
        left = whole[pairs[:, 0]] - _sums(group, counted[above], len(pairs))
        short = (left > 0) & (left < k)  # who lives in such a period stays
        stays = ~((counted[above] > 0) & short[group]).any(axis=1)
        above, group = _peeled(above[stays], group[stays], counted, beside, k)
        left = whole[pairs[:, 0]] - _sums(group, counted[above], len(pairs))
        fits = ((left == 0) | (left >= k)).all(axis=1)
        saved = loss_of[keys[pairs[:, 0]] % n_all] - loss_of[pairs[:, 1] % n_all]
        gain = np.bincount(group, records[above], len(pairs)) * saved
        good = np.flatnonzero(fits & (gain > 0))
        number = np.full(len(pairs), -1, np.int64)
        number[good] = n_found + np.arange(len(good), dtype=np.int64)
        n_found += len(good)
        inside = number[group] >= 0
        to_level = np.full(len(good), level, np.int64)
        of_moves = gain[good], keys[pairs[good, 0]], pairs[good, 1], to_level
        moves.append((*of_moves, number[group][inside], above[inside]))
    if not n_found:
        return some[:0], level_of[:0]
    gain, source, target, to_level, group, member = (np.concatenate(of) for of in zip(*moves))
    chosen = _apart(gain, source, target)
    moving = chosen[group]
    return some[member[moving]], to_level[group[moving]]


def _peeled(
    cells: np.ndarray, group: np.ndarray, counted: np.ndarray, beside: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The most cells of each group that hold together with what is shown beside them, and the group of each.

    counted : (m, T), of all cells; beside : (groups, T). Cells go that have anybody in a period in which too few are
    left.
    """
    while True:
        short = _sums(group, counted[cells], len(beside)) + beside < k
        stays = ~((counted[cells] > 0) & short[group]).any(axis=1)
        if stays.all():
            return cells, group
        cells, group = cells[stays], group[stays]


def _apart(gain: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Moves that touch no equivalence class together, (moves,) bool: those that save more than all others that touch
    either of theirs."""
    order = np.argsort(-gain, kind="stable")
    rank = np.empty(len(gain), np.int64)
    rank[order] = np.arange(len(gain), dtype=np.int64)
    touched, at = np.unique(np.concatenate([source, target]), return_inverse=True)
    at = at.reshape(-1)
    best = np.full(len(touched), len(gain), np.int64)
    np.minimum.at(best, at, np.concatenate([rank, rank]))
    from_, to = np.split(at, 2)
    return (best[from_] == rank) & (best[to] == rank)
