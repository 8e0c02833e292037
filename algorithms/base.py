"""What all algorithms share: names, help, icon, the check for packages, and errors as QGIS shows them."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import ClassVar

from qgis.core import (
    Qgis,
    QgsProcessingAlgorithm,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeatureSource,
    QgsProcessingFeatureSourceDefinition,
    QgsProcessingFeedback,
    QgsProcessingOutputNumber,
    QgsProcessingParameterEnum,
    QgsProcessingUtils,
    QgsVectorLayer,
)
from qgis.PyQt.QtGui import QIcon

from .dependencies import missing_message

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
        rows = [self.HELP]
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
        try:
            return super().checkParameterValues(in_words(self, parameters), context)
        except QgsProcessingException as error:
            return False, str(error)

    def processAlgorithm(
        self, parameters: dict[str, object], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, object]:
        # Headless QGIS 3.22 does not ask canExecute.
        message = missing_message()
        if message:
            raise QgsProcessingException(message)
        from ..core.errors import VbasError
        from .layers.feedback import cancelled_by_signals

        try:
            with cancelled_by_signals(feedback):
                return self.work(in_words(self, parameters), context, feedback)
        except VbasError as error:
            raise QgsProcessingException(str(error)) from None
        except MemoryError:
            raise QgsProcessingException(
                "There is not enough memory for this table: close other programs, or count the records by area and "
                "class in your database first and give the counts as RECORD_COUNT."
            ) from None

    def source(
        self, parameters: dict[str, object], name: str, context: QgsProcessingContext
    ) -> QgsProcessingFeatureSource:
        """A layer that is there, or one sentence that says it is not."""
        source = self.parameterAsSource(parameters, name, context)
        if source is None:
            raise QgsProcessingException(self.invalidSourceError(parameters, name))
        return source

    def layer(self, parameters: dict[str, object], name: str, context: QgsProcessingContext) -> QgsVectorLayer | None:
        """The layer behind a source, also where the parameter restricts it to a selection, a filter or a number.

        QGIS itself gives none then.
        """
        value = parameters.get(name)
        if isinstance(value, QgsProcessingFeatureSourceDefinition):
            text = value.source.valueAsString(context.expressionContext())[0]
            found = QgsProcessingUtils.mapLayerFromString(text, context)
            return found if isinstance(found, QgsVectorLayer) else None
        return self.parameterAsVectorLayer(parameters, name, context)

    def field_names(self, parameters: dict[str, object], name: str, context: QgsProcessingContext) -> list[str]:
        """The fields chosen; QGIS 3.40 renamed the method."""
        read = self.parameterAsStrings if Qgis.QGIS_VERSION_INT >= 34000 else self.parameterAsFields
        return list(read(parameters, name, context))

    def text(self, parameters: dict[str, object], name: str, context: QgsProcessingContext) -> str:
        """A choice among words, or the name of a field; empty where it is not given."""
        definition = self.parameterDefinition(name)
        if definition.type() == "enum":
            return self.parameterAsEnumString(parameters, name, context)
        return self.parameterAsString(parameters, name, context)


def in_words(algorithm: QgsProcessingAlgorithm, parameters: dict[str, object]) -> dict[str, object]:
    """The parameters with choices told by their numbers, as headless QGIS lists them, told by their words.

    Raises QgsProcessingException for a word that is no choice, with those that are.
    """
    words = dict(parameters)
    for definition in algorithm.parameterDefinitions():
        value = words.get(definition.name())
        if definition.type() != "enum" or not isinstance(value, (str, int, list, tuple)):
            continue
        if value in definition.options() or value == "":
            continue
        several = definition.allowMultiple()
        parts = value.split(",") if several and isinstance(value, str) else value if several else [value]
        chosen = [_choice(definition, part) for part in parts if part != ""]
        words[definition.name()] = chosen if several else chosen[0]
    return words


def _choice(definition: QgsProcessingParameterEnum, value: object) -> str:
    options = definition.options()
    text = str(value).strip()
    if text in options:
        return text
    if text.isdecimal() and int(text) < len(options):
        return options[int(text)]
    listed = ", ".join(f"“{option}”" for option in options)
    raise QgsProcessingException(f"{definition.name()} is “{text}”, which is no choice: choose of {listed}.")
