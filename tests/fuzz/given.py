"""What a case gives a form: plain data from which layers, files and places are made, so that it can be written down."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field, replace
from pathlib import Path

from osgeo import gdal
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransformContext,
    QgsFeature,
    QgsField,
    QgsGeometry,
    QgsVectorFileWriter,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QByteArray, QDate, QDateTime, QTime, QVariant

from vbas.algorithms.compat import field as make_field

DRIVERS = {"gpkg": "GPKG", "shp": "ESRI Shapefile", "geojson": "GeoJSON", "ods": "ODS"}
OTHERS = {
    "list": QVariant.Type.StringList,
    "binary": QVariant.Type.ByteArray,
    "time": QVariant.Type.Time,
    "moment": QVariant.Type.DateTime,
}


@dataclass(frozen=True)
class Table:
    """A layer: columns of (name, kind, values), and shapes as WKT or WKB, one a row.

    stored : memory, csv, latin-1 (a CSV file in that encoding), gpkg, shp, geojson, parquet
    selected : how many rows are selected, and only these given; None for all
    """

    columns: tuple = ()
    shapes: tuple | None = None
    geometry: str = "None"
    crs: str = "EPSG:26914"
    stored: str = "memory"
    selected: int | None = None

    def __len__(self):
        return len(self.columns[0][2]) if self.columns else len(self.shapes or ())

    @property
    def names(self):
        return [name for name, _, _ in self.columns]

    def values(self, name):
        return next((values for one, _, values in self.columns if one == name), [None] * len(self))

    def taken(self, rows):
        """The same with these rows alone."""
        columns = tuple((name, kind, [values[row] for row in rows]) for name, kind, values in self.columns)
        shapes = None if self.shapes is None else tuple(self.shapes[row] for row in rows)
        return replace(self, columns=columns, shapes=shapes)

    def without(self, name):
        """The same without a column."""
        return replace(self, columns=tuple(column for column in self.columns if column[0] != name))


@dataclass(frozen=True)
class Place:
    """Where an output goes: `text`, in which {folder} stands for the folder of the case; `before` what lies there."""

    text: str
    before: bytes | None = None


@dataclass(frozen=True)
class Case:
    """One run of a form; known : what its recount may know beside what is given, such as who lives where in truth."""

    algorithm: str
    parameters: dict = field(default_factory=dict)
    stop_at: float | None = None
    known: dict = field(default_factory=dict)


def layer_of(table, folder, name):
    """The layer that a table stands for; invalid where its file is no table. Files go into the folder."""
    if table.stored in ("csv", "latin-1"):
        return QgsVectorLayer(str(write_csv(table, folder / f"{name}.csv")), name, "ogr")
    has_json = any(kind == "json" for _, kind, _ in table.columns)
    if table.shapes is None and has_json and table.stored in ("gpkg", "geojson"):
        return QgsVectorLayer(str(_write_with_json(table, folder / f"{name}.{table.stored}")), name, "ogr")
    layer = _in_memory(table, name)
    if table.stored in DRIVERS:
        options = QgsVectorFileWriter.SaveVectorOptions()
        options.driverName = DRIVERS[table.stored]
        file = folder / f"{name}.{table.stored}"
        QgsVectorFileWriter.writeAsVectorFormatV2(layer, str(file), QgsCoordinateTransformContext(), options)
        return QgsVectorLayer(str(file if file.exists() else file.with_suffix(".dbf")), name, "ogr")
    if table.selected is not None:
        layer.selectByIds([feature.id() for feature in layer.getFeatures()][: table.selected])
    return layer


def write_csv(table, file):
    """The table as a CSV file, in its encoding."""
    encoding = "latin-1" if table.stored == "latin-1" else "utf-8"
    with Path(file).open("w", encoding=encoding, errors="replace", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(table.names)
        rows = zip(*(values for _, _, values in table.columns)) if table.columns else ()
        writer.writerows([["" if value is None else value for value in row] for row in rows])
    return file


def _write_with_json(table, file):
    """A table without shapes, whose fields of JSON stay what they are, as GDAL itself writes them."""
    rows = zip(*(values for _, _, values in table.columns)) if table.columns else ()
    told = [dict(zip(table.names, map(_in_json, row))) for row in rows]
    plain = file.with_suffix(".geojson")
    features = [{"type": "Feature", "geometry": None, "properties": row} for row in told]
    plain.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    if file != plain:
        gdal.VectorTranslate(str(file), str(plain), format=DRIVERS[table.stored], geometryType="NONE")
    return file


def _in_json(value):
    return value.hex() if isinstance(value, bytes) else None if isinstance(value, float) and value != value else value


def write_parquet(table, file):
    """The table as a Parquet file."""
    import pyarrow
    import pyarrow.parquet

    columns = {}
    for name, kind, values in table.columns:
        try:
            columns[name] = pyarrow.array(
                [_stored(value, kind) for value in values] if kind == "json" else list(values)
            )
        except pyarrow.ArrowException:
            # A column of Parquet has one type: what is mixed is kept as texts.
            columns[name] = pyarrow.array([None if value is None else str(value) for value in values])
    pyarrow.parquet.write_table(pyarrow.table(columns), file)
    return file


def _in_memory(table, name):
    layer = QgsVectorLayer("None" if table.shapes is None else table.geometry, name, "memory")
    if table.shapes is not None:
        layer.setCrs(QgsCoordinateReferenceSystem(table.crs) if table.crs else QgsCoordinateReferenceSystem())
    provider = layer.dataProvider()
    provider.addAttributes([_field(one, kind) for one, kind, _ in table.columns])
    layer.updateFields()
    kinds = [kind for _, kind, _ in table.columns]
    features = []
    for row in range(len(table)):
        feature = QgsFeature(layer.fields())
        feature.setAttributes([_stored(values[row], kind) for kind, (_, _, values) in zip(kinds, table.columns)])
        if table.shapes is not None and table.shapes[row] is not None:
            feature.setGeometry(geometry_of(table.shapes[row]))
        features.append(feature)
    provider.addFeatures(features)
    layer.updateExtents()
    return layer


def geometry_of(shape):
    """A geometry from WKT or WKB."""
    if isinstance(shape, str):
        return QgsGeometry.fromWkt(shape)
    geometry = QgsGeometry()
    geometry.fromWkb(shape)
    return geometry


def _field(name, kind):
    if kind == "json":  # memory keeps it as text
        kind = "text"
    return QgsField(name, OTHERS[kind]) if kind in OTHERS else make_field(name, kind)


def _stored(value, kind):
    if value is None:
        return None
    if kind == "json":
        return json.dumps(value)
    if kind == "date":
        return QDate.fromString(value, "yyyy-MM-dd")
    if kind == "binary":
        return QByteArray(value)
    if kind == "time":
        return QTime.fromString(value, "HH:mm:ss")
    if kind == "moment":
        return QDateTime.fromString(value, "yyyy-MM-ddTHH:mm:ss")
    return value
