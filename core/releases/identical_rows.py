"""How many rows of each value an equivalence class shows, where none may be of a value that fewer than k of its rows
show.

Of a value an equivalence class shows nobody or k and more. Whom it does not show may be shown in a region around, for
which they have to be k, too: so of a value that cannot be shown whole, as many go as can be shown there, or none at
all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..disclosure.method_bounds import smeared


def enough(people: np.ndarray, k: int) -> np.ndarray:
    """The people of each value, 0 where they are fewer than k."""
    return np.where(people >= k, people, 0)


def numbers_of_identical(
    place: np.ndarray,
    free: np.ndarray,
    in_turn: Sequence[np.ndarray],
    n_released: np.ndarray,
    around: np.ndarray,
    k: int,
    order: np.ndarray,
) -> np.ndarray:
    """How many of each value the equivalence classes of a level show, (P,) int64: of an equivalence class as many as it
    is to show, or the most below that which can be.

    place : (P,) of each value the place, ascending; free : (P,) whom no finer level shows; in_turn : how many of each
    value are shown before others; n_released : (K,) how many an equivalence class is to show; around : (K,) bool,
    whether a region is around it; order : (P,) of several values the one with the least goes first
    """
    open_to = enough(free, k)
    most = np.zeros(len(place), np.int64)
    lacks = n_released > 0
    for wanted in (*in_turn, free):
        more = enough(np.maximum(most, np.minimum(open_to, wanted)), k)
        most = np.where(lacks[place], more, most)
        lacks = np.bincount(place, most, len(n_released)) < n_released
    most[n_released[place] == 0] = 0
    too_many = np.flatnonzero(np.bincount(place, most, len(n_released)) > n_released)
    starts, ends = (np.searchsorted(place, too_many, side) for side in ("left", "right"))
    for at, start, end in zip(too_many.tolist(), starts.tolist(), ends.tolist()):
        own = slice(start, end)
        left = free[own] if around[at] else most[own]
        most[own] = _largest(most[own], left, int(n_released[at]), k if around[at] else 0, k, order[own])
    return most


def _largest(most: np.ndarray, free: np.ndarray, total: int, least_left: int, k: int, order: np.ndarray) -> np.ndarray:
    """Of each value 0, or k to `most`, that add up to the largest sum there is up to a total, (V,) int64.

    least_left : of a value of which some of `most` are not taken, so many of `free` at least are left
    Sums that can be reached are the bits of a number.
    """
    values = np.flatnonzero(most)
    values = values[np.argsort(order[values])]
    bits, sums = (1 << (total + 1)) - 1, [1]
    choices = []
    for value in values.tolist():
        whole = int(most[value])
        largest = min(whole - 1, int(free[value]) - least_left)
        choices.append((whole, largest))
        before = sums[-1]
        after = before | before << whole
        if largest >= k:
            after |= smeared(before << k, largest - k)
        sums.append(after & bits)
    taken, rest = np.zeros(len(most), np.int64), sums[-1].bit_length() - 1
    for value, (whole, largest), before in zip(values[::-1].tolist(), choices[::-1], sums[-2::-1]):
        for number in (whole, *range(largest, k - 1, -1), 0):
            if number <= rest and before >> (rest - number) & 1:
                taken[value], rest = number, rest - number
                break
    return taken
