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
from qgis.PyQt.QtCore import QObject, QTimer, pyqtSignal
from qgis.PyQt.QtXml import QDomDocument, QDomElement

from ...algorithms.layers.delivery.memory_layers import memory_layer, refill
from ...algorithms.layers.reading.crosswalks import LEVEL, NUMBER
from ...algorithms.layers.tables import Table
from ...core.language import tr
from ...core.tables.schema import INTERNAL

GROUP = tr("VBAS release")
MARKED = "vbas/explorer"  # a property of the group, by which it is known whatever its user calls it
# Where a project file names layers: by tag, how the id is found in the element.
SAVED_IN = {
    "layer-tree-layer": lambda element: element.attribute("id"),
    "layer": lambda element: element.attribute("id"),
    "layer-setting": lambda element: element.attribute("id"),
    "legendlayerfile": lambda element: element.attribute("layerid"),
    "item": lambda element: element.text(),
}


class RegionLayer(QObject):
    """Shows one table of regions after the other. clicked : level, from 0, and number of a region; changed : the layer
    came or went; shown : other regions are; clicking : whether clicks on the map ask for regions"""

    clicked = pyqtSignal(int, int)
    changed = pyqtSignal()
    shown = pyqtSignal()
    clicking = pyqtSignal(bool)

    def __init__(self, iface: Any, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._iface = iface
        self._layer: QgsVectorLayer | None = None
        self._tool: QgsMapToolEmitPoint | None = None
        QgsProject.instance().writeProject.connect(self._leave_out)

    @property
    def layer(self) -> QgsVectorLayer | None:
        """The layer, None where there is none: the user may have removed it."""
        return None if self._layer is None or sip.isdeleted(self._layer) else self._layer

    def show(self, table: Table) -> None:
        """Show a table in the place of the one before."""
        there = self.layer
        if there is not None and there.fields().names() == table.qgs_fields.names() and there.crs() == table.crs:
            refill(there, table)
            self.set_visible(True)
            self.shown.emit()
            return
        self._remove_layer()
        title = tr("Regions looked at")
        made = memory_layer(
            table,
            f"{title} ({INTERNAL})",
            tr("Regions that were looked at, with what they would suppress. Temporary, and not to be published."),
        )
        made.selectionChanged.connect(self._tell_selected)
        self._layer = made
        QgsProject.instance().addMapLayer(made, False)
        group = self._group()
        group.insertLayer(0, made)
        for on in (False, True):  # a group that was empty when it came in is shown closed, whatever it says of itself
            group.setExpanded(on)
        self.changed.emit()
        self.shown.emit()

    def set_visible(self, on: bool) -> None:
        """Tick the layer in the list of layers, or untick it: two layers with numbers hide each other."""
        there = self.layer
        node = None if there is None else QgsProject.instance().layerTreeRoot().findLayer(there.id())
        if node is not None:
            node.setItemVisibilityChecked(on)

    def clear(self) -> None:
        """Take layer and group out of the project, and the tool from the map.

        QGIS puts what is added above the layer that is selected, and so into the group; what else is in it stays.
        """
        self.click(False)
        self._remove_layer()
        for group in self._groups():
            parent = group.parent() or QgsProject.instance().layerTreeRoot()
            others = [child.clone() for child in group.children()]
            parent.insertChildNodes(parent.children().index(group), others)
            parent.removeChildNode(group)
        self.changed.emit()

    def close(self) -> None:
        """For good."""
        self.clear()
        QgsProject.instance().writeProject.disconnect(self._leave_out)

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
            return
        if self._tool is not None:
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
        features = [feature for feature in layer.getFeatures(request) if feature.geometry().contains(place)]
        layer.selectByIds([min(features, key=_level).id()] if features else [])

    def select(self, level: int, number: int) -> None:
        """Select a region."""
        if self.layer is not None:
            identifiers = [
                feature.id()
                for feature in self.layer.getFeatures()
                if (_level(feature), feature[NUMBER]) == (level, number)
            ]
            self.layer.selectByIds(identifiers)

    def _groups(self) -> list[QgsLayerTreeGroup]:
        return [group for group in QgsProject.instance().layerTreeRoot().findGroups() if group.customProperty(MARKED)]

    def _group(self) -> QgsLayerTreeGroup:
        there = self._groups()
        if there:
            return there[0]
        made = QgsProject.instance().layerTreeRoot().insertGroup(0, GROUP)
        made.setCustomProperty(MARKED, True)
        return made

    def _leave_out(self, document: QDomDocument) -> None:
        """Keep the layer out of a project that is saved: its legend and metadata would tell of suppressed records."""
        layer = self.layer
        if layer is None:
            return
        for tag, id_of in SAVED_IN.items():
            nodes = document.elementsByTagName(tag)
            for node in [nodes.at(position) for position in range(nodes.length())]:
                if id_of(node.toElement()) == layer.id():
                    node.parentNode().removeChild(node)
        # The layers themselves are written after this. Taken out it stays alive, whoever still holds it.
        QgsProject.instance().takeMapLayer(layer)
        QTimer.singleShot(0, self._put_back)
        groups = document.elementsByTagName("layer-tree-group")
        for node in [groups.at(position) for position in range(groups.length())]:
            if node.toElement().attribute("name") == GROUP and not _holds_layers(node.toElement()):
                node.parentNode().removeChild(node)

    def _put_back(self) -> None:
        """Once the project is saved."""
        layer, project = self.layer, QgsProject.instance()
        if layer is not None and project.mapLayer(layer.id()) is None:
            changed = project.isDirty()
            project.addMapLayer(layer, False)
            self._group().insertLayer(0, layer)
            project.setDirty(changed)

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


def _holds_layers(group: QDomElement) -> bool:
    """Whether a group has layers, in groups of its own too."""
    return not group.elementsByTagName("layer-tree-layer").isEmpty()


def _level(feature: QgsFeature) -> int:
    """The level of a region, from 0."""
    return int(feature[LEVEL]) - 1 if feature.fields().indexOf(LEVEL) >= 0 else 0
