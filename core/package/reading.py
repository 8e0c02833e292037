"""The tables of a release's folder, read by their schema."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

import numpy as np

from ..arrays import objects, to_list
from ..errors import InputError, in_quotes
from ..installing import is_there
from ..language import tr
from ..records.columns import Column, ColumnBuilder, combine_columns, smallest_integers
from ..records.csv_columns import read_plain_csv
from ..records.plain_files import scan_csv
from ..records.sqlite_file import TEXT, quoted
from ..records.sqlite_uri import sqlite_uri
from ..records.table_file import TableFile
from .dataset import REGIONS
from .table import BOOLEAN, INTEGER, NUMBER, DataField, DataTable

ROWS_AT_ONCE = 1 << 16
FIELD_LIMIT = 1 << 27  # characters of a cell
# What a GeoPackage of a release holds beside its tables, as (name, type).
STANDARD = ("gpkg_spatial_ref_sys", "gpkg_contents", "gpkg_geometry_columns", "sqlite_sequence")
BESIDE = frozenset(
    [(table, "table") for table in STANDARD]
    + [(f"sqlite_autoindex_{table}_{number}", "index") for table in STANDARD for number in (1, 2)]
)
BOOLEANS: Mapping[object, bool] = {"true": True, "false": False, 1: True, 0: False}  # 1 is True, too


class NotAsDescribed(Exception):
    """A table whose file holds something else than its schema says; a sentence on what."""


def read_table(file: Path, name: str, fields: Sequence[DataField], missing: str = "") -> DataTable:
    """A table of a folder, each different row once, without shapes.

    file : CSV, Parquet or GeoPackage, told by its ending; name : of the table; fields : those of its schema; missing :
    what stands for a missing value in CSV
    Raises NotAsDescribed for other fields or values of other types, InputError where nothing here reads the format,
    OSError, sqlite3.Error and csv.Error where the file cannot be read.
    """
    read = {".csv": _csv_rows, ".parquet": _parquet_rows, ".gpkg": _sqlite_rows}.get(file.suffix.lower())
    if read is None:
        raise InputError.saying("“{file}” is no CSV, Parquet or GeoPackage file.", file=file.name)
    names, text = [field.name for field in fields], file.suffix.lower() == ".csv"
    columns = _plain_csv(file, names) if text else None
    if columns is None:
        builders = [ColumnBuilder() for _ in fields]
        for chunk in read(file, name, names):
            for builder, values in zip(builders, zip(*chunk)):
                builder.add_values(values)
        columns = [builder.column() for builder in builders]
    columns_read = [_parsed(field, column, missing if text else None) for field, column in zip(fields, columns)]
    distinct, copies = _distinct(columns_read, len(columns[0]) if columns else 0)
    return DataTable(name, "", "", tuple(fields), tuple(distinct), copies)


def names_beside(file: Path, tables: Sequence[str]) -> list[str]:
    """What a GeoPackage holds beside these tables and those by which it tells what is in it: further tables, views,
    triggers, indexes. Raises sqlite3.Error."""
    with closing(_opened(file)) as connection:
        there = connection.execute("SELECT name, type FROM sqlite_master").fetchall()
    own = BESIDE | {(table, "table") for table in tables}
    return [str(name) for name, kind in there if (name, kind) not in own]


def _distinct(columns: Sequence[Column], n_rows: int) -> tuple[list[Column], np.ndarray]:
    if not n_rows:
        return list(columns), np.empty(0, np.int64)
    row_of, rows = combine_columns(columns)
    return [Column(codes, of.categories) for codes, of in zip(rows.T, columns)], np.bincount(row_of).astype(np.int64)


def _parsed(field: DataField, column: Column, missing: str | None) -> Column:
    """The column with values of the field's type; missing : what stands for none in text, None where None does."""
    read = _reader(field.type, missing is not None)
    values: list[object] = []
    for value in to_list(column.categories):
        if value is None or (missing is not None and value == missing):
            values.append(None)
            continue
        try:
            values.append(read(value))
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise NotAsDescribed(
                tr("“{field}” has {value}, which is no {type}", field=field.name, value=repr(value), type=field.type)
            ) from error
    position = {(type(value), value): i for i, value in enumerate(dict.fromkeys(values))}
    distinct = objects([value for _, value in position])
    at = np.array([position[type(value), value] for value in values], np.int64)
    return Column(smallest_integers(at[column.codes], max(len(distinct), 1)), distinct)


def _reader(kind: str, text: bool) -> Callable[[object], object]:
    if kind == BOOLEAN:
        return lambda value: BOOLEANS[value]
    if kind == INTEGER:
        return (lambda value: int(_digits(value))) if text else _whole
    if kind == NUMBER:
        return lambda value: float(_digits(value) if text else value) + 0.0  # type: ignore[arg-type]
    return str if text else _text


def _digits(value: object) -> str:
    """A number as text. Python reads more, such as “1_0” or the digits of other scripts, which others do not."""
    text = str(value)
    if not text.isascii() or "_" in text or text != text.strip():
        raise ValueError(value)
    return text


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(value)
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _plain_csv(file: Path, names: Sequence[str]) -> list[Column] | None:
    """The columns of a file in which nothing is to be interpreted; None for others, which are read row by row."""
    try:
        with file.open(encoding="utf-8", newline="") as read:
            if next(csv.reader(read, strict=True), []) != names:
                return None
        n_rows = scan_csv(file, file.name).n_rows - 1
    except (UnicodeDecodeError, csv.Error, InputError):
        return None
    columns = read_plain_csv(TableFile(file, "", names, names, dict.fromkeys(names, TEXT)), n_rows)
    return None if columns is None else [columns[name] for name in names]


