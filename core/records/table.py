"""The table of person records, as columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field

import numpy as np

from .. import counted
from ..dataclass import dataclass
from ..errors import InputError, first_values, refuse_where
from ..language import as_data, tr
from ..parameters import K
from ..plain_text import names_nobody
from .coarsened import Coarsened
from .columns import Column, column_numbers, count_codes


@dataclass(frozen=True, eq=False)
class RecordTable:
    """N rows of records: their area, their quasi-identifiers, and further fields to be released.

    Parameters
    ----------
    area : Column
        Area identifiers (any type, compared as text).
    quasi_identifiers, kept : mapping of str to Column
        Columns by field name.
    counts : ndarray of shape (N,), int64, optional
        How many records each row stands for; None where each row is one record.
    members : mapping of str to Column
        Who a row belongs to, a column by kind (PERSONS, HOUSEHOLDS); never released.
    sensitive : tuple of str
        Names of kept fields whose values the members of a class must not all share.
    coarsened : mapping of str to Coarsened
        By name, the quasi-identifiers that are shown coarser than they were read.
    key : Column, optional
        Which person each row is, where further tables belong to persons; never released.

    Examples
    --------
    >>> import numpy as np
    >>> from vbas.core.records.columns import column_from_values
    >>> from vbas.core.records.table import RecordTable
    >>> area, sex = column_from_values(["a", "a", "b"]), column_from_values(["F", "M", "F"])
    >>> counted = RecordTable(area, {"sex": sex}, kept={}, counts=np.array([12, 9, 4]))
    >>> len(counted), counted.n_records
    (3, 25)
    """

    area: Column
    quasi_identifiers: Mapping[str, Column]
    kept: Mapping[str, Column]
    counts: np.ndarray | None = None
    members: Mapping[str, Column] = field(default_factory=dict)
    sensitive: tuple[str, ...] = ()
    coarsened: Mapping[str, Coarsened] = field(default_factory=dict)
    key: Column | None = None

    def __len__(self) -> int:
        return len(self.area)

    @property
    def n_members(self) -> dict[str, int]:
        """How many persons and households there are, by kind."""
        return {
            kind: int(np.count_nonzero(count_codes(column.codes, len(column.categories))))
            for kind, column in self.members.items()
        }

    @property
    def n_records(self) -> int:
        """Number of persons: rows, or the sum of the counts."""
        return len(self) if self.counts is None else int(self.counts.sum())

    def weights(self, rows: np.ndarray) -> int:
        """Number of records in the rows that the boolean array (N,) marks."""
        return int(rows.sum()) if self.counts is None else int(self.counts[rows].sum())


def singling_out(name: str, column: Column) -> str:
    """A warning where a released field has so many values that they single out persons; empty where it has not."""
    n_values, n_rows = len(column.categories), len(column)
    if n_rows <= 1 or n_values <= 0.5 * n_rows:
        return ""
    return tr(
        "KEEP_FIELDS: “{name}” has {n_values} different values in {n_rows} rows: if it is a number or a name of a "
        "person, do not release it.",
        name=name,
        n_values=n_values,
        n_rows=n_rows,
    )


def check_released_names(
    quasi_identifiers: Collection[str], kept: Collection[str], counted: bool, sensitive: Collection[str] = ()
) -> None:
    """Refuse names of released fields that are none, given twice, or used by the release itself. Raises InputError.

    counted : whether rows come with counts, which the release shows as a field of its own; sensitive : of the kept
    """
    if not quasi_identifiers:
        raise InputError.saying("QUASI_IDENTIFIERS is empty: choose at least one field that could identify a person.")
    twice = [field for field in kept if field in quasi_identifiers]
    if twice:
        raise InputError.saying(
            "{label} repeats quasi-identifiers ({first}), which are released anyway: take them out.",
            label="SENSITIVE" if all(field in sensitive for field in twice) else "KEEP_FIELDS",
            first=first_values(twice),
        )
    used = (*RESERVED_FIELDS, COUNT_FIELD) if counted else RESERVED_FIELDS
    reserved = [field for field in (*quasi_identifiers, *kept) if field.lower() in used]
    if reserved:
        raise InputError.saying(
            "Field {first} has a name that the release itself uses: rename it in the records first.",
            first=first_values(reserved),
        )


def unused_name(name: str, taken: Iterable[str]) -> str:
    """A name for a column of our own beside fields of the user's, whose names some programs read without case."""
    used = {taken_name.lower() for taken_name in taken}
    while name.lower() in used:
        name += "_"
    return name


