"""The dock under somebody who clicks, types and chooses anything, while layers come, change and go.

    VBAS_DOCK_SEEDS=0-40 pytest tests/algorithms/test_dock_at_random.py

Nothing that was not foreseen may be raised or said, no work may be left over, and QGIS must still be there.
"""

from __future__ import annotations

import os
import random
import sys
import traceback
from contextlib import suppress

import pytest
from qgis.core import QgsProject, QgsVectorLayer
from qgis.gui import QgsFileWidget
from qgis.PyQt.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QFileDialog,
    QLabel,
    QLineEdit,
    QScrollBar,
    QTableWidget,
    QToolButton,
)

from ..fuzz.judge import RAW
from .conftest import make_layer
from .explorer_window import let_pass, wait_for
from .test_explorer import dock, entry

__all__ = ["dock", "entry"]
STEPS = 90
USED = (QAbstractButton, QComboBox, QAbstractSpinBox, QAbstractSlider, QLineEdit, QTableWidget)
WORDS = ("", "x", "5", "é; b", "'\"<b>", "a b")


def seeds():
    first, _, last = os.environ.get("VBAS_DOCK_SEEDS", "0-1").partition("-")
    return range(int(first), int(last or first) + 1)


def asks_the_system(widget):
    """Whether a click opens a dialog or a menu that waits for a hand."""
    parents = [widget]
    while parents[-1] is not None:
        parents.append(parents[-1].parent())
    menu = isinstance(widget, QToolButton) and widget.menu() is not None
    return menu or any(isinstance(one, QgsFileWidget) for one in parents)


def use_one(rng, window, folder):
    """Do something with a widget that can be used."""
    there = [widget for widget in window.findChildren(USED) if widget.isVisibleTo(window) and widget.isEnabled()]
    usable = [widget for widget in there if not isinstance(widget, QScrollBar)]
    widget = rng.choice(usable)
    if isinstance(widget, QAbstractButton):
        if not asks_the_system(widget):
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


def change_the_project(rng, folder):
    """Let a layer come, change or go."""
    project = QgsProject.instance()
    layers = [layer for layer in project.mapLayers().values() if isinstance(layer, QgsVectorLayer)]
    what = rng.choice(("add", "remove", "edit", "rename", "filter", "clear", "save"))
    if what == "add":
        n = rng.randint(0, 60)
        columns = {"home": [str(i % 36) for i in range(n)], "sex": [rng.choice("FM") for _ in range(n)]}
        layer = project.addMapLayer(make_layer({**columns, "age": [rng.choice([10, 20, None]) for _ in range(n)]}))
        layer.setName(rng.choice(WORDS))
    elif what == "save":
        project.write(str(folder / "project.qgz"))
    elif what == "clear":
        if rng.random() < 0.2:
            project.clear()
    elif layers:
        change_layer(rng, what, rng.choice(layers))


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


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds())
def test_whatever_is_done_nothing_breaks(dock, entry, monkeypatch, tmp_path, seed):
    monkeypatch.chdir(tmp_path)  # folders are typed, too
    rng, raised, window = random.Random(seed), [], entry.dock
    monkeypatch.setattr(sys, "excepthook", lambda *error: raised.append("".join(traceback.format_exception(*error))))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", staticmethod(lambda *_: (rng.choice(["", "/none.toml"]), "")))
    for name in ("exec", "exec_"):
        monkeypatch.setattr(QDialog, name, lambda *_: 0, raising=False)
    window.window().show()
    window.show()
    for _ in range(STEPS):
        for opened in QApplication.topLevelWidgets():
            if isinstance(opened, QDialog):
                opened.close()
        with suppress(RuntimeError):  # a widget went meanwhile
            what = rng.random()
            if what < 0.06:
                change_the_project(rng, tmp_path)
            elif what < 0.3:
                window.go_to(rng.randrange(5))
            else:
                use_one(rng, window, tmp_path)
        let_pass(rng.choice([0, 0, 0.01, 0.05, 0.2]))
        assert not raised, raised[0]
    window.hand_over.cancel.click()
    steps = (window.look.session, window.data, window.decide, window.hand_over)
    wait_for(lambda: not any(step.busy for step in steps))
    said = [label.text() for label in window.findChildren(QLabel) if label.isVisibleTo(window)]
    assert not raised and not [sentence for sentence in said if RAW.search(sentence)]
