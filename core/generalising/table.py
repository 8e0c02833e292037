"""Hierarchies from a table, as users of other tools for anonymisation have them: value, level 1, level 2, …"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..areas import identifier_text
from ..dataclass import dataclass
from ..errors import InputError, first_values
from .hierarchies import SUPPRESSED_VALUE, Hierarchy, make_hierarchy

Row = tuple["str | None", ...]


@dataclass(frozen=True)
class HierarchyTable:
    """The coarser values of one attribute's values; rows : by value as text (None is missing), those of each level."""

    attribute: str
    rows: dict[str | None, Row]

    @property
    def n_levels(self) -> int:
        """Levels above the values themselves."""
        return len(next(iter(self.rows.values()), ()))

    def hierarchy(self, values: np.ndarray) -> Hierarchy:
        """The hierarchy of these values, (n,) object, the categories of a column.

        A missing value that the table does not name stays missing, save where a level says “*” of all others.
        Raises InputError for values that are not in the table, and where levels do not nest.
        """
        texts = [identifier_text(value) for value in values]
        unknown = sorted({text for text in texts if text is not None and text not in self.rows})
        if unknown:
            raise InputError.counting(
                "HIERARCHIES: {n} value of “{attribute}” is not in the table ({values}): add a row for it.",
                "HIERARCHIES: {n} values of “{attribute}” are not in the table ({values}): add a row for each.",
                len(unknown),
                attribute=self.attribute,
                values=first_values(unknown),
            )
        missing = self.rows.get(None, self._missing())
        rows = [missing if text is None else self.rows[text] for text in texts]
        return make_hierarchy(self.attribute, values, [[row[level] for row in rows] for level in range(self.n_levels)])

    def _missing(self) -> Row:
        """What becomes of a missing value that the table does not name."""
        columns = list(zip(*self.rows.values()))
        return tuple(SUPPRESSED_VALUE if set(column) == {SUPPRESSED_VALUE} else None for column in columns)


def hierarchy_tables(
    attributes: Sequence[object], values: Sequence[object], levels: Sequence[Sequence[object]]
) -> dict[str, HierarchyTable]:
    """The table of each attribute it names.

    attributes, values : (R,) of each row; levels : of level 1, 2, … the coarser value in each row, (R,). All are
    compared as text. An attribute has the levels up to the last in which any of its rows has a value.
    Raises InputError for a row without an attribute, a value that has two different rows, and one that lacks a level.
    """
    names = [identifier_text(attribute) for attribute in attributes]
    if None in names:
        raise InputError.saying(
            "HIERARCHIES: row {index} names no attribute: fill in the field “attribute”.", index=names.index(None) + 1
        )
    rows: dict[str, dict[str | None, Row]] = {}
    for name, value, *above in zip(names, values, *levels):
        known = rows.setdefault(str(name), {})
        text, row = identifier_text(value), tuple(identifier_text(cell) for cell in above)
        if known.setdefault(text, row) != row:
            raise InputError.saying(
                "HIERARCHIES: “{name}” has two different rows for the value {values}: keep one of them.",
                name=name,
                values=first_values([text]),
            )
    return {name: HierarchyTable(name, _whole(name, table_rows)) for name, table_rows in rows.items()}


def _whole(name: str, rows: dict[str | None, Row]) -> dict[str | None, Row]:
    """The rows with the levels that are in use. Raises InputError where a value lacks one of them."""
    used = [
        position for position, column in enumerate(zip(*rows.values())) if any(value is not None for value in column)
    ]
    n_levels = used[-1] + 1 if used else 0
    if not n_levels:
        raise InputError.saying("HIERARCHIES: “{name}” has no coarser value in any row: fill in level 1.", name=name)
    for level in range(n_levels):
        lost = [value for value, row in rows.items() if value is not None and row[level] is None]
        if lost:
            raise InputError.saying(
                "HIERARCHIES: “{name}” has values without one at level {level} ({values}): fill it in for all, or for "
                "none; “{suppressed_value}” says nothing of a person.",
                name=name,
                level=level + 1,
                values=first_values(lost),
                suppressed_value=SUPPRESSED_VALUE,
            )
    return {value: row[:n_levels] for value, row in rows.items()}
