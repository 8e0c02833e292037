"""What stands beside a file belongs to it: journals that bring old rows back, and notes that say what is internal."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from osgeo import gdal
from qgis.core import QgsProcessingException, QgsVectorLayer

from vbas.algorithms.layers.delivery import outputs
from vbas.algorithms.layers.delivery.writing import write_file
from vbas.algorithms.layers.gdal_errors import without_journals
from vbas.algorithms.layers.tables import Table, number_fields
from vbas.core.publish import file_place as delivery
from vbas.core.publish import files
from vbas.core.publish.counting import Counting

from ..systems import reads_without_a_trace

NAMES = 20_000
RAW = b"Raw Name"
OF = {".gpkg": "RELEASED_RECORDS", ".sqlite": "RELEASED_REGIONS"}

# What a custodian's own table looked like under the name of the output, and how its program ends.
PROGRAM = f"""
import os, sqlite3, sys
path, mode, end = sys.argv[1:]
connection = sqlite3.connect(path, isolation_level=None)
connection.execute("PRAGMA journal_mode = " + mode)
connection.execute("CREATE TABLE released (name TEXT, home TEXT)")
connection.execute("BEGIN")
connection.executemany("INSERT INTO released VALUES (?, 'a')", [("Raw Name %d" % i,) for i in range({NAMES})])
connection.execute("COMMIT")
if mode == "delete":  # nothing is kept beside the file but while it is changed
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("BEGIN")
    connection.execute("UPDATE released SET home = 'b'")
if end == "reserved":
    connection.execute("BEGIN IMMEDIATE")
if end == "reading":
    rows = connection.execute("SELECT * FROM released")
    rows.fetchone()
if end == "crash":
    os.kill(os.getpid(), 9)
print("ready", flush=True)
sys.stdin.read()
os.kill(os.getpid(), 9)
"""


def crashed(path, mode):
    """A database whose program was killed: most of its rows stand in the log, or in the journal beside it."""
    subprocess.run([sys.executable, "-c", PROGRAM, str(path), mode, "crash"], timeout=60, check=False)
    assert names_in(path.parent) >= NAMES - 200


@contextmanager
def working(path, mode, end):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(path), mode, end], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    try:
        yield
    finally:
        process.communicate(timeout=60)


def names_in(folder):
    return sum(path.read_bytes().count(RAW) for path in folder.iterdir())


def bytes_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def opened(path):
    """What programs see that open the file: names of its tables, and of the files that stand there meanwhile."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        connection.execute("SELECT count(*) FROM released").fetchone()
        there = {one.name for one in path.parent.iterdir()}
    layer = QgsVectorLayer(f"{path}|layername=released", "released", "ogr")
    assert layer.isValid()
    assert len(list(layer.getFeatures())) == layer.featureCount() > 0
    assert "name" not in layer.fields().names()
    return tables, there | {one.name for one in path.parent.iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".gpkg", ".sqlite"])
@pytest.mark.parametrize("mode", ["wal", "delete"])
@pytest.mark.parametrize("there", [True, False], ids=["a file", "no file"])
@reads_without_a_trace
def test_what_a_crashed_program_left_brings_no_old_rows(anonymize, tmp_path, suffix, mode, there):
    place = tmp_path / f"released{suffix}"
    crashed(place, mode)
    left = {path.name for path in tmp_path.iterdir()} - {place.name}
    assert left == ({place.name + "-wal", place.name + "-shm"} if mode == "wal" else {place.name + "-journal"})
    if not there:
        place.unlink()
    anonymize(**{OF[suffix]: str(place)})
    _, seen = opened(place)
    assert seen - {"released.qml", "released.qmd"} == {place.name}
    assert names_in(tmp_path) == 0


def test_a_forgotten_index_of_a_log_goes_too(anonymize, tmp_path):
    (tmp_path / "released.gpkg-shm").write_bytes(b"old" * 11000)
    anonymize(RELEASED_RECORDS=str(tmp_path / "released.gpkg"))
    assert [path.name for path in tmp_path.iterdir()] == ["released.gpkg"]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["wal", "delete"])
