"""What the people of a class have in common: sensitive values, and who has them.

A person has a value if any of the person's rows has it. What is asked of values is asked of persons: rows of one person
hide nobody else's value.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..dataclass import dataclass
from ..records.columns import combine_codes, number_keys, sum_by_key
from ..records.table import PERSONS

NOBODY_KNOWN: Mapping[str, np.ndarray] = {}


@dataclass(frozen=True, eq=False)
class Held:
    """Who has which value in each cell: (h,) int64 arrays of cell and pair, each once.

    kind : “persons” or “households”; member, value : (p,) int64 of each pair, ascending by member, then by value
    """

    kind: str
    cell: np.ndarray
    pair: np.ndarray
    member: np.ndarray
    value: np.ndarray


@dataclass(frozen=True, eq=False)
class Shares:
    """The values of a sensitive field in each cell: (s,) int64 arrays of cell, value and records, each pair once.

    held : the same by who has them, for every kind of members that is known
    """

    field: str
    cell: np.ndarray
    value: np.ndarray
    records: np.ndarray
    held: tuple[Held, ...] = ()


@dataclass(frozen=True, eq=False)
class Holders:
    """How many people of each cell have which value, where nobody is in two cells; as counts, without who they are.

    cell, value, holders : (h,) int64, each pair once; people : (C,) int64, who of each cell has any value
    """

    field: str
    cell: np.ndarray
    value: np.ndarray
    holders: np.ndarray
    people: np.ndarray

    def tally(self, equivalence_class_of: np.ndarray, n_equivalence_classes: int) -> Tally:
        """As `tallies_of`, for those who have any value; what everybody's values weigh is not known."""
        equivalence_class = equivalence_class_of[self.cell]
        there, inside = equivalence_class >= 0, equivalence_class_of >= 0
        of, value, at = _pairs(equivalence_class[there], self.value[there], n_equivalence_classes)
        holders = np.bincount(at, self.holders[there], len(value)).astype(np.int64)
        people = np.bincount(equivalence_class_of[inside], self.people[inside], n_equivalence_classes)
        return Tally(of, value, holders, np.empty(0), people.astype(np.int64))


@dataclass(frozen=True, eq=False)
class Diversity:
    """Of a sensitive field, (n_equivalence_classes,), of the kind of people for which it is worst.

    distinct : l, the fewest values that together could be those of all people of the equivalence class: where everybody
    has one, the different values; whichever l - 1 values are named, somebody has none of them. 0 for equivalence
    classes without people
    largest_share : of the people, those who have the value that most have, per cent
    distance : t, how far the values of the equivalence class lie from those of all together, 0 to 1: the total
    variation between them, everybody's values weighing one together (which is the earth mover's distance of values that
    are all equally far apart; Li et al. 2007); or where it is more, by how much more of its people have one value
    """

    distinct: np.ndarray
    largest_share: np.ndarray
    distance: np.ndarray


@dataclass(frozen=True, eq=False)
class Tally:
    """How many people of each equivalence class have which value: arrays (e,), ascending, each such pair once.

    holders : (e,) who has the value; weight : (e,) the same, everybody counting one over all values together
    people : (n_equivalence_classes,) who there is
    """

    equivalence_class: np.ndarray
    value: np.ndarray
    holders: np.ndarray
    weight: np.ndarray
    people: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """Of the people of the equivalence class, those who have the value, (e,)."""
        return self.holders / self.people[self.equivalence_class]

    def fewest_values(self) -> np.ndarray:
        """The fewest values that together have as many people as there are, (n_equivalence_classes,) int64.

        The commonest are added up: who has several is counted several times, so no fewer values can do.
        """
        order = np.lexsort((-self.holders, self.equivalence_class))
        equivalence_class, holders = self.equivalence_class[order], self.holders[order]
        so_far = np.cumsum(holders) - holders
        first = np.flatnonzero(np.diff(equivalence_class, prepend=-1))
        before = so_far - np.repeat(so_far[first], np.diff(first, append=len(equivalence_class)))
        return np.bincount(equivalence_class[before < self.people[equivalence_class]], minlength=len(self.people))

    def most_holders(self) -> np.ndarray:
        """The people who have the value that most have, (n_equivalence_classes,) int64."""
        most, first = np.zeros(len(self.people), np.int64), np.flatnonzero(np.diff(self.equivalence_class, prepend=-1))
        if len(first):
            most[self.equivalence_class[first]] = np.maximum.reduceat(self.holders, first)
        return most

    def several_values(self) -> np.ndarray:
        """Where `fewest_values` is at least 2, (n_equivalence_classes,) bool, without ordering the values."""
        n_values = np.bincount(self.equivalence_class, minlength=len(self.people))
        return (n_values > 1) & (self.most_holders() < self.people)

    def largest_share(self) -> np.ndarray:
        """Of the people, those who have the value that most have, per cent, (n_equivalence_classes,)."""
        return 100.0 * (self.most_holders() / np.maximum(self.people, 1))


