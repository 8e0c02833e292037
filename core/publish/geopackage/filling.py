"""Rows into the table of a new GeoPackage, by SQLite itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Protocol

import numpy as np
import shapely

from ...progress import Progress, part
from ...records.sqlite_file import quoted
from ...records.table import unused_name
from .pages import Coded, cells_of, compare_some, plain_target, write_pages
from .points import add_index, place_points, place_surfaces

VALUES_AT_ONCE = 999  # that every SQLite can bind
WORTH_A_RUN = 3  # rows in a run of equal ones, on average, from which on SQLite copies them faster
WORTH_PAGES = 20_000  # rows, from which on whole pages are made of them
CELLS_A_VALUE = 8  # on average, from which on that is faster: each different value of a field is looked at by itself
PREPARED, WRITTEN = 0.2, 0.9  # of the time, of all and of what follows
LONGEST_RUN, RUNS_AT_ONCE = 10_000, 5_000


class Rows(Protocol):
    """Rows to be written, of Python values."""

    def __len__(self) -> int: ...

    def runs(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Runs of equal rows: a position that stands for each, and its rows, two arrays (R,) int64; None if unknown."""

    def coded(self) -> tuple[Coded, np.ndarray | None] | None:
        """Of each column the codes of its rows, (R,), and their values; and how often each row is there, (R,) int64,
        None for once. None where columns have no codes."""

    def rows_at(self, positions: np.ndarray) -> list[tuple[object, ...]]:
        """The rows at positions, (m,) int64, as `runs` gives them."""

    def chunks(self) -> Iterator[tuple[int, list[tuple[object, ...]]]]:
        """All rows in chunks, each with the position of its first."""


def fill_geopackage(
    file: Path,
    names: Sequence[str],
    table: Rows,
    progress: Progress,
    points: np.ndarray | None = None,
    surfaces: np.ndarray | None = None,
) -> None:
    """Rows into the table that OGR made: several times as fast as features. names : of its fields; points : (rows, 2)
    where they are, NaN for nowhere; surfaces : (rows,) flat multipolygons, none empty; both None for a table without
    places.

    The file is new and nobody reads it yet: what fails is thrown away, and needs no journal. OGR counts the rows in a
    trigger that takes longer than the row itself; the count is set once instead.
    """
    placed = points is not None or surfaces is not None
    by_pages = None if placed else _pages_of(file, names, table, part(progress, 0.0, PREPARED))
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("BEGIN")
        triggers = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?", (file.stem,)
        ).fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {quoted(name)}")
        runs = None if placed or by_pages is not None else table.runs()
        if by_pages is not None:
            _say_how_many(connection, file.stem, len(table))
        elif points is not None:
            shape, places = place_points(connection, file.stem, points)
            _insert_placed(connection, file.stem, [*names, shape], table, places, progress)
            add_index(connection, file.stem, shape, np.hstack([points, points]))
        elif surfaces is not None:
            shape, places = place_surfaces(connection, file.stem, surfaces)
            _insert_placed(connection, file.stem, [*names, shape], table, places, progress)
            add_index(connection, file.stem, shape, shapely.bounds(surfaces))
        elif runs is None or len(runs[0]) * WORTH_A_RUN > len(table):
            _insert_rows(connection, file.stem, names, table, progress)
        else:
            _insert_runs(connection, file.stem, names, table, *runs, progress)
        for _, statement in triggers:
            connection.execute(statement)
        if triggers:
            connection.execute(
                "UPDATE gpkg_ogr_contents SET feature_count = ? WHERE table_name = ?", (len(table), file.stem)
            )
        connection.execute("COMMIT")
    if by_pages is not None:
        by_pages(part(progress, PREPARED, 1.0))


def _pages_of(file: Path, names: Sequence[str], table: Rows, progress: Progress) -> Callable[[Progress], None] | None:
    """What makes the pages of many rows, once SQLite has let go of the file; None where SQLite is to take the rows."""
    coded = table.coded() if len(table) >= WORTH_PAGES else None
    if coded is None:
        return None
    columns, copies = coded
    if sum(len(values) for _, values in columns) * CELLS_A_VALUE > len(table) * len(columns):
        return None
    target = plain_target(file, file.stem, names)
    cells = None if target is None else cells_of(columns, target, copies, progress)
    if target is None or cells is None:
        return None

    def write(progress: Progress) -> None:
        write_pages(file, target, cells, copies, part(progress, 0.0, WRITTEN))
        compare_some(file, file.stem, names, columns, copies, part(progress, WRITTEN, 1.0))

    return write


