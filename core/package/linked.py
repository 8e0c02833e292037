"""The claims of a release's folder on its linked tables, looked at from its files alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ..arrays import to_list
from ..language import as_data, plural, tr
from ..records.columns import Column, combine_codes
from .claims import Claim
from .dataset import RECORDS
from .table import FLAG, LEVEL, PERSON, QUASI, REGION, DataTable

LINKED, TOGETHER = as_data("linked rows"), as_data("k of all tables")
SHOWN = "shown"


def claims_of_linked(
    tables: Mapping[str, DataTable], linked: Mapping[str, tuple[bool, int]], k: int
) -> Iterator[Claim]:
    """That each row is of a person whose rows are shown, where the person is; that k people look alike in all tables.

    linked : by the name of each linked table, whether others may know how many rows a person has in it, and the fewest
    people who look alike; k : what is asked where that is more
    """
    if not linked:
        return
    cannot = tr("Not looked at: what it rests on cannot be read.")
    if not {RECORDS, *linked} <= set(tables):
        yield from (Claim(name, None, cannot) for name in (LINKED, TOGETHER))
        return
    records = tables[RECORDS]
    if not records.of_role(PERSON):
        nobody = tr("The rows do not say whose they are: not looked at.")
        yield from (Claim(name, None, nobody) for name in (LINKED, TOGETHER))
        return
    try:
        people = _People(records)
        astray = sum(people.add(tables[name], name, by_number) for name, (by_number, _) in linked.items())
    except (IndexError, KeyError, ValueError, TypeError) as error:
        yield Claim(LINKED, False, tr("The linked tables are not as described: {error}.", error=str(error)))
        yield Claim(TOGETHER, None, cannot)
        return
    yield Claim(
        LINKED,
        not astray,
        plural(
            "{n} linked row is of nobody who shows it there.",
            "{n} linked rows are of nobody who shows them there.",
            astray,
        )
        if astray
        else tr("Every linked row is of a person who shows it, and where that person is."),
    )
    sizes, k = people.sizes(), max(k, *(of for _, of in linked.values()))
    below, least = int((sizes < k).sum()), int(sizes.min(initial=k))
    yield Claim(
        TOGETHER,
        not below,
        plural(
            "{n} group of people who look alike in all tables has fewer than {k}; the smallest has {least}.",
            "{n} groups of people who look alike in all tables have fewer than {k}; the smallest has {least}.",
            below,
            k=k,
            least=least,
        )
        if below
        else tr(
            "At least {k} people look alike in all tables together; the smallest group has {least}.", k=k, least=least
        ),
    )


class _People:
    """The released persons, and what all tables together show of each."""

    def __init__(self, records: DataTable) -> None:
        rows = np.repeat(np.arange(len(records.copies)), records.copies)
        self.numbers = _numbers(records.column(records.of_role(PERSON)[0].name))[rows]
        self.flags = {field.name: records.column(field.name) for field in records.of_role(FLAG)}
        self.rows = rows
        names = [field.name for field in records.fields if field.role in (LEVEL, REGION)]
        self.place = {name: _numbers(records.column(name))[rows] for name in names}
        own = [of for field, of in zip(records.fields, records.columns) if field.role in (LEVEL, REGION, QUASI, FLAG)]
        self.looks: list[tuple[object, ...]] = []
        self.label = np.zeros(len(rows), np.int64)
        if len(rows):
            self.label, _ = combine_codes([of.codes[rows] for of in own], [len(of.categories) for of in own])
        self.position = {number: i for i, number in enumerate(to_list(self.numbers))}
        self.twice = len(rows) - len(self.position)

    def add(self, table: DataTable, name: str, by_number: bool) -> int:
        """Tell people apart by what a table shows of them; the rows that are of nobody, or of somebody elsewhere."""
        whose = _numbers(table.column(table.of_role(PERSON)[0].name))
        distinct, at = np.unique(whose, return_inverse=True)
        of = np.array([self.position.get(number, -1) for number in to_list(distinct)] or [-1], np.int64)[at.reshape(-1)]
        astray = of < 0
        flag = self.flags[f"vbas_{name}"]
        shows = np.array([value == SHOWN for value in to_list(flag.categories)] or [False], bool)[flag.codes][self.rows]
        if len(self.rows):
            astray |= ~shows[of]
            for field, place in self.place.items():
                astray |= _numbers(table.column(field)) != place[of]
        there = np.repeat(np.flatnonzero(~astray), table.copies[~astray])
        known = [table.column(field.name) for field in table.of_role(QUASI)]
        if known or by_number:
            self._tell_apart(of[there], _items(known, there))
        return int(table.copies[astray].sum()) + self.twice

    def _tell_apart(self, of: np.ndarray, item: np.ndarray) -> None:
        """Each person's items in order, as one text of bytes, beside what they looked like before."""
        order = np.lexsort((item, of))
        bounds = np.searchsorted(of[order], np.arange(len(self.label) + 1))
        content = item[order].astype(np.int64).tobytes()
        told = [content[8 * start : 8 * stop] for start, stop in zip(to_list(bounds[:-1]), to_list(bounds[1:]))]
        number: dict[tuple[int, bytes], int] = {}
        pairs = zip(to_list(self.label), told)
        self.label = np.array([number.setdefault(pair, len(number)) for pair in pairs], np.int64)

    def sizes(self) -> np.ndarray:
        """How many people look alike, of each kind of looks."""
        return np.unique(self.label, return_counts=True)[1]


def _items(known: list[Column], rows: np.ndarray) -> np.ndarray:
    """A number for the known values of each row; 0 for all where nothing but the number of rows is known."""
    if not known or not len(rows):
        return np.zeros(len(rows), np.int64)
    return combine_codes([column.codes[rows] for column in known], [len(column.categories) for column in known])[0]


def _numbers(column: Column) -> np.ndarray:
    return np.array(to_list(column.categories) or [0], np.int64)[column.codes]
