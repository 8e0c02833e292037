"""What a crashed program leaves beside a target: the log of a database brings its rows into the file put there."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

N_NAMES = 20_000
RAW = b"Raw Name "
CRASHES = f"""
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("CREATE TABLE released (name TEXT)")
connection.execute("BEGIN")
connection.executemany("INSERT INTO released VALUES (?)", [("Raw Name %d" % i,) for i in range({N_NAMES})])
connection.execute("COMMIT")
os.kill(os.getpid(), 9)
"""


def names_that_come_back(cured: bool) -> int:
    """Raw names in a delivered file once it is opened: copied to its place, or delivered by the plugin (cured)."""
    with tempfile.TemporaryDirectory() as folder:
        target, staged = Path(folder) / "released.gpkg", Path(folder) / "staged" / "released.gpkg"
        subprocess.run([sys.executable, "-c", CRASHES, str(target)], check=False, timeout=60)
        staged.parent.mkdir()
        with closing(sqlite3.connect(staged)) as connection, connection:
            connection.execute("CREATE TABLE released (vbas_region INTEGER)")
        if cured:
            from vbas.core.publish.delivery import deliver
            from vbas.core.publish.file_place import FilePlace
            from vbas.core.publish.sqlite_targets import journals_of

            deliver([FilePlace("RELEASED_RECORDS", staged, target, journals_of(target))])
        else:
            shutil.copyfile(staged, target)
        with closing(sqlite3.connect(target)) as connection:
            connection.execute("SELECT count(*) FROM released").fetchone()
        return sum(path.read_bytes().count(RAW) for path in Path(folder).iterdir() if path.is_file())
