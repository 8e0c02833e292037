"""Where outputs go, and what is refused before any work."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from qgis.core import (
    QgsProcessing,
    QgsProcessingOutputLayerDefinition,
    QgsProcessingParameterDefinition,
    QgsProject,
    QgsProperty,
    QgsProviderRegistry,
)

from ....core.errors import InputError
from ....core.language import tr
from ....core.package.place import refuse_other_folders
from ....core.publish.files import DISK
from ....core.publish.names import check_file_name, check_table_name
from ....core.publish.replacing import check_nameable, check_what_is_there
from ....core.publish.side_files import STYLES, stale_beside
from ....core.secrecy import holds_secret, without_secrets
from ..database_tables.address import DatabaseTable
from ..database_tables.parsing import parse
from ..inputs import Inputs
from .formats import written_endings
from .read_and_written import ReadAndWritten

MEMORY = ("memory:", QgsProcessing.TEMPORARY_OUTPUT)
PAGES, JOB, PRINTED, SEVERAL_TABLES = (".html", ".htm"), ".toml", ".pdf", ".gpkg"


def checked_destinations(inputs: Inputs) -> dict[str, Path | str | DatabaseTable]:
    """Where each wanted output goes: a file, a layer in memory, or a table of a database.

    Raises InputError where one cannot go: onto an input or another output, into a format that cannot be written, onto
    a folder, where there is no folder, over layers that are not its own.
    """
    run, shown = ReadAndWritten(inputs), _shown_files()
    destinations: dict[str, Path | str | DatabaseTable] = {}
    for definition in inputs.algorithm.destinationParameterDefinitions():
        text = destination_text(definition, inputs)
        if not text:
            continue
        name, is_file = definition.name(), definition.type() in ("fileDestination", "folderDestination")
        if text in MEMORY and not is_file:
            destinations[name] = text
            continue
        if text in MEMORY:
            text = definition.generateTemporaryDestination()
        if re.match(r"^[A-Za-z]{2,}:", text):  # one letter is a drive
            if is_file:
                raise InputError(_no_place(name, definition))
            if text.startswith("memory:"):
                destinations[name] = text
                continue
            table = parse(name, text)
            run.add_database_table(name, table)
            destinations[name] = table
            continue
        if definition.type() == "folderDestination":
            destinations[name] = _folder(name, text, run, shown)
            continue
        path = _named(name, text, definition)
        endings = _endings(name, path, definition)
        if path.suffix == ".shp" and ".shp" not in endings:
            path = path.with_suffix(".dbf")
        names = [path.name, *(path.stem + ending for ending in endings), *stale_beside(path)]
        written = [path.with_name(file_name) for file_name in dict.fromkeys(names)]
        check_nameable(name, path, written)
        run.add_file(name, path, written)
        _refuse_shown(name, written, shown)
        check_what_is_there(name, path, written)
        destinations[name] = path
    return destinations


def _no_place(name: str, definition: QgsProcessingParameterDefinition) -> str:
    if definition.type() == "folderDestination":
        return tr("{name}: give the name of a folder.", name=name)
    return tr("{name}: give the name of a file.", name=name)


def _shown_files() -> list[tuple[str, str]]:
    """The files that this project shows, as paths, and the layers that show them."""
    registry, files = QgsProviderRegistry.instance(), []
    for layer in QgsProject.instance().mapLayers().values():
        path = registry.decodeUri(layer.providerType(), layer.source()).get("path")
        if path:
            files.append((DISK.compared(Path(str(path)).absolute()), layer.name()))
    return files


def _refuse_shown(name: str, written: Iterable[Path], shown: list[tuple[str, str]]) -> None:
    """Raise InputError where this QGIS itself keeps a file from being replaced, as it does on Windows."""
    for file in written:
        for layer in [layer for path, layer in shown if path == DISK.compared(file)]:
            try:
                DISK.refuse_to_replace(file)
            except FileNotFoundError:
                break
            except OSError as error:
                raise InputError.saying(
                    "{name}: {file} cannot be replaced while this project shows it as “{layer}”: take that layer out "
                    "of the project, or choose another place.",
                    name=name,
                    file=file,
                    layer=layer,
                ) from error


def _folder(name: str, text: str, run: ReadAndWritten, shown: list[tuple[str, str]]) -> Path:
    """The folder that an output goes to. Raises InputError where it cannot be had, or holds something else."""
    _refuse_secret(name, text)
    path = Path(os.path.abspath(text))  # noqa: PTH100 - without a slash at its end, and links as they are
    check_file_name(name, text if "|" in text else path.name, text)
    if not os.path.isdir(path.parent):  # noqa: PTH112
        raise InputError(_no_folder(name, path))
    there = sorted(path.iterdir()) if os.path.isdir(path) else []  # noqa: PTH112
    _refuse_shown(name, there, shown)
    refuse_other_folders(name, path)
    # A run may not read what it replaces, nor write anything else there.
    run.add_file(name, path, [path, *there])
    return path


def destination_text(definition: QgsProcessingParameterDefinition, inputs: Inputs) -> str:
    """What the user gave as the place of an output."""
    value = inputs.parameters.get(definition.name(), definition.defaultValue())
    if isinstance(value, QgsProcessingOutputLayerDefinition):
        value = value.sink
    if isinstance(value, QgsProperty):
        value = value.valueAsString(inputs.context.expressionContext())[0]
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
    _refuse_secret(name, text)
    path = Path(text).absolute()
    # QGIS takes what follows a bar for the name of a layer, be it in the name of a folder.
    if path.name:
        check_file_name(name, text if "|" in text else path.name, text)
    if os.path.isdir(path):  # noqa: PTH112 - that of Path fails for names that are too long
        raise InputError.saying("{name}: {path} is a folder: give the name of a file in it.", name=name, path=path)
    if not path.suffix:
        path = path.with_name(f"{path.name}.{definition.defaultFileExtension()}")
    if path.suffix.lower() == ".gpkg":
        check_table_name(name, path.stem)
    if not os.path.isdir(path.parent):  # noqa: PTH112
        raise InputError(_no_folder(name, path))
    return path


def _no_folder(name: str, path: Path) -> str:
    return tr(
        "{name}: there is no folder {parent}: make it first or choose another place.",
        name=name,
        parent=path.parent,
    )


def _refuse_secret(name: str, text: str) -> None:
    if holds_secret(text):  # the address of a database, without the word that says so
        raise InputError.saying(
            "{name}: “{shown}” holds a password or token, and is no name of a file: choose another name, or write an "
            "address of a database as QGIS does, such as {example}.",
            name=name,
            shown=without_secrets(text, text),
            example="postgres://dbname='records' host=10.0.0.1 table=\"released\"",
        )


def _endings(name: str, path: Path, definition: QgsProcessingParameterDefinition) -> list[str]:
    """Endings of the files that will be written. Raises InputError where the format cannot hold the output."""
    if definition.type() == "fileDestination":
        # Of files of one kind alone what is said of another ending.
        wrong = {
            JOB: tr("{name} is a job: give a name that ends in .toml, not “{suffix}”.", name=name, suffix=path.suffix),
            PRINTED: tr(
                "{name} is a page to print: give a name that ends in .pdf, not “{suffix}”.",
                name=name,
                suffix=path.suffix,
            ),
            SEVERAL_TABLES: tr(
                "{name} holds several tables: give a name that ends in .gpkg, not “{suffix}”.",
                name=name,
                suffix=path.suffix,
            ),
        }
        wanted = next((ending for ending in wrong if ending in definition.fileFilter()), None)
        if wanted is not None:
            if path.suffix.lower() != wanted:
                raise InputError(wrong[wanted])
            return [path.suffix]
        if path.suffix.lower() not in PAGES:
            raise InputError.saying(
                "{name} is a page: give a name that ends in .html, not “{suffix}”.", name=name, suffix=path.suffix
            )
        return [path.suffix]
    has_shape = definition.dataType() != QgsProcessing.SourceType.TypeVector
    endings = list(written_endings(path.suffix, definition.dataType()))
    if not endings:
        kind, use = (
            (tr("A layer"), tr(".gpkg, .geojson or .shp")) if has_shape else (tr("A table"), tr(".gpkg, .csv or .xlsx"))
        )
        raise InputError.saying(
            "{name}: “{suffix}” is not a format that QGIS writes {kind} into and reads back: use {use}.",
            name=name,
            suffix=path.suffix,
            kind=kind.lower(),
            use=use,
        )
    if has_shape and path.suffix.lower() != ".gpkg":
        endings.append(STYLES[0])
    return endings
