"""The table of person records, as columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..anonymity import check_k
from ..errors import InputError, first_values, refuse_where
from .columns import Column


@dataclass(frozen=True, eq=False)
class RecordTable:
    """N rows of records: their area, their quasi-identifiers, and further fields to be released.

    area : column of area identifiers (any type, compared as text)
    quasi_identifiers, kept : columns by field name
    counts : (N,) int64, how many records each row stands for; None where each row is one record
    """

    area: Column
    quasi_identifiers: Mapping[str, Column]
    kept: Mapping[str, Column]
    counts: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.area)

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
    return (
        f"KEEP_FIELDS: “{name}” has {n_values} different values in {n_rows} rows: if it is a number or a name of a "
        "person, do not release it."
    )


def check_fields(
    area: str, quasi_identifiers: Sequence[str], kept: Sequence[str], region_id: str | None, count: str | None
) -> None:
    """Refuse a choice of fields that would put the area, or anything that stands for it, into the release.

    area : RECORD_REGION; region_id : REGION_ID of the areas; a field of this name in the records is refused too.
    Raises InputError.
    """
    for label, fields in (("QUASI_IDENTIFIERS", quasi_identifiers), ("KEEP_FIELDS", kept)):
        for field in fields:
            if field in (area, region_id):
                raise InputError(
                    f"Field “{field}” in {label} is the identifier of the area: the release would show the very "
                    "areas it is meant to hide. Take it out."
                )
            if field == count:
                raise InputError(f"Field “{field}” is RECORD_COUNT and cannot be among {label} too. Take it out.")
    check_released_names(quasi_identifiers, kept, bool(count))


def check_released_names(quasi_identifiers: Collection[str], kept: Collection[str], counted: bool) -> None:
    """Refuse names of released fields that are none, given twice, or used by the release itself. Raises InputError.

    counted : whether rows come with counts, which the release shows as a field of its own
    """
    if not quasi_identifiers:
        raise InputError("QUASI_IDENTIFIERS is empty: choose at least one field that could identify a person.")
    twice = [field for field in kept if field in quasi_identifiers]
    if twice:
        raise InputError(
            f"KEEP_FIELDS repeats quasi-identifiers ({first_values(twice)}), which are released anyway: take them out."
        )
    used = RESERVED_FIELDS if counted else RESERVED_FIELDS[:1]
    reserved = [field for field in (*quasi_identifiers, *kept) if field.lower() in used]
    if reserved:
        raise InputError(
            f"Field {first_values(reserved)} has a name that the release itself uses: rename it in the records first."
        )


# The second is in the release only where rows come with counts.
RESERVED_FIELDS = ("vbas_region", "records")


MOST_RECORDS = 2**53


def check_table(table: RecordTable, k: int) -> None:
    """Refuse an empty table, names that cannot be released, and a K that is below 2 or above the number of records.

    Raises InputError.
    """
    check_k(k)
    check_released_names(table.quasi_identifiers, table.kept, table.counts is not None)
    if table.n_records == 0:
        raise InputError("RECORDS is empty: there is nothing to anonymise.")
    if k > table.n_records:
        raise InputError(
            f"K is {k}, but RECORDS has only {table.n_records} records, so none could be released: choose a smaller K."
        )


def checked_counts(values: np.ndarray, field: str) -> np.ndarray:
    """RECORD_COUNT as int64, (N,). Raises InputError where it is missing, negative or not a whole number."""
    values = np.asarray(values, dtype=float)
    refuse_where(
        {
            "missing or not a number": ~np.isfinite(values),
            "negative": values < 0,
            "not a whole number": values != np.floor(values),
            "too large to be exact": values > MOST_RECORDS,
        },
        f"RECORD_COUNT field “{field}”",
        "rows",
        lambda wrong: first_values(f"{value:g}" for value in np.unique(values[wrong])[:6]),
        "each row must say how many records it stands for.",
    )
    # Counts are added up in floating point, which is exact up to that number.
    if values.sum() >= MOST_RECORDS:
        raise InputError(
            f"RECORD_COUNT field “{field}” adds up to {values.sum():.0f} records (largest: {values.max():.0f}), more "
            f"than can be counted exactly ({MOST_RECORDS - 1}): choose the field that holds the numbers of records."
        )
    return values.astype(np.int64)
