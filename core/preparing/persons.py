"""Whether a table has several rows of a person, and which column then says whose a row is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..records.columns import Column, combine_codes

LEAST_SHARED = 0.02  # of the rows: a column that is different in all others is an identifier of rows
MOST_A_PERSON = 200.0  # rows on average: more is a category, and no person
MOST_COMPARED = 150  # values of a column that is held to be the same in all rows of a person
NEARLY = 0.99  # of the persons have one value


@dataclass(frozen=True)
class Persons:
    """A column that seems to say whose a row is. same : the columns that are the same in all rows of a person"""

    name: str
    n_persons: int
    n_rows: int
    same: tuple[str, ...]


def several_rows(records: Mapping[str, Column], area: str) -> Persons | None:
    """The column that says whose a row is, where persons have several; None where none seems to.

    area : the column of the area. Its value, and at least two others that the area does not say already, are the same
    in all rows of a person. Of several columns that with the most different values is taken, so that persons come
    before households.
    """
    if area not in records or not len(records[area]):
        return None
    found = [persons for name in records if name != area and (persons := _persons(records, name, area)) is not None]
    return max(found, key=lambda persons: persons.n_persons, default=None)


def _persons(records: Mapping[str, Column], name: str, area: str) -> Persons | None:
    column, n_rows = records[name], len(records[name])
    n_persons = len(np.unique(column.codes))
    if not n_persons < n_rows * (1 - LEAST_SHARED) or n_rows > MOST_A_PERSON * n_persons or None in column.categories:
        return None
    if not _says(column, records[area], n_persons) or _says(records[area], column, len(np.unique(records[area].codes))):
        return None
    same = [
        other
        for other, values in records.items()
        if other not in (name, area)
        and 1 < len(values.categories) <= MOST_COMPARED
        and not _says(records[area], values, len(np.unique(records[area].codes)))
        and _says(column, values, n_persons)
    ]
    return Persons(name, n_persons, n_rows, tuple(same)) if len(same) >= 2 else None


def _says(of: Column, other: Column, n_values: int) -> bool:
    """Whether nearly every value of a column goes with a single value of the other."""
    _, pairs = combine_codes([of.codes, other.codes], [len(of.categories), len(other.categories)])
    several = len(pairs) - n_values
    return several <= (1 - NEARLY) * n_values
