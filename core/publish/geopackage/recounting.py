"""The second count of a GeoPackage: by SQLite itself, which needs nothing of GDAL."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np

from ...records.sqlite_file import quoted
from ..counting import ReadBack, SecondCount, names_there


def read_geopackage(file: Path, wanted: Sequence[str], check: SecondCount | None, plain: bool = False) -> ReadBack:
    """What the only table of a GeoPackage holds, its classes counted where there is a check.

    wanted : names of fields; plain : all are numbers or text, which SQLite keeps: their values are not read
    """
    name = file.stem
    with closing(sqlite3.connect(file)) as connection:
        shape = connection.execute(
            "SELECT column_name FROM gpkg_geometry_columns WHERE table_name = ?", (name,)
        ).fetchone()
        info = connection.execute("SELECT name, pk, type FROM pragma_table_info(?) ORDER BY cid", (name,)).fetchall()
        there = [column for column, key, _ in info if not key and (shape is None or column != shape[0])]
        fields = names_there(wanted, there)
        names = [known_name for known_name in fields if known_name is not None]
        if len(names) < len(fields):
            return ReadBack(fields, _count_of(connection, "SELECT COUNT(*) FROM", quoted(name)))
        n_shapes = None
        if shape is not None:
            n_shapes = _shapes_of_geopackage(connection, name, shape[0])
        if check is None:
            n_rows, smallest = _count_of(connection, "SELECT COUNT(*) FROM", quoted(name)), None
        else:
            key = next((column for column, key, kind in info if key and kind.upper() == "INTEGER"), None)
            n_rows, smallest = _count_classes(connection, file, key, names, check)
        values = None if plain and shape is None else _values_of_geopackage(connection, name, names)
        return ReadBack(names, n_rows, n_shapes, smallest, values)


def _count_classes(
    connection: sqlite3.Connection, file: Path, key: str | None, names: Sequence[str], check: SecondCount
) -> tuple[int, int | None]:
    """Rows, and records in the smallest class, or fewer if that is k; None where there are no rows.

    key : the column that numbers the rows, None where there is no such one
    """
    columns = [quoted(column) for column in names]
    classes = columns[: check.n_class_fields]
    if check.count_field is None and key is not None:
        n_rows, shortest = _shortest_run(connection, file, key, classes)
        if shortest is not None and shortest >= check.k:
            return n_rows, shortest
    size = "COUNT(*)" if check.count_field is None else f"COALESCE(SUM({columns[check.count_field]}), 0)"
    # Names cannot be bound: SQLite itself has just given them, and they are quoted.
    sizes = " ".join(("SELECT", size, "AS size, COUNT(*) AS n FROM", quoted(file.stem), "GROUP BY", ", ".join(classes)))
    smallest, n_rows = connection.execute(" ".join(("SELECT MIN(size), SUM(n) FROM (", sizes, ")"))).fetchone()
    return int(n_rows or 0), smallest


def _shortest_run(
    connection: sqlite3.Connection, file: Path, key: str, classes: Sequence[str]
) -> tuple[int, int | None]:
    """Rows, and the length of the shortest run of rows of one class; None where the rows are not numbered throughout.

    A release is sorted by class, so that the runs are its classes. In whatever order it is, a class is made of runs,
    and none is smaller than its shortest. It takes one pass without sorting, a third of what GROUP BY does, and as
    SQLite lets go of Python meanwhile, each half of the rows its own.
    """
    table, number = quoted(file.stem), quoted(key)
    numbers = f"COUNT(*), MIN({number}), MAX({number})"
    n_rows, first, last = connection.execute(" ".join(("SELECT", numbers, "FROM", table))).fetchone()
    if not n_rows or last - first + 1 != n_rows:
        return n_rows, None
    same = " AND ".join(f"a.{column} IS b.{column}" for column in classes)
    # A row without a next one would end its run, which only makes it shorter.
    pairs = f"AS a LEFT JOIN {table} AS b ON b.{number} = a.{number} + 1 WHERE a.{number} BETWEEN ? AND ?"
    statement = " ".join((f"SELECT a.{number} FROM", table, pairs, f"AND NOT ({same})"))

    def ends(rows: tuple[int, int]) -> np.ndarray:
        with closing(sqlite3.connect(file)) as own:
            return np.fromiter((row for (row,) in own.execute(statement, rows)), np.int64)

    middle = (first + last) // 2
    with ThreadPoolExecutor(2) as halves:
        breaks = np.unique(np.concatenate([*halves.map(ends, ((first, middle), (middle + 1, last))), [last]]))
    return n_rows, int(np.diff(breaks, prepend=first - 1).min())


def _shapes_of_geopackage(connection: sqlite3.Connection, name: str, shape: str) -> int:
    """Shapes that are there, and that the map finds: the spatial index holds each that is not empty."""
    # The fourth byte holds the flags, of which the fifth bit says that the shape is empty.
    rows = connection.execute(
        " ".join(("SELECT substr(", quoted(shape), ", 4, 1) FROM", quoted(name), "WHERE", quoted(shape), "NOT NULL"))
    )
    n_shapes = sum(not flags[0] & 0b10000 for (flags,) in rows)
    index = f"rtree_{name}_{shape}_rowid"
    if _count_of(connection, "SELECT COUNT(*) FROM sqlite_master WHERE name = ?", "", (index,)):
        n_shapes = min(n_shapes, _count_of(connection, "SELECT COUNT(*) FROM", quoted(index)))
    return n_shapes


def _values_of_geopackage(connection: sqlite3.Connection, name: str, names: Sequence[str]) -> list[Iterable[object]]:
    return [
        [value for (value,) in connection.execute(" ".join(("SELECT DISTINCT", quoted(field), "FROM", quoted(name))))]
        for field in names
    ]


def _count_of(connection: sqlite3.Connection, statement: str, name: str, values: tuple[object, ...] = ()) -> int:
    return int(connection.execute(" ".join((statement, name)), values).fetchone()[0])
