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
from ..errors import InputError
from ..installing import is_there
from ..language import tr
from ..publish.sqlite_targets import SYSTEM
from ..records.columns import Column, ColumnBuilder, combine_codes, smallest_integers
from ..records.csv_columns import read_plain_csv
from ..records.plain_files import scan_csv
from ..records.sqlite_file import TEXT, quoted
from ..records.sqlite_uri import sqlite_uri
from ..records.table_file import TableFile
from .table import BOOLEAN, INTEGER, NUMBER, DataField, DataTable

ROWS_AT_ONCE = 1 << 16
FIELD_LIMIT = 1 << 27  # characters of a cell
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
        raise InputError(tr("“{file}” is no CSV, Parquet or GeoPackage file.", file=file.name))
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


def names_of_tables(file: Path) -> list[str]:
    """The tables and views of a GeoPackage but those by which it tells what is in it. Raises sqlite3.Error."""
    with closing(_opened(file)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
    return [str(name) for (name,) in names if not str(name).startswith(SYSTEM[".gpkg"])]


def _distinct(columns: Sequence[Column], n_rows: int) -> tuple[list[Column], np.ndarray]:
    if not n_rows:
        return list(columns), np.empty(0, np.int64)
    row_of, rows = combine_codes([of.codes for of in columns], [len(of.categories) for of in columns])
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
        return (lambda value: int(str(value))) if text else _whole
    if kind == NUMBER:
        return lambda value: float(value) + 0.0  # type: ignore[arg-type]
    return str if text else _text


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
        shapes = {
            column
            for (column,) in connection.execute(
                "SELECT column_name FROM gpkg_geometry_columns WHERE table_name = ?", (table,)
            )
        }
        info = connection.execute("SELECT name, pk FROM pragma_table_info(?) ORDER BY cid", (table,)).fetchall()
        _check_names([column for column, key in info if not key and column not in shapes], names)
        statement = " ".join(("SELECT", ", ".join(map(quoted, names)), "FROM", quoted(table)))
        rows = connection.execute(statement)
        while chunk := rows.fetchmany(ROWS_AT_ONCE):
            yield chunk


def _parquet_rows(file: Path, _: str, names: Sequence[str]) -> Iterator[list[tuple[object, ...]]]:
    if is_there("pyarrow"):
        from pyarrow import parquet

        with parquet.ParquetFile(str(file)) as opened:
            shapes = _shapes_of(opened.schema_arrow.metadata or {})
            _check_names([name for name in opened.schema_arrow.names if name not in shapes], names)
            for batch in opened.iter_batches(ROWS_AT_ONCE, columns=list(names)):
                yield list(zip(*(batch.column(name).to_pylist() for name in names)))
        return
    if not is_there("duckdb"):
        raise InputError(tr("Parquet is read by pyarrow or DuckDB, and neither is installed."))
    import duckdb

    with closing(duckdb.connect()) as connection:
        path = [str(file)]
        metadata = dict(connection.execute("SELECT key, value FROM parquet_kv_metadata(?)", path).fetchall())
        shapes = _shapes_of(metadata)
        described = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", path).fetchall()
        _check_names([name for name, *_ in described if name not in shapes], names)
        columns = ", ".join(map(quoted, names))
        rows = connection.execute(" ".join(("SELECT", columns, "FROM read_parquet(?)")), path)
        while chunk := rows.fetchmany(ROWS_AT_ONCE):
            yield chunk


def _shapes_of(metadata: Mapping[bytes, bytes]) -> set[str]:
    """The columns of shapes that GeoParquet names."""
    geo = metadata.get(b"geo")
    return set(json.loads(geo)["columns"]) if geo else set()


def _check_names(there: Sequence[str], names: Sequence[str]) -> None:
    if list(there) != list(names):
        raise NotAsDescribed(
            tr("the fields are {there}, not {described}", there=", ".join(there), described=", ".join(names))
        )
