"""The number of regions: a slider along the curve, the number itself, and the most regions within a budget."""

from __future__ import annotations

from bisect import bisect_left

from qgis.PyQt.QtCore import Qt, pyqtSignal
from qgis.PyQt.QtWidgets import (
    QDoubleSpinBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from ...core.language import tr
from ...core.trade_off.curve import numbers_on_curve

STEPS = 240


class NumberChooser(QWidget):
    """dragged : the slider moves over a number; chosen : it was let go there, or the number was typed; searched : the
    most regions within a per cent are asked for."""

    dragged = pyqtSignal(int)
    chosen = pyqtSignal(int)
    searched = pyqtSignal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._numbers = [1]
        self.slider, self.number = QSlider(Qt.Orientation.Horizontal), QSpinBox()
        self.budget, self.find = QDoubleSpinBox(), QPushButton(tr("Find"))
        self.slider.setAccessibleName(tr("Number of regions"))
        self.slider.setToolTip(tr("Fewer regions to the left, more to the right; the map follows when you let go."))
        self.number.setAccessibleName(tr("Number of regions"))
        self.number.setToolTip(tr("How many regions to aim for."))
        self.number.setKeyboardTracking(False)
        self.budget.setRange(0.0, 100.0)
        self.budget.setDecimals(2)
        self.budget.setValue(5.0)
        self.budget.setSuffix(" %")
        self.budget.setAccessibleName(tr("Most records that may be suppressed, per cent"))
        self.find.setToolTip(tr("Find the most regions that suppress at most so many per cent of the records."))
        upper, lower = QHBoxLayout(), QHBoxLayout()
        upper.addWidget(self.slider, 1)
        upper.addWidget(self.number)
        label = QLabel(tr("The most regions that suppress at most:"))
        label.setWordWrap(True)
        label.setBuddy(self.budget)
        lower.addWidget(self.budget, 1)
        lower.addWidget(self.find)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(upper)
        layout.addWidget(label)
        layout.addLayout(lower)
        self.slider.valueChanged.connect(self._slide)
        self.slider.sliderReleased.connect(lambda: self.chosen.emit(self.value()))
        self.number.valueChanged.connect(self._type)
        self.find.clicked.connect(lambda: self.searched.emit(self.budget.value()))

    def value(self) -> int:
        """The number chosen."""
        return self.number.value()

    def set_areas(self, n_areas: int) -> None:
        """Let numbers from 1 to the number of areas be chosen."""
        self._numbers = numbers_on_curve(n_areas, STEPS)
        for control, low, high in ((self.slider, 0, len(self._numbers) - 1), (self.number, 1, n_areas)):
            control.blockSignals(True)
            control.setRange(low, high)
            control.blockSignals(False)

    def set_value(self, number: int) -> None:
        """Show a number that was chosen elsewhere; nobody is told."""
        for control, value in ((self.slider, self._position(number)), (self.number, number)):
            control.blockSignals(True)
            control.setValue(value)
            control.blockSignals(False)

    def _position(self, number: int) -> int:
        """The position of the slider that is nearest to a number."""
        after = min(bisect_left(self._numbers, number), len(self._numbers) - 1)
        before = max(after - 1, 0)
        return after if self._numbers[after] - number <= number - self._numbers[before] else before

    def _slide(self, position: int) -> None:
        number = self._numbers[position]
        self.number.blockSignals(True)
        self.number.setValue(number)
        self.number.blockSignals(False)
        self.dragged.emit(number)
        if not self.slider.isSliderDown():  # by keyboard, or by a click beside the handle
            self.chosen.emit(number)

    def _type(self, number: int) -> None:
        self.set_value(number)
        self.dragged.emit(number)
        self.chosen.emit(number)
