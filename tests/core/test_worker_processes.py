"""Worker processes of a partition: they run no code of the current folder, and those that fail are mentioned."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import vbas
from vbas.core.cells import partition_cells
from vbas.core.cells import workers as workers_module
from vbas.core.cells.cells import Minimum
from vbas.core.cells.options import PartitionOptions

from .test_cells_partition import squares

PACKAGE_FOLDER = Path(vbas.__file__).absolute().parent.parent
# What a worker imports, by name or by way of what it imports; a folder of one's downloads may hold any of them.
PLANTED = ("numpy", "scipy", "shapely", "vbas", "random", "json", "importlib", "dataclasses", "sitecustomize", "queue")
PARENT = """
import json, sys
import numpy as np
from vbas.core.cells import partition_cells, restarts
from vbas.core.cells.cells import Minimum
from vbas.core.cells.options import PartitionOptions
from vbas.tests.core.test_cells_partition import squares

restarts.WORTH_SHARING_SECONDS = 0.0
# As in QGIS's Python console and in python -c: the current folder comes first.
sys.path[:0] = json.loads(sys.argv[1])
people = np.random.default_rng(3).poisson(20, 400)
cells = squares([(x, y) for x in range(20) for y in range(20)], people)
done = partition_cells(cells, [Minimum((0,), 100)], "random growth", PartitionOptions(workers=2, restarts=4))
print(json.dumps([done.workers, done.notes]))
"""


@pytest.fixture
def planted(tmp_path):
    """A folder in which every module tells that it was run."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    for name in PLANTED:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'was_run')!r}, 'a').write({name!r})\n")
    return folder


@pytest.mark.parametrize("entries", [[], [""], ["."], ["{here}"], ["{link}"], ["", "{here}/", "{here}/../downloads"]])
def test_no_code_of_the_current_folder_is_run(entries, planted, tmp_path):
    script = tmp_path / "script" / "parent.py"
    script.parent.mkdir()
    script.write_text(PARENT)
    link = tmp_path / "link"
    link.symlink_to(planted)
    entries = [entry.format(here=planted, link=link) for entry in entries]
    # An empty entry of PYTHONPATH is the current folder too, in processes that heed it.
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE_FOLDER)}
    done = subprocess.run(
        [sys.executable, str(script), json.dumps(entries)],
        cwd=planted,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [2, []]
    assert not (tmp_path / "was_run").exists(), (tmp_path / "was_run").read_text()


def test_a_python_path_that_names_the_current_folder_is_not_handed_on(planted, tmp_path, monkeypatch):
    monkeypatch.chdir(planted)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", str(planted), "."]))
    monkeypatch.setattr(sys, "path", ["", ".", str(planted), *sys.path])
    assert shared_partition(monkeypatch).workers == 2
    assert not (tmp_path / "was_run").exists(), (tmp_path / "was_run").read_text()


def test_only_absolute_folders_are_handed_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", "lib", "../other", tmp_path / "a", f"{tmp_path}/b", str(tmp_path)])
    assert workers_module.module_path() == [f"{tmp_path}/b"]


def shared_partition(monkeypatch):
    monkeypatch.setattr("vbas.core.cells.restarts.WORTH_SHARING_SECONDS", 0.0)
    cells = squares([(x, y) for x in range(20) for y in range(20)], np.random.default_rng(3).poisson(20, 400))
    return partition_cells(cells, [Minimum((0,), 100)], "random growth", PartitionOptions(workers=2, restarts=4))


def test_processes_that_work_are_not_mentioned(monkeypatch):
    assert shared_partition(monkeypatch).notes == ()


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("exit 3", "it ended with code 3"),
        ("echo 'one line' >&2; echo 'No module named numpy' >&2; exit 1", "No module named numpy"),
        ("echo '{}'", "it did not say that it is ready"),
        ("cat >/dev/null", "it ended with code -9"),
    ],
)
def test_processes_that_fail_are_mentioned(program, said, monkeypatch, tmp_path):
    script = tmp_path / "python3"
    script.write_text(f"#!/bin/sh\n{program}\n")
    script.chmod(0o755)
    monkeypatch.setattr("vbas.core.cells.restarts.python_program", lambda: str(script))
    monkeypatch.setattr(workers_module, "PATIENCE_SECONDS", 0.5)
    failed = shared_partition(monkeypatch)
    assert failed.workers == 1
    assert failed.notes == (
        f"2 of 2 worker processes failed; their work was done without them. The first said: {said}.",
    )
    monkeypatch.undo()
    assert np.array_equal(failed.crosswalk.region_of, shared_partition(monkeypatch).crosswalk.region_of)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_one_process_that_fails_amid_others_is_mentioned(monkeypatch, tmp_path):
    script = tmp_path / "python3"
    script.write_text(f'#!/bin/sh\nmkdir "{tmp_path}/first" 2>/dev/null && exit 7\nexec "{sys.executable}" "$@"\n')
    script.chmod(0o755)
    monkeypatch.setattr("vbas.core.cells.restarts.python_program", lambda: str(script))
    done = shared_partition(monkeypatch)
    assert done.workers == 1
    assert done.notes[0].startswith("1 of 2 worker processes failed")
    assert "it ended with code 7" in done.notes[0]
