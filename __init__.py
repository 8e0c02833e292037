"""VBAS for QGIS: release person records with fine geography, k-anonymously."""


def classFactory(iface):
    """Give QGIS the plugin."""
    from .vbas_plugin.provider import VbasPlugin

    return VbasPlugin(iface)
