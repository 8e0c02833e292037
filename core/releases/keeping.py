"""How many people each equivalence class of an update shows, so that nobody who has all earlier ones learns of a few.

An equivalence class is a class in a region of a level. Between any two releases an equivalence class that both show
changes by nobody or by at least k people, and so do all people of a class who are shown in a region or in one within,
at every level. Equivalence classes stay as they were where that many live there still; newcomers wait, or are shown in
a larger region, until k have come; where one leaves, at least k go from the equivalence class, and those who did not
leave are shown in a larger region. Of each equivalence class by itself whoever sees the releases can then not rule out
that all people there are, are shown; and if so, its changes are of nobody or of k. That who knows how it is worked out
can prove no others either is for `holding_back`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..dataclass import dataclass
from ..progress import Progress, silent

NOBODY = -1
MOST_TAKEN = 3  # times k that are moved to a smaller region at once
MOST_SOURCES = 8  # equivalence classes that are tried as the source of people whom others join, for each class


@dataclass(frozen=True, eq=False)
class Places:
    """The regions of one level and the classes that anybody in them has now: K places.

    key : (K,) int64 region * C + class, ascending; people : (K,) int64, who live there now
    parent : (K,) int64, the position of the place around it at the next level, NOBODY for none
    released : (K, R) int64, what each earlier release shows with this equivalence class, 0 where it does not; the last
    one is updated
    within : (K, R) int64, what each shows there and in the regions within
    """

    key: np.ndarray
    people: np.ndarray
    parent: np.ndarray
    released: np.ndarray
    within: np.ndarray

    def __len__(self) -> int:
        return len(self.key)


@dataclass(frozen=True, eq=False)
class Kept:
    """What an update shows: of each level (K,) int64, people by place, with that equivalence class, and there or
    within."""

    released: Sequence[np.ndarray]
    within: Sequence[np.ndarray]


def kept(levels: Sequence[Places], k: int, rng: np.random.Generator, progress: Progress = silent) -> Kept:
    """How many people each place shows, at most as many as live there.

    levels : the finest first; k : the smallest equivalence class, and the smallest change; rng : which of several
    places is the first to show newcomers
    """
    work = _Work(levels, k, rng)
    work.keep()
    progress(0.4)
    work.add()
    progress(0.6)
    work.join()
    progress(0.7)
    work.gather()
    return Kept(work.released, work.within)


def families(levels: Sequence[Places]) -> list[np.ndarray]:
    """Of each level (K,), the number of the outermost place around each place, unique over all levels: its family."""
    first = np.cumsum([0, *(len(places) for places in levels)], dtype=np.int64)
    top = [first[at] + np.arange(len(places), dtype=np.int64) for at, places in enumerate(levels)]
    for at in reversed(range(len(levels) - 1)):
        parent = levels[at].parent
        top[at] = np.where(parent >= 0, np.append(top[at + 1], NOBODY)[parent], top[at])
    return top


def largest(limit: np.ndarray, below: np.ndarray, released: np.ndarray, within: np.ndarray, k: int) -> np.ndarray:
    """The most people up to `limit` that an equivalence class may show, (r,): 0, or k and more; -1 where even 0 does
    not do.

    below : (r,) people shown within; released, within : (r, R) what earlier releases show with the equivalence class,
    and in all
    """
    value = np.where(limit >= k, limit, 0)
    open_rows = np.arange(len(value), dtype=np.int64)
    while len(open_rows):
        now, sums = value[open_rows], below[open_rows]
        lower = np.minimum(_step(now, released[open_rows], k), _step(now + sums, within[open_rows], k) - sums)
        lower = np.where((lower < k) & (lower < now) & (now > 0), 0, np.where(lower < 0, NOBODY, lower))
        value[open_rows] = lower
        open_rows = open_rows[(lower != now) & (lower >= 0)]
    return value


def _step(value: np.ndarray, earlier: np.ndarray, k: int) -> np.ndarray:
    """The value, or a bound on the next smaller one that may be right, where it differs from an earlier one by 1 to
    k - 1; 0 always may be, as nothing is shown then."""
    now = value[:, None]
    near = (earlier > 0) & (now > 0) & (np.abs(now - earlier) < k) & (now != earlier)
    bound = np.where(near, np.where(now > earlier, earlier, np.maximum(earlier - k, 0)), now)
    return np.asarray(bound.min(axis=1, initial=np.iinfo(bound.dtype).max)) if earlier.shape[1] else value


class _Work:
    """Places level by level, and what they show so far."""

    def __init__(self, levels: Sequence[Places], k: int, rng: np.random.Generator) -> None:
        self.levels, self.k, self.rng = levels, k, rng
        self.released = [np.zeros(len(places), np.int64) for places in levels]
        self.within = [np.zeros(len(places), np.int64) for places in levels]
        self.top = families(levels)

    def keep(self) -> None:
        """Every equivalence class as it was, or as much less as it must be."""
        caps = [places.released[:, -1].copy() for places in self.levels]
        some: list[np.ndarray] = [np.arange(len(places), dtype=np.int64) for places in self.levels]
        while True:
            wrong = self._fill(some, caps)
            if not wrong:
                return
            some = self._families(wrong)
            for level, places, need in wrong:
                self._lower(level, places, need, caps)

    def _fill(self, some: Sequence[np.ndarray], caps: Sequence[np.ndarray]) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """Fill some places from the finest level up; where what is shown within cannot stand, how many are too many."""
        wrong = []
        for level, (places, at) in enumerate(zip(self.levels, some)):
            below = self._below(level)[at]
            limit = np.minimum(places.people[at] - below, caps[level][at])
            value = largest(limit, below, places.released[at], places.within[at], self.k)
            bad = value < 0
            if bad.any():
                lower = self._lower_sum(below[bad], places.within[at[bad]])
                wrong.append((level, at[bad], below[bad] - lower))
            self.released[level][at] = np.maximum(value, 0)
            self.within[level][at] = below + self.released[level][at]
        return wrong

    def _lower_sum(self, value: np.ndarray, earlier: np.ndarray) -> np.ndarray:
        while True:
            lower = _step(value, earlier, self.k)
            if (lower == value).all():
                return value
            value = lower

    def _below(self, level: int) -> np.ndarray:
        if level == 0:
            return np.zeros(len(self.levels[0]), np.int64)
        parent = self.levels[level - 1].parent
        inside = parent >= 0
        sums = np.bincount(parent[inside], self.within[level - 1][inside], len(self.levels[level]))
        return sums.astype(np.int64)

    def _families(self, wrong: Sequence[tuple[int, np.ndarray, np.ndarray]]) -> list[np.ndarray]:
        tops = np.unique(np.concatenate([self.top[level][places] for level, places, _ in wrong]))
        return [np.flatnonzero(np.isin(top, tops)) for top in self.top]

    def _lower(self, level: int, places: np.ndarray, need: np.ndarray, caps: Sequence[np.ndarray]) -> None:
        """Let the largest equivalence class within each of these places show fewer."""
        marked = np.full(len(self.levels[level]), NOBODY, np.int64)
        marked[places] = np.arange(len(places), dtype=np.int64)
        best, where = np.zeros(len(places), np.int64), np.full((len(places), 2), NOBODY, np.int64)
        for finer in reversed(range(level)):
            parent = self.levels[finer].parent
            marked = np.where(parent >= 0, marked[parent], NOBODY)
            here = np.flatnonzero((marked >= 0) & (self.released[finer] > 0))
            order = here[np.lexsort((-self.released[finer][here], marked[here]))]
            first = order[np.flatnonzero(np.diff(marked[order], prepend=NOBODY))]
            more = first[self.released[finer][first] > best[marked[first]]]
            best[marked[more]] = self.released[finer][more]
            where[marked[more]] = np.column_stack([np.full(len(more), finer, np.int64), more])
        for finer in range(level):
            here = where[:, 0] == finer
            at = where[here, 1]
            caps[finer][at] = np.maximum(self.released[finer][at] - need[here], 0)

    def left(self, level: int) -> np.ndarray:
        """The people of each place whom nothing shows there or within."""
        return self.levels[level].people - self.within[level]

    def add(self) -> None:
        """Show people who are left where k of them are, on the finest level on which that may be seen."""
        for level in range(len(self.levels)):
            waiting = np.flatnonzero(self._spare(level) >= self.k)
            waiting = waiting[self.rng.permutation(len(waiting))]
            while len(waiting):
                _, first = np.unique(self.top[level][waiting], return_index=True)
                now = waiting[first]
                waiting = np.delete(waiting, first)
                more = self._spare(level)[now]
                while len(now):  # the most that can be added
                    can = more >= self.k
                    now, more = now[can], more[can]
                    fits = self._fits(level, now, more) & self._label_fits(level, now, more)
                    self._change(level, now[fits], more[fits])
                    now, more = now[~fits], more[~fits] - 1
                waiting = waiting[np.isin(waiting, np.flatnonzero(self._spare(level) >= self.k))]

    def _spare(self, level: int) -> np.ndarray:
        """The people of each place who are left there and in all places around it."""
        spare = np.empty(0, np.int64)
        for at in reversed(range(level, len(self.levels))):
            left, parent = self.left(at), self.levels[at].parent
            if len(spare):
                around = np.where(parent >= 0, spare[parent], left)
                left = np.minimum(left, around)
            spare = left
        return spare

    def _label_fits(self, level: int, places: np.ndarray, more: np.ndarray) -> np.ndarray:
        now = self.released[level][places] + more
        return (now == 0) | ((now >= self.k) & (_step(now, self.levels[level].released[places], self.k) == now))

    def _fits(self, level: int, places: np.ndarray, more: np.ndarray, until: int | None = None) -> np.ndarray:
        """Whether the sums of these places and of all around them may change by so many; until : a level, left out."""
        fits, at = np.ones(len(places), bool), places
        for here in range(level, len(self.levels) if until is None else until):
            there = at >= 0
            own = at[there]
            now = self.within[here][own] + more[there]
            fits[there] &= _step(now, self.levels[here].within[own], self.k) == now
            at = np.where(there, self.levels[here].parent[at], NOBODY)
        return fits

    def _change(self, level: int, places: np.ndarray, more: np.ndarray, until: int | None = None) -> None:
        self.released[level][places] += more
        at = places
        for here in range(level, len(self.levels) if until is None else until):
            there = at >= 0
            np.add.at(self.within[here], at[there], more[there])
            at = np.where(there, self.levels[here].parent[at], NOBODY)

    def join(self) -> None:
        """Where fewer than k are left in an outermost region, let others of their class join them there, who are shown
        in smaller ones: so nobody is suppressed who need not be."""
        last = len(self.levels) - 1
        if not last:
            return
        places = self.levels[last]
        left = self.left(last)
        some = np.flatnonzero(left > 0)
        total = self._lower_sum(places.people[some], places.within[some])
        need = total - self.within[last][some]
        some, need = some[need > 0], need[need > 0]
        for source in range(MOST_SOURCES):
            level, at = self._source(some, source)
            for from_level in range(last):
                here = (level == from_level) & (at >= 0)
                done = np.zeros(len(some), bool)
                for taken in range(self.k, 2 * self.k):
                    rows = np.flatnonzero(here & ~done)
                    if not len(rows):
                        break
                    done[rows] = self._moved(from_level, at[rows], some[rows], taken, need[rows])
                some, need, level, at = some[~done], need[~done], level[~done], at[~done]
            if not len(some):
                return

    def gather(self) -> None:
        """Of what changed, show people whom a larger region shows where k of them live in a smaller one: whom an
        equivalence class once had to give up comes back when others of the class have come, or had to be given up,
        too."""
        changed = [places.released[:, -1] != released for places, released in self._both()]
        families = np.unique(np.concatenate([top[some] for top, some in zip(self.top, changed)]))
        for level in range(len(self.levels) - 1):
            some = np.flatnonzero((self.left(level) >= self.k) & np.isin(self.top[level], families))
            some = some[self.rng.permutation(len(some))]
            while len(some):
                _, first = np.unique(self.top[level][some], return_index=True)
                now = some[first]
                some = np.delete(some, first)
                for source in range(level + 1, len(self.levels)):
                    now = now[~self._taken(level, now, source)]

    def _both(self) -> Iterable[tuple[Places, np.ndarray]]:
        return zip(self.levels, self.released)

    def _taken(self, level: int, places: np.ndarray, source: int) -> np.ndarray:
        """Whether as many as may be, k and more, were taken from the regions of a coarser level around some places, of
        families of their own, and are shown there."""
        around, most = places, self.left(level)[places]
        for at in range(level, source):
            most = np.minimum(most, np.where(around >= 0, self.left(at)[around], 0))
            around = np.where(around >= 0, self.levels[at].parent[around], NOBODY)
        most = np.minimum(most, np.where(around >= 0, self.released[source][around], 0))
        done = np.zeros(len(places), bool)
        for more in range(min(MOST_TAKEN * self.k, int(most.max(initial=0))), self.k - 1, -1):
            rows = np.flatnonzero(~done & (most >= more))
            if not len(rows):
                continue
            some, number = places[rows], np.full(len(rows), more, np.int64)
            fits = self._label_fits(level, some, number) & self._fits(level, some, number, until=source)
            fits &= self._label_fits(source, around[rows], -number)
            self._change(level, some[fits], number[fits], until=source)
            self.released[source][around[rows[fits]]] -= more
            done[rows[fits]] = True
        return done

    def _source(self, some: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Of each outermost place the level and the position of an equivalence class within, the coarsest and largest
        first."""
        last = len(self.levels) - 1
        family = self.top[last][some]
        levels = [np.full(len(self.released[level]), level, np.int64) for level in range(last)]
        parts = [
            np.flatnonzero((self.released[at] >= 2 * self.k) & np.isin(self.top[at], family)) for at in range(last)
        ]
        level = np.concatenate([np.empty(0, np.int64), *(of[part] for of, part in zip(levels, parts))])
        at = np.concatenate([np.empty(0, np.int64), *parts]).astype(np.int64)
        n_released = np.concatenate([np.empty(0, np.int64), *(self.released[i][part] for i, part in enumerate(parts))])
        top = np.concatenate([np.empty(0, np.int64), *(self.top[i][part] for i, part in enumerate(parts))])
        order = np.lexsort((at, -n_released, -level, top))
        start = np.searchsorted(top[order], family)
        position = start + number
        there = position < np.searchsorted(top[order], family, side="right")
        chosen = np.append(order, NOBODY)[np.where(there, position, len(order))]
        return (
            np.where(there, np.append(level, NOBODY)[chosen], NOBODY),
            np.where(there, np.append(at, NOBODY)[chosen], NOBODY),
        )

    def _moved(self, level: int, sources: np.ndarray, tops: np.ndarray, taken: int, need: np.ndarray) -> np.ndarray:
        """Move people of equivalence classes to the outermost regions around them, where so many more are needed, if
        that can be."""
        last = len(self.levels) - 1
        fewer, more = np.full(len(sources), -taken, np.int64), taken + need
        fits = self._label_fits(level, sources, fewer) & self._fits(level, sources, fewer, until=last)
        fits &= self._label_fits(last, tops, more)  # and what is within may be as many as are needed
        self._change(level, sources[fits], fewer[fits])
        self._change(last, tops[fits], more[fits])
        return fits
