"""A page with the map of the released regions, as a print layout of the project: to be printed, or changed by hand."""

from __future__ import annotations

from qgis.core import (
    QgsLayoutItem,
    QgsLayoutItemLabel,
    QgsLayoutItemLegend,
    QgsLayoutItemMap,
    QgsLayoutItemScaleBar,
    QgsLayoutPoint,
    QgsLayoutSize,
    QgsLegendStyle,
    QgsPrintLayout,
    QgsProject,
    QgsUnitTypes,
    QgsVectorLayer,
)
from qgis.PyQt.QtGui import QFont

from ...core.language import tr

MILLIMETRES = QgsUnitTypes.LayoutUnit.LayoutMillimeters
MARGIN, WIDTH, HEIGHT = 10.0, 297.0, 210.0  # of A4 on its side
TITLE, LEGEND, FOOT = 12.0, 85.0, 14.0
ROOM = 1.05  # around the regions


def map_page(layer: QgsVectorLayer, title: str, said: str) -> QgsPrintLayout:
    """The layout, in the project already, under a name that no other layout has; said : below the map."""
    project = QgsProject.instance()
    manager, name, number = project.layoutManager(), title, 1
    while manager.layoutByName(name) is not None:
        number += 1
        name = f"{title} {number}"
    layout = QgsPrintLayout(project)
    layout.initializeDefaults()
    layout.setName(name)
    shown = QgsLayoutItemMap(layout)
    extent = layer.extent()
    extent.scale(ROOM)
    shown.setRect(0.0, 0.0, WIDTH, HEIGHT)  # a map without a size knows no extent, ever after
    shown.setCrs(layer.crs())
    shown.setExtent(extent)
    _put(layout, shown, MARGIN, MARGIN + TITLE, WIDTH - 3 * MARGIN - LEGEND, HEIGHT - 2 * MARGIN - TITLE - FOOT)
    shown.setLayers([layer])
    shown.setKeepLayerSet(True)
    shown.zoomToExtent(extent)
    legend = QgsLayoutItemLegend(layout)
    legend.setAutoUpdateModel(False)
    tree = legend.model().rootGroup()  # its own copy of the project's: one made here would be gone before it is drawn
    tree.removeAllChildren()
    tree.addLayer(layer)
    legend.setLinkedMap(shown)
    for part in (QgsLegendStyle.Style.Subgroup, QgsLegendStyle.Style.SymbolLabel):
        font = QFont()
        font.setPointSize(8)
        legend.setStyleFont(part, font)
    _put(layout, legend, WIDTH - MARGIN - LEGEND, MARGIN + TITLE, LEGEND, HEIGHT / 2)
    _put(layout, _label(layout, title, 16, True), MARGIN, MARGIN, WIDTH - 2 * MARGIN, TITLE)
    _put(layout, _label(layout, said, 9, False), MARGIN, HEIGHT - MARGIN - FOOT, WIDTH - 2 * MARGIN, FOOT)
    bar = QgsLayoutItemScaleBar(layout)
    bar.setLinkedMap(shown)
    bar.applyDefaultSize()
    _put(layout, bar, WIDTH - MARGIN - LEGEND, HEIGHT - MARGIN - FOOT - 18.0, LEGEND, 15.0)
    manager.addLayout(layout)
    return layout


def text_below() -> str:
    """What stands below the map of a release."""
    return tr(
        "Regions of a release of person records, made with VBAS. The map shows what the release says, and no more."
    )


def _label(layout: QgsPrintLayout, text: str, points: int, bold: bool) -> QgsLayoutItemLabel:
    label = QgsLayoutItemLabel(layout)
    font = QFont()
    font.setPointSize(points)
    font.setBold(bold)
    label.setFont(font)
    label.setText(text)
    return label


def _put(layout: QgsPrintLayout, item: QgsLayoutItem, x: float, y: float, width: float, height: float) -> None:
    layout.addLayoutItem(item)
    item.attemptMove(QgsLayoutPoint(x, y, MILLIMETRES))
    item.attemptResize(QgsLayoutSize(width, height, MILLIMETRES))
