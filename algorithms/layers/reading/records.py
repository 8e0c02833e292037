"""Tables as columns: straight from the file where that is just what the layer shows, else by features."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from osgeo import gdal, ogr
from qgis.core import QgsFeatureRequest, QgsFields, QgsProcessingFeedback, QgsVectorLayer

from ....core.plain_text import plain_text
from ....core.records.columns import Column, ColumnBuilder, columns_at
from ....core.records.csv_columns import read_plain_csv
from ....core.records.fields import RecordFields
from ....core.records.sqlite_file import is_sqlite
from ....core.records.table import RecordTable
from ....core.records.table_file import held, is_csv, read_as_declared
from ...compat import is_text, python_value
from ..feedback import READ, check_cancelled
from ..gdal_errors import told_to_handlers
from .arrow import read_arrow
from .checked_source import CheckedSource, field_index
from .layer_file import LayerFile, described, layer_file
from .postgres import read_postgres
from .unreadable import refuse_undecoded


def read_records(source: CheckedSource, fields: RecordFields, feedback: QgsProcessingFeedback) -> RecordTable:
    """Read the fields of RECORDS that are needed and nothing else. Raises InputError."""
    there = source.fields()
    named = fields.by_parameter()
    for parameter, names in named.items():
        for name in names:
            field_index(there, name, parameter, "RECORDS")
    every = dict.fromkeys(name for names in named.values() for name in names)
    columns = read_columns(source, list(every), feedback)
    return fields.table(columns)


def read_columns(source: CheckedSource, names: Sequence[str], feedback: QgsProcessingFeedback) -> dict[str, Column]:
    """Columns of a table by the names given; all ways of reading give the very same columns. Raises InputError."""

    def progress(fraction: float) -> None:
        check_cancelled(feedback)
        feedback.setProgress(READ * min(fraction, 1.0))

    fields = source.fields()
    indexes = [field_index(fields, name, source.name, source.name) for name in names]
    own = [fields[index].name() for index in indexes]
    columns = _read_file(source, own, progress) or _read_features(source, indexes, progress)
    for name in own:
        refuse_undecoded(source.name, name, columns[name].categories.tolist())
    return {name: columns[field] for name, field in zip(names, own)}


def _read_file(
    source: CheckedSource, names: Sequence[str], progress: Callable[[float], None]
) -> dict[str, Column] | None:
    """Columns straight from the file, where that is just what the layer shows; None otherwise."""
    layer = source.plain_layer
    if layer is None or layer.isEditable():
        return None
    fields = layer.fields()
    provided = QgsFields.FieldOrigin.OriginProvider
    if any(fields.fieldOrigin(fields.lookupField(name)) != provided for name in names):
        return None
    if layer.providerType() == "postgres":
        return read_postgres(layer, names, source.name, progress)
    file = layer_file(layer)
    if file is None or not file.plain or layer.dataProvider().encoding() != "UTF-8":
        return None
    described_source = described(layer, file, names)
    if is_sqlite(file.path):
        # SQLite alone: GDAL's stream of a GeoPackage, in several threads, has been seen to give rows twice.
        return read_as_declared(described_source, source.name, progress)
    if not is_csv(file.path) and file.path.suffix.lower() != ".dbf":
        return None
    with held(described_source, source.name) as content:
        if content.n_rows is None:
            return None
        plain = read_plain_csv(described_source, content.n_rows, progress) if is_csv(file.path) else None
        if plain is not None:
            return plain
        return _stream(file, layer, names, content.n_rows, content.longest or LONGEST_IN_DBF, source.name, progress)


LONGEST_IN_DBF = 254


def _stream(
    file: LayerFile,
    layer: QgsVectorLayer,
    names: Sequence[str],
    n_rows: int,
    widest: int,
    parameter: str,
    progress: Callable[[float], None],
) -> dict[str, Column] | None:
    """Columns by GDAL's stream, None where it has none or would show other values than the layer."""
    dataset, table = open_table(file)
    if table is None or not shows_the_same(layer, table, names):
        return None
    columns = read_arrow(table, names, n_rows, widest, parameter, progress)
    del table, dataset
    return columns


def _read_features(
    source: CheckedSource, indexes: Sequence[int], progress: Callable[[float], None]
) -> dict[str, Column]:
    # The flags first: they would take the subset back.
    request = QgsFeatureRequest().setFlags(QgsFeatureRequest.Flag.NoGeometry).setSubsetOfAttributes(list(indexes))
    fields = source.fields()
    builders = [ColumnBuilder() for _ in indexes]
    done, total = 0, max(source.featureCount(), 1)
    ids = []
    for chunk in source.chunks(request):
        ids.append(np.array([feature.id() for feature in chunk], np.int64))
        rows = [feature.attributes() for feature in chunk]
        for builder, index in zip(builders, indexes):
            values = [python_value(row[index]) for row in rows]
            builder.add_values(_as_texts(values) if is_text(fields[index]) else values)
        done += len(chunk)
        progress(done / total)
    columns = {fields[index].name(): builder.column() for index, builder in zip(indexes, builders)}
    # A database reads along an index where one holds all that is asked for: the rows stand in the order of their ids.
    id_of = np.concatenate(ids) if ids else np.empty(0, np.int64)
    if (id_of[1:] >= id_of[:-1]).all():
        return columns
    order = np.argsort(id_of, kind="stable")
    return columns_at(columns, order)


def _as_texts(values: list[object]) -> list[object]:
    """Values of a field of text: a virtual layer takes one whose first row is empty for such; numbers may follow."""
    return [value if value is None or type(value) is str else plain_text(value) for value in values]


SIMPLE = (ogr.OFTInteger, ogr.OFTInteger64, ogr.OFTReal, ogr.OFTString)


@told_to_handlers()
def open_table(file: LayerFile) -> tuple[gdal.Dataset | None, ogr.Layer | None]:
    """The dataset, which must outlive its table, and the table; None for a GDAL that has no such stream."""
    # Text as it is in the file: QGIS decodes it by the encoding that the layer was given.
    options = ["ENCODING=UTF-8"] if file.path.suffix.lower() == ".dbf" else []
    dataset = gdal.OpenEx(str(file.path), gdal.OF_VECTOR, open_options=options)
    table = None
    if dataset is not None:
        # Without a table's name QGIS shows the first.
        table = dataset.GetLayerByName(file.table) if file.table else dataset.GetLayer(0)
    return dataset, table if hasattr(table, "GetArrowStreamAsNumPy") else None


def shows_the_same(layer: QgsVectorLayer, table: ogr.Layer, names: Sequence[str]) -> bool:
    """Whether the stream holds these fields just as the layer shows them."""
    definition = table.GetLayerDefn()
    there = [definition.GetFieldDefn(i).GetName().lower() for i in range(definition.GetFieldCount())]
    if any("\udc80" <= sign <= "\udcff" for name in there for sign in name):
        return False  # bytes of another encoding, by which no field can be left out
    if len(set(there)) < len(there):
        return False  # GDAL finds fields by their letters, whatever their case, and QGIS calls some of these otherwise
    for name in names:
        index = definition.GetFieldIndex(name)
        if index < 0:
            return False
        field = definition.GetFieldDefn(index)
        same = field.GetTypeName() == layer.fields().field(name).typeName()
        if field.GetType() not in SIMPLE or not same or field.GetSubType() != ogr.OFSTNone:
            return False
    return True
