"""Outputs reach their places all together, or everything is as it was: files, side files, tables of databases."""

from __future__ import annotations

import os
import resource
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from qgis.core import QgsProcessingException, QgsVectorLayer

from vbas.algorithms.layers import delivery
from vbas.algorithms.layers.delivery import FilePlace, deliver
from vbas.algorithms.layers.locks import one_run_on
from vbas.core.errors import Cancelled, VbasError

ROOT = Path(__file__).resolve().parents[2]


def contents(folder):
    """Bytes, mode and inode of every file, hidden ones included."""
    return {
        path.name: (path.read_bytes(), stat.S_IMODE(path.lstat().st_mode), path.lstat().st_ino)
        for path in sorted(folder.iterdir())
        if path.is_file()
    }


def bytes_in(folder):
    return {name: content for name, (content, _, _) in contents(folder).items()}


class Broken:
    """Renames and second names for files that fail from the n-th on: once, or ever after."""

    def __init__(self, monkeypatch, n, for_ever=False, error=None, links=True):
        self.calls, self.n, self.for_ever = 0, n, for_ever
        self.error = error or OSError(5, "Input/output error")
        for name in ("replace", "link"):
            monkeypatch.setattr(delivery.os, name, self._failing(getattr(os, name), links or name == "replace"))

    def _failing(self, real, able):
        def call(*arguments, **options):
            self.calls += 1
            if self.calls == self.n or (self.for_ever and self.calls > self.n):
                raise self.error
            if not able:
                raise PermissionError(1, "Operation not permitted")
            return real(*arguments, **options)

        return call


OLD = ("map.shp", "map.dbf", "map.shx", "map.qix", "table.gpkg", "table.gpkg-wal", "other.txt")
NEW = ("map.shp", "map.dbf", "map.shx", "map.prj", "table.gpkg", "new.csv")
DELIVERED = {**{name: f"new {name}".encode() for name in NEW}, "other.txt": b"old other.txt"}


@pytest.fixture
def folder(tmp_path):
    """Where three outputs go: over a map of several files with an old index, over a table, and where nothing is."""
    folder = tmp_path / "final"
    folder.mkdir()
    return folder


def places_in(folder):
    """The three outputs, staged; what was there is made anew."""
    for path in folder.iterdir():
        path.unlink()
    for name in OLD:
        (folder / name).write_text(f"old {name}")
    (folder / "table.gpkg").chmod(0o600)
    places = []
    stale = {"map.shp": ["map.qix"], "table.gpkg": ["table.gpkg-wal", "table.gpkg-shm"], "new.csv": []}
    for name in stale:
        staged = folder.parent / f"staged {name}"
        staged.mkdir(exist_ok=True)
        for one in NEW:
            if Path(one).stem == Path(name).stem:
                (staged / one).write_text(f"new {one}")
        places.append(FilePlace(name, staged / name, folder / name, stale[name]))
    return places


def test_everything_is_put_in_place_without_old_indexes_and_journals(folder):
    assert deliver(places_in(folder)) == []
    assert bytes_in(folder) == DELIVERED


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("kind", [OSError(28, "No space left on device"), KeyboardInterrupt(), Cancelled("Cancelled.")])
def test_whichever_rename_fails_all_is_as_before(folder, kind, links):
    failures = 0
    for n in range(1, 100):
        places = places_in(folder)
        before = contents(folder)
        with pytest.MonkeyPatch.context() as monkeypatch:
            broken = Broken(monkeypatch, n, error=kind, links=links)
            try:
                deliver(places)
            except (VbasError, KeyboardInterrupt) as error:
                failures += 1
                assert type(error) is (VbasError if isinstance(kind, OSError) else type(kind))
                if isinstance(kind, OSError):
                    assert "No space left on device" in str(error)
                    assert str(error).endswith("Nothing was changed.")
                assert contents(folder) == before, n
                continue
        assert bytes_in(folder) == DELIVERED, n  # a second name cannot be had: a rename does as well
        if broken.calls < n:
            break
    assert failures >= 8  # six new files, two old ones that go without being replaced


def test_what_cannot_be_put_back_is_named(folder):
    for n in range(1, 100):
        places = places_in(folder)
        before = bytes_in(folder)
        with pytest.MonkeyPatch.context() as monkeypatch:
            broken = Broken(monkeypatch, n, for_ever=True)
            try:
                deliver(places)
            except VbasError as error:
                message = str(error)
            else:
                break
        now = bytes_in(folder)
        assert ("Nothing was changed." in message) == (now == before), n
        for name in before:
            if now.get(name) != before[name]:  # it is said where it is
                kept = next(line for line in message.split(": ") if "what it held is in" in line and before[name])
                assert kept
                assert before[name] in now.values()
                assert str(folder / name) in message
        for name in set(now) - set(before):
            if not name.startswith(".vbas-"):
                assert f"{folder / name} was already written" in message
    assert broken.calls < n


