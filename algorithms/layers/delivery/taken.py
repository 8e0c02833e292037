"""What the inputs of a run are read from and where its other outputs go, so that no two are in one place.

Files and tables are compared by what they are, not by how they are written.
"""

from __future__ import annotations

import os
import sys
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

from ....core.errors import InputError
from ....core.language import tr
from ....core.publish.journals import SUFFIXES
from ..gdal_errors import told_to_handlers
from ..given import Given
from . import databases
from .formats import read_with


class Taken:
    """The files and tables that inputs are read from and other outputs go to."""

    def __init__(self, given: Given) -> None:
        # By what a file is: whose it is, and whether it is the file itself or one beside it.
        self._read: dict[tuple[object, ...], tuple[str, Path]] = {}
        self._written: dict[tuple[object, ...], tuple[str, Path]] = {}
        self._tables: dict[tuple[object, ...], str] = {}
        self._read_tables: dict[tuple[object, ...], str] = {}
        self._servers: dict[str, tuple[str, ...]] = {}
        for name, layer in _input_layers(given):
            self._read_layer(name, layer)
        for name, file in _input_files(given):
            self._read_file(name, file)

    def add_file(self, name: str, path: Path, written: list[Path]) -> None:
        """Note an output file. Raises InputError where it is, or would overwrite a part of, something else."""
        for one in written:
            for key in _identities(one):
                for others in (self._read, self._written):
                    if key in others:
                        _refuse(name, path, one, *others[key])
        for one in written:
            for key in _identities(one):
                self._written.setdefault(key, (name, path))

    def add_table(self, name: str, table: databases.DatabaseTable) -> None:
        """Note an output table. Raises InputError where it is something else's."""
        address = table.parts
        if table.file is not None:
            for key in _identities(table.file):
                if key in self._written and self._written[key][0] not in self._tables.values():
                    _refuse(name, table.file, table.file, *self._written[key])
            keys = _tables_of_file(table.file, address.table())
        else:
            keys = [(*self._server(table.provider, address), address.schema() or "public", address.table())]
        for key in keys:
            if key in self._read_tables or key in self._tables:
                other = self._read_tables.get(key) or self._tables[key]
                raise InputError(
                    tr(
                        "{name} and {other} are the same table, “{table}”: choose another place for one.",
                        name=name,
                        other=other,
                        table=address.table(),
                    )
                )
        self._tables.update(dict.fromkeys(keys, name))
        if table.file is not None:
            for one in read_with(table.file):
                for key in _identities(table.file.with_name(one)):
                    self._written.setdefault(key, (name, table.file))

    def _read_layer(self, name: str, layer: QgsVectorLayer) -> None:
        provider, source = layer.providerType(), layer.source()
        parts = QgsProviderRegistry.instance().decodeUri(provider, source)
        path = parts.get("path")
        if path:
            file = Path(str(path)).absolute()
            self._read_file(name, file)
            if file.suffix.lower() in SUFFIXES:
                for key in _tables_of_file(file, parts.get("layerName") or _table_of(file, parts.get("layerId"))):
                    self._read_tables.setdefault(key, name)
        elif parts.get("table"):
            uri = QgsDataSourceUri(source)
            key = (*self._server(provider, uri), uri.schema() or "public", uri.table())
            self._read_tables.setdefault(key, name)

    def _read_file(self, name: str, path: Path) -> None:
        path = path.absolute()
        if path.is_dir():
            files = [Path(folder, name) for folder, _, names in os.walk(path) for name in names]
        else:
            # A link is read with what lies beside it, and with what lies beside the file that it leads to.
            real = Path(os.path.realpath(path))
            files = [one.with_name(other) for one in dict.fromkeys((path, real)) for other in read_with(one)]
        for one in files:
            for key in _identities(one):
                self._read.setdefault(key, (name, path))

    def _server(self, provider: str, uri: QgsDataSourceUri) -> tuple[str, ...]:
        address = uri.connectionInfo(False)
        if address not in self._servers:
            self._servers[address] = databases.server(provider, uri)
        return self._servers[address]


def _tables_of_file(file: Path, table: object) -> list[tuple[object, ...]]:
    return [(*key, str(table).lower()) for key in _identities(file)]


@told_to_handlers()
def _table_of(file: Path, position: str | int | None) -> str:
    """Name of the table that QGIS reads where none is named: the first, or the one at that position."""
    dataset = ogr.Open(str(file))
    layer = None if dataset is None else dataset.GetLayer(int(position or 0))
    return "" if layer is None else layer.GetName()


def _identities(path: Path) -> list[tuple[object, ...]]:
    """What a file is, by name and by what the file system calls it: two files are the same if they share one."""
    names = {os.path.realpath(path), os.path.join(os.path.realpath(path.parent), path.name)}  # noqa: PTH118
    if sys.platform == "darwin":
        names = {one.casefold() for one in names}
    keys: list[tuple[object, ...]] = [("name", os.path.normcase(one)) for one in sorted(names)]
    try:
        found = path.stat()
        keys.append(("file", found.st_dev, found.st_ino))
    except OSError:  # not there yet
        pass
    return keys


def _refuse(name: str, path: Path, one: Path, other: str, other_path: Path) -> None:
    if one == path and set(_identities(one)) & set(_identities(other_path)):
        raise InputError(
            tr(
                "{name} and {other} are the same file, {path}: choose another place for one.",
                name=name,
                other=other,
                path=path,
            )
        )
    raise InputError(
        tr(
            "{name} would write {one}, which belongs to {other} ({other_path}): choose another name for one of them.",
            name=name,
            one=one,
            other=other,
            other_path=other_path,
        )
    )


def _input_layers(given: Given) -> Iterator[tuple[str, QgsVectorLayer]]:
    algorithm = given.algorithm
    for definition in algorithm.parameterDefinitions():
        if definition.isDestination():
            continue
        layers: list[QgsMapLayer] = []
        if definition.type() in ("source", "vector", "layer"):
            layers = [algorithm.parameterAsLayer(given.parameters, definition.name(), given.context)]
        elif definition.type() == "multilayer":
            layers = algorithm.parameterAsLayerList(given.parameters, definition.name(), given.context)
        seen: set[str] = set()
        for layer in layers:
            for one in _with_sources(layer, seen):
                yield definition.name(), one


def _with_sources(layer: QgsMapLayer | None, seen: set[str]) -> Iterator[QgsVectorLayer]:
    """A layer and those that it shows: joined to it, or queried by it."""
    if not isinstance(layer, QgsVectorLayer) or layer.id() in seen:
        return
    seen.add(layer.id())
    yield layer
    for join in layer.vectorJoins():
        yield from _with_sources(join.joinLayer(), seen)
    if layer.providerType() == "virtual":
        shown = QgsVirtualLayerDefinition.fromUrl(QUrl.fromEncoded(layer.source().encode()))
        for source in shown.sourceLayers():
            if source.isReferenced():
                yield from _with_sources(QgsProject.instance().mapLayer(source.reference()), seen)
            else:
                yield QgsVectorLayer(source.source(), source.name(), source.provider())


def _input_files(given: Given) -> Iterator[tuple[str, Path]]:
    algorithm = given.algorithm
    for definition in algorithm.parameterDefinitions():
        if definition.type() == "file" and not definition.isDestination():
            text = algorithm.parameterAsFile(given.parameters, definition.name(), given.context)
            if text:
                yield definition.name(), Path(text)
