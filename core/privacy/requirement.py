"""What is asked of the records that show one label: k rows, and more where the custodian knows more.

An attacker who knows a person knows all rows of that person: k then counts persons, not rows. And a class whose members
share a diagnosis gives it away, however many they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..anonymity import DEFAULT_K, check_k
from ..errors import InputError
from ..language import tr


@dataclass(frozen=True, eq=False)
class Members:
    """Who the rows of each cell belong to: each pair once, (p,) int64 arrays. kind : “persons” or “households”."""

    kind: str
    cell: np.ndarray
    member: np.ndarray


@dataclass(frozen=True, eq=False)
class Shares:
    """The values of a sensitive field in each cell: (s,) int64 arrays of cell, value and records, each pair once."""

    field: str
    cell: np.ndarray
    value: np.ndarray
    records: np.ndarray


@dataclass(frozen=True, eq=False)
class Requirement:
    """What is asked of every label.

    k : distinct members of every kind, and rows; l_diversity : distinct values of every sensitive field; max_share :
    the largest share of one value, per cent. A missing value is a value of its own
    """

    k: int = DEFAULT_K
    members: tuple[Members, ...] = ()
    shares: tuple[Shares, ...] = ()
    l_diversity: int = 1
    max_share: float = 100.0

    def __post_init__(self) -> None:
        check_k(self.k)
        if self.l_diversity < 1:
            raise InputError(
                tr(
                    "L_DIVERSITY is {l_diversity}: ask for at least 1 value, which asks for nothing.",
                    l_diversity=self.l_diversity,
                )
            )
        if not 0 < self.max_share <= 100:
            raise InputError(
                tr(
                    "MAX_SHARE is {max_share:g}: give per cent above 0, up to 100, which asks for nothing.",
                    max_share=self.max_share,
                )
            )

    @property
    def asks_for_more(self) -> bool:
        """Whether anything but k rows is asked for."""
        return bool(self.members) or self.asks_for_values

    @property
    def asks_for_values(self) -> bool:
        """Whether anything is asked of the values of sensitive fields."""
        return bool(self.shares) and (self.l_diversity > 1 or self.max_share < 100)

    def holds(self, cells: np.ndarray, label: np.ndarray, n_labels: int) -> np.ndarray:
        """Whether each label holds what is asked beside k rows, (n_labels,) bool.

        cells : (c,) positions in the profile; label : (c,) the label that each shows
        """
        label_of = _by_cell(cells, label)
        fulfilled = np.ones(n_labels, bool)
        for members in self.members:
            fulfilled &= _distinct(label_of, members, n_labels) >= self.k
        if self.asks_for_values:
            for shares in self.shares:
                found = diversity_of(label_of, shares, n_labels)
                fulfilled &= (found.distinct >= self.l_diversity) & (
                    found.largest_share <= self.max_share * (1 + 1e-12)
                )
        return fulfilled

    def people(self, label_of: np.ndarray, records: np.ndarray) -> np.ndarray:
        """The records of each label, or its distinct members of the kind it has fewest of, (n_labels,) int64."""
        least = records.astype(np.int64)
        for members in self.members:
            least = np.minimum(least, _distinct(label_of, members, len(records)))
        return least

    def members_of_cells(self, records: np.ndarray) -> np.ndarray:
        """The records of each cell, or its distinct members of the kind it has fewest of, (m,) int64."""
        least = records.astype(np.int64) if self.members else records
        for members in self.members:
            least = np.minimum(least, np.bincount(members.cell, minlength=len(records)))
        return least


@dataclass(frozen=True, eq=False)
class Diversity:
    """Of a sensitive field, (n_labels,): distinct values, and the largest share of one value in per cent.

    distance : t, the distance between the values of the label and those of all labels together, 0 to 1 (total
    variation, which is the earth mover's distance of values that are all equally far apart; Li et al. 2007)
    """

    distinct: np.ndarray
    largest_share: np.ndarray
    distance: np.ndarray


def diversity_of(label_of: np.ndarray, shares: Shares, n_labels: int) -> Diversity:
    """How diverse the values of a sensitive field are in each label; label_of : of each cell, -1 for none."""
    label = _label(label_of, shares.cell)
    there = label >= 0
    n_values = int(shares.value.max(initial=0)) + 1
    keys, position = np.unique(label[there] * n_values + shares.value[there], return_inverse=True)
    records = np.bincount(position.reshape(-1), shares.records[there], len(keys))
    of_label, value = np.divmod(keys, n_values)
    total = np.bincount(of_label, records, n_labels)
    share = records / total[of_label]
    largest = np.zeros(n_labels)
    np.maximum.at(largest, of_label, share)
    overall = np.bincount(value, records, n_values) / max(records.sum(), 1.0)
    # Half the sum of all differences is the sum of those where the label has more than all labels together.
    distance = np.bincount(of_label, np.maximum(share - overall[value], 0.0), n_labels)
    return Diversity(np.bincount(of_label, minlength=n_labels), 100.0 * largest, distance)


def members_of(kind: str, cell_of: np.ndarray, codes: np.ndarray) -> Members:
    """The members of each cell from the rows; cell_of : (N,) -1 for rows in none; codes : (N,)."""
    inside = cell_of >= 0
    n_members = int(codes.max(initial=0)) + 1
    cell, member = np.divmod(np.unique(cell_of[inside] * n_members + codes[inside]), n_members)
    return Members(kind, cell, member)


def shares_of(field_name: str, cell_of: np.ndarray, codes: np.ndarray, counts: np.ndarray | None) -> Shares:
    """The values of each cell from the rows; counts : (N,) records of each row, ones where None.

    A row that stands for nobody shows no value.
    """
    inside = cell_of >= 0 if counts is None else (cell_of >= 0) & (counts > 0)
    n_values = int(codes.max(initial=0)) + 1
    keys, position = np.unique(cell_of[inside] * n_values + codes[inside], return_inverse=True)
    records = np.bincount(position.reshape(-1), None if counts is None else counts[inside], len(keys))
    cell, value = np.divmod(keys, n_values)
    return Shares(field_name, cell, value, records.astype(np.int64))


@dataclass(frozen=True, eq=False)
class Found:
    """What the labels of a release really have: the smallest number of members by kind, and each field's diversity."""

    smallest: Mapping[str, int]
    diversity: Mapping[str, Diversity] = field(default_factory=dict)


def measure(requirement: Requirement, label_of: np.ndarray, n_labels: int) -> Found:
    """What the labels in use have; label_of : of each cell, -1 for cells that are not shown."""
    used = np.unique(label_of[label_of >= 0]) if requirement.members else np.empty(0, np.int64)
    smallest = {
        members.kind: int(_distinct(label_of, members, n_labels)[used].min()) if len(used) else 0
        for members in requirement.members
    }
    return Found(smallest, {one.field: diversity_of(label_of, one, n_labels) for one in requirement.shares})


def _by_cell(cells: np.ndarray, label: np.ndarray) -> np.ndarray:
    label_of = np.full(int(cells.max(initial=-1)) + 1, -1, np.int64)
    label_of[cells] = label
    return label_of


def _label(label_of: np.ndarray, cell: np.ndarray) -> np.ndarray:
    """The label of each entry's cell, -1 for cells without one and for cells beyond the array."""
    return np.append(label_of, -1)[np.minimum(cell, len(label_of))]


def _distinct(label_of: np.ndarray, members: Members, n_labels: int) -> np.ndarray:
    """Distinct members of each label, (n_labels,)."""
    label = _label(label_of, members.cell)
    there = label >= 0
    n_members = int(members.member.max(initial=0)) + 1
    return np.bincount(np.unique(label[there] * n_members + members.member[there]) // n_members, minlength=n_labels)
