"""Rows into files and sinks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import chain
from pathlib import Path

import shapely
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransformContext,
    QgsFeature,
    QgsFeatureSink,
    QgsGeometry,
    QgsProcessingAlgorithm,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsVectorFileWriter,
)

from ...core.errors import InputError, VbasError
from ..compat import is_text
from .feedback import check_cancelled
from .tables import GEOMETRY_TYPES, Table

VALUES_AT_ONCE = 999  # that every SQLite can bind


def write_file(file: Path, table: Table, title: str, feedback: QgsProcessingFeedback) -> None:
    """Write a new file in the format of its extension. Raises InputError for an unknown one, VbasError if it fails."""
    fields = table.qgs_fields
    options = QgsVectorFileWriter.SaveVectorOptions()
    options.driverName = QgsVectorFileWriter.driverForExtension(file.suffix.lstrip("."))
    if not options.driverName:
        raise InputError(f"“{file.suffix}” is no format that QGIS writes: use .gpkg, .csv or another known extension.")
    options.layerName = file.stem
    if options.driverName == "GPKG":
        used = {name.lower() for name in fields.names()}
        row_id = next(name for name in ("fid", "row_id", "vbas_row_id") if name not in used)
        options.layerOptions = [f"FID={row_id}", f"IDENTIFIER={title}", f"DESCRIPTION={title}"]
    writer = QgsVectorFileWriter.create(
        str(file),
        fields,
        GEOMETRY_TYPES[table.geometry],
        table.crs or QgsCoordinateReferenceSystem(),
        QgsCoordinateTransformContext(),
        options,
    )
    if writer.hasError() != QgsVectorFileWriter.WriterError.NoError:
        raise VbasError(f"{file.name} cannot be written: {writer.errorMessage()}.")
    in_bulk = options.driverName == "GPKG" and table.geometry == "none" and _plain(table)
    if not in_bulk:
        _fill(writer, table, feedback)
    failed, message = writer.hasError() != QgsVectorFileWriter.WriterError.NoError, writer.errorMessage()
    del writer  # closes the file
    if failed:
        raise VbasError(f"{file.name} cannot be written: {message}.")
    if in_bulk:
        _fill_geopackage(file, table, feedback)


def fill_sink(
    algorithm: QgsProcessingAlgorithm,
    parameters: dict[str, object],
    name: str,
    table: Table,
    context: QgsProcessingContext,
    feedback: QgsProcessingFeedback,
) -> tuple[QgsFeatureSink | None, str]:
    """Write into whatever QGIS makes of an output: a layer in memory, a table in a database."""
    sink, identifier = algorithm.parameterAsSink(
        parameters,
        name,
        context,
        table.qgs_fields,
        GEOMETRY_TYPES[table.geometry],
        table.crs or QgsCoordinateReferenceSystem(),
    )
    if sink is not None:
        _fill(sink, table, feedback)
        sink.flushBuffer()
    return sink, identifier


def _fill(sink: QgsFeatureSink, table: Table, feedback: QgsProcessingFeedback) -> None:
    feature = QgsFeature(table.qgs_fields)
    wkbs = None if table.shapes is None else shapely.to_wkb(_multi(table))
    for start, rows in table.chunks():
        check_cancelled(feedback)
        for i, row in enumerate(rows):
            feature.setAttributes(list(row))
            if wkbs is not None:
                geometry = QgsGeometry()
                if wkbs[start + i] is not None:
                    geometry.fromWkb(wkbs[start + i])
                feature.setGeometry(geometry)
            if not sink.addFeature(feature, QgsFeatureSink.Flag.FastInsert):
                raise VbasError(f"Row {start + i + 1} could not be written: {sink.lastError()}.")


def _multi(table: Table) -> list[shapely.Geometry]:
    if table.geometry != "polygons":
        return list(table.shapes)
    return [
        shape if shape.geom_type == "MultiPolygon" else shapely.multipolygons([shape] if not shape.is_empty else [])
        for shape in table.shapes
    ]


def _plain(table: Table) -> bool:
    """Whether all values are numbers or text, which SQLite takes as they are."""
    return all(field.isNumeric() or is_text(field) for field in table.fields)


def _fill_geopackage(file: Path, table: Table, feedback: QgsProcessingFeedback) -> None:
    """Rows into the table that OGR made: several times as fast as features.

    The file is new and nobody reads it yet: what fails is thrown away, and needs no journal. OGR counts the rows in a
    trigger that takes longer than the row itself; the count is set once instead.
    """
    n_fields = len(table.fields)
    width = max(VALUES_AT_ONCE // max(n_fields, 1), 1)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        triggers = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?", (file.stem,)
        ).fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {_quoted(name)}")
        for _, rows in table.chunks():
            check_cancelled(feedback)
            whole = len(rows) - len(rows) % width
            several = (list(chain.from_iterable(rows[i : i + width])) for i in range(0, whole, width))
            connection.executemany(_insertion(file.stem, table, width), several)
            connection.executemany(_insertion(file.stem, table, 1), rows[whole:])
        for _, statement in triggers:
            connection.execute(statement)
        if triggers:
            connection.execute(
                "UPDATE gpkg_ogr_contents SET feature_count = ? WHERE table_name = ?", (len(table), file.stem)
            )
        connection.execute("COMMIT")


def _insertion(name: str, table: Table, n_rows: int) -> str:
    """The statement that inserts so many rows; one for many rows is twice as fast as many."""
    # Names cannot be bound: they are those of the table that was just made, quoted. The values are bound.
    names = ", ".join(_quoted(field.name()) for field in table.fields)
    places = "(" + ", ".join("?" for _ in table.fields) + ")"
    return " ".join(("INSERT INTO", _quoted(name), "(", names, ") VALUES", ", ".join([places] * n_rows)))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
