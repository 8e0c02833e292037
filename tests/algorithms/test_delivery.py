"""Outputs reach their places all together, or everything is as it was: files, side files, tables of databases."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from qgis.core import (
    QgsApplication,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProcessingOutputLayerDefinition,
    QgsProject,
    QgsVectorLayer,
)

from vbas.algorithms.layers.delivery import databases, leftovers, writing
from vbas.algorithms.layers.delivery import places as delivery
from vbas.algorithms.layers.delivery.places import FilePlace, deliver
from vbas.core.errors import Cancelled, VbasError
from vbas.core.files.locks import one_run_on

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
    assert len(left) >= len(NEW) + len(places)
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


@pytest.mark.parametrize("n_guessed", [1, 4])
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
        "import os, sys; from pathlib import Path; from vbas.core.files.locks import one_run_on\n"
        "lock = one_run_on(Path(sys.argv[1]), 'FIRST'); lock.__enter__(); os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "a.csv")], timeout=60, check=False)
    assert done.returncode == -9
    assert len(list(tmp_path.iterdir())) == 1
    with one_run_on(tmp_path / "a.csv", "SECOND"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("n", range(12))
def test_a_run_killed_while_it_replaces_is_tidied_up_after(folder, links, n):
    """Killed at one call after the other: the next run on the target finds all of the old files, or all of the new."""
    script = """
import os, sys
from pathlib import Path
from vbas.algorithms.layers.delivery.places import FilePlace, deliver
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
    killed = subprocess.run(command, timeout=60, check=False).returncode == -9
    left = [path.name for path in final.iterdir() if path.name.startswith(".")]
    assert left or not killed
    leftovers.tidy_up(final / "map.shp")
    now = {path.name: path.read_text() for path in final.iterdir()}
    assert now.pop("mappe.shp") == "old"
    old, new = dict.fromkeys(("map.shp", "map.dbf", "map.qix"), "old"), dict.fromkeys(("map.shp", "map.dbf"), "new")
    assert now in (old, new) if killed else now == new


def test_the_next_run_puts_back_what_a_killed_one_was_replacing(anonymize, tmp_path):
    target = tmp_path / "released.csv"
    leftovers.hidden_beside(target, target, leftovers.OLD).write_text("the release before")
    leftovers.hidden_beside(target, target, leftovers.NEW).write_text("half of")
    with pytest.raises(QgsProcessingException):
        anonymize(RELEASED_RECORDS=str(target), K=100_000)
    assert bytes_in(tmp_path) == {"released.csv": b"the release before"}


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


# ---- whole runs


