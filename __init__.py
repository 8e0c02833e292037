"""VBAS for QGIS: release person records with fine geography, k-anonymously."""


def classFactory(iface):
    """Give QGIS the plugin."""
    from qgis.core import QgsApplication

    from .core.language import speak

    # First: what the others show is in a language as soon as they are imported.
    speak(QgsApplication.instance().locale())
    from .vbas_plugin.provider import VbasPlugin

    return VbasPlugin(iface)
