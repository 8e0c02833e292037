"""Small counts that several people free who change places with others, drawn by chance.

An exchange (see `exchanges`) is of people of one area and class for as many of one other area and class. Where a count
has people in several areas, or where others have one person or two of a class, each of its people may change places
with somebody else instead: partners are drawn for all counts at once, and what they come to is held against all that is
known. Most counts are free so, at a small part of what flows and programs cost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..dataclass import dataclass
from ..progress import Progress, halves, part, silent
from .block import Block
from .count_tables import MANY
from .exchanges import Places, exchange_fits
from .overlay import NONE

MOST_TRIES = 30  # of counts at a step, and no more where one try in twenty frees none
FEW_FREED = 0.05
DRAWS = 4  # of a partner for each person, until one fits
AT_ONCE = 200_000  # people who change places


@dataclass(frozen=True, eq=False)
class _Moves:
    """People of whom each changes classes with somebody of another area, (m,) arrays.

    number : of which count; area, before, after : of whom, from which class to which; other : the area of the partner,
    n for none, who changes from `after` to `before`; fits : whether these two alone may do so
    """

    number: np.ndarray
    area: np.ndarray
    before: np.ndarray
    after: np.ndarray
    other: np.ndarray
    fits: np.ndarray

    def some(self, at: np.ndarray) -> _Moves:
        """Some of them."""
        return _Moves(
            *(of[at] for of in (self.number, self.area, self.before, self.after, self.other, self.fits)),
        )


@dataclass(frozen=True, eq=False)
class _People:
    """People who are to change places: (m,) the number of the count of each, and an area of it, ascending by count."""

    number: np.ndarray
    area: np.ndarray

    def some(self, at: np.ndarray) -> _People:
        """Some of them."""
        return _People(self.number[at], self.area[at])


class _Asked:
    """The counts of some places, and who is in them.

    free : (q,) bool, those that are; first_step : from which partners are of other places
    """

    def __init__(self, block: Block, places: Places) -> None:
        self.places, self.free = places, np.zeros(len(places), bool)
        self.first_step = 0 if places.within is None else places.level + 1
        area, class_of = np.nonzero(block.people[:-1, :-1])
        key = places.part_of[area, class_of] * block.u + class_of
        keys = places.part * block.u + places.class_of
        order = np.argsort(keys)
        number = np.append(order, 0)[np.searchsorted(keys[order], key)]
        own = np.flatnonzero((keys[number] == key) & (places.part_of[area, class_of] >= 0))
        own = own[np.argsort(number[own], kind="stable")]
        people = block.people[area[own], class_of[own]]
        self._area = np.repeat(area[own], people)
        self._first = np.append(0, np.cumsum(np.bincount(number[own], people, len(places)).astype(np.int64)))

    def in_them(self, numbers: np.ndarray) -> _People:
        """Everybody in some counts."""
        sizes = np.diff(self._first)[numbers]
        at = np.arange(int(sizes.sum()), dtype=np.int64)
        at += np.repeat(self._first[numbers] - np.cumsum(sizes) + sizes, sizes)
        return _People(np.repeat(numbers, sizes), self._area[at])

    def missing(self, numbers: np.ndarray, k: int) -> _People:
        """As many as some counts lack to k people, all in the area that has most of them."""
        number = np.repeat(numbers, k - self.places.people[numbers])
        return _People(number, self.places.area[number])


class _Step:
    """Who may change places beyond the regions of all levels before a step, with somebody in the same region of it.

    After the last level are two more steps: with anybody; and with nobody, where no region knows who is there.
    """

    def __init__(self, block: Block, kind: np.ndarray, area: np.ndarray, class_of: np.ndarray, level: int) -> None:
        """kind : (u,) classes that all tables count as one have the same; area, class_of : where such people are."""
        self._block, self._kind, self._level = block, kind, level
        self._alone = level > len(block.families)
        self._of_kind = self._by_place(kind[class_of], area, class_of)
        if not self._alone:
            self._of_class = self._by_place(class_of, area, class_of)
            return
        family = block.families[-1]
        region, after = np.nonzero(family.up[:-1, family.group[:-1]] > 0)
        key = region * block.u + kind[after]
        order = np.argsort(key, kind="stable")
        self._room = key[order], np.append(after[order], 0)

    def _by_place(
        self, what: np.ndarray, area: np.ndarray, class_of: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        key = what * self._block.n + self._block.place[area]
        order = np.argsort(key, kind="stable")
        return key[order], np.append(area[order], 0), np.append(class_of[order], 0)

    def emptying(self, asked: _Asked, people: _People, rng: np.random.Generator) -> _Moves:
        """Somebody for each of these people, who are to leave their counts."""
        before = asked.places.class_of[people.number]
        if self._alone:
            key = self._block.families[-1].region[people.area] * self._block.u + self._kind[before]
            at, there = _drawn(self._room[0], key, key + 1, rng)
            after, other = self._room[1][at], np.full(len(key), self._block.n, np.int64)
        else:
            at, there = self._beside(self._of_kind[0], self._kind[before], people.area, self._level, rng)
            other, after = self._of_kind[1][at], self._of_kind[2][at]
            there &= asked.places.part_of[other, before] != asked.places.part[people.number]
        return self._checked(_Moves(people.number, people.area, before, after, other, there))

    def filling(self, asked: _Asked, people: _People, rng: np.random.Generator) -> _Moves:
        """Somebody of another class where each of these counts is, for somebody of its class elsewhere."""
        places, number = asked.places, people.number
        after, part = places.class_of[number], places.part[number]
        level = NONE if places.within is None else places.within
        at, there = self._beside(self._of_kind[0], self._kind[after], people.area, level, rng)
        area, before = self._of_kind[1][at], self._of_kind[2][at]
        there &= places.part_of[area, after] == part
        other = np.full(len(number), self._block.n, np.int64)
        if not self._alone:
            at, some = self._beside(self._of_class[0], after, people.area, self._level, rng)
            other = self._of_class[1][at]
            there &= some & (places.part_of[other, after] != part)
        return self._checked(_Moves(number, area, before, after, other, there))

    def _beside(
        self, keys: np.ndarray, what: np.ndarray, area: np.ndarray, level: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Some people of a class or kind in the same region of a level as each area, NONE for the area itself."""
        first, end = _stretch(self._block, area, level)
        return _drawn(keys, what * self._block.n + first, what * self._block.n + end, rng)

    def _checked(self, moves: _Moves) -> _Moves:
        block, fits = self._block, moves.fits & (moves.before != moves.after)
        own = moves.some(np.flatnonzero(fits))
        fits[fits] = exchange_fits(
            block.known, block.people, own.area, own.before, own.other, own.after, np.ones(len(own.area), np.int64)
        )
        return _Moves(moves.number, moves.area, moves.before, moves.after, moves.other, fits)


