"""The Processing provider: algorithms and models."""

from __future__ import annotations

from pathlib import Path

from qgis.core import (
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProcessingModelAlgorithm,
    QgsProcessingProvider,
)
from qgis.PyQt.QtGui import QIcon

from ..algorithms.base import GROUPS
from ..algorithms.dependencies import missing_message
from ..algorithms.naming import with_labels
from ..algorithms.unavailable import unavailable_algorithms
from ..algorithms.understanding import understood

TITLES = {"anonymizestepbystep": "Anonymise records, step by step (model)"}
ROOT = Path(__file__).resolve().parent.parent


class TitledModel(QgsProcessingModelAlgorithm):
    """A model that shows a title: QGIS would show its id, which has to be one word for the command line.

    It has the inputs of the main algorithm, and understands them as that does.
    """

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        self.readable = self.fromFile(str(file))
        self.setSourceFilePath(str(file))

    def createInstance(self) -> TitledModel:
        return type(self)(self._file)

    def displayName(self) -> str:
        return TITLES.get(self.name(), self.name())

    def groupId(self) -> str:
        return "anonymise"

    def group(self) -> str:
        return GROUPS["anonymise"]

    def icon(self) -> QIcon:
        return QIcon(str(ROOT / "icons" / "vbas.svg"))

    def checkParameterValues(self, parameters: dict[str, object], context: QgsProcessingContext) -> tuple[bool, str]:
        # Headless QGIS asks the model that was read with the provider, before its steps were there to give it outputs.
        whole = self.createInstance()
        try:
            return QgsProcessingModelAlgorithm.checkParameterValues(
                whole, understood(whole, parameters, context), context
            )
        except QgsProcessingException as error:
            return False, with_labels(whole, str(error))

    def processAlgorithm(
        self, parameters: dict[str, object], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, object]:
        from ..algorithms import configuring
        from ..algorithms.effective import Effective

        given = understood(self, parameters, context)
        settled = configuring.settled_by_combination(self, given, context)
        for sentence in Effective(self, configuring.counts_with_combination(), settled, given, context).idle():
            feedback.pushWarning(sentence)
        return super().processAlgorithm(given, context, feedback)


class VbasProvider(QgsProcessingProvider):
    """Provider `vbas`."""

    def id(self) -> str:
        return "vbas"

    def name(self) -> str:
        return "VBAS"

    def longName(self) -> str:
        return "VBAS: k-anonymous regions"

    def icon(self) -> QIcon:
        return QIcon(str(ROOT / "icons" / "vbas.svg"))

    def svgIconPath(self) -> str:
        return str(ROOT / "icons" / "vbas.svg")

    def loadAlgorithms(self) -> None:
        if missing_message():
            for algorithm in unavailable_algorithms():
                self.addAlgorithm(algorithm)
            return
        from ..algorithms.catalogue import ALGORITHMS

        for algorithm in ALGORITHMS:
            self.addAlgorithm(algorithm())
        for file in sorted((ROOT / "models").glob("*.model3")):
            model = TitledModel(file)
            if model.readable:
                self.addAlgorithm(model)
