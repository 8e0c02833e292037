"""The Processing provider: algorithms and models."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.core import QgsProcessingAlgorithm, QgsProcessingProvider
from qgis.PyQt.QtGui import QIcon

from ..algorithms.dependencies import missing_message
from ..algorithms.named import ICONS, TOOLBOX
from ..algorithms.unavailable import Unavailable


class VbasProvider(QgsProcessingProvider):
    """Provider `vbas`."""

    def id(self) -> str:
        return "vbas"

    def name(self) -> str:
        return "VBAS"

    def longName(self) -> str:
        return "VBAS: k-anonymous regions"

    def icon(self) -> QIcon:
        return QIcon(str(ICONS / "vbas.svg"))

    def svgIconPath(self) -> str:
        return str(ICONS / "vbas.svg")

    def loadAlgorithms(self) -> None:
        for algorithm in _unavailable() if missing_message() else _available():
            self.addAlgorithm(algorithm)


def _unavailable() -> Iterable[QgsProcessingAlgorithm]:
    return map(Unavailable, TOOLBOX)


def _available() -> Iterable[QgsProcessingAlgorithm]:
    # Only here: the forms load core, and core its packages.
    from ..algorithms.catalogue import ALGORITHMS
    from .models import models

    for algorithm in ALGORITHMS:
        yield algorithm()
    yield from models()
