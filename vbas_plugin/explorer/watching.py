"""Whether the layers that were read are still as they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from qgis.core import QgsMapLayer, QgsProject, QgsVectorLayer
from qgis.PyQt import sip
from qgis.PyQt.QtCore import QObject, pyqtSignal


class LayerWatch(QObject):
    """Watches some layers. edited : one of them holds or shows other rows or fields, or lies elsewhere; lost : one is
    about to leave the project, by its name, and stays until all who hear of it have done what they must"""

    edited = pyqtSignal()
    lost = pyqtSignal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._layers: list[QgsMapLayer] = []
        QgsProject.instance().layersWillBeRemoved.connect(self._lose)

    def watch(self, layers: Sequence[QgsMapLayer]) -> None:
        """Watch these, and no longer those before."""
        for layer in self._layers:
            if not sip.isdeleted(layer):
                for signal in _signals(layer):
                    signal.disconnect(self.edited)
        self._layers = list(dict.fromkeys(layers))
        for layer in self._layers:
            for signal in _signals(layer):
                signal.connect(self.edited)

    def end(self) -> None:
        """For good."""
        self.watch([])
        QgsProject.instance().layersWillBeRemoved.disconnect(self._lose)

    def _lose(self, identifiers: list[str]) -> None:
        gone = [layer for layer in self._layers if not sip.isdeleted(layer) and layer.id() in identifiers]
        if gone:
            name = gone[0].name()
            self.watch([layer for layer in self._layers if layer not in gone])
            self.lost.emit(name)


def _signals(layer: QgsMapLayer) -> tuple[Any, ...]:
    of_fields = (layer.updatedFields,) if isinstance(layer, QgsVectorLayer) else ()
    return layer.dataChanged, layer.layerModified, layer.subsetStringChanged, layer.crsChanged, *of_fields