def _csv_rows(file: Path, _: str, names: Sequence[str]) -> Iterator[list[tuple[object, ...]]]:
    before = csv.field_size_limit(FIELD_LIMIT)
    try:
        with file.open(encoding="utf-8", newline="") as read:
            rows = csv.reader(read, strict=True)
            _check_names(next(rows, []), names)
            while chunk := list(islice(rows, ROWS_AT_ONCE)):
                if set(map(len, chunk)) != {len(names)}:
                    raise NotAsDescribed(tr("a row has more or fewer cells than there are fields"))
                yield chunk  # type: ignore[misc]
    except UnicodeDecodeError as error:
        raise NotAsDescribed(str(error)) from error
    finally:
        csv.field_size_limit(before)


def _opened(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(sqlite_uri(file.absolute(), "mode=ro&immutable=1"), uri=True)


def _sqlite_rows(file: Path, table: str, names: Sequence[str]) -> Iterator[list[tuple[object, ...]]]:
    with closing(_opened(file)) as connection:
        drawn = connection.execute("SELECT column_name FROM gpkg_geometry_columns WHERE table_name = ?", (table,))
        shapes = _checked_shapes([column for (column,) in drawn], table)
        # A column that is hidden, or numbers the rows too, is a column all the same.
        info = connection.execute(
            "SELECT name, type, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid", (table,)
        ).fetchall()
        _check_names([column for column, *_ in info[1:] if column not in shapes], names)
        _check_numbers(connection, table, info)
        for column in shapes:
            _check_shapes(connection, table, column)
        statement = " ".join(("SELECT", ", ".join(map(quoted, names)), "FROM", quoted(table)))
        rows = connection.execute(statement)
        while chunk := rows.fetchmany(ROWS_AT_ONCE):
            yield chunk


def _check_numbers(connection: sqlite3.Connection, table: str, info: Sequence[tuple[str, str, int, int]]) -> None:
    """Raise NotAsDescribed where the first column, and no other, does not number the rows from 1 on."""
    if not info or info[0][1:] != ("INTEGER", 1, 0) or any(key for _, _, key, _ in info[1:]):
        raise NotAsDescribed(tr("its rows are not numbered in its first column alone"))
    number = quoted(info[0][0])
    statement = " ".join(("SELECT COUNT(*), MIN(", number, "), MAX(", number, ") FROM", quoted(table)))
    n_rows, first, last = connection.execute(statement).fetchone()
    if n_rows and (first, last) != (1, n_rows):
        raise NotAsDescribed(tr("its rows are not numbered from 1 on"))


def _check_shapes(connection: sqlite3.Connection, table: str, column: str) -> None:
    """Raise NotAsDescribed where a column of shapes holds anything else, which nobody would look at."""
    statement = " ".join(
        ("SELECT 1 FROM", quoted(table), "WHERE SUBSTR(", quoted(column), ", 1, 2) <> X'4750' LIMIT 1")
    )
    if connection.execute(statement).fetchone():
        raise NotAsDescribed(tr("its column of shapes “{column}” holds something else", column=column))


def _checked_shapes(columns: Sequence[str], table: str) -> Sequence[str]:
    """The columns of shapes that a file says it has. Raises NotAsDescribed for those that no release has."""
    if columns and (table != REGIONS or len(columns) > 1):
        raise NotAsDescribed(
            tr(
                "regions alone have shapes, in one column, which are said to be in {columns}",
                columns=", ".join(in_quotes(column) for column in columns),
            )
        )
    return columns


def _parquet_rows(file: Path, table: str, names: Sequence[str]) -> Iterator[list[tuple[object, ...]]]:
    if is_there("pyarrow"):
        from pyarrow import parquet

        with parquet.ParquetFile(str(file)) as opened:
            shapes = _checked_shapes(_shapes_of(opened.schema_arrow.metadata or {}), table)
            if any(str(opened.schema_arrow.field(column).type) != "binary" for column in shapes):
                raise NotAsDescribed(tr("its column of shapes “{column}” holds something else", column=shapes[0]))
            _check_names([name for name in opened.schema_arrow.names if name not in shapes], names)
            for batch in opened.iter_batches(ROWS_AT_ONCE, columns=list(names)):
                yield list(zip(*(batch.column(name).to_pylist() for name in names)))
        return
    if not is_there("duckdb"):
        raise InputError.saying("Parquet is read by pyarrow or DuckDB, and neither is installed.")
    import duckdb

    with closing(duckdb.connect()) as connection:
        path = [str(file)]
        metadata = dict(connection.execute("SELECT key, value FROM parquet_kv_metadata(?)", path).fetchall())
        shapes = _checked_shapes(_shapes_of(metadata), table)
        described = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", path).fetchall()
        _check_names([name for name, *_ in described if name not in shapes], names)
        if any(kind not in ("BLOB", "GEOMETRY") for name, kind, *_ in described if name in shapes):
            raise NotAsDescribed(tr("its column of shapes “{column}” holds something else", column=shapes[0]))
        columns = ", ".join(map(quoted, names))
        rows = connection.execute(" ".join(("SELECT", columns, "FROM read_parquet(?)")), path)
        while chunk := rows.fetchmany(ROWS_AT_ONCE):
            yield chunk


def _shapes_of(metadata: Mapping[bytes, bytes]) -> list[str]:
    """The columns of shapes that GeoParquet names."""
    geo = metadata.get(b"geo")
    return list(json.loads(geo)["columns"]) if geo else []


def _check_names(there: Sequence[str], names: Sequence[str]) -> None:
    if list(there) != list(names):
        raise NotAsDescribed(
            tr("the fields are {there}, not {described}", there=", ".join(there), described=", ".join(names))
        )
