"""Columns of tables in SQLite files: thousands of rows in one answer, as JSON, where SQLite says all of them so.

SQLite puts a stretch of rows together in less time than it hands over each of their values, and lets go of Python
meanwhile, so that one stretch is read while the last one is encoded.
JSON tells texts, whole numbers and missing values apart; real numbers lose digits in it, and are read row by row.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..language import plural
from .columns import Column, ColumnBuilder
from .sqlite_file import (
    INTEGER,
    LONG,
    REAL,
    TEXT,
    check_table,
    damaged_file,
    has_idle_log,
    is_table,
    other_values,
    quoted,
    reading,
    rows_in_order,
    statement,
)
from .sqlite_pages import NotPlain, PagesOfFile, read_pages

STRETCH, FIRST_STRETCH = 50_000, 1_000  # who waits for Python waits for each
LONGEST_ANSWER = 1 << 23  # characters, about: values may be long
NUMBERS_A_ROW = 10  # up to so many numbers of the key for each row, rows are looked for by them
_ROWS, _ROWS_A_STEP = 250, 50_000  # few at once stay in the memory next to the processor
_TYPES = {INTEGER: int, LONG: int, REAL: float, TEXT: str}
_LARGEST = {INTEGER: 2**31 - 1, LONG: 2**63 - 1}


class _RowByRow(Exception):
    """A table is not to be read by stretches: it holds bytes, or has many more numbers than rows."""


def read_table(
    path: Path, table: str, kinds: Mapping[str, str], layer: str, progress: Callable[[float], None]
) -> dict[str, Column]:
    """Columns of a table, in its order, just as SQLite holds them; kinds : INTEGER, LONG, REAL or TEXT by field.

    progress raises to cancel. Raises InputError where not every row can be read, or a value is not of its field's kind.
    """
    idle = has_idle_log(path)
    with PagesOfFile(path) as pages, reading(path, layer, idle) as connection, ThreadPoolExecutor(1) as beside:
        columns, n_read = _read_from_pages(connection, table, kinds, progress, pages)
        if columns is None:
            # SQLite lets go of Python while it reads: the pages are checked while the values are looked at.
            checked = beside.submit(_check_beside, path, table, layer, idle)
            columns, n_read = _read_columns(connection, table, kinds, progress)
            n_rows = checked.result()
        else:
            n_rows = n_read if pages.whole else check_table(connection, path, table, layer)
    for (name, kind), column in zip(kinds.items(), columns.values()):
        wrong = [value for value in column.categories.tolist() if value is not None and not _fits(value, kind)]
        if wrong:
            raise InputError(other_values(layer, name, kind, wrong))
    if n_read != n_rows:
        raise InputError(
            damaged_file(
                path,
                layer,
                plural(
                    "{n} of {n_rows} rows can be read",
                    "{n} of {n_rows} rows can be read",
                    n_read,
                    n_rows=n_rows,
                ),
            )
        )
    return columns


def _check_beside(path: Path, table: str, layer: str, idle: bool) -> int:
    """`check_table` by a connection of its own. Both see one state: who reads second would find a change."""
    with reading(path, layer, idle) as connection:
        return check_table(connection, path, table, layer)


def _read_from_pages(
    connection: sqlite3.Connection,
    table: str,
    kinds: Mapping[str, str],
    progress: Callable[[float], None],
    pages: PagesOfFile,
) -> tuple[dict[str, Column] | None, int]:
    """The columns from the pages, and how many rows were read; no columns where they are to be had from SQLite."""
    key = _key_of(connection, table)
    if key is not None:
        with suppress(NotPlain):
            return read_pages(pages, connection, table, key, kinds, progress)
    return None, 0


def _read_columns(
    connection: sqlite3.Connection, table: str, kinds: Mapping[str, str], progress: Callable[[float], None]
) -> tuple[dict[str, Column], int]:
    """The columns, and how many rows were read, by SQLite."""
    key = _key_of(connection, table)
    if key is not None and REAL not in kinds.values():
        try:
            return _read_stretches(connection, table, key, kinds, progress)
        except (_RowByRow, sqlite3.Error):  # such as an answer that is too long
            pass  # row by row it is known which value it is, or what keeps the file from being read
    return _read_rows(connection, table, kinds, progress)


def _key_of(connection: sqlite3.Connection, table: str) -> str | None:
    """The column that numbers the rows of a table, by which SQLite holds them; None where there is no such one."""
    if not is_table(connection, table):
        return None
    keys = connection.execute("SELECT name, type FROM pragma_table_info(?) WHERE pk", (table,)).fetchall()
    (ordered,) = connection.execute(
        "SELECT COUNT(*) FROM pragma_index_list(?) WHERE origin = 'pk'", (table,)
    ).fetchone()
    return keys[0][0] if len(keys) == 1 and keys[0][1].upper() == "INTEGER" and not ordered else None


def _read_stretches(
    connection: sqlite3.Connection,
    table: str,
    key: str,
    kinds: Mapping[str, str],
    progress: Callable[[float], None],
) -> tuple[dict[str, Column], int]:
    """The columns, of INTEGER, LONG or TEXT, and the number of rows. Raises _RowByRow."""
    builders = {name: ColumnBuilder() for name in kinds}
    add = _adding(builders, kinds)
    done = 0
    # Closed however this ends: whoever closes the connection must not meet a stretch that is still read.
    with closing(_stretches(connection, table, key, list(kinds))) as stretches:
        for share, n_rows, *columns in stretches:
            for append, values in zip(add, columns):
                append(json.loads(values))
            done += n_rows
            progress(share)
    return {name: builder.column() for name, builder in builders.items()}, done


def _stretches(
    connection: sqlite3.Connection, table: str, key: str, names: Sequence[str]
) -> Generator[tuple[Any, ...], None, None]:
    """Rows in the order of their key, as many at once as suits: the share of the table that is gone through, how many
    they are, and the values of each field as a list in JSON.

    Raises _RowByRow where there are many more numbers than rows, and where there are bytes.
    """
    own = quoted(key)
    # One end at a time: for both at once SQLite would go through the table.
    least, most = (statement(("SELECT", f"{end}({own})", "FROM"), table, connection) for end in ("MIN", "MAX"))
    (first,), (last,) = connection.execute(least).fetchone(), connection.execute(most).fetchone()
    if first is None:
        return
    # To SQLite bytes are more than all else; some versions take them for JSON of their own.
    bytes_there = " OR ".join(f"{quoted(name)} >= x''" for name in names)
    lists = (f"JSON_GROUP_ARRAY({quoted(name)})" for name in names)
    asked = ", ".join(("COUNT(*)", f"COUNT(CASE WHEN {bytes_there} THEN 1 END)", *lists))
    answer = " ".join((statement(("SELECT", asked, "FROM"), table, connection), "WHERE", own, "BETWEEN ? AND ?"))

    def ask(start: int, stop: int) -> tuple[Any, ...]:
        stretch: tuple[Any, ...] = connection.execute(answer, (start, min(stop, last))).fetchone()
        return stretch

    stop, width, n_rows = first, FIRST_STRETCH, 0
    with ThreadPoolExecutor(1) as ahead:
        coming = ahead.submit(ask, first, first + width - 1)
        while stop <= last:
            stretch = coming.result()
            stop += width
            n_rows += stretch[0]
            if stretch[1] or stop - first > NUMBERS_A_ROW * (n_rows + STRETCH):
                raise _RowByRow
            longest = sum(map(len, stretch[2:]))
            width = min(max(width * LONGEST_ANSWER // longest, 1), STRETCH)
            if stop <= last:
                coming = ahead.submit(ask, stop, stop + width - 1)
            if stretch[0]:
                yield min((stop - first) / (last + 1 - first), 1.0), stretch[0], *stretch[2:]


def _adding(
    builders: Mapping[str, ColumnBuilder], kinds: Mapping[str, str]
) -> list[Callable[[Sequence[object]], None]]:
    """How values are added to each column. Texts are never equal to values of another type."""
    return [builders[name].add_texts if kind == TEXT else builders[name].add_values for name, kind in kinds.items()]


def _read_rows(
    connection: sqlite3.Connection, table: str, kinds: Mapping[str, str], progress: Callable[[float], None]
) -> tuple[dict[str, Column], int]:
    """The columns, of any kind, and the number of rows, of any table or view."""
    (expected,) = connection.execute(statement(("SELECT COUNT(*) FROM",), table, connection)).fetchone()
    builders = {name: ColumnBuilder() for name in kinds}
    add = _adding(builders, kinds)
    done = 0
    rows = rows_in_order(connection, table, list(kinds))
    while chunk := list(islice(rows, _ROWS)):
        for append, values in zip(add, zip(*chunk)):
            append(values)
        done += len(chunk)
        if done % _ROWS_A_STEP == 0 or len(chunk) < _ROWS:
            progress(done / max(expected, 1))
    return {name: builder.column() for name, builder in builders.items()}, done


def _fits(value: object, kind: str) -> bool:
    if type(value) is not _TYPES[kind]:
        return False
    if isinstance(value, int):
        return -_LARGEST[kind] - 1 <= value <= _LARGEST[kind]
    return not (isinstance(value, str) and "\0" in value)