RESERVED_FIELDS = ("vbas_region", "vbas_level")
COUNT_FIELD = "records"  # in the release where rows come with counts
PERSONS, HOUSEHOLDS = as_data("persons"), as_data("households")


MOST_RECORDS = 2**53
MEMBER_FIELDS = {PERSONS: "PERSON_ID", HOUSEHOLDS: "HOUSEHOLD_ID"}


def check_members(members: Mapping[str, Column], weighted: bool) -> None:
    """Refuse rows that belong to nobody, and members of rows that stand for several records. Raises InputError.

    members : by kind; weighted : whether rows come with counts
    """
    for kind, column in members.items():
        name = MEMBER_FIELDS[kind]
        if weighted:
            raise InputError.saying(
                "{name} and RECORD_COUNT cannot go together: a row that stands for several records has no one "
                "identifier. Leave one of them empty.",
                name=name,
            )
        missing = np.array([names_nobody(value) for value in column.categories], bool)
        lost = int(missing[column.codes].sum()) if missing.any() else 0
        if lost:
            refuse_rows_of_nobody(kind, lost)


def refuse_rows_of_nobody(kind: str, lost: int) -> None:
    """Refuse that many rows without an identifier of their person or household. Raises InputError."""
    ways = {
        PERSONS: tr("give every row the identifier of its person, so that persons can be counted."),
        HOUSEHOLDS: tr("give every row the identifier of its household, so that households can be counted."),
    }
    rows = counted.rows(lost)
    raise InputError.saying("{name} is missing in {rows}: {way}", name=MEMBER_FIELDS[kind], rows=rows, way=ways[kind])


def check_enough_members(members: Mapping[str, int], n_records: int, k: int) -> None:
    """Refuse records of fewer than k persons or households, of whom nothing could be released. Raises InputError.

    members : how many of each kind there are
    """
    for kind, n in members.items():
        if n < k:
            raise InputError.counting(
                "K is {k}, and {name} has only {n} value in {records}, so nothing could be released: choose the field "
                "that says whose each row is.",
                "K is {k}, and {name} has only {n} values in {records}, so nothing could be released: choose the field "
                "that says whose each row is.",
                n,
                k=k,
                name=MEMBER_FIELDS[kind],
                records=counted.records(n_records),
            )


def check_table(table: RecordTable, k: int) -> None:
    """Refuse an empty table, names that cannot be released, and a K that is below 2 or above the number of records.

    Raises InputError.
    """
    K.check(k)
    check_released_names(table.quasi_identifiers, table.kept, table.counts is not None, table.sensitive)
    check_members(table.members, table.counts is not None)
    if table.n_records == 0:
        raise InputError.saying("RECORDS is empty: there is nothing to anonymise.")
    if k > table.n_records:
        raise InputError.saying(
            "K is {k}, but RECORDS has only {records}, so nothing could be released: give more records, or choose a "
            "smaller K.",
            k=k,
            records=counted.records(table.n_records),
        )


def checked_counts(values: np.ndarray, field: str) -> np.ndarray:
    """RECORD_COUNT as int64, (N,). Raises InputError where it is missing, negative or not a whole number."""
    values = np.asarray(values, dtype=float)
    refuse_where(
        {
            tr("missing or not a number"): ~np.isfinite(values),
            tr("negative"): values < 0,
            tr("not a whole number"): values != np.floor(values),
            tr("too large to be exact"): values > MOST_RECORDS,
        },
        tr("RECORD_COUNT field “{field}”", field=field),
        counted.rows,
        lambda wrong: first_values(f"{value:g}" for value in np.unique(values[wrong])[:6]),
        tr("each row must say how many records it stands for."),
    )
    # Counts are added up in floating point, which is exact up to that number.
    if values.sum() >= MOST_RECORDS:
        raise InputError.saying(
            "RECORD_COUNT field “{field}” adds up to {n_values:.0f} records (largest: {values:.0f}), more than can be "
            "counted exactly ({most_records}): choose the field that holds the numbers of records.",
            field=field,
            n_values=values.sum(),
            values=values.max(),
            most_records=MOST_RECORDS - 1,
        )
    return values.astype(np.int64)


def counts_of(columns: Mapping[str, Column], field: str) -> np.ndarray | None:
    """RECORD_COUNT by row, (N,) int64, None where no field is named. Raises InputError as `checked_counts`."""
    if not field:
        return None
    column = columns[field]
    return (
        checked_counts(column_numbers(column, field, "RECORD_COUNT"), field) if len(column) else np.empty(0, np.int64)
    )
