"""Reading SQLite files: what is sorted on the way stays in memory."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from vbas.core.records import sqlite_columns, sqlite_file

ROWS = 100_000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="open files are read from /proc")
def test_no_raw_value_is_written_to_a_temporary_file(tmp_path):
    """SQLite sorts large tables in files without a name."""
    path = tmp_path / "records.gpkg"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE records (fid INTEGER PRIMARY KEY, person TEXT)")
        rows = ((f"Raw Name {i} of a street with a long name",) for i in range(ROWS))
        connection.executemany("INSERT INTO records (person) VALUES (?)", rows)
    found, lines = set(), []

    def watch(_):
        for link in Path("/proc/self/fd").iterdir():
            with suppress(OSError):
                name = str(link.readlink())
                lines.append(name)
                if "etilqs" in name:
                    found.add(name)

    read = sqlite_columns.read_table(path, "records", {"person": "text"}, "RECORDS", watch)
    assert len(read["person"].categories) == ROWS
    with sqlite_file.reading(path, "RECORDS") as connection:
        connection.create_function("vbas_watch", 1, lambda n: watch(n) if n % 10_000 == 0 else None)
        connection.execute("SELECT COUNT(DISTINCT person || coalesce(vbas_watch(fid), '')) FROM records").fetchone()
    assert any(name == str(path) for name in lines)
    assert found == set()
