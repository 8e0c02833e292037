"""What all algorithms share: names, help, icon, the check for packages, and errors as QGIS shows them."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from qgis.core import (
    Qgis,
    QgsProcessingAlgorithm,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeatureSourceDefinition,
    QgsProcessingFeedback,
    QgsProcessingOutputNumber,
)
from qgis.PyQt.QtGui import QIcon

from ..core.errors import VbasError
from .dependencies import missing_message
from .effective import Counts, Effective
from .naming import as_spelled, with_labels
from .understanding import understood, words_of

if TYPE_CHECKING:
    from .layers.checked_source import CheckedSource

ICONS = Path(__file__).resolve().parent.parent / "icons"
GROUPS = {
    "anonymise": "Anonymise",
    "steps": "Steps",
    "compare": "Compare",
    "points": "Points",
    "cells": "Cells over time",
    "baselines": "Baselines",
    "testdata": "Test data",
}


class VbasAlgorithm(QgsProcessingAlgorithm):
    """A form over core. A subclass names itself, declares its parameters in `declare` and works in `work`."""

    ID: ClassVar[str]
    TITLE: ClassVar[str]
    GROUP: ClassVar[str]
    TAGS: ClassVar[str] = ""
    SUMMARY: ClassVar[str]
    """One sentence for the tooltip."""
    HELP: ClassVar[str]
    """What it does and when to use it: paragraphs of HTML."""

    def declare(self) -> None:
        """Add the parameters and outputs."""
        raise NotImplementedError

    def work(
        self, parameters: dict[str, object], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, object]:
        """Do the work; VbasError is turned into what QGIS shows."""
        raise NotImplementedError

    def counts(self) -> Counts:
        """Under which choices a parameter counts, see `effective`; one that is not named counts always."""
        return {}

    def settled(self, parameters: dict[str, object], context: QgsProcessingContext) -> Mapping[str, object]:
        """Values that the form puts in the place of what was typed; an empty text where it needs none."""
        return {}

    def effective(self, parameters: dict[str, object], context: QgsProcessingContext) -> Effective:
        """What a run with these parameters really works with."""
        return Effective(self, self.counts(), self.settled(parameters, context), parameters, context)

    def createInstance(self) -> VbasAlgorithm:
        return type(self)()

    def name(self) -> str:
        return self.ID

    def displayName(self) -> str:
        return self.TITLE

    def groupId(self) -> str:
        return self.GROUP

    def group(self) -> str:
        return GROUPS[self.GROUP]

    def tags(self) -> list[str]:
        return ["vbas", "k-anonymity", "anonymization", "privacy", *self.TAGS.split(",")]

    def icon(self) -> QIcon:
        return QIcon(str(ICONS / f"{self.ID}.svg"))

    def shortDescription(self) -> str:
        return self.SUMMARY

    def shortHelpString(self) -> str:
        """The help panel: the text of the form, then every parameter and output with its own help."""
        message = missing_message()
        rows = [f"<p><b>{escape(message)}</b></p>" if message else "", self.HELP]
        for heading, destination in (("Parameters", False), ("Outputs", True)):
            items = [
                f"<p><b>{escape(p.description())}</b><br>{escape(p.help())}</p>"
                for p in self.parameterDefinitions()
                if p.isDestination() == destination
            ]
            if items:
                rows.append(f"<h3>{heading}</h3>" + "".join(items))
        return "".join(rows)

    def canExecute(self) -> tuple[bool, str]:
        message = missing_message()
        return not message, message

    def initAlgorithm(self, configuration: dict[str, object] | None = None) -> None:
        # Without its packages core cannot be asked for its approaches: the algorithm stays in the list, and says what
        # is missing when it is run.
        if not missing_message():
            self.declare()

    def addNumbers(self, **labels: str) -> None:
        """Declare numeric outputs by name and label."""
        for name, label in labels.items():
            self.addOutput(QgsProcessingOutputNumber(name, label))

    def checkParameterValues(self, parameters: dict[str, object], context: QgsProcessingContext) -> tuple[bool, str]:
        # The dialog of QGIS 3.22 does not ask canExecute: it opens, and this is what its Run button asks.
        message = missing_message()
        if message:
            return False, message
        try:
            return super().checkParameterValues(understood(self, parameters, context), context)
        except QgsProcessingException as error:
            return False, with_labels(self, str(error))

    def processAlgorithm(
        self, parameters: dict[str, object], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, object]:
        problem = ""
        try:
            return self._result(parameters, context, feedback)
        except (VbasError, QgsProcessingException) as error:
            problem = with_labels(self, str(error))
        except ArithmeticError as error:
            problem = (
                f"The numbers given are too large or too small to be worked with ({error}): look for a slip in the "
                "parameters, and in the populations and counts."
            )
        except MemoryError:
            problem = (
                "There is not enough memory for this table: close other programs, or count the records by area and "
                "class in your database first and give the counts as RECORD_COUNT."
            )
        # QGIS never lets go of an exception that an algorithm raises. Raised here, it holds on to none of the records.
        raise QgsProcessingException(problem)

    def _result(
        self, parameters: dict[str, object], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, object]:
        # Headless QGIS 3.22 does not ask canExecute.
        message = missing_message()
        if message:
            raise QgsProcessingException(message)
        from .layers.feedback import cancelled_by_signals

        with cancelled_by_signals(feedback):
            given = as_spelled(self, understood(self, parameters, context), context)
            effective = self.effective(given, context)
            for sentence in effective.idle():
                feedback.pushWarning(sentence)
            feedback.pushInfo(effective.sentence())
            return self.work(given, context, feedback)

    def source(self, parameters: dict[str, object], name: str, context: QgsProcessingContext) -> CheckedSource:
        """A layer that is there, or one sentence that says it is not."""
        source = self.optional_source(parameters, name, context)
        if source is None:
            raise QgsProcessingException(self.invalidSourceError(parameters, name))
        return source

    def optional_source(
        self, parameters: dict[str, object], name: str, context: QgsProcessingContext
    ) -> CheckedSource | None:
        """A layer, None where it is not given."""
        from .layers.checked_source import CheckedSource

        source = self.parameterAsSource(parameters, name, context)
        if source is None:
            return None
        value = parameters.get(name)
        if isinstance(value, QgsProcessingFeatureSourceDefinition):
            # QGIS finds the layer behind a definition only by what the definition was made from.
            parameters = {**parameters, name: value.source.valueAsString(context.expressionContext())[0]}
        return CheckedSource(name, source, value, self.parameterAsVectorLayer(parameters, name, context))

    def field_names(self, parameters: dict[str, object], name: str, context: QgsProcessingContext) -> list[str]:
        """The fields chosen; QGIS 3.40 renamed the method."""
        read = self.parameterAsStrings if Qgis.QGIS_VERSION_INT >= 34000 else self.parameterAsFields
        return list(read(parameters, name, context))

    def words(self, parameters: dict[str, object], name: str, context: QgsProcessingContext) -> list[str]:
        """The words of a choice among several."""
        return words_of(self, parameters, name, context)

    def text(self, parameters: dict[str, object], name: str, context: QgsProcessingContext) -> str:
        """A choice among words, or the name of a field; empty where it is not given."""
        definition = self.parameterDefinition(name)
        if definition.type() == "enum":
            return self.parameterAsEnumString(parameters, name, context)
        return self.parameterAsString(parameters, name, context)