def test_a_file_that_another_program_puts_there_meanwhile_is_not_lost(folder):
    places = places_in(folder)

    def meanwhile():
        (folder / "new.csv").write_text("of somebody else")

    with pytest.raises(VbasError, match=r"another program has just changed .*new\.csv\. Nothing was changed"):
        deliver(places, meanwhile)
    assert bytes_in(folder) == {**{name: f"old {name}".encode() for name in OLD}, "new.csv": b"of somebody else"}


def test_modes_are_kept_and_new_files_follow_the_umask(folder):
    places = places_in(folder)
    (folder / "map.shp").chmod(0o600)
    before = os.umask(0o027)
    try:
        deliver(places)
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    # A new side file is no more open than the file that it belongs to.
    assert [modes[name] for name in ("table.gpkg", "map.shp", "map.prj", "new.csv")] == [0o600, 0o600, 0o600, 0o640]
    assert modes["map.dbf"] == 0o644


def test_the_copy_beside_a_closed_file_is_never_open(folder, monkeypatch):
    """Neither under its own name nor before it is whole."""
    seen = []
    copy = delivery.shutil.copyfileobj

    def watched(read, write, *rest):
        seen.append((Path(read.name).name, stat.S_IMODE(os.fstat(write.fileno()).st_mode)))
        copy(read, write, *rest)

    monkeypatch.setattr(delivery.shutil, "copyfileobj", watched)
    deliver(places_in(folder))
    assert dict(seen)["table.gpkg"] == 0o600


def test_a_planted_link_is_not_followed(folder, monkeypatch):
    places = places_in(folder)
    victim = folder.parent / "victim"
    victim.write_text("precious")
    names = iter(f"{i:016x}" for i in range(100))
    monkeypatch.setattr(delivery.secrets, "token_hex", lambda _: next(names))
    staged = folder.parent / "staged new.csv" / "new.csv"
    place = FilePlace("NEW", staged, folder / "new.csv")  # somebody has guessed its names
    for i in range(4):
        (folder / f".vbas-{i:016x}").symlink_to(victim)
    with pytest.raises(VbasError, match=r"NEW cannot be written to .*File exists.* Nothing was changed"):
        deliver([*places[:1], place])
    assert victim.read_text() == "precious"


# ---- one run at a time


def test_one_run_at_a_time_on_a_target_and_its_side_files(tmp_path):
    with one_run_on(tmp_path / "a.shp", "FIRST"):
        with (
            pytest.raises(VbasError, match="SECOND: another run is writing to"),
            one_run_on(tmp_path / "a.dbf", "SECOND"),
        ):
            pass
        with one_run_on(tmp_path / "b.shp", "THIRD"):
            pass
    assert list(tmp_path.iterdir()) == []
    with one_run_on(tmp_path / "a.dbf", "SECOND"):
        pass


def test_a_killed_run_leaves_no_lock_standing(tmp_path):
    script = (
        "import os, sys; from pathlib import Path; from vbas.algorithms.layers.locks import one_run_on\n"
        "lock = one_run_on(Path(sys.argv[1]), 'FIRST'); lock.__enter__(); os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "a.csv")], timeout=60, check=False)
    assert done.returncode == -9
    assert len(list(tmp_path.iterdir())) == 1
    with one_run_on(tmp_path / "a.csv", "SECOND"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_lock_is_no_way_into_other_files(tmp_path):
    with one_run_on(tmp_path / "a.csv", "FIRST"):
        (lock,) = tmp_path.iterdir()
    victim = tmp_path / "victim"
    victim.write_text("precious")
    lock.symlink_to(victim)
    with pytest.raises(VbasError, match="FIRST cannot be written"), one_run_on(tmp_path / "a.csv", "FIRST"):
        pass
    assert victim.read_text() == "precious"


def test_pairs_of_runs_never_mix_what_they_deliver(tmp_path):
    """24 pairs that start together: both files come of one run, and a run that did not deliver has said so."""
    for pair in range(24):
        folder = tmp_path / str(pair)
        folder.mkdir()
        outcomes = {}
        start = threading.Barrier(2)

        def run(who, folder=folder, outcomes=outcomes, start=start):
            places = []
            for name in ("a.csv", "b.csv"):
                staged = tmp_path / f"{folder.name} {who} {name}"
                staged.mkdir()
                (staged / name).write_text(f"{who} " * 50_000)
                places.append(FilePlace(name, staged / name, folder / name))
            start.wait()
            try:
                with one_run_on(folder / "a.csv", "A"), one_run_on(folder / "b.csv", "B"):
                    deliver(places)
            except VbasError as error:
                outcomes[who] = str(error)
            else:
                outcomes[who] = "delivered"

        runs = [threading.Thread(target=run, args=(who,)) for who in ("one", "two")]
        for one in runs:
            one.start()
        for one in runs:
            one.join()
        found = {path.name: set(path.read_text().split()) for path in folder.iterdir()}
        assert found.keys() == {"a.csv", "b.csv"}
        assert found["a.csv"] == found["b.csv"]
        assert len(found["a.csv"]) == 1
        assert all(said == "delivered" or "another run is writing to" in said for said in outcomes.values())
