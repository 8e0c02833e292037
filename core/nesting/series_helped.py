"""Better levels for cells that stand together over several periods, found by moving them label by label.

A label is a region and a class that is shown there. Where part of what a label shows would lie in a smaller region, but
falls short of k there in some period, or what is left does, others who are shown in still smaller regions may help:
they come up, if that loses less than is saved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..scientific import sparse
from .tree import Tree

MOST_HELPERS = 6  # that come up to one label
DEEPEST = 3  # how many levels part of a label goes down at once
PAIRS_AT_ONCE = 2_000_000  # of labels and helpers


@dataclass(frozen=True, eq=False)
class Places:
    """The region of each cell at each level, (levels, m), numbered through all levels, and its loss, (all regions,)."""

    region: np.ndarray
    loss: np.ndarray

    def of(self, cells: np.ndarray) -> Places:
        """Those of some cells."""
        return Places(self.region[:, cells], self.loss)


@dataclass(frozen=True, eq=False)
class Counts:
    """Cells of classes over T periods: class_of (m,), counted (m, T) what k counts, records (m,) what loses geography."""

    class_of: np.ndarray
    counted: np.ndarray
    records: np.ndarray


@dataclass(frozen=True, eq=False)
class _Labels:
    """What is shown where: key : (l,) ascending, class and region; at : (m,) the label of each cell; counted : (l, T);
    level : (l,); records : (l,); a_cell : (l,) one of its cells."""

    key: np.ndarray
    at: np.ndarray
    counted: np.ndarray
    level: np.ndarray
    records: np.ndarray
    a_cell: np.ndarray


@dataclass(frozen=True, eq=False)
class _Units:
    """Who may come up together: whole labels, and single cells that their label can do without: arrays (u,).

    cell : a cell, itself or one of the label; whole : whether it is the label; label, level, counted (u, T), records
    """

    cell: np.ndarray
    whole: np.ndarray
    label: np.ndarray
    level: np.ndarray
    counted: np.ndarray
    records: np.ndarray


def places_of(tree: Tree, area: np.ndarray) -> Places:
    """The places of cells of some areas."""
    place = [tree.place[area]]
    for within in tree.within:
        place.append(np.append(within, -1)[place[-1]])
    sizes = np.array([len(loss) for loss in tree.loss])
    first = np.cumsum(sizes) - sizes
    return Places(np.array(place) + first[:, None], np.concatenate(tree.loss))


def best_moves(counts: Counts, places: Places, k: int, level_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Moves of some cells, which are all shown: positions of cells, and the level of each then.

    Made are those that save most and touch no label together; each label then has nobody, or k and more, in each
    period, as before.
    """
    moves = _Moves(counts, places, k, level_of)
    moves.apart_into_all()
    moves.apart_in_part()
    moves.apart_with_some_left()
    return moves.best()


def _labels(counts: Counts, places: Places, level_of: np.ndarray) -> _Labels:
    key = counts.class_of * len(places.loss) + places.region[level_of, np.arange(len(level_of))]
    found, a_cell, at = np.unique(key, return_index=True, return_inverse=True)
    at = at.reshape(-1)
    n = len(found)
    records = np.bincount(at, counts.records, n)
    return _Labels(found, at, _sums(at, counts.counted, n), level_of[a_cell], records, a_cell)


def _sums(group: np.ndarray, values: np.ndarray, n_groups: int) -> np.ndarray:
    ones = np.ones(len(group), values.dtype)
    return sparse.csr_matrix((ones, (group, np.arange(len(group)))), (n_groups, len(group))) @ values


def _holds(counted: np.ndarray, k: int) -> np.ndarray:
    return ((counted == 0) | (counted >= k)).all(axis=1)


