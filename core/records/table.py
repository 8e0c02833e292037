"""The table of person records, as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..anonymity import check_k
from ..errors import InputError, first_values
from ..regions import Regions, identifier_text
from .columns import Column


@dataclass(frozen=True, eq=False)
class RecordTable:
    """N rows of records: their area, their quasi-identifiers, what else is to be released.

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


def check_fields(
    area: str, quasi_identifiers: Sequence[str], kept: Sequence[str], region_id: str | None, count: str | None
) -> None:
    """Refuse a choice of fields that would put the area, or anything standing for it, into the release.

    area : RECORD_REGION; region_id : REGION_ID of the areas, a field of this name in the records is refused too.
    Raises InputError.
    """
    if not quasi_identifiers:
        raise InputError("QUASI_IDENTIFIERS is empty: choose at least one field that could identify a person.")
    for label, fields in (("QUASI_IDENTIFIERS", quasi_identifiers), ("KEEP_FIELDS", kept)):
        for field in fields:
            if field in (area, region_id):
                raise InputError(
                    f"Field “{field}” in {label} is the identifier of the area: the release would show the very "
                    "areas it is meant to hide. Take it out."
                )
            if field == count:
                raise InputError(f"Field “{field}” is RECORD_COUNT and cannot be among {label} too. Take it out.")
    twice = [field for field in kept if field in quasi_identifiers]
    if twice:
        raise InputError(
            f"KEEP_FIELDS repeats quasi-identifiers ({first_values(twice)}), which are released anyway: take them out."
        )
    reserved = [
        field
        for field in (*quasi_identifiers, *kept)
        if field.lower() in (RESERVED_FIELDS if count else RESERVED_FIELDS[:1])
    ]
    if reserved:
        raise InputError(
            f"Field {first_values(reserved)} has a name that the release itself uses: rename it in the records first."
        )


# The second stands in the release only where rows come with counts.
RESERVED_FIELDS = ("vbas_region", "records")


def check_table(table: RecordTable, k: int) -> None:
    """Refuse an empty table, K below 2 and K above the number of records. Raises InputError."""
    check_k(k)
    if table.n_records == 0:
        raise InputError("RECORDS is empty: there is nothing to anonymise.")
    if k > table.n_records:
        raise InputError(
            f"K is {k}, but RECORDS has only {table.n_records} records, so none could be released: choose a smaller K."
        )


def match_areas(table: RecordTable, regions: Regions, unmatched: str, field: str = "RECORD_REGION") -> np.ndarray:
    """Position of each row's area among the regions, (N,) int64; -1 for rows in no known area.

    unmatched : "stop" refuses such rows, "suppress" leaves them at -1, so that they count as suppressed.
    Raises InputError naming how many records and the first values.
    """
    texts = np.array([identifier_text(value) for value in table.area.categories], dtype=object)
    position = regions.codes_of(texts)
    codes = position[table.area.codes] if len(texts) else np.empty(0, np.int64)
    lost = codes < 0
    if lost.any() and unmatched == "stop":
        used = np.unique(table.area.codes[lost])
        values = ["(missing)" if texts[i] is None else texts[i] for i in used]
        raise InputError(
            f"{table.weights(lost)} records have an area in “{field}” that is not in REGIONS (first: "
            f"{first_values(values)}): correct them, or set UNMATCHED to “suppress” to leave these records out."
        )
    if lost.all():
        raise InputError(
            f"No record's “{field}” is found in REGIONS (records have {first_values(texts)}, areas "
            f"{first_values(regions.identifiers)}): choose the fields that hold the same identifiers."
        )
    return codes


def check_no_area_copy(table: RecordTable, regions: Regions, region_codes: np.ndarray) -> None:
    """Refuse a released field that repeats the record's area under another name. Raises InputError.

    region_codes : (N,) position of each row's area, -1 for none.
    """
    inside = region_codes >= 0
    for name, column in (*table.quasi_identifiers.items(), *table.kept.items()):
        texts = np.array([identifier_text(value) for value in column.categories], dtype=object)
        position = regions.codes_of(texts)
        if (position >= 0).any() and np.mean(position[column.codes[inside]] == region_codes[inside]) > 0.5:
            raise InputError(
                f"Field “{name}” holds the identifier of the record's area: the release would show the very areas it "
                "is meant to hide. Take it out."
            )


def release_warnings(table: RecordTable, region_codes: np.ndarray) -> list[str]:
    """Sentences about fields that k does not protect: those that tell single persons or single areas apart.

    region_codes : (N,) position of each row's area, -1 for none.
    """
    warnings = []
    inside = region_codes >= 0
    n_areas = len(np.unique(region_codes[inside]))
    for name, column in table.kept.items():
        n_values = len(column.categories)
        if len(table) > 1 and n_values > 0.5 * len(table):
            warnings.append(
                f"KEEP_FIELDS: “{name}” has {n_values} different values in {len(table)} rows: if it is a number or a "
                "name of a person, do not release it."
            )
        elif n_values > max(1, n_areas // 2) and _tells_the_area(column.codes[inside], region_codes[inside], n_values):
            warnings.append(
                f"KEEP_FIELDS: each value of “{name}” occurs in one area only, so that it gives the area away: do not "
                "release it."
            )
    return warnings


def _tells_the_area(codes: np.ndarray, region_codes: np.ndarray, n_values: int) -> bool:
    """Whether no value occurs in two areas."""
    area = np.full(n_values, -1, np.int64)
    area[codes] = region_codes
    return bool((area[codes] == region_codes).all())


def checked_counts(values: np.ndarray, field: str) -> np.ndarray:
    """RECORD_COUNT as int64, (N,). Raises InputError where it is missing, negative or not a whole number."""
    values = np.asarray(values, dtype=float)
    for wrong, word in (
        (~np.isfinite(values), "missing or not a number"),
        (values < 0, "negative"),
        (values != np.floor(values), "not a whole number"),
    ):
        if wrong.any():
            shown = first_values(f"{value:g}" for value in np.unique(values[wrong])[:6])
            raise InputError(
                f"RECORD_COUNT field “{field}” is {word} in {int(wrong.sum())} rows (first: {shown}): each row "
                "must say how many records it stands for."
            )
    return values.astype(np.int64)
