"""Tables of a job in files, as the toolbox reads them: GeoPackage, CSV, Parquet, and what geopandas reads."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property
from itertools import chain, count, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import objects
from ..errors import InputError
from ..installing import is_there
from ..job.values import some
from ..library.frames import ArrowFrame, Frame, OwnFrame, PandasFrame, free_name, plain_value
from ..progress import silent
from ..records import sqlite_file
from ..records.columns import Column, ColumnBuilder, column_from_values
from ..records.csv_columns import read_plain_csv, separator_of
from ..records.plain_files import LONGEST_ROW, scan_csv
from ..records.sqlite_columns import read_table
from ..records.table_file import DECLARED, TableFile, altered_values, check_rows, held, state_of, unread_as_it_is

LAYER = "|layername="
TABBED = ".tsv"
NEWER_DEFINITION, UNDEFINED = "definition_12_063", "undefined"  # of a reference system, in a GeoPackage
STYLES = "layer_styles"  # how the table is called in which QGIS keeps how layers look
NO_FORMAT = "not recognized as being in a supported file format"  # GDAL's words
ROWS_AT_ONCE = 1 << 16
KINDS = {name: kind for kind, names in DECLARED.items() for name in names}


def _yes_or_no(value: object) -> bool:
    """A value of SQLite as one of a yes/no field. Raises ValueError for what is neither 0 nor 1."""
    if value not in (0, 1):
        raise ValueError(value)
    return bool(value)


# How QGIS shows what SQLite has no type for.
SHOWN: Mapping[str, Callable[[object], object]] = {
    "BOOLEAN": _yes_or_no,
    "DATE": lambda value: date.fromisoformat(str(value)),
    "DATETIME": lambda value: plain_value(datetime.fromisoformat(str(value).replace("Z", "+00:00"))),
}
# What a type of a field in a file, as numpy writes it, is for a look at its values in SQLite.
KINDS_OF_TYPES = {
    "int16": sqlite_file.SHORT,
    "int32": sqlite_file.INTEGER,
    "int64": sqlite_file.LONG,
    "float64": sqlite_file.REAL,
    "bool": sqlite_file.BOOLEAN,
    "datetime64[D]": sqlite_file.DATE,
    "datetime64[ms]": sqlite_file.TIME,
    "object": sqlite_file.TEXT,
}
DBASE = (".dbf", ".shp")
UNDECLARED = (".geojson", ".json", ".geojsonl", ".topojson")
HEADER, ENVELOPES = 8, (0, 32, 48, 48, 64)  # bytes of a shape in a GeoPackage before it, by what it says of its bounds


def table_of_source(source: str, beside: Path, parameter: str) -> Frame:
    """A table as a job names it. Raises InputError where it cannot be read.

    source : the path of a file, with “|layername=…” where it has several tables; beside : the folder that paths start
    from; parameter : the name of the setting, for messages
    """
    _, _, rest = source.partition("|")
    layer = rest[len(LAYER) - 1 :] if rest.startswith(LAYER[1:]) else ""
    if (rest and not layer) or "|" in layer:
        raise InputError.saying(
            "{parameter}: “{source}” is more than a file and a table: save what it shows to a file, and give that.",
            parameter=parameter,
            source=source,
        )
    path = path_of_source(source, beside)
    if path.is_dir():
        raise InputError.saying(
            "{what}: “{path}” is a folder: save the table as a GeoPackage or CSV file, and give that.",
            what=parameter,
            path=str(path),
        )
    if not path.is_file():
        raise InputError.saying("{what}: there is no file “{path}”.", what=parameter, path=str(path))
    suffix = path.suffix.lower()
    if suffix == ".gpkg":
        return GeoPackageFrame(path, layer, parameter)
    if suffix in (".csv", TABBED):
        try:
            return CsvFrame(path, parameter)
        except OSError as error:
            raise InputError(sqlite_file.unreadable(path, parameter, str(error.strerror))) from error
    if is_there("pyarrow" if suffix == ".parquet" else "geopandas"):
        try:
            return _of_others(path, layer, parameter)
        except (OSError, RuntimeError, ValueError) as error:  # what these readers refuse
            if NO_FORMAT in str(error):  # and then GDAL's own advice, which a job cannot follow
                raise InputError.saying(
                    "{parameter}: “{path}” is in no format that is known here: save it as a GeoPackage or CSV file, "
                    "unpacked and with the ending of its format, and give that.",
                    parameter=parameter,
                    path=str(path),
                ) from error
            raise InputError.saying(
                "{parameter}: “{path}” cannot be read: {error}", parameter=parameter, path=str(path), error=str(error)
            ) from error
    raise InputError.saying(
        "{parameter}: “{path}” cannot be read here: give a GeoPackage or a CSV file, or install pyarrow for Parquet "
        "and geopandas for other formats.",
        parameter=parameter,
        path=str(path),
    )


def path_of_source(source: str, beside: Path) -> Path:
    """The file that a source names; arguments as for `table_of_source`."""
    return beside / Path(source.partition("|")[0]).expanduser()


def _of_others(path: Path, layer: str, parameter: str) -> Frame:
    """A table by the reader of another package."""
    if path.suffix.lower() == ".parquet":
        from pyarrow import parquet

        # As it is: of two fields of one name, `read_table` would say so in words of its own.
        with parquet.ParquetFile(path) as file:
            return ArrowFrame(file.read(), parameter)
    return _of_geopandas(path, layer, parameter)


def _of_geopandas(path: Path, layer: str, parameter: str) -> GeopandasFrame:
    """A table that geopandas reads. Raises InputError where it cannot be read as it is."""
    import geopandas

    declared: dict[str, str] = {}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        if is_there("pyogrio"):
            import pyogrio

            layer = layer or _only_table(path, [name for name, _ in pyogrio.list_layers(path)], parameter)
            information = pyogrio.read_info(path, layer=layer)
            declared = dict(zip(information["fields"], map(str, information["dtypes"])))
        with held(TableFile(path, layer, [], [], {}), parameter) as content:
            frame = geopandas.read_file(path, **({"layer": layer} if layer else {}))
    altered = altered_values(str(warning.message) for warning in said)
    if altered and not sqlite_file.is_sqlite(path):  # of which each field is looked at that is asked for
        raise unread_as_it_is(parameter, altered)
    check_rows(len(frame), content.n_rows, parameter)
    return GeopandasFrame(frame, path, layer, declared, parameter)


def _only_table(path: Path, there: Sequence[str], parameter: str) -> str:
    """The table of a file that holds one. Raises InputError."""
    tables = [name for name in there if name != STYLES]
    if not tables:
        raise InputError.saying(
            "{parameter}: no table is found in {name}: name one as {name}{layer}TABLE, or save it as a GeoPackage or "
            "CSV file.",
            parameter=parameter,
            name=path.name,
            layer=LAYER,
        )
    if len(tables) > 1:
        raise _which_table(path, tables, parameter)
    return tables[0]


def _which_table(path: Path, tables: Sequence[str], parameter: str) -> InputError:
    """What is said where a file has several tables, or not the one that is asked for."""
    return InputError.counting(
        "{parameter}: {name} has the table {tables}: name it as {name}{layer}TABLE, or the file alone.",
        "{parameter}: {name} has the tables {tables}: name one of them as {name}{layer}TABLE.",
        len(tables),
        parameter=parameter,
        name=path.name,
        tables=some(tables),
        layer=LAYER,
    )


class GeopandasFrame(PandasFrame):
    """A table as geopandas read it: its fields are made what the file declares, and looked at, as they are asked for.

    table : its name in the file; declared : the type of each field in the file, as numpy writes it
    """

    def __init__(self, frame: Any, path: Path, table: str, declared: Mapping[str, str], parameter: str) -> None:
        super().__init__(frame, parameter)
        self._path, self._table, self._declared = path, table, declared

    def _series(self, name: str) -> Any:
        if name in self._declared and (self._path.suffix.lower() in DBASE or sqlite_file.is_sqlite(self._path)):
            kind = KINDS_OF_TYPES.get(self._declared[name])
            kinds = {} if kind is None else {name: kind}
            with held(TableFile(self._path, self._table, self.names, [name], kinds), self.what):
                pass  # numbers that GDAL rounds, cuts or takes for 0, as texts among them, are refused
        return _as_declared(super()._series(name), self._declared.get(name, ""), name, self._path, self.what)


def _as_declared(values: Any, kind: str, name: str, path: Path, parameter: str) -> Any:
    """A field with the values that its file has: where one is missing, pandas takes whole numbers and booleans for
    real numbers, and dates for times.

    values : series of pandas; kind : the type of the field in the file, as numpy writes it, empty where that is not
    known. Raises InputError for whole numbers that no real number holds.
    """
    if kind == "datetime64[D]" and hasattr(values, "dt"):
        return values.dt.date.astype(object).where(values.notna(), None)
    if values.dtype.kind != "f" or not kind:
        return values
    if kind == "bool":
        return values.astype("boolean")
    # GeoJSON declares nothing: where one number is large enough, GDAL takes whole ones for real ones.
    as_it_is = "float" in kind
    if as_it_is and (path.suffix.lower() not in UNDECLARED or (values.dropna() % 1 != 0).any()):
        return values
    largest = values.abs().max()
    if largest >= 2**53:
        raise InputError.saying(
            "{parameter}: field “{name}” has whole numbers of {n} digits, of which the last ones are lost where this "
            "format is read: save the table as a GeoPackage or CSV file.",
            parameter=parameter,
            name=name,
            n=len(str(int(largest))),
        )
    return values if as_it_is else values.astype("Int64")


class FileFrame(OwnFrame):
    """A table whose fields are read once they are asked for, of a file that must stay as it is until then."""

    def __init__(self, path: Path, parameter: str) -> None:
        self._path, self._parameter = path, parameter
        self._before = self._state()

    def column(self, name: str) -> Column:
        """A field as codes and categories."""
        return self.columns([name])[name]

    def _state(self) -> tuple[object, ...]:
        return (*state_of(self._path), sqlite_file.log_size(self._path))

    def _check_unchanged(self) -> None:
        """Raises InputError where fields that were read may be of other rows than those that were read before."""
        if self._state() != self._before:
            raise InputError.saying(
                "{parameter}: {name} was changed by another program while it was read: run again when that has ended.",
                parameter=self._parameter,
                name=self._path.name,
            )


class GeoPackageFrame(FileFrame):
    """A table of a GeoPackage."""

    def __init__(self, path: Path, table: str, parameter: str) -> None:
        super().__init__(path, parameter)
        with sqlite_file.reading(path, parameter) as connection:
            names = connection.execute("SELECT table_name FROM gpkg_contents ORDER BY rowid")
            there = [name for (name,) in names if name != STYLES]
            if table and table not in there:
                raise _which_table(path, there, parameter)
            self._table = table or _only_table(path, there, parameter)
            asked = (self._table,)
            shapes = connection.execute(
                "SELECT g.column_name, s.* FROM gpkg_geometry_columns AS g "
                "LEFT JOIN gpkg_spatial_ref_sys AS s ON s.srs_id = g.srs_id WHERE g.table_name = ?",
                asked,
            )
            described = dict(zip((column for column, *_ in shapes.description), shapes.fetchone() or ()))
            columns = connection.execute("SELECT name, type, pk FROM pragma_table_info(?)", asked).fetchall()
        self._shape = str(described.get("column_name") or "")
        self._types = {
            name: kind.upper().partition("(")[0] for name, kind, key in columns if name != self._shape and not key
        }
        self._key = {name for name, _, key in columns if key}
        self.names = [name for name, _, _ in columns if name != self._shape]
        self._types.update(dict.fromkeys(self._key, "INTEGER"))
        if self._shape:
            self.geometry = free_name(self.names)
            self.names.append(self.geometry)
            self.crs = _crs(described)

    def columns(self, names: Sequence[str]) -> Mapping[str, Column]:
        """Several fields."""
        plain = {name: KINDS[self._types[name]] for name in names if self._types[name] in KINDS}
        read = read_table(self._path, self._table, plain, self._parameter, silent) if plain else {}
        columns = {name: read[name] if name in read else self._converted(name) for name in names}
        self._check_unchanged()
        return columns

    def array(self, name: str) -> np.ndarray:
        """The values of a field; the shapes as WKB."""
        if name != self.geometry or not self._shape:
            return super().array(name)
        return objects(self._shapes)

    @cached_property
    def _shapes(self) -> list[bytes | None]:
        shapes = [None if blob is None else _wkb(blob) for blob in self._values(self._shape)]
        self._check_unchanged()
        return shapes

    def _converted(self, name: str) -> Column:
        """A field of a type that SQLite does not have, as QGIS shows it."""
        show = SHOWN.get(self._types[name], lambda value: value)
        values = self._values(name)
        try:
            shown = {value: None if value is None else show(value) for value in set(values)}
        except (ValueError, TypeError) as error:
            raise InputError.saying(
                "{parameter}: “{field}” has a value that is none of its type: {error}.",
                parameter=self._parameter,
                field=name,
                error=str(error),
            ) from error
        return column_from_values([shown[value] for value in values])

    def _values(self, name: str) -> list[object]:
        with sqlite_file.reading(self._path, self._parameter) as connection:
            return [value for (value,) in sqlite_file.rows_in_order(connection, self._table, [name])]


class CsvFrame(FileFrame):
    """A CSV file, as QGIS reads it where nothing declares its types: every value is text, a missing one is empty."""

    def __init__(self, path: Path, parameter: str) -> None:
        super().__init__(path, parameter)
        self._n_rows = max(scan_csv(path, parameter).n_rows - 1, 0)
        self.names = []
        for name in next(self._rows(), []):
            # Of two fields of one name QGIS calls the second otherwise, as DuckDB does.
            names = chain([name], (f"{name}_{number}" for number in count(1)))
            self.names.append(next(free for free in names if free not in self.names))

    def columns(self, names: Sequence[str]) -> Mapping[str, Column]:
        """Several fields, in one reading."""
        different = list(dict.fromkeys(names))
        described = TableFile(self._path, "", self.names, different, dict.fromkeys(different, sqlite_file.TEXT))
        plain = read_plain_csv(described, self._n_rows)
        columns = self._by_rows(different) if plain is None else plain
        self._check_unchanged()
        return columns

    def _by_rows(self, different: Sequence[str]) -> dict[str, Column]:
        builders = [ColumnBuilder() for _ in different]
        positions = [self.names.index(name) for name in different]
        rows = self._rows()
        next(rows, None)
        while chunk := [row for row in islice(rows, ROWS_AT_ONCE) if row]:
            if set(map(len, chunk)) - {len(self.names)}:
                raise InputError.saying(
                    "{parameter}: {name} has rows with more or fewer values than fields.",
                    parameter=self._parameter,
                    name=self._path.name,
                )
            for builder, position in zip(builders, positions):
                builder.add_texts(_with_newlines(list(map(itemgetter(position), chunk))))
        return {name: builder.column() for name, builder in zip(different, builders)}

    def _rows(self) -> Iterator[list[str]]:
        try:
            with self._path.open(encoding="utf-8-sig", newline="") as file:
                header = file.readline(LONGEST_ROW)
                tabbed = self._path.suffix.lower() == TABBED and "\t" in header
                separator = "\t" if tabbed else separator_of(header)
                file.seek(0)
                yield from csv.reader(file, delimiter=separator, strict=True)
        except UnicodeDecodeError as error:
            raise InputError.saying(
                "{parameter}: {name} is in another encoding than UTF-8: save it as CSV in UTF-8.",
                parameter=self._parameter,
                name=self._path.name,
            ) from error
        except csv.Error as error:
            raise InputError.saying(
                "{parameter}: {name} is no CSV file ({error}): save it as one.",
                parameter=self._parameter,
                name=self._path.name,
                error=str(error),
            ) from error


def _with_newlines(texts: list[str]) -> list[str]:
    """Texts of several lines as GDAL reads them, whatever ends their lines in the file."""
    if not any("\r" in text for text in texts):
        return texts
    return [text.replace("\r\n", "\n").replace("\r", "\n") for text in texts]


def _crs(described: Mapping[str, Any]) -> object:
    """A reference system, as a GeoPackage describes it, as pyproj takes it; None where the file says none."""
    organization, number = described["organization"], described["organization_coordsys_id"]
    if organization is None or number is None or number <= 0:
        return None
    if organization.upper() == "EPSG":
        return f"{organization}:{number}"
    # What cannot be said in the older words, such as a turned pole, is said in the newer ones alone.
    newer = described.get(NEWER_DEFINITION)
    return newer if described["definition"] == UNDEFINED and newer else described["definition"]


def _wkb(blob: object) -> bytes | None:
    """The shape in a value of a GeoPackage, None where it is empty."""
    if not isinstance(blob, bytes) or blob[:2] != b"GP":
        return b""
    flags = blob[3]
    start = HEADER + ENVELOPES[min((flags >> 1) & 7, 4)]
    return None if flags & 16 else blob[start:]
