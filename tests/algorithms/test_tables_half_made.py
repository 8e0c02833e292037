"""Tables of a GeoPackage that were half made or half renamed: QGIS does not list them, they are found all the same."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from vbas.algorithms.layers.database_tables.address import DatabaseTable
from vbas.algorithms.layers.database_tables.sqlite import SqlitePlace

from .test_destinations import save


def place_in(file):
    return SqlitePlace("RELEASED", DatabaseTable("ogr:", "ogr", f"dbname='{file}' table=\"released\""), file)


def names(file):
    with closing(sqlite3.connect(file)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}


def done(file, statement):
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement)


def test_what_a_run_left_that_was_killed_as_it_made_a_table_is_dropped_and_said(grid, tmp_path):
    file = tmp_path / "city.gpkg"
    save(grid[1], file, "GPKG", "survey")
    killed = place_in(file)
    done(file, f"CREATE TABLE {killed.new} (a)")
    with place_in(file).held() as told:
        assert len(told) == 1 and killed.new in told[0] and "was dropped" in told[0]
    assert killed.new not in names(file) and "survey" in names(file)


def test_a_table_that_was_half_renamed_is_put_back(grid, tmp_path):
    file = tmp_path / "city.gpkg"
    save(grid[1], file, "GPKG", "released")
    place = place_in(file)
    place.prepare()
    place._rename(place._final, place._kept)
    done(file, f"CREATE TABLE {place._final} (a)")  # renamed, and the GeoPackage does not say so yet
    assert place.undo() == [] and place.discard() == []
    assert not {place.new, place._kept} & names(file)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*) FROM released").fetchone()[0] == grid[1].featureCount()
        listed = connection.execute("SELECT table_name FROM gpkg_contents").fetchall()
    assert listed == [("released",)]


def test_a_file_that_was_taken_away_is_not_made_again_empty(tmp_path):
    file = tmp_path / "city.gpkg"
    done(file, "CREATE TABLE released (a)")
    place = place_in(file)
    file.unlink()  # such as by a folder that a cloud keeps in step
    place._into_the_file()
    place._hand_on_styles()
    assert list(tmp_path.iterdir()) == []
