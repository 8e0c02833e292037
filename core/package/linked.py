"""The claims of a release's folder on its linked tables, looked at from its files alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from ..account import Account
from ..arrays import to_list
from ..dataclass import dataclass
from ..errors import PrivacyError
from ..language import as_data, plural, tr
from ..linked.one_row import people_of
from ..linked.source import IN_PART, SHOWN
from ..linked.tables import ONE_ROW
from ..records.columns import Column, combine_codes, combine_columns
from .claims import ALL_TABLES, Claim
from .content_hash import content_hash
from .dataset import RECORDS
from .reading import read_table
from .table import FLAG, LEVEL, PERSON, QUASI, REGION, DataTable

LINKED, TOGETHER = as_data("linked rows"), ALL_TABLES


@dataclass(frozen=True)
class Looked:
    """How a linked table is looked at.

    by_number : whether others may know how many rows a person has; one_row : whether they know one row of a person,
    and not all; k : the fewest people who look alike
    """

    by_number: bool
    one_row: bool
    k: int


def claims_of_linked(tables: Mapping[str, DataTable], linked: Mapping[str, Looked], k: int) -> Iterator[Claim]:
    """That each row is of a person whose rows are shown, where the person is; that k people look alike in all tables.

    linked : how each linked table is looked at, by its name; k : what is asked where that is more
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
        astray = sum(people.add(tables[name], name, how) for name, how in linked.items())
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
    sizes, k = people.sizes(), max(k, *(how.k for how in linked.values()))
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


def recount_geopackage(file: Path, tables: Sequence[DataTable], account: Account) -> None:
    """Count persons and linked rows once more as a GeoPackage holds them. Raises PrivacyError.

    tables : that were written; account : of the release
    """
    written = {table.name: read_table(file, table.name, table.fields) for table in tables}
    linked = (
        {}
        if account.rows is None
        else {rows.name: Looked(rows.count_known, rows.rows_known == ONE_ROW, rows.k) for rows in account.rows.linked}
    )
    broken = [claim for claim in claims_of_linked(written, linked, 0) if claim.holds is False]
    if broken:
        raise PrivacyError(_not_held(broken[0].says))
    for table in tables:
        if content_hash(written[table.name]) != content_hash(table):
            raise PrivacyError(_not_held(tr("“{table}” holds other rows", table=table.name)))


def _not_held(says: str) -> str:
    return tr("RELEASED_TABLES does not hold what it is to hold ({says}): nothing was written.", says=says)


class _People:
    """The released persons, and what all tables together show of each."""

    def __init__(self, records: DataTable) -> None:
        rows = np.repeat(np.arange(len(records.copies), dtype=np.int64), records.copies)
        self.numbers = _numbers(records.column(records.of_role(PERSON)[0].name))[rows]
        self.flags = {field.name: records.column(field.name) for field in records.of_role(FLAG)}
        self.rows = rows
        names = [field.name for field in records.fields if field.role in (LEVEL, REGION)]
        self.place = {name: _numbers(records.column(name))[rows] for name in names}
        own = [of for field, of in zip(records.fields, records.columns) if field.role in (LEVEL, REGION, QUASI, FLAG)]
        self.looks: list[tuple[object, ...]] = []
        self.group_of = np.zeros(len(rows), np.int64)
        if len(rows):
            self.group_of, _ = combine_columns([of.at(rows) for of in own])
        self.position = {number: i for i, number in enumerate(to_list(self.numbers))}
        self.twice = len(rows) - len(self.position)
        self.of_rows: list[np.ndarray] = []  # where one row may be known, how many people have the values of each

    def add(self, table: DataTable, name: str, how: Looked) -> int:
        """Tell people apart by what a table shows of them; the rows that are of nobody, or of somebody elsewhere."""
        whose = _numbers(table.column(table.of_role(PERSON)[0].name))
        distinct, at = np.unique(whose, return_inverse=True)
        of = np.array([self.position.get(number, -1) for number in to_list(distinct)] or [-1], np.int64)[at.reshape(-1)]
        astray = of < 0
        flag = self.flags[f"vbas_{name}"]
        shows = np.array([value in (SHOWN, IN_PART) for value in to_list(flag.categories)] or [False], bool)[
            flag.codes
        ][self.rows]
        if len(self.rows):
            astray |= ~shows[of]
            for field, place in self.place.items():
                astray |= _numbers(table.column(field)) != place[of]
        there = np.repeat(np.flatnonzero(~astray), table.copies[~astray])
        known = [table.column(field.name) for field in table.of_role(QUASI)]
        if how.one_row:
            if known and len(there):
                self._count_each(of[there], _items(known, there))
        elif known or how.by_number:
            self._tell_apart(of[there], _items(known, there))
        return int(table.copies[astray].sum()) + self.twice

    def _tell_apart(self, of: np.ndarray, item: np.ndarray) -> None:
        """Each person's items in order, as one text of bytes, beside what they looked like before."""
        order = np.lexsort((item, of))
        bounds = np.searchsorted(of[order], np.arange(len(self.group_of) + 1, dtype=np.int64))
        content = item[order].astype(np.int64).tobytes()
        contents = [content[8 * start : 8 * stop] for start, stop in zip(to_list(bounds[:-1]), to_list(bounds[1:]))]
        number: dict[tuple[int, bytes], int] = {}
        pairs = zip(to_list(self.group_of), contents)
        self.group_of = np.array([number.setdefault(pair, len(number)) for pair in pairs], np.int64)

    def _count_each(self, of: np.ndarray, item: np.ndarray) -> None:
        """How many people of those who look alike have each item."""
        group, groups = combine_codes([self.group_of[of], item], [len(self.group_of), int(item.max()) + 1])
        self.of_rows.append(people_of(group, of, len(groups)))

    def sizes(self) -> np.ndarray:
        """How many people look alike, of each kind of looks."""
        return np.concatenate([np.unique(self.group_of, return_counts=True)[1], *self.of_rows])


def _items(known: list[Column], rows: np.ndarray) -> np.ndarray:
    """A number for the known values of each row; 0 for all where nothing but the number of rows is known."""
    if not known or not len(rows):
        return np.zeros(len(rows), np.int64)
    return combine_columns([column.at(rows) for column in known])[0]


def _numbers(column: Column) -> np.ndarray:
    """The numbers of persons or places, (R,) int64. Raises ValueError where one is missing."""
    if None in to_list(column.categories):
        raise ValueError(tr("a row does not say whose it is, or where"))
    return np.array(to_list(column.categories) or [0], np.int64)[column.codes]
