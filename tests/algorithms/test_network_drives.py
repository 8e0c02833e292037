"""What Windows has and others do not: network drives, and files that cannot be replaced while they are open elsewhere.

The addresses are those that Windows gives, which SQLite refuses here as it does there; what is open elsewhere is not
renamed, nor is a second name of it removed, as there.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from qgis.core import QgsProcessingException, QgsProject, QgsVectorLayer

from vbas.core.errors import InputError, VbasError
from vbas.core.publish.replacing import refuse_if_not_replaceable
from vbas.core.publish.sqlite_targets import other_tables

from ..systems import reads_without_a_trace
from .test_destinations import contents, refused, save  # noqa: F401 - a fixture


def tables_of(path):
    with closing(sqlite3.connect(path)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


# ---- network drives


def test_other_layers_on_a_network_drive_are_not_lost(refused, grid, tmp_path, on_a_network_drive):  # noqa: F811
    place = tmp_path / "regions.gpkg"
    save(grid[1], place, "GPKG", "survey")
    on_a_network_drive()
    refused("holds layers, which would be lost: “survey”", RELEASED_REGIONS=str(place))
    assert "survey" in tables_of(place)


def test_other_layers_in_an_old_log_on_a_network_drive(tmp_path, on_a_network_drive):
    place = tmp_path / "regions.gpkg"
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE survey (a)")
        kept = {name: (tmp_path / name).read_bytes() for name in ("regions.gpkg", "regions.gpkg-wal")}
    for name, content in kept.items():
        (tmp_path / name).write_bytes(content)
    on_a_network_drive()
    assert other_tables(place, "regions") == ["survey"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain.gpkg", "50% of what?#1 é.gpkg"])
@reads_without_a_trace
def test_a_run_on_a_network_drive(anonymize, grid, tmp_path, on_a_network_drive, name):
    records, out = tmp_path / f"records {name}", tmp_path / name.replace("?", "")
    save(grid[1], records, "GPKG", "records")
    on_a_network_drive()
    source = f"{records}|layername=records"
    for _ in range(2):  # over its own earlier result, with a register that it reads again
        done = anonymize(RECORDS=source, N_SITES=9, REGISTER=str(tmp_path / "register.gpkg"), RELEASED_RECORDS=str(out))
    assert done.results["N_RECORDS"] == 36 * 40
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([records.name, out.name, "register.gpkg"])


def test_a_register_on_a_network_drive(anonymize, run, tmp_path, monkeypatch, on_a_network_drive):
    register = tmp_path / "register.gpkg"
    on_a_network_drive()
    anonymize(N_SITES=9, REGISTER=str(register))
    before = register.read_bytes()
    with pytest.raises(QgsProcessingException, match=r"would give away \d+ counts"):
        anonymize(N_SITES=10, REGISTER=str(register))
    assert register.read_bytes() == before
    listed = run("editregister", REGISTER=str(register), CONTENTS="memory:")
    assert len(listed.rows("CONTENTS")) == 1
    # A release that could not be written is taken out again.
    with monkeypatch.context() as patch:
        patch.setattr("vbas.core.publish.file_place.FilePlace.check", refuse)
        with pytest.raises(QgsProcessingException, match=r"Nothing was changed"):
            anonymize(N_SITES=9, REGISTER=str(register), RELEASED_RECORDS=str(tmp_path / "released.csv"))
    assert len(run("editregister", REGISTER=str(register), CONTENTS="memory:").rows("CONTENTS")) == 1


def refuse(_):
    raise VbasError("the drive is gone")


# ---- what cannot be told


@pytest.mark.parametrize("way", ["damaged", "locked", "no answer", "closed"])
def test_a_file_that_cannot_be_looked_into_is_not_replaced(refused, grid, tmp_path, monkeypatch, way):  # noqa: F811
    place = tmp_path / "regions.gpkg"
    save(grid[1], place, "GPKG", "survey")
    if way == "damaged":
        content = place.read_bytes()
        place.write_bytes(content[:100] + b"\xff" * 4000 + content[4100:])
    elif way == "locked":
        answer("database is locked", monkeypatch)
    elif way == "no answer":
        answer("disk I/O error", monkeypatch)
    else:
        answer("unable to open database file", monkeypatch)
    refused(r"cannot be seen whether other layers are in it \(.*\): it is not replaced", RELEASED_REGIONS=str(place))


def answer(words, monkeypatch):
    """SQLite says this of the next file that is looked into."""

    def connect(*_, **__):
        raise sqlite3.OperationalError(words)

    monkeypatch.setattr("vbas.core.publish.sqlite_targets.sqlite3.connect", connect)


def test_what_is_no_database_is_replaced_whatever_its_name_says(anonymize, tmp_path):
    place = tmp_path / "regions.gpkg"
    for content in (b"", b"a text, long enough to be looked at " * 30):
        place.write_bytes(content)
        anonymize(RELEASED_REGIONS=str(place))
        assert "regions" in tables_of(place)


def test_layers_that_came_while_the_run_worked_are_not_lost(anonymize, grid, tmp_path, during_the_work):
    place = tmp_path / "regions.gpkg"
    anonymize(RELEASED_REGIONS=str(place))
    during_the_work(lambda: save(grid[1], place, "GPKG", "survey"))
    with pytest.raises(QgsProcessingException, match=r"holds layers, which would be lost: “survey”.*Nothing was chan"):
        anonymize(RELEASED_REGIONS=str(place))
    assert {"survey", "regions"} <= tables_of(place)
    assert [path.name for path in tmp_path.iterdir()] == ["regions.gpkg"]


# ---- open elsewhere


class OpenElsewhere:
    """Files that another program has open, as Windows treats them: not renamed, replaced or removed under any name."""

    def __init__(self, monkeypatch):
        self.files, self.asked, self.passes = [], 0, 0
        for module, name in ((os, "replace"), (os, "rename"), (os, "unlink"), (Path, "unlink")):
            monkeypatch.setattr(module, name, self._refusing(getattr(module, name)))

    def _refusing(self, real):
        def call(*paths, **options):
            there = [path for path in paths if os.path.lexists(path)]
            if any(Path(path).samefile(file) for path in there for file in self.files):
                self.asked += 1
                if self.asked > self.passes:
                    raise PermissionError(13, "The process cannot access the file", str(paths[0]))
            return real(*paths, **options)

        return call


@pytest.fixture
def open_elsewhere(monkeypatch):
    return OpenElsewhere(monkeypatch)


@pytest.fixture
def during_the_work(monkeypatch):
    """during_the_work(change): it happens once the places of the outputs have been settled."""

    def at(change):
        from vbas.algorithms import anonymize

        real = anonymize.areas_of

        def first(*arguments, **options):
            change()
            return real(*arguments, **options)

        monkeypatch.setattr(anonymize, "areas_of", first)

    return at


OPEN = [("released.csv", "released.csv"), ("map.shp", "map.dbf"), ("map.shp", "map.qix"), ("book.xlsx", "book.xlsx")]


def outputs(tmp_path, name):
    (tmp_path / "regions.csv").write_text("another one, which is not open")
    output = "RELEASED_REGIONS" if name.endswith(".shp") else "RELEASED_RECORDS"
    return {output: str(tmp_path / name), "CROSSWALK": str(tmp_path / "regions.csv")}


@pytest.mark.parametrize(("name", "part"), OPEN)
def test_what_is_open_elsewhere_is_said_before_any_work(refused, tmp_path, open_elsewhere, name, part):  # noqa: F811
    for one in {name, part}:
        (tmp_path / one).write_text("somebody is looking at it")
    places = outputs(tmp_path, name)
    open_elsewhere.files.append(tmp_path / part)
    refused(f"{part} cannot be replaced now .The process cannot access the file.: close it", **places)


@pytest.fixture
def shown_in_the_project(provider):
    """shown_in_the_project(file): QGIS itself has it open, as the layer “last month”."""
    added = []

    def show(file):
        layer = QgsVectorLayer(str(file), "last month", "ogr")
        assert layer.isValid()
        QgsProject.instance().addMapLayer(layer)
        added.append(layer.id())

    yield show
    QgsProject.instance().removeMapLayers(added)


@pytest.mark.parametrize("held", [True, False])
def test_what_this_project_shows_is_named_where_it_cannot_be_replaced(
    refused,  # noqa: F811
    anonymize,
    tmp_path,
    open_elsewhere,
    shown_in_the_project,
    held,
):
    (tmp_path / "released.csv").write_text("a,b\n1,2\n")
    places = outputs(tmp_path, "released.csv")
    shown_in_the_project(tmp_path / "released.csv")
    if held:
        open_elsewhere.files.append(tmp_path / "released.csv")
        refused(
            "released.csv cannot be replaced while this project shows it as “last month”: take that layer", **places
        )
    else:  # where what is open can be replaced, it is
        anonymize(**places)
        assert "vbas_region" in (tmp_path / "released.csv").read_text()


def test_a_file_of_a_released_folder_that_is_open_is_said_before_any_work(refused, anonymize, tmp_path, open_elsewhere):  # noqa: F811
    folder = tmp_path / "release"
    anonymize(RELEASE_FOLDER=str(folder), CROSSWALK=str(tmp_path / "crosswalk.csv"))
    before = contents(folder)
    open_elsewhere.files.append(folder / "records.csv")
    refused("records.csv cannot be replaced now .*: close it", RELEASE_FOLDER=str(folder))
    open_elsewhere.files.clear()
    assert contents(folder) == before


@pytest.mark.parametrize(("name", "part"), OPEN)
def test_what_is_opened_during_the_work_is_left_as_it_was(
    anonymize, tmp_path, open_elsewhere, during_the_work, name, part
):
    for one in {name, part}:
        (tmp_path / one).write_text("somebody is looking at it")
    places = outputs(tmp_path, name)
    before = contents(tmp_path)
    during_the_work(lambda: open_elsewhere.files.append(tmp_path / part))
    with pytest.raises(QgsProcessingException, match=f"{part} cannot be replaced now.*Nothing was changed") as error:
        anonymize(**places)
    assert "put back" not in str(error.value)
    open_elsewhere.files.clear()
    assert contents(tmp_path) == before


def test_what_is_opened_at_the_very_end_is_left_as_it_was(anonymize, tmp_path, open_elsewhere, during_the_work):
    """Between the last question and the rename; a second name of it stays until it is closed, and is named."""
    place = tmp_path / "released.csv"
    said = set()
    for passes in range(9):
        place.write_text("somebody is looking at it")
        open_elsewhere.files[:] = [place]
        open_elsewhere.asked, open_elsewhere.passes = 0, passes
        try:
            anonymize(RELEASED_RECORDS=str(place))
        except QgsProcessingException as error:
            message = str(error)
            assert place.read_text() == "somebody is looking at it"
            assert "could not be put back" not in message
            hidden = [path for path in tmp_path.iterdir() if path != place]
            assert all(str(one) in message and one.samefile(place) for one in hidden)
            assert passes == 0 or ("Nothing was changed" in message) == (not hidden)  # 0: before any work
            said.add(bool(hidden))
        else:
            break
        finally:
            open_elsewhere.files.clear()
        for one in hidden:
            one.unlink()
    assert True in said and False in said


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="only root can be somebody else")
def test_a_file_of_another_user_where_only_owners_may_rename():
    """A real condition of this kind: as /tmp is everywhere."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o1777)
        file = Path(folder) / "released.csv"
        file.write_text("of root, and anybody may write into it")
        file.chmod(0o666)
        refuse_if_not_replaceable(file, "CROSSWALK")  # root may
        child = os.fork()
        if child == 0:
            os.setuid(65534)
            try:
                os._exit(_asked(file))
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


def _asked(file):
    """1 where it can be written to, but not be replaced."""
    if not os.access(file, os.W_OK):
        return 3
    try:
        refuse_if_not_replaceable(file, "CROSSWALK")
    except InputError as error:
        return 1 if "CROSSWALK" in str(error) and "cannot be replaced now" in str(error) else 4
    return 0


def test_what_is_not_there_needs_no_leave(tmp_path):
    refuse_if_not_replaceable(tmp_path / "new.csv", "CROSSWALK")
    with pytest.raises(InputError, match="cannot be replaced now"):
        refuse_if_not_replaceable(tmp_path / ("x" * 300), "CROSSWALK")