@pytest.mark.parametrize("there", [True, False], ids=["a file", "no file"])
def test_a_journal_that_stays_is_seen_in_place_and_all_is_put_back(anonymize, tmp_path, monkeypatch, mode, there):
    """The look at the delivered file does not trust what was to be removed."""
    place = tmp_path / "released.gpkg"
    crashed(place, mode)
    if not there:
        place.unlink()
    before = bytes_in(tmp_path)
    monkeypatch.setattr(outputs, "stale_beside", lambda _: [])
    with pytest.raises(QgsProcessingException, match=r"written beside .*released\.gpkg\. Nothing was changed\."):
        anonymize(RELEASED_RECORDS=str(place))
    assert bytes_in(tmp_path) == before


# ---- who holds the target


@pytest.mark.skipif(not Path("/proc/locks").is_file(), reason="who holds a file is read from /proc/locks")
@pytest.mark.parametrize(
    ("mode", "end"), [("wal", "idle"), ("delete", "idle"), ("truncate", "reserved")], ids=["log", "journal", "neither"]
)
def test_a_target_in_which_another_program_works_is_refused(anonymize, tmp_path, mode, end):
    place = tmp_path / "released.gpkg"
    with working(place, mode, end):
        before = bytes_in(tmp_path)
        with pytest.raises(QgsProcessingException, match=r"another program is working in .*released\.gpkg") as error:
            anonymize(RELEASED_RECORDS=str(place))
        assert "\n" not in str(error.value)
        assert bytes_in(tmp_path) == before


@pytest.mark.skipif(sys.platform != "linux", reason="only there are containers")
def test_a_program_outside_of_the_container_is_seen(anonymize, tmp_path, monkeypatch):
    """In a container the system lists the locks of its own processes alone."""
    place, locks = tmp_path / "data" / "released.gpkg", tmp_path / "locks"
    place.parent.mkdir()
    locks.touch()
    monkeypatch.setattr(files, "LOCKS", locks)
    with working(place, "wal", "idle"):
        before = bytes_in(place.parent)
        with pytest.raises(QgsProcessingException, match="another program is working in"):
            anonymize(RELEASED_RECORDS=str(place))
        assert bytes_in(place.parent) == before
    anonymize(RELEASED_RECORDS=str(place))
    assert names_in(place.parent) == 0


def test_who_only_reads_the_target_does_not_stop_the_run(anonymize, tmp_path):
    place = tmp_path / "released.gpkg"
    with working(place, "truncate", "reading"):
        anonymize(RELEASED_RECORDS=str(place))
    assert names_in(tmp_path) == 0


# ---- no journal of its own


@pytest.mark.parametrize("suffix", [".gpkg", ".sqlite"])
@pytest.mark.parametrize("output", ["RELEASED_RECORDS", "RELEASED_REGIONS"])
@reads_without_a_trace
def test_whoever_opens_a_delivered_file_makes_none_beside_it(anonymize, tmp_path, monkeypatch, suffix, output):
    if (suffix, output) == (".sqlite", "RELEASED_RECORDS"):
        pytest.skip("the format holds no tables")
    place = tmp_path / f"released{suffix}"
    monkeypatch.setenv("OGR_SQLITE_JOURNAL", "WAL")  # as some set it for all that GDAL writes
    anonymize(**{output: str(place)})
    monkeypatch.delenv("OGR_SQLITE_JOURNAL")
    assert place.read_bytes()[18:20] == b"\1\1"
    _, seen = opened(place)
    assert seen - {"released.qml", "released.qmd"} == {place.name}


def test_files_that_others_open_meanwhile_wait_for_the_disk():
    """What is staged is copied when it is put in its place; the user's own files are changed where they are."""
    name, seen = "OGR_SQLITE_SYNCHRONOUS", []
    before = gdal.GetConfigOption(name)
    with without_journals():
        assert gdal.GetConfigOption(name) == "OFF"
        other = threading.Thread(target=lambda: seen.append(gdal.GetConfigOption(name)))
        other.start()
        other.join()
    assert seen == [before] and before != "OFF"
    assert gdal.GetConfigOption(name) == before


