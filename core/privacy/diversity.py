"""What the people of a class have in common: sensitive values, and who has them.

A person has a value if any of the person's rows has it. What is asked of values is asked of persons: rows of one person
hide nobody else's value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..records.columns import combine_codes, number_keys
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
class Diversity:
    """Of a sensitive field, (n_labels,), of the kind of people for which it is worst.

    distinct : l, the fewest values that together could be those of all people of the label: where everybody has one,
    the different values; whichever l - 1 values are named, somebody has none of them. 0 for labels without people
    largest_share : of the people, those who have the value that most have, per cent
    distance : t, how far the values of the label lie from those of all labels together, 0 to 1: the total variation
    between them, everybody's values weighing one together (which is the earth mover's distance of values that are all
    equally far apart; Li et al. 2007); or where it is more, by how much more of the label's people have one value
    """

    distinct: np.ndarray
    largest_share: np.ndarray
    distance: np.ndarray


@dataclass(frozen=True, eq=False)
class Tally:
    """How many people of each label have which value: arrays (e,) of label and value, ascending, each pair once.

    holders : (e,) who has the value; weight : (e,) the same, everybody counting one over all values together
    people : (n_labels,) who there is
    """

    label: np.ndarray
    value: np.ndarray
    holders: np.ndarray
    weight: np.ndarray
    people: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """Of the people of the label, those who have the value, (e,)."""
        return self.holders / self.people[self.label]

    def fewest_values(self) -> np.ndarray:
        """The fewest values that together have as many people as there are, (n_labels,) int64.

        The commonest are added up: who has several is counted several times, so no fewer values can do.
        """
        order = np.lexsort((-self.holders, self.label))
        label, holders = self.label[order], self.holders[order]
        so_far = np.cumsum(holders) - holders
        first = np.flatnonzero(np.diff(label, prepend=-1))
        before = so_far - np.repeat(so_far[first], np.diff(first, append=len(label)))
        return np.bincount(label[before < self.people[label]], minlength=len(self.people))

    def largest_share(self) -> np.ndarray:
        """Of the people, those who have the value that most have, per cent, (n_labels,)."""
        largest = np.zeros(len(self.people))
        np.maximum.at(largest, self.label, self.share)
        return 100.0 * largest


def tallies_of(label_of: np.ndarray, shares: Shares, n_labels: int) -> list[Tally]:
    """The people of each label by value, for every kind of people; label_of : of each cell, -1 for none.

    Where persons are not known, every record is one.
    """
    tallies = [_of_members(label_of, held, n_labels) for held in shares.held]
    if any(held.kind == PERSONS for held in shares.held):
        return tallies
    return [_of_records(label_of, shares, n_labels), *tallies]


def diversity_of(label_of: np.ndarray, shares: Shares, n_labels: int) -> Diversity:
    """How diverse the values of a sensitive field are in each label; label_of : of each cell, -1 for none."""
    tallies = tallies_of(label_of, shares, n_labels)
    together = tallies_of(np.where(label_of >= 0, 0, -1), shares, 1)
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


def label_of_entries(label_of: np.ndarray, cell: np.ndarray) -> np.ndarray:
    """The label of each entry's cell, -1 for cells without one and for cells beyond the array."""
    return np.append(label_of, -1)[np.minimum(cell, len(label_of))]


def _of_records(label_of: np.ndarray, shares: Shares, n_labels: int) -> Tally:
    label = label_of_entries(label_of, shares.cell)
    there = label >= 0
    of_label, value, at = _pairs(label[there], shares.value[there], n_labels)
    records = np.bincount(at, shares.records[there], len(value))
    return Tally(of_label, value, records, records, np.bincount(of_label, records, n_labels))


def _of_members(label_of: np.ndarray, held: Held, n_labels: int) -> Tally:
    """Who has several rows of a value in a label has it once, in whichever cells they are."""
    label = label_of_entries(label_of, held.cell)
    there, n_pairs = label >= 0, max(len(held.member), 1)
    of_label, pair = np.divmod(np.unique(label[there] * n_pairs + held.pair[there]), n_pairs)
    member = held.member[pair]
    # In this order the values of a member of a label stand together.
    first = np.flatnonzero((np.diff(of_label, prepend=-1) != 0) | (np.diff(member, prepend=-1) != 0))
    n_values = np.diff(first, append=len(pair))
    people = np.bincount(of_label[first], minlength=n_labels)
    labels, value, at = _pairs(of_label, held.value[pair], n_labels)
    weight = np.bincount(at, np.repeat(1.0 / n_values, n_values), len(value))
    return Tally(labels, value, np.bincount(at, minlength=len(value)), weight, people)


def _pairs(label: np.ndarray, value: np.ndarray, n_labels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Label and value of every pair that occurs, ascending, and the position of each entry's pair among them."""
    n_values = int(value.max(initial=0)) + 1
    keys, at = number_keys(label * n_values + value, n_labels * n_values)
    return (*np.divmod(keys, n_values), at)


def _distances(tally: Tally, together: Tally) -> np.ndarray:
    """How far each label lies from all labels together, (n_labels,); together : the same people as one label."""
    n_labels, n_values = len(tally.people), int(together.value.max(initial=-1)) + 1
    share, weight = np.zeros(n_values), np.zeros(n_values)
    share[together.value] = together.share
    weight[together.value] = together.weight / max(float(together.people.sum()), 1.0)
    # Half the sum of all differences is the sum of those where the label has more than all labels together.
    own = tally.weight / tally.people[tally.label]
    distance = np.bincount(tally.label, np.maximum(own - weight[tally.value], 0.0), n_labels)
    np.maximum.at(distance, tally.label, tally.share - share[tally.value])
    return distance
