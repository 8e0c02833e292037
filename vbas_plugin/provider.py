"""The Processing provider: algorithms and models."""

from __future__ import annotations

from pathlib import Path

from qgis.core import QgsProcessingModelAlgorithm, QgsProcessingProvider
from qgis.PyQt.QtGui import QIcon

from ..algorithms.base import GROUPS
from ..algorithms.dependencies import missing_message
from ..algorithms.unavailable import unavailable_algorithms

TITLES = {"anonymizestepbystep": "Anonymise records, step by step (model)"}
ROOT = Path(__file__).resolve().parent.parent


class TitledModel(QgsProcessingModelAlgorithm):
    """A model that shows a title: QGIS would show its id, which has to be one word for the command line."""

    def displayName(self) -> str:
        return TITLES.get(self.name(), self.name())

    def groupId(self) -> str:
        return "anonymise"

    def group(self) -> str:
        return GROUPS["anonymise"]

    def icon(self) -> QIcon:
        return QIcon(str(ROOT / "icons" / "vbas.svg"))


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
            model = TitledModel()
            if model.fromFile(str(file)):
                self.addAlgorithm(model)