# ---- the file in its place


def put_instead(monkeypatch, change):
    """What another program makes of the file the moment it stands in its place."""
    replace = os.replace
    changed: list = []

    def one(source, target):
        replace(source, target)
        if Path(target).name in ("released.gpkg", "released.csv") and not changed:
            changed.append(target)
            change(Path(target))

    monkeypatch.setattr(delivery.os, "replace", one)


def rare(path):
    if path.suffix == ".csv":
        first, second, *rest = path.read_text().splitlines()
        path.write_text("\n".join([first, second.replace("F", "only one").replace("M", "only one"), *rest]) + "\n")
    else:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE released SET sex = 'only one' WHERE rowid = 1")


def another_table(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE people (name)")


def a_log(path):
    path.with_name(path.name + "-wal").write_bytes(b"rows")


@pytest.mark.parametrize("there", [True, False], ids=["a file", "no file"])
@pytest.mark.parametrize("suffix", [".gpkg", ".csv"])
def test_a_staged_file_that_changes_after_its_count_is_not_delivered(anonymize, tmp_path, monkeypatch, suffix, there):
    place = tmp_path / f"released{suffix}"
    if there:
        anonymize(RELEASED_RECORDS=str(place), CROSSWALK=str(tmp_path / "crosswalk.csv"), N_SITES=3)
    before, wait = bytes_in(tmp_path), Counting.wait
    changed: list[Path] = []

    def wait_and_change(counting):
        wait(counting)
        changed.extend(file for file in counting._counted if file.name == place.name)
        for file in changed:
            rare(file)

    monkeypatch.setattr(Counting, "wait", wait_and_change)
    with pytest.raises(QgsProcessingException, match=r"has just changed .*released.* Nothing was changed"):
        anonymize(RELEASED_RECORDS=str(place), CROSSWALK=str(tmp_path / "crosswalk.csv"))
    assert len(changed) == 1 and bytes_in(tmp_path) == before


def test_a_staged_page_that_changes_after_it_was_written_is_not_delivered(anonymize, tmp_path, monkeypatch):
    """As linked tables, which go the same way."""
    wait = Counting.wait

    def wait_and_change(counting):
        wait(counting)
        for file in counting._counted:
            if file.name == "page.html":
                file.write_text("another")

    monkeypatch.setattr(Counting, "wait", wait_and_change)
    with pytest.raises(QgsProcessingException, match=r"has just changed .*page"):
        anonymize(RELEASE_REPORT=str(tmp_path / "page.html"))
    assert bytes_in(tmp_path) == {}


@pytest.mark.slow
@pytest.mark.parametrize("change", [rare, another_table, a_log])
@pytest.mark.parametrize("there", [True, False], ids=["a file", "no file"])
@pytest.mark.parametrize("linked", [True, False], ids=["linked", "copied"])
def test_a_file_that_is_changed_in_its_place_is_taken_away_again(
    anonymize, tmp_path, monkeypatch, change, there, linked
):
    monkeypatch.setattr(files.FileSystem, "shows_what_is_inherited", linked)
    place = tmp_path / "released.gpkg"
    if there:
        anonymize(RELEASED_RECORDS=str(place), N_SITES=3)
    before = bytes_in(tmp_path)
    put_instead(monkeypatch, change)
    with pytest.raises(QgsProcessingException, match=r"Nothing was changed"):
        anonymize(RELEASED_RECORDS=str(place))
    assert bytes_in(tmp_path) == before


def test_rows_of_a_table_do_not_stay_in_a_journal_that_another_program_holds_open(anonymize, tmp_path):
    """Whoever copies the file has all of them."""
    database = tmp_path / "database.gpkg"
    write_file(database, Table(number_fields(vbas_region="long"), [[1]]), "other")
    with closing(sqlite3.connect(database)) as reader:
        reader.execute("PRAGMA journal_mode = WAL")
        reader.execute("SELECT COUNT(*) FROM gpkg_contents").fetchone()
        anonymize(RELEASED_RECORDS=f"ogr:dbname='{database}' table=\"released\"")
        journal = Path(f"{database}-wal")
        assert not journal.exists() or not journal.stat().st_size


# ---- what is internal says so


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".shp", ".geojson", ".fgb", ".xlsx"])
def test_a_note_stands_beside_an_internal_file(anonymize, tmp_path, suffix):
    place = tmp_path / f"audit{suffix}"
    done = anonymize(REGION_AUDIT=str(place), CROSSWALK=str(tmp_path / "crosswalk.csv"))
    note = tmp_path / f"audit{suffix}.internal.txt"
    words = note.read_text(encoding="utf-8")
    assert words.startswith(f"audit{suffix} is internal: do not publish it.")
    assert "Region audit (internal)" in words
    assert [path.name for path in tmp_path.glob("*.internal.txt")] == [note.name]
    assert done.layer("REGION_AUDIT").featureCount() == 6
    if suffix == ".geojson":
        assert json.loads(place.read_text())["description"] == "Region audit (internal)"
    # Over it comes what may be published: the note goes with the file that it was for.
    anonymize(RELEASED_REGIONS=str(place))
    assert not note.exists()


