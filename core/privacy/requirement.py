"""What is asked of the records that show one equivalence class: k rows, and more where the custodian knows more.

An attacker who knows a person knows all rows of that person: k then counts persons, not rows. And a class whose members
share a diagnosis gives it away, however many they are, and whatever else some of them have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import numpy as np

from ..dataclass import dataclass
from ..errors import InputError
from ..language import rounded_up, tr
from ..parameters import DEFAULT_K, L_DIVERSITY, MAX_SHARE, K
from .diversity import (
    Diversity,
    Shares,
    Tally,
    diversity_of,
    equivalence_class_of_entries,
    several_values_of,
    tallies_of,
)
from .series import Series


@dataclass(frozen=True, eq=False)
class Members:
    """Who the rows of each cell belong to: each pair once, (p,) int64 arrays. kind : “persons” or “households”."""

    kind: str
    cell: np.ndarray
    member: np.ndarray


@dataclass(frozen=True, eq=False)
class Requirement:
    """What is asked of every equivalence class.

    k : distinct members of every kind, and rows; l_diversity : the fewest values of every sensitive field that together
    could be those of all people, and max_share : the largest share of people who have one value, per cent: see
    `Diversity`. A missing value is a value of its own
    series : where classes are to be the same in all periods, what stands together; `holds` is about each by itself
    rows_identical : rows of a class, and all of them, that at least show the same in all fields; of which `holds` knows
    nothing: rows are counted once they are there
    """

    k: int = DEFAULT_K
    members: tuple[Members, ...] = ()
    shares: tuple[Shares, ...] = ()
    l_diversity: int = 1
    max_share: float = 100.0
    series: Series | None = None
    rows_identical: int = 1

    def __post_init__(self) -> None:
        K.check(self.k)
        L_DIVERSITY.check(self.l_diversity)
        MAX_SHARE.check(self.max_share)

    @property
    def asks_for_more(self) -> bool:
        """Whether anything but k rows is asked for."""
        return bool(self.members) or self.asks_for_values

    def refuse_impossible(self) -> None:
        """Refuse what no class can have, since all records together have not. Raises InputError."""
        for shares in self.shares:
            n = len(np.unique(shares.value))
            least = 100 / max(n, 1)
            if self.l_diversity > max(n, 1):
                raise InputError.counting(
                    "L_DIVERSITY is {l_diversity}, and “{field}” has only {n} value in all records, so nothing could "
                    "be released: ask for fewer values, or leave the field out of SENSITIVE.",
                    "L_DIVERSITY is {l_diversity}, and “{field}” has only {n} values in all records, so nothing could "
                    "be released: ask for fewer values, or leave the field out of SENSITIVE.",
                    n,
                    l_diversity=self.l_diversity,
                    field=shares.field,
                )
            if self.max_share < least * (1 - 1e-12):
                raise InputError.counting(
                    "MAX_SHARE is {max_share:g} %, and “{field}” has only {n} value in all records, so nothing could "
                    "be released: allow {least:g} % or more, or leave the field out of SENSITIVE.",
                    "MAX_SHARE is {max_share:g} %, and “{field}” has only {n} values in all records, so nothing could "
                    "be released: allow {least:g} % or more, or leave the field out of SENSITIVE.",
                    n,
                    max_share=self.max_share,
                    field=shares.field,
                    least=rounded_up(least),
                )

    def has(self, kind: str) -> bool:
        """Whether members of a kind are counted: of persons, rows are not people."""
        return any(members.kind == kind for members in self.members)

    def has_several(self, n_records: int) -> bool:
        """Whether anybody has several of the records, as far as members are known; n_records : all there are."""
        return any(len(np.unique(members.member)) < n_records for members in self.members)

    @property
    def asks_for_values(self) -> bool:
        """Whether anything is asked of the values of sensitive fields."""
        return bool(self.shares) and (self.l_diversity > 1 or self.max_share < 100)

    def holds(self, cells: np.ndarray, equivalence_class: np.ndarray, n_equivalence_classes: int) -> np.ndarray:
        """Whether each equivalence class holds what is asked beside k rows, (n_equivalence_classes,) bool.

        cells : (c,) positions in the profile; equivalence_class : (c,) the equivalence class that each shows
        """
        equivalence_class_of = _by_cell(cells, equivalence_class)
        fulfilled = np.ones(n_equivalence_classes, bool)
        for members in self.members:
            fulfilled &= _distinct(equivalence_class_of, members, n_equivalence_classes) >= self.k
        if self.asks_for_values:
            for shares in self.shares:
                if self.l_diversity == 2 and self.max_share == 100 and not shares.held:
                    fulfilled &= several_values_of(equivalence_class_of, shares, n_equivalence_classes)
                    continue
                for tally in tallies_of(equivalence_class_of, shares, n_equivalence_classes):
                    fulfilled &= self.values_hold(tally)
        return fulfilled

    def values_hold(self, tally: Tally) -> np.ndarray:
        """Whether the values of each equivalence class are what is asked for, (n_equivalence_classes,) bool."""
        fits = np.ones(len(tally.people), bool)
        if self.max_share < 100:
            fits = tally.largest_share() <= self.max_share * (1 + 1e-12)
        if self.l_diversity == 2:
            fits &= tally.several_values()
        elif self.l_diversity > 2:
            fits &= tally.fewest_values() >= self.l_diversity
        return fits

    def people(self, equivalence_class_of: np.ndarray, records: np.ndarray) -> np.ndarray:
        """The records of each equivalence class, or its distinct members of the kind it has fewest of, int64."""
        least = records.astype(np.int64)
        for members in self.members:
            least = np.minimum(least, _distinct(equivalence_class_of, members, len(records)))
        return least

    def members_of_cells(self, records: np.ndarray) -> np.ndarray:
        """The records of each cell, or its distinct members of the kind it has fewest of, (m,) int64."""
        least = records.astype(np.int64) if self.members else records
        for members in self.members:
            least = np.minimum(least, np.bincount(members.cell, minlength=len(records)))
        return least


def members_of(kind: str, cell_of: np.ndarray, codes: np.ndarray) -> Members:
    """The members of each cell from the rows; cell_of : (N,) -1 for rows in none; codes : (N,)."""
    inside = cell_of >= 0
    n_members = int(codes.max(initial=0)) + 1
    cell, member = np.divmod(np.unique(cell_of[inside].astype(np.int64) * n_members + codes[inside]), n_members)
    return Members(kind, cell, member)


@dataclass(frozen=True, eq=False)
class Protection:
    """What equivalence classes of a release really have: the smallest number of members by kind, and each field's
    diversity."""

    smallest: Mapping[str, int]
    diversity: Mapping[str, Diversity] = field(default_factory=dict)

    def of_members(self) -> list[str]:
        """A sentence for each kind of members that k counts beside rows."""
        return [
            tr(
                "k counts {kind}: the smallest released class holds {smallest} of them.",
                kind=tr(kind),
                smallest=smallest,
            )
            if smallest
            else tr("k counts {kind}, and no class is released.", kind=tr(kind))
            for kind, smallest in self.smallest.items()
        ]


def measure(requirement: Requirement, equivalence_class_of: np.ndarray, n_equivalence_classes: int) -> Protection:
    """What the equivalence classes in use have; equivalence_class_of : of each cell, -1 for those not released."""
    used = np.unique(equivalence_class_of[equivalence_class_of >= 0]) if requirement.members else np.empty(0, np.int64)
    smallest = {
        members.kind: int(_distinct(equivalence_class_of, members, n_equivalence_classes)[used].min())
        if len(used)
        else 0
        for members in requirement.members
    }
    return Protection(
        smallest,
        {share.field: diversity_of(equivalence_class_of, share, n_equivalence_classes) for share in requirement.shares},
    )


def _by_cell(cells: np.ndarray, equivalence_class: np.ndarray) -> np.ndarray:
    equivalence_class_of = np.full(int(cells.max(initial=-1)) + 1, -1, np.int64)
    equivalence_class_of[cells] = equivalence_class
    return equivalence_class_of


def _distinct(equivalence_class_of: np.ndarray, members: Members, n_equivalence_classes: int) -> np.ndarray:
    """Distinct members of each equivalence class, (n_equivalence_classes,)."""
    equivalence_class = equivalence_class_of_entries(equivalence_class_of, members.cell)
    there = equivalence_class >= 0
    n_members = int(members.member.max(initial=0)) + 1
    return np.bincount(
        np.unique(equivalence_class[there] * n_members + members.member[there]) // n_members,
        minlength=n_equivalence_classes,
    )
