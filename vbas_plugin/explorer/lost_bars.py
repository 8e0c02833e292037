"""Who is lost: a bar for each of the groups that lose most, against the share of all records."""

from __future__ import annotations

import numpy as np
from qgis.PyQt.QtCore import QPointF, QRectF, QSize, Qt
from qgis.PyQt.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from qgis.PyQt.QtWidgets import QSizePolicy, QWidget

from ...core.dataclass import dataclass
from ...core.evaluation import ByValue
from ...core.language import tr
from ...core.plain_text import value_text
from .curve_view import LINE, MARK

MOST_BARS, GAP = 8, 6.0


@dataclass(frozen=True)
class Bar:
    """A group: its column, its value, its records, and how many of them are suppressed."""

    column: str
    value: str
    records: int
    suppressed: int

    @property
    def name(self) -> str:
        """Column and value."""
        return f"{self.column} {self.value}"

    @property
    def percent(self) -> float:
        """Per cent of its records that are suppressed."""
        return 100.0 * self.suppressed / self.records

    @property
    def in_words(self) -> str:
        """What the bar says, in a line."""
        return self.with_name(self.name)

    def with_name(self, name: str) -> str:
        """The same, the group under another name."""
        return tr(
            "{name}: {percent:.3g} % of {records:,}", name=name, percent=self.percent, records=self.records
        ).replace(" %", "\N{NO-BREAK SPACE}%")

    def within(self, width: float, metrics: QFontMetrics) -> str:
        """The same, no wider than it may be: of the column less is left first, since the value tells groups apart."""
        if metrics.horizontalAdvance(self.in_words) <= width:
            return self.in_words
        room = width - metrics.horizontalAdvance(self.with_name(f" {self.value}"))
        column = metrics.elidedText(self.column, Qt.TextElideMode.ElideRight, max(int(room), 0))
        words = self.with_name(f"{column} {self.value}" if column else self.value)
        return metrics.elidedText(words, Qt.TextElideMode.ElideMiddle, int(width))


def bars_of(lost: ByValue, k: int) -> list[Bar]:
    """The groups that lose the largest shares, those first; of fewer than k records none, which no release can show."""
    with np.errstate(invalid="ignore", divide="ignore"):
        percent = np.where(lost.records >= k, lost.suppressed / lost.records, -1.0)
    order = [row for row in np.argsort(-percent, kind="stable").tolist() if lost.suppressed[row] and percent[row] > 0]
    return [
        Bar(
            lost.quasi_identifiers[row],
            value_text(lost.values[row]),
            int(lost.records[row]),
            int(lost.suppressed[row]),
        )
        for row in order[:MOST_BARS]
    ]


class LostBars(QWidget):
    """Draws bars; nothing where nobody is lost."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bars: list[Bar] = []
        self._mean = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Who is lost, by group"))
        self.setVisible(False)

    def show_bars(self, bars: list[Bar], mean: float) -> None:
        """Draw these; mean : per cent of all records that are suppressed, a line."""
        self.bars, self._mean = bars, mean
        self.setAccessibleDescription("; ".join(bar.in_words for bar in bars))
        self.setToolTip(
            tr(
                "The groups that lose the largest share of their records; the line is the share of all records, "
                "{percent:.3g} %. Internal: not for publishing.",
                percent=mean,
            )
        )
        self.setVisible(bool(bars))
        self.setFixedHeight(self.sizeHint().height())
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, int(self._row() * len(self.bars) + self.fontMetrics().height() + 2 * GAP))

    def _row(self) -> float:
        return 1.6 * self.fontMetrics().height()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics, ink = self.fontMetrics(), self.palette().windowText().color()
        painter.setPen(ink)
        title = metrics.elidedText(tr("Who is lost most, % of each group"), Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(QPointF(0.0, metrics.ascent() + 1.0), title)
        top, wide = metrics.height() + GAP, self.width() - 2.0
        widest = max([self._mean, *(bar.percent for bar in self.bars), 1e-9])
        pale = QColor(LINE)
        pale.setAlpha(70)
        for row, bar in enumerate(self.bars):
            y = top + row * self._row()
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(pale)
            painter.drawRect(QRectF(0.0, y, wide * bar.percent / widest, self._row() - 3.0))
        x = wide * self._mean / widest
        painter.setPen(QPen(MARK, 1.5, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, top - 2.0), QPointF(x, top + len(self.bars) * self._row()))
        painter.setPen(ink)
        for row, bar in enumerate(self.bars):
            y = top + row * self._row()
            words = bar.within(wide - GAP, metrics)
            painter.drawText(QPointF(4.0, y + 0.5 * (self._row() - 3.0) + 0.35 * metrics.ascent()), words)
        painter.end()
