"""The plugin object: it registers the provider, nothing else."""

from __future__ import annotations

from typing import Any

from qgis.core import QgsApplication

from .provider import VbasProvider


class VbasPlugin:
    """What QGIS makes of `classFactory`; `iface` is None headless."""

    def __init__(self, iface: Any) -> None:
        self.iface = iface
        self.provider: VbasProvider | None = None

    def initProcessing(self) -> None:
        """Register the provider; headless QGIS calls this alone."""
        self.provider = VbasProvider()
        QgsApplication.processingRegistry().addProvider(self.provider)

    def initGui(self) -> None:
        """Called by QGIS with a window."""
        self.initProcessing()

    def unload(self) -> None:
        """Take the provider out again."""
        if self.provider is not None:
            QgsApplication.processingRegistry().removeProvider(self.provider)
            self.provider = None
