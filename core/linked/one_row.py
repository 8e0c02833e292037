"""Rows that are shown where others may know one row of a person, whichever it is, and not all of them."""

from __future__ import annotations

import numpy as np

from ..records.columns import combine_codes, number_keys
from .tables import LinkedTable


def rows_of_many(table: LinkedTable, equivalence_class: np.ndarray, k: int) -> np.ndarray:
    """Whether each row is shown, (R,) bool: k people of the class have a row with its known values.

    equivalence_class : (N,) that of each person, below 0 for suppressed ones. Rows with values that fewer have are left
    out of all people of the class: whoever knows one of them finds the whole class.
    """
    of = np.append(equivalence_class, -1)[table.person]
    there = np.flatnonzero(of >= 0)
    released = of >= 0
    if not table.known or not len(there):
        return released
    columns = list(table.known.values())
    codes = [of[there], *(column.codes[there] for column in columns)]
    group, groups = combine_codes(codes, [int(code.max()) + 1 for code in codes])
    released[there] = people_of(group, table.person[there], len(groups))[group] >= k
    return released


def people_of(group: np.ndarray, person: np.ndarray, n_groups: int) -> np.ndarray:
    """The different people behind the rows of each group, (n_groups,) int64; group, person : (r,)."""
    n_persons = int(person.max(initial=0)) + 1
    each_once = number_keys(group.astype(np.int64) * n_persons + person, n_groups * n_persons)[0]
    return np.bincount(each_once // n_persons, minlength=n_groups)