def tables_of(database):
    """Every row of every table that is the user's, and what the database registers."""
    with closing(sqlite3.connect(database)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        mine = [name for name in names if not name.startswith(("rtree_", "sqlite_")) and name != "gpkg_ogr_contents"]
        return {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in sorted(mine)}


def without_times(tables):
    return {
        **tables,
        "gpkg_contents": sorted(row[:4] + row[5:] for row in tables["gpkg_contents"]),
        "gpkg_extensions": sorted(tables.get("gpkg_extensions", []), key=str),
    }


def test_whichever_step_of_a_run_fails_files_and_tables_are_as_before(anonymize, tmp_path, monkeypatch):
    folder = tmp_path / "final"
    folder.mkdir()
    database = tmp_path / "database.gpkg"
    places = {
        "RELEASED_REGIONS": str(folder / "regions.shp"),
        "RELEASED_RECORDS": f"ogr:dbname='{database}' table=\"released\"",
        "REGION_AUDIT": f"ogr:dbname='{database}' table=\"audit\" (geom)",
        "CROSSWALK": str(folder / "crosswalk.csv"),
        "REPORT": str(folder / "report.html"),
    }
    anonymize(**places)
    before, tables = contents(folder), without_times(tables_of(database))
    assert tables["released"]

    renames = []
    real = delivery.os.replace, databases.DatabaseTable.connect
    failing_at = None

    def step():
        renames.append(1)
        if len(renames) == failing_at:
            raise OSError(5, "Input/output error")

    def replace(*arguments):
        step()
        return real[0](*arguments)

    def connect(self):
        step()
        return real[1](self)

    monkeypatch.setattr(delivery.os, "replace", replace)
    failures = 0
    for failing_at in range(1, 100):
        renames.clear()
        try:
            monkeypatch.setattr(databases.DatabaseTable, "connect", connect)
            done = anonymize(**places, N_SITES=4)
        except QgsProcessingException as error:
            failures += 1
            said = str(error)
            assert any(
                one in said for one in ("Nothing was changed.", "the database cannot be reached", "database says")
            )
            assert "Input/output error" in str(error)
            monkeypatch.setattr(databases.DatabaseTable, "connect", real[1])
            assert contents(folder) == before, failing_at
            assert without_times(tables_of(database)) == tables, failing_at
            continue
        break
    assert failures >= 9 + 2 * 3  # eight files of three outputs, and for each table a look and two renames
    # The last step of all is to drop what was kept: where that fails all is delivered, and it is said.
    (warning,) = [line for line in done.log if "before is still in" in line]
    now = without_times(tables_of(database))
    assert now["released"] != tables["released"]
    (kept,) = now.keys() - tables.keys()
    assert f"“{kept}”" in warning
    assert now[kept] in (tables["released"], tables["audit"])
    assert QgsVectorLayer(f"{database}|layername=audit", "audit", "ogr").featureCount() == 4


def test_a_new_table_is_found_under_its_name_alone(anonymize, tmp_path):
    database = tmp_path / "database.gpkg"
    done = anonymize(RELEASED_REGIONS=f"ogr:dbname='{database}' table=\"regions\" (geom)")
    assert "vbas_" not in done.results["RELEASED_REGIONS"]
    assert done.layer("RELEASED_REGIONS").featureCount() == 6
    assert {"regions"} == set(dict.fromkeys(row[0] for row in tables_of(database)["gpkg_contents"]))
    done = anonymize(RELEASED_REGIONS=f"ogr:dbname='{database}' table=\"regions\" (geom)", N_SITES=3)
    assert done.layer("RELEASED_REGIONS").featureCount() == 3
    names = [name for name in tables_of(database) if "vbas_" in name]
    assert names == []


def test_styles_saved_for_a_table_stay_with_its_name(anonymize, tmp_path):
    place = f"ogr:dbname='{tmp_path / 'database.gpkg'}' table=\"regions\" (geom)"
    layer = anonymize(RELEASED_REGIONS=place).layer("RELEASED_REGIONS")
    layer.saveStyleToDatabase("mine", "", True, "")
    del layer
    for _ in range(2):
        anonymize(RELEASED_REGIONS=place)
    styles = tables_of(tmp_path / "database.gpkg")["layer_styles"]
    assert {row[3] for row in styles} == {"regions"}


def test_a_table_that_fails_its_second_count_never_had_its_name(anonymize, tmp_path, monkeypatch):
    """Neither in a database that was there nor in one that was made for it."""
    chunks = writing.Table.chunks

    def tampered(self):
        for start, rows in chunks(self):
            if self.fields[-1].name() == "age":
                rows[0] = (rows[0][0], "only one of this kind", *rows[0][2:])
            yield start, rows

    monkeypatch.setattr(writing.Table, "chunks", tampered)
    monkeypatch.setattr(writing.Table, "runs", lambda _: None)
    place = f"ogr:dbname='{tmp_path / 'new.gpkg'}' table=\"released\""
    with pytest.raises(QgsProcessingException, match="second count"):
        anonymize(RELEASED_RECORDS=place)
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_was_made_and_cannot_be_removed_is_named(anonymize, tmp_path, monkeypatch):
    unlink, database = Path.unlink, tmp_path / "new.gpkg"

    def stays(path, **given):
        if path.name == database.name:
            raise PermissionError(13, "Permission denied")
        unlink(path, **given)

    def refuse(self):
        raise VbasError("it is the end")

    monkeypatch.setattr(Path, "unlink", stays)
    monkeypatch.setattr(databases.TablePlace, "put", refuse)
    with pytest.raises(
        QgsProcessingException, match=r"it is the end\. What was written for “released” may still be in"
    ):
        anonymize(RELEASED_RECORDS=f"ogr:dbname='{database}' table=\"released\"")
    assert database.exists()


def test_a_database_that_could_not_be_made_is_not_said_to_hold_anything(anonymize, tmp_path, monkeypatch):
    def refuse(*_):
        raise VbasError("it cannot be made")

    monkeypatch.setattr("vbas.algorithms.layers.delivery.outputs.fill_sink", refuse)
    with pytest.raises(QgsProcessingException, match="it cannot be made") as error:
        anonymize(RELEASED_RECORDS=f"ogr:dbname='{tmp_path / 'new.gpkg'}' table=\"released\"")
    assert not [one for one in error.value.said if "may still be" in one]


def test_a_fault_after_all_is_in_its_place_is_not_said_to_have_written_nothing(provider, grid, tmp_path, monkeypatch):
    def fault(self):
        raise RuntimeError

    monkeypatch.setattr(FilePlace, "forget", fault)
    (areas, records), out = grid, tmp_path / "released.csv"
    found = QgsApplication.processingRegistry().algorithmById("vbas:anonymize").create()
    given = {"REGIONS": areas, "REGION_ID": "da", "RECORDS": records, "RECORD_REGION": "home"}
    given |= {"QUASI_IDENTIFIERS": ["sex"], "RELEASED_RECORDS": str(out)}
    with pytest.raises(QgsProcessingException, match="when the outputs were in their place"):
        found.run(given, QgsProcessingContext(), QgsProcessingFeedback(False), {}, False)
    assert out.exists()


def test_tables_to_be_loaded_are_announced_under_their_names(anonymize, grid, tmp_path):
    database = tmp_path / "database.gpkg"
    place = QgsProcessingOutputLayerDefinition(f"ogr:dbname='{database}' table=\"released\"", QgsProject.instance())
    done = anonymize(RELEASED_RECORDS=place)
    (identifier,) = done.context.layersToLoadOnCompletion()
    assert identifier == done.results["RELEASED_RECORDS"] == f"{database}|layername=released"


def test_a_result_of_mode_600_keeps_it(anonymize, tmp_path):
    places = {
        "RELEASED_RECORDS": tmp_path / "released.gpkg",
        "REGION_AUDIT": tmp_path / "audit.gpkg",
        "REPORT": tmp_path / "report.html",
    }
    for path in places.values():
        path.touch(0o600)
    anonymize(**{name: str(path) for name, path in places.items()})
    for path in places.values():
        assert path.stat().st_size > 0
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@contextmanager
def mounted(folder, options):
    """A small disk of its own."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="only root mounts disks")
@pytest.mark.parametrize("size", ["8k", "64k", "120k", "200k", "300k"])
def test_a_disk_that_is_full_is_said_and_nothing_is_changed(anonymize, tmp_path, size):
    """Full at the first output, or at a later one, or not at all."""
    with mounted(tmp_path / "disk", f"size={size}") as disk:
        (disk / "crosswalk.csv").write_text("old")
        before = contents(disk)
        try:
            anonymize(
                **{name: str(disk / f"{name.lower()}.gpkg") for name in ("RELEASED_RECORDS", "RELEASED_REGIONS")},
                CROSSWALK=str(disk / "crosswalk.csv"),
            )
        except QgsProcessingException as error:
            assert "No space left on device" in str(error)
            assert "Nothing was changed" in str(error)
            assert "Traceback" not in str(error)
            assert contents(disk) == before
        else:
            assert size == "300k"


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="only root mounts disks")
def test_a_full_temporary_folder_is_said(anonymize, tmp_path, monkeypatch):
    for size in ("4k", "40k", "90k"):
        with mounted(tmp_path / "disk", f"size={size}") as disk:
            monkeypatch.setattr("tempfile.tempdir", str(disk))
            with pytest.raises(QgsProcessingException) as error:
                anonymize(
                    RELEASED_RECORDS=str(tmp_path / "records.csv"), RELEASED_REGIONS=str(tmp_path / "regions.gpkg")
                )
            assert "Traceback" not in str(error.value)
            assert list(disk.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["disk"]


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="only root mounts disks")
def test_a_disk_that_is_read_only_is_said_before_any_work(anonymize, tmp_path):
    with mounted(tmp_path / "disk", "size=64k,ro") as disk:
        with pytest.raises(QgsProcessingException, match=r"CROSSWALK cannot be written to .*Read-only file system"):
            anonymize(CROSSWALK=str(disk / "crosswalk.csv"), RELEASED_RECORDS=str(tmp_path / "records.csv"))
        assert list(disk.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["disk"]


SCRIPT = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from vbas.algorithms.layers.delivery.places import FilePlace, deliver
from vbas.core.errors import VbasError
folder = Path(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    deliver([FilePlace(name, folder / "staged" / name / name, folder / "final" / name) for name in ("a.csv", "b.csv")])
except VbasError as error:
    print(error)
"""


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
