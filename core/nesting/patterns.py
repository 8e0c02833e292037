"""Cells of one region, solved by their pattern: how many records each has, in turn.

Wherever the cells of a region are placed in it, they lose the same; what they can do together depends on their numbers
of records alone, counted up to k. There are few such patterns and very many regions that have them: each is solved
once. They are kept as a tree of their own, in which a pattern follows the one that lacks its last cell.
"""

from __future__ import annotations

import numpy as np

EMPTY = 0  # the pattern of no cells
MOST_STATES = 1 << 24  # of all patterns together, beyond which they are forgotten between two calls
# How many cells of a row are taken one by one before it is asked whether the rest may be taken at once, and again.
AT_A_TIME = 32


class Patterns:
    """The patterns met so far, by number.

    A state is (r, p): r records are released in the region and p are passed to the parent, where k stands for k and
    more; r is at most `parts`, k or 0. Its number is r · (k + 1) + p.
    Arrays by pattern, with room for more than there are:
    reach : (P, parts + 1, k + 1) bool, the states that there are; ends : (P, k + 1) bool, the numbers of records that
    can be passed to the parent if what stays is released, nothing or k and more; origin : (P, k + 1), the state behind
    each
    before : (P, states), the state without the last cell; here : (P, states) bool, whether that cell is released
    """

    def __init__(self, k: int, parts: int) -> None:
        self.k, self.parts = k, parts
        passed, digit = np.arange(k + 1, dtype=np.int64), np.arange(k + 1, dtype=np.int64)[:, None]
        # By the records of a cell and what is passed on with it: what was passed on without it, k + 1 where none was.
        self._came_from = np.where((passed >= digit) & (passed < k), passed - digit, k + 1)
        self._reaches_k = passed >= k - digit  # by the records of a cell and what is passed on without it
        # A row whose cells can release, or pass on, any number of records beside k of the other: so it stays.
        self._settled = np.zeros((parts + 1, k + 1), bool)
        self._settled[:, k] = True
        if parts:
            self._settled[parts] = True
        self._forget()

    def make_room(self) -> None:
        """Forget all patterns if they have become very many; numbers that were given are void then."""
        if self._size * self.before.shape[1] > MOST_STATES:
            self._forget()

    def numbers(self, digits: np.ndarray, first: np.ndarray, length: np.ndarray) -> np.ndarray:
        """The pattern of each row of cells, (rows,) int64.

        digits : the records of all cells, at most k; first : (rows,), the first cell of each row, its others follow it;
        length : (rows,), how many there are
        """
        number = np.zeros(len(first), np.int64)
        rows, turn = np.flatnonzero(length), 0
        while len(rows):
            number[rows] = self._following(number[rows], digits[first[rows] + turn])
            turn += 1
            rows = rows[length[rows] > turn]
            if turn % AT_A_TIME == 0 and len(rows):
                rest = rows[self._alone(number[rows], digits[first[rows] + turn])]
                number[rest] = self._chained(number[rest], digits, first[rest] + turn, length[rest] - turn)
                rows = np.setdiff1d(rows, rest, assume_unique=True)
        return number

    def released(self, number: np.ndarray, state: np.ndarray, first: np.ndarray, n_cells: int) -> np.ndarray:
        """Which cells of some rows are released to reach a state, (n_cells,) bool, False for the cells of other rows.

        number, state, first : (rows,), the pattern, the state, and the first of the cells
        """
        released = np.zeros(n_cells, bool)
        while len(number):
            left = number != EMPTY
            number, state, first = number[left], state[left], first[left]
            released[first + self.length[number] - 1] = self.here[number, state]
            number, state = self.last[number], self.before[number, state]
        return released

    def _forget(self) -> None:
        states = np.arange((self.parts + 1) * (self.k + 1), dtype=np.int16)[None]
        self.reach = (states == 0).reshape(1, self.parts + 1, self.k + 1)
        self.ends, self.origin = self._ends(self.reach)
        self.before, self.here = states, np.zeros(states.shape, bool)
        self.last, self.length = np.zeros(1, np.int32), np.zeros(1, np.int32)
        self._next = np.full((1, self.k + 1), -1, np.int32)
        self._size = 1

    def _following(self, number: np.ndarray, digit: np.ndarray) -> np.ndarray:
        """The patterns with one more cell, which are made where they are new."""
        successors = self._next[number, digit]
        new = np.flatnonzero(successors < 0)
        if len(new):
            key = np.unique(number[new] * (self.k + 1) + digit[new])
            self._add(*np.divmod(key, self.k + 1))
            successors[new] = self._next[number[new], digit[new]]
        return successors

    def _alone(self, number: np.ndarray, digit: np.ndarray) -> np.ndarray:
        """Which rows are settled, and go on where no row has gone: neither an earlier one nor another of these."""
        _, position, n_rows = np.unique(number, return_inverse=True, return_counts=True)
        settled = (self.reach[number] == self._settled).all(axis=(1, 2))
        return settled & (n_rows[position.reshape(-1)] == 1) & (self._next[number, digit] < 0)

    def _chained(self, number: np.ndarray, digits: np.ndarray, first: np.ndarray, length: np.ndarray) -> np.ndarray:
        """The patterns of settled rows with all their other cells, each one more than the one before."""
        if not len(number):
            return number
        stops = np.cumsum(length)
        turn = np.arange(stops[-1], dtype=np.int64) - np.repeat(stops - length, length)
        digit = digits[np.repeat(first, length) + turn]
        last = self._size - 1 + np.arange(stops[-1], dtype=np.int64)
        last[stops - length] = number
        every = np.arange(self.k + 1, dtype=np.int64)
        settled = np.repeat(self._settled[None], len(every), axis=0)
        reach, before, here = self._with_one_more(settled, every)
        ends, origin = self._ends(reach[:1])
        lengths = np.repeat(self.length[number], length) + turn + 1
        self._keep(last, digit, lengths, reach[:1], ends, origin, before[digit], here[digit])
        return self._size - stops[-1] + stops - 1

    def _add(self, last: np.ndarray, digit: np.ndarray) -> None:
        """Add patterns, each by the one that it follows and the records of its last cell."""
        reach, before, here = self._with_one_more(self.reach[last], digit)
        ends, origin = self._ends(reach)
        self._keep(last, digit, self.length[last] + 1, reach, ends, origin, before, here)

    def _with_one_more(self, reach: np.ndarray, digit: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`reach`, `before` and `here` of patterns with one more cell; reach : without it."""
        passed, origin = self._passed_on(reach, digit)
        reach, rows, states = (
            passed,
            len(digit),
            np.arange(self.before.shape[1], dtype=np.int64).reshape(self.reach.shape[1:]),
        )
        before = states[:, :1] + origin
        here = np.zeros_like(passed)
        if self.parts:  # to release is the same as to pass to the parent, the other way round
            here = ~passed & passed.swapaxes(1, 2)
            reach = passed | here
            before = np.where(here, origin.swapaxes(1, 2) * (self.k + 1) + states[:1], before)
        before = np.where(reach, before, states)
        return reach, before.reshape(rows, -1), here.reshape(rows, -1)

    def _keep(
        self,
        last: np.ndarray,
        digit: np.ndarray,
        length: np.ndarray,
        reach: np.ndarray,
        ends: np.ndarray,
        origin: np.ndarray,
        before: np.ndarray,
        here: np.ndarray,
    ) -> None:
        """Keep new patterns: each by the one that it follows, the records of its last cell, and what is to be known."""
        start, self._size = self._size, self._size + len(last)
        for name, new in (
            ("reach", reach),
            ("ends", ends),
            ("origin", origin),
            ("before", before),
            ("here", here),
            ("last", last),
            ("length", length),
            ("_next", -1),
        ):
            known = getattr(self, name)
            if len(known) < self._size:  # more than is needed, so that what is known is seldom copied
                larger = np.empty((self._size * 3 // 2, *known.shape[1:]), known.dtype)
                larger[:start] = known[:start]
                setattr(self, name, larger)
            getattr(self, name)[start : self._size] = new
        self._next[last, digit] = np.arange(start, self._size, dtype=np.int64)

    def _passed_on(self, reach: np.ndarray, digit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The states once the last cell is passed to the parent, and how many were passed to the parent without it,
        both as `reach`.

        reach : without it. Of several ways to k and more it is the one of fewest records.
        """
        k = self.k
        room = np.concatenate([reach, np.zeros((*reach.shape[:2], 1), bool)], axis=2)  # its last column: no such state
        reach_above = np.take_along_axis(room, self._came_from[digit][:, None], axis=2)
        enough = reach & self._reaches_k[digit][:, None]
        reach_above[:, :, k] = enough.any(axis=2)
        origin = np.repeat(self._came_from[digit][:, None], reach.shape[1], axis=1)
        origin[:, :, k] = enough.argmax(axis=2)
        return reach_above, origin

    def _ends(self, reach: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`ends` and `origin` of the states that there are."""
        ends, state = reach[:, 0].copy(), np.arange(self.k + 1, dtype=np.int64)
        origin = np.broadcast_to(state, ends.shape).astype(np.int16)
        if self.parts:
            released = reach[:, self.parts] & ~ends
            origin[released] += self.parts * (self.k + 1)
            return ends | released, origin
        released = ends[:, self.k] & ~ends[:, 0]  # all that arrived is released, where that is k or more
        origin[released, 0], ends[released, 0] = self.k, True
        return ends, origin
