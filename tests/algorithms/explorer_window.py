"""The dock in a window, driven by its widgets."""

from __future__ import annotations

import threading
import time

from qgis.core import QgsApplication
from qgis.PyQt.QtCore import QEvent
from qgis.PyQt.QtWidgets import QApplication, QLabel

from ..patience import PATIENCE


def let_pass(seconds=0.0):
    """Let the window do what it has to, and let go of what is deleted later, as its own loop of events does."""
    until = time.monotonic() + seconds
    while True:
        QApplication.processEvents()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        if time.monotonic() >= until:
            return
        time.sleep(0.002)


def wait_for(condition):
    """Until something holds."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, f"it never came: {standing()}"
        let_pass(0.005)


def standing():
    """What there is of work, threads and sentences, for who finds that nothing comes."""
    tasks = [(task.description(), task.status()) for task in QgsApplication.taskManager().tasks()]
    said = [label.text() for label in QApplication.allWidgets() if isinstance(label, QLabel) and not label.isHidden()]
    return tasks, threading.enumerate(), said


def settle(dock):
    """Until no work is left: one piece of it may start another."""
    wait_for(lambda: not dock.session.busy and not dock.telling.busy)
    let_pass()
    while dock.session.busy or dock.telling.busy:
        wait_for(lambda: not dock.session.busy and not dock.telling.busy)
        let_pass()


def look(dock, *quasi_identifiers):
    """Tick these, press Look, and wait."""
    dock.data.tick(list(quasi_identifiers))
    dock.look.click()
    settle(dock)


def choose_number(dock, number):
    """Type a number of regions."""
    dock.chooser.number.setValue(number)
    settle(dock)


def choose_combination(dock, word, site_location="", aggregation=""):
    """Choose what to favour, and the approaches of “custom”."""
    choices = dock.choices
    for list_of, wanted in (
        (choices.site_location, site_location),
        (choices.aggregation, aggregation),
        (choices.combination, word),
    ):
        if wanted:
            list_of.setCurrentIndex(list_of.findData(wanted))
    settle(dock)


def crosswalk_of(layer, identifier, numbers):
    """Region numbers by area, of one or several fields."""
    return {feature[identifier]: tuple(feature[number] for number in numbers) for feature in layer.getFeatures()}
