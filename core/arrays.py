"""What all of core needs of arrays and numbers: arrays as lists and of any values, and the rounding of the papers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np


def to_list(values: np.ndarray) -> list[Any]:
    """The values of an array of one axis or more as Python's own: a list, of lists where there are more axes.

    `values.tolist()` itself, whose type differs: the stubs of numpy 1 leave it open, those of numpy 2 allow a single
    value or any depth of nesting, whatever is known of the array.
    """
    return cast("list[Any]", values.tolist())


def different_pairs(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different pairs of two columns of whole numbers from 0, in order, (p, 2), and that of each row, (n,).

    As numpy's unique along an axis, which sorts rows as bytes and takes ten times as long.
    """
    seconds, rank = np.unique(second, return_inverse=True)
    keys, pair = np.unique(first * max(len(seconds), 1) + rank.reshape(-1), return_inverse=True)
    of_first, of_second = np.divmod(keys, max(len(seconds), 1))
    return np.column_stack([of_first, seconds[of_second]]).astype(np.int64), pair.reshape(-1)


def turns(key: np.ndarray) -> np.ndarray:
    """The place of each entry among those of the same key, from 0; key : (n,), equal ones beside each other."""
    starts = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])
    return np.arange(len(key), dtype=np.int64) - np.repeat(starts, np.diff(starts, append=len(key)))


def runs(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The positions of several runs one after the other, (sum of lengths,)."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0, dtype=np.int64) + np.repeat(starts - (ends - lengths), lengths)


def objects(values: Sequence[object] | np.ndarray) -> np.ndarray:
    """An array of so many values of any kind, each as it is."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def round_half_up(value: float) -> int:
    """The nearest whole number, halves up (Croft 2015, Eq. 7)."""
    return math.floor(value + 0.5)
