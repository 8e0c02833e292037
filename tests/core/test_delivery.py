"""Outputs reach their places all together, or every file is as it was: whatever fails, whoever is in the way."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
import threading
from contextlib import nullcontext
from pathlib import Path

import pytest

from vbas.core.errors import Cancelled, VbasError
from vbas.core.publish import file_place, files, leftovers
from vbas.core.publish.delivery import deliver
from vbas.core.publish.file_place import FilePlace
from vbas.core.publish.files import DISK, FileSystem
from vbas.core.publish.folders import one_run_on

from ..systems import KILLED, ON_WINDOWS, of_posix

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
            monkeypatch.setattr(files.os, name, self._failing(getattr(os, name), links or name == "replace"))

    def _failing(self, real, able):
        def call(*arguments, **options):
            self.calls += 1
            if self.calls == self.n or (self.for_ever and self.calls > self.n):
                raise self.error
            if not able:
                raise PermissionError(1, "Operation not permitted")
            return real(*arguments, **options)

        return call


OLD = tuple(
    name
    for name in ("map.shp", "map.dbf", "map.shx", "map.qix", "table.gpkg", "table.gpkg-wal", "other.txt")
    if DISK.lists_locks() or not name.endswith("-wal")  # elsewhere it stands for somebody who works in the table
)
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


@pytest.mark.slow
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
    assert failures >= (7 if ON_WINDOWS else 8)  # six new files, two old ones that go without being replaced


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
                said = message[message.index(f"{folder / name} could not be put back") :]
                kept = said.split("what it held is in ")[1].split(",")[0]
                assert Path(kept).read_bytes() == before[name]
        for name in set(now) - set(before):
            if not name.startswith(".vbas-"):
                assert f"{folder / name} was already written" in message
    assert broken.calls < n


@pytest.mark.parametrize("kind", [OSError(28, "No space left on device"), Cancelled("Cancelled.")])
def test_what_cannot_be_removed_is_named(folder, monkeypatch, kind):
    """A drive that is gone in the middle: what was brought next to the places may hold raw records."""
    unlink = Path.unlink

    def stays(path, **given):
        if path.name.startswith(".vbas-"):
            raise OSError(5, "Input/output error")
        unlink(path, **given)

    monkeypatch.setattr(Path, "unlink", stays)
    Broken(monkeypatch, 1, for_ever=True, error=kind)
    places = places_in(folder)
    with pytest.raises(VbasError) as error:
        deliver(places)
    left = [path for path in folder.iterdir() if path.name.startswith(".vbas-")]
    assert left
    for path in left:
        assert f"{path} was already written and could not be removed (Input/output error): remove it." in str(
            error.value
        )
    assert "Nothing was changed" not in str(error.value)


@pytest.mark.parametrize("times", [1, 100])
def test_a_file_that_another_program_puts_there_meanwhile_is_not_lost(folder, times):
    """Once, before anything is put in its place, or again and again."""
    places = places_in(folder)
    left = [folder / "new.csv"] * times

    def meanwhile():
        if left:
            left.pop().write_text("of somebody else")

    with pytest.raises(VbasError, match=r"another program has just changed .*new\.csv\. Nothing was changed"):
        deliver(places, meanwhile)
    assert bytes_in(folder) == {**{name: f"old {name}".encode() for name in OLD}, "new.csv": b"of somebody else"}


@of_posix
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


@of_posix
def test_the_copy_beside_a_closed_file_is_never_open(folder, monkeypatch):
    """Neither under its own name nor before it is whole."""
    monkeypatch.setattr(files.FileSystem, "shows_what_is_inherited", False)
    seen = []
    copy = files.shutil.copyfileobj

    def watched(read, write, *rest):
        seen.append((Path(read.name).name, stat.S_IMODE(os.fstat(write.fileno()).st_mode)))
        copy(read, write, *rest)

    monkeypatch.setattr(files.shutil, "copyfileobj", watched)
    deliver(places_in(folder))
    assert dict(seen)["table.gpkg"] == 0o600


@of_posix
def test_the_second_name_of_a_staged_file_is_never_open_beside_a_closed_one(folder, monkeypatch):
    seen = []
    link = files.os.link

    def watched(old, new):
        seen.append((Path(old).name, stat.S_IMODE(os.lstat(old).st_mode)))
        link(old, new)

    monkeypatch.setattr(files.os, "link", watched)
    deliver(places_in(folder))
    assert ("table.gpkg", 0o600) in seen and {mode for name, mode in seen if name in NEW and name not in OLD} == {0o600}


linked = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere what a file inherits cannot be seen")


@linked
def test_a_staged_file_on_the_same_file_system_is_not_copied(folder, monkeypatch):
    """It is the very file that was counted, with the rights that a new one has there."""
    monkeypatch.setattr(files.FileSystem, "copy", None)
    staged = staged_alone(folder, "a word")
    counted, target, made = staged.stat().st_ino, folder / "new.csv", folder / "made"
    deliver([FilePlace("NEW", staged, target)])
    made.touch()
    assert (target.stat().st_ino, target.stat().st_mode) == (counted, made.stat().st_mode)
    target.chmod(0o640)
    deliver([FilePlace("NEW", staged_alone(folder, "another"), target)])
    assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == ("another", 0o640)


@linked
def test_what_has_no_second_name_or_would_inherit_something_else_is_copied(folder, monkeypatch):
    for case in ("no links", "a label", "another group", "a name elsewhere"):
        with monkeypatch.context() as patched:
            place = FilePlace("NEW", staged_alone(folder, case), folder / f"{case}.csv")
            if case == "no links":
                patched.setattr(files.os, "link", Refused(OSError(18, "Invalid cross-device link")))
            if case == "a label":
                patched.setattr(files.FileSystem, "kept_beside", lambda _, path: {"security": path.name[:1].encode()})
            if case == "another group":
                status = files.FileSystem.status
                patched.setattr(
                    files.FileSystem,
                    "status",
                    lambda self, path, status=status: of_group(
                        status(self, path), 7 if path.parent == folder else None
                    ),
                )
            if case == "a name elsewhere":
                os.link(folder.parent / case / "staged.csv", folder.parent / "elsewhere.csv")
            deliver([place])
        assert (folder / f"{case}.csv").read_text() == case
        assert (folder / f"{case}.csv").stat().st_ino != (folder.parent / case / "staged.csv").stat().st_ino


class Refused:
    """What always fails."""

    def __init__(self, error):
        self.error = error

    def __call__(self, *_):
        raise self.error


def staged_alone(folder, word):
    """A staged file that holds a word."""
    staged = folder.parent / word
    staged.mkdir()
    (staged / "staged.csv").write_text(word)
    return staged / "staged.csv"


def of_group(status, group):
    """What is said of a file, with another group."""
    values = list(status)
    values[5] = values[5] if group is None else group
    return os.stat_result(values)


@pytest.mark.parametrize("n_guessed", [1, 4])
@of_posix
def test_a_planted_link_is_not_followed(folder, monkeypatch, n_guessed):
    """In the place of the copy alone, or of every name beside the target."""
    places = places_in(folder)
    victim = folder.parent / "victim"
    victim.write_text("precious")
    names, guessed = (iter(f"{i:016x}" for i in range(100)) for _ in range(2))
    monkeypatch.setattr(leftovers.secrets, "token_hex", lambda _: next(guessed))
    target = folder / "new.csv"
    guesses = [leftovers.hidden_beside(target, target, role) for role in (leftovers.NEW, leftovers.OLD) * 2]
    monkeypatch.setattr(leftovers.secrets, "token_hex", lambda _: next(names))
    staged = folder.parent / "staged new.csv" / "new.csv"
    place = FilePlace("NEW", staged, folder / "new.csv")  # somebody has guessed its names
    for guess in guesses[:n_guessed]:
        guess.symlink_to(victim)
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
        "import os, sys; from pathlib import Path; from vbas.core.publish.folders import one_run_on\n"
        "lock = one_run_on(Path(sys.argv[1]), 'FIRST'); lock.__enter__(); os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "a.csv")], timeout=60, check=False)
    assert done.returncode == KILLED
    assert len(list(tmp_path.iterdir())) == 1
    with one_run_on(tmp_path / "a.csv", "SECOND"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("n", range(12))
def test_a_run_killed_while_it_replaces_is_tidied_up_after(folder, links, n):
    """Killed at one call after the other: the next run on the target finds all of the old files, or all of the new."""
    script = """