def tallies_of(equivalence_class_of: np.ndarray, shares: Shares, n_equivalence_classes: int) -> list[Tally]:
    """The people of each equivalence class by value, for every kind of people.

    equivalence_class_of : of each cell, -1 for none

    Where persons are not known, every record is one.
    """
    tallies = [_of_members(equivalence_class_of, held, n_equivalence_classes) for held in shares.held]
    if any(held.kind == PERSONS for held in shares.held):
        return tallies
    return [_of_records(equivalence_class_of, shares, n_equivalence_classes), *tallies]


def several_values_of(equivalence_class_of: np.ndarray, shares: Shares, n_equivalence_classes: int) -> np.ndarray:
    """As `Tally.several_values` of records each of which is one person, (n_equivalence_classes,) bool, without counting
    them: whether any value of an equivalence class is another than one of them.

    equivalence_class_of : of each cell, -1 for none
    """
    equivalence_class = equivalence_class_of_entries(equivalence_class_of, shares.cell)
    equivalence_class[equivalence_class < 0] = n_equivalence_classes
    any_value = np.zeros(n_equivalence_classes + 1, np.int64)
    any_value[equivalence_class] = shares.value
    several = np.zeros(n_equivalence_classes + 1, bool)
    several[equivalence_class[shares.value != any_value[equivalence_class]]] = True
    return several[:-1]


def diversity_of(equivalence_class_of: np.ndarray, shares: Shares, n_equivalence_classes: int) -> Diversity:
    """How diverse the values of a sensitive field are in each equivalence class.

    equivalence_class_of : of each cell, -1 for none
    """
    tallies = tallies_of(equivalence_class_of, shares, n_equivalence_classes)
    together = tallies_of(np.where(equivalence_class_of >= 0, 0, -1), shares, 1)
    return Diversity(
        np.minimum.reduce([tally.fewest_values() for tally in tallies]),
        np.maximum.reduce([tally.largest_share() for tally in tallies]),
        np.maximum.reduce([_distances(tally, overall) for tally, overall in zip(tallies, together)]),
    )


def shares_of(
    field_name: str,
    cell_of: np.ndarray,
    codes: np.ndarray,
    counts: np.ndarray | None,
    members: Mapping[str, np.ndarray] = NOBODY_KNOWN,
) -> Shares:
    """The values of each cell from the rows; cell_of : (N,) -1 for rows in none; codes : (N,) of the values.

    counts : (N,) records of each row, ones where None; members : by kind, (N,) codes of who a row belongs to.
    A row that stands for nobody shows no value.
    """
    inside = cell_of >= 0 if counts is None else (cell_of >= 0) & (counts > 0)
    cell, value = cell_of[inside].astype(np.int64), codes[inside].astype(np.int64)
    n_values = int(codes.max(initial=0)) + 1
    keys, position = np.unique(cell * n_values + value, return_inverse=True)
    records = np.bincount(position.reshape(-1), None if counts is None else counts[inside], len(keys))
    held = tuple(held_of(kind, cell, who[inside], value) for kind, who in members.items())
    return Shares(field_name, *np.divmod(keys, n_values), records.astype(np.int64), held)


