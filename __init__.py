"""VBAS for QGIS: release person records with fine geography, k-anonymously."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qgis.gui import QgisInterface

    from .vbas_plugin.provider import VbasPlugin


def classFactory(iface: QgisInterface | None) -> VbasPlugin:
    """Give QGIS the plugin."""
    from qgis.core import QgsApplication

    from .core.language import speak

    # First: what the others show is in a language as soon as they are imported.
    speak(QgsApplication.instance().locale())
    from .vbas_plugin.provider import VbasPlugin

    return VbasPlugin(iface)
