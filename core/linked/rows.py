"""The rows of a linked table that are released, in an order that tells nothing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..dataclass import dataclass
from ..records.columns import Column, columns_at, combine_codes
from .tables import ALL_ROWS, ONE_ROW, LinkedTable
from .withholding import NOWHERE


@dataclass(frozen=True, eq=False)
class LinkedRows:
    """The released rows of a linked table, (R,), and what became of the others.

    level, region : (R,) int64, those of the person, 0-based; person : (R,) int64, the new key; None where rows do not
    say whose they are
    fields : columns by name, the known ones first; known : how many of them others may know; sensitive : the names of
    those of which people must not have one value in common; count_known : whether others may know how many rows a
    person has
    n_given, n_persons : rows that were given, and persons who have any
    n_left_out : persons whose record is released and whose rows are not, though they have some; where others may know
    one row, those of whom some are not
    k : how many people look alike at least in all tables together; rows_known : what others may know (ROWS_KNOWN)
    flagged : persons who are released with their rows marked as left out, whether they have any or not
    """

    name: str
    level: np.ndarray
    region: np.ndarray
    person: np.ndarray | None
    fields: Mapping[str, Column]
    known: int
    sensitive: tuple[str, ...]
    count_known: bool
    n_given: int
    n_persons: int
    n_left_out: int
    flagged: int
    k: int
    rows_known: str = ALL_ROWS

    def __len__(self) -> int:
        return len(self.region)

    def whole(self) -> LinkedRows:
        """With the rows themselves, which may be elsewhere."""
        return self


def linked_rows(
    table: LinkedTable,
    level: np.ndarray,
    region: np.ndarray,
    with_rows: np.ndarray,
    key: np.ndarray | None,
    k: int,
    of_many: np.ndarray | None = None,
) -> LinkedRows:
    """The rows of the persons whose rows are shown, sorted by what rows show.

    level, region : (N,) of each person, level NOWHERE for suppressed ones; with_rows : (N,) bool; key : (N,) the new
    keys
    k : as in `LinkedRows`; of_many : (R,) bool, the rows that are shown, where others may know one row of a person
    """
    released = level != NOWHERE
    mine = np.flatnonzero(table.person >= 0)
    mine = mine[(with_rows & released)[table.person[mine]]]
    has_rows = np.bincount(table.person[table.person >= 0], minlength=len(level)) > 0
    lost = has_rows & ~with_rows
    if of_many is not None:
        lost = np.bincount(table.person[~of_many & (table.person >= 0)], minlength=len(level)) > 0
        mine = mine[of_many[mine]]
    person = table.person[mine]
    fields = columns_at(table.fields, mine)
    first = [key[person]] if key is not None else []
    order = _order([*first, level[person], region[person], *(column.codes for column in fields.values())])
    return LinkedRows(
        table.name,
        level[person][order],
        region[person][order],
        None if key is None else key[person][order],
        columns_at(fields, order),
        len(table.known),
        table.sensitive,
        table.count_known,
        len(table),
        int(has_rows.sum()),
        int((lost & released).sum()),
        int((released & ~with_rows).sum()),
        k,
        ALL_ROWS if of_many is None else ONE_ROW,
    )


def _order(codes: list[np.ndarray]) -> np.ndarray:
    """The order by these codes, the first before the second."""
    if not len(codes[0]):
        return np.empty(0, np.int64)
    number, _ = combine_codes(codes, [int(code.max()) + 1 for code in codes])
    return np.argsort(number, kind="stable")
