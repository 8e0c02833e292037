"""The tables that the algorithms write, each with its fields: what all who tell of a field read."""

from __future__ import annotations

from . import analysis, cells, linked, points, privacy, regions, testdata
from .schema import OutputTable

TABLES = tuple(
    table
    for room in (regions, linked, points, cells, privacy, testdata, analysis)
    for table in vars(room).values()
    if isinstance(table, OutputTable)
)


def tables_of(parameter: str) -> tuple[OutputTable, ...]:
    """The tables that algorithms write as an output of this name: forms may call different ones the same."""
    return tuple(table for table in TABLES if table.parameter == parameter)


def table_of(output: str, text: str) -> OutputTable | None:
    """The table of an output, which in a model has the name of its step before its own, by a text on it; None for none.

    text : begins with what the rows of the table are, in the language that is spoken
    """
    return next((table for table in tables_of(output.rpartition(":")[2]) if text.startswith(table.help)), None)


def alias_of(parameter: str, field: str) -> str:
    """What a field of an output is called for a reader; empty for a field of the user's own."""
    return next((alias for table in tables_of(parameter) if (alias := table.alias_of(field))), "")
