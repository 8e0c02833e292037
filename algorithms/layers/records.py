"""The table of records as columns: by GDAL's Arrow stream where the source is a plain file, by features otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from qgis.core import (
    QgsFeatureRequest,
    QgsFields,
    QgsProcessingFeatureSource,
    QgsProcessingFeatureSourceDefinition,
    QgsProcessingFeedback,
    QgsProviderRegistry,
    QgsVectorLayer,
)

from ...core.records.columns import Column, ColumnBuilder
from ...core.records.table import RecordTable, check_fields, checked_counts
from ..compat import python_value
from .feedback import READ, check_cancelled
from .fields import field_index, number_or_missing

CHUNK = 50_000


def read_records(
    source: QgsProcessingFeatureSource,
    plain_layer: QgsVectorLayer | None,
    area_field: str,
    quasi_identifiers: Sequence[str],
    kept: Sequence[str],
    count_field: str,
    region_id: str | None,
    feedback: QgsProcessingFeedback,
) -> RecordTable:
    """Read the fields of RECORDS that are needed and nothing else.

    plain_layer : the layer behind the source where the source is all of it (no selection, no filter), else None;
    region_id : REGION_ID of the areas, refused among the released fields. Raises InputError.
    """
    fields = source.fields()
    field_index(fields, area_field, "RECORD_REGION", "RECORDS")
    for parameter, names in (("QUASI_IDENTIFIERS", quasi_identifiers), ("KEEP_FIELDS", kept)):
        for name in names:
            field_index(fields, name, parameter, "RECORDS")
    if count_field:
        field_index(fields, count_field, "RECORD_COUNT", "RECORDS")
    check_fields(area_field, quasi_identifiers, kept, region_id, count_field or None)
    names = [area_field, *quasi_identifiers, *kept, *([count_field] if count_field else [])]
    columns = read_columns(source, plain_layer, names, feedback)
    counts = _counts(columns[count_field], count_field) if count_field else None
    return RecordTable(
        columns[area_field],
        {name: columns[name] for name in quasi_identifiers},
        {name: columns[name] for name in kept},
        counts,
    )


def read_area_counts(
    source: QgsProcessingFeatureSource,
    plain_layer: QgsVectorLayer | None,
    area_field: str,
    count_field: str,
    feedback: QgsProcessingFeedback,
) -> RecordTable:
    """Read only which area each row lies in and how many records it stands for. Raises InputError."""
    field_index(source.fields(), area_field, "RECORD_REGION", "RECORDS")
    names = [area_field]
    if count_field:
        field_index(source.fields(), count_field, "RECORD_COUNT", "RECORDS")
        names.append(count_field)
    columns = read_columns(source, plain_layer, names, feedback)
    counts = _counts(columns[count_field], count_field) if count_field else None
    return RecordTable(columns[area_field], {}, {}, counts)


def read_columns(
    source: QgsProcessingFeatureSource,
    plain_layer: QgsVectorLayer | None,
    names: Sequence[str],
    feedback: QgsProcessingFeedback,
) -> dict[str, Column]:
    """Columns of a table by field name; both ways of reading give the very same columns."""
    file = _arrow_file(plain_layer, names) if plain_layer is not None else None
    if file is not None:
        return _read_arrow(*file, names, source.featureCount(), feedback)
    return _read_features(source, names, feedback)


def plain_layer(value: object, layer: QgsVectorLayer | None) -> QgsVectorLayer | None:
    """The layer, unless the parameter's value restricts it to a selection, a filter or a number of features."""
    if isinstance(value, QgsProcessingFeatureSourceDefinition):
        restricted = (
            value.selectedFeaturesOnly or value.featureLimit >= 0 or bool(getattr(value, "filterExpression", ""))
        )
        if restricted:
            return None
    return layer


def _counts(column: Column, field: str) -> np.ndarray:
    """RECORD_COUNT by row: the categories are checked and converted, not the rows."""
    categories = number_or_missing(column.categories.tolist(), field, "RECORD_COUNT", column.categories)
    return checked_counts(categories[column.codes], field) if len(column) else np.empty(0, np.int64)


