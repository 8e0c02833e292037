"""New GeoPackages: which tables they hold, and what their list says of them."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from vbas.core.publish.geopackage.making import LONG, TEXT, add_table, make_geopackage


def listed(connection: sqlite3.Connection) -> list[tuple[str, str, str]]:
    return connection.execute("SELECT table_name, data_type, identifier FROM gpkg_contents ORDER BY 1").fetchall()


def test_each_table_is_in_the_list_and_has_its_columns_behind_a_number(tmp_path):
    file = tmp_path / "new.gpkg"
    make_geopackage(file, {"people": {"sex": TEXT, "n": LONG}, "others": {"fid": TEXT}})
    with closing(sqlite3.connect(file)) as connection:
        assert listed(connection) == [("others", "attributes", "others"), ("people", "attributes", "people")]
        columns = {}
        for name in ("people", "others"):
            rows = connection.execute(f"PRAGMA table_info({name})")
            columns[name] = [(column, kind, key) for _, column, kind, _, _, key in rows]
    assert columns["people"] == [("fid", "INTEGER", 1), ("sex", TEXT, 0), ("n", LONG, 0)]
    assert columns["others"] == [("row_id", "INTEGER", 1), ("fid", TEXT, 0)]


def test_a_table_takes_the_line_of_one_that_was_taken_out_by_hand_and_its_name_from_another(tmp_path):
    file = tmp_path / "new.gpkg"
    make_geopackage(file, {"people": {"sex": TEXT}, "gone": {"sex": TEXT}})
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("DROP TABLE gone")
        connection.execute("UPDATE gpkg_contents SET identifier = 'old', data_type = 'x' WHERE table_name = 'gone'")
        connection.execute("UPDATE gpkg_contents SET identifier = 'gone' WHERE table_name = 'people'")
        add_table(connection, "gone", {"n": LONG})
        assert listed(connection) == [("gone", "attributes", "gone"), ("people", "attributes", "people")]


def test_what_cannot_be_made_is_not_left(tmp_path):
    file = tmp_path / "new.gpkg"
    with pytest.raises(sqlite3.Error):
        make_geopackage(file, {"people": {"sex": TEXT}, "People": {"sex": TEXT}})
    assert not file.exists()
