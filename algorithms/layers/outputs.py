"""Outputs: written whole in a staging folder, checked there, and only then put in their place, all together."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from qgis.core import (
    QgsProcessing,
    QgsProcessingAlgorithm,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsProcessingOutputLayerDefinition,
    QgsProcessingUtils,
    QgsProperty,
    QgsProviderRegistry,
    QgsVectorLayer,
)

from ...core.errors import InputError, PrivacyError, VbasError
from .feedback import check_cancelled
from .loading import dress_when_loaded
from .second_count import least_class_of_file, least_class_of_layer
from .styles import describe, store_style, style
from .tables import SecondCount, Table
from .writing import fill_sink, write_file

MEMORY = ("memory:", QgsProcessing.TEMPORARY_OUTPUT)


class Outputs:
    """Collects the outputs of one run; use as a context manager, end with `deliver()`.

    Whatever ends the run before that (an error, Cancel, Ctrl-C) leaves nothing behind.
    """

    def __init__(
        self,
        algorithm: QgsProcessingAlgorithm,
        parameters: dict[str, object],
        context: QgsProcessingContext,
        feedback: QgsProcessingFeedback,
    ) -> None:
        self._algorithm, self._parameters = algorithm, parameters
        self._context, self._feedback = context, feedback
        self._staging = Path(tempfile.mkdtemp(prefix="vbas-"))
        self._files: dict[str, tuple[Path, Path]] = {}
        self._results: dict[str, object] = {}
        self._destinations = self._checked_destinations()

    def __enter__(self) -> Outputs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self._staging, ignore_errors=True)

    def wanted(self, name: str) -> bool:
        """Whether the user asked for this output."""
        return name in self._destinations

    def keep_after_cancel(self) -> None:
        """Write what there is even if the user has cancelled: for results that are of use unfinished."""
        self._feedback = QgsProcessingFeedback()

    def add(self, name: str, table: Table, check: SecondCount | None = None) -> None:
        """Write a table of rows. With a check it is a release: what was written is counted anew, from the file or layer
        itself; a class below k raises PrivacyError.
        """
        if not self.wanted(name):
            return
        destination = self._destinations[name]
        title = self._algorithm.parameterDefinition(name).description()
        if isinstance(destination, Path):
            file = self._stage(name, destination)
            write_file(file, table, title, self._feedback)
            if not file.exists():  # a Shapefile without shapes is a .dbf alone
                file, destination = file.with_suffix(".dbf"), destination.with_suffix(".dbf")
                self._files[name] = (file, destination)
            self._count_file(file, table, check)
            store_style(file, name, title)
        elif destination in MEMORY:
            self._to_sink(name, table, title, check)
        else:
            # A database shows what it is given at once: the release is counted in a file of its own before.
            if check is not None:
                rehearsal = self._staging / "rehearsal.gpkg"
                write_file(rehearsal, table, title, self._feedback)
                self._count_file(rehearsal, table, check)
            self._to_sink(name, table, title, check)

    def add_text(self, name: str, text: Callable[[], str]) -> None:
        """Write a text file, such as a report."""
        if self.wanted(name):
            destination = self._destinations[name]
            if not isinstance(destination, Path):
                raise InputError(f"{name}: give the name of a file.")
            self._stage(name, destination).write_text(text(), encoding="utf-8")

    def deliver(self) -> dict[str, object]:
        """Put all files in their place and return the results of the algorithm."""
        check_cancelled(self._feedback)
        parts: list[tuple[Path, Path]] = []
        try:
            for name, (staged, destination) in self._files.items():
                for file in sorted(staged.parent.iterdir()):
                    target = destination.with_name(destination.stem + file.name[len(staged.stem) :])
                    part = target.with_name(f".{target.name}.part")
                    parts.append((part, target))
                    _copy(file, part, name)
            for part, target in parts:
                part.replace(target)
        except OSError as error:
            raise VbasError(f"The outputs could not be put in their place: {error}. Nothing was changed.") from error
        finally:
            for part, _ in parts:
                part.unlink(missing_ok=True)
        for name, (_, destination) in self._files.items():
            self._results[name] = self._announce(name, destination)
        return self._results

    def _announce(self, name: str, destination: Path) -> str:
        """Tell QGIS of a finished file, so that it is loaded if the user wanted that."""
        if self._algorithm.parameterDefinition(name).type() == "fileDestination":
            return str(destination)
        announced = dict(self._parameters)
        value = announced.get(name)
        if isinstance(value, QgsProcessingOutputLayerDefinition):
            value.sink = QgsProperty.fromValue(str(destination))
        self._algorithm.parameterAsOutputLayer(announced, name, self._context)
        title = self._algorithm.parameterDefinition(name).description()
        dress_when_loaded(self._context, str(destination), self._algorithm, name, title)
        return str(destination)

    def _stage(self, name: str, destination: Path) -> Path:
        folder = self._staging / name
        folder.mkdir()
        file = folder / destination.name
        self._files[name] = (file, destination)
        return file

    def _to_sink(self, name: str, table: Table, title: str, check: SecondCount | None) -> None:
        sink, identifier = fill_sink(self._algorithm, self._parameters, name, table, self._context, self._feedback)
        if sink is None:
            raise VbasError(f"{name} could not be created: check where it is to be written.")
        del sink
        layer = QgsProcessingUtils.mapLayerFromString(identifier, self._context)
        if check is not None:
            least = None if layer is None else least_class_of_layer(layer, check)
            if len(table) and (least is None or least < check.k):
                if layer is not None:
                    layer.dataProvider().truncate()
                raise PrivacyError(
                    f"The second count found a class of fewer than {check.k} records in {name}: what was written was "
                    "removed."
                )
        if isinstance(layer, QgsVectorLayer):
            style(layer, name)
            describe(layer, title)
        dress_when_loaded(self._context, identifier, self._algorithm, name, title)
        self._results[name] = identifier

    def _count_file(self, file: Path, table: Table, check: SecondCount | None) -> None:
        """The second count: what was really written, by another program."""
        if check is None:
            return
        least, rows = least_class_of_file(file, check)
        if rows != len(table):
            raise PrivacyError(f"The release was not written whole ({rows} of {len(table)} rows): nothing was kept.")
        if rows and least < check.k:
            raise PrivacyError(f"The second count found a class of fewer than {check.k} records: nothing was written.")

    def _checked_destinations(self) -> dict[str, Path | str]:
        """Where each wanted output goes. Raises InputError where two go to one file, or one onto an input."""
        destinations: dict[str, Path | str] = {}
        files: dict[Path, str] = self._input_files()
        for definition in self._algorithm.destinationParameterDefinitions():
            text = self._destination_text(definition)
            if not text:
                continue
            name = definition.name()
            if text in MEMORY and definition.type() != "fileDestination":
                destinations[name] = text
                continue
            if text in MEMORY:
                text = definition.generateTemporaryDestination()
            if re.match(r"^[A-Za-z]{2,}:", text):
                destinations[name] = text
                continue
            path = Path(text).absolute()
            if not path.suffix:
                path = path.with_name(f"{path.name}.{definition.defaultFileExtension()}")
            if path in files:
                raise InputError(f"{name} and {files[path]} are the same file, {path}: choose another place for one.")
            if not path.parent.is_dir():
                raise InputError(f"{name}: there is no folder {path.parent}: make it first or choose another place.")
            files[path] = name
            destinations[name] = path
        return destinations

    def _destination_text(self, definition: object) -> str:
        value = self._parameters.get(definition.name(), definition.defaultValue())
        if isinstance(value, QgsProcessingOutputLayerDefinition):
            value = value.sink
        if isinstance(value, QgsProperty):
            value = value.valueAsString(self._context.expressionContext())[0]
        return str(value) if value else ""

    def _input_files(self) -> dict[Path, str]:
        files = {}
        for definition in self._algorithm.parameterDefinitions():
            if definition.isDestination() or definition.type() not in ("source", "vector"):
                continue
            layer = self._algorithm.parameterAsLayer(self._parameters, definition.name(), self._context)
            if layer is not None:
                parts = QgsProviderRegistry.instance().decodeUri(layer.providerType(), layer.source())
                if parts.get("path"):
                    files[Path(str(parts["path"])).absolute()] = definition.name()
        return files


def _copy(file: Path, part: Path, name: str) -> None:
    try:
        shutil.copyfile(file, part)
    except OSError as error:
        raise VbasError(f"{name} cannot be written to {part.parent}: {error.strerror}. Nothing was written.") from error
