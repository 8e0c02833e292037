"""The form: what one run was given, how it reports its progress, and where its outputs go."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from pathlib import Path

from qgis.core import QgsFeatureRequest, QgsProcessingFeedback

from ...core.errors import InputError
from ...core.progress import Progress
from ...core.records.columns import Column
from ...core.records.table_file import state_of
from ..compat import python_value
from ..layers.delivery.outputs import Outputs
from ..layers.feedback import READ, check_cancelled, progress_of
from ..layers.inputs import Inputs
from ..layers.reading.checked_source import CheckedSource, checked_source, field_index
from ..layers.reading.layer_file import layer_file
from ..layers.reading.records import read_columns
from .effective import Effective
from .parameters import label_of_setting
from .refusals import no_layer
from .understanding import is_blank, with_labels


class Form(Inputs):
    """One run of an algorithm: `work(form)` reads its parameters here, and adds what it makes to `outputs`.

    context and feedback are QGIS's, for what reads layers.
    """

    def __init__(
        self, inputs: Inputs, feedback: QgsProcessingFeedback, effective: Effective, outputs: Outputs | None = None
    ) -> None:
        """outputs : None where the form is only read."""
        super().__init__(inputs.algorithm, inputs.parameters, inputs.context)
        self._effective, self.feedback, self._outputs = effective, feedback, outputs
        self.conclusion: tuple[str, ...] = ()  # the last lines of the log
        self._started = time.perf_counter()
        self._told: set[str] = set()  # what was said of the inputs
        self._found: dict[Path, object] = {}  # the files of inputs, as they were before anything was read of them

    def declares(self, output: str) -> bool:
        """Whether the algorithm has this numeric output."""
        return self.algorithm.outputDefinition(output) is not None

    def given(self, name: str) -> bool:
        """Whether the user gave an optional parameter."""
        return not is_blank(self.parameters.get(name))

    def cells(self, name: str) -> list[object]:
        """The cells of a table that is filled in by hand, row by row."""
        return super().cells(name) if self.given(name) else []

    def source(self, name: str) -> CheckedSource:
        """A layer that is there, or one sentence that says it is not."""
        source = self.optional_source(name)
        if source is None:
            raise InputError(no_layer(name, self.parameters.get(name)))
        return source

    def optional_source(self, name: str) -> CheckedSource | None:
        """A layer, None where it is not given."""
        source = checked_source(self, name)
        self._note(source)
        return source

    def sources(self, name: str) -> list[CheckedSource]:
        """The layers of a parameter that takes several, in the order given."""
        layers = self.algorithm.parameterAsLayerList(self.parameters, name, self.context)
        sources = [checked_source(self.with_parameters(**{name: layer}), name) for layer in layers]
        lost = [layer.name() for layer, source in zip(layers, sources) if source is None]
        if lost:
            raise InputError(no_layer(name, lost[0]))
        given = [source for source in sources if source is not None]
        for source in given:
            self._note(source)
        return given

    def _note(self, source: CheckedSource | None) -> None:
        if source is None:
            return
        self._say_what_is_taken(source)
        file = None if source.layer is None else layer_file(source.layer)
        if file is not None and file.path not in self._found:
            self._found[file.path] = state_of(file.path)

    def _say_what_is_taken(self, source: CheckedSource) -> None:
        """Tell once where an input is not the whole layer as it is saved; warn where that was not chosen in the "
        "form."""
        unchosen = source.unsaved_or_filtered
        for sentence in source.taken:
            if sentence not in self._told:
                self._told.add(sentence)
                (self.warn if sentence in unchosen else self.info)(with_labels(self.algorithm, sentence))

    def fields(self, table: str) -> list[str]:
        """The names of the fields of a layer."""
        return list(self.source(table).fields().names())

    def columns(self, table: str, names: Sequence[str]) -> dict[str, Column]:
        """Fields of a layer by the names given."""
        return read_columns(self.source(table), names, self.feedback)

    def values_in(self, table: str, name: str) -> list[object]:
        """The values of one field of a layer, in its order."""
        source = self.source(table)
        index = field_index(source.fields(), name, table, table)
        request = QgsFeatureRequest().setFlags(QgsFeatureRequest.Flag.NoGeometry).setSubsetOfAttributes([index])
        return [python_value(feature[index]) for feature in source.getFeatures(request)]

    @property
    def outputs(self) -> Outputs:
        """Where what the run makes goes to."""
        if self._outputs is None:
            raise LookupError("outputs")  # of a form that is only read
        return self._outputs

    def has_changed(self, file: Path) -> bool:
        """Whether the file of an input is no longer what it was when this run first looked at it."""
        return file in self._found and self._found[file] != state_of(file)

    def given_inputs(self) -> list[str]:
        """The names of the inputs that were given and count in this run."""
        return self._effective.given()

    def rows(self, only: Collection[str] | None = None) -> list[tuple[str, object]]:
        """(label, value) of all inputs that count in this run, as reports list them; those left at their default
        included. only : names of those that are wanted, None for all

        What has no effect is left out, and what the form chooses itself (the parts of a combination) takes the place of
        what was typed.
        """
        return [
            (f"{label_of_setting(self.definition(name))} ({name})", value)
            for name, value in self._effective.values().items()
            if only is None or name in only
        ]

    def values(self) -> dict[str, object]:
        """Name and value of every input that counts in this run, as `rows` tells them."""
        return self._effective.values()

    def progress(self, start: float = READ, stop: float = 100.0) -> Progress:
        """A progress callable for the stretch from start to stop, in per cent; it raises to cancel."""
        return progress_of(self.feedback, start, stop)

    def check_cancelled(self) -> None:
        """Raise Cancelled once the user has pressed Cancel."""
        check_cancelled(self.feedback)

    def info(self, *sentences: str) -> None:
        """Lines for the log."""
        for sentence in sentences:
            self.feedback.pushInfo(sentence)

    def warn(self, *sentences: str) -> None:
        """Warnings for the log."""
        for sentence in sentences:
            self.feedback.pushWarning(sentence)

    def seconds(self) -> float:
        """Since the run began."""
        return time.perf_counter() - self._started
