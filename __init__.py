"""VBAS for QGIS: release person records with the finest geography that k-anonymity allows."""


def classFactory(iface):
    """Give QGIS the plugin."""
    from .vbas_plugin.plugin import VbasPlugin

    return VbasPlugin(iface)
