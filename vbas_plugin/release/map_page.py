"""A page with the map of the released regions, as a print layout of the project: to be printed, or changed by hand."""

from __future__ import annotations

from pathlib import Path

from qgis.core import (
    QgsApplication,
    QgsCoordinateReferenceSystem,
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
    QgsReadWriteContext,
    QgsRectangle,
    QgsUnitTypes,
    QgsVectorLayer,
)
from qgis.PyQt.QtGui import QFont

from ...core.language import tr
from ...core.publish.files import DISK

MILLIMETRES = QgsUnitTypes.LayoutUnit.LayoutMillimeters
MARGIN, WIDTH, HEIGHT = 10.0, 297.0, 210.0  # of A4 on its side
TITLE, LEGEND, FOOT = 12.0, 85.0, 14.0
ROOM = 1.05  # around the regions
LEGEND_POINTS = (8, 7, 6, 5)  # as large as fits: nested releases have many levels
PARTED_AT = ", "  # where lines of the legend may be broken
TEMPLATES = "composer_templates"  # the folder of a profile in which QGIS looks for templates of layouts


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
    shown, legend = _laid_out(layout, _around(layer), layer.crs(), title, said)
    shown.setLayers([layer])
    shown.setKeepLayerSet(True)
    legend.setAutoUpdateModel(False)
    tree = legend.model().rootGroup()  # its own copy of the project's: one made here would be gone before it is drawn
    tree.removeAllChildren()
    tree.addLayer(layer)
    _fit(legend)
    manager.addLayout(layout)
    return layout


def keep_template(layer: QgsVectorLayer, said: str) -> str:
    """Put the page among the templates of the user's profile, where the layout manager offers it, in place of an
    earlier one; its name, empty where the profile cannot be written.

    It knows the place of a layer, but no layer: a layout made of it shows there what its project does, under its own
    name. said : below the map
    """
    layout = QgsPrintLayout(QgsProject.instance())
    layout.initializeDefaults()
    name = tr("VBAS release")
    layout.setName(name)
    _laid_out(layout, _around(layer), layer.crs(), "[% @layout_name %]", said)
    folder = Path(QgsApplication.qgisSettingsDirPath()) / TEMPLATES
    try:
        if not DISK.is_folder(folder):
            DISK.make_folder(folder)
    except OSError:
        return ""
    return name if layout.saveAsTemplate(str(folder / f"{name}.qpt"), QgsReadWriteContext()) else ""


def _around(layer: QgsVectorLayer) -> QgsRectangle:
    extent = layer.extent()
    extent.scale(ROOM)
    return extent


def _laid_out(
    layout: QgsPrintLayout, extent: QgsRectangle, crs: QgsCoordinateReferenceSystem, title: str, said: str
) -> tuple[QgsLayoutItemMap, QgsLayoutItemLegend]:
    """Put a map, its legend, a scale and words onto the page; the map and the legend."""
    shown = QgsLayoutItemMap(layout)
    shown.setRect(0.0, 0.0, WIDTH, HEIGHT)  # a map without a size knows no extent, ever after
    if crs.isValid():
        shown.setCrs(crs)
    shown.setExtent(extent)
    _put(layout, shown, MARGIN, MARGIN + TITLE, WIDTH - 3 * MARGIN - LEGEND, HEIGHT - 2 * MARGIN - TITLE - FOOT)
    shown.zoomToExtent(extent)
    legend = QgsLayoutItemLegend(layout)
    legend.setLinkedMap(shown)
    _write_in(legend, LEGEND_POINTS[0])
    _put(layout, legend, WIDTH - MARGIN - LEGEND, MARGIN + TITLE, LEGEND, HEIGHT / 2)
    _put(layout, _label(layout, title, 16, True), MARGIN, MARGIN, WIDTH - 2 * MARGIN, TITLE)
    _put(layout, _label(layout, said, 9, False), MARGIN, HEIGHT - MARGIN - FOOT, WIDTH - 2 * MARGIN, FOOT)
    bar = QgsLayoutItemScaleBar(layout)
    bar.setLinkedMap(shown)
    small = bar.textFormat()
    small.setSize(LEGEND_POINTS[0])
    bar.setTextFormat(small)
    bar.applyDefaultSize(bar.guessUnits())  # kilometres, where numbers of metres would run into each other
    _put(layout, bar, WIDTH - MARGIN - LEGEND, HEIGHT - MARGIN - FOOT - 18.0, LEGEND, 15.0)
    return shown, legend


def _fit(legend: QgsLayoutItemLegend) -> None:
    """Have the legend stay on the page, and above the scale."""
    legend.setWrapString(PARTED_AT)
    for points in LEGEND_POINTS:
        _write_in(legend, points)
        legend.adjustBoxSize()
        if legend.rect().width() <= LEGEND + MARGIN / 2 and legend.rect().height() <= HEIGHT * 2 / 3:
            return


def _write_in(legend: QgsLayoutItemLegend, points: int) -> None:
    for part in (QgsLegendStyle.Style.Subgroup, QgsLegendStyle.Style.SymbolLabel):
        font = QFont()
        font.setPointSize(points)
        legend.setStyleFont(part, font)


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
