"""What a run really works with: which parameters count under the choices made, and with which values.

A form declares once, in `conditions`, under which choices a parameter counts (`core/job/conditions.py`). What the form
chooses by itself, such as the parts of a combination, comes from `settled`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from qgis.core import QgsProcessingParameterDefinition, QgsProcessingParameterNumber

from ...core.job.conditions import GIVEN, NOT_GIVEN, Condition, Conditions, Counting, idle_sentence
from ...core.language import all_of, tr, written
from ..layers.inputs import Inputs
from .parameters import label_of
from .understanding import LAYERS

__all__ = ["GIVEN", "NOT_GIVEN", "Condition", "Conditions", "Effective"]


class Effective:
    """The inputs of one run; `conditions` and `settled` as the form declares them."""

    def __init__(self, inputs: Inputs, conditions: Conditions, settled: Mapping[str, object]) -> None:
        self._inputs, self._conditions, self._settled = inputs, conditions, settled
        self._definitions = [
            parameter for parameter in inputs.algorithm.parameterDefinitions() if not parameter.isDestination()
        ]

    def values(self) -> dict[str, object]:
        """Name and value of every input that counts, those left at their default included; layers by their names."""
        names = [definition.name() for definition in self._definitions]
        return {
            name: self._settled[name] if name in self._settled else self._typed(name)
            for name in names
            if (self._settled[name] != "" if name in self._settled else self._missing(name) is None)
        }

    def given(self) -> list[str]:
        """Inputs that were set and have an effect, as they were set."""
        return [
            parameter.name()
            for parameter in self._definitions
            if parameter.name() in self._inputs.parameters
            and parameter.name() not in self._settled
            and self._missing(parameter.name()) is None
        ]

    def sentence(self) -> str:
        """The choices and numbers that the run works with, for the log; empty where there are none."""
        kinds = {definition.name(): definition.type() for definition in self._definitions}
        labels = {definition.name(): label_of(definition) for definition in self._definitions}
        chosen = [
            f"{labels[name]} = {_shown(value, kinds[name])}"
            for name, value in self.values().items()
            if kinds[name] in ("enum", "number", "boolean", "string") and value != ""
        ]
        return tr("Settings used: {chosen}.", chosen=" · ".join(chosen)) if chosen else ""

    def idle(self) -> list[str]:
        """A sentence for every input that was given, is not its default, and has no effect in this run."""
        sentences = []
        for definition in self._definitions:
            name = definition.name()
            if name not in self._inputs.parameters or self._is_default(definition):
                continue
            missing = self._missing(name)
            if missing is not None:
                sentence = idle_sentence(name, _shown(self._typed(name), definition.type()), missing)
                sentences.append(" ".join(filter(None, (sentence, self._instead(missing)))))
        return sentences

    def _is_default(self, definition: QgsProcessingParameterDefinition) -> bool:
        untouched = Inputs(self._inputs.algorithm, {}, self._inputs.context)
        name, default = definition.name(), definition.defaultValue()
        return default is not None and self._typed(name) == self._typed(name, untouched)

    def _words(self, name: str) -> list[str]:
        """What a choice is: what the form settles, else what was typed, else the default."""
        if name in self._settled:
            return [str(self._settled[name])]
        if self._inputs.definition(name).allowMultiple():
            return self._inputs.words(name)
        return [str(self._typed(name))]

    def _typed(self, name: str, inputs: Inputs | None = None) -> object:
        """The value as readers know it: words, whole numbers, names of layers and fields; empty where not given."""
        inputs = inputs or self._inputs
        definition, value = inputs.definition(name), inputs.parameters.get(name)
        kind = definition.type()
        if value is None and definition.defaultValue() is None:
            return ""
        if kind in LAYERS:
            layer = inputs.algorithm.parameterAsLayer(inputs.parameters, name, inputs.context)
            return layer.name() if layer is not None else ""
        if kind == "multilayer":
            layers = inputs.algorithm.parameterAsLayerList(inputs.parameters, name, inputs.context)
            return ", ".join(layer.name() for layer in layers)
        if kind == "field":
            value = inputs.parameters.get(name, definition.defaultValue())
            return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
        if kind == "enum" and definition.allowMultiple():
            return ", ".join(inputs.words(name))
        if kind == "number":
            is_whole = definition.dataType() == QgsProcessingParameterNumber.Type.Integer
            return int(inputs.number(name)) if is_whole else inputs.number(name)
        if kind == "boolean":
            return tr("yes") if inputs.yes(name) else tr("no")
        if kind == "matrix":
            return ", ".join(map(str, inputs.cells(name)))
        return inputs.text(name)

    def _missing(self, name: str) -> Condition | None:
        # Made anew each time: it knows this object, and a circle would keep what a run held until garbage is searched.
        return Counting(self._conditions, self._is_given, self._words, self._settled).missing(name)

    def _is_given(self, name: str) -> bool:
        return self._inputs.parameters.get(name) not in (None, 0)

    def _instead(self, condition: Condition) -> str:
        """What the choices of a condition are instead, as a sentence; empty where it has no choices."""
        chosen = [
            tr("{name} is {words}", name=name, words=all_of(tr("“{word}”", word=word) for word in words))
            if (words := [word for word in self._words(name) if word])
            else tr("{name} is empty", name=name)
            for name, wanted in condition.items()
            if not isinstance(wanted, bool)
        ]
        return tr("Here {chosen}.", chosen=all_of(chosen)) if chosen else ""


def _shown(value: object, kind: str) -> str:
    """A value in a line of the log; a text that holds more than numbers, such as “nan”, as what it is: typed."""
    if isinstance(value, float):
        return written(f"{value:.15g}")
    typed = kind == "string" and not _are_numbers(str(value))
    return tr("“{word}”", word=value) if typed else str(value)


def _are_numbers(text: str) -> bool:
    try:
        return all(math.isfinite(float(word)) for word in text.replace(";", " ").replace(",", " ").split())
    except ValueError:
        return False
