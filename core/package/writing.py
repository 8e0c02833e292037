"""Tables into files: CSV, Parquet (GeoParquet where they are drawn) by pyarrow or DuckDB, GeoPackage by SQLite."""

from __future__ import annotations

import json
import operator
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from io import TextIOWrapper
from itertools import chain, repeat
from pathlib import Path

import numpy as np
import shapely

from ..arrays import to_list
from ..drawing import multi_polygons
from ..errors import InputError, in_quotes
from ..installing import is_there
from ..publish.files import DISK
from ..publish.folders import own_folder
from ..publish.geopackage.making import LONG, REAL, TEXT, make_geopackage
from ..records.columns import Column
from ..records.sqlite_file import quoted
from .table import BOOLEAN, DATE, DATETIME, INTEGER, NUMBER, STRING, DataTable

CSV, PARQUET, GEOPACKAGE = "CSV", "Parquet", "GeoPackage"
FORMATS = (CSV, PARQUET, GEOPACKAGE)
ENDINGS = {CSV: ".csv", PARQUET: ".parquet", GEOPACKAGE: ".gpkg"}
# What stands for a missing value in a CSV file: the first of these that is no value of the table.
MISSING = ("", "NA", "N/A", "NULL", "None", "<missing>", "<?>")
ROWS_AT_ONCE = 1 << 17
SHAPE = "geom"
OWN_CRS = 100_000  # the number of a reference system that has none at EPSG
SQLITE = {INTEGER: LONG, NUMBER: REAL, STRING: TEXT, BOOLEAN: "BOOLEAN", DATE: "DATE", DATETIME: TEXT}
DUCKDB = {INTEGER: "BIGINT", NUMBER: "DOUBLE", STRING: "VARCHAR", BOOLEAN: "BOOLEAN", DATE: "VARCHAR"}


def missing_of(table: DataTable) -> str:
    """What stands for a missing value in a CSV file of the table. Raises InputError where all such words are values."""
    values = {value for column in table.columns for value in to_list(column.categories) if isinstance(value, str)}
    free = next((word for word in MISSING if word not in values), None)
    if free is None:
        raise InputError.saying(
            "Table “{table}” has all words as values by which a CSV file could tell a missing value ({words}): choose "
            "another format.",
            table=table.name,
            words=", ".join(in_quotes(word) for word in MISSING),
        )
    return free


def check_format(written: str) -> None:
    """Raise InputError where nothing here writes a format."""
    if written == PARQUET and not (is_there("pyarrow") or is_there("duckdb")):
        raise InputError.saying(
            "Parquet is written by pyarrow or DuckDB, and neither is installed: choose CSV or GeoPackage."
        )


def check_names(table: DataTable) -> None:
    """Raise InputError where a table has two fields of one name, whatever its case."""
    used: set[str] = set()
    for name in table.names:
        if name.lower() in used:
            raise InputError.saying(
                "{output} would have two fields called “{name}”, which files and databases do not tell apart: rename "
                "the field in the input first.",
                output=f"RELEASE_FOLDER: {table.name}",
                name=name,
            )
        used.add(name.lower())


def write_csv(file: Path, table: DataTable) -> None:
    """Write a table as CSV (RFC 4180, UTF-8, a line feed ends a row), its shapes left out."""
    missing = missing_of(table)
    lines = np.full(len(table.copies), "", dtype=object)
    for position, (field, column) in enumerate(zip(table.fields, table.columns)):
        cells = np.empty(len(column.categories), dtype=object)
        texts = [missing if value is None else _text(value, field.type) for value in to_list(column.categories)]
        cells[:] = [("," if position else "") + _in_quotes(text) for text in texts]
        lines = lines + cells[column.codes]
    lines = lines + "\n"
    with TextIOWrapper(DISK.staged(file), encoding="utf-8", newline="") as write:
        write.write(",".join(map(_in_quotes, table.names)) + "\n")
        for part in _parts(table):
            write.writelines(map(operator.mul, lines[part].tolist(), table.copies[part].tolist()))


def write_parquet(file: Path, table: DataTable) -> None:
    """Write a table as Parquet, with shapes as GeoParquet 1.1. Raises InputError."""
    check_format(PARQUET)
    if is_there("pyarrow"):
        _by_pyarrow(file, table)
    else:
        _by_duckdb(file, table)


