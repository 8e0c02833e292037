"""The toolbox of a QGIS that lacks a package: the same names, which say what is missing."""

from __future__ import annotations

from html import escape

from qgis.core import QgsProcessingContext, QgsProcessingException, QgsProcessingFeedback

from .dependencies import missing_message
from .named import NamedAlgorithm


class Unavailable(NamedAlgorithm):
    """An algorithm whose form cannot be loaded: without parameters, and not to be run."""

    def __init__(self, ID: str) -> None:
        super().__init__()
        self.ID = ID

    def createInstance(self) -> Unavailable:
        return type(self)(self.ID)

    def initAlgorithm(self, configuration: dict[str, object] | None = None) -> None:
        """There is nothing to declare."""

    def shortHelpString(self) -> str:
        return f"<p><b>{escape(missing_message())}</b></p>"

    def canExecute(self) -> tuple[bool, str]:
        return False, missing_message()

    def checkParameterValues(self, parameters: dict[str, object], context: QgsProcessingContext) -> tuple[bool, str]:
        # The dialog of QGIS 3.22 does not ask canExecute: it opens, and this is what its Run button asks.
        return self.canExecute()

    def processAlgorithm(
        self, parameters: dict[str, object], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, object]:
        # Headless QGIS 3.22 does not ask canExecute.
        raise QgsProcessingException(missing_message())
