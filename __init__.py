"""VBAS for QGIS: release person records with fine geography, k-anonymously."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qgis.gui import QgisInterface

    from .core.library.anonymizing import anonymize
    from .core.library.linking import anonymize_linked
    from .core.library.updating import update_release
    from .vbas_plugin.provider import VbasPlugin

__all__ = ["anonymize", "anonymize_linked", "classFactory", "update_release"]


def __getattr__(name: str) -> object:
    """The doors of the library, opened once they are asked for: QGIS, which loads this module first, has to choose the
    language before anything of core is imported."""
    if name == "anonymize":
        from .core.library.anonymizing import anonymize

        return anonymize
    if name == "anonymize_linked":
        from .core.library.linking import anonymize_linked

        return anonymize_linked
    if name == "update_release":
        from .core.library.updating import update_release

        return update_release
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def classFactory(iface: QgisInterface | None) -> VbasPlugin:
    """Give QGIS the plugin."""
    from qgis.core import QgsApplication

    from .core.language import speak

    # First: what the others show is in a language as soon as they are imported.
    speak(QgsApplication.instance().locale())
    from .core.own_packages import find_packages

    find_packages(QgsApplication.qgisSettingsDirPath())
    from .vbas_plugin.provider import VbasPlugin

    return VbasPlugin(iface)
