"""Whose rows of which linked table are shown: of those who are hidden by k people in everything that may be known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ..dataclass import dataclass
from ..records.columns import combine_codes

NOWHERE = -1
ONE_BY_ONE = 3  # classes that join those who are left over one at a time; then all of their class of persons do


class Holds(Protocol):
    """What is asked of people who look alike."""

    k: int

    def people(self, group: np.ndarray, n_groups: int) -> np.ndarray:
        """Whether the people of each group are enough, and different enough, (n_groups,) bool."""

    def values(self, table: int, group: np.ndarray, n_groups: int) -> np.ndarray:
        """Whether what a table shows of the people of each group is different enough, (n_groups,) bool."""


@dataclass(frozen=True, eq=False)
class RowsOfPersons:
    """What is shown of each of N persons.

    of_table : (m, N) bool, whether the person's rows of each table are shown; where they are not, the release says so
    group : (N,) int64, a number for all that may be known of the person and is shown; NOWHERE for suppressed persons
    """

    of_table: np.ndarray
    group: np.ndarray

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return int(self.group.max(initial=NOWHERE)) + 1


def withhold(
    equivalence_class: np.ndarray, signatures: Sequence[np.ndarray], asked: Holds, people: np.ndarray | None = None
) -> RowsOfPersons:
    """Show linked rows where everybody who is shown alike is one of k: leave out a table's rows, never the person.

    equivalence_class : (N,) that of each person's record, NOWHERE for none, each of which holds what is asked;
    signatures : for each table (N,), equal for people of whom the same may be known; people : (N,) how many people
    each of these stands for, one where None

    First goes what is too rare by itself, then the tables from the last to the first. Who is left over, fewer than k of
    a class without any rows, is joined by the smallest other part of the class.
    """
    n, tables = len(equivalence_class), len(signatures)
    inside = np.flatnonzero(equivalence_class >= 0)
    of_class = equivalence_class[inside]
    own = [signature[inside] for signature in signatures]
    times = None if people is None else people[inside]
    released = np.ones((tables, len(inside)), bool)
    for table, signature in enumerate(own):
        group, n_groups = _groups(of_class, [signature], released[table : table + 1])
        released[table] = (np.bincount(group, times, n_groups) >= asked.k)[group]

    def everywhere(group: np.ndarray) -> np.ndarray:
        whole = np.full(n, NOWHERE, np.int64)
        whole[inside] = group
        return whole

    for table in [*reversed(range(tables))] * 2:
        group, n_groups = _groups(of_class, own, released)
        whole = everywhere(group)
        holds = asked.people(whole, n_groups) & _values_hold(asked, table, released[table], group, whole, n_groups)
        released[table] &= holds[group]
    rounds = 0
    while True:
        group, n_groups = _groups(of_class, own, released)
        whole = everywhere(group)
        holds = asked.people(whole, n_groups)
        for table in range(tables):
            holds &= _values_hold(asked, table, released[table], group, whole, n_groups)
        shows = np.zeros(n_groups, bool)
        shows[group] = released.any(axis=0)
        closed = ~holds & shows
        sizes = np.bincount(group, times, n_groups)
        closed |= _company(group, sizes, of_class, shows, ~holds & ~shows, rounds >= ONE_BY_ONE)
        if not closed.any():
            of_table = np.zeros((tables, n), bool)
            of_table[:, inside] = released
            return RowsOfPersons(of_table, whole)
        released[:, closed[group]] = False
        rounds += 1


def _groups(of_class: np.ndarray, signatures: Sequence[np.ndarray], released: np.ndarray) -> tuple[np.ndarray, int]:
    """A number for each combination of class and what is shown of the tables, and how many there are."""
    codes = [of_class, *(np.where(there, signature + 1, 0) for signature, there in zip(signatures, released))]
    group, groups = combine_codes(codes, [int(code.max(initial=0)) + 1 for code in codes])
    return group, len(groups)


def _values_hold(
    asked: Holds, table: int, released: np.ndarray, group: np.ndarray, whole: np.ndarray, n_groups: int
) -> np.ndarray:
    """Whether the values of a table hold where it is shown, (n_groups,) bool."""
    there = np.zeros(n_groups, bool)
    there[group] = released
    return asked.values(table, whole, n_groups) | ~there


def _company(
    group: np.ndarray, sizes: np.ndarray, of_class: np.ndarray, shows: np.ndarray, alone: np.ndarray, all_of_it: bool
) -> np.ndarray:
    """The groups whose rows are left out so that those left over are not too few, (n_groups,) bool.

    sizes : (n_groups,) the people of each
    shows : (n_groups,) whether any rows are shown; alone : (n_groups,) those of whom none are, and who are too few;
    all_of_it : whether all groups of their class, or the smallest
    """
    closed = np.zeros(len(sizes), bool)
    if not alone.any():
        return closed
    class_of = np.zeros(len(sizes), np.int64)
    class_of[group] = of_class
    asking = np.zeros(int(of_class.max()) + 1, bool)
    asking[class_of[alone]] = True
    others = np.flatnonzero(asking[class_of] & shows)
    if all_of_it:
        closed[others] = True
        return closed
    order = others[np.lexsort((others, sizes[others], class_of[others]))]
    closed[order[np.diff(class_of[order], prepend=-1) != 0]] = True
    return closed
