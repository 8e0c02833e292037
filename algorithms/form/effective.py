"""What a run really works with: which parameters count under the choices made, and with which values.

A form declares once, in `counts`, under which choices a parameter counts:

    {"N_SITES": [{"SITE_NUMBER": ["given number"]}], "RECORD_COUNT": [{"RECORDS": GIVEN}]}

Every mapping of the list must hold, and one holds where any of its entries does. What the form chooses by itself, such
as the parts of a combination, comes from `settled`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Union

from qgis.core import QgsProcessingAlgorithm, QgsProcessingContext, QgsProcessingParameterNumber

from .understanding import LAYERS, words_of

GIVEN, NOT_GIVEN = True, False
Condition = Mapping[str, Union[Collection[str], bool]]
Counts = Mapping[str, Sequence[Condition]]


class Effective:
    """The inputs of one run: `parameters` as `understood` gives them, `counts` and `settled` as the form declares."""

    def __init__(
        self,
        algorithm: QgsProcessingAlgorithm,
        counts: Counts,
        settled: Mapping[str, object],
        parameters: dict[str, object],
        context: QgsProcessingContext,
    ) -> None:
        self._algorithm, self._counts, self._settled = algorithm, counts, settled
        self._parameters, self._context = parameters, context
        self._inputs = [one for one in algorithm.parameterDefinitions() if not one.isDestination()]

    def values(self) -> dict[str, object]:
        """Name and value of every input that counts, those left at their default included; layers by their names."""
        names = [definition.name() for definition in self._inputs]
        return {
            name: self._settled[name] if name in self._settled else self._typed(name)
            for name in names
            if (self._settled[name] != "" if name in self._settled else self._missing(name) is None)
        }

    def sentence(self) -> str:
        """The choices and numbers that the run works with, for the log; empty where there are none."""
        kinds = {definition.name(): definition.type() for definition in self._inputs}
        told = [
            f"{name} = {_shown(value)}"
            for name, value in self.values().items()
            if kinds[name] in ("enum", "number", "boolean", "string") and value != ""
        ]
        return f"In effect: {'; '.join(told)}." if told else ""

    def idle(self) -> list[str]:
        """A sentence for every input that was given, is not its default, and counts for nothing in this run."""
        sentences = []
        for definition in self._inputs:
            name = definition.name()
            if name not in self._parameters or self._is_default(definition):
                continue
            missing = self._missing(name)
            if missing is not None:
                sentences.append(
                    f"{name} = {_shown(self._typed(name))} counts for nothing here: it counts where {_told(missing)}"
                    f"{self._instead(missing)}."
                )
        return sentences

    def _is_default(self, definition: object) -> bool:
        name, default = definition.name(), definition.defaultValue()  # type: ignore[attr-defined]
        return default is not None and self._typed(name) == self._typed(name, {})

    def _words(self, name: str) -> list[str]:
        """What a choice is: what the form settles, else what was typed, else the default."""
        if name in self._settled:
            return [str(self._settled[name])]
        if self._algorithm.parameterDefinition(name).allowMultiple():
            return words_of(self._algorithm, self._parameters, name, self._context)
        return [str(self._typed(name))]

    def _typed(self, name: str, parameters: dict[str, object] | None = None) -> object:
        """The value as readers know it: words, whole numbers, names of layers and fields; empty where not given."""
        algorithm, context = self._algorithm, self._context
        given = self._parameters if parameters is None else parameters
        definition = algorithm.parameterDefinition(name)
        kind = definition.type()
        if given.get(name) is None and definition.defaultValue() is None:
            return ""
        if kind in LAYERS:
            layer = algorithm.parameterAsLayer(given, name, context)
            return layer.name() if layer is not None else ""
        if kind == "field":
            value = given.get(name, definition.defaultValue())
            return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
        if kind == "enum" and definition.allowMultiple():
            return ", ".join(words_of(algorithm, given, name, context))
        if kind == "enum":
            return algorithm.parameterAsEnumString(given, name, context)
        if kind == "number":
            number = algorithm.parameterAsDouble(given, name, context)
            return int(number) if definition.dataType() == QgsProcessingParameterNumber.Type.Integer else number
        if kind == "boolean":
            return "yes" if algorithm.parameterAsBool(given, name, context) else "no"
        if kind == "matrix":
            return ", ".join(map(str, algorithm.parameterAsMatrix(given, name, context)))
        return algorithm.parameterAsString(given, name, context)

    def _missing(self, name: str) -> Condition | None:
        """The first condition of a parameter that does not hold, None where all do."""
        for condition in self._counts.get(name, ()):
            if not any(self._holds(choice, wanted) for choice, wanted in condition.items()):
                return condition
        return None

    def _holds(self, name: str, wanted: Collection[str] | bool) -> bool:
        if isinstance(wanted, bool):
            return (self._parameters.get(name) not in (None, 0)) == wanted
        if name not in self._settled and self._missing(name) is not None:
            return False  # a choice that counts for nothing makes nothing else count
        return not set(self._words(name)).isdisjoint(wanted)

    def _instead(self, condition: Condition) -> str:
        """What the choices of a condition are instead."""
        told = [
            f"{name} is {' and '.join(f'“{word}”' for word in self._words(name)) or 'empty'}"
            for name, wanted in condition.items()
            if not isinstance(wanted, bool)
        ]
        return f", and {' and '.join(told)}" if told else ""


def _shown(value: object) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _told(condition: Condition) -> str:
    """A condition in words."""
    parts = []
    for name, wanted in condition.items():
        if isinstance(wanted, bool):
            parts.append(f"{name} is {'given' if wanted else 'not given'}")
        else:
            parts.append(f"{name} is {' or '.join(f'“{word}”' for word in wanted)}")
    return " or ".join(parts)
