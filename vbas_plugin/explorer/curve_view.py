"""The curve: regions against suppression, drawn, with the present number marked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from qgis.PyQt.QtCore import QEvent, QPointF, QRectF, QSize, Qt, pyqtSignal
from qgis.PyQt.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from qgis.PyQt.QtWidgets import QSizePolicy, QToolTip, QWidget

from ...core.language import plural, tr
from ...core.report.pictures.axes import Axis, linear
from ...core.trade_off.curve import CurvePoint

# Blue and vermilion are told apart by all kinds of colour vision (Okabe & Ito 2008); shapes and dashes differ too.
LINE, MARK = QColor("#0072b2"), QColor("#d55e00")
GAP = 6.0
# Per cent up to which the curve is drawn at least, and how many times what is marked.
DECIDED_BELOW, BESIDE_A_MARK = 6.0, 1.5


class CurveView(QWidget):
    """Draws the points of a curve; a click chooses the number of regions nearest to it.

    picked : the number of sites clicked at
    """

    picked = pyqtSignal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._points: Sequence[CurvePoint] = ()
        self._n_areas = 1
        self._at: tuple[int, float] | None = None
        self._nested: float | None = None
        self.setMinimumHeight(190)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Trade-off curve: records suppressed by number of regions"))

    def sizeHint(self) -> QSize:
        return QSize(320, 220)

    def show_points(self, points: Sequence[CurvePoint], n_areas: int) -> None:
        """Draw these points, ascending; n_areas : the most regions there can be."""
        self._points, self._n_areas = list(points), max(n_areas, 2)
        self.update()

    def mark(self, at: tuple[int, float] | None, nested: float | None = None) -> None:
        """Mark a number of regions and its per cent; nested : the per cent that nested levels suppress, a line."""
        self._at, self._nested = at, nested
        self.setAccessibleDescription("" if at is None else _in_words(*at))
        self.update()

    def percent_at(self, n_sites: int) -> float | None:
        """The per cent of a number of sites, between those that are known on a straight line; None of no points."""
        if not self._points:
            return None
        numbers = np.log([point.n_sites for point in self._points])
        return float(np.interp(np.log(n_sites), numbers, [point.percent for point in self._points]))

    def axes(self) -> tuple[Axis, Axis]:
        """The axis of regions, logarithmic, and that of per cent, cut where nobody decides: the curve goes on above."""
        known = [point.percent for point in self._points]
        marked = [*([] if self._at is None else [self._at[1]]), *([] if self._nested is None else [self._nested])]
        top = max(DECIDED_BELOW, *(BESIDE_A_MARK * percent for percent in marked or [0.0]))
        shown = [min(percent, top) for percent in [*known, *marked]]
        return Axis("", 1.0, float(self._n_areas), True), linear("", np.array(shown or [0.0]))

    def frame(self) -> QRectF:
        """The rectangle that the curve lies in."""
        metrics = self.fontMetrics()
        labels = [metrics.horizontalAdvance(label) for _, label in self.axes()[1].marks()] or [0]
        line = metrics.height()
        left, top, bottom = max(labels) + 2 * GAP, 2 * line + 2 * GAP, 2 * line + 1.5 * GAP
        return QRectF(left, top, max(self.width() - left - 2 * GAP, 10.0), max(self.height() - top - bottom, 10.0))

    def place(self, regions: float, percent: float) -> QPointF:
        """Where a number of regions and a per cent lie."""
        frame, (x, y) = self.frame(), self.axes()
        across, up = float(x.places(np.array([regions]))[0]), float(y.places(np.array([percent]))[0])
        return QPointF(frame.left() + across * frame.width(), frame.bottom() - up * frame.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._points:
            self._draw_axes(painter)
            self._draw_nested(painter)
            self._draw_curve(painter)
            self._draw_mark(painter)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        nearest = self._nearest(QPointF(event.pos()))
        if nearest is not None:
            self.picked.emit(nearest.n_sites)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            nearest = self._nearest(QPointF(event.pos()))
            QToolTip.showText(
                event.globalPos(), "" if nearest is None else _in_words(nearest.n_regions, nearest.percent), self
            )
            return True
        return super().event(event)

    def _nearest(self, at: QPointF) -> CurvePoint | None:
        if not self._points:
            return None
        return min(self._points, key=lambda point: abs(self.place(point.n_regions, point.percent).x() - at.x()))

    def _pen(self, quiet: bool) -> QPen:
        """Ink in the colours of the window, so that dark themes are readable."""
        colour = QColor(self.palette().color(QPalette.ColorRole.WindowText))
        colour.setAlpha(45 if quiet else 255)
        return QPen(colour, 1.0)

    def _draw_axes(self, painter: QPainter) -> None:
        frame, metrics = self.frame(), self.fontMetrics()
        x_axis, y_axis = self.axes()
        for value, label in y_axis.marks():
            y = self.place(1.0, value).y()
            painter.setPen(self._pen(True))
            painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
            painter.setPen(self._pen(False))
            wide = metrics.horizontalAdvance(label)
            painter.drawText(QPointF(frame.left() - GAP - wide, y + 0.35 * metrics.ascent()), label)
        past = -np.inf
        for value, label in x_axis.marks():
            x, wide = self.place(value, 0.0).x(), metrics.horizontalAdvance(label)
            if x - wide / 2 < past or x + wide / 2 > self.width():
                continue
            past = x + wide / 2 + GAP
            painter.setPen(self._pen(False))
            painter.drawLine(QPointF(x, frame.bottom()), QPointF(x, frame.bottom() + 4))
            painter.drawText(QPointF(x - wide / 2, frame.bottom() + 4 + metrics.height()), label)
        painter.drawLine(frame.bottomLeft(), frame.bottomRight())
        words = tr("regions")
        right = self.width() - GAP - metrics.horizontalAdvance(words)
        painter.drawText(QPointF(right, self.height() - metrics.descent() - 2.0), words)
        painter.drawText(QPointF(GAP, metrics.ascent() + 1.0), tr("records suppressed, %"))

    def _draw_curve(self, painter: QPainter) -> None:
        places = [self.place(point.n_regions, point.percent) for point in self._points]
        painter.save()
        painter.setClipRect(self.frame().adjusted(-GAP, 0.0, GAP, GAP))
        painter.setPen(QPen(LINE, 2.0))
        painter.drawPolyline(QPolygonF(places))
        painter.setBrush(LINE)
        painter.setPen(Qt.PenStyle.NoPen)
        for place in places:
            painter.drawEllipse(place, 2.5, 2.5)
        painter.restore()

    def _draw_nested(self, painter: QPainter) -> None:
        """What nested levels suppress, whatever the number of regions."""
        if self._nested is None:
            return
        frame, y = self.frame(), self.place(1.0, self._nested).y()
        painter.setPen(QPen(MARK, 1.5, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
        # Over the curve, which is flat here.
        painter.setPen(self._pen(False))
        painter.drawText(QPointF(frame.left() + GAP, y - 2.5 * GAP), tr("with nested levels"))

    def _draw_mark(self, painter: QPainter) -> None:
        if self._at is None:
            return
        frame, metrics, place = self.frame(), self.fontMetrics(), self.place(*self._at)
        painter.setPen(QPen(MARK, 1.0, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(place.x(), frame.top()), QPointF(place.x(), frame.bottom()))
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Base), 1.5))
        painter.setBrush(MARK)
        painter.drawPolygon(QPolygonF([place + QPointF(*way) for way in ((0, -8), (8, 0), (0, 8), (-8, 0))]))
        words = _in_words(*self._at)
        wide = metrics.horizontalAdvance(words)
        left = min(max(place.x() - wide / 2, frame.left()), self.width() - wide - 2.0)
        painter.setPen(self._pen(False))
        painter.drawText(QPointF(left, frame.top() - 3.0), words)


def _in_words(n_regions: int, percent: float) -> str:
    return plural(
        "{n} region: {percent:.3g} % suppressed", "{n} regions: {percent:.3g} % suppressed", n_regions, percent=percent
    )