def held_of(kind: str, cell: np.ndarray, member: np.ndarray, value: np.ndarray) -> Held:
    """Who has which value in each cell; (r,) arrays of cell, code of the member and of the value, in any order."""
    sizes = int(member.max(initial=0)) + 1, int(value.max(initial=0)) + 1
    pair, pairs = combine_codes([member, value], sizes)
    n_pairs = max(len(pairs), 1)
    of_cell, of_pair = np.divmod(np.unique(cell * n_pairs + pair), n_pairs)
    return Held(kind, of_cell, of_pair, *pairs.T)


def equivalence_class_of_entries(equivalence_class_of: np.ndarray, cell: np.ndarray) -> np.ndarray:
    """The equivalence class of each entry's cell, -1 for cells without one and for cells beyond the array."""
    return np.append(equivalence_class_of, -1)[np.minimum(cell, len(equivalence_class_of))]


def _of_records(equivalence_class_of: np.ndarray, shares: Shares, n_equivalence_classes: int) -> Tally:
    equivalence_class = equivalence_class_of_entries(equivalence_class_of, shares.cell)
    value, records, there = shares.value, shares.records, equivalence_class >= 0
    if not there.all():
        equivalence_class, value, records = equivalence_class[there], value[there], records[there]
    n_values = int(value.max(initial=0)) + 1
    pairs, records = sum_by_key(equivalence_class * n_values + value, records, n_equivalence_classes * n_values)
    of_equivalence_class, value = np.divmod(pairs, n_values)
    return Tally(
        of_equivalence_class, value, records, records, np.bincount(of_equivalence_class, records, n_equivalence_classes)
    )


def _of_members(equivalence_class_of: np.ndarray, held: Held, n_equivalence_classes: int) -> Tally:
    """Who has several rows of a value in an equivalence class has it once, in whichever cells they are."""
    equivalence_class = equivalence_class_of_entries(equivalence_class_of, held.cell)
    there, n_pairs = equivalence_class >= 0, max(len(held.member), 1)
    of_equivalence_class, pair = np.divmod(np.unique(equivalence_class[there] * n_pairs + held.pair[there]), n_pairs)
    member = held.member[pair]
    # In this order the values of a member of an equivalence class stand together.
    first = np.flatnonzero((np.diff(of_equivalence_class, prepend=-1) != 0) | (np.diff(member, prepend=-1) != 0))
    n_values = np.diff(first, append=len(pair))
    people = np.bincount(of_equivalence_class[first], minlength=n_equivalence_classes)
    equivalence_classes, value, at = _pairs(of_equivalence_class, held.value[pair], n_equivalence_classes)
    weight = np.bincount(at, np.repeat(1.0 / n_values, n_values), len(value))
    return Tally(equivalence_classes, value, np.bincount(at, minlength=len(value)), weight, people)


def _pairs(
    equivalence_class: np.ndarray, value: np.ndarray, n_equivalence_classes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Equivalence class and value of every pair that occurs, ascending, and the position of each entry's pair there."""
    n_values = int(value.max(initial=0)) + 1
    keys, at = number_keys(equivalence_class * n_values + value, n_equivalence_classes * n_values)
    return (*np.divmod(keys, n_values), at)


def _distances(tally: Tally, together: Tally) -> np.ndarray:
    """How far each equivalence class lies from all of them together, (n_equivalence_classes,).

    together : the same people as one equivalence class
    """
    n_equivalence_classes, n_values = len(tally.people), int(together.value.max(initial=-1)) + 1
    share, weight = np.zeros(n_values), np.zeros(n_values)
    share[together.value] = together.share
    weight[together.value] = together.weight / max(float(together.people.sum()), 1.0)
    # Half the sum of all differences is the sum of those where the equivalence class has more than all equivalence
    # classes together.
    own = tally.weight / tally.people[tally.equivalence_class]
    distance = np.bincount(tally.equivalence_class, np.maximum(own - weight[tally.value], 0.0), n_equivalence_classes)
    np.maximum.at(distance, tally.equivalence_class, tally.share - share[tally.value])
    return distance
