"""Folders of runs: cleared when their process is dead, and in no other case."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from vbas.core.publish import files as door
from vbas.core.publish import folders
from vbas.core.publish.folders import clear_dead, own_folder

SCRIPT = """
import os, sys
from pathlib import Path
from vbas.core.publish.folders import own_folder
with own_folder(Path(sys.argv[1]), sys.argv[2]) as folder:
    (folder / "RELEASED_RECORDS").mkdir()
    (folder / "RELEASED_RECORDS" / "released.csv").write_text("rows")
    (folder / "link").symlink_to(sys.argv[3], target_is_directory=True)
    print(folder, flush=True)
    sys.stdin.read()
    os.kill(os.getpid(), 9)
"""


@pytest.fixture
def living(tmp_path):
    """living(prefix) -> (process, its folder); the process is killed once its input ends."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("precious")
    (tmp_path / "temporary").mkdir()
    started = []

    def one(prefix=folders.TEMPORARY):
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(tmp_path / "temporary"), prefix, str(precious)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        return process, Path(process.stdout.readline().strip())

    yield one
    for process in started:
        process.communicate(timeout=60)
    assert (precious / "file").read_text() == "precious"


@pytest.mark.parametrize("prefix", [folders.TEMPORARY, folders.BESIDE])
def test_only_folders_of_dead_processes_are_cleared(living, tmp_path, prefix):
    process, folder = living(prefix)
    assert folder.parent == tmp_path / "temporary"
    assert folder.stat().st_mode & 0o777 == 0o700
    with own_folder(folder.parent, prefix) as own:
        clear_dead(folder.parent)
        assert (folder / "RELEASED_RECORDS" / "released.csv").read_text() == "rows"
        assert own.is_dir()
        process.communicate(timeout=60)
        assert folder.is_dir()
        clear_dead(folder.parent)
        assert list(folder.parent.iterdir()) == [own]
    assert list(folder.parent.iterdir()) == []


def dead(living):
    process, folder = living()
    process.communicate(timeout=60)
    return folder


def test_what_is_not_known_to_be_ours_stays(living, tmp_path, monkeypatch):
    folder = dead(living)
    parent = folder.parent
    lockless = folder.with_name(folder.name + "x")
    shutil.copytree(folder, lockless, symlinks=True)
    (lockless / folders.LOCK).unlink()
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(folder, elsewhere, symlinks=True)
    link = folder.with_name(folder.name + "y")
    link.symlink_to(elsewhere, target_is_directory=True)
    linked_lock = folder.with_name(folder.name + "z")
    linked_lock.mkdir()
    (linked_lock / folders.LOCK).symlink_to(elsewhere / folders.LOCK)
    plain = folder.with_name(folder.name + "f")
    plain.write_text("a file")
    others = parent / "vbas-00000000-abcdefgh"  # of another machine
    shutil.copytree(folder, others, symlinks=True)
    clear_dead(parent)
    assert sorted(parent.iterdir()) == sorted([lockless, link, linked_lock, plain, others])
    assert (elsewhere / "RELEASED_RECORDS" / "released.csv").exists()


def test_the_same_name_on_another_machine_is_another_name(living, monkeypatch):
    folder = dead(living)
    with monkeypatch.context() as patch:
        patch.setattr(door.platform, "node", lambda: "another")
        clear_dead(folder.parent)
        assert folder.is_dir()
    clear_dead(folder.parent)
    assert not folder.exists()


def test_where_no_locks_are_known_nothing_is_cleared(living, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    _, folder = living()

    def unknown(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unknown)
    assert door.DISK.lock(0) is False
    clear_dead(folder.parent)
    assert folder.is_dir()


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="only root can be somebody else")
def test_what_another_user_left_stays(living):
    folder = dead(living)
    os.chown(folder, 65534, 65534)
    clear_dead(folder.parent)
    assert folder.is_dir()


def test_what_could_not_be_removed_is_removed_by_a_later_run(tmp_path, monkeypatch):
    """A file is still open (on Windows), or the run is killed while it removes its folder."""
    with monkeypatch.context() as patch:
        with own_folder(tmp_path) as folder:
            (folder / "CROSSWALK").mkdir()
            patch.setattr(door.shutil, "rmtree", lambda *_, **__: None)
        assert (folder / "CROSSWALK").is_dir()
        clear_dead(tmp_path)
        assert (folder / "CROSSWALK").is_dir()
    clear_dead(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_new_folder_that_is_taken_for_a_dead_one_is_made_anew(tmp_path, monkeypatch):
    """Between its making and its locking another run may clear it."""
    real = door.FileSystem.lock
    taken: list[int] = []

    def late(files, descriptor):
        if not taken:
            taken.append(1)
            clear_dead(tmp_path)
        return real(files, descriptor)

    monkeypatch.setattr(door.FileSystem, "lock", late)
    with own_folder(tmp_path) as folder:
        assert taken
        assert (folder / folders.LOCK).exists()
    assert list(tmp_path.iterdir()) == []
