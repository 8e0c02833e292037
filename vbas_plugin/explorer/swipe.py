"""Before and after on the map: on one side of a line the areas, on the other the regions that are looked at."""

from __future__ import annotations

from typing import Any

from qgis.core import QgsFillSymbol, QgsMapLayer, QgsMapRendererParallelJob, QgsSingleSymbolRenderer, QgsVectorLayer
from qgis.gui import QgsMapCanvasItem
from qgis.PyQt.QtCore import QObject, QRectF
from qgis.PyQt.QtGui import QColor, QImage, QPainter, QPen

from ...algorithms.compat import geometry_kind

PLAIN = {"color": "#f4f4f4", "outline_color": "#6b7480", "outline_width": "0.2"}
HALF = 50


class SwipeItem(QgsMapCanvasItem):
    """What is drawn over the map, up to a line: an image of the map as it was."""

    def __init__(self, canvas: Any) -> None:
        super().__init__(canvas)
        self.image, self.percent = QImage(), HALF
        self.setZValue(10)

    def boundingRect(self) -> QRectF:
        canvas = self.scene().views()[0]
        return QRectF(0.0, 0.0, canvas.width(), canvas.height())

    def paint(self, painter: QPainter, *_: object) -> None:
        if self.image.isNull():
            return
        whole = self.boundingRect()
        line = whole.width() * self.percent / 100.0
        across = self.image.width() * self.percent / 100.0
        painter.drawImage(
            QRectF(0.0, 0.0, line, whole.height()), self.image, QRectF(0.0, 0.0, across, self.image.height())
        )
        painter.setPen(QPen(QColor("#d55e00"), 2.0))
        painter.drawLine(int(line), 0, int(line), int(whole.height()))


class Swipe(QObject):
    """Draws the areas over the left part of the map, and leaves the right one to the regions; the map stays usable.

    on : whether it does; percent : how far the left part reaches
    """

    def __init__(self, iface: Any, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._canvas = iface.mapCanvas()
        self._item: SwipeItem | None = None
        self._areas: QgsVectorLayer | None = None
        self._job: Any = None
        self.percent = HALF

    @property
    def on(self) -> bool:
        """Whether two states are shown."""
        return self._item is not None

    def show(self, areas: QgsMapLayer | None) -> None:
        """Show these areas, in the map's own place, left of the line."""
        self.hide()
        if not isinstance(areas, QgsVectorLayer):
            return
        self._areas = areas.clone()
        if geometry_kind(areas) == "polygon":
            self._areas.setRenderer(QgsSingleSymbolRenderer(QgsFillSymbol.createSimple(PLAIN)))
        self._areas.setLabelsEnabled(False)
        self._item = SwipeItem(self._canvas)
        self._item.percent = self.percent
        self._canvas.mapCanvasRefreshed.connect(self._draw)
        self._draw()

    def move(self, percent: int) -> None:
        """Put the line elsewhere; nothing is drawn anew."""
        self.percent = percent
        if self._item is not None:
            self._item.percent = percent
            self._item.update()

    def hide(self) -> None:
        """The map as it is."""
        if self._item is None:
            return
        self._canvas.mapCanvasRefreshed.disconnect(self._draw)
        if self._job is not None:
            self._job.finished.disconnect()
            self._job.cancel()
            self._job = None
        self._canvas.scene().removeItem(self._item)
        self._item = self._areas = None

    def _draw(self) -> None:
        """Draw the areas for the part of the world that the map shows, behind the window."""
        if self._areas is None:
            return
        if self._job is not None:
            self._job.finished.disconnect()
            self._job.cancel()
        settings = self._canvas.mapSettings()
        settings.setLayers([self._areas])
        job = QgsMapRendererParallelJob(settings)
        job.finished.connect(lambda: self._take(job))
        self._job = job
        job.start()

    def _take(self, job: QgsMapRendererParallelJob) -> None:
        if self._item is None or self._job is not job:
            return
        self._item.image = job.renderedImage()
        self._item.update()
        self._job = None
