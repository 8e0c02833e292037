"""Tables as analysts have them: files or frames of pandas. Codes such as “007” stay text."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from ..errors import InputError
from ..language import tr
from ..package.table import BOOLEAN
from ..records.sqlite_uri import sqlite_uri

if TYPE_CHECKING:
    import pandas as pd

TableInput = Union[str, Path, "pd.DataFrame"]
DESCRIPTION = "datapackage.json"  # beside the tables of a release that RELEASE_FOLDER has written
TOGETHER, OF_RELEASE = "release.gpkg", ("records", "crosswalk", "regions")  # which has these tables
SUFFIXES = (".csv", ".gpkg", ".parquet", ".geojson")
NUMBER = r"-?(?:0|[1-9]\d*)(?:\.\d+)?"  # written as a number is: no code such as 007


def table_of(table: TableInput, what: str, name: str = "") -> pd.DataFrame:
    """A table from a file or a frame.

    table : a path to a CSV file, GeoPackage, Parquet or GeoJSON file, or a frame of pandas or geopandas, which is taken
    as it is; what : its name in messages; name : of the table in a GeoPackage that has several
    Shapes are read where geopandas is there, and left out otherwise. Raises InputError for a file that is not there, or
    of another kind.
    """
    if not isinstance(table, (str, Path)):
        return table
    path = Path(table)
    if not path.is_file():
        raise InputError(tr("{what}: there is no file “{path}”.", what=what, path=str(path)))
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return _of_csv(path)
    if suffix == ".gpkg":
        return _of_geopackage(path, name)
    if suffix == ".parquet":
        return _of_parquet(path)
    if suffix in (".geojson", ".json", ".shp") and find_spec("geopandas"):
        import geopandas

        return geopandas.read_file(path)
    raise InputError(
        tr(
            "{what}: “{path}” cannot be read here: give a CSV, GeoPackage or Parquet file, or a frame of pandas.",
            what=what,
            path=str(path),
        )
    )


def found_in(folder: Path, name: str) -> Path:
    """The file of this name in a folder, whatever its kind, or that of all tables of a release.

    Raises InputError where there is none, or several.
    """
    there = [folder / f"{name}{suffix}" for suffix in SUFFIXES if (folder / f"{name}{suffix}").is_file()]
    if not there and name in OF_RELEASE and (folder / TOGETHER).is_file():
        return folder / TOGETHER
    if len(there) != 1:
        raise InputError(
            tr(
                "The folder “{folder}” must have one of {names}: it has {found}.",
                folder=str(folder),
                names=", ".join(f"{name}{suffix}" for suffix in SUFFIXES),
                found=", ".join(path.name for path in there) or tr("none of them"),
            )
        )
    return there[0]


def _of_csv(path: Path) -> pd.DataFrame:
    """By the description beside it, where there is one: in a table with empty texts another word stands for a gap."""
    import pandas as pd

    schema = _described(path)
    missing = [str(text) for text in schema.get("missingValues", [""])]
    texts = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=missing, encoding="utf-8-sig")
    table = texts.apply(_numbers_where_written_so)
    for field in schema.get("fields", []):
        if field["type"] == BOOLEAN and field["name"] in table.columns:
            truth = texts[field["name"]].map({"true": True, "false": False})
            table[field["name"]] = truth.astype(bool) if truth.notna().all() else truth
    return table


def _described(path: Path) -> dict[str, Any]:
    """The schema of a table of a release's folder; empty for a file that no description beside it names."""
    try:
        package = json.loads((path.parent / DESCRIPTION).read_text(encoding="utf-8"))
        schemas = [resource.get("schema", {}) for resource in package["resources"] if resource["path"] == path.name]
    except (OSError, LookupError, TypeError, ValueError):
        return {}
    return dict(schemas[-1]) if schemas else {}


def _numbers_where_written_so(column: pd.Series) -> pd.Series:
    import pandas as pd

    present = column.dropna()
    if not len(present) or not present.str.fullmatch(NUMBER).all():
        return column
    return pd.to_numeric(column)


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
            raise InputError(
                tr("“{path}” has the tables {tables}: give a file with one.", path=str(path), tables=", ".join(tables))
            )
        shapes = connection.execute("SELECT column_name FROM gpkg_geometry_columns WHERE table_name = ?", tables)
        geometry = [name for (name,) in shapes]
        if geometry and find_spec("geopandas"):
            import geopandas

            return geopandas.read_file(path, layer=tables[0])
        columns = connection.execute("SELECT name, pk FROM pragma_table_info(?)", tables).fetchall()
        names = [column for column, key in columns if not key and column not in geometry]
        statement = ("SELECT", ", ".join(map(_quoted, names)), "FROM", _quoted(tables[0]))
        return pd.read_sql_query(" ".join(statement), connection)


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _of_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    if find_spec("geopandas"):
        import geopandas

        try:
            return geopandas.read_parquet(path)
        except ValueError:  # without shapes
            pass
    return pd.read_parquet(path)
