"""Files as one table of DuckDB: by the names of their fields, and only where all of them mean the same by these."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import sqlglot as sg
import sqlglot.expressions as sge

from ..dataclass import dataclass
from ..errors import InputError
from .duckdb_files import ending

LONGEST_LINE = 64 * 2**20  # bytes of a row of a CSV file, and of what is read of it at a time
PARQUET = (".parquet", ".pq")
HOLDS_NOTHING = ('"NULL"', "NULL")  # the type of a field without any value
# One row for each way in which the fields of Parquet files are declared: a file that does so.
EVERY_SCHEMA = """SELECT min(file_name) FROM (
    SELECT file_name, list(concat_ws(chr(9), name, type, type_length, num_children, converted_type, scale, precision,
    logical_type) ORDER BY name, type) AS declared FROM parquet_schema(?) GROUP BY file_name
) GROUP BY declared ORDER BY 1"""


@dataclass(frozen=True)
class FilesTable:
    """Files as one table.

    rows : as a relation of DuckDB; unlike : of files that differ, one for each way, with its fields and their types
    """

    rows: Any
    unlike: Mapping[str, Mapping[str, str]]


def table_of_files(connection: Any, files: Sequence[Path], place: str) -> FilesTable:
    """Files of one kind as a table of DuckDB.

    Values of CSV files are the text that they are, an empty quoted one included. Where the names of folders in a place,
    the one that the user gave, say `field=value`, these are fields of text. Raises InputError where they do not do so
    in one way, and for a CSV file whose lines are not of one length.
    """
    paths, of_folders = [str(path) for path in files], _fields_of_folders(files, place)
    if ending(files[0]) in PARQUET:
        return _of_parquet(connection, paths, of_folders)
    each = {path: _of_csv(connection, [path]) for path in paths}
    fields_of = {path: _fields(rows) for path, rows in each.items()}
    for path, fields in fields_of.items():
        if len(fields) == 1 and re.search(r"[,;|\t]", next(iter(fields))):
            raise InputError.saying(
                "CONNECTION: some lines of “{path}” have more or fewer values than its first line has names, or a "
                "quote that does not end: correct them.",
                path=path,
            )
    if len(each) == 1 and not of_folders:
        return FilesTable(each[paths[0]], {})
    _add_fields_of_folders(fields_of, of_folders)
    return FilesTable(_of_csv(connection, paths, union_by_name=True, hive_partitioning=bool(of_folders)), fields_of)


def refuse_unlike(unlike: Mapping[str, Mapping[str, str]], names: Iterable[str]) -> None:
    """Raise InputError for a field that one of the files lacks, or holds in another type; whole numbers are one type.

    unlike : as in `FilesTable`; names : of the fields that are needed
    """
    for name in names:
        types = {path: _kind_of(fields, name) for path, fields in unlike.items()}
        for path, kind in types.items():
            if kind is None:
                raise InputError.saying(
                    "CONNECTION: the file “{path}” has no field “{field}”, which others have: name only files that "
                    "have it, or write them alike.",
                    path=path,
                    field=name,
                )
        held = {kind: path for path, kind in types.items() if kind not in HOLDS_NOTHING}
        if len({"INTEGER" if str(kind).endswith(("INT", "INTEGER")) else kind for kind in held}) > 1:
            (kind, path), (other_kind, other), *_ = held.items()
            raise InputError.saying(
                "CONNECTION: the field “{field}” is {kind} in the file “{path}” and {other_kind} in “{other}”: write "
                "both with one type, so that no value is changed.",
                field=name,
                kind=kind,
                path=path,
                other_kind=other_kind,
                other=other,
            )


def _kind_of(fields: Mapping[str, str], name: str) -> str | None:
    """The type of a field, whose name DuckDB takes in capital and small letters alike."""
    return next((kind for field, kind in fields.items() if field.lower() == name.lower()), None)


def _fields(rows: Any) -> dict[str, str]:
    return {name: str(kind) for name, kind in zip(rows.columns, rows.types)}


def _of_csv(connection: Any, paths: list[str], hive_partitioning: bool = False, **options: Any) -> Any:
    return connection.read_csv(
        list(map(glob.escape, paths)),  # DuckDB takes a path for a pattern: people[1].csv would be people1.csv
        header=True,
        all_varchar=True,
        allow_quoted_nulls=False,
        quotechar='"',
        escapechar='"',
        max_line_size=LONGEST_LINE,
        buffer_size=LONGEST_LINE,  # else sixteen times as much, which does not fit into the memory
        hive_partitioning=hive_partitioning,  # by itself DuckDB takes what a folder says for what the lines say
        hive_types_autocast=False,
        **options,
    )


def _of_parquet(connection: Any, paths: Sequence[str], of_folders: Sequence[str]) -> FilesTable:
    if len(paths) == 1 and not of_folders:
        return FilesTable(_rows(connection, paths), {})
    different = [path for (path,) in connection.execute(EVERY_SCHEMA, [list(map(glob.escape, paths))]).fetchall()]
    fields_of = {path: _fields(_rows(connection, [path])) for path in different}
    _add_fields_of_folders(fields_of, of_folders)
    rows = _rows(connection, paths, union_by_name=len(different) > 1, by_folders=bool(of_folders))
    return FilesTable(rows, fields_of if len(different) > 1 else {})


def _add_fields_of_folders(fields_of: Mapping[str, dict[str, str]], of_folders: Sequence[str]) -> None:
    """Add these to the fields of each file. Raises InputError where a file has one of that name."""
    for path, fields in fields_of.items():
        for name in of_folders:
            if _kind_of(fields, name) is not None:
                raise InputError.saying(
                    "CONNECTION: the field “{field}” is in the file “{path}” and in the name of its folder, "
                    "“{field}=…”: rename one of them.",
                    field=name,
                    path=path,
                )
        fields.update(dict.fromkeys(of_folders, "VARCHAR"))


def _rows(connection: Any, paths: Sequence[str], union_by_name: bool = False, by_folders: bool = False) -> Any:
    """Parquet files as a relation; what names of folders say stays text, as in area=007."""
    options = {"union_by_name": union_by_name, "hive_partitioning": by_folders, "hive_types_autocast": False}
    named = [sge.EQ(this=sg.column(name), expression=sge.convert(value)) for name, value in options.items()]
    files = sge.Array(expressions=[sge.Literal.string(glob.escape(path)) for path in paths])
    read = sge.Anonymous(this="read_parquet", expressions=[files, *named])
    return connection.sql(sg.select("*").from_(read).sql("duckdb"))


def _fields_of_folders(files: Sequence[Path], place: str) -> tuple[str, ...]:
    """The fields that names of folders in a place say, as in area=007/age=65+; they must be the same of all files."""
    above = len(list(takewhile(lambda part: "*" not in part, Path(place).parts)))
    fields = {path: tuple(part.partition("=")[0] for part in path.parts[above:-1] if "=" in part) for path in files}
    ways = {names: path for path, names in fields.items()}
    if len(ways) > 1:
        first, second, *_ = ways.values()
        raise InputError.saying(
            "CONNECTION: the folders of “{first}” name other fields than those of “{second}”: choose a folder in which "
            "all say the same.",
            first=first,
            second=second,
        )
    return next(iter(ways))
