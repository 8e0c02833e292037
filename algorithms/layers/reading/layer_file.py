"""The file behind a layer, as core takes it, and the rows of a layer counted without the reader that is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from qgis.core import QgsDataSourceUri, QgsFields, QgsProviderRegistry, QgsVectorLayer

from ....core.dataclass import dataclass
from ....core.errors import InputError
from ....core.records import table_file
from ....core.records.sqlite_file import is_sqlite, quoted
from ....core.records.table_file import Held, TableFile
from ...compat import kind_of


@dataclass(frozen=True)
class LayerFile:
    """The file behind a layer. plain : whether the layer shows all of one table, just as the file has it."""

    path: Path
    table: str
    plain: bool


def layer_file(layer: QgsVectorLayer) -> LayerFile | None:
    """The file behind a layer, None where there is none on this machine's disk."""
    provider = layer.providerType()
    parts = QgsProviderRegistry.instance().decodeUri(provider, layer.source())
    path = parts.get("path")
    if provider not in ("ogr", "delimitedtext", "spatialite") or not isinstance(path, str) or parts.get("vsiPrefix"):
        return None
    file = Path(path)
    if not file.is_file():
        return None
    table = parts.get("layerName")
    table = table if isinstance(table, str) else ""
    sources = {path, f"{path}|layername={table}"}
    # A filter stands in the source as well; to overlook one would release who was filtered out.
    plain = provider == "ogr" and layer.source() in sources and not layer.subsetString()
    return LayerFile(file, table, plain)


def described(layer: QgsVectorLayer, file: LayerFile, names: Sequence[str]) -> TableFile:
    """The table that a layer shows, and which of its fields are read."""
    fields = layer.fields()
    kinds = {}
    for name in names:
        index = fields.lookupField(name)
        if index >= 0 and fields.fieldOrigin(index) == QgsFields.FieldOrigin.OriginProvider:
            kind = kind_of(fields[index])
            if kind is not None:
                kinds[name] = kind
    table = _first_table(layer, file) if is_sqlite(file.path) else file.table
    return TableFile(file.path, table, fields.names(), names, kinds)


@contextmanager
def held(layer: QgsVectorLayer, names: Sequence[str], parameter: str) -> Iterator[Held]:
    """The rows of the table behind a layer, counted without the reader of the layer, while its files stay as they are.

    names : fields that are read, whose values are checked where the format does not hold them to the field's type;
    parameter : for messages. Raises InputError, also afterwards where the files were changed meanwhile.
    """
    file = layer_file(layer)
    if file is None:
        yield Held(count_again(layer))
        return
    with table_file.held(described(layer, file, names), parameter) as content:
        yield content if file.plain and content.n_rows is not None else Held(count_again(layer))


def _first_table(layer: QgsVectorLayer, file: LayerFile) -> str:
    """The table that the layer shows; the first where its source names none."""
    if file.table:
        return file.table
    parts = [text.split("!!::!!") for text in layer.dataProvider().subLayers()]
    return next((sublayer[1] for sublayer in parts if len(sublayer) > 1), "")


def count_again(layer: QgsVectorLayer) -> int | None:
    """Rows as a layer of its own counts them now: the given one may remember an older number. Raises InputError where
    the connection to a database is lost."""
    provider = layer.providerType()
    if provider == "memory":
        return int(layer.dataProvider().featureCount())
    if provider == "virtual" or QgsDataSourceUri(layer.source()).useEstimatedMetadata():
        return None
    try:
        fresh = QgsVectorLayer(layer.source(), layer.name(), provider)
        count = int(fresh.featureCount()) if fresh.isValid() else -1
    except Exception as error:  # which has no name in Python
        raise not_read(layer.name()) from error
    return count if count >= 0 else None


def rows_in_database(layer: QgsVectorLayer, parameter: str) -> int:
    """Rows of a layer of PostgreSQL, as the server counts them by a connection of its own: QGIS finds none where its
    own is lost, and says nothing. Raises InputError where the server does not answer."""
    uri = QgsDataSourceUri(layer.source())
    try:
        connection = QgsProviderRegistry.instance().providerMetadata("postgres").createConnection(layer.source(), {})
        ((count,),) = connection.executeSql(" ".join(("SELECT count(*)", *rows_of(uri, layer.subsetString()))))
        if uri.geometryColumn():  # of which QGIS shows those of one kind of shapes
            count = QgsVectorLayer(layer.source(), layer.name(), "postgres").featureCount()
    except Exception as error:  # some of which have no name in Python
        raise not_read(parameter) from error
    return int(count)


def not_read(name: str) -> InputError:
    """What is said of a layer of which nothing can be read."""
    return InputError.saying("{name} cannot be read: check that the layer still shows its features.", name=name)


def rows_of(uri: QgsDataSourceUri, subset: str) -> tuple[str, ...]:
    """The rows that the layer shows, as the end of a statement."""
    table = uri.table()
    if not uri.schema() and table.startswith("(") and table.endswith(")"):  # a query, as QGIS tells one
        rows: tuple[str, ...] = ("FROM", table, "AS vbas_query")
    else:
        rows = ("FROM", ".".join(quoted(part) for part in (uri.schema(), table) if part))
    return (*rows, "WHERE (", subset, ")") if subset else rows