def test_no_note_where_the_file_says_it_itself(anonymize, tmp_path):
    anonymize(REGION_AUDIT=str(tmp_path / "audit.gpkg"), REPORT=str(tmp_path / "report.html"))
    assert {path.name for path in tmp_path.iterdir()} == {"audit.gpkg", "report.html"}
    with closing(sqlite3.connect(tmp_path / "audit.gpkg")) as connection:
        ((identifier, description),) = connection.execute(
            "SELECT identifier, description FROM gpkg_contents WHERE table_name = 'audit'"
        )
    assert identifier == "Region audit (internal)"
    assert description.startswith("Region audit (internal). ") and "do not publish it" in description
    assert "Do not publish this page" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_failed_run_leaves_no_note_and_puts_the_old_one_back(anonymize, tmp_path, monkeypatch):
    place = tmp_path / "audit.csv"
    put_instead(monkeypatch, rare)
    with pytest.raises(QgsProcessingException):
        anonymize(REGION_AUDIT=str(place), RELEASED_RECORDS=str(tmp_path / "released.gpkg"))
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    anonymize(REGION_AUDIT=str(place))
    before = bytes_in(tmp_path)
    assert set(before) == {"audit.csv", "audit.csv.internal.txt"}
    put_instead(monkeypatch, rare)
    with pytest.raises(QgsProcessingException):
        anonymize(RELEASED_REGIONS=str(place), RELEASED_RECORDS=str(tmp_path / "released.gpkg"))
    assert bytes_in(tmp_path) == before


def test_a_link_in_the_place_of_a_note_is_not_followed(anonymize, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "audit.csv.internal.txt").symlink_to(victim)
    with pytest.raises(QgsProcessingException, match="is a symbolic link"):
        anonymize(REGION_AUDIT=str(tmp_path / "audit.csv"))
    assert victim.read_text() == "precious"


def test_the_log_ends_with_what_may_be_published(anonymize, tmp_path):
    done = anonymize(
        RELEASED_RECORDS=str(tmp_path / "released.csv"),
        CROSSWALK="memory:",
        REGION_AUDIT=str(tmp_path / "audit.csv"),
        REPORT=str(tmp_path / "report.html"),
    )
    release, internal = done.log[-5:-3]  # the last three lines are verdict, cost and next step
    assert f"You may publish: Released records ({tmp_path / 'released.csv'})" in release
    assert "Crosswalk" in release
    assert f"Internal, not to be published: Region audit ({tmp_path / 'audit.csv'})" in internal
    assert f"Report ({tmp_path / 'report.html'})" in internal
