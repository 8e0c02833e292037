"""Records matched with the areas they live in: checked, counted, ready for a release."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..areas import Areas, identifier_text, said_of_lost_zeros
from ..dataclass import dataclass
from ..errors import InputError, first_values
from ..language import plural, tr
from ..privacy.diversity import Shares, shares_of
from ..privacy.requirement import Members, Requirement, members_of
from ..profile import Profile, profile_records
from .columns import looked_up, smallest_integers
from .read_alike import read_alike_as_one
from .table import RecordTable, check_table

STOP, SUPPRESS = "stop", "suppress"
UNMATCHED = (STOP, SUPPRESS)


@dataclass(frozen=True, eq=False)
class Records:
    """Records whose areas are known.

    table : the N rows; profile : their counts by area and class
    cell_of : (N,) int32 or int64, the cell of the profile in which each row is counted, in the order of
    `Profile.counts`; -1 for rows of no known area and rows with a count of 0
    n_unmatched : records of no known area; warnings : sentences for the custodian
    """

    table: RecordTable
    profile: Profile
    cell_of: np.ndarray
    n_unmatched: int
    warnings: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a report says of them: the warnings, and what is shown coarser than it was read."""
        return (*self.warnings, *(column.sentence for column in self.table.coarsened.values()))

    @cached_property
    def members(self) -> tuple[Members, ...]:
        """Who the rows of each cell belong to, for every kind of people."""
        return tuple(members_of(kind, self.cell_of, column.codes) for kind, column in self.table.members.items())

    @cached_property
    def shares(self) -> tuple[Shares, ...]:
        """The values of each cell, for every sensitive field."""
        table, who = self.table, {kind: column.codes for kind, column in self.table.members.items()}
        return tuple(
            shares_of(name, self.cell_of, table.kept[name].codes, table.counts, who) for name in table.sensitive
        )


def match_records(
    table: RecordTable, areas: Areas, unmatched: str = STOP, k: int = 2, field: str = "RECORD_REGION", aside: str = ""
) -> Records:
    """Match each row with its area and count the records by area and class.

    Kept fields are looked at once it is known what is released: `examine_kept_fields`. Values of a field that only
    their type tells apart, such as 7 and “7”, are one.

    Parameters
    ----------
    table : RecordTable
        N rows.
    areas : Areas
        n areas, by whose identifiers the rows are matched.
    unmatched : str
        What becomes of rows in no known area, STOP or SUPPRESS, which leaves them out and counts them as suppressed.
    k : int
        The k of the release.
    field : str
        The area's field, for messages.
    aside : str
        A sentence for them on areas that may be missing.

    Returns
    -------
    Records
        The table, its profile, and the cell of each row.

    Raises
    ------
    InputError
        For an empty table, a k at which nothing could be released, unknown areas, and a released field that repeats
        the area.

    Examples
    --------
    >>> from vbas.core.areas import make_areas
    >>> from vbas.core.records.columns import column_from_values
    >>> from vbas.core.records.matching import match_records
    >>> from vbas.core.records.table import RecordTable
    >>> areas = make_areas(["a", "b"], [(0, 0), (900, 0)])
    >>> sex = column_from_values(["F", "M", "F", "F"])
    >>> table = RecordTable(column_from_values(["a", "a", "b", "elsewhere"]), {"sex": sex}, kept={})
    >>> records = match_records(table, areas, unmatched="suppress")
    >>> records.profile.counts.toarray().tolist()  # a row by area, a column by class: F, M
    [[1, 1], [1, 0]]
    >>> records.n_unmatched
    1
    """
    check_table(table, k)
    table = read_alike_as_one(table)
    area_codes = match_areas(table, areas, unmatched, field, aside)
    check_no_area_copy(table, areas, area_codes)
    profile, cell_of = profile_records(area_codes, table.quasi_identifiers, len(areas), table.counts)
    n_unmatched = table.weights(area_codes < 0)
    warnings: list[str] = []
    if n_unmatched:
        texts = np.array([identifier_text(value) for value in table.area.categories], dtype=object)
        warnings = [
            plural(
                "{n} record has no known area and is suppressed.",
                "{n} records have no known area and are suppressed.",
                n_unmatched,
            ),
            lost_zeros(areas, _of_rows(table, texts, area_codes < 0)),
        ]
    return Records(table, profile, cell_of, n_unmatched, tuple(filter(None, warnings)))


