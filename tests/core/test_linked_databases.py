"""Links to a GeoPackage: SQLite keeps its journals beside the file that a link leads to, and so must we look there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from vbas.core.errors import InputError
from vbas.core.publish.occupied import Occupied, tables_of_file
from vbas.core.publish.sqlite_targets import other_tables, refuse_if_held

from ..systems import of_posix


@pytest.fixture
def linked(tmp_path):
    """A database with a table in its log alone, under a name that is a link in another folder."""
    file, link = tmp_path / "data" / "areas.gpkg", tmp_path / "desk" / "areas.gpkg"
    file.parent.mkdir()
    link.parent.mkdir()
    link.symlink_to(file)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE survey (a)")
        connection.commit()
        yield file, link


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@of_posix
def test_layers_in_the_log_beside_the_file_are_seen_through_a_link(linked):
    file, link = linked
    before = contents(file.parent)
    assert other_tables(link, "areas") == other_tables(file, "areas") == ["survey"]
    assert contents(file.parent) == before and list(link.parent.iterdir()) == [link]


@pytest.mark.parametrize("locks", [True, False])
@of_posix
def test_a_database_that_is_worked_in_is_held_through_a_link(linked, locks, monkeypatch):
    if locks and not Path("/proc/locks").is_file():
        pytest.skip("who holds a file is read from /proc/locks")
    monkeypatch.setattr("vbas.core.publish.files.FileSystem.lists_locks", lambda _: locks)
    for name in linked:
        with pytest.raises(InputError, match="another program is working in"):
            refuse_if_held(name, "CROSSWALK")


@of_posix
def test_the_log_beside_the_file_belongs_to_a_table_that_goes_through_a_link(linked):
    file, link = linked
    run = Occupied()
    run.add_table("CROSSWALK", "crosswalk", tables_of_file(link, "crosswalk"), link)
    for name in (file.name, f"{file.name}-wal"):
        with pytest.raises(InputError, match=r"belongs to CROSSWALK|are the same file"):
            run.add_file("REGION_AUDIT", file.with_name(name), [file.with_name(name)])
