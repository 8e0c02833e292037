"""What somebody does who clicks, types and chooses anything in a window, while layers change and go."""

from __future__ import annotations

import os

from qgis.core import QgsProject
from qgis.gui import QgsFileWidget
from qgis.PyQt.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QScrollBar,
    QTableWidget,
    QToolButton,
)

USED = (QAbstractButton, QComboBox, QAbstractSpinBox, QAbstractSlider, QLineEdit, QTableWidget)
WORDS = ("", "x", "5", "é; b", "'\"<b>", "a b")


def seeds(variable):
    """The seeds that a variable of the environment asks for, such as 0-40; few where it asks for none."""
    first, _, last = os.environ.get(variable, "0-1").partition("-")
    return range(int(first), int(last or first) + 1)


def is_left_alone(widget):
    """Whether a click opens a dialog or a menu that waits for a hand, or has a form run for each row of a layer."""
    parents = [widget]
    while parents[-1] is not None:
        parents.append(parents[-1].parent())
    menu = isinstance(widget, QToolButton) and widget.menu() is not None
    return menu or "Iterate" in widget.toolTip() or any(isinstance(one, QgsFileWidget) for one in parents)


def use_one(rng, window, folder):
    """Do something with a widget that can be used."""
    there = [widget for widget in window.findChildren(USED) if widget.isVisibleTo(window) and widget.isEnabled()]
    usable = [widget for widget in there if not isinstance(widget, QScrollBar)]
    widget = rng.choice(usable)
    if isinstance(widget, QAbstractButton):
        if not is_left_alone(widget):
            widget.click()
    elif isinstance(widget, QComboBox):
        widget.setCurrentIndex(rng.randrange(max(widget.count(), 1)))
    elif isinstance(widget, QAbstractSpinBox):
        widget.setValue(rng.choice([widget.minimum(), widget.maximum(), 2, 5, rng.randint(0, 40)]))
    elif isinstance(widget, QAbstractSlider):
        widget.setValue(rng.randint(widget.minimum(), widget.maximum()))
    elif isinstance(widget, QLineEdit):
        widget.setText(rng.choice([*WORDS, str(folder / f"release {rng.random()}")]))
        widget.editingFinished.emit()
    elif widget.rowCount() and widget.columnCount():
        widget.setCurrentCell(rng.randrange(widget.rowCount()), rng.randrange(widget.columnCount()))


def change_layer(rng, what, layer):
    if what == "remove":
        QgsProject.instance().removeMapLayer(layer)
    elif what == "rename":
        layer.setName(rng.choice(WORDS))
    elif what == "filter":
        layer.setSubsetString(rng.choice(["", "sex = 'F'", "1 = 0"]))
    elif layer.startEditing():
        rows = [feature.id() for feature in layer.getFeatures()]
        if rows and len(layer.fields()):
            layer.changeAttributeValue(rng.choice(rows), rng.randrange(len(layer.fields())), None)
        layer.deleteFeatures(rows[:3])
        layer.commitChanges() if rng.random() < 0.5 else layer.rollBack()
