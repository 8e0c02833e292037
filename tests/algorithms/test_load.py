"""Many runs in one process hold no more than a few; `scripts/load` runs many more."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import replace

import pytest
from qgis.core import QgsVectorLayer

from ..scripts import script, started

RUNS = 25  # no multiple of what is printed: the end is looked at all the same

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what a process holds is read from /proc")


@linux
@pytest.mark.slow
def test_nothing_grows_from_run_to_run():
    done = started("load", str(RUNS))
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Grown over {RUNS - 10} runs: nothing." in done.stdout


@pytest.mark.slow
@linux
def test_what_is_held_is_seen(qgis_app, tmp_path):
    load = script("load")
    before = load.held(tmp_path)
    layer = QgsVectorLayer("Point", "kept", "memory")
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    (tmp_path / "vbas-1").mkdir()
    with (tmp_path / "file").open("w"):
        after = load.held(tmp_path)
    ended.set()
    thread.join()
    assert layer.isValid()
    assert set(load.grown(before, after, 10)) >= {"files", "threads", "layers", "folders"}
    assert load.grown(after, after, 10) == []


@pytest.mark.parametrize(
    ("more", "runs", "found"), [(1, 1, []), (6 * 2**20, 15, ["memory"]), (50 * 2**20, 100, ["memory"])]
)
def test_memory_may_vary_but_not_grow_with_the_runs(more, runs, found):
    load = script("load")
    before = load.Held(300 * 2**20, 10, os.cpu_count() or 1, 0, 0)
    assert load.grown(before, replace(before, memory=before.memory + more), runs) == found
