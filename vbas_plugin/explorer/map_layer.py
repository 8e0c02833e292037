"""The regions on the map: a temporary layer in a group of its own, and which of them is clicked at."""

from __future__ import annotations

from typing import Any

from qgis.core import (
    QgsCoordinateTransform,
    QgsCsException,
    QgsFeature,
    QgsFeatureRequest,
    QgsGeometry,
    QgsLayerTreeGroup,
    QgsPointXY,
    QgsProject,
    QgsVectorLayer,
)
from qgis.gui import QgsMapToolEmitPoint
from qgis.PyQt import sip
from qgis.PyQt.QtCore import QObject, pyqtSignal

from ...algorithms.layers.delivery.looking import layer_of, refill
from ...algorithms.layers.reading.crosswalks import LEVEL, NUMBER
from ...algorithms.layers.tables import INTERNAL, Table
from ...core.language import tr

GROUP = "VBAS explorer"
MARKED = "vbas/explorer"  # a property of the group, by which one that was saved with a project is known


class RegionLayer(QObject):
    """Shows one table of regions after the other. clicked : level, from 0, and number of a region; changed : the layer
    came or went; clicking : whether clicks on the map ask for regions"""

    clicked = pyqtSignal(int, int)
    changed = pyqtSignal()
    clicking = pyqtSignal(bool)

    def __init__(self, iface: Any, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._iface = iface
        self._layer: QgsVectorLayer | None = None
        self._tool: QgsMapToolEmitPoint | None = None
        QgsProject.instance().readProject.connect(self.remove_left_over)

    @property
    def layer(self) -> QgsVectorLayer | None:
        """The layer, None where there is none: the user may have removed it."""
        return None if self._layer is None or sip.isdeleted(self._layer) else self._layer

    def show(self, table: Table) -> None:
        """Show a table in the place of the one before."""
        there = self.layer
        if there is not None and there.fields().names() == table.qgs_fields.names() and there.crs() == table.crs:
            refill(there, table)
            return
        self._remove_layer()
        title = tr("Regions looked at")
        made = layer_of(
            table,
            f"{title} ({INTERNAL})",
            tr("Regions of the explorer, with what they would suppress. Temporary, and not to be published."),
        )
        made.selectionChanged.connect(self._tell_selected)
        self._layer = made
        QgsProject.instance().addMapLayer(made, False)
        self._group().insertLayer(0, made)
        self.changed.emit()

    def clear(self) -> None:
        """Take layer and group out of the project, and the tool from the map."""
        self.click(False)
        self._remove_layer()
        self.remove_left_over()
        self.changed.emit()

    def close(self) -> None:
        """For good."""
        self.clear()
        QgsProject.instance().readProject.disconnect(self.remove_left_over)

    def click(self, on: bool) -> None:
        """Have clicks on the map ask for regions, or no longer."""
        canvas = self._iface.mapCanvas()
        if on and self.layer is not None:
            if self._tool is None:
                self._tool = QgsMapToolEmitPoint(canvas)
                self._tool.canvasClicked.connect(lambda point, *_: self.select_at(point))
                self._tool.deactivated.connect(lambda: self.clicking.emit(False))
            canvas.setMapTool(self._tool)
            self.clicking.emit(True)
        elif self._tool is not None:
            canvas.unsetMapTool(self._tool)
            self.clicking.emit(False)

    def select_at(self, point: QgsPointXY) -> None:
        """Select the smallest region at a point of the map."""
        layer = self.layer
        if layer is None:
            return
        canvas = self._iface.mapCanvas()
        transform = QgsCoordinateTransform(canvas.mapSettings().destinationCrs(), layer.crs(), QgsProject.instance())
        try:
            place = QgsGeometry.fromPointXY(transform.transform(point))
        except QgsCsException:
            return
        request = QgsFeatureRequest().setFilterRect(place.boundingBox())
        found = [one for one in layer.getFeatures(request) if one.geometry().contains(place)]
        layer.selectByIds([min(found, key=_level).id()] if found else [])

    def select(self, level: int, number: int) -> None:
        """Select a region."""
        if self.layer is not None:
            found = [one.id() for one in self.layer.getFeatures() if (_level(one), one[NUMBER]) == (level, number)]
            self.layer.selectByIds(found)

    def remove_left_over(self) -> None:
        """Remove groups of the dock, also those that were saved with a project."""
        root = QgsProject.instance().layerTreeRoot()
        for group in [one for one in root.findGroups() if one.customProperty(MARKED)]:
            if not any(one.layer() is not None and one.layer() is self.layer for one in group.findLayers()):
                QgsProject.instance().removeMapLayers(group.findLayerIds())
                root.removeChildNode(group)

    def _group(self) -> QgsLayerTreeGroup:
        root = QgsProject.instance().layerTreeRoot()
        there = next((one for one in root.findGroups() if one.customProperty(MARKED)), None)
        if there is None:
            there = root.insertGroup(0, GROUP)
            there.setCustomProperty(MARKED, True)
        return there

    def _remove_layer(self) -> None:
        there, self._layer = self.layer, None
        if there is not None and QgsProject.instance().mapLayer(there.id()) is not None:
            QgsProject.instance().removeMapLayer(there.id())

    def _tell_selected(self) -> None:
        layer = self.layer
        selected = [] if layer is None else list(layer.getSelectedFeatures())
        if selected:
            smallest = min(selected, key=_level)
            self.clicked.emit(_level(smallest), int(smallest[NUMBER]))


def _level(feature: QgsFeature) -> int:
    """The level of a region, from 0."""
    return int(feature[LEVEL]) - 1 if feature.fields().indexOf(LEVEL) >= 0 else 0
