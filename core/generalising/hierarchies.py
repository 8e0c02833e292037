"""The hierarchy of a quasi-identifier: its values, and the coarser values that each of them is part of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..arrays import objects
from ..dataclass import dataclass
from ..elementary import log2
from ..errors import InputError, first_values
from ..profile import Profile
from ..records.columns import Column, category_order

SUPPRESSED_VALUE = "*"
"""What an attribute shows that says nothing any more: of every value the same, the missing one included."""


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The levels of one quasi-identifier, the values themselves first.

    attribute : name of the quasi-identifier; n values, those of its column, in their order
    codes : for each level (n,) int64, the position of each value's coarser one among `categories` of that level; at
    level 0 each value is itself
    categories : for each level an object array, in the order of `category_order`: at level 0 the values as they are,
    above it text; None is the missing value
    Values that are equal at a level are equal at every higher one. Made by `make_hierarchy`, which checks it.
    """

    attribute: str
    codes: tuple[np.ndarray, ...]
    categories: tuple[np.ndarray, ...]

    def __len__(self) -> int:
        """Number of levels, level 0 included."""
        return len(self.codes)

    @property
    def values(self) -> np.ndarray:
        """The values themselves, (n,) object."""
        return self.categories[0]

    def above(self, level: int) -> Hierarchy:
        """The hierarchy of the values shown at a level, from there on. Raises InputError for a level there is not."""
        if not 0 <= level < len(self):
            raise InputError.saying(
                "“{attribute}” has the levels 0 to {highest}, but none {level}: choose one of these.",
                attribute=self.attribute,
                highest=len(self) - 1,
                level=level,
            )
        above = np.zeros(len(self.categories[level]), np.int64)
        codes = []
        for coarser in self.codes[level:]:
            above[self.codes[level]] = coarser
            codes.append(above.copy())
        return Hierarchy(self.attribute, tuple(codes), self.categories[level:])


def make_hierarchy(attribute: str, values: np.ndarray, levels: Sequence[Sequence[str | None]]) -> Hierarchy:
    """The hierarchy of these values and their coarser ones.

    values : (n,) object, the categories of a column, each once; levels : of level 1, 2, … the coarser value of each, as
    text, None for missing. Raises InputError where values that are equal at a level differ at a higher one.
    """
    codes: list[np.ndarray] = [np.arange(len(values), dtype=np.int64)]
    categories = [values]
    for number, level in enumerate(levels, 1):
        distinct = sorted(set(level), key=category_order)
        position = {value: i for i, value in enumerate(distinct)}
        here = np.array([position[value] for value in level], np.int64)
        _refuse_split(attribute, values, categories[-1], codes[-1], distinct, here, number)
        codes.append(here)
        categories.append(objects(distinct))
    return Hierarchy(attribute, tuple(codes), tuple(categories))


def checked_node(
    hierarchies: Mapping[str, Hierarchy], names: Sequence[str], node: Sequence[int]
) -> list[tuple[int, Hierarchy | None]]:
    """(Level, hierarchy) of each quasi-identifier; the hierarchy is None where it is shown as it is.

    names : the quasi-identifiers; node : a level for each. Raises InputError for a level that there is not.
    """
    if len(node) != len(names):
        raise InputError.counting(
            "{n} level was given for {n_names} quasi-identifiers: give one for each.",
            "{n} levels were given for {n_names} quasi-identifiers: give one for each.",
            len(node),
            n_names=len(names),
        )
    chosen: list[tuple[int, Hierarchy | None]] = []
    for name, level in zip(names, node):
        hierarchy = hierarchies.get(name)
        if level and hierarchy is None:
            raise InputError.saying(
                "“{name}” is to be shown at level {level}, but nothing says what its coarser values are: give them in "
                "HIERARCHIES, or a rule in HIERARCHY_RULES.",
                name=name,
                level=level,
            )
        highest = 0 if hierarchy is None else len(hierarchy) - 1
        if not 0 <= level <= highest:
            raise InputError.saying(
                "“{name}” is to be shown at level {level}, but its levels are 0 (as it is) to {highest}: choose one of "
                "these.",
                name=name,
                level=level,
                highest=highest,
            )
        chosen.append((int(level), hierarchy if level else None))
    return chosen


def _refuse_split(
    attribute: str,
    values: np.ndarray,
    below: np.ndarray,
    fine: np.ndarray,
    distinct: Sequence[str | None],
    coarse: np.ndarray,
    level: int,
) -> None:
    """Raises InputError where a value of the level below has several at this one."""
    coarse_of = np.zeros(len(below), np.int64)
    coarse_of[fine] = coarse
    split = np.flatnonzero(coarse_of[fine] != coarse)
    if not len(split):
        return
    group = fine[split[0]]
    members = np.flatnonzero(fine == group)
    into = [distinct[code] for code in np.unique(coarse[members]).tolist()]
    raise InputError.saying(
        "HIERARCHIES of “{attribute}”: values that are one at level {level} ({coarser_value}: {values}) are several at "
        "level {next_level} ({coarser_values}): every level must join whole values of the level before.",
        attribute=attribute,
        level=level - 1,
        coarser_value=first_values([below[group]]),
        values=first_values(list(values[members])),
        next_level=level,
        coarser_values=first_values(into),
    )


def entropy(records: np.ndarray) -> float:
    """The entropy in bits per record of an attribute, H = - sum p log2 p; records : (n,) how many have each value."""
    total = float(records.sum())
    share = records[records > 0] / total if total else np.empty(0)
    return float(-(share * log2(share)).sum()) + 0.0


def entropy_given_up(hierarchy: Hierarchy, level: int, records: np.ndarray) -> float:
    """The share of an attribute's entropy that its level gives up, from 0 (as it is) to 1 (it says nothing).

    With the entropy H(A) of the attribute and H(A at the level), both in bits per record, it is
    (H(A) - H(A at the level)) / H(A): what a researcher no longer learns of a record from this attribute alone. It is 0
    for an attribute of one value. records : (n,) how many records have each value of the hierarchy.
    """
    before = entropy(records)
    if not before:
        return 0.0
    after = entropy(np.bincount(hierarchy.codes[level], records, len(hierarchy.categories[level])))
    return min(max((before - after) / before, 0.0), 1.0)


def records_by_value(profile: Profile) -> tuple[np.ndarray, ...]:
    """How many records have each value of each quasi-identifier, int64 arrays in the order of `categories`."""
    return tuple(
        np.bincount(codes, profile.class_sizes, len(categories)).astype(np.int64)
        for codes, categories in zip(profile.classes.T, profile.categories)
    )


def records_by_category(column: Column, counts: np.ndarray | None) -> np.ndarray:
    """How many records of a table have each value of a column, (m,) int64; counts : (N,) records of each row."""
    return np.bincount(column.codes, counts, len(column.categories)).astype(np.int64)
