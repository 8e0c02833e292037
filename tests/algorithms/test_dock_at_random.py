"""The dock under somebody who clicks, types and chooses anything, while layers come, change and go.

    VBAS_DOCK_SEEDS=0-40 pytest tests/algorithms/test_dock_at_random.py

Nothing that was not foreseen may be raised or said, no work may be left over, and QGIS must still be there.
"""

from __future__ import annotations

import random
import sys
import traceback
from contextlib import suppress

import pytest
from qgis.core import QgsProject, QgsVectorLayer
from qgis.PyQt.QtWidgets import QApplication, QDialog, QFileDialog, QLabel

from ..fuzz.judge import RAW
from .at_random import WORDS, change_layer, seeds, use_one
from .conftest import make_layer
from .explorer_window import let_pass, wait_for
from .test_explorer import dock, entry

__all__ = ["dock", "entry"]
STEPS = 90


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


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds("VBAS_DOCK_SEEDS"))
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
