"""Moves of cells that stand together over several periods, recounted one by one, in plain loops."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from vbas.core.crosswalk import number_compactly
from vbas.core.nesting.series_helped import MOST_HELPERS, CellCounts, Places, _cheapest, _Moves, best_moves, places_of
from vbas.core.nesting.series_optimum import SeriesCells, best_levels_of_series, lowered
from vbas.core.nesting.series_optimum import _moves as _series_moves
from vbas.core.nesting.tree import tree_of

from ..each import for_each_seed

Helper = tuple[tuple[int, int], list[int], float]  # of an equivalence class, cells that come up, and what that costs


@dataclass
class Case:
    """Cells of classes, where they are shown, and what each equivalence class counts."""

    counts: CellCounts
    places: Places
    k: int
    level_of: np.ndarray
    members: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    units: list[tuple[tuple[int, int], list[int]]] = field(default_factory=list)

    def __post_init__(self):
        for cell, level in enumerate(self.level_of.tolist()):
            self.members.setdefault(self.shown(cell, level), []).append(cell)
        self.members = dict(sorted(self.members.items()))
        self.units = list(self.members.items())
        for cell, level in enumerate(self.level_of.tolist()):
            whole = self.members[self.shown(cell, level)]
            if len(whole) > 1 and self.holds(self.counted([one for one in whole if one != cell])):
                self.units.append((self.shown(cell, level), [cell]))

    def shown(self, cell, level):
        """The equivalence class that a cell is in where it is shown at a level."""
        return int(self.counts.class_of[cell]), int(self.places.region[level, cell])

    def level(self, of):
        return int(self.level_of[self.members[of][0]])

    def counted(self, cells):
        return self.counts.counted[cells].sum(axis=0)

    def holds(self, counted):
        return all(number == 0 or number >= self.k for number in counted.tolist())

    def missing(self, counted):
        return sum(self.k - number for number in counted.tolist() if 0 < number < self.k)

    def loss(self, of):
        return float(self.places.loss[of[1]])

    def records(self, cells):
        return int(self.counts.records[cells].sum())

    def helpers(self, key, level, moved_to, without):
        """Who may come up to what is shown at a level, and what that costs: cells, of what, and the price."""
        for of, cells in self.units:
            if self.level(of) >= level or self.shown(cells[0], level) != key:
                continue
            if without is not None and self.level(of) <= moved_to and self.shown(cells[0], moved_to)[1] == without:
                continue
            yield of, cells, self.records(cells) * (self.loss(key) - self.loss(of))

    def helped(self, have, budget, helpers):
        """The cheapest of those ways to fill up that are tried: who comes, and what it costs; None for none."""
        helpers, now, spent, least = list(helpers), have.copy(), 0.0, budget
        found: list[Helper] | None = None
        came: list[Helper] = []
        for _ in range(MOST_HELPERS):
            helpers = [one for one in helpers if spent + one[2] < least]
            ends = [one for one in helpers if not self.missing(now + self.counted(one[1]))]
            if ends:
                last = min(ends, key=lambda one: one[2])
                found, least = [*came, last], spent + last[2]
            ratios: list[tuple[float, int, Helper]] = []
            for one in helpers:
                better = self.missing(now) - self.missing(now + self.counted(one[1]))
                if better > 0 and spent + one[2] < least:
                    ratios.append((one[2] / better, len(ratios), one))
            if not ratios:
                break
            one = min(ratios)[2]
            came.append(one)
            spent, now = spent + one[2], now + self.counted(one[1])
            helpers = [other for other in helpers if other[0] != one[0]]
        return None if found is None else (found, least)


def tried(case, level, cells, source, part, up):
    """One move of cells that one equivalence class shows: what it saves and who is where then; None if it cannot be.

    part : the region where only those in one go down; up : where the others go, None where they stay
    """
    goes_to = defaultdict(list)
    for cell in cells:
        goes_to[case.shown(cell, level)].append(cell)
    saved = sum(case.records([cell]) * (case.loss(source) - case.loss(case.shown(cell, level))) for cell in cells)
    due = [
        (level, key, case.counted(own) + case.counted(case.members.get(key, [])), None)
        for key, own in sorted(goes_to.items())
    ]
    left = [cell for cell in case.members[source] if cell not in cells]
    spent, now = 0.0, dict.fromkeys(cells, level)
    if up is not None:
        spent = case.records(left) * (case.loss(up) - case.loss(source))
        now |= dict.fromkeys(left, case.level(up))
    elif part is not None:
        due.append((case.level(source), source, case.counted(left), part))
    if saved <= 0 or (up is not None and spent >= saved):
        return None
    for at in sorted({one[0] for one in due}):
        budget = saved - spent
        for up_to, key, have, without in due:
            if up_to != at or case.holds(have):
                continue
            found = case.helped(have, budget, case.helpers(key, up_to, level, without))
            if found is None:
                return None
            spent += found[1]
            for _, some, _ in found[0]:
                now |= dict.fromkeys(some, up_to)
    return (saved - spent, now) if saved - spent > 1e-9 * (abs(saved) + 1) else None


def parts_of(case, level):
    """Of each equivalence class above a level the cells in each region of it."""
    parts = defaultdict(list)
    for of, cells in case.members.items():
        for cell in cells if case.level(of) > level else []:
            parts[of, int(case.places.region[level, cell])].append(cell)
    return sorted(parts.items())


def apart_into_all(case):
    for of, cells in case.members.items():
        if case.level(of) > 0:
            yield tried(case, case.level(of) - 1, cells, of, None, None)


def above(case, of, rest):
    """Where what is left of an equivalence class goes if it falls short: what is shown next around it."""
    cell = case.members[of][0]
    around = [case.shown(cell, level) for level in range(case.level(of) + 1, len(case.places.region))]
    there = next((one for one in around if one in case.members), None)
    fits = there and not case.holds(rest) and case.holds(case.counted(case.members[there]) + rest)
    return there if fits else None


def apart_in_part(case):
    for level in range(len(case.places.region)):
        for (of, region), cells in parts_of(case, level):
            rest = [cell for cell in case.members[of] if cell not in cells]
            if not rest:
                continue
            yield tried(case, level, cells, of, region, None)
            up = above(case, of, case.counted(rest))
            if up:
                yield tried(case, level, cells, of, region, up)


def apart_with_some_left(case):
    for level in range(len(case.places.region)):
        for (of, region), cells in parts_of(case, level):
            key, rise = (of[0], region), case.loss(of) - float(case.places.loss[region])
            below = case.members.get(key, [])
            have, rest = case.counted(cells + below), case.counted(case.members[of]) - case.counted(cells)
            saved, spent, taken = case.records(cells) * rise, 0.0, []
            if not case.holds(have) or case.holds(rest) or saved <= 0:
                continue
            others = cells + below
            for _ in range(MOST_HELPERS):
                others = [
                    one
                    for one in others
                    if spent + case.records([one]) * rise < saved and case.holds(have - case.counted([one]))
                ]
                best: list[tuple[bool, float, int, float, int]] = []
                for cell in others:
                    price, left = case.records([cell]) * rise, case.missing(rest + case.counted([cell]))
                    better = case.missing(rest) - left
                    if better > 0:
                        best.append((left > 0, price / better, len(best), price, cell))
                if not best:
                    break
                *_, price, cell = min(best)
                taken.append(cell)
                others.remove(cell)
                rest, have, spent = rest + case.counted([cell]), have - case.counted([cell]), spent + price
                if not case.missing(rest):
                    now = {one: level for one in cells if one not in taken}
                    now |= {one: case.level(of) for one in taken if one in below}
                    yield (saved - spent, now) if saved - spent > 1e-9 * (abs(saved) + 1) else None
                    break


def drawn_case(seed):
    return drawn_in_tree(seed)[0]


def drawn_in_tree(seed):
    """Cells of two classes and two periods in nested regions, shown at levels at which all of it holds; the tree of
    these regions, and the area of each cell."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(5, 13)), int(rng.integers(2, 6))
    region_of = [np.arange(n) if seed % 2 else number_compactly(rng.integers(0, n, n))[0].region_of]
    for _ in range(int(rng.integers(1, 3))):
        joined = rng.integers(0, region_of[-1].max() // 2 + 1, region_of[-1].max() + 1)
        region_of.append(number_compactly(joined[region_of[-1]])[0].region_of)
    region_of.append(np.zeros(n, np.int64))
    # Whole quarters: what is saved is often just what it costs.
    losses = [(rng.integers(0, 3, int(of.max()) + 1) + 2.0 * level) / 4 for level, of in enumerate(region_of)]
    class_of, area = np.repeat([0, 1], n), np.tile(np.arange(n), 2)
    counted = rng.integers(0, k + 1, (2 * n, 2)) * (rng.random((2 * n, 2)) < rng.random())
    counted[rng.random(2 * n) < rng.random() / 2] += k
    counted[::n] += k  # all together hold
    there = counted.sum(axis=1) > 0
    counts = CellCounts(class_of[there], counted[there], counted[there].sum(axis=1) + rng.integers(0, 2, there.sum()))
    tree = tree_of(region_of, losses)
    places, level_of = places_of(tree, area[there]), np.full(there.sum(), len(region_of) - 1)
    for _ in range(int(rng.integers(0, 40))):  # down, where what stays and what is made holds
        case = Case(counts, places, k, level_of)
        lower = int(rng.integers(0, len(region_of) - 1))
        some = parts_of(case, lower)
        if not some:
            continue
        cells, now = some[int(rng.integers(len(some)))][1], level_of.copy()
        now[[cell for cell in cells if rng.random() < 0.8]] = lower
        if all(case.holds(case.counted(own)) for own in Case(counts, places, k, now).members.values()):
            level_of = now
    return Case(counts, places, k, level_of), tree, area[there]


def drawn_rest(rng):
    """A few cells of one class, some shown in the first of two smaller regions, and all others in the large one."""
    while True:
        n, k = int(rng.integers(3, 7)), int(rng.integers(2, 5))
        counted = rng.integers(0, k + 2, (n, int(rng.integers(1, 3))))
        own = rng.integers(0, 2, n)
        places = Places(np.array([own, np.full(n, 2)]), np.array([0.0, 0.25, rng.choice([0.25, 1.0])]))
        counts = CellCounts(np.zeros(n, np.int64), counted, counted.sum(axis=1))
        case = Case(counts, places, k, np.where(own, 1, rng.integers(0, 2, n)))
        if counts.records.all() and all(case.holds(case.counted(cells)) for cells in case.members.values()):
            return case


def test_whoever_costs_all_that_is_saved_stays_though_others_must_be_two():
    """Four of the first cell go down; of the one that they leave behind three more are missing: not the four again, nor
    the five beside them, but one and two."""
    counted = np.array([[4], [1], [2], [5], [1]])
    places = Places(np.array([[0, 0, 0, 0, 1], [2] * 5]), np.array([0.0, 0.0, 1.0]))
    counts = CellCounts(np.zeros(5, np.int64), counted, counted[:, 0])
    moves = _Moves(counts, places, 4, np.array([1, 0, 0, 0, 1]))
    moves.apart_with_some_left()
    assert moves_of(moves) == [(1.0, {0: 0, 1: 1, 2: 1})]


def test_of_those_who_help_as_much_for_what_they_cost_the_first_comes():
    """Four are missing, six would be saved: the two stand before the three, the one and the nine."""
    counted = np.array([[6], [2], [3], [1], [9], [1]])
    places = Places(np.array([[0, 0, 0, 0, 0, 1], [2] * 6]), np.array([0.0, 0.0, 1.0]))
    moves = _Moves(CellCounts(np.zeros(6, np.int64), counted, counted[:, 0]), places, 5, np.array([1, 0, 0, 0, 0, 1]))
    moves.apart_with_some_left()
    assert moves_of(moves) == [(1.0, {0: 0, 1: 1, 2: 1})]


@for_each_seed(6)
def test_of_what_would_fall_short_as_much_stays_or_comes_up_as_in_plain_loops(seed):
    """So few cells that what is saved is often just what it costs."""
    rng, n_found = np.random.default_rng(seed), 0
    for _ in range(40):
        case = drawn_rest(rng)
        moves = _Moves(case.counts, case.places, case.k, case.level_of)
        moves.apart_with_some_left()
        expected = [move for move in apart_with_some_left(case) if move is not None]
        assert as_text(moves_of(moves)) == as_text(expected)
        n_found += len(expected)
    assert n_found


def moves_of(moves):
    """The moves that were found: what each saves, and who is where then."""
    now: list[dict[int, int]] = [{} for _ in range(moves._n)]
    for number, cells, levels in moves._cells:
        for move, cell, level in zip(number.tolist(), cells.tolist(), levels.tolist()):
            assert cell not in now[move]
            now[move][cell] = level
    return list(zip([float(gain) for some in moves._gain for gain in some], now))


def touched_by(moves, case):
    """The equivalence classes that each move touches."""
    touched: list[set[tuple[int, int]]] = [set() for _ in range(moves._n)]
    for number, key in moves._touched:
        for move, of in zip(number.tolist(), key.tolist()):
            touched[move].add(divmod(of, len(case.places.loss)))
    return touched


def lost(case):
    return sum(case.records(cells) * case.loss(of) for of, cells in case.members.items())


def as_text(found):
    return sorted(f"{gain:.6f} {sorted(now.items())}" for gain, now in found)


class Levels(SimpleNamespace):
    """Of a tree only its losses."""

    def __len__(self) -> int:
        return int(self.n)


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_moves_are_those_of_plain_loops(first, monkeypatch):
    n_found = [0, 0, 0]
    for seed in range(first, first + 20):
        monkeypatch.setattr("vbas.core.nesting.series_helped.PAIRS_AT_ONCE", [400_000, 1, 4][seed % 3])
        case, found = drawn_case(seed), []
        touched: list[set[tuple[int, int]]] = []
        for kind, plain in enumerate((apart_into_all, apart_in_part, apart_with_some_left)):
            moves = _Moves(case.counts, case.places, case.k, case.level_of)
            getattr(moves, plain.__name__)()
            expected = [move for move in plain(case) if move is not None]
            assert as_text(moves_of(moves)) == as_text(expected)
            found += moves_of(moves)
            touched += touched_by(moves, case)
            n_found[kind] += len(expected)
        for (gain, now), of in zip(found, touched):
            level_of = case.level_of.copy()
            level_of[list(now)] = list(now.values())
            after = Case(case.counts, case.places, case.k, level_of)
            assert all(case.holds(case.counted(own)) for own in after.members.values())
            assert lost(case) - lost(after) == pytest.approx(gain)
            either = case.members.keys() | after.members.keys()
            assert of == {one for one in either if case.members.get(one) != after.members.get(one)}
        chosen: dict[int, int] = {}
        taken: set[tuple[int, int]] = set()
        for number in sorted(range(len(found)), key=lambda one: (-found[one][0], one)):
            if not taken & touched[number]:
                taken |= touched[number]
                chosen |= found[number][1]
        cells, level = best_moves(case.counts, case.places, case.k, case.level_of)
        assert dict(zip(cells.tolist(), level.tolist())) == chosen and len(cells) == len(chosen)
    assert all(n_found), n_found


def peeled(case, cells, beside):
    """The cells that are left once all are gone that have anybody in a period in which too few are."""
    while True:
        short = case.counted(cells) + beside < case.k
        stay = [cell for cell in cells if not (short & (case.counts.counted[cell] > 0)).any()]
        if stay == cells:
            return cells
        cells = stay


def lowered_plainly(case):
    """Moves of cells to smaller regions, of each part the most that can: what each saves, and who goes whither."""
    for level in range(len(case.places.region) - 1):
        for (of, region), cells in parts_of(case, level):
            target = of[0], region
            beside = case.counted(case.members.get(target, []))
            cells = peeled(case, cells, beside)
            left = case.counted(case.members[of]) - case.counted(cells)
            short = (left > 0) & (left < case.k)
            cells = peeled(case, [one for one in cells if not (short & (case.counts.counted[one] > 0)).any()], beside)
            gain = case.records(cells) * (case.loss(of) - float(case.places.loss[region]))
            if gain > 0 and case.holds(case.counted(case.members[of]) - case.counted(cells)):
                yield gain, of, target, dict.fromkeys(cells, level)


@for_each_seed(80)
def test_moves_to_smaller_regions_are_those_of_plain_loops(seed):
    case = drawn_case(seed)
    n_cells, n_levels = len(case.level_of), len(case.places.region)
    first = np.array([int(of.min()) for of in case.places.region])  # any numbers that begin a level do
    tree: Any = Levels(loss=[], n=n_levels)
    bounds = [*first.tolist(), len(case.places.loss)]
    place = []
    for level in range(n_levels):
        tree.loss.append(case.places.loss[bounds[level] : bounds[level + 1]])
        place.append(case.places.region[level] - bounds[level])
    cells: Any = SimpleNamespace(
        class_of=case.counts.class_of, counted=case.counts.counted, records=case.counts.records
    )
    moved, target = _series_moves(cells, place, tree, case.k, np.arange(n_cells), case.level_of)
    moves = sorted(lowered_plainly(case), key=lambda move: -move[0])
    chosen: dict[int, int] = {}
    for at, (_, of, to, now) in enumerate(moves):
        if not any({of, to} & {other[1], other[2]} for other in moves[:at]):
            chosen |= now
    assert dict(zip(moved.tolist(), target.tolist())) == chosen and len(moved) == len(chosen)


@for_each_seed(60)
def test_what_is_lowered_holds_and_no_part_can_be_lowered_once_more(seed):
    """What is not shown stays so."""
    rng = np.random.default_rng(seed)
    case, tree, area = drawn_in_tree(seed)
    counts, before = case.counts, case.level_of.copy()
    for cells in case.members.values():
        if rng.random() < 0.1:
            before[cells] = -1

    def shown(level_of):
        some = np.flatnonzero(level_of >= 0)
        own = CellCounts(counts.class_of[some], counts.counted[some], counts.records[some])
        return Case(own, case.places.of(some), case.k, level_of[some])

    after = lowered(SeriesCells(area, counts.class_of, counts.counted, counts.records), tree, case.k, before.copy())
    assert ((after >= 0) == (before >= 0)).all() and (after <= before).all()
    now = shown(after)
    assert all(now.holds(now.counted(own)) for own in now.members.values())
    assert lost(now) <= lost(shown(before)) and not list(lowered_plainly(now))


@pytest.mark.parametrize("seed", [*range(12), 91, 223])
def test_of_a_series_all_of_a_coarsest_region_is_shown_or_nothing(seed):
    """Nothing where some period has anybody there, and fewer than k; and what is shown holds in all periods.

    The last two are towns in which a smaller region holds of a class that the coarsest does not show.
    """
    rng = np.random.default_rng(seed)
    case, tree, area = drawn_in_tree(seed)
    counts, top = case.counts, case.places.region[-1]
    counted = counts.counted * (rng.random(counts.counted.shape) < 0.6)
    shown = best_levels_of_series(SeriesCells(area, counts.class_of, counted, counts.records), tree, case.k)
    some = np.flatnonzero(shown >= 0)
    now = Case(
        CellCounts(counts.class_of[some], counted[some], counts.records[some]),
        case.places.of(some),
        case.k,
        shown[some],
    )
    assert all(now.holds(now.counted(own)) for own in now.members.values())
    for of in set(zip(counts.class_of.tolist(), top.tolist())):
        own = (counts.class_of == of[0]) & (top == of[1]) & counted.any(axis=1)
        assert ((shown[own] >= 0) == case.holds(counted[own].sum(axis=0))).all()


def cheapest_plainly(k, have, budget, pairs, counted, equivalence_class):
    """Who comes up to one equivalence class, in turn, and what that costs: none where it does not hold within budget.

    pairs : (unit, price) of who may come
    """

    def missing(now):
        return sum(k - number for number in now.tolist() if 0 < number < k)

    now, spent, least = have.copy(), 0, budget
    came: list[int] = []
    found: list[int] | None = None
    for _ in range(MOST_HELPERS):
        pairs = [(unit, price) for unit, price in pairs if spent + price < least]
        ends = [pair for pair in pairs if not missing(now + counted[pair[0]])]
        if ends:
            unit, price = min(ends, key=lambda pair: pair[1])
            found, least = [*came, unit], spent + price
        gains = {unit: missing(now) - missing(now + counted[unit]) for unit, _ in pairs}
        helping = [(unit, price) for unit, price in pairs if gains[unit] > 0 and spent + price < least]
        if not helping:
            break
        unit, price = min(helping, key=lambda pair: pair[1] / gains[pair[0]])
        came, spent, now = [*came, unit], spent + price, now + counted[unit]
        pairs = [pair for pair in pairs if equivalence_class[pair[0]] != equivalence_class[unit]]
    return found, least


# In the last three who helps most for what it costs is too dear once somebody else would do.
@for_each_seed(200, 3084, 4212, 5067)
def test_who_comes_up_in_turn_is_who_a_plain_loop_takes(seed):
    rng = np.random.default_rng(seed)
    k, n, n_units, periods = int(rng.integers(2, 7)), 3, int(rng.integers(1, 12)), int(rng.integers(1, 4))
    have = rng.integers(0, k + 1, (n, periods))
    equivalence_class = rng.integers(0, 6, n_units)
    counted = rng.integers(0, k, (n_units, periods)) * (rng.random((n_units, periods)) < 0.7)
    units: Any = SimpleNamespace(counted=counted, equivalence_class=equivalence_class)
    slot, unit = np.nonzero(rng.random((n, n_units)) < 0.8)
    price, budget = rng.integers(0, 6, len(slot)).astype(float), rng.integers(0, 20, n).astype(float)
    done, cost, of_slot, of_unit = _cheapest(units, k, have, slot, unit, price, budget)
    for of in range(n):
        pairs = list(zip(unit[slot == of].tolist(), price[slot == of].tolist()))
        found, least = cheapest_plainly(k, have[of], float(budget[of]), pairs, counted, equivalence_class)
        assert done[of] == (found is not None) and cost[of] == (0.0 if found is None else least)
        assert sorted(of_unit[of_slot == of].tolist()) == sorted(found or [])
