"""Layers in memory to look at: filled again and again, never delivered, and gone when the looking ends."""

from __future__ import annotations

from qgis.core import QgsMemoryProviderUtils, QgsVectorLayer

from ..tables import GEOMETRY_TYPES, Table
from .styles import describe, style
from .writing import fill

LIKE = "REGION_AUDIT"  # the output whose looks and names of fields they have


def memory_layer(table: Table, title: str, abstract: str) -> QgsVectorLayer:
    """A layer in memory with the rows of a table; title : says that it is internal; abstract : what it is.

    QGIS does not ask whether to save it when it closes.
    """
    layer = QgsMemoryProviderUtils.createMemoryLayer(title, table.qgs_fields, GEOMETRY_TYPES[table.geometry], table.crs)
    layer.setCustomProperty("skipMemoryLayersCheck", 1)
    refill(layer, table)
    describe(layer, title, abstract=abstract)
    return layer


def refill(layer: QgsVectorLayer, table: Table) -> None:
    """Put the rows of a table, of the fields that the layer has, in the place of its rows."""
    provider = layer.dataProvider()
    layer.removeSelection()
    provider.truncate()
    fill(provider, table)
    layer.updateExtents()
    style(layer, LIKE, labelled=True)
    layer.triggerRepaint()
