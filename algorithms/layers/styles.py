"""How outputs look and what they say of themselves when QGIS loads them."""

from __future__ import annotations

from pathlib import Path

from qgis.core import (
    QgsClassificationJenks,
    QgsFillSymbol,
    QgsGradientColorRamp,
    QgsGraduatedSymbolRenderer,
    QgsMarkerSymbol,
    QgsSingleSymbolRenderer,
    QgsVectorLayer,
)
from qgis.PyQt.QtGui import QColor

OUTLINE = {"outline_color": "#5b6470", "outline_width": "0.15"}
# Expression, light and dark end of the ramp, by output.
GRADUATED = {
    "RELEASED_REGIONS": ("released", "#eef5f0", "#1b7a5a"),
    "REGION_AUDIT": ('if("records" > 0, 100.0 * "suppressed" / "records", 0)', "#fdf3ea", "#b3261e"),
    "AREAS": ('"population" / $area * 1e6', "#f4f1ea", "#8a5a1c"),
    "AREA_AUDIT": ('"percent_below"', "#fdf3ea", "#b3261e"),
    "GROUPS": ('"least"', "#eef2f9", "#2a5fa5"),
}
SINGLE = {
    "MASKED": {"name": "circle", "color": "#1b7a5a", "outline_color": "#ffffff", "size": "1.6"},
    "VORONOI": {"style": "no", "outline_color": "#7b3fa0", "outline_width": "0.3"},
    "SITE_POINTS": {"name": "circle", "color": "#7b3fa0", "outline_color": "#ffffff", "size": "1.8"},
}
CLASSES = 6


def style(layer: QgsVectorLayer, name: str) -> bool:
    """Give a layer the look of the output of that name; False where it has none (tables)."""
    if name in GRADUATED and layer.isSpatial():
        expression, light, dark = GRADUATED[name]
        renderer = QgsGraduatedSymbolRenderer(expression)
        renderer.setSourceSymbol(QgsFillSymbol.createSimple(OUTLINE))
        renderer.setSourceColorRamp(QgsGradientColorRamp(QColor(light), QColor(dark)))
        renderer.setClassificationMethod(QgsClassificationJenks())
        renderer.updateClasses(layer, CLASSES)
        layer.setRenderer(renderer)
        return True
    if name in SINGLE and layer.isSpatial():
        make = QgsFillSymbol if name == "VORONOI" else QgsMarkerSymbol
        layer.setRenderer(QgsSingleSymbolRenderer(make.createSimple(SINGLE[name])))
        return True
    return False


def describe(layer: QgsVectorLayer, title: str) -> None:
    """Name and metadata: whether the layer is for release or internal is said in both."""
    layer.setName(title)
    metadata = layer.metadata()
    metadata.setTitle(title)
    metadata.setAbstract(title)
    layer.setMetadata(metadata)


def store_style(file: Path, name: str, title: str) -> None:
    """Keep the style with the file: inside a GeoPackage, beside any other format."""
    layer = QgsVectorLayer(str(file), title, "ogr")
    if not layer.isValid() or not style(layer, name):
        return
    if file.suffix.lower() == ".gpkg":
        layer.saveStyleToDatabase(name.lower(), title, True, "")
    else:
        layer.saveNamedStyle(str(file.with_suffix(".qml")))