def _units(labels: _Labels, counts: Counts, k: int) -> _Units:
    n, counted = len(labels.key), counts.counted
    several = np.bincount(labels.at, minlength=n)[labels.at] > 1
    spare = np.flatnonzero(several)
    spare = spare[_holds(labels.counted[labels.at[spare]] - counted[spare], k)]
    return _Units(
        np.concatenate([labels.a_cell, spare]),
        np.arange(n + len(spare)) < n,
        np.concatenate([np.arange(n), labels.at[spare]]),
        np.concatenate([labels.level, labels.level[labels.at[spare]]]),
        np.concatenate([labels.counted, counted[spare]]),
        np.concatenate([labels.records, counts.records[spare]]),
    )


class _Moves:
    """Moves that are looked at together: what each saves, which cells go where, and which labels it touches."""

    def __init__(self, counts: Counts, places: Places, k: int, level_of: np.ndarray) -> None:
        self.class_of, self.counted, self.records = counts.class_of, counts.counted.astype(np.int32), counts.records
        counts = Counts(self.class_of, self.counted, self.records)
        self.places, self.k, self.n_regions = places, k, len(places.loss)
        self.labels = _labels(counts, places, level_of)
        self.units = _units(self.labels, counts, k)
        self.n = 0
        self.gain: list[np.ndarray] = []
        self.cells: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # move, cell, its new level
        self.touched: list[tuple[np.ndarray, np.ndarray]] = []  # move, key of label

    def apart_into_all(self) -> None:
        """A label goes down by a level, all of it."""
        labels, level_of = self.labels, self.labels.level[self.labels.at]
        for level in range(int(labels.level.max(initial=0))):
            cells = np.flatnonzero(level_of == level + 1)
            if len(cells):
                source, move = np.unique(labels.at[cells], return_inverse=True)
                self._try(level, cells, move.reshape(-1), source, None)

    def apart_in_part(self) -> None:
        """Those in a smaller region go down, the rest stays."""
        labels, level_of = self.labels, self.labels.level[self.labels.at]
        for level in range(int(labels.level.max(initial=0))):
            cells = np.flatnonzero((level_of > level) & (level_of <= level + DEEPEST))
            if not len(cells):
                continue
            pairs = labels.at[cells] * self.n_regions + self.places.region[level, cells]
            pair, move = np.unique(pairs, return_inverse=True)
            move = move.reshape(-1)
            source, region = np.divmod(pair, self.n_regions)
            part = np.bincount(move, minlength=len(pair)) < np.bincount(labels.at)[source]
            cells, move = cells[part[move]], (np.cumsum(part) - 1)[move[part[move]]]
            if len(cells):
                self._try(level, cells, move, source[part], region[part])

    def _try(
        self, level: int, cells: np.ndarray, move: np.ndarray, source: np.ndarray, region: np.ndarray | None
    ) -> None:
        """Moves in which some cells go down to a level, and others come up to what then falls short.

        source : (moves,) the label that they leave; region : (moves,) where only those in that region do, else None
        """
        labels, n_moves, k = self.labels, len(source), self.k
        # The labels that get them.
        key = self.class_of[cells] * self.n_regions + self.places.region[level, cells]
        pair, slot = np.unique(np.column_stack([move, key]), axis=0, return_inverse=True)
        slot = slot.reshape(-1)
        there = np.searchsorted(labels.key, pair[:, 1])
        is_there = np.append(labels.key, -1)[there] == pair[:, 1]
        have = _sums(slot, self.counted[cells], len(pair))
        have = have + np.where(is_there[:, None], np.append(labels.counted, labels.counted[:1], axis=0)[there], 0)
        saved = np.bincount(
            move,
            self.records[cells]
            * (
                self.places.loss[labels.key[source] % self.n_regions][move]
                - self.places.loss[self.places.region[level, cells]]
            ),
            n_moves,
        )
        slots = [
            (pair[:, 0], np.full(len(pair), level), pair[:, 1], have, np.full(len(pair), -1), np.full(len(pair), level))
        ]
        if region is not None:
            rest = labels.counted[source] - _sums(move, self.counted[cells], n_moves)
            of = np.arange(n_moves)
            slots.append((of, labels.level[source], labels.key[source], rest, region, np.full(n_moves, level)))
        of_move, slot_level, slot_key, have, without, without_level = (np.concatenate(x) for x in zip(*slots))
        alive = saved > 0
        spent = np.zeros(n_moves)
        helpers: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        short = ~_holds(have, k)
        for at_level in np.unique(slot_level[short]).tolist():
            chosen = np.flatnonzero(short & (slot_level == at_level) & alive[of_move])
            budget = saved - spent
            done, cost, of_slot, unit = self._repaired(
                at_level, slot_key[chosen], have[chosen], without[chosen], level, budget[of_move[chosen]]
            )
            np.add.at(spent, of_move[chosen], cost)
            alive[of_move[chosen[~done]]] = False
            helpers.append((of_move[chosen[of_slot]], unit, np.full(len(unit), at_level)))
        gain = saved - spent
        good = alive & (gain > 1e-9 * (np.abs(saved) + 1.0))
        if not good.any():
            return
        number = np.full(n_moves, -1)
        number[good] = self.n + np.arange(int(good.sum()))
        self.n += int(good.sum())
        self.gain.append(gain[good])
        kept = good[move]
        self.cells.append((number[move[kept]], cells[kept], np.full(int(kept.sum()), level)))
        kept = good[of_move]
        self.touched.append((number[of_move[kept]], slot_key[kept]))
        self.touched.append((number[good], labels.key[source[good]]))
        for of, unit, to_level in helpers:
            kept = good[of]
            of, unit, to_level = number[of[kept]], unit[kept], to_level[kept]
            self.touched.append((of, labels.key[self.units.label[unit]]))
            single = ~self.units.whole[unit]
            self.cells.append((of[single], self.units.cell[unit[single]], to_level[single]))
            of, label, to_level = of[~single], self.units.label[unit[~single]], to_level[~single]
            order, starts = self._members
            number_of = starts[label + 1] - starts[label]
            ends = np.cumsum(number_of)
            position = np.arange(int(number_of.sum())) + np.repeat(starts[label] - (ends - number_of), number_of)
            self.cells.append((np.repeat(of, number_of), order[position], np.repeat(to_level, number_of)))

    @property
    def _members(self) -> tuple[np.ndarray, np.ndarray]:
        if not hasattr(self, "_kept"):
            order = np.argsort(self.labels.at, kind="stable")
            self._kept = order, np.searchsorted(self.labels.at[order], np.arange(len(self.labels.key) + 1))
        return self._kept

    def _repaired(
        self, level: int, key: np.ndarray, have: np.ndarray, without: np.ndarray, moved_to: int, budget: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Labels of a level, once others have come up to them: whether they hold, what it costs, and who did: the
        number of the label and the unit of each."""
        units, k = self.units, self.k
        below = np.flatnonzero(units.level < level)
        unit_key = self.class_of[units.cell[below]] * self.n_regions + self.places.region[level, units.cell[below]]
        order = np.argsort(unit_key, kind="stable")
        below, unit_key = below[order], unit_key[order]
        begin, end = np.searchsorted(unit_key, key), np.searchsorted(unit_key, key, side="right")
        size = end - begin
        done, cost = np.zeros(len(key), bool), np.zeros(len(key))
        found_slot, found_unit = [], []
        ends = np.cumsum(size)
        first = 0
        while first < len(key):
            reached = ends[first - 1] if first else 0
            stop = max(int(np.searchsorted(ends, reached + PAIRS_AT_ONCE, side="right")), first + 1)
            some = np.arange(first, stop)
            slot = np.repeat(some, size[some])
            within = np.arange(len(slot)) - np.repeat(np.cumsum(size[some]) - size[some], size[some])
            unit = below[np.repeat(begin[some], size[some]) + within]
            inside = without[slot] >= 0
            if inside.any():
                stays = ~inside
                stays[inside] = self.places.region[moved_to, units.cell[unit[inside]]] != without[slot[inside]]
                # A whole label may lie in both: only those of smaller regions than the one that is left out do not.
                stays[inside] &= units.level[unit[inside]] <= moved_to
                slot, unit = slot[stays], unit[stays]
            price = units.records[unit] * (
                self.places.loss[key[slot] % self.n_regions]
                - self.places.loss[self.labels.key[units.label[unit]] % self.n_regions]
            )
            cheap = price <= budget[slot]
            slot, unit, price = slot[cheap], unit[cheap], price[cheap]
            taken = self._greedy(some[0], have[some], slot, unit, price, budget[some])
            done[some], cost[some] = taken[0], taken[1]
            found_slot.append(taken[2])
            found_unit.append(taken[3])
            first = stop
        if not found_slot:
            return done, cost, np.empty(0, np.int64), np.empty(0, np.int64)
        of_slot, unit = np.concatenate(found_slot), np.concatenate(found_unit)
        return done, cost, of_slot, unit

    def _greedy(
        self, first: int, have: np.ndarray, slot: np.ndarray, unit: np.ndarray, price: np.ndarray, budget: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        units, k, n = self.units, self.k, len(have)
        slot = slot - first
        now, spent, best = have.copy(), np.zeros(n), budget.copy()
        last, turn_of = np.full(n, -1), np.full(n, -1)
        steps: list[tuple[np.ndarray, np.ndarray]] = []
        missing = _missing(now, k)
        for turn in range(MOST_HELPERS):
            goes_on = spent[slot] + price < best[slot]
            slot, unit, price = slot[goes_on], unit[goes_on], price[goes_on]
            if not len(slot):
                break
            left = _missing(now[slot] + units.counted[unit], k)
            at = np.flatnonzero(left == 0)
            at = at[np.lexsort((price[at], slot[at]))]
            at = at[np.diff(slot[at], prepend=-1) != 0]
            best[slot[at]], last[slot[at]], turn_of[slot[at]] = spent[slot[at]] + price[at], unit[at], turn
            better = missing[slot] - left
            at = np.flatnonzero((better > 0) & (spent[slot] + price < best[slot]))
            at = at[np.lexsort((price[at] / better[at], slot[at]))]
            at = at[np.diff(slot[at], prepend=-1) != 0]
            if not len(at):
                break
            of, taken = slot[at], unit[at]
            steps.append((of, taken))
            spent[of] += price[at]
            now[of] += units.counted[taken]
            missing[of] = _missing(now[of], k)
            label = np.full(n, -1)
            label[of] = units.label[taken]
            goes_on = (label[slot] >= 0) & (label[slot] != units.label[unit])
            slot, unit, price = slot[goes_on], unit[goes_on], price[goes_on]
        done = np.flatnonzero(last >= 0)
        of_slot, of_unit = [done], [last[done]]
        for turn, (of, taken) in enumerate(steps):
            needed = turn_of[of] > turn
            of_slot.append(of[needed])
            of_unit.append(taken[needed])
        return last >= 0, np.where(last >= 0, best, 0.0), np.concatenate(of_slot) + first, np.concatenate(of_unit)

    def apart_with_some_left(self) -> None:
        """Those in a smaller region go down, but for some of these, or for others of the label that they join."""
        labels, k, loss = self.labels, self.k, self.places.loss
        level_of = labels.level[labels.at]
        for level in range(int(labels.level.max(initial=0))):
            cells = np.flatnonzero(level_of > level)
            if not len(cells):
                continue
            region = self.places.region[level, cells]
            pair, move = np.unique(labels.at[cells] * self.n_regions + region, return_inverse=True)
            move = move.reshape(-1)
            source, region = np.divmod(pair, self.n_regions)
            key = self.class_of[labels.a_cell[source]] * self.n_regions + region
            there = np.searchsorted(labels.key, key)
            is_there = np.append(labels.key, -1)[there] == key
            part = _sums(move, self.counted[cells], len(pair))
            rest = labels.counted[source] - part
            have = part + np.where(is_there[:, None], np.append(labels.counted, labels.counted[:1], axis=0)[there], 0)
            rise = loss[labels.key[source] % self.n_regions] - loss[region]
            saved = np.bincount(move, self.records[cells], len(pair)) * rise
            good = _holds(have, k) & ~_holds(rest, k) & (saved > 0)
            if not good.any():
                continue
            # Who may be left, or come up: all that the label below shows then.
            order, starts = self._members
            below = np.flatnonzero(good & is_there)
            number = starts[there[below] + 1] - starts[there[below]]
            ends = np.cumsum(number)
            at = np.arange(int(number.sum())) + np.repeat(starts[there[below]] - (ends - number), number)
            kept = good[move]
            slot = np.concatenate([move[kept], np.repeat(below, number)])
            cell = np.concatenate([cells[kept], order[at]])
            comes = np.arange(len(slot)) >= int(kept.sum())
            price = self.records[cell] * rise[slot]
            spent, done = np.zeros(len(pair)), np.zeros(len(pair), bool)
            last_of: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
            for _ in range(MOST_HELPERS):
                fits = (spent[slot] + price < saved[slot]) & _holds(have[slot] - self.counted[cell], k)
                slot, cell, comes, price = slot[fits], cell[fits], comes[fits], price[fits]
                if not len(slot):
                    break
                missing = _missing(rest, k)
                left = _missing(rest[slot] + self.counted[cell], k)
                better = missing[slot] - left
                at = np.flatnonzero(better > 0)
                at = at[np.lexsort((price[at] / better[at], left[at] > 0, slot[at]))]
                at = at[np.diff(slot[at], prepend=-1) != 0]
                if not len(at):
                    break
                of = slot[at]
                last_of.append((of, cell[at], comes[at]))
                rest[of] += self.counted[cell[at]]
                have[of] -= self.counted[cell[at]]
                spent[of] += price[at]
                done[of] = _missing(rest[of], k) == 0
                taken = np.full(len(pair), -1)
                taken[of] = cell[at]
                goes_on = (taken[slot] >= 0) & ~done[slot] & (taken[slot] != cell)
                slot, cell, comes, price = slot[goes_on], cell[goes_on], comes[goes_on], price[goes_on]
            gain = saved - spent
            good = done & (gain > 1e-9 * (saved + 1.0))
            if not good.any():
                continue
            number = np.full(len(pair), -1)
            number[good] = self.n + np.arange(int(good.sum()))
            self.n += int(good.sum())
            self.gain.append(gain[good])
            goes = good[move]
            stays = np.zeros(len(self.class_of), bool)
            for of, cell, comes in last_of:
                stays[cell[good[of] & ~comes]] = True  # a cell is in one label, and so in one move of this level
                up = good[of] & comes
                self.cells.append((number[of[up]], cell[up], labels.level[source[of[up]]]))
            goes &= ~stays[cells]
            self.cells.append((number[move[goes]], cells[goes], np.full(int(goes.sum()), level)))
            self.touched.append((number[good], key[good]))
            self.touched.append((number[good], labels.key[source[good]]))

    def best(self) -> tuple[np.ndarray, np.ndarray]:
        """The moves that save most and touch no label together: the cells, and their new levels."""
        if not self.n:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        gain = np.concatenate(self.gain)
        move, key = (np.concatenate(x) for x in zip(*self.touched))
        order = np.argsort(-gain, kind="stable")
        rank = np.empty(self.n, np.int64)
        rank[order] = np.arange(self.n)
        _, label = np.unique(key, return_inverse=True)
        label = label.reshape(-1)
        chosen, open_ = np.zeros(self.n, bool), np.ones(self.n, bool)
        taken = np.zeros(int(label.max()) + 1, bool)
        while open_.any():
            best = np.full(len(taken), self.n)
            live = open_[move]
            np.minimum.at(best, label[live], rank[move[live]])
            wins = open_.copy()
            wins[move[live & (best[label] != rank[move])]] = False
            chosen |= wins
            taken[label[wins[move]]] = True
            open_[move[taken[label]]] = False
        move, cell, level = (np.concatenate(x) for x in zip(*self.cells))
        kept = chosen[move]
        return cell[kept], level[kept]


def _missing(counted: np.ndarray, k: int) -> np.ndarray:
    """How many are missing in all periods in which there is anybody, (l,)."""
    return np.where(counted > 0, np.maximum(k - counted, 0), 0).sum(axis=1)
