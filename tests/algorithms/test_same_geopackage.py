"""Output tables in the very GeoPackage that the inputs are read from: whole, or refused in a sentence."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from qgis.core import QgsProcessingException, QgsProject, QgsVectorLayer

from vbas.core.publish import sqlite_targets

from .test_destinations import refused, save  # noqa: F401 - a fixture


@pytest.fixture
def database(grid, tmp_path):
    path = tmp_path / "data.gpkg"
    save(grid[0], path, "GPKG", "areas")
    save(grid[1], path, "GPKG", "records")
    return path


def inputs(database):
    return {"REGIONS": f"{database}|layername=areas", "RECORDS": f"{database}|layername=records"}


def tables(database, *names):
    return {name: f"ogr:dbname='{database}' table=\"{name.lower()}\"" for name in names}


@pytest.mark.slow
def test_tables_beside_the_inputs_and_nothing_printed(anonymize, database, capfd):
    """QGIS renames styles where there are none, and asks for indexes of shapes where there are none."""
    layers = [QgsVectorLayer(one, "one", "ogr") for one in inputs(database).values()]
    QgsProject.instance().addMapLayers(layers)
    try:
        for _ in range(2):  # beside the inputs, then in the place of what is there
            outputs = tables(database, "CROSSWALK", "RELEASED_RECORDS", "RELEASED_REGIONS")
            done = anonymize(**inputs(database), **outputs)
            assert len(done.rows("CROSSWALK")) == 36
    finally:
        QgsProject.instance().removeAllMapLayers()
    said = "".join(capfd.readouterr())
    assert "layer_styles" not in said and "No geometry column" not in said and "ERROR" not in said


def test_a_database_that_is_locked_is_refused_before_any_work(refused, database, monkeypatch):  # noqa: F811
    monkeypatch.setattr(sqlite_targets, "SECONDS_TO_WAIT", 0.05)
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        refused(
            r"CROSSWALK: no table can be added to .*data.gpkg now \(database is locked\): close it",
            **inputs(database),
            **tables(database, "CROSSWALK"),
        )


def test_what_qgis_refuses_is_a_sentence_and_the_inputs_stay_as_they_were(anonymize, database, monkeypatch):
    """Such as a file that can no longer be written once all work is done: GDAL waits 20 seconds for one that is locked,
    and for none that a later SQLite has taken over."""
    from vbas.core.job import making

    real, found = making.anonymise, []

    def then_closed(*arguments, **options):
        with database.open("r+b") as file:
            file.seek(18)  # the version of SQLite's format that a writer must know
            file.write(b"\3")
        found.append(database.read_bytes())
        return real(*arguments, **options)

    monkeypatch.setattr(making, "anonymise", then_closed)
    with pytest.raises(QgsProcessingException, match=r"^CROSSWALK could not be written: [^\n]*$"):
        anonymize(**inputs(database), **tables(database, "CROSSWALK"))
    assert [database.read_bytes()] == found