def requirement_of(records: Records, k: int, l_diversity: int = 1, max_share: float = 100.0) -> Requirement:
    """What is asked of equivalence classes of these records: k rows, persons and households, and of sensitive values.

    Raises InputError for a k below 2, an l_diversity below 1, and a share that is not above 0 and up to 100.
    """
    return Requirement(k, records.members, records.shares, l_diversity, max_share)


def match_areas(
    table: RecordTable, areas: Areas, unmatched: str, field: str = "RECORD_REGION", aside: str = ""
) -> np.ndarray:
    """Position of each row's area among the areas, (N,) of the smallest type; -1 for rows in no known area.

    unmatched : STOP refuses such rows, SUPPRESS leaves them at -1, so that they count as suppressed; aside : a sentence
    on areas that may be missing.
    Raises InputError with the number of records and the first values.
    """
    texts = np.array([identifier_text(value) for value in table.area.categories], dtype=object)
    position = smallest_integers(areas.codes_of(texts), len(areas))
    codes = looked_up(position, table.area.codes)
    lost = codes < 0
    if lost.all():
        none = tr(
            "No record's “{field}” is found in REGIONS (records have {first}, areas {areas}): choose the fields that "
            "hold "
            "the same identifiers.",
            field=field,
            first=first_values(texts),
            areas=first_values(areas.identifiers),
        )
        raise InputError(" ".join(filter(None, (none, lost_zeros(areas, texts), aside))))
    if table.counts is not None:
        lost = lost & (table.counts > 0)  # a row that stands for no record is nobody's loss
    if lost.any() and unmatched == STOP:
        some = plural(
            "{n} record has an area in “{field}” that is not in REGIONS ({first}): correct it, or set UNMATCHED to "
            "“suppress” to leave this record out.",
            "{n} records have an area in “{field}” that is not in REGIONS (first: {first}): correct them, or set "
            "UNMATCHED to “suppress” to leave these records out.",
            table.weights(lost),
            field=field,
            first=first_values(_of_rows(table, texts, lost)),
        )
        raise InputError(" ".join(filter(None, (some, lost_zeros(areas, _of_rows(table, texts, lost)), aside))))
    return codes


def _of_rows(table: RecordTable, texts: np.ndarray, some: np.ndarray) -> np.ndarray:
    """The areas that some rows name; texts : the areas that are named."""
    return np.asarray(texts[np.unique(table.area.codes[some])])


def lost_zeros(areas: Areas, texts: np.ndarray) -> str:
    """A sentence on areas that are not found for their leading zeros; empty where that is not so."""
    named = texts[areas.named_by(texts) >= 0]
    return said_of_lost_zeros(named) if len(named) else ""


def check_no_area_copy(table: RecordTable, areas: Areas, area_codes: np.ndarray) -> None:
    """Refuse a released field that repeats the record's area under another name. Raises InputError.

    area_codes : (N,) position of each row's area, -1 for none.
    """
    inside = area_codes >= 0
    for name, column in (*table.quasi_identifiers.items(), *table.kept.items()):
        texts = np.array([identifier_text(value) for value in column.categories], dtype=object)
        position = areas.named_by(texts)
        if not (position >= 0).any():
            continue
        same = looked_up(smallest_integers(position, len(areas)), column.codes) == area_codes
        if same[inside].mean() > 0.5:
            raise area_copy(name)


def area_copy(name: str) -> InputError:
    """What is said of a released field that repeats the record's area."""
    return InputError.saying(
        "Field “{name}” holds the identifier of the record's area: the release would show the very areas it is meant "
        "to hide. Take it out.",
        name=name,
    )