import os, sys
from pathlib import Path
from vbas.core.publish.delivery import deliver
from vbas.core.publish.file_place import FilePlace
from vbas.core.publish.files import FileSystem
folder, links, n = Path(sys.argv[1]), sys.argv[2] == "True", int(sys.argv[3])
(folder / "staged").mkdir()
for ending in ("shp", "dbf"):
    (folder / "staged" / f"map.{ending}").write_text("new")
calls = []
def counted(step):
    def call(*arguments, **named):
        if len(calls) == n:
            os.kill(os.getpid(), 9)
        calls.append(step)
        if step is os.link and not links:
            raise OSError(1, "no links here")
        return step(*arguments, **named)
    return call
os.link, os.replace = counted(os.link), counted(os.replace)
Path.unlink = counted(Path.unlink)
deliver([FilePlace("MAP", folder / "staged" / "map.shp", folder / "final" / "map.shp", ["map.qix"])])
"""
    final = folder / "final"
    final.mkdir()
    for name in ("map.shp", "map.dbf", "map.qix", "mappe.shp"):
        (final / name).write_text("old")
    command = [sys.executable, "-c", script, str(folder), str(links), str(n)]
    killed = subprocess.run(command, timeout=60, check=False).returncode == KILLED
    left = [path.name for path in final.iterdir() if path.name.startswith(".")]
    assert left or not killed
    leftovers.tidy_up(final / "map.shp")
    now = {path.name: path.read_text() for path in final.iterdir()}
    assert now.pop("mappe.shp") == "old"
    old, new = dict.fromkeys(("map.shp", "map.dbf", "map.qix"), "old"), dict.fromkeys(("map.shp", "map.dbf"), "new")
    assert now in (old, new) if killed else now == new


class Killed(BaseException):
    """What ends a run at once: nothing catches it."""


class EndsAfter(FileSystem):
    """Files, until so many of them were moved or removed."""

    def __init__(self, n: int) -> None:
        self.left = n

    def _count(self) -> None:
        if not self.left:
            raise Killed
        self.left -= 1

    def replace(self, old: Path, new: Path) -> None:
        self._count()
        super().replace(old, new)

    def remove(self, path: Path, missing_ok: bool = False) -> None:
        self._count()
        super().remove(path, missing_ok)


@pytest.mark.parametrize("n", range(5))
def test_a_run_killed_while_it_tidies_up_is_tidied_up_after(tmp_path, n):
    """One file of two was there already, the other was still to come: both are as they were, whenever it ends."""
    target = tmp_path / "map.shp"
    files = [tmp_path / f"map.{ending}" for ending in ("shp", "dbf")]
    for file in files:
        file.write_text("new")
        leftovers.hidden_beside(file, target, leftovers.OLD).write_text("old")
    files[1].rename(leftovers.hidden_beside(files[1], target, leftovers.NEW))
    leftovers.hidden_beside(files[0], target, leftovers.NEW).write_text("new")
    with pytest.raises(Killed) if n < 4 else nullcontext():
        leftovers.tidy_up(target, EndsAfter(n))
    leftovers.tidy_up(target)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"map.shp": "old", "map.dbf": "old"}


def test_what_is_not_left_by_a_run_of_ours_stays(folder):
    target = folder / "a.csv"
    hidden = leftovers.hidden_beside(target, target, leftovers.OLD)
    hidden.symlink_to(folder / "elsewhere")
    other = leftovers.hidden_beside(folder / "b.csv", folder / "b.csv", leftovers.OLD)
    for path in (other, folder / ".vbas-0123456789abcdef", folder / ".vbas-x.lock"):
        path.write_text("of others")
    before = sorted(folder.iterdir())
    leftovers.tidy_up(target)
    assert sorted(folder.iterdir()) == before


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="only root can be somebody else")
def test_what_a_killed_run_of_another_user_leaves_is_no_lock():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        target = Path(folder) / "a.csv"
        with one_run_on(target, "FIRST"):
            (lock,) = target.parent.iterdir()
        lock.touch(0o644)  # of root
        child = os.fork()
        if child == 0:  # nobody, who may not even read where this project lies
            os.setuid(65534)
            try:
                with one_run_on(target, "SECOND"):
                    os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0


@of_posix
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
        outcomes: dict[str, str] = {}
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


SCRIPT = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from vbas.core.publish.delivery import deliver
from vbas.core.publish.file_place import FilePlace
from vbas.core.publish.files import FileSystem
from vbas.core.publish.files import FileSystem
from vbas.core.errors import VbasError
folder = Path(sys.argv[2])
FileSystem.shows_what_is_inherited = False  # each file is copied
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    deliver([FilePlace(name, folder / "staged" / name / name, folder / "final" / name) for name in ("a.csv", "b.csv")])
except VbasError as error:
    print(error)
"""


