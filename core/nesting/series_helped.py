"""Better levels for cells that stand together over several periods, found by moving them equivalence class by
equivalence class.

An equivalence class is a region and a class that is shown there. Where part of what an equivalence class shows would
lie in a smaller region, but falls short of k there in some period, or what is left does, others who are shown in still
smaller regions may help: they come up, if that loses less than is saved.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..arrays import different_pairs, runs
from ..dataclass import dataclass
from ..scientific import sparse
from .tree import Tree

MOST_HELPERS = 12  # that come up to one equivalence class
PAIRS_AT_ONCE = 400_000  # of equivalence classes and helpers


@dataclass(frozen=True, eq=False)
class Places:
    """The region of each cell at each level, (levels, m), numbered through all levels, and its loss, (all regions,)."""

    region: np.ndarray
    loss: np.ndarray

    def of(self, cells: np.ndarray) -> Places:
        """Those of some cells."""
        return Places(self.region[:, cells], self.loss)


@dataclass(frozen=True, eq=False)
class CellCounts:
    """Cells of classes over T periods: class_of (m,); counted (m, T), what k counts; records (m,), what loses
    geography."""

    class_of: np.ndarray
    counted: np.ndarray
    records: np.ndarray


@dataclass(frozen=True, eq=False)
class _EquivalenceClasses:
    """What is shown where: key : (l,) ascending, class and region; at : (m,) the equivalence class of each cell;
    counted : (l, T);
    level : (l,); records : (l,); a_cell : (l,) one of its cells."""

    key: np.ndarray
    at: np.ndarray
    counted: np.ndarray
    level: np.ndarray
    records: np.ndarray
    a_cell: np.ndarray


@dataclass(frozen=True, eq=False)
class _Units:
    """Who may come up together: whole equivalence classes, and single cells that their equivalence class can do
    without: arrays (u,).

    cell : a cell, itself or one of the equivalence class; whole : whether it is the equivalence class;
    equivalence_class, level, counted (u, T), records
    """

    cell: np.ndarray
    whole: np.ndarray
    equivalence_class: np.ndarray
    level: np.ndarray
    counted: np.ndarray
    records: np.ndarray


def places_of(tree: Tree, area: np.ndarray) -> Places:
    """The places of cells of some areas."""
    place = [tree.place[area]]
    for within in tree.within:
        place.append(np.append(within, -1)[place[-1]])
    sizes = np.array([len(loss) for loss in tree.loss], np.int64)
    first = np.cumsum(sizes) - sizes
    return Places(np.array(place) + first[:, None], np.concatenate(tree.loss))


def best_moves(counts: CellCounts, places: Places, k: int, level_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Moves of some cells, which are all shown: positions of cells, and the level of each then.

    Made are those that save most and touch no equivalence class together; each equivalence class then has nobody, or k
    and more, in each period, as before.
    """
    moves = _Moves(counts, places, k, level_of)
    moves.apart_into_all()
    moves.apart_in_part()
    moves.apart_with_some_left()
    return moves.best()


def _equivalence_classes(counts: CellCounts, places: Places, level_of: np.ndarray) -> _EquivalenceClasses:
    key = counts.class_of * len(places.loss) + places.region[level_of, np.arange(len(level_of), dtype=np.int64)]
    keys, a_cell, at = np.unique(key, return_index=True, return_inverse=True)
    at = at.reshape(-1)
    n = len(keys)
    records = np.bincount(at, counts.records, n)
    return _EquivalenceClasses(keys, at, _sums(at, counts.counted, n), level_of[a_cell], records, a_cell)


def _sums(group: np.ndarray, values: np.ndarray, n_groups: int) -> np.ndarray:
    ones = np.ones(len(group), values.dtype)
    return sparse.csr_matrix((ones, (group, np.arange(len(group), dtype=np.int64))), (n_groups, len(group))) @ values


def _holds(counted: np.ndarray, k: int) -> np.ndarray:
    return ((counted == 0) | (counted >= k)).all(axis=1)