def write_geopackage(file: Path, tables: Sequence[DataTable]) -> None:
    """Write tables into one new GeoPackage, each under its name. Raises sqlite3.Error."""
    make_geopackage(file, {table.name: _sqlite_types(table) for table in tables})
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        # The file is new and nobody reads it yet: what fails is thrown away, and needs no journal.
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        for table in tables:
            connection.execute(
                "UPDATE gpkg_contents SET identifier = ?, description = ? WHERE table_name = ?",
                (table.title or table.name, table.description, table.name),
            )
            if table.shapes is not None:
                _make_spatial(connection, table)
            # Names cannot be bound: they are quoted. The values are bound.
            places = ", ".join("?" for _ in _sqlite_types(table))
            names = ", ".join(map(quoted, _sqlite_types(table)))
            insert = " ".join(("INSERT INTO", quoted(table.name), "(", names, ") VALUES (", places, ")"))
            shapes = None if table.shapes is None else _geopackage_shapes(table)
            for part in _parts(table):
                rows = zip(*(_values(column, part) for column in table.columns), *([shapes[part]] if shapes else []))
                copied = chain.from_iterable(map(repeat, rows, table.copies[part].tolist()))
                connection.executemany(insert, copied)
        connection.execute("COMMIT")


def write_tables(folder: Path, tables: Sequence[DataTable], written: str) -> Mapping[str, Path]:
    """Write the tables of a release into a folder; the file of each, by its name.

    written : one of FORMATS. In CSV, which has no shapes, a table with shapes is written as a GeoPackage beside it.
    """
    if written == GEOPACKAGE:
        file = folder / "release.gpkg"
        write_geopackage(file, tables)
        return {table.name: file for table in tables}
    files = {table.name: folder / (table.name + ENDINGS[written]) for table in tables}
    for table in tables:
        (write_csv if written == CSV else write_parquet)(files[table.name], table)
        if written == CSV and table.shapes is not None:
            write_geopackage(folder / f"{table.name}.gpkg", [table])
    return files


def _parts(table: DataTable) -> Iterator[slice]:
    """Stretches of the different rows that make about as many rows as are held at once."""
    ends = np.cumsum(table.copies)
    start = 0
    while start < len(ends):
        before = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, before + ROWS_AT_ONCE, side="right")), start + 1)
        yield slice(start, stop)
        start = stop


def _values(column: Column, part: slice | np.ndarray) -> list[object]:
    return to_list(column.categories[column.codes[part]])


def _text(value: object, kind: str) -> str:
    if kind == BOOLEAN:
        return "true" if value else "false"
    return repr(float(value) + 0.0) if kind == NUMBER else str(value)  # type: ignore[arg-type]


def _in_quotes(text: str) -> str:
    """A cell as CSV wants it."""
    special = any(sign in text for sign in ',"\n\r') or text != text.strip()
    return '"{}"'.format(text.replace('"', '""')) if special else text


def _sqlite_types(table: DataTable) -> dict[str, str]:
    columns = {field.name: SQLITE[field.type] for field in table.fields}
    return columns if table.shapes is None else {**columns, SHAPE: "MULTIPOLYGON"}


def _make_spatial(connection: sqlite3.Connection, table: DataTable) -> None:
    """Note a table with shapes, and its reference system, in the tables of the GeoPackage."""
    number = -1
    if table.crs is not None:
        number = table.crs.epsg or OWN_CRS
        by = ("EPSG", number) if table.crs.epsg else ("NONE", number)
        connection.execute(
            "INSERT OR IGNORE INTO gpkg_spatial_ref_sys VALUES (?, ?, ?, ?, ?, NULL)",
            (table.crs.name or "CRS", number, *by, table.crs.wkt or "undefined"),
        )
    there = shapely.total_bounds(table.shapes)
    bounds = [None if np.isnan(value) else float(value) for value in there]
    connection.execute(
        "UPDATE gpkg_contents SET data_type = 'features', srs_id = ?, min_x = ?, min_y = ?, max_x = ?, max_y = ? "
        "WHERE table_name = ?",
        (number, *bounds, table.name),
    )
    connection.execute(
        "INSERT INTO gpkg_geometry_columns VALUES (?, ?, 'MULTIPOLYGON', ?, 0, 0)", (table.name, SHAPE, number)
    )


