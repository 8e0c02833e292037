"""Folders of runs: cleared when their process is dead, and in no other case."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from vbas.core.errors import VbasError
from vbas.core.publish import files as door
from vbas.core.publish import folders
from vbas.core.publish.folders import clear_dead, own_folder

from ..systems import of_posix

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
@of_posix
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


@of_posix
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


class Counting(door.FileSystem):
    """The disk, whose locks that are open are counted; `answers` are given one after the other to who locks."""

    def __init__(self, answers, still=True):
        self.answers, self.still, self.open, self.asked = list(answers), still, [], 0

    def open_to_lock(self, path, new=False):
        self.open.append(super().open_to_lock(path, new))
        return self.open[-1]

    def lock(self, descriptor):
        self.asked += 1
        answer = self.answers.pop(0) if self.answers else True
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def is_still(self, path, descriptor):
        return self.still is True or self.asked > self.still

    def close(self, descriptor):
        self.open.remove(descriptor)
        super().close(descriptor)


@pytest.mark.parametrize(
    ("answers", "still", "raised", "asked"),
    [
        ([True], True, None, 1),
        ([False], True, None, 1),
        ([False, True], 1, None, 2),
        ([], folders.ATTEMPTS - 1, None, folders.ATTEMPTS),
        ([], folders.ATTEMPTS, "is in the way there: remove it", folders.ATTEMPTS),
        ([BlockingIOError()], True, "another run is writing to .*said: wait until it has ended", 1),
        ([True, BlockingIOError()], 1, "another run is writing to .*said: wait until it has ended", 2),
        ([OSError(errno.EIO, "broken")], True, "broken", 1),
        ([KeyboardInterrupt("stopped")], True, "stopped", 1),
    ],
)
@pytest.mark.parametrize("holds", [False, True])
@of_posix
def test_whoever_waits_for_a_target_leaves_no_lock_open(tmp_path, answers, still, raised, asked, holds):
    files = Counting(answers, still)
    files.holds_what_is_open = holds
    target = tmp_path / "released.csv"
    if raised is None:
        with folders.one_run_on(target, "OUTPUT", files, tmp_path / "said") as sure:
            assert sure is (answers[-1] if answers else True)
            assert len(files.open) == 1 and folders.lock_on(target).exists()
        assert list(tmp_path.iterdir()) == []
    else:
        with pytest.raises(BaseException, match=raised), folders.one_run_on(target, "OUTPUT", files, tmp_path / "said"):
            pytest.fail("nobody may write")
    assert files.open == [] and files.asked == asked


@pytest.mark.parametrize("named", [True, False])
def test_where_a_folder_takes_no_lock_it_is_said(tmp_path, named):
    there = tmp_path / "nowhere" / "released.csv"
    said = tmp_path / "elsewhere" / "said" if named else None
    with pytest.raises(VbasError) as raised, folders.one_run_on(there, "OUTPUT", Counting([]), said):
        pytest.fail("nobody may write")
    folder = tmp_path / ("elsewhere" if named else "nowhere")
    assert str(raised.value).startswith(f"OUTPUT cannot be written to {folder}: No such file")


@pytest.mark.parametrize(
    ("answers", "still", "raised", "asked"),
    [
        ([True], True, None, 1),
        ([BlockingIOError(), True], 1, None, 2),
        ([], folders.ATTEMPTS - 1, None, folders.ATTEMPTS),
        ([], folders.ATTEMPTS, FileExistsError, folders.ATTEMPTS),
    ],
)
@pytest.mark.parametrize("holds", [False, True])
@of_posix
def test_a_folder_of_its_own_is_locked_until_it_is_gone_and_no_other_lock_is_open(
    tmp_path, answers, still, raised, asked, holds
):
    files = Counting(answers, still)
    files.holds_what_is_open = holds
    if raised is None:
        with own_folder(tmp_path, files=files) as folder:
            assert len(files.open) == 1 and files.names(folder) == [folders.LOCK]
        assert not folder.exists() and len(list(tmp_path.iterdir())) == asked - 1
    else:
        with pytest.raises(raised, match="other runs keep removing its folders"), own_folder(tmp_path, files=files):
            pytest.fail("there is none")
    assert files.open == [] and files.asked == asked


@pytest.mark.parametrize(
    ("refused", "n_made", "raised"),
    [
        ([FileNotFoundError(2, "cleared")], 2, None),
        ([FileNotFoundError(2, "cleared")] * (folders.ATTEMPTS - 1), folders.ATTEMPTS, None),
        ([FileNotFoundError(2, "cleared")] * folders.ATTEMPTS, folders.ATTEMPTS, "keep removing"),
        ([PermissionError(13, "closed")], 1, "closed"),
    ],
)
def test_a_folder_that_gets_no_lock_is_not_left(tmp_path, refused, n_made, raised):
    """One that another run cleared is gone; where it cannot be locked it is removed as far as that goes."""
    made, removed = [], []

    class Refusing(Counting):
        def new_folder(self, parent, beginning):
            made.append(super().new_folder(parent, beginning))
            return made[-1]

        def open_to_lock(self, path, new=False):
            assert new
            if len(made) <= len(refused):
                raise refused[len(made) - 1]
            return super().open_to_lock(path, new)

        def remove_tree(self, path, as_far_as_it_goes=False):
            removed.append((path, as_far_as_it_goes))
            super().remove_tree(path, as_far_as_it_goes)

    files = Refusing([])
    if raised is None:
        with own_folder(tmp_path, files=files) as folder:
            assert folder == made[-1] and len(files.open) == 1
        assert removed == [(folder, True)]
    else:
        with pytest.raises(OSError, match=raised), own_folder(tmp_path, files=files):
            pytest.fail("there is none")
        assert removed == ([(made[0], True)] if raised == "closed" else [])
    assert files.open == [] and len(made) == n_made


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (True, False),
        (False, True),  # no locks are known
        (BlockingIOError(11, "held"), True),
        (OSError(5, "broken"), True),
    ],
)
@pytest.mark.parametrize("fails", [False, True])
def test_whatever_becomes_of_a_folder_that_was_left_its_lock_is_closed(tmp_path, monkeypatch, answer, left, fails):
    with own_folder(tmp_path) as beginning:
        ours = beginning.name[: -len(beginning.name.rpartition("-")[2])]
    folder, bare = tmp_path / f"{ours}left", tmp_path / f"{ours}bare"
    for one in (folder, bare):
        one.mkdir()
    (folder / folders.LOCK).touch()
    (folder / "rows").write_text("rows")
    finished = []

    def finish(folder, files):
        finished.append(folder)
        if fails:
            raise OSError(5, "broken")

    class Opening(Counting):
        def open_left_lock(self, path):
            self.open.append(super().open_left_lock(path))
            return self.open[-1]

    monkeypatch.setattr(folders, "finish", finish)
    files = Opening([answer])
    clear_dead(tmp_path, files)
    assert files.open == [] and not bare.exists()
    assert finished == ([] if left else [folder]) and folder.exists() == (left or fails)


@pytest.mark.parametrize("number", [errno.ENOENT, errno.EACCES])
def test_where_there_is_no_temporary_folder_it_is_said(tmp_path, number):
    class Full(Counting):
        def new_folder(self, parent, beginning):
            raise OSError(number, "it is so")

        def temporary(self):
            return tmp_path

    with own_folder(tmp_path) as beginning:
        pass
    beginning.mkdir()  # left by a killed run before it had a lock: cleared before anything is made
    with pytest.raises(VbasError) as raised, folders.temporary_folder(Full([])):
        pytest.fail("there is none")
    said = (
        "There is no" if number == errno.ENOENT else f"The temporary folder {tmp_path} cannot be written to: it is so"
    )
    assert str(raised.value).startswith(said) and not beginning.exists()