def _read_features(
    source: QgsProcessingFeatureSource, names: Sequence[str], feedback: QgsProcessingFeedback
) -> dict[str, Column]:
    indexes = [source.fields().lookupField(name) for name in names]
    request = QgsFeatureRequest()
    request.setSubsetOfAttributes(indexes)
    request.setFlags(QgsFeatureRequest.Flag.NoGeometry)
    features = source.getFeatures(request, QgsProcessingFeatureSource.Flag.FlagSkipGeometryValidityChecks)
    builders = [ColumnBuilder() for _ in names]
    done, total = 0, max(source.featureCount(), 1)
    while chunk := [feature.attributes() for feature in islice(features, CHUNK)]:
        check_cancelled(feedback)
        for builder, index in zip(builders, indexes):
            builder.add_values([python_value(row[index]) for row in chunk])
        done += len(chunk)
        feedback.setProgress(READ * min(done / total, 1.0))
    return {name: builder.column() for name, builder in zip(names, builders)}


def _arrow_file(layer: QgsVectorLayer, names: Sequence[str]) -> tuple[Path, str] | None:
    """The file and table behind a layer, where the Arrow stream would read what the layer shows; None otherwise."""
    if layer.providerType() != "ogr" or layer.subsetString() or layer.isEditable():
        return None
    fields = layer.fields()
    provided = QgsFields.FieldOrigin.OriginProvider
    if any(fields.fieldOrigin(fields.lookupField(name)) != provided for name in names):
        return None
    parts = QgsProviderRegistry.instance().decodeUri("ogr", layer.source())
    path = Path(parts.get("path") or "")
    if not path.is_file() or parts.get("vsiPrefix") or parts.get("openOptions"):
        return None
    from osgeo import ogr

    dataset = ogr.Open(str(path))
    table = parts.get("layerName") or None
    # Without a table's name QGIS shows the first table.
    found = None if dataset is None else dataset.GetLayerByName(table) if table else dataset.GetLayer(0)
    if found is None or not hasattr(found, "GetArrowStreamAsNumPy") or parts.get("layerId"):
        return None
    definition = found.GetLayerDefn()
    for name in names:
        index = definition.GetFieldIndex(name)
        if index < 0:
            return None
        field = definition.GetFieldDefn(index)
        simple = field.GetType() in (ogr.OFTInteger, ogr.OFTInteger64, ogr.OFTReal, ogr.OFTString)
        same = field.GetTypeName() == layer.fields().field(name).typeName()
        if not simple or not same or field.GetSubType() != ogr.OFSTNone:
            return None
    return path, found.GetName()


def _read_arrow(
    path: Path, table: str, names: Sequence[str], n_rows: int, feedback: QgsProcessingFeedback
) -> dict[str, Column]:
    from osgeo import ogr

    dataset = ogr.Open(str(path))
    layer = dataset.GetLayerByName(table)
    definition = layer.GetLayerDefn()
    others = [definition.GetFieldDefn(i).GetName() for i in range(definition.GetFieldCount())]
    layer.SetIgnoredFields([name for name in others if name not in names] + ["OGR_GEOMETRY", "OGR_STYLE"])
    text = {name: definition.GetFieldDefn(definition.GetFieldIndex(name)).GetType() == ogr.OFTString for name in names}
    builders = {name: ColumnBuilder() for name in names}
    done = 0
    for batch in layer.GetArrowStreamAsNumPy(options=["INCLUDE_FID=NO"]):
        check_cancelled(feedback)
        for name, builder in builders.items():
            values = batch[name]
            missing = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
            plain = np.ma.getdata(values)
            if text[name] and plain.dtype.kind == "O":
                builder.add_values([_text(value) for value in plain.tolist()])
            else:
                if plain.dtype.kind == "f":
                    lost = np.isnan(plain)
                    missing = lost if missing is None else missing | lost
                builder.add_array(plain, missing)
        done += len(values)
        feedback.setProgress(READ * min(done / max(n_rows, 1), 1.0))
    return {name: builder.column() for name, builder in builders.items()}


def _text(value: object) -> object:
    return value.decode("utf-8") if isinstance(value, bytes) else value
