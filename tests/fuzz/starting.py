"""QGIS without a window, and the toolbox in it."""

from __future__ import annotations

from osgeo import gdal
from qgis.core import QgsApplication
from qgis.testing import start_app

from vbas.vbas_plugin.provider import VbasProvider


def toolbox():
    """The provider, registered; keep it as long as it is needed."""
    start_app()
    QgsApplication.messageLog().messageReceived.disconnect()  # nobody reads a thousand logs
    gdal.PushErrorHandler("CPLQuietErrorHandler")
    provider = VbasProvider()
    QgsApplication.processingRegistry().addProvider(provider)
    return provider
