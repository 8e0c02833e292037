"""What the inputs of a run are read from and where its outputs go, so that no two are in one place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from osgeo import ogr
from qgis.core import (
    QgsDataSourceUri,
    QgsMapLayer,
    QgsProject,
    QgsProviderRegistry,
    QgsVectorLayer,
    QgsVirtualLayerDefinition,
)
from qgis.PyQt.QtCore import QUrl

from ....core.publish.occupied import Key, Occupied, tables_of_file
from ....core.publish.sqlite_targets import SUFFIXES
from ..database_tables.address import DatabaseTable, server
from ..gdal_errors import told_to_handlers
from ..inputs import Inputs


class ReadAndWritten(Occupied):
    """The files and tables of a run: those of its inputs, and of its outputs as they are added."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__()
        self._servers: dict[str, tuple[str, ...]] = {}
        for name, layer in _input_layers(inputs):
            self._read_layer(name, layer)
        for name, file in _input_files(inputs):
            self.read_file(name, file)

    def add_database_table(self, name: str, table: DatabaseTable) -> None:
        """Note an output table. Raises InputError where it is something else's."""
        parts, file = table.parts, table.file
        keys = tables_of_file(file, parts.table()) if file else [self._table_of_server(table.provider, parts)]
        self.add_table(name, parts.table(), keys, file)

    def _read_layer(self, name: str, layer: QgsVectorLayer) -> None:
        provider, source = layer.providerType(), layer.source()
        parts = QgsProviderRegistry.instance().decodeUri(provider, source)
        path = parts.get("path")
        if path:
            file = Path(str(path)).absolute()
            self.read_file(name, file)
            if file.suffix.lower() in SUFFIXES:
                table = parts.get("layerName") or _table_of(file, parts.get("layerId"))
                self.read_table(name, tables_of_file(file, table))
        elif parts.get("table"):
            uri = QgsDataSourceUri(source)
            self.read_table(name, [self._table_of_server(provider, uri)])

    def _table_of_server(self, provider: str, uri: QgsDataSourceUri) -> Key:
        address = uri.connectionInfo(False)
        if address not in self._servers:
            self._servers[address] = server(provider, uri)
        return (*self._servers[address], uri.schema() or "public", uri.table())


@told_to_handlers()
def _table_of(file: Path, position: str | int | None) -> str:
    """Name of the table that QGIS reads where none is named: the first, or the one at that position."""
    dataset = ogr.Open(str(file))
    layer = None if dataset is None else dataset.GetLayer(int(position or 0))
    return "" if layer is None else layer.GetName()


def _input_layers(inputs: Inputs) -> Iterator[tuple[str, QgsVectorLayer]]:
    algorithm = inputs.algorithm
    for definition in algorithm.parameterDefinitions():
        if definition.isDestination():
            continue
        layers: list[QgsMapLayer] = []
        if definition.type() in ("source", "vector", "layer"):
            layers = [algorithm.parameterAsLayer(inputs.parameters, definition.name(), inputs.context)]
        elif definition.type() == "multilayer":
            layers = algorithm.parameterAsLayerList(inputs.parameters, definition.name(), inputs.context)
        seen: set[str] = set()
        for layer in layers:
            for source in _with_sources(layer, seen):
                yield definition.name(), source


def _with_sources(layer: QgsMapLayer | None, seen: set[str]) -> Iterator[QgsVectorLayer]:
    """A layer and those that it shows: joined to it, or queried by it."""
    if not isinstance(layer, QgsVectorLayer) or layer.id() in seen:
        return
    seen.add(layer.id())
    yield layer
    for join in layer.vectorJoins():
        yield from _with_sources(join.joinLayer(), seen)
    if layer.providerType() == "virtual":
        definition = QgsVirtualLayerDefinition.fromUrl(QUrl.fromEncoded(layer.source().encode()))
        for source in definition.sourceLayers():
            if source.isReferenced():
                yield from _with_sources(QgsProject.instance().mapLayer(source.reference()), seen)
            else:
                yield QgsVectorLayer(source.source(), source.name(), source.provider())


def _input_files(inputs: Inputs) -> Iterator[tuple[str, Path]]:
    algorithm = inputs.algorithm
    for definition in algorithm.parameterDefinitions():
        if definition.type() == "file" and not definition.isDestination():
            text = algorithm.parameterAsFile(inputs.parameters, definition.name(), inputs.context)
            if text:
                yield definition.name(), Path(text)
