"""Reading SQLite files: what is sorted on the way stays in memory."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from vbas.core.records import sqlite_file

ROWS = 100_000


@pytest.mark.skipif(sys.platform != "linux", reason="open files are read from /proc")
def test_no_raw_value_is_written_to_a_temporary_file(tmp_path, monkeypatch):
    """SQLite sorts large tables in files without a name."""
    path = tmp_path / "records.gpkg"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE records (fid INTEGER PRIMARY KEY, person TEXT)")
        rows = ((f"Raw Name {i} of a street with a long name",) for i in range(ROWS))
        connection.executemany("INSERT INTO records (person) VALUES (?)", rows)
    steps, found, step = [], set(), sqlite_file._Collector.step

    def watched(self, value):
        step(self, value)
        steps.append(1)
        if len(steps) % 10_000 == 0:
            for link in Path("/proc/self/fd").iterdir():
                with suppress(OSError):
                    name = str(link.readlink())
                    if "etilqs" in name:
                        found.add(name)

    monkeypatch.setattr(sqlite_file._Collector, "step", watched)
    columns = sqlite_file.read_table(path, "records", {"person": "text"}, "RECORDS", lambda _: None, lambda *_: None)
    assert len(columns["person"].categories) == len(steps) == ROWS
    assert found == set()
