"""What is asked of people who look alike in linked tables, counted in an engine: those who are alike are one cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..linked.withholding import NOWHERE
from ..privacy.diversity import Holders, Shares, held_of
from ..privacy.requirement import Members, Requirement
from . import linked_steps, steps
from .engine import Engine, Expression
from .examining import whole_numbers
from .in_place import Matched
from .profiling import code_of_values


class People:
    """What is asked of people who look alike, where each entry stands for several of them.

    requirement : of the entries, k of all tables together; people : (n,) of each entry; values : of each table, who has
    which of its sensitive values
    """

    def __init__(self, requirement: Requirement, people: np.ndarray, values: Sequence[Sequence[Holders]]) -> None:
        self.k, self._requirement, self._people, self._values = requirement.k, requirement, people, values

    def people(self, group: np.ndarray, n_groups: int) -> np.ndarray:
        """Whether the people of each group are enough, and different enough, (n_groups,) bool."""
        inside = np.flatnonzero(group != NOWHERE)
        enough = np.bincount(group[inside], self._people[inside], n_groups) >= self.k
        if self._requirement.asks_for_more:
            enough &= self._requirement.holds(inside, group[inside], n_groups)
        return enough

    def values(self, table: int, group: np.ndarray, n_groups: int) -> np.ndarray:
        """Whether what a table shows of the people of each group is different enough; of those who have any rows."""
        fits = np.ones(n_groups, bool)
        for holders in self._values[table]:
            tally = holders.tally(group, n_groups)
            fits &= self._requirement.values_hold(tally) | (tally.people == 0)
        return fits


def requirement_of_groups(matched: Matched, persons: Expression, asked: Requirement, k: int) -> Requirement:
    """What is asked of the persons, by their groups in place of cells; persons : of `linked_steps.grouped`."""
    fields, rows = matched.in_place.fields, matched.in_place.with_others
    who = {kind: f"c_m{position}" for position, kind in enumerate(fields.members)}

    def counted(*codes: str) -> list[np.ndarray]:
        by = ["id", *codes]
        sums = steps.counted(linked_steps.in_groups(rows, persons, codes), by, False)
        batches = list(matched.in_place.engine.fetch(sums))
        return [whole_numbers(batches, name) for name in (*by, "records")]

    members = [Members(kind, *counted(code)[:2]) for kind, code in who.items()]
    shares = []
    for name in fields.sensitive if asked.asks_for_values else ():
        value = code_of_values(matched, name)
        held = tuple(held_of(kind, *counted(code, value)[:-1]) for kind, code in who.items())
        group, code, records = counted(value)
        shares.append(Shares(name, group, code, records, held))
    return Requirement(k, tuple(members), tuple(shares), asked.l_diversity, asked.max_share)


def holders_in_place(
    engine: Engine, persons: Expression, rows: Expression, codes: Mapping[str, str], n_groups: int
) -> list[Holders]:
    """Who of each group has which sensitive value of a table; rows : its rows; codes : the codes of each field."""
    inside = linked_steps.in_groups(rows, persons, list(codes.values()))
    every = list(engine.fetch(linked_steps.holders(inside, ["id"])))
    people = np.zeros(n_groups, np.int64)
    people[whole_numbers(every, "id")] = whole_numbers(every, "people")
    holders = []
    for name, code in codes.items():
        batches = list(engine.fetch(linked_steps.holders(inside, ["id", code])))
        group, value, number = (whole_numbers(batches, of) for of in ("id", code, "people"))
        holders.append(Holders(name, group, value, number, people))
    return holders
