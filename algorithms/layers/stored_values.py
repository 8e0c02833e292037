"""Values of an input that its fields cannot show: SQLite keeps any value in any column, text files any byte.

GDAL reads "abc" in an integer column as 0, 5.5 as 5, and text up to its first NUL character, without a word.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from osgeo import gdal
from qgis.core import QgsField, QgsFields, QgsProviderRegistry, QgsVectorLayer

from ...core.errors import InputError, first_values
from ..compat import kind_of
from .second_count import quoted

SHOWN = 5
BLOCK = 1 << 22
TEXT_FILES = ("CSV", "GeoJSON", "GeoJSONSeq", "GML", "KML")
SHORT = ("SMALLINT", "TINYINT")  # which GDAL reads with 16 bits
# When a stored value would be read as another one, by the kind of its field; {c} is the column. Missing values are
# never. To SQLite all numbers are less than all text, and all text is less than any blob: that is quicker than typeof.
DIGITS = "[0-9][0-9]"
DAY = f"{DIGITS}{DIGITS}[-/]{DIGITS}[-/]{DIGITS}"
NO_TEXT = "({c} < '' OR {c} >= x'')"
MISREAD = {
    "short": "({c} NOT BETWEEN -32768 AND 32767 OR typeof({c}) = 'real')",
    "integer": "({c} NOT BETWEEN -2147483648 AND 2147483647 OR typeof({c}) = 'real')",
    "long": "({c} >= '' OR typeof({c}) = 'real')",
    "bool": "({c} NOT IN (0, 1))",
    "real": "({c} >= '' OR typeof({c}) = 'integer' AND {c} NOT BETWEEN -9007199254740992 AND 9007199254740992)",
    "text": f"({NO_TEXT} OR instr({{c}}, char(0)) > 0)",
    "date": f"({NO_TEXT} OR {{c}} NOT GLOB '{DAY}')",
    # Beyond thousandths, seconds are cut.
    "datetime": f"({NO_TEXT} OR {{c}} NOT GLOB '{DAY}[T ]{DIGITS}:{DIGITS}*' OR {{c}} GLOB '*.???[0-9]*')",
}


def check_stored(layer: QgsVectorLayer | None, names: Iterable[str], parameter: str) -> None:
    """Refuse a file in which a field holds values that would be read as other ones.

    Looks at the whole table, into GeoPackages and other SQLite files, and for NUL characters into text files.
    Raises InputError that names the field and the first values.
    """
    if layer is None or layer.providerType() not in ("ogr", "spatialite", "delimitedtext"):
        return
    parts = QgsProviderRegistry.instance().decodeUri(layer.providerType(), layer.source())
    path = Path(str(parts.get("path") or ""))
    if not path.is_file():
        return
    with path.open("rb") as file:
        is_sqlite = file.read(16) == b"SQLite format 3\0"
    if is_sqlite:
        _check_columns(layer, path, str(parts.get("layerName") or ""), list(dict.fromkeys(names)), parameter)
    elif layer.providerType() == "delimitedtext" or layer.dataProvider().storageType() in TEXT_FILES:
        _check_bytes(path, parameter)


def _check_columns(layer: QgsVectorLayer, path: Path, table: str, names: list[str], parameter: str) -> None:
    fields = [one for name in names if (one := _provided(layer.fields(), name)) is not None]
    table = table or _first_table(path)
    try:
        with closing(_opened(path)) as connection:
            # SQLite takes a quoted name that is no column for text.
            there = dict(connection.execute("SELECT name, type FROM pragma_table_info(?)", (table,)).fetchall())
            known = [one for one in fields if one.name() in there]
            conditions = {one.name(): text for one in known if (text := _misread(one, there[one.name()]))}
            if not conditions or not _found(connection, "1", table, " OR ".join(conditions.values()), 1):
                return
            for name, condition in conditions.items():
                found = _found(connection, quoted(name), table, condition, SHOWN + 1)
                if found:
                    type_name = layer.fields().field(name).typeName()
                    raise InputError(
                        f"{parameter}: field “{name}” ({type_name}) of {path.name} holds values that are none of its "
                        f"type and would be read as other ones (first: {first_values(map(_shown, found), SHOWN)}): "
                        "correct them, or give the field the type of its values."
                    )
    except (sqlite3.Error, UnicodeError) as error:
        raise InputError(f"{parameter}: {path.name} cannot be read whole: {error}.") from error


def _opened(path: Path) -> sqlite3.Connection:
    """The file, to be read only; one with a write-ahead log on a medium without writing is taken as it stands."""
    uri = path.absolute().as_uri()
    connection = sqlite3.connect(f"{uri}?mode=ro", uri=True)
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        if "unable to open" not in str(error):
            raise
        return sqlite3.connect(f"{uri}?mode=ro&immutable=1", uri=True)
    return connection


def _found(connection: sqlite3.Connection, what: str, table: str, condition: str, limit: int) -> list[object]:
    # Names cannot be bound: SQLite itself has given them, and they are quoted.
    statement = " ".join(("SELECT", what, "FROM", quoted(table), "WHERE", condition, "LIMIT ?"))
    return [value for (value,) in connection.execute(statement, (limit,))]


def _misread(one: QgsField, declared: str) -> str:
    """The condition under which a value of this field would be read as another one; empty where none would."""
    kind = "short" if declared.upper() in SHORT else str(kind_of(one))
    return MISREAD.get(kind, "").replace("{c}", quoted(one.name()))


def _provided(fields: QgsFields, name: str) -> QgsField | None:
    index = fields.lookupField(name)
    provided = index >= 0 and fields.fieldOrigin(index) == QgsFields.FieldOrigin.OriginProvider
    return fields.at(index) if provided else None


def _first_table(path: Path) -> str:
    """The table that QGIS shows where none is named."""
    dataset = gdal.OpenEx(str(path), gdal.OF_VECTOR)
    return dataset.GetLayer(0).GetName() if dataset is not None and dataset.GetLayerCount() else ""


def _check_bytes(path: Path, parameter: str) -> None:
    with path.open("rb") as file:
        start = file.read(2)
        if start in (b"\xff\xfe", b"\xfe\xff"):  # UTF-16, where every other byte may be 0
            return
        file.seek(0)
        done = 0
        while block := file.read(BLOCK):
            if b"\0" in block:
                raise InputError(
                    f"{parameter}: {path.name} holds a NUL character at byte {done + block.index(0)}, where text would "
                    "be cut off: take it out."
                )
            done += len(block)


def _shown(value: object) -> object:
    return value.encode("unicode_escape").decode("ascii") if isinstance(value, str) else value
