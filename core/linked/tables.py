"""A table that belongs to persons: whose rows are whose, and what may be known of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field

import numpy as np

from .. import counted
from ..areas import identifier_text
from ..dataclass import dataclass
from ..errors import InputError, first_values
from ..language import as_data, plural
from ..plain_text import names_nobody
from ..records.columns import Column
from ..records.matching import STOP

OURS = "vbas_"  # how the names of our own fields begin
TAKEN = ("records", "crosswalk", "regions")  # names of the tables that every release has
OF_GEOPACKAGES = ("sqlite_", "gpkg_", "rtree_")  # how names begin that no table of a GeoPackage can have
PERSON = OURS + "person"  # the new key
NOBODY = -1
ALL_ROWS, ONE_ROW = as_data("all rows"), as_data("one row")  # of a person, that others may know
ROWS_KNOWN = (ALL_ROWS, ONE_ROW)
NAME = re.compile(r"\w[\w-]*")


@dataclass(frozen=True, eq=False)
class LinkedTable:
    """The R rows of a table that belongs to N persons.

    name : of the table, as the release has it
    person : (R,) int64, position of the person of each row among the records; NOBODY for rows of no person
    known : columns by name that others may know of a person's rows; kept : further columns that are released
    sensitive : names of kept columns whose values the people of a class must not all share
    count_known : whether others may know how many rows a person has, where `known` is empty; with it they do
    """

    name: str
    person: np.ndarray
    known: Mapping[str, Column] = field(default_factory=dict)
    kept: Mapping[str, Column] = field(default_factory=dict)
    sensitive: tuple[str, ...] = ()
    count_known: bool = True

    def __len__(self) -> int:
        return len(self.person)

    @property
    def fields(self) -> Mapping[str, Column]:
        """All columns that are released."""
        return {**self.known, **self.kept}

    @property
    def flag(self) -> str:
        """The field of the persons that says whether their rows of this table are shown."""
        return OURS + self.name


def persons_by_key(keys: Column) -> dict[str, int]:
    """The position of each person by key, as text; keys : (N,), of the persons.

    Raises InputError for persons without a key, and for a key of several rows.
    """
    texts = [None if names_nobody(key) else identifier_text(key) for key in keys.categories]
    times = np.bincount(keys.codes, minlength=len(texts))
    nobody = np.array([text is None for text in texts], bool)
    if times[nobody].any():
        raise keys_missing(int(times[nobody].sum()))
    at = np.zeros(len(texts), np.int64)
    at[keys.codes] = np.arange(len(keys), dtype=np.int64)
    there = {text: int(position) for text, position, n in zip(texts, at, times) if text is not None and n}
    if (times > 1).any() or len(there) < int((times > 0).sum()):
        several = [text for text, n in zip(texts, times) if n > 1]
        raise keys_twice(several or sorted(there))
    return there


def keys_missing(n: int) -> InputError:
    """What is said of so many persons without a key."""
    return InputError.saying(
        "{parameter} is missing in {rows} of RECORDS: give every person a key.", parameter="KEY", rows=counted.rows(n)
    )


def keys_twice(keys: Iterable[object]) -> InputError:
    """What is said of keys that several persons have."""
    return InputError.saying(
        "{parameter} stands in several rows of RECORDS (first: {first}): give each person one row there, and what "
        "there is several times a table of its own.",
        parameter="KEY",
        first=first_values(keys),
    )


def persons_of_rows(name: str, keys: Column, persons: Mapping[str, int], unmatched: str = STOP) -> np.ndarray:
    """The person of each row of a linked table, (R,) int64, NOBODY for none.

    keys : (R,); persons : as `persons_by_key` gives them; unmatched : STOP refuses rows of no person
    Raises InputError with the number of rows and the first keys.
    """
    texts = [None if names_nobody(key) else identifier_text(key) for key in keys.categories]
    of_key = [NOBODY if text is None else persons.get(text, NOBODY) for text in texts]
    person = np.array(of_key or [NOBODY], np.int64)[keys.codes]
    lost = np.flatnonzero(person == NOBODY)
    if len(lost) and unmatched == STOP:
        raise rows_of_nobody(name, len(lost), keys.categories[np.unique(keys.codes[lost])])
    return person


def rows_of_nobody(name: str, n: int, keys: Iterable[object]) -> InputError:
    """What is said of so many rows of a table whose keys, these among them, no person has."""
    return InputError.counting(
        "Table “{table}”: {n} row has a key that no person has ({first}): correct it, or set UNMATCHED to “suppress” "
        "to leave this row out.",
        "Table “{table}”: {n} rows have a key that no person has (first: {first}): correct them, or set UNMATCHED to "
        "“suppress” to leave these rows out.",
        n,
        table=name,
        first=first_values(keys),
    )


def left_out_rows(name: str, n: int) -> str:
    """What is said of so many rows of nobody that are left out."""
    return plural(
        "Table “{table}”: {n} row has a key that no person has, and is left out.",
        "Table “{table}”: {n} rows have a key that no person has, and are left out.",
        n,
        table=name,
    )


def check_linked(tables: Collection[LinkedTable], released: Collection[str], key: str = "") -> None:
    """Refuse names that a release cannot have, and fields that it must not. Raises InputError.

    released : names of the fields of the persons that are released; key : the field that links them
    """
    names = [table.name.lower() for table in tables]
    wrong = [
        table.name
        for table, name in zip(tables, names)
        if names.count(name) > 1 or name in TAKEN or name.startswith(OF_GEOPACKAGES)
    ]
    if wrong or "" in names:
        raise InputError.saying(
            "A linked table is called “{table}”: give each a name of its own, other than {taken}.",
            table=wrong[0] if wrong else "",
            taken=", ".join((*TAKEN, *(f"{beginning}…" for beginning in OF_GEOPACKAGES))),
        )
    for table in tables:
        if not NAME.fullmatch(table.name):
            raise InputError.saying(
                "A linked table is called “{table}”: give it a name of letters, digits, “_” and “-”, as files have.",
                table=table.name,
            )
        _check_fields(table, key)
        if table.flag.lower() in {name.lower() for name in released}:
            raise InputError.saying(
                "Field “{field}” of RECORDS has the name of a field that the release makes for the table “{table}”: "
                "rename it first.",
                field=table.flag,
                table=table.name,
            )
    ours = [name for name in released if name.lower() == PERSON]
    if ours or key in released:
        raise InputError.saying(
            "Field “{field}” of RECORDS links the tables: it is not released as it is. Take it out of "
            "QUASI_IDENTIFIERS and KEEP_FIELDS.",
            field=ours[0] if ours else key,
        )


def _check_fields(table: LinkedTable, key: str) -> None:
    twice = [name for name in table.known if name in table.kept]
    if twice:
        raise InputError.saying(
            "“{field}” of table “{table}” is named both as known and as kept: what is known is released anyway. Take "
            "it out of one of the two.",
            field=twice[0],
            table=table.name,
        )
    bad = [name for name in table.fields if name == key or name.lower().startswith(OURS)]
    if bad:
        raise InputError.saying(
            "“{field}” of table “{table}” is the key, or has a name that the release itself uses: take it out, or "
            "rename it.",
            field=bad[0],
            table=table.name,
        )
    strange = [name for name in table.sensitive if name not in table.kept]
    if strange:
        raise InputError.saying(
            "“{field}” of table “{table}” is sensitive, but not among the kept fields: keep it, or take it out.",
            field=strange[0],
            table=table.name,
        )
