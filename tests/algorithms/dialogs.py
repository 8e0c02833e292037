"""A form filled and run as a user does it: widgets, the Run button, the log, the layers in the project."""

from __future__ import annotations

import time
from dataclasses import dataclass

from qgis.core import QgsProcessingOutputLayerDefinition, QgsProject
from qgis.gui import QgsCollapsibleGroupBoxBasic
from qgis.PyQt.QtCore import QEventLoop, Qt, QTimer
from qgis.PyQt.QtGui import QTextDocument
from qgis.PyQt.QtWidgets import (
    QApplication,
    QCheckBox,
    QDialogButtonBox,
    QListView,
    QMessageBox,
    QScrollArea,
    QTextEdit,
    QToolButton,
)

from ..patience import PATIENCE

MOST_WORDS = 400  # of a help panel
LETTERS_OF_BOX = 50  # in a group, at 688 pixels


@dataclass
class Clicked:
    """What a run by hand gave: whether it succeeded, the results, the log as text, the layers it loaded."""

    successful: bool
    results: dict
    log: str
    layers: list


def click_through(algorithm, parameters, files=None, choices=None):
    """Open the form of an algorithm, fill the widgets named, leave the others untouched, press Run and wait.

    files : path by name of an output; the others go where the form sends them
    choices : rows to tick by name of a list of several
    """
    import processing

    dialog = processing.createAlgorithmDialog(algorithm, {**parameters, **_destinations(files or {})})
    dialog.show()
    try:
        for name, rows in (choices or {}).items():
            _tick(dialog, name, rows)
        return click_run(dialog)
    finally:
        dialog.close()
        dialog.deleteLater()


def click_run(dialog):
    """Press Run in an open form and wait."""
    before = set(QgsProject.instance().mapLayers())
    finished = []
    said: list[str] = []
    waiting, give_up = QEventLoop(), time.monotonic() + PATIENCE

    def end(successful, results):
        finished.append((successful, results))
        waiting.quit()

    def look():
        # A box that asks or warns would wait for a click for ever: it is read and closed.
        _close_box(said)
        said.extend([] if finished or _running(dialog) else _messages(dialog))
        if said or time.monotonic() > give_up:
            waiting.quit()

    dialog.algorithmFinished.connect(end)
    looking = QTimer()
    looking.timeout.connect(look)
    looking.start(50)
    try:
        dialog.runButton().click()
        look()
        # Asleep until something happens: whoever asks again and again takes its time from the run.
        if not (finished or said):
            waiting.exec()
        QApplication.processEvents()
        log = "\n".join([*said, dialog.findChild(QTextEdit, "txtLog").toPlainText()])
    finally:
        looking.stop()
    successful, results = finished[0] if finished else (False, {})
    layers = [layer for key, layer in QgsProject.instance().mapLayers().items() if key not in before]
    return Clicked(successful, results, log, layers)


def _destinations(files):
    return {
        name: str(file)
        if file.suffix == ".html"
        else QgsProcessingOutputLayerDefinition(str(file), QgsProject.instance())
        for name, file in files.items()
    }


def _tick(dialog, name, rows):
    """Open the list of a widget, tick these rows and no others, and go back."""
    dialog.mainWidget().wrappers[name].wrappedWidget().findChild(QToolButton).click()
    QApplication.processEvents()
    view = next(view for view in dialog.findChildren(QListView) if view.isVisible())
    items = view.model()
    for row in range(items.rowCount()):
        state = Qt.CheckState.Checked if row in rows else Qt.CheckState.Unchecked
        items.setItemData(items.index(row, 0), {Qt.ItemDataRole.CheckStateRole: state})
    panel = view.parentWidget()
    panel.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Ok).click()
    QApplication.processEvents()


def _close_box(said):
    box = QApplication.activeModalWidget()
    if isinstance(box, QMessageBox):
        said.append(box.text())
        box.reject()


def _running(dialog):
    return not dialog.runButton().isEnabled()


def _messages(dialog):
    """What the form complains of in its yellow bar, such as a required widget left empty."""
    item = dialog.messageBar().currentItem()
    return [item.text()] if item is not None else []


def scrolls_sideways(dialog):
    """By how many pixels a form is wider than its window at the size QGIS opens it with, all groups open."""
    area = dialog.mainWidget().findChild(QScrollArea)
    groups = dialog.findChildren(QgsCollapsibleGroupBoxBasic)
    for group in groups:
        group.setCollapsed(False)
    dialog.resize(688, 560)
    QApplication.processEvents()
    return area.horizontalScrollBar().maximum()


def cut_boxes(dialog):
    """The boxes to tick of a form whose words are too many for the width that QGIS opens it with: a box does not wrap
    them. Counted, since fonts differ from one machine to the next."""
    widgets = [wrapper.wrappedWidget() for wrapper in dialog.mainWidget().wrappers.values()]
    return [box.text() for box in widgets if isinstance(box, QCheckBox) and len(box.text()) > LETTERS_OF_BOX]


def words_of_help(algorithm):
    """How many words the help panel of a form has."""
    document = QTextDocument()
    document.setHtml(algorithm.shortHelpString())
    return len(document.toPlainText().split())
