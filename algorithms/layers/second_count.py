"""The second count: the least class of a release, from what was written and by another way than core's."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from osgeo import ogr
from qgis.core import QgsFeatureRequest, QgsVectorLayer

from ...core.errors import PrivacyError
from .tables import SecondCount


def least_class_of_file(file: Path, check: SecondCount) -> tuple[int, int]:
    """(records in the smallest class, rows), read back from a file and grouped by SQLite.

    The fields that make a class are found by position, since a format may shorten their names.
    """
    dataset = ogr.Open(str(file))
    if dataset is None or dataset.GetLayerCount() < 1:
        raise PrivacyError("The release cannot be read back for the second count: nothing was written.")
    layer = dataset.GetLayer(0)
    definition = layer.GetLayerDefn()
    columns = [_quoted(definition.GetFieldDefn(i).GetName()) for i in range(definition.GetFieldCount())]
    size = "COUNT(*)" if check.count_field is None else f"SUM({columns[check.count_field]})"
    grouping = ", ".join(columns[: check.n_class_fields])
    # Names cannot be bound: they were written by this very run, and are quoted.
    classes = " ".join(("SELECT", size, "AS size, COUNT(*) AS n FROM", _quoted(layer.GetName()), "GROUP BY", grouping))
    statement = " ".join(("SELECT MIN(size), SUM(n) FROM (", classes, ")"))
    result = dataset.ExecuteSQL(statement, dialect="SQLITE")
    row = result.GetNextFeature()
    least, rows = row.GetField(0), row.GetField(1)
    dataset.ReleaseResultSet(result)
    return int(least or 0), int(rows or 0)


def least_class_of_layer(layer: QgsVectorLayer, check: SecondCount) -> int | None:
    """Records in the smallest class of a layer in memory or a database; None where it has no rows."""
    offset = layer.fields().lookupField("vbas_region")
    indexes = range(offset, offset + check.n_class_fields)
    request = QgsFeatureRequest().setFlags(QgsFeatureRequest.Flag.NoGeometry)
    sizes: Counter[tuple[str, ...]] = Counter()
    for feature in layer.getFeatures(request):
        row = feature.attributes()
        weight = 1 if check.count_field is None else int(row[offset + check.count_field])
        sizes[tuple(str(row[i]) for i in indexes)] += weight
    return min(sizes.values(), default=None)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