def _units(equivalence_classes: _EquivalenceClasses, counts: CellCounts, k: int) -> _Units:
    n, counted = len(equivalence_classes.key), counts.counted
    several = np.bincount(equivalence_classes.at, minlength=n)[equivalence_classes.at] > 1
    spare = np.flatnonzero(several)
    spare = spare[_holds(equivalence_classes.counted[equivalence_classes.at[spare]] - counted[spare], k)]
    return _Units(
        np.concatenate([equivalence_classes.a_cell, spare]),
        np.arange(n + len(spare), dtype=np.int64) < n,
        np.concatenate([np.arange(n, dtype=np.int64), equivalence_classes.at[spare]]),
        np.concatenate([equivalence_classes.level, equivalence_classes.level[equivalence_classes.at[spare]]]),
        np.concatenate([equivalence_classes.counted, counted[spare]]),
        np.concatenate([equivalence_classes.records, counts.records[spare]]),
    )


class _Moves:
    """Moves that are looked at together: what each saves, which cells go where, and which equivalence classes it
    touches."""

    def __init__(self, counts: CellCounts, places: Places, k: int, level_of: np.ndarray) -> None:
        self._counts = CellCounts(counts.class_of, counts.counted.astype(np.int32), counts.records)
        self._places, self._k, self._n_regions = places, k, len(places.loss)
        self._equivalence_classes = _equivalence_classes(self._counts, places, level_of)
        self._units = _units(self._equivalence_classes, self._counts, k)
        self._n = 0
        self._gain: list[np.ndarray] = []
        self._cells: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # move, cell, its new level
        self._touched: list[tuple[np.ndarray, np.ndarray]] = []  # move, key of equivalence class

    @cached_property
    def _members(self) -> tuple[np.ndarray, np.ndarray]:
        """The cells ordered by equivalence class, and where those of each begin."""
        order = np.argsort(self._equivalence_classes.at, kind="stable")
        return order, np.searchsorted(
            self._equivalence_classes.at[order], np.arange(len(self._equivalence_classes.key) + 1, dtype=np.int64)
        )

    def _members_of(self, equivalence_classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The cells of some equivalence classes, and for each the position of that in `equivalence_classes`."""
        order, starts = self._members
        number = starts[equivalence_classes + 1] - starts[equivalence_classes]
        at = runs(starts[equivalence_classes], number)
        return order[at], np.repeat(np.arange(len(equivalence_classes), dtype=np.int64), number)

    def _released_at(self, key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The equivalence class of each key, -1 where nothing is shown; and what it counts, (keys, T)."""
        equivalence_classes = self._equivalence_classes
        at = np.searchsorted(equivalence_classes.key, key)
        equivalence_class = np.where(np.append(equivalence_classes.key, -1)[at] == key, at, -1)
        return equivalence_class, np.where(
            (equivalence_class >= 0)[:, None], equivalence_classes.counted[np.maximum(equivalence_class, 0)], 0
        )

    def apart_into_all(self) -> None:
        """An equivalence class goes down by a level, all of it."""
        equivalence_classes = self._equivalence_classes
        level_of = equivalence_classes.level[equivalence_classes.at]
        for level in range(int(equivalence_classes.level.max(initial=0))):
            cells = np.flatnonzero(level_of == level + 1)
            if len(cells):
                source, move = np.unique(equivalence_classes.at[cells], return_inverse=True)
                self._try(level, cells, move.reshape(-1), source)

    def apart_in_part(self) -> None:
        """Those in a smaller region go down, the rest stays."""
        equivalence_classes = self._equivalence_classes
        level_of, size = equivalence_classes.level[equivalence_classes.at], np.bincount(equivalence_classes.at)
        for level in range(int(equivalence_classes.level.max(initial=0))):
            cells = np.flatnonzero(level_of > level)
            if not len(cells):
                continue
            source, region, move = self._parts(level, cells)
            part = np.bincount(move, minlength=len(source)) < size[source]
            cells, move = cells[part[move]], (np.cumsum(part, dtype=np.int64) - 1)[move[part[move]]]
            source, region = source[part], region[part]
            if not len(cells):
                continue
            self._try(level, cells, move, source, region)
            up = self._above(
                source, equivalence_classes.counted[source] - _sums(move, self._counts.counted[cells], len(source))
            )
            some = np.flatnonzero(up >= 0)
            number = np.full(len(source), -1, np.int64)
            number[some] = np.arange(len(some), dtype=np.int64)
            kept = number[move] >= 0
            if kept.any():
                self._try(level, cells[kept], number[move[kept]], source[some], region[some], up[some])

    def _above(self, equivalence_class: np.ndarray, rest: np.ndarray) -> np.ndarray:
        """The nearest equivalence class in a larger region that gets what is left of each, (l,), where that falls short
        of k and the larger one holds with it; -1 for none. rest : (l, T)"""
        equivalence_classes, cell = self._equivalence_classes, self._equivalence_classes.a_cell[equivalence_class]
        up = np.full(len(equivalence_class), -1, np.int64)
        for level in range(1, len(self._places.region)):
            key = self._counts.class_of[cell] * self._n_regions + self._places.region[level, cell]
            there = self._released_at(key)[0]
            up = np.where((up < 0) & (equivalence_classes.level[equivalence_class] < level), there, up)
        fits = (up >= 0) & ~_holds(rest, self._k) & _holds(equivalence_classes.counted[up] + rest, self._k)
        return np.where(fits, up, -1)

    def _parts(self, level: int, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Cells by their equivalence class and their region of a level: equivalence class and region of each part, and
        the part of each."""
        pairs = self._equivalence_classes.at[cells] * self._n_regions + self._places.region[level, cells]
        pair, part = np.unique(pairs, return_inverse=True)
        source, region = np.divmod(pair, self._n_regions)
        return source, region, part.reshape(-1)

    def _try(
        self,
        level: int,
        cells: np.ndarray,
        move: np.ndarray,
        source: np.ndarray,
        region: np.ndarray | None = None,
        up: np.ndarray | None = None,
    ) -> None:
        """Moves in which some cells go down to a level, and others come up to what then falls short.

        source : (moves,) the equivalence class that they leave; region : (moves,) where only those in that region do,
        else None
        up : (moves,) the equivalence class that the others of that equivalence class go to, None where they stay
        """
        equivalence_classes, loss, n_moves = self._equivalence_classes, self._places.loss, len(source)
        goes_to = self._places.region[level, cells]
        saved_of = self._counts.records[cells] * (
            loss[equivalence_classes.key[source[move]] % self._n_regions] - loss[goes_to]
        )
        saved = np.bincount(move, saved_of, n_moves)
        # Short may fall the equivalence classes that they come to and, where some stay, those that they leave.
        own_key = self._counts.class_of[cells] * self._n_regions + goes_to
        pair, at = different_pairs(move, own_key)
        of_move, key = pair[:, 0], pair[:, 1]
        have = _sums(at, self._counts.counted[cells], len(pair)) + self._released_at(key)[1]
        at_level, without = np.full(len(pair), level, np.int64), np.full(len(pair), -1, np.int64)
        possible, spent = saved > 0, np.zeros(n_moves)
        if up is not None:
            left = equivalence_classes.records[source] - np.bincount(move, self._counts.records[cells], n_moves)
            spent = left * (
                loss[equivalence_classes.key[up] % self._n_regions]
                - loss[equivalence_classes.key[source] % self._n_regions]
            )
            possible &= spent < saved
        elif region is not None:
            rest = equivalence_classes.counted[source] - _sums(move, self._counts.counted[cells], n_moves)
            of_move = np.concatenate([of_move, np.arange(n_moves, dtype=np.int64)])
            key, have = np.concatenate([key, equivalence_classes.key[source]]), np.concatenate([have, rest])
            at_level, without = (
                np.concatenate([at_level, equivalence_classes.level[source]]),
                np.concatenate([without, region]),
            )
        short = ~_holds(have, self._k)
        helpers: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for up_to in np.unique(at_level[short]).tolist():
            some = np.flatnonzero(short & (at_level == up_to) & possible[of_move])
            budget = (saved - spent)[of_move[some]]
            done, cost, slot, unit = self._helped(up_to, key[some], have[some], without[some], level, budget)
            np.add.at(spent, of_move[some], cost)
            possible[of_move[some[~done]]] = False
            helpers.append((of_move[some[slot]], unit, np.full(len(unit), up_to, np.int64)))
        number = self._numbered(possible, saved, spent)
        kept = number[move] >= 0
        self._cells.append((number[move[kept]], cells[kept], np.full(int(kept.sum()), level, np.int64)))
        kept = number[of_move] >= 0
        self._touched.append((number[of_move[kept]], key[kept]))
        kept = number >= 0
        self._touched.append((number[kept], equivalence_classes.key[source[kept]]))
        if up is not None and region is not None:
            self._touched.append((number[kept], equivalence_classes.key[up[kept]]))
            others, at = self._members_of(source[kept])
            of = np.flatnonzero(kept)[at]
            outside = self._places.region[level, others] != region[of]
            of = of[outside]
            self._cells.append((number[of], others[outside], equivalence_classes.level[up[of]]))
        for of, unit, up_to in helpers:
            kept = number[of] >= 0
            self._comes_up(number[of[kept]], unit[kept], up_to[kept])

    def _numbered(self, possible: np.ndarray, saved: np.ndarray, spent: np.ndarray) -> np.ndarray:
        """The numbers of the moves that are possible and save something, -1 for the others."""
        good = possible & (saved - spent > 1e-9 * (np.abs(saved) + 1.0))
        number = np.where(good, self._n + np.cumsum(good, dtype=np.int64) - 1, -1)
        self._n += int(good.sum())
        self._gain.append((saved - spent)[good])
        return number

    def _comes_up(self, move: np.ndarray, unit: np.ndarray, level: np.ndarray) -> None:
        """Units, in moves, go up to a level."""
        units = self._units
        self._touched.append((move, self._equivalence_classes.key[units.equivalence_class[unit]]))
        whole = units.whole[unit]
        self._cells.append((move[~whole], units.cell[unit[~whole]], level[~whole]))
        cells, at = self._members_of(units.equivalence_class[unit[whole]])
        self._cells.append((move[whole][at], cells, level[whole][at]))

    def _helped(
        self, level: int, key: np.ndarray, have: np.ndarray, without: np.ndarray, moved_to: int, budget: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Equivalence classes of a level, once others have come up to them: whether they hold, what it costs, and who
        came: the position of the equivalence class, and the unit.

        key, have (l, T), budget : of each; without : the region of level `moved_to` from which nobody may come that is
        shown in it or within, -1 for none
        """
        units, region, loss = self._units, self._places.region, self._places.loss
        below = np.flatnonzero(units.level < level)
        unit_key = self._counts.class_of[units.cell[below]] * self._n_regions + region[level, units.cell[below]]
        order = np.argsort(unit_key, kind="stable")
        below, unit_key = below[order], unit_key[order]
        begins = np.searchsorted(unit_key, key)
        size = np.searchsorted(unit_key, key, side="right") - begins
        ends, done, cost = np.cumsum(size), np.zeros(len(key), bool), np.zeros(len(key))
        of_slot, of_unit, first = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
        while first < len(key):
            reached = ends[first - 1] if first else 0
            stop = max(int(np.searchsorted(ends, reached + PAIRS_AT_ONCE, side="right")), first + 1)
            some = slice(first, stop)
            slot = np.repeat(np.arange(stop - first, dtype=np.int64), size[some])
            unit = below[runs(begins[some], size[some])]
            there = units.level[unit] <= moved_to
            there &= region[moved_to, units.cell[unit]] == without[some][slot]
            slot, unit = slot[~there], unit[~there]
            rise = (
                loss[key[some][slot] % self._n_regions]
                - loss[self._equivalence_classes.key[units.equivalence_class[unit]] % self._n_regions]
            )
            helped = _cheapest(units, self._k, have[some], slot, unit, units.records[unit] * rise, budget[some])
            done[some], cost[some] = helped[0], helped[1]
            of_slot.append(helped[2] + first)
            of_unit.append(helped[3])
            first = stop
        return done, cost, np.concatenate(of_slot), np.concatenate(of_unit)

    def apart_with_some_left(self) -> None:
        """Those in a smaller region go down, but for some of these, or for others of the equivalence class that they
        join."""
        level_of = self._equivalence_classes.level[self._equivalence_classes.at]
        for level in range(int(self._equivalence_classes.level.max(initial=0))):
            cells = np.flatnonzero(level_of > level)
            if len(cells):
                self._try_but_some(level, cells)

    def _try_but_some(self, level: int, cells: np.ndarray) -> None:
        """Moves of cells to a level after which the equivalence class below holds, and that which they leave falls
        short: of all that the equivalence class below shows then, some come up to it, or stay there."""
        equivalence_classes, counts, loss = self._equivalence_classes, self._counts, self._places.loss
        source, region, move = self._parts(level, cells)
        n_moves, key = len(source), counts.class_of[equivalence_classes.a_cell[source]] * self._n_regions + region
        equivalence_class, there = self._released_at(key)
        part = _sums(move, counts.counted[cells], n_moves)
        rest, have = equivalence_classes.counted[source] - part, there + part
        rise = loss[equivalence_classes.key[source] % self._n_regions] - loss[region]
        saved = np.bincount(move, counts.records[cells], n_moves) * rise
        possible = _holds(have, self._k) & ~_holds(rest, self._k) & (saved > 0)
        of_move = possible[move]
        below = np.flatnonzero(possible & (equivalence_class >= 0))
        members, at = self._members_of(equivalence_class[below])
        slot, cell = np.concatenate([move[of_move], below[at]]), np.concatenate([cells[of_move], members])
        price, spent, done = counts.records[cell] * rise[slot], np.zeros(n_moves), np.zeros(n_moves, bool)
        taken: list[tuple[np.ndarray, np.ndarray]] = []
        for _ in range(MOST_HELPERS):
            fits = (spent[slot] + price < saved[slot]) & _holds(have[slot] - counts.counted[cell], self._k)
            slot, cell, price = slot[fits], cell[fits], price[fits]
            missing = _missing(rest[slot] + counts.counted[cell], self._k)
            better = _missing(rest, self._k)[slot] - missing
            best = _first(np.flatnonzero(better > 0), slot, missing > 0, price / np.maximum(better, 1))
            if not len(best):
                break
            of = slot[best]
            taken.append((of, cell[best]))
            rest[of] += counts.counted[cell[best]]
            have[of] -= counts.counted[cell[best]]
            spent[of] += price[best]
            done[of] = _missing(rest[of], self._k) == 0
            gone = np.full(n_moves, -1, np.int64)
            gone[of] = cell[best]
            goes_on = (gone[slot] >= 0) & (gone[slot] != cell)
            slot, cell, price = slot[goes_on], cell[goes_on], price[goes_on]
        number = self._numbered(done, saved, spent)
        stays = np.zeros(len(counts.class_of), bool)
        for of, cell in taken:
            kept = number[of] >= 0
            of, cell = of[kept], cell[kept]
            left = equivalence_classes.at[cell] == source[of]
            stays[cell[left]] = True
            self._cells.append((number[of[~left]], cell[~left], equivalence_classes.level[source[of[~left]]]))
        kept = (number[move] >= 0) & ~stays[cells]
        self._cells.append((number[move[kept]], cells[kept], np.full(int(kept.sum()), level, np.int64)))
        kept = number >= 0
        self._touched.append((number[kept], key[kept]))
        self._touched.append((number[kept], equivalence_classes.key[source[kept]]))

    def best(self) -> tuple[np.ndarray, np.ndarray]:
        """The moves that save most and touch no equivalence class together: the cells, and their new levels."""
        if not self._n:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        move, key = (np.concatenate(columns) for columns in zip(*self._touched))
        rank = np.empty(self._n, np.int64)
        rank[np.argsort(-np.concatenate(self._gain), kind="stable")] = np.arange(self._n, dtype=np.int64)
        equivalence_class = np.unique(key, return_inverse=True)[1].reshape(-1)
        n_equivalence_classes = int(equivalence_class.max()) + 1
        chosen, open_ = np.zeros(self._n, bool), np.ones(self._n, bool)
        while open_.any():
            first, live = np.full(n_equivalence_classes, self._n, np.int64), open_[move]
            np.minimum.at(first, equivalence_class[live], rank[move[live]])
            wins = open_.copy()
            wins[move[live & (first[equivalence_class] != rank[move])]] = False
            chosen |= wins
            taken = np.zeros(n_equivalence_classes, bool)
            taken[equivalence_class[wins[move]]] = True
            open_[move[taken[equivalence_class]]] = False
        move, cell, level = (np.concatenate(columns) for columns in zip(*self._cells))
        kept = chosen[move]
        return cell[kept], level[kept]


def _cheapest(
    units: _Units, k: int, have: np.ndarray, slot: np.ndarray, unit: np.ndarray, price: np.ndarray, budget: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Who comes up to equivalence classes that fall short, one after the other: first who helps most for what it costs,
    and last the cheapest by whom all holds; of all numbers of steps the one that costs least, of each equivalence class
    of units no two.

    have : (l, T) what the equivalence classes count; slot, unit, price : (p,) pairs of an equivalence class and who may
    come; budget : (l,)
    Returns whether each holds, what it costs, and pairs of an equivalence class and a unit.
    """
    n = len(have)
    now, spent, least = have.copy(), np.zeros(n), budget.copy()
    last, turns = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    steps: list[tuple[np.ndarray, np.ndarray]] = []
    for turn in range(MOST_HELPERS):
        cheap = spent[slot] + price < least[slot]
        slot, unit, price = slot[cheap], unit[cheap], price[cheap]
        missing = _missing(now[slot] + units.counted[unit], k)
        best = _first(np.flatnonzero(missing == 0), slot, price)
        of = slot[best]
        least[of], last[of], turns[of] = spent[of] + price[best], unit[best], turn
        better = _missing(now, k)[slot] - missing
        helps = np.flatnonzero((better > 0) & (spent[slot] + price < least[slot]))
        best = _first(helps, slot, price / np.maximum(better, 1))
        if not len(best):
            break
        of = slot[best]
        steps.append((of, unit[best]))
        spent[of] += price[best]
        now[of] += units.counted[unit[best]]
        gone = np.full(n, -1, np.int64)
        gone[of] = units.equivalence_class[unit[best]]
        goes_on = (gone[slot] >= 0) & (gone[slot] != units.equivalence_class[unit])
        slot, unit, price = slot[goes_on], unit[goes_on], price[goes_on]
    done = np.flatnonzero(last >= 0)
    of_slot, of_unit = [done], [last[done]]
    for turn, (of, came) in enumerate(steps):
        of_slot.append(of[turns[of] > turn])
        of_unit.append(came[turns[of] > turn])
    return last >= 0, np.where(last >= 0, least, 0.0), np.concatenate(of_slot), np.concatenate(of_unit)


def _first(some: np.ndarray, group: np.ndarray, *keys: np.ndarray) -> np.ndarray:
    """Of some pairs the first of each group by one or more keys."""
    order = some[np.lexsort((*(key[some] for key in reversed(keys)), group[some]))]
    return order[np.diff(group[order], prepend=-1) != 0]


def _missing(counted: np.ndarray, k: int) -> np.ndarray:
    """How many are missing in all periods in which there is anybody, (l,)."""
    return np.where(counted > 0, np.maximum(k - counted, 0), 0).sum(axis=1)
