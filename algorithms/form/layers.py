"""The layers that a run was given: opened where they are read, and the log told what is taken of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path

from qgis.core import QgsProcessingFeedback

from ...core.dataclass import dataclass
from ...core.errors import InputError
from ...core.records.columns import Column
from ...core.records.table_file import state_of
from ..layers.inputs import Inputs
from ..layers.reading.checked_source import CheckedSource, checked_source
from ..layers.reading.layer_file import layer_file
from ..layers.reading.records import read_columns
from .refusals import no_layer
from .understanding import with_labels


@dataclass(frozen=True, eq=False)
class LayerTable:
    """A layer as a table of a job (`core.job.job.ReadTable`).

    n_read : by parameter, how many rows were read of it
    """

    source: CheckedSource
    feedback: QgsProcessingFeedback
    n_read: dict[str, int] = field(default_factory=dict)

    @property
    def names(self) -> Sequence[str]:
        """Its fields."""
        return list(self.source.fields().names())

    def columns(self, names: Sequence[str]) -> Mapping[str, Column]:
        """Some of its fields."""
        columns = read_columns(self.source, names, self.feedback)
        self.n_read.update((self.source.name, len(column.codes)) for column in columns.values())
        return columns


class Layers:
    """The layers of one run, by the parameters that give them."""

    def __init__(self, inputs: Inputs, feedback: QgsProcessingFeedback) -> None:
        self._inputs, self.context, self.feedback = inputs, inputs.context, feedback
        self.n_read: dict[str, int] = {}  # rows of the tables that were read, which of some it takes long to count
        self._said: set[str] = set()  # what was said of them
        self._states: dict[Path, object] = {}  # their files, as they were before anything was read of them

    def source(self, name: str) -> CheckedSource:
        """A layer that is there, or one sentence that says it is not."""
        source = self.optional_source(name)
        if source is None:
            raise InputError(no_layer(name, self._inputs.parameters.get(name)))
        return source

    def optional_source(self, name: str) -> CheckedSource | None:
        """A layer, None where it is not given."""
        source = checked_source(self._inputs, name)
        if source is not None:
            self._note(source)
        return source

    def sources(self, name: str) -> list[CheckedSource]:
        """The layers of a parameter that takes several, in the order given."""
        inputs = self._inputs
        layers = inputs.algorithm.parameterAsLayerList(inputs.parameters, name, inputs.context)
        sources = [checked_source(inputs.with_parameters(**{name: layer}), name) for layer in layers]
        lost = [layer.name() for layer, source in zip(layers, sources) if source is None]
        if lost:
            raise InputError(no_layer(name, lost[0]))
        there = [source for source in sources if source is not None]
        for source in there:
            self._note(source)
        return there

    def table(self, name: str) -> LayerTable:
        """A layer as a table."""
        return LayerTable(self.source(name), self.feedback, self.n_read)

    def has_changed(self, file: Path) -> bool:
        """Whether the file of an input is no longer what it was when this run first looked at it."""
        return file in self._states and self._states[file] != state_of(file)

    def _note(self, source: CheckedSource) -> None:
        """Tell once where an input is not the whole layer as it is saved; warn where that was not chosen in the
        form. Remember its file."""
        unchosen = source.unsaved_or_filtered
        for sentence in source.taken:
            if sentence not in self._said:
                self._said.add(sentence)
                say = self.feedback.pushWarning if sentence in unchosen else self.feedback.pushInfo
                say(with_labels(self._inputs.algorithm, sentence))
        file = None if source.layer is None else layer_file(source.layer)
        if file is not None and file.path not in self._states:
            self._states[file.path] = state_of(file.path)