def _stretch(block: Block, area: np.ndarray, level: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the areas of the region of each area stand in the order of the block: from the first to behind the last."""
    place = block.place[area]
    if level < 0:
        return place, place + 1
    if level >= len(block.storeys.region_of):
        return np.zeros_like(place), np.full_like(place, block.n)
    region = block.storeys.region_of[level][block.order]
    starts = np.append(np.flatnonzero(np.diff(region, prepend=-2)), block.n)
    number = np.searchsorted(starts, place, side="right")
    return starts[number - 1], starts[number]


def _drawn(
    keys: np.ndarray, first: np.ndarray, end: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The position of some key from each first to before its end, and whether there is any; keys : ascending."""
    first, end = np.searchsorted(keys, first), np.searchsorted(keys, end)
    at = first + (rng.random(len(first)) * (end - first)).astype(np.int64)
    return np.where(end > first, at, len(keys)), end > first


def freed_by_moves(block: Block, places: Sequence[Places], progress: Progress = silent) -> list[np.ndarray]:
    """Which counts are free as people change places, (q,) bool for each: not all that are.

    progress : raises to cancel
    """
    every = [_Asked(block, some) if len(some) and some.group_of is None else None for some in places]
    if not any(every):
        return [np.zeros(len(some), bool) for some in places]
    kind = _counted_as_one(block)
    area, class_of = np.nonzero(block.people[:-1, :-1] * (block.storeys.region_of[0] >= 0)[:, None])
    rng, last = np.random.default_rng(0), len(block.families) + 1
    for level in range(last + 1):
        if 1 <= level < last:
            family = block.families[level - 1]
            there = family.down[family.region[area], family.group[class_of]] > 0
            area, class_of = area[there], class_of[there]
        step = _Step(block, kind, area, class_of, level)
        of_level = part(progress, level / (last + 1), (level + 1) / (last + 1))
        for number, asked in enumerate(every):
            if asked is not None and asked.first_step <= level:
                _try(block, asked, step, rng, part(of_level, number / len(every), (number + 1) / len(every)))
    return [np.zeros(len(some), bool) if asked is None else asked.free for some, asked in zip(places, every)]


def _counted_as_one(block: Block) -> np.ndarray:
    """Classes that all tables count as one have the same number, (u,) int64."""
    groups = np.column_stack([np.zeros(block.u, np.int64), *(table.group[:-1] for table in block.tables)])
    return np.unique(groups, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _try(block: Block, asked: _Asked, step: _Step, rng: np.random.Generator, progress: Progress) -> None:
    """Mark the counts that are free by what is drawn at a step."""
    at_once = AT_ONCE // block.k
    for _, of_try in zip(range(MOST_TRIES), halves(progress)):
        left = np.flatnonzero(~asked.free)
        for first in range(0, len(left), at_once):
            numbers = left[first : first + at_once]
            for draw, people in (
                (step.emptying, asked.in_them(numbers)),
                (step.filling, asked.missing(numbers, block.k)),
            ):
                of_try(first / len(left))
                asked.free[_fitting(block, _best(asked, draw, people, rng))] = True
        if np.count_nonzero(asked.free[left]) <= FEW_FREED * len(left):
            break


def _best(
    asked: _Asked,
    draw: Callable[[_Asked, _People, np.random.Generator], _Moves],
    people: _People,
    rng: np.random.Generator,
) -> _Moves:
    """A move for each of these people, of some that are drawn one that fits by itself: those of counts of which all
    people have such a move."""
    moves = draw(asked, people, rng)
    for _ in range(DRAWS - 1):
        again = np.flatnonzero(~moves.fits)
        if not len(again):
            break
        others = draw(asked, people.some(again), rng)
        kept = np.flatnonzero(others.fits)
        for mine, its in (
            (moves.area, others.area),
            (moves.before, others.before),
            (moves.after, others.after),
            (moves.other, others.other),
            (moves.fits, others.fits),
        ):
            mine[again[kept]] = its[kept]
    return moves.some(np.flatnonzero(~np.isin(moves.number, moves.number[~moves.fits])))


def _fitting(block: Block, moves: _Moves) -> np.ndarray:
    """The numbers of the counts of which all moves together fit what is known, each fitting by itself."""
    numbers, own, size = np.unique(moves.number, return_inverse=True, return_counts=True)
    several = np.flatnonzero(size[own] > 1)
    own, some = own.reshape(-1)[several], moves.some(several)
    count = np.tile(own, 4)
    area = np.concatenate([some.area, some.area, some.other, some.other])
    class_of = np.concatenate([some.before, some.after, some.after, some.before])
    change = np.repeat(np.array([-1, 1, -1, 1], np.int64), len(own))
    fit = np.ones(len(numbers), bool)
    people = block.people[area, class_of]
    _rule_out(fit, count, area * block.u + class_of, change, people, np.full_like(people, MANY))
    for family in block.known:
        kept = np.flatnonzero(fit[count])
        count, area, class_of, change = count[kept], area[kept], class_of[kept], change[kept]
        region, group = family.region[area], family.group[class_of]
        key = region * (family.n_groups + 1) + group
        _rule_out(fit, count, key, change, family.down[region, group], family.up[region, group])
    return numbers[fit]


def _rule_out(
    fit: np.ndarray, count: np.ndarray, key: np.ndarray, change: np.ndarray, down: np.ndarray, up: np.ndarray
) -> None:
    """Unmark the counts of which some sum, told by its key, changes more than it may."""
    if len(count):
        _, first, of = np.unique(count * (int(key.max()) + 1) + key, return_index=True, return_inverse=True)
        change = np.bincount(of.reshape(-1), change, len(first))
        fit[count[first[(change < -down[first]) | (change > up[first])]]] = False
