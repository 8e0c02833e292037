"""What stands for a missing value, wherever values come from: None, NaN, pandas' NA and NaT are one."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from .arrays import to_list

NEVER_MISSING = {str, bytes, bool, int}


def is_missing(value: object) -> bool:
    """Whether a value is none: None, or one that does not equal itself, as NaN and NaT, or says that nobody knows, as
    pandas' NA."""
    if value is None:
        return True
    if type(value) in NEVER_MISSING:
        return False
    if isinstance(value, np.bool_):  # False is what NA is, too: the answer itself
        return False
    unequal: object = value != value
    return unequal is value or unequal is True or (isinstance(unequal, np.bool_) and bool(unequal))


def with_none(values: Sequence[object] | np.ndarray) -> list[object]:
    """The values as a list, None in place of whatever is missing."""
    listed: list[object] = list(values)
    if set(map(type, listed)) <= {*NEVER_MISSING, type(None)}:
        return listed
    array = np.fromiter(listed, dtype=object, count=len(listed))
    unequal = np.not_equal(array, array, dtype=object)
    # pandas' NA says NA of whatever it is compared with, which is neither true nor false.
    itself = np.fromiter(map(operator.is_, unequal.tolist(), listed), bool, len(listed))
    truth = np.fromiter((isinstance(value, (bool, np.bool_)) for value in listed), bool, len(listed))
    unknown = itself & ~truth  # that False does not equal itself is False, too
    unequal[unknown] = True
    array[unequal.astype(bool)] = None
    return to_list(array)
