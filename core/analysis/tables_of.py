"""Tables as analysts have them: files or frames of pandas. Codes such as “007” stay text."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Union

import numpy as np

from ..errors import InputError
from ..language import tr
from ..package.descriptor import FILE as DESCRIPTION
from ..package.descriptor import fields_of
from ..package.reading import NotAsDescribed, read_table
from ..package.table import DataTable
from ..records.columns import Column, column_from_values
from ..records.sqlite_file import quoted
from ..records.sqlite_uri import sqlite_uri

if TYPE_CHECKING:
    import pandas as pd

TableInput = Union[str, Path, "pd.DataFrame"]
TOGETHER, OF_RELEASE = "release.gpkg", ("records", "crosswalk", "regions")  # which has these tables
SUFFIXES = (".csv", ".gpkg", ".parquet", ".geojson")
NUMBER = r"-?(?:0|[1-9]\d{0,14})(?:\.\d+)?"  # written as a number is, with digits that one keeps: no code such as 007


def table_of(table: TableInput, what: str, name: str = "", codes: Sequence[str] | None = ()) -> pd.DataFrame:
    """A table from a file or a frame.

    table : a path to a CSV file, GeoPackage, Parquet or GeoJSON file, or a frame of pandas or geopandas, which is taken
    as it is; what : its name in messages; name : of the table in a GeoPackage that has several
    codes : fields of a CSV file that stay text, whatever they look like; None for all
    Shapes are read where geopandas is there, and left out otherwise. Raises InputError for a file that is not there, or
    of another kind.
    """
    if not isinstance(table, (str, Path)):
        return table
    path = Path(table)
    if not path.is_file():
        raise InputError.saying("{what}: there is no file “{path}”.", what=what, path=str(path))
    try:
        read = _of_file(path, name, codes)
    except (ValueError, RuntimeError, sqlite3.Error) as error:  # what these readers refuse
        raise InputError.saying(
            "{parameter}: “{path}” cannot be read: {error}", parameter=what, path=str(path), error=str(error)
        ) from error
    if read is not None:
        return read
    raise InputError.saying(
        "{what}: “{path}” cannot be read here: give a CSV, GeoPackage or Parquet file, or a frame of pandas.",
        what=what,
        path=str(path),
    )


def _of_file(path: Path, name: str, codes: Sequence[str] | None) -> pd.DataFrame | None:
    """A table of a file, None where nothing here reads its kind; arguments as for `table_of`."""
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return _of_csv(path, codes)
    if suffix == ".gpkg":
        return _of_geopackage(path, name)
    if suffix == ".parquet":
        return _of_parquet(path)
    if suffix in (".geojson", ".json", ".shp") and find_spec("geopandas"):
        import geopandas

        return geopandas.read_file(path)
    return None


def found_in(folder: Path, name: str) -> Path:
    """The file of this name in a folder, whatever its kind, or that of all tables of a release.

    Raises InputError where there is none, or several.
    """
    there = [folder / f"{name}{suffix}" for suffix in SUFFIXES if (folder / f"{name}{suffix}").is_file()]
    if not there and name in OF_RELEASE and (folder / TOGETHER).is_file():
        return folder / TOGETHER
    if len(there) != 1:
        raise InputError.saying(
            "The folder “{folder}” must have one of {names}: it has {found}.",
            folder=str(folder),
            names=", ".join(f"{name}{suffix}" for suffix in SUFFIXES),
            found=", ".join(path.name for path in there) or tr("none of them"),
        )
    return there[0]


def described_table(table: TableInput, name: str) -> DataTable | None:
    """A table of a release's folder, read by the description beside it; None for one that is not described there.

    Raises InputError where it holds something else than its description says.
    """
    if not isinstance(table, (str, Path)):
        return None
    path = Path(table)
    try:
        package = json.loads((path.parent / DESCRIPTION).read_text(encoding="utf-8"))
        named = [resource for resource in package["resources"] if resource["name"] == name]
        (schema,) = (resource["schema"] for resource in named if resource["path"] == path.name)
        missing = [*map(str, schema["missingValues"]), ""][0]
    except (OSError, LookupError, TypeError, ValueError):
        return None
    try:
        return read_table(path, name, fields_of({"schema": schema}), missing)
    except (NotAsDescribed, OSError, sqlite3.Error, csv.Error) as error:
        raise InputError.saying(
            "“{table}” is not what its schema says: {error}.", table=name, error=str(error)
        ) from error


def rows_of(table: DataTable) -> dict[str, Column]:
    """The fields of a described table by their names, values in their order, each row as often as it stands there."""
    row = np.repeat(np.arange(len(table.copies), dtype=np.int64), table.copies)
    columns = zip(table.names, table.columns)
    return {name: column_from_values(column.categories).at(column.codes[row]) for name, column in columns}


def frame_of(fields: dict[str, Column]) -> pd.DataFrame:
    """Columns as a frame, of the types that pandas gives their values."""
    import pandas as pd

    return pd.DataFrame({name: column.categories[column.codes].tolist() for name, column in fields.items()})


def with_numbers(frame: pd.DataFrame, codes: Sequence[str] = ()) -> pd.DataFrame:
    """The frame with texts as numbers where all of a field are written as such; codes : fields that stay text."""
    texts = [name for name in frame.columns if name not in codes and _is_text(frame[name])]
    return frame.assign(**{name: numbers_where_written_so(frame[name]) for name in texts})


def _is_text(column: pd.Series) -> bool:
    return all(isinstance(value, str) for value in column.dropna().unique())


def _of_csv(path: Path, codes: Sequence[str] | None) -> pd.DataFrame:
    import pandas as pd

    texts = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""], encoding="utf-8-sig")
    return texts if codes is None else with_numbers(texts, codes)


def numbers_where_written_so(column: pd.Series) -> pd.Series:
    """Texts as numbers, if all are written as numbers are and no two of them would be the same one, as “1.5” and
    “1.50” would."""
    import pandas as pd

    present = column.dropna()
    if not len(present) or not present.str.fullmatch(NUMBER).all():
        return column
    numbers = pd.to_numeric(column)
    return numbers if numbers.nunique() == present.nunique() else column


def _of_geopackage(path: Path, name: str) -> pd.DataFrame:
    import pandas as pd

    with closing(sqlite3.connect(sqlite_uri(path.resolve(), "mode=ro"), uri=True)) as connection:
        tables = [
            table
            for (table,) in connection.execute("SELECT table_name FROM gpkg_contents")
            if not table.startswith("layer_styles")
        ]
        tables = [name] if name in tables else tables
        if len(tables) != 1:
            raise InputError.saying(
                "“{path}” has the tables {tables}: give a file with one.", path=str(path), tables=", ".join(tables)
            )
        shapes = connection.execute("SELECT column_name FROM gpkg_geometry_columns WHERE table_name = ?", tables)
        geometry = [name for (name,) in shapes]
        if geometry and find_spec("geopandas"):
            import geopandas

            return geopandas.read_file(path, layer=tables[0])
        columns = connection.execute("SELECT name, pk FROM pragma_table_info(?)", tables).fetchall()
        names = [column for column, key in columns if not key and column not in geometry]
        statement = ("SELECT", ", ".join(map(quoted, names)), "FROM", quoted(tables[0]))
        return pd.read_sql_query(" ".join(statement), connection)


def _of_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    if find_spec("geopandas"):
        import geopandas

        try:
            return geopandas.read_parquet(path)
        except ValueError:  # without shapes
            pass
    return pd.read_parquet(path)
