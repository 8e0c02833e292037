"""Inputs and outputs read again by plain means: QGIS's features, Python's CSV reader, SQLite, Arrow."""

from __future__ import annotations

import csv
import re
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

from qgis.core import QgsProcessingUtils, QgsVectorLayer
from qgis.PyQt.QtCore import QDate, QDateTime, QTime, QVariant

# How QGIS writes them as text.
MOMENTS = {QDate: "yyyy-MM-dd", QTime: "HH:mm:ss", QDateTime: "yyyy-MM-ddTHH:mm:ss.zzz"}

PLAIN = {type(None), str, int, bool}

MOMENT = re.compile(r"^(?:(\d{4}[-/]\d\d[-/]\d\d)[T ])?(\d\d:\d\d:\d\d)(?:\.0*)?$")


def plain(value):
    """A value of a layer as Python has it; None for a missing one."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, QVariant):
        return None if value.isNull() else plain(value.value())
    for kind, written in MOMENTS.items():
        if isinstance(value, kind):
            return None if value.isNull() else value.toString(written)
    if isinstance(value, float) and value != value:
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


def typed(value):
    """The value with its type: 1, 1.0, “1” and True are four."""
    return type(value).__name__, value


def loose(value):
    """What two formats agree on: text that reads as a number is that number, no text is no value."""
    value = _without_mark(value)
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return 1.0 if value else 0.0
    text = {"true": "1", "True": "1", "false": "0", "False": "0"}.get(str(value), str(value))
    text = MOMENT.sub(r"\1 \2", text)
    try:
        number = float(text)
    except ValueError:
        return text.replace("/", "-")
    if number != number:
        return text
    if abs(number) < 2**53:
        return number
    told_by_digits = text.lstrip("-").isdecimal() and int(text) != number
    return text if told_by_digits else repr(number)  # 1e308, 1e+308 and its digits are one


def _without_mark(value):
    """Qt takes a byte order mark at the beginning of a text of a file away; the plugin's fast reader keeps it."""
    return value[1:] if isinstance(value, str) and value.startswith("\ufeff") else value


def rows_of(layer):
    """(names, rows) of a layer, its shapes apart."""
    return layer.fields().names(), [[plain(value) for value in feature.attributes()] for feature in layer.getFeatures()]


def rows_of_output(result, context):
    """(names, rows) of an output, wherever it is."""
    place, _, table = str(result).partition("|layername=")
    file = Path(place.partition("|")[0])
    if file.suffix.lower() == ".csv" and file.is_file():
        with file.open(encoding="utf-8", newline="") as lines:
            names, *rows = list(csv.reader(lines))
        return names, [row for row in rows if row]
    if file.suffix == ".gpkg" and file.is_file():
        return _rows_of_geopackage(file, table)
    if file.suffix == ".parquet" and file.is_file():
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(file)
        return table.column_names, [[plain(one) for one in row.values()] for row in table.to_pylist()]
    layer = QgsProcessingUtils.mapLayerFromString(str(result), context)
    if layer is None:
        layer = QgsVectorLayer(str(result), "output", "ogr")
    assert layer.isValid(), result
    names, rows = rows_of(layer)
    # A spreadsheet of nothing but text: GDAL does not see that its first row holds the names.
    return (rows[0], rows[1:]) if names and names[0] == "Field1" and file.suffix in (".xlsx", ".ods") else (names, rows)


def _rows_of_geopackage(file, table):
    """Of its only table, or of one that is named; from the file itself, whatever is in a journal beside it."""
    with closing(sqlite3.connect(f"{file.as_uri()}?immutable=1", uri=True)) as connection:
        rows = connection.execute("SELECT table_name FROM gpkg_contents WHERE table_name <> 'layer_styles'")
        ((table,),) = [row for row in rows.fetchall() if table in ("", row[0])]
        shapes = connection.execute("SELECT column_name FROM gpkg_geometry_columns WHERE table_name = ?", (table,))
        shape = [name for (name,) in shapes]
        columns = connection.execute("SELECT name, pk FROM pragma_table_info(?)", (table,)).fetchall()
        names = [name for name, key in columns if not key and name not in shape]
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        table = table.replace('"', '""')
        if not quoted:  # points alone
            return names, [[] for _ in connection.execute(f'SELECT 1 FROM "{table}"')]
        return names, [list(row) for row in connection.execute(f'SELECT {quoted} FROM "{table}"')]


def positions(names, wanted):
    """Where fields are, whatever the case of their letters where that tells them apart from nothing else."""
    lower = Counter(name.lower() for name in names)
    found = []
    for name in wanted:
        same = [i for i, one in enumerate(names) if one == name]
        near = [i for i, one in enumerate(names) if one.lower() == name.lower() and lower[one.lower()] == 1]
        found.append((same or near)[0])
    return found


def identity(value):
    """An identifier as the text that it is compared by."""
    value = _without_mark(plain(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return None if value is None or value == "" else MOMENT.sub(r"\1 \2", str(value))