def _geopackage_shapes(table: DataTable) -> list[bytes | None]:
    """The shapes as GeoPackages hold them: a header without bounds, then WKB."""
    number = -1 if table.crs is None else table.crs.epsg or OWN_CRS
    header = b"GP\x00\x01" + int(number).to_bytes(4, "little", signed=True)
    return [None if wkb is None else header + wkb for wkb in _wkb(table)]


def _wkb(table: DataTable) -> list[bytes | None]:
    shapes = np.empty(0, dtype=object) if table.shapes is None else multi_polygons(table.shapes)
    return to_list(shapely.to_wkb(shapes, byte_order=1))


def _of_shapes(table: DataTable) -> str:
    """What GeoParquet says of its shapes."""
    crs = json.loads(table.crs.projjson) if table.crs is not None and table.crs.projjson else None
    bounds = shapely.total_bounds(table.shapes)
    column = {"encoding": "WKB", "geometry_types": ["MultiPolygon"], "crs": crs}
    if not np.isnan(bounds).any():
        column["bbox"] = bounds.tolist()
    return json.dumps({"version": "1.1.0", "primary_column": SHAPE, "columns": {SHAPE: column}})


def _by_pyarrow(file: Path, table: DataTable) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    kinds = {INTEGER: pa.int64(), NUMBER: pa.float64(), BOOLEAN: pa.bool_()}
    schema = pa.schema([(field.name, kinds.get(field.type, pa.string())) for field in table.fields])
    if table.shapes is not None:
        schema = schema.append(pa.field(SHAPE, pa.binary())).with_metadata({"geo": _of_shapes(table)})
    shapes = _wkb(table)
    values = [pa.array(to_list(of.categories), kind) for of, kind in zip(table.columns, schema.types)]
    with parquet.ParquetWriter(str(file), schema, compression="zstd") as writer:
        for part in _parts(table):
            at = np.repeat(np.arange(part.start, part.stop, dtype=np.int64), table.copies[part])
            arrays = [of.take(pa.array(column.codes[at])) for of, column in zip(values, table.columns)]
            arrays += [pa.array([shapes[row] for row in at.tolist()], pa.binary())] if shapes else []
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _by_duckdb(file: Path, table: DataTable) -> None:
    """By way of a CSV file, whose last column holds the shapes in hexadecimal digits."""
    import duckdb

    names, types = list(table.names), [DUCKDB.get(field.type, "VARCHAR") for field in table.fields]
    with own_folder(file.parent) as folder, closing(duckdb.connect()) as connection:
        rows = folder / "rows.csv"
        write_csv(rows, table)
        typed = ", ".join(f"{_text_of(name)}: {_text_of(kind)}" for name, kind in zip(names, types))
        options = ["header = true", "auto_detect = false", "delim = ','", "quote = '\"'", "escape = '\"'"]
        options += ["new_line = '\\n'", "allow_quoted_nulls = false", f"nullstr = {_text_of(missing_of(table))}"]
        # What cannot be bound here is quoted.
        source = ", ".join((_text_of(str(rows)), f"columns = {{{typed}}}", *options))
        read = " ".join(("SELECT * FROM read_csv(", source, ")"))
        to = ["FORMAT PARQUET", "COMPRESSION ZSTD"]
        if table.shapes is not None:
            connection.execute("CREATE TABLE drawn (vbas_row BIGINT, geom BLOB)")
            connection.executemany("INSERT INTO drawn VALUES (?, ?)", list(enumerate(_wkb(table))))
            numbered = " ".join(("SELECT *, row_number() OVER () - 1 AS vbas_row FROM (", read, ")"))
            read = " ".join(
                ("SELECT r.* EXCLUDE (vbas_row), geom FROM (", numbered, ") AS r JOIN DRAWN USING (VBAS_ROW)")
            )
            read += " ORDER BY VBAS_ROW"
            to.append(f"KV_METADATA {{geo: {_text_of(_of_shapes(table))}}}")
        connection.execute(" ".join(("COPY (", read, ") TO", _text_of(str(file)), "(", ", ".join(to), ")")))


def _text_of(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
