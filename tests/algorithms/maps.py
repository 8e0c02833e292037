"""What a layer looks like on a map."""

from __future__ import annotations

import numpy as np
from qgis.core import QgsFeatureRequest, QgsMapRendererCustomPainterJob, QgsMapSettings, QgsRenderContext
from qgis.PyQt.QtCore import QSize
from qgis.PyQt.QtGui import QColor, QImage, QPainter

SIDE = 300


def assert_drawn(layer):
    """The renderer has a symbol or classes, draws each feature, and the map is not blank where there are any."""
    items = layer.renderer().legendSymbolItems()
    assert items, f"{layer.name()} has no symbol"
    blank = features_without_symbol(layer)
    assert not blank, f"{layer.name()}: {len(blank)} of {layer.featureCount()} features are not drawn"
    if layer.featureCount():
        colours = drawn_colours(layer)
        assert len(colours) > 1, f"{layer.name()} draws nothing"


def features_without_symbol(layer):
    """The features that the renderer leaves out."""
    renderer = layer.renderer().clone()
    settings = map_settings(layer)
    context = QgsRenderContext.fromMapSettings(settings)
    context.expressionContext().appendScope(layer.createExpressionContextScope())
    renderer.startRender(context, layer.fields())
    left_out = []
    for feature in layer.getFeatures(QgsFeatureRequest()):
        context.expressionContext().setFeature(feature)
        if not [one for one in renderer.symbolsForFeature(feature, context) if one is not None]:
            left_out.append(feature.attributes())
    renderer.stopRender(context)
    return left_out


def drawn_colours(layer):
    """The colours of a picture of the whole layer, white paper included."""
    picture = draw(layer)
    pixels = picture.constBits()
    pixels.setsize(picture.sizeInBytes())
    return set(np.frombuffer(bytes(pixels), dtype="<u4").tolist())


def draw(layer, labels=True):
    """A picture of the whole layer."""
    settings = map_settings(layer)
    settings.setFlag(_flag("DrawLabeling"), labels)
    picture = QImage(settings.outputSize(), QImage.Format.Format_RGB32)
    picture.fill(QColor("white"))
    painter = QPainter(picture)
    job = QgsMapRendererCustomPainterJob(settings, painter)
    job.start()
    job.waitForFinished()
    painter.end()
    assert not job.errors(), [error.message for error in job.errors()]
    return picture


def map_settings(layer):
    """The whole layer, with room around."""
    settings = QgsMapSettings()
    settings.setLayers([layer])
    settings.setDestinationCrs(layer.crs())
    settings.setOutputSize(QSize(SIDE, SIDE))
    settings.setBackgroundColor(QColor("white"))
    extent = layer.extent()
    extent.scale(1.1)
    settings.setExtent(extent)
    return settings


def _flag(name):
    from qgis.core import Qgis

    # QGIS 3.22 keeps the flags with the settings, later ones in Qgis.
    return getattr(getattr(Qgis, "MapSettingsFlag", None) or QgsMapSettings.Flag, name)
