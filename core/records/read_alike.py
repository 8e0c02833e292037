"""Values of one field that read alike and are of several types, such as 7 and “7” of a frame: they are one value.

Whoever reads a release sees one class of them, whose number is that of all of them together; and two rows of a person
are of one person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..areas import identifier_text
from ..plain_text import plain_text
from .columns import Column, column_from_values, looked_up
from .table import RecordTable


def read_alike_as_one(table: RecordTable) -> RecordTable:
    """The table with one value for all that read alike: of quasi-identifiers, kept fields, persons and households."""
    quasi_identifiers, kept, members = map(columns_read_alike, (table.quasi_identifiers, table.kept, table.members))
    if (quasi_identifiers, kept, members) == (table.quasi_identifiers, table.kept, table.members):
        return table
    return replace(table, quasi_identifiers=quasi_identifiers, kept=kept, members=members)


def columns_read_alike(columns: Mapping[str, Column]) -> dict[str, Column]:
    """Columns by name, each with one value for all that read alike, as text where one of them is text."""
    return {name: _one_of_each(column) for name, column in columns.items()}


def _one_of_each(column: Column) -> Column:
    values = column.categories.tolist()
    if len({type(value) for value in values if value is not None}) < 2:
        return column
    # 7.0 reads as 7 and as “7.0”.
    also = {plain_text(value): identifier_text(value) for value in values if not isinstance(value, (str, type(None)))}
    keys = [also.get(value, value) if isinstance(value, str) else identifier_text(value) for value in values]
    shown: dict[str | None, object] = {}
    for key, value in zip(keys, values):
        if key not in shown or isinstance(value, str):
            shown[key] = value
    if len(shown) == len(values):
        return column
    merged = column_from_values([shown[key] for key in keys])
    return Column(looked_up(merged.codes, column.codes), merged.categories)
