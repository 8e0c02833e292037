"""How SQLite is told of a file, wherever it lies, and what it means when it refuses one."""

from __future__ import annotations

import sqlite3
from pathlib import PurePath

NOT_A_DATABASE = 26  # SQLITE_NOTADB


def sqlite_uri(path: PurePath, mode: str) -> str:
    """The address of a file for `sqlite3.connect(…, uri=True)`.

    path : absolute; mode : what follows the question mark, such as mode=ro

    Raises ValueError for a path that is not absolute.
    """
    address = path.as_uri()
    # A file of a network drive of Windows is file://server/share/…; SQLite refuses an address with a server, and wants
    # the server in the path.
    if not address.startswith("file:///"):
        address = "file:////" + address[len("file://") :].lstrip("/")
    return f"{address}?{mode}"


def is_no_database(error: sqlite3.Error) -> bool:
    """Whether SQLite has read a file and says that it is none of its own; all other errors tell nothing of it."""
    code = getattr(error, "sqlite_errorcode", None)  # of Python 3.11 on
    if code is not None:
        return bool(code & 0xFF == NOT_A_DATABASE)
    return "file is not a database" in str(error)
