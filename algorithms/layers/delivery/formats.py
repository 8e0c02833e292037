"""Which formats can be written, found out by writing one row and reading it back."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import shapely
from osgeo import gdal, ogr
from qgis.core import QgsCoordinateReferenceSystem, QgsProcessing

from ....core.errors import VbasError
from ....core.publish.files import DISK
from ....core.publish.folders import no_temporary_folder, own_folder
from ..gdal_errors import told_to_handlers
from ..tables import Table, number_fields
from .writing import write_file

SHAPES = {
    QgsProcessing.SourceType.TypeVector: ("none", None),
    QgsProcessing.SourceType.TypeVectorPoint: ("points", shapely.Point(600_000, 5_500_000)),
    QgsProcessing.SourceType.TypeVectorPolygon: (
        "polygons",
        shapely.MultiPolygon([shapely.box(600_000, 5_500_000, 600_100, 5_500_100)]),
    ),
}
WITHOUT_SHAPES = (".csv", ".tsv", ".xlsx", ".ods")  # tables, written without what their rows look like on a map
FORMAT = "format"  # folder in which one row is written
ROOM_NEEDED = 1 << 18  # bytes: what one row takes in any format, and its journal
_known: dict[tuple[str, QgsProcessing.SourceType], tuple[str, ...]] = {}


def written_endings(suffix: str, source_type: QgsProcessing.SourceType) -> tuple[str, ...]:
    """Endings of the files that an output with that ending makes; empty where the format cannot be written.

    source_type : what the output holds

    Raises VbasError where nothing can be found out, since the temporary folder is full.
    """
    if (suffix, source_type) not in _known:
        try:
            with own_folder(DISK.temporary()) as folder:
                endings = _written_in(folder / FORMAT, suffix, source_type)
                if not endings:  # is it the format, or the folder?
                    DISK.write(folder / "room", bytes(ROOM_NEEDED))
        except OSError as error:
            raise VbasError(no_temporary_folder(error)) from error
        if not endings:
            return ()
        _known[suffix, source_type] = endings
    return _known[suffix, source_type]


def _written_in(folder: Path, suffix: str, source_type: QgsProcessing.SourceType) -> tuple[str, ...]:
    geometry, shape = SHAPES.get(source_type, SHAPES[QgsProcessing.SourceType.TypeVectorPolygon])
    shapes = None if shape is None else np.array([shape])
    crs = None if shape is None else QgsCoordinateReferenceSystem("EPSG:32614")
    fields = number_fields(vbas_region="integer", name="text")
    table = Table(fields, (np.array([1], np.int64), ["one"]), geometry, shapes, crs)
    DISK.make_folder(folder)
    a_dbf = shape is None and suffix in (".shp", ".dbf")  # a Shapefile without shapes is a .dbf alone
    file = folder / ("one.shp" if a_dbf else f"one{suffix}")
    gdal.PushErrorHandler("CPLQuietErrorHandler")
    try:
        write_file(file, table, "one")
        if a_dbf:
            file = file.with_suffix(".dbf")
        written = tuple(sorted(path.name[len(file.stem) :] for path in folder.iterdir()))
        return written if file.is_file() and _has_the_row(file) else ()
    except (VbasError, sqlite3.Error):
        return ()
    finally:
        gdal.PopErrorHandler()


@told_to_handlers()
def _has_the_row(file: Path) -> bool:
    dataset = ogr.Open(str(file))
    if dataset is None or dataset.GetLayerCount() != 1:
        return False
    layer = dataset.GetLayer(0)
    feature = layer.GetNextFeature()
    if feature is None or layer.GetNextFeature() is not None:
        return False
    values = [feature.GetFieldAsString(i) for i in range(feature.GetFieldCount())]
    return "1" in values and "one" in values