@of_posix
def test_a_limit_on_the_size_of_files_is_said_and_nothing_is_changed(tmp_path):
    final = tmp_path / "final"
    final.mkdir()
    for name, size in (("a.csv", 10), ("b.csv", 5000)):
        (tmp_path / "staged" / name).mkdir(parents=True)
        (tmp_path / "staged" / name / name).write_text("x" * size)
        (final / name).write_text("old")
    before = contents(final)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(ROOT / "build" / "package"), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "b.csv cannot be written to" in done.stdout, done.stderr
    assert "File too large. Nothing was changed." in done.stdout
    assert contents(final) == before


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are listed by Linux")
@of_posix
def test_a_folder_whose_names_are_kept_is_not_held_open(tmp_path):
    """A server that releases every night would run out of files."""
    before = sorted(path.name for path in Path("/proc/self/fd").iterdir())
    for _ in range(3):
        files.DISK.keep_names(tmp_path)
    assert sorted(path.name for path in Path("/proc/self/fd").iterdir()) == before


def test_files_are_compared_to_their_end(tmp_path):
    """What another program appended to a large file meanwhile would be taken for ours, and lost."""
    size = (1 << 20) + 5
    for name, content in (("ours", b"a" * size), ("same", b"a" * size), ("changed", b"a" * (size - 1) + b"b")):
        (tmp_path / name).write_bytes(content)
    ours = tmp_path / "ours"
    assert file_place._is_same(ours, tmp_path / "same", files.DISK)
    assert not file_place._is_same(ours, tmp_path / "changed", files.DISK)


@pytest.mark.parametrize(("ending", "refused"), [(".gpkg", True), (".GPKG", True), (".sqlite", True), (".csv", False)])
def test_what_another_program_writes_beside_a_database_belongs_to_it(tmp_path, ending, refused):
    """As soon as it is opened; a file of another kind has no journal."""
    (tmp_path / "staged").mkdir()
    target = tmp_path / f"released{ending}"
    place = FilePlace("RELEASED", tmp_path / "staged" / f"released{ending}", target)
    place.check()
    target.with_name(f"{target.name}-wal").write_text("another program's")
    if refused:
        with pytest.raises(VbasError, match="another program has just written beside"):
            place.check()
    else:
        place.check()
