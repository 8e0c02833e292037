"""Where outputs go, and what is refused before any work: targets are compared by what they are, not by how they are
written.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from osgeo import ogr
from qgis.core import (
    QgsDataSourceUri,
    QgsMapLayer,
    QgsProcessing,
    QgsProcessingOutputLayerDefinition,
    QgsProcessingParameterDefinition,
    QgsProject,
    QgsProperty,
    QgsProviderRegistry,
    QgsVectorLayer,
    QgsVirtualLayerDefinition,
)
from qgis.PyQt.QtCore import QUrl

from ....core.errors import InputError, first_values
from ....core.language import tr
from ....core.plain_text import visible
from ..gdal_errors import told_to_handlers
from ..given import Given
from . import databases
from .formats import STYLES, read_with, stale_beside, written_endings
from .journals import SUFFIXES, other_tables, refuse_if_held

MEMORY = ("memory:", QgsProcessing.TEMPORARY_OUTPUT)
PAGES = (".html", ".htm")


def checked_destinations(given: Given) -> dict[str, Path | str | databases.DatabaseTable]:
    """Where each wanted output goes: a file, a layer in memory, or a table of a database.

    Raises InputError where one cannot go: onto an input or another output, into a format that cannot be written, onto
    a folder, where there is no folder, over layers that are not its own.
    """
    taken = _Taken(given)
    destinations: dict[str, Path | str | databases.DatabaseTable] = {}
    for definition in given.algorithm.destinationParameterDefinitions():
        text = destination_text(definition, given)
        if not text:
            continue
        name, is_file = definition.name(), definition.type() == "fileDestination"
        if text in MEMORY and not is_file:
            destinations[name] = text
            continue
        if text in MEMORY:
            text = definition.generateTemporaryDestination()
        if re.match(r"^[A-Za-z]{2,}:", text):  # one letter is a drive
            if is_file:
                raise InputError(tr("{name}: give the name of a file.", name=name))
            if text.startswith("memory:"):
                destinations[name] = text
                continue
            table = databases.parse(name, text)
            taken.add_table(name, table)
            destinations[name] = table
            continue
        path = _named(name, text, definition)
        endings = _endings(name, path, definition)
        if path.suffix == ".shp" and ".shp" not in endings:
            path = path.with_suffix(".dbf")
        names = [path.name, *(path.stem + ending for ending in endings), *stale_beside(path)]
        written = [path.with_name(one) for one in dict.fromkeys(names)]
        _check_nameable(name, path, written)
        taken.add_file(name, path, written)
        _check_what_is_there(name, path, written)
        destinations[name] = path
    return destinations


def destination_text(definition: QgsProcessingParameterDefinition, given: Given) -> str:
    """What the user gave as the place of an output."""
    value = given.parameters.get(definition.name(), definition.defaultValue())
    if isinstance(value, QgsProcessingOutputLayerDefinition):
        value = value.sink
    if isinstance(value, QgsProperty):
        value = value.valueAsString(given.context.expressionContext())[0]
    return str(value) if value else ""


def with_destination(value: object, destination: str) -> object:
    """The value of an output parameter with another place."""
    if isinstance(value, QgsProcessingOutputLayerDefinition):
        changed = QgsProcessingOutputLayerDefinition(value)
        changed.sink = QgsProperty.fromValue(destination)
        return changed
    return destination


def _named(name: str, text: str, definition: QgsProcessingParameterDefinition) -> Path:
    """The path, with the usual ending where it has none. Raises InputError for names that programs read differently."""
    path = Path(text).absolute()
    # QGIS takes what follows a bar for the name of a layer; Windows drops blanks and dots at the end, and what begins
    # with a dot is hidden elsewhere, and no name for a layer.
    wrong = [mark for mark in path.name if mark == "|" or not mark.isprintable()]
    if "|" in text or wrong or path.name.strip(" .") != path.name:
        raise InputError(
            tr(
                "{name}: the name “{shown}” would not be read back as it is written: leave out bars and control "
                "characters, and blanks or dots at its ends.",
                name=name,
                shown=visible(text),
            )
        )
    if os.path.isdir(path):  # noqa: PTH112 - that of Path fails for names that are too long
        raise InputError(tr("{name}: {path} is a folder: give the name of a file in it.", name=name, path=path))
    if not path.suffix:
        path = path.with_name(f"{path.name}.{definition.defaultFileExtension()}")
    if path.suffix.lower() == ".gpkg":
        databases.check_table_name(name, path.stem)
    if not os.path.isdir(path.parent):  # noqa: PTH112
        raise InputError(
            tr(
                "{name}: there is no folder {parent}: make it first or choose another place.",
                name=name,
                parent=path.parent,
            )
        )
    return path


def _endings(name: str, path: Path, definition: QgsProcessingParameterDefinition) -> list[str]:
    """Endings of the files that will be written. Raises InputError where the format cannot hold the output."""
    if definition.type() == "fileDestination":
        if path.suffix.lower() not in PAGES:
            raise InputError(
                tr("{name} is a page: give a name that ends in .html, not “{suffix}”.", name=name, suffix=path.suffix)
            )
        return [path.suffix]
    has_shape = definition.dataType() != QgsProcessing.SourceType.TypeVector
    endings = list(written_endings(path.suffix, definition.dataType()))
    if not endings:
        kind, use = (
            (tr("A layer"), tr(".gpkg, .geojson or .shp")) if has_shape else (tr("A table"), tr(".gpkg, .csv or .xlsx"))
        )
        raise InputError(
            tr(
                "{name}: “{suffix}” is not a format that QGIS writes {kind} into and reads back: use {use}.",
                name=name,
                suffix=path.suffix,
                kind=kind.lower(),
                use=use,
            )
        )
    if has_shape and path.suffix.lower() != ".gpkg":
        endings.append(STYLES[0])
    return endings


def _check_nameable(name: str, path: Path, written: list[Path]) -> None:
    journal = [path.with_name(path.name + "-journal")] if path.suffix.lower() in SUFFIXES else []
    for one in [*written, *journal]:
        try:
            os.lstat(one)
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            raise InputError(
                tr(
                    "{name} cannot be written to {path}: {getattr}. Choose another name.",
                    name=name,
                    path=path,
                    getattr=getattr(error, "strerror", error),
                )
            ) from None


def _check_what_is_there(name: str, path: Path, written: list[Path]) -> None:
    for one in written:
        try:
            mode = os.lstat(one).st_mode
        except FileNotFoundError:
            continue
        if stat.S_ISLNK(mode):
            raise InputError(
                tr(
                    "{name}: {one} is a symbolic link to {path}: give the name of the file itself.",
                    name=name,
                    one=one,
                    path=Path(os.path.realpath(one)),
                )
            )
        if not stat.S_ISREG(mode):
            kind = tr("a folder") if stat.S_ISDIR(mode) else tr("not a plain file")
            raise InputError(
                tr(
                    "{name} would be written to {one}, which is {kind}: choose another name.",
                    name=name,
                    one=one,
                    kind=kind,
                )
            )
        if not os.access(one, os.W_OK):
            raise InputError(
                tr("{name}: {one} is write-protected: lift that or choose another name.", name=name, one=one)
            )
    map_file = path.with_suffix(".shp")
    if path.suffix.lower() == ".dbf" and map_file.exists():
        raise InputError(
            tr(
                "{name} is a table, and {path} holds the attributes of {map_file}: choose another name.",
                name=name,
                path=path,
                map_file=map_file,
            )
        )
    refuse_if_held(path, name)
    others = other_tables(path, path.stem)
    if others:
        raise InputError(
            tr(
                "{name}: {path} holds other layers, which would be lost: {first}. Choose another file, or "
                "add a table to it with ogr:dbname='{path}' table=\"{stem}\".",
                name=name,
                path=path,
                first=first_values(others),
                stem=path.stem,
            )
        )


class _Taken:
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
def _table_of(file: Path, position: object) -> str:
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
