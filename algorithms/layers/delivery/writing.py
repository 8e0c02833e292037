"""Rows into files and sinks."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import shapely
from osgeo import gdal
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransformContext,
    QgsFeature,
    QgsFeatureSink,
    QgsGeometry,
    QgsProcessingException,
    QgsVectorFileWriter,
)
from qgis.PyQt import sip

from ....core.drawing import multi_polygons
from ....core.errors import InputError, VbasError
from ....core.language import tr
from ....core.progress import Progress, silent
from ....core.publish.files import DISK
from ....core.publish.geopackage.filling import fill_geopackage
from ....core.records.table import unused_name
from ..gdal_errors import silent_gdal, told_to_handlers
from ..inputs import Inputs
from ..tables import GEOMETRY_TYPES, Table
from .csv_cells import cells_of


def write_file(file: Path, table: Table, title: str, progress: Progress = silent) -> None:
    """Write a new file in the format of its extension; progress : by rows.

    Raises InputError for an unknown format, VbasError if it fails.
    """
    fields = table.qgs_fields
    options = QgsVectorFileWriter.SaveVectorOptions()
    options.driverName = QgsVectorFileWriter.driverForExtension(file.suffix.lstrip("."))
    if not options.driverName:
        raise InputError.saying(
            "“{suffix}” is not a format that QGIS writes: use .gpkg, .csv or another known one.", suffix=file.suffix
        )
    options.layerName = file.stem
    if options.driverName == "GPKG":
        used = [name.lower() for name in fields.names()]
        row_id = unused_name("row_id" if "fid" in used else "fid", used)
        shape = unused_name("shape" if "geom" in used else "geom", used)
        made = [f"FID={row_id}", f"IDENTIFIER={title}", f"DESCRIPTION={title}"]
        options.layerOptions = made if table.geometry == "none" else [*made, f"GEOMETRY_NAME={shape}"]
    if options.driverName == "GeoJSON":
        options.layerOptions = [f"DESCRIPTION={title}"]
    surfaces = _surfaces(table) if options.driverName == "GPKG" and table.geometry == "polygons" else None
    in_bulk = options.driverName == "GPKG" and (table.geometry != "polygons" or surfaces is not None) and table.plain
    cells = None
    if options.driverName == "CSV" and file.suffix == ".csv":
        cells = cells_of(table, partial(write_file, title=title))
    writer = QgsVectorFileWriter.create(
        str(file),
        fields,
        GEOMETRY_TYPES[table.geometry],
        table.crs or QgsCoordinateReferenceSystem(),
        QgsCoordinateTransformContext(),
        options,
    )
    _stop_on(writer, file)
    if not in_bulk and cells is None:
        fill(writer, table, progress)
    with _errors_of_gdal() as errors:
        if not writer.flushBuffer():
            errors.append(writer.errorMessage() or tr("the disk may be full"))
        _stop_on(writer, file)
        del writer  # closes the file: what was not on the disk yet may fail only now
    if errors:
        raise VbasError.saying(
            "{name} cannot be written: {errors}. Nothing was changed.", name=file.name, errors=errors[0]
        )
    if in_bulk:
        fill_geopackage(file, fields.names(), table, progress, _places(table), surfaces)
    if cells is not None:
        cells.append_to(file, progress)


def _places(table: Table) -> np.ndarray | None:
    """Where the rows of a table of points are, (rows, 2), NaN for nowhere; None for a table without places."""
    if table.geometry != "points" or table.shapes is None:
        return None
    return np.column_stack([shapely.get_x(table.shapes), shapely.get_y(table.shapes)])


def _surfaces(table: Table) -> np.ndarray | None:
    """The surfaces of rows as they are written, (rows,); None where one is missing or empty: QGIS writes these."""
    if table.shapes is None or not len(table):
        return None
    surfaces = _as_written(table.shapes, table.geometry)
    empty = shapely.is_missing(surfaces) | shapely.is_empty(surfaces) | shapely.has_z(surfaces)
    return None if empty.any() else surfaces


def write_text(file: Path, text: str) -> None:
    """Write a text file and read it back. Raises OSError where it cannot be written, VbasError if it is not whole."""
    write_bytes(file, text.encode("utf-8"))


def write_bytes(file: Path, content: bytes) -> None:
    """The same for a file that is no text."""
    DISK.write(file, content)
    if DISK.read_bytes(file) != content:
        raise VbasError.saying("{name} was not written whole: nothing was kept.", name=file.name)


@contextmanager
def in_one_sentence(output: str) -> Iterator[None]:
    """Say what the system or a library refuses while an output is written: a full disk, a limit, a lost file."""
    try:
        yield
    except (OSError, sqlite3.Error, csv.Error, UnicodeError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise VbasError.saying(
            "{output} cannot be written: {reason}. Nothing was changed; make room for temporary files in {folder}, or "
            "set TMPDIR to another folder.",
            output=output,
            reason=reason,
            folder=DISK.temporary(),
        ) from error


def _stop_on(writer: QgsVectorFileWriter, file: Path) -> None:
    if writer.hasError() != QgsVectorFileWriter.WriterError.NoError:
        raise VbasError.saying(
            "{name} cannot be written: {error}. Nothing was changed.", name=file.name, error=writer.errorMessage()
        )


@contextmanager
def _errors_of_gdal() -> Iterator[list[str]]:
    """What GDAL reports as failed meanwhile: QGIS does not pass on what happens when a file is closed."""
    errors: list[str] = []

    def keep(kind: int, _: int, message: str) -> None:
        if kind >= gdal.CE_Failure:
            errors.append(message.strip().rstrip("."))

    with told_to_handlers():
        gdal.PushErrorHandler(keep)
        try:
            yield errors
        finally:
            gdal.PopErrorHandler()


def fill_sink(
    inputs: Inputs, name: str, table: Table, made: Callable[[], None] | None, progress: Progress
) -> tuple[QgsFeatureSink | None, str]:
    """Write into whatever QGIS makes of an output: a layer in memory, a table in a database.

    made : called when it is there and empty; progress : by rows
    """
    crs = table.crs or QgsCoordinateReferenceSystem()
    made_of = table.qgs_fields, GEOMETRY_TYPES[table.geometry], crs
    try:
        sink, identifier = inputs.algorithm.parameterAsSink(inputs.parameters, name, inputs.context, *made_of)
    except QgsProcessingException as error:
        reason = str(error).strip().rstrip(".")
        raise VbasError.saying("{name} could not be written: {reason}.", name=name, reason=reason) from error
    if sink is None:
        return None, identifier
    try:
        if made is not None:
            made()  # before a row is in it
        fill(sink, table, progress)
        if not sink.flushBuffer():
            raise VbasError.saying(
                "{name} could not be written: {reason}.",
                name=name,
                reason=sink.lastError() or tr("its last rows were not taken"),
            )
    except BaseException:
        # What is raised holds on to it, by its frames, until the table that it writes into is gone.
        with silent_gdal():
            sip.delete(sink)
        raise
    return sink, identifier


def fill(sink: QgsFeatureSink, table: Table, progress: Progress = silent) -> None:
    """Row by row. Rows that are the same as the one before, of which a release is full, share its values: that is
    twice as fast, and takes the memory once."""
    feature, last, kinds = QgsFeature(table.qgs_fields), None, []
    shapes = None if table.shapes is None else shapely.to_wkb(_as_written(table.shapes, table.geometry))
    for start, rows in table.chunks():
        progress(start / max(len(table), 1))
        for i, row in enumerate(rows):
            # Numbers that Python takes for equal, such as 1 and True, may be different values.
            if row != last or list(map(type, row)) != kinds:
                feature.setAttributes(list(row))
                last, kinds = row, list(map(type, row))
            if shapes is not None:
                geometry = QgsGeometry()
                if shapes[start + i] is not None:
                    geometry.fromWkb(shapes[start + i])
                feature.setGeometry(geometry)
            if not sink.addFeature(feature, QgsFeatureSink.Flag.FastInsert):
                raise VbasError.saying(
                    "Row {start} could not be written: {reason}.", start=start + i + 1, reason=sink.lastError()
                )


def _as_written(shapes: np.ndarray, geometry: str) -> np.ndarray:
    return multi_polygons(shapes) if geometry == "polygons" else np.asarray(shapes, dtype=object)
