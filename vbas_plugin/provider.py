"""The plugin object, and the Processing provider that it registers: algorithms and models."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from typing import Any

from qgis.core import Qgis, QgsApplication, QgsMessageLog, QgsProcessingAlgorithm, QgsProcessingProvider
from qgis.PyQt.QtGui import QIcon

from ..algorithms.named import ICONS, TOOLBOX
from ..algorithms.unavailable import Unavailable, missing_message, not_loaded
from ..core.garbage import garbage_looked_for_seldom
from ..core.language import tr


class VbasProvider(QgsProcessingProvider):
    """Provider `vbas`."""

    def id(self) -> str:
        return "vbas"

    def name(self) -> str:
        return "VBAS"

    def longName(self) -> str:
        return tr("VBAS: k-anonymous regions")

    def icon(self) -> QIcon:
        return QIcon(str(ICONS / "vbas.svg"))

    def svgIconPath(self) -> str:
        return str(ICONS / "vbas.svg")

    def loadAlgorithms(self) -> None:
        for algorithm in _algorithms():
            self.addAlgorithm(algorithm)


def _algorithms() -> list[QgsProcessingAlgorithm]:
    try:
        why = missing_message()
        if not why:
            with garbage_looked_for_seldom():
                return list(_available())
    except Exception as error:
        # QGIS would show it in a window, and wait for a hand to close that where there is no screen.
        why = not_loaded(error)
        QgsMessageLog.logMessage(traceback.format_exc(), "VBAS", Qgis.MessageLevel.Critical)
    return [Unavailable(algorithm, why) for algorithm in TOOLBOX]


def _available() -> Iterable[QgsProcessingAlgorithm]:
    # Only here: the forms load core, and core its packages.
    from ..algorithms.catalogue import ALGORITHMS
    from .models import models

    for algorithm in ALGORITHMS:
        yield algorithm()
    yield from models()


class VbasPlugin:
    """What QGIS makes of `classFactory`; `iface` is None headless."""

    def __init__(self, iface: Any) -> None:
        self.iface = iface
        self.provider: VbasProvider | None = None
        self.release: Any = None
        self.packages: Any = None

    def initProcessing(self) -> None:
        """Register the provider; headless QGIS calls this alone."""
        self.provider = VbasProvider()
        QgsApplication.processingRegistry().addProvider(self.provider)

    def initGui(self) -> None:
        """Called by QGIS with a window."""
        self.initProcessing()
        # Only here: a headless QGIS has no widgets.
        from .release.entry import ReleaseEntry

        self.release = ReleaseEntry(self.iface)
        from .packages.entry import PackagesEntry

        self.packages = PackagesEntry(self.iface)

    def unload(self) -> None:
        """Take the dock, the entries in the menu and the provider out again."""
        if self.packages is not None:
            self.packages.remove()
            self.packages = None
        if self.release is not None:
            self.release.remove()
            self.release = None
        if self.provider is not None:
            QgsApplication.processingRegistry().removeProvider(self.provider)
            self.provider = None