def _say_how_many(connection: sqlite3.Connection, name: str, n_rows: int) -> None:
    """Note the largest number of a row where the table wants it noted, as SQLite does with each row."""
    (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    if "AUTOINCREMENT" in sql.upper():
        connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
        connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, n_rows))


def _insert_rows(
    connection: sqlite3.Connection, name: str, names: Sequence[str], table: Rows, progress: Progress
) -> None:
    """Row by row, as many in one statement as can be bound: twice as fast as one by one."""
    width = max(VALUES_AT_ONCE // max(len(names), 1), 1)
    for start, rows in table.chunks():
        progress(start / max(len(table), 1))
        whole = len(rows) - len(rows) % width
        several = (list(chain.from_iterable(rows[i : i + width])) for i in range(0, whole, width))
        connection.executemany(_insertion(name, names, width), several)
        connection.executemany(_insertion(name, names, 1), rows[whole:])


def _insert_placed(
    connection: sqlite3.Connection,
    name: str,
    names: Sequence[str],
    table: Rows,
    places: Sequence[bytes | None],
    progress: Progress,
) -> None:
    """Row by row, each with where it is, which is the last of the names."""
    statement = _insertion(name, names, 1)
    for start, rows in table.chunks():
        progress(start / max(len(table), 1))
        here = places[start : start + len(rows)]
        connection.executemany(statement, ((*row, place) for row, place in zip(rows, here)))


def _insert_runs(
    connection: sqlite3.Connection,
    name: str,
    names: Sequence[str],
    table: Rows,
    positions: np.ndarray,
    lengths: np.ndarray,
    progress: Progress,
) -> None:
    """Runs of equal rows, of which a release is full: SQLite makes the copies, three times as fast as row by row.

    positions, lengths : of the runs, as `Table.runs` gives them
    """
    # Long runs in parts, so that the table of numbers stays small and the bar moves.
    parts = -(-lengths // LONGEST_RUN)
    last = np.cumsum(parts) - 1
    positions, rest = np.repeat(positions, parts), lengths - (parts - 1) * LONGEST_RUN
    lengths = np.full(len(positions), LONGEST_RUN, np.int64)
    lengths[last] = rest
    done = np.cumsum(lengths) - lengths
    # A temporary table would be found before one of the same name.
    own = quoted(unused_name("vbas_numbers", [name]))
    connection.execute(f"CREATE TEMP TABLE {own} (number INTEGER PRIMARY KEY)")
    numbers = ((position,) for position in range(int(lengths.max(initial=0))))
    connection.executemany(" ".join(("INSERT INTO", own, "VALUES (?)")), numbers)
    copies = ("SELECT", _places(names), "FROM", own, "LIMIT ?")
    statement = " ".join((_insertion(name, names, 0), *copies))
    for first in range(0, len(positions), RUNS_AT_ONCE):
        progress(int(done[first]) / max(len(table), 1))
        part = slice(first, first + RUNS_AT_ONCE)
        runs = zip(table.rows_at(positions[part]), lengths[part].tolist())
        connection.executemany(statement, ((*row, length) for row, length in runs))
    connection.execute(f"DROP TABLE {own}")


def _insertion(name: str, names: Sequence[str], n_rows: int) -> str:
    """The statement that inserts so many rows; for none its beginning."""
    # Names cannot be bound: they are those of the table that was just made, quoted. The values are bound.
    columns = ", ".join(map(quoted, names))
    beginning = " ".join(("INSERT INTO", quoted(name), "(", columns, ")"))
    return beginning if not n_rows else " ".join((beginning, "VALUES", ", ".join([f"({_places(names)})"] * n_rows)))


def _places(names: Sequence[str]) -> str:
    return ", ".join("?" for _ in names)
