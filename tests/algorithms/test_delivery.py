"""Outputs reach their places all together, or everything is as it was: files, side files, tables of databases."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
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

from vbas.algorithms.layers.database_tables import address, sqlite
from vbas.algorithms.layers.delivery import writing
from vbas.core.errors import VbasError
from vbas.core.publish import files, leftovers
from vbas.core.publish.file_place import FilePlace

from ..core.test_delivery import bytes_in, contents

ROOT = Path(__file__).resolve().parents[2]


def test_the_next_run_puts_back_what_a_killed_one_was_replacing(anonymize, tmp_path):
    target = tmp_path / "released.csv"
    leftovers.hidden_beside(target, target, leftovers.OLD).write_text("the release before")
    leftovers.hidden_beside(target, target, leftovers.NEW).write_text("half of")
    with pytest.raises(QgsProcessingException):
        anonymize(RELEASED_RECORDS=str(target), K=100_000)
    assert bytes_in(tmp_path) == {"released.csv": b"the release before"}


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


@pytest.mark.slow
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
    real = files.os.replace, address.DatabaseTable.connect
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

    monkeypatch.setattr(files.os, "replace", replace)
    failures = 0
    for failing_at in range(1, 100):
        renames.clear()
        try:
            monkeypatch.setattr(address.DatabaseTable, "connect", connect)
            done = anonymize(**places, N_SITES=4)
        except QgsProcessingException as error:
            failures += 1
            said = str(error)
            assert any(
                text in said for text in ("Nothing was changed.", "the database cannot be reached", "database says")
            )
            assert "Input/output error" in str(error)
            monkeypatch.setattr(address.DatabaseTable, "connect", real[1])
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


@pytest.mark.slow
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


@pytest.mark.slow
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
    monkeypatch.setattr(sqlite.SqlitePlace, "put", refuse)
    with pytest.raises(
        QgsProcessingException, match=r"it is the end\. What was written for “released” may still be in"
    ):
        anonymize(RELEASED_RECORDS=f"ogr:dbname='{database}' table=\"released\"")
    assert database.exists()


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
