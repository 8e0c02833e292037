"""The forms under somebody who fills in anything, runs, breaks off, takes layers away and runs again.

    VBAS_FORM_SEEDS=0-200 pytest tests/algorithms/test_forms_at_random.py

Whatever is filled in, a run ends in its outputs or in a sentence, and the form can be used again.
"""

from __future__ import annotations

import random
import sys
import traceback
from contextlib import suppress

import pytest
from qgis.core import QgsProject, QgsVectorLayer
from qgis.gui import QgsCollapsibleGroupBoxBasic
from qgis.PyQt.QtCore import QTimer
from qgis.PyQt.QtWidgets import QApplication, QDialog, QTextEdit

from ..fuzz.judge import RAW
from .at_random import change_layer, seeds, use_one
from .explorer_window import let_pass, wait_for
from .test_dialogs import FORMS, OTHERS, filled, people, town

__all__ = ["filled", "people", "town"]
CASES = [*FORMS.items(), *((case.split(",")[0], fields) for case, fields in OTHERS.items())]
ROUNDS = 3


def close_what_asks(dialog):
    """Close the windows that wait for a hand, such as the choice of a reference system or of a file."""
    asking = QApplication.activeModalWidget()
    if isinstance(asking, QDialog) and asking is not dialog:
        asking.reject()


def fill(rng, dialog, folder):
    """Change a few fields of a form."""
    for group in dialog.findChildren(QgsCollapsibleGroupBoxBasic):
        group.setCollapsed(rng.random() < 0.3)
    for _ in range(rng.choice([0, 1, 1, 2, 3, 8])):
        with suppress(RuntimeError):  # a widget went meanwhile
            use_one(rng, dialog.mainWidget(), folder)
        QApplication.processEvents()


def told_in(dialog):
    """What the last run of a form says by itself: its bar, and its log without what QGIS puts there."""
    item = dialog.messageBar().currentItem()
    log = dialog.findChild(QTextEdit, "txtLog").toPlainText()
    lines = [*([item.text()] if item is not None else []), *log.rpartition("Input parameters:")[2].splitlines()[2:]]
    return "\n".join(
        line for line in lines if not line.startswith(("Error encountered while running", "Results:", "{"))
    )


def run(rng, dialog):
    """Press Run; wait, break off, or take a layer away meanwhile."""
    finished = []
    dialog.algorithmFinished.connect(lambda *_: finished.append(True))
    dialog.runButton().click()
    let_pass(rng.choice([0, 0.01, 0.1]))
    what = rng.random()
    if what < 0.15:
        dialog.cancelButton().click()
    elif what < 0.25:
        layers = [layer for layer in QgsProject.instance().mapLayers().values() if isinstance(layer, QgsVectorLayer)]
        change_layer(rng, rng.choice(("remove", "rename", "filter", "edit")), rng.choice(layers))
    wait_for(lambda: dialog.runButton().isEnabled())
    let_pass()


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds("VBAS_FORM_SEEDS"))
def test_whatever_is_filled_in_a_run_ends_well(filled, monkeypatch, tmp_path, seed):
    import processing

    monkeypatch.chdir(tmp_path)
    rng, raised = random.Random(seed), []
    monkeypatch.setattr(sys, "excepthook", lambda *error: raised.append("".join(traceback.format_exception(*error))))
    algorithm, fields = rng.choice(CASES)
    dialog = processing.createAlgorithmDialog(f"vbas:{algorithm}", filled(fields))
    closing = QTimer()
    closing.timeout.connect(lambda: close_what_asks(dialog))
    closing.start(20)
    dialog.show()
    try:
        for _ in range(ROUNDS):
            fill(rng, dialog, tmp_path)
            run(rng, dialog)
            assert not raised, raised[0]
            told = told_in(dialog)
            assert not RAW.search(told), told
            dialog.showParameters()
    finally:
        closing.stop()
        dialog.close()
        dialog.deleteLater()
        QApplication.processEvents()
