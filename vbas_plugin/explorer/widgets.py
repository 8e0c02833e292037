"""Widgets that fit into a narrow dock: lists that are no wider than it, and that the mouse wheel passes over."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qgis.PyQt.QtCore import QEvent, QObject, Qt
from qgis.PyQt.QtWidgets import (
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QFormLayout,
    QFrame,
    QHeaderView,
    QLabel,
    QListWidget,
    QProgressBar,
    QSizePolicy,
    QSlider,
    QTableWidget,
    QWidget,
)

# Readable on a light and on a dark window.
BESIDE = "padding:4px;border-left-width:4px;border-left-style:solid;border-left-color:"
WRONG = f"{BESIDE}#d55e00;background:#fdecd8;color:#5c2a00"
SAID = f"{BESIDE}#0072b2"


class PassedOver(QObject):
    """Lets the mouse wheel scroll the dock, and not change what it passes over."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel and not watched.hasFocus():
            event.ignore()
            return True
        return False


def pass_over(within: QWidget) -> None:
    """Have the wheel pass over all lists, numbers and sliders within a widget."""
    keeper = PassedOver(within)
    for kind in (QComboBox, QAbstractSpinBox, QSlider):
        pass_over_these(within.findChildren(kind), keeper)


def pass_over_these(widgets: Sequence[QWidget], keeper: PassedOver) -> None:
    """Have the wheel pass over these."""
    for widget in widgets:
        widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        widget.installEventFilter(keeper)


def narrow(list_of: QComboBox) -> QComboBox:
    """A list that may be narrower than its longest entry, which its tooltip shows whole."""
    list_of.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    list_of.setMinimumContentsLength(6)
    list_of.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
    list_of.setMinimumWidth(90)
    list_of.currentTextChanged.connect(list_of.setToolTip)
    return list_of


def rows() -> QFormLayout:
    """Labels beside their widgets, above them where the dock is too narrow."""
    layout = QFormLayout()
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
    layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    return layout


def wrapped(text: str = "") -> QLabel:
    """Words that take as many lines as they need, and can be copied."""
    label = QLabel(text)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.MinimumExpanding)
    return label


def unbroken(text: str) -> str:
    """The text with every number on one line with its per cent or metres."""
    return re.sub(r"(?<=\d) (?=%|m\b)", "\N{NO-BREAK SPACE}", text)


def thin_bar() -> QProgressBar:
    """How far work is, in per cent."""
    bar = QProgressBar()
    bar.setRange(0, 100)
    bar.setTextVisible(False)
    bar.setMaximumHeight(8)
    return bar


def choice_table(columns: Sequence[str], name: str, shown_rows: int) -> QTableWidget:
    """A table of which a row is chosen, no wider than the dock: its first column takes what the others leave.

    columns : their headings; name : of the table, for screen readers; shown_rows : of three lines each
    """
    table = QTableWidget(0, len(columns))
    table.setHorizontalHeaderLabels(columns)
    table.verticalHeader().hide()
    table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setWordWrap(True)
    table.setMinimumHeight(shown_rows * 3 * table.fontMetrics().height())
    table.setAccessibleName(name)
    return table


def add_row(layout: QFormLayout, text: str, widget: QWidget, tip: str) -> None:
    """A widget with its label, which screen readers know it by, and a tooltip for both; a list below its label."""
    label = QLabel(text)
    label.setWordWrap(True)
    label.setBuddy(widget)
    for part in (label, widget):
        part.setToolTip(tip)
    widget.setAccessibleName(text)
    if isinstance(widget, QListWidget):
        layout.addRow(label)
        layout.addRow(widget)
    else:
        layout.addRow(label, widget)


def line() -> QFrame:
    """Between two parts of the dock."""
    between = QFrame()
    between.setFrameShape(QFrame.Shape.HLine)
    between.setFrameShadow(QFrame.Shadow.Sunken)
    return between
