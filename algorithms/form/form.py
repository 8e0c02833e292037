"""The form: what one run was given, how it reports its progress, and where its outputs go."""

from __future__ import annotations

import time
from collections.abc import Collection
from functools import cached_property

from qgis.core import QgsProcessingFeedback, QgsProcessingParameterDefinition

from ...core.job.job import Job, no_table
from ...core.log import QUIET, Log
from ...core.progress import Progress, silent
from ..layers.delivery.outputs import Outputs
from ..layers.feedback import READ, FeedbackLog, check_cancelled, progress_of
from ..layers.inputs import Inputs
from .effective import Effective
from .layers import Layers
from .parameters import INTEGER, label_of_setting
from .understanding import LAYERS, is_blank


class FormJob(Job):
    """What a form was given, parsed once: plain values for core, and the layers for what reads these."""

    layers: Layers

    def __init__(self, inputs: Inputs, layers: Layers | None = None, log: Log = QUIET) -> None:
        """layers : None where no table is read"""
        definitions = [
            definition for definition in inputs.algorithm.parameterDefinitions() if not definition.isDestination()
        ]
        named = [name for name, value in inputs.parameters.items() if not is_blank(value)]
        values = {
            definition.name(): value_of(inputs, definition, definition.name() in named) for definition in definitions
        }
        table, progress = (no_table, silent) if layers is None else (layers.table, progress_of(layers.feedback, 0.0))
        super().__init__(values, named, table, log, progress, inputs.rule_files())
        object.__setattr__(self, "layers", layers)

    def reads_in_part(self, table: str) -> bool:
        """See `Job`."""
        source = None if self.layers is None else self.layers.optional_source(table)
        return source is not None and source.is_in_part


def value_of(inputs: Inputs, definition: QgsProcessingParameterDefinition, is_given: bool) -> object:
    """A parameter as a plain value: words, numbers, names of fields; None of what is a layer."""
    kind, name = definition.type(), definition.name()
    if kind in LAYERS or kind == "multilayer":
        return None
    if kind == "enum" and definition.allowMultiple():
        return inputs.words(name)
    if kind == "field" and definition.allowMultiple():
        return inputs.field_names(name)
    if kind == "matrix":
        return inputs.cells(name) if is_given else []
    if kind == "number":
        return inputs.whole(name) if definition.dataType() == INTEGER else inputs.number(name)
    return inputs.yes(name) if kind == "boolean" else inputs.text(name)


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
        self.layers = Layers(inputs, feedback)

    def declares(self, output: str) -> bool:
        """Whether the algorithm has this numeric output."""
        return self.algorithm.outputDefinition(output) is not None

    def given(self, name: str) -> bool:
        """Whether the user gave an optional parameter."""
        return not is_blank(self.parameters.get(name))

    def cells(self, name: str) -> list[object]:
        """The cells of a table that is filled in by hand, row by row."""
        return super().cells(name) if self.given(name) else []

    @cached_property
    def job(self) -> FormJob:
        """What the form was given, for what reads some of it."""
        # Not with the form as its log: the two would hold each other, and the algorithm, beyond the end of the run.
        return FormJob(self, self.layers, FeedbackLog(self.feedback))

    @property
    def outputs(self) -> Outputs:
        """Where what the run makes goes to."""
        if self._outputs is None:
            raise LookupError("outputs")  # of a form that is only read
        return self._outputs

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
        FeedbackLog(self.feedback).info(*sentences)

    def warn(self, *sentences: str) -> None:
        """Warnings for the log."""
        FeedbackLog(self.feedback).warn(*sentences)

    def seconds(self) -> float:
        """Since the run began."""
        return time.perf_counter() - self._started
