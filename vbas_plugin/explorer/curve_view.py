"""The curve: mean distance against suppression, for one level and for nested ones, with the present number on both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from qgis.PyQt.QtCore import QEvent, QPointF, QRectF, QSize, Qt, pyqtSignal
from qgis.PyQt.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from qgis.PyQt.QtWidgets import QSizePolicy, QToolTip, QWidget

from ...core.language import plural, tr
from ...core.report.pictures.axes import Axis, linear, logarithmic
from ...core.trade_off.curve import CurvePoint

# Told apart by all kinds of colour vision (Okabe & Ito 2008); shapes and dashes differ too.
LINE, NESTED, PLAIN, MARK = QColor("#0072b2"), QColor("#009e73"), QColor("#a15c9e"), QColor("#d55e00")
GAP = 6.0
LEAST_METRES = 1.0
# Per cent up to which the curve is drawn at least, and how many times what is marked.
DECIDED_BELOW, BESIDE_A_MARK = 6.0, 1.5
SWATCH = 16.0


class CurveView(QWidget):
    """Draws the points of a curve; a click chooses the number of regions nearest to it.

    picked : the number of sites clicked at
    """

    picked = pyqtSignal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._points: Sequence[CurvePoint] = ()
        self._nested: Sequence[CurvePoint] = ()
        self._plain: Sequence[CurvePoint] = ()
        self._at: CurvePoint | None = None
        self._at_nested: CurvePoint | None = None
        self._nested_chosen = False
        # The axes of what is drawn, and the frame at its size, while both stay: each place on the curve asks for them.
        self._axes: tuple[Axis, Axis] | None = None
        self._frame: tuple[QSize, QRectF] | None = None
        self.setMinimumHeight(210)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Trade-off curve: records suppressed by mean distance"))

    def sizeHint(self) -> QSize:
        return QSize(320, 240)

    def show_points(
        self, points: Sequence[CurvePoint], nested: Sequence[CurvePoint] = (), plain: Sequence[CurvePoint] = ()
    ) -> None:
        """Draw these points, each ascending by sites: of one level, of nested levels, and of one level with the values
        as they are, where some are shown coarser."""
        self._points, self._nested, self._plain = list(points), list(nested), list(plain)
        self._draw_anew()

    def mark(self, at: CurvePoint | None, nested: CurvePoint | None = None, nested_chosen: bool = False) -> None:
        """Mark what one level gives and what nested levels give; nested_chosen : which of them is to be released."""
        self._at, self._at_nested, self._nested_chosen = at, nested, nested_chosen
        chosen = nested if nested_chosen and nested is not None else at
        self.setAccessibleDescription("" if chosen is None else _in_words(chosen))
        self._draw_anew()

    def point_at(self, n_sites: int, nested: bool = False) -> CurvePoint | None:
        """What a number of sites gives, between those that are known on a straight line; None of no points."""
        points = self._nested if nested else self._points
        if not points:
            return None
        numbers = np.log([point.n_sites for point in points])
        metres = np.log([max(point.mean_distance, LEAST_METRES) for point in points])  # as they are drawn
        percent, far = (
            float(np.interp(np.log(n_sites), numbers, values))
            for values in ([point.percent for point in points], metres)
        )
        return CurvePoint(n_sites, n_sites, percent, float(np.exp(far)))

    def axes(self) -> tuple[Axis, Axis]:
        """The axis of distances, logarithmic, and that of per cent, both cut where nobody decides: the curve goes on
        there."""
        if self._axes is None:
            self._axes = self._made_axes()
        return self._axes

    def _made_axes(self) -> tuple[Axis, Axis]:
        marked = [point for point in (self._at, self._at_nested) if point is not None]
        top = max(DECIDED_BELOW, *(BESIDE_A_MARK * point.percent for point in marked), 0.0)
        within = [point for point in (*self._points, *self._plain) if point.percent <= top] or list(self._points)
        within += [*self._nested, *marked]
        shown = [min(point.percent, top) for point in (*self._points, *within)]
        metres = [point.mean_distance for point in within]
        return logarithmic("", np.array(metres or [1.0])), linear("", np.array(shown or [0.0]))

    def frame(self) -> QRectF:
        """The rectangle that the curve lies in."""
        if self._frame is None or self._frame[0] != self.size():
            self._frame = self.size(), self._made_frame()
        return self._frame[1]

    def _made_frame(self) -> QRectF:
        metrics = self.fontMetrics()
        labels = [metrics.horizontalAdvance(label) for _, label in self.axes()[1].marks()] or [0]
        line = metrics.height()
        left, top, bottom = max(labels) + 2 * GAP, 3 * line + 3 * GAP, 2 * line + 1.5 * GAP
        return QRectF(left, top, max(self.width() - left - 2 * GAP, 10.0), max(self.height() - top - bottom, 10.0))

    def place(self, metres: float, percent: float) -> QPointF:
        """Where a mean distance and a per cent lie: the finer, the more to the right, as on the slider."""
        frame, (x, y) = self.frame(), self.axes()
        across, up = float(x.places(np.array([metres]))[0]), float(y.places(np.array([percent]))[0])
        return QPointF(frame.right() - across * frame.width(), frame.bottom() - up * frame.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._points:
            self._draw_axes(painter)
            self._draw_legend(painter)
            self._draw_curve(painter, self._plain, QPen(PLAIN, 1.5, Qt.PenStyle.DotLine))
            self._draw_curve(painter, self._nested, QPen(NESTED, 2.0, Qt.PenStyle.DashLine))
            self._draw_curve(painter, self._points, QPen(LINE, 2.0))
            self._draw_marks(painter)
        painter.end()

    def changeEvent(self, event: QEvent) -> None:
        self._frame = None  # the font may be another one
        super().changeEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        nearest = self._nearest(QPointF(event.pos()))
        if nearest is not None:
            self.picked.emit(nearest.n_sites)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            nearest = self._nearest(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), "" if nearest is None else _in_words(nearest), self)
            return True
        return super().event(event)

    def _draw_anew(self) -> None:
        self._axes = self._frame = None
        self.update()

    def _nearest(self, at: QPointF) -> CurvePoint | None:
        if not self._points:
            return None

        def away(point: CurvePoint) -> tuple[int, float]:
            place = self._of(point)
            return round(abs(place.x() - at.x())), abs(place.y() - at.y())

        return min(self._points, key=away)

    def _of(self, point: CurvePoint) -> QPointF:
        return self.place(point.mean_distance, point.percent)

    def _pen(self, quiet: bool) -> QPen:
        """Ink in the colours of the window, so that dark themes are readable."""
        colour = QColor(self.palette().color(QPalette.ColorRole.WindowText))
        colour.setAlpha(45 if quiet else 255)
        return QPen(colour, 1.0)

    def _draw_axes(self, painter: QPainter) -> None:
        frame, metrics = self.frame(), self.fontMetrics()
        x_axis, y_axis = self.axes()
        for value, label in y_axis.marks():
            y = self.place(x_axis.low, value).y()
            painter.setPen(self._pen(True))
            painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
            painter.setPen(self._pen(False))
            wide = metrics.horizontalAdvance(label)
            painter.drawText(QPointF(frame.left() - GAP - wide, y + 0.35 * metrics.ascent()), label)
        past = 0.0
        for value, label in reversed(x_axis.marks()):  # from the left
            x, wide = self.place(value, 0.0).x(), metrics.horizontalAdvance(label)
            if x - wide / 2 < past or x + wide / 2 > self.width():
                continue
            past = x + wide / 2 + GAP
            painter.setPen(self._pen(False))
            painter.drawLine(QPointF(x, frame.bottom()), QPointF(x, frame.bottom() + 4))
            painter.drawText(QPointF(x - wide / 2, frame.bottom() + 4 + metrics.height()), label)
        painter.drawLine(frame.bottomLeft(), frame.bottomRight())
        words = next(
            (
                text
                for text in (tr("mean distance, m (finer to the right)"), tr("mean distance, m"))
                if metrics.horizontalAdvance(text) <= self.width() - 2 * GAP
            ),
            "m",
        )
        right = self.width() - GAP - metrics.horizontalAdvance(words)
        painter.drawText(QPointF(right, self.height() - metrics.descent() - 2.0), words)
        painter.drawText(QPointF(GAP, metrics.ascent() + 1.0), tr("records suppressed, %"))

    def _draw_legend(self, painter: QPainter) -> None:
        """Which line is which, where there are several."""
        shown = [
            (QPen(LINE, 2.0), tr("one level"), self._points),
            (QPen(NESTED, 2.0, Qt.PenStyle.DashLine), tr("nested levels"), self._nested),
            (QPen(PLAIN, 1.5, Qt.PenStyle.DotLine), tr("values as they are"), self._plain),
        ]
        metrics, x = self.fontMetrics(), GAP
        y = metrics.ascent() + metrics.height() + GAP
        for pen, words, points in shown:
            if points and (self._nested or self._plain):
                painter.setPen(pen)
                painter.drawLine(
                    QPointF(x, y - 0.35 * metrics.ascent()), QPointF(x + SWATCH, y - 0.35 * metrics.ascent())
                )
                painter.setPen(self._pen(False))
                painter.drawText(QPointF(x + SWATCH + 4, y), words)
                x += SWATCH + 4 + metrics.horizontalAdvance(words) + 2 * GAP

    def _draw_curve(self, painter: QPainter, points: Sequence[CurvePoint], pen: QPen) -> None:
        places = [self._of(point) for point in points]
        painter.save()
        painter.setClipRect(self.frame().adjusted(-GAP, 0.0, GAP, GAP))
        painter.setPen(pen)
        painter.drawPolyline(QPolygonF(places))
        painter.setBrush(pen.color())
        painter.setPen(Qt.PenStyle.NoPen)
        for place in places:
            painter.drawEllipse(place, 2.5, 2.5)
        painter.restore()

    def _draw_marks(self, painter: QPainter) -> None:
        """The point that would be released, and, hollow, that which the other kind of release would have."""
        chosen, other = self._at, self._at_nested
        if self._nested_chosen and other is not None:
            chosen, other = other, chosen
        if other is not None:
            self._draw_diamond(painter, self._of(other), False)
        if chosen is None:
            return
        frame, metrics, place = self.frame(), self.fontMetrics(), self._of(chosen)
        painter.setPen(QPen(MARK, 1.0, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(place.x(), frame.top()), QPointF(place.x(), frame.bottom()))
        self._draw_diamond(painter, place, True)
        words = _in_words(chosen)
        wide = metrics.horizontalAdvance(words)
        left = max(min(max(place.x() - wide / 2, frame.left()), self.width() - wide - 2.0), 2.0)
        painter.setPen(self._pen(False))
        painter.drawText(QPointF(left, frame.top() - 1.3 * GAP), words)

    def _draw_diamond(self, painter: QPainter, place: QPointF, filled: bool) -> None:
        base = self.palette().color(QPalette.ColorRole.Base)
        painter.setPen(QPen(base if filled else MARK, 1.5))
        painter.setBrush(MARK if filled else base)
        painter.drawPolygon(QPolygonF([place + QPointF(*way) for way in ((0, -8), (8, 0), (0, 8), (-8, 0))]))


def _in_words(point: CurvePoint) -> str:
    if point.percent == 100:  # nobody is placed anywhere
        return plural("{n} region: 100 %", "{n} regions: 100 %", point.n_regions)
    return plural(
        "{n} region: {percent:.3g} %, mean distance {metres:,.0f} m",
        "{n} regions: {percent:.3g} %, mean distance {metres:,.0f} m",
        point.n_regions,
        percent=point.percent,
        metres=point.mean_distance,
    )
