"""Files of SQLite as targets: what stands beside them, what they hold, and which program works in them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from ..errors import InputError, VbasError, first_values
from ..language import tr
from ..records.sqlite_file import SECONDS_TO_WAIT
from ..records.sqlite_uri import is_no_database
from .files import DISK, FileSystem
from .folders import BESIDE, own_folder

SUFFIXES = (".gpkg", ".sqlite")
JOURNALS = ("-wal", "-journal", "-shm")
# What GDAL and QGIS keep for their own use beside the tables of the user.
SYSTEM = {".gpkg": ("gpkg_", "rtree_", "sqlite_"), ".sqlite": ("idx_", "sqlite_")}
SYSTEM_TABLES = frozenset(
    ("layer_styles", "ogr_empty_table", "geometry_columns", "spatial_ref_sys", "spatialite_history")
)


def journals_of(file: Path) -> list[str]:
    """Names of the files that SQLite keeps beside a database."""
    return [file.name + journal for journal in JOURNALS]


def settle(file: Path, files: FileSystem = DISK) -> None:
    """Have SQLite keep all of a file in the file itself, and make none beside it for whoever opens it.

    Raises VbasError where it cannot.
    """
    with closing(sqlite3.connect(files.for_sqlite(file), isolation_level=None)) as connection:
        (mode,) = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    if mode != "delete" or any(files.is_there(file.with_name(journal)) for journal in journals_of(file)):
        raise VbasError.saying(
            "{name} was not written whole: its last rows are still in a journal. Nothing was kept.", name=file.name
        )


def refuse_if_held(target: Path, name: str, files: FileSystem = DISK) -> None:
    """Raise InputError where another program (or this QGIS) works in a database that is to be replaced.

    Who only reads it may go on: it keeps the old file.
    """
    if files.lists_locks():
        if not _in_use(target, files):
            return
        what_to_do = tr("close it there or remove its layers from the project, or choose another place")
    else:
        if not _open_journals(target, files):
            return
        what_to_do = tr("close it there (if nobody has it open: open and close it once), or choose another place")
    raise InputError.saying(
        "{name}: another program is working in {target}: {what_to_do}.", name=name, target=target, what_to_do=what_to_do
    )


def refuse_if_closed(file: Path, name: str) -> None:
    """Raise InputError where a table cannot be added to a file now, since it is locked or closed; it stays as it is."""
    try:
        with closing(
            sqlite3.connect(DISK.uri(file, "mode=rw"), uri=True, timeout=SECONDS_TO_WAIT, isolation_level=None)
        ) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        raise InputError.saying(
            "{name}: no table can be added to {file} now ({error}): close it in other programs, or choose another "
            "place.",
            name=name,
            file=file,
            error=error,
        ) from error


def refuse_if_others_would_be_lost(target: Path, name: str, files: FileSystem = DISK) -> None:
    """Raise VbasError where a database that is to be replaced holds, or may hold, tables of others.

    name : of the output, for the message
    """
    others = other_tables(target, target.stem, files)
    if others:
        raise InputError.saying(
            "{name}: {path} is there already and holds layers, which would be lost: {first}. Choose another file, "
            "remove this one first, or add a table to it with ogr:dbname='{path}' table=\"{stem}\".",
            name=name,
            path=target,
            first=first_values(others),
            stem=target.stem,
        )


def other_tables(target: Path, own: str, files: FileSystem = DISK) -> list[str]:
    """Names of the tables in a database that would be lost, were it replaced by one with the table `own`."""
    if target.suffix.lower() not in SUFFIXES or not files.is_file(target):
        return []
    # What a program that ended badly left in a journal belongs to the file.
    if _open_journals(target, files):
        names = _tables_of_copy(target, files)
    else:
        names = _tables(files.real(target), "mode=ro&immutable=1", target, files)
    return [
        table
        for table in names
        if table.lower() != own.lower()
        and table.lower() not in SYSTEM_TABLES
        and not table.lower().startswith(SYSTEM[target.suffix.lower()])
    ]


def _tables_of_copy(target: Path, files: FileSystem) -> list[str]:
    """SQLite would mend the file as it reads it: a copy is read, so that nothing is changed.

    The copy stays in the folder of the file, since it holds the same rows.
    """
    try:
        kept = files.with_journals(target)
        with own_folder(kept.parent, BESIDE, files) as folder:
            for suffix in ("", "-wal", "-journal"):
                part = kept.with_name(kept.name + suffix)
                if files.is_file(part):
                    files.copy(part, folder / f"copy{suffix}")
            return _tables(folder.absolute() / "copy", "mode=rw", target, files)
    except OSError as error:
        raise VbasError.saying(
            "{target} and the journal beside it cannot be looked into: {reason}. Choose another place.",
            target=target,
            reason=error.strerror,
        ) from error


def _tables(file: Path, mode: str, target: Path, files: FileSystem) -> list[str]:
    """Names of the tables and views of a file; none where SQLite says that it is no database.

    target : whose tables they are, for the message. Raises VbasError where they cannot be told: what may hold other
    layers is not replaced.
    """
    try:
        with closing(sqlite3.connect(files.uri(file, mode), uri=True, timeout=0)) as connection:
            rows = connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid"
            ).fetchall()
    except sqlite3.Error as error:
        if is_no_database(error):  # whatever its name says: a plain file, which may be replaced
            return []
        raise VbasError.saying(
            "{target} is there, and it cannot be seen whether other layers are in it ({error}): it is not replaced. "
            "Choose another place, or remove the file.",
            target=target,
            error=error,
        ) from error
    return [str(name) for (name,) in rows]


def _open_journals(target: Path, files: FileSystem) -> bool:
    """Whether a write-ahead log or rollback journal that holds something stands beside a database."""
    kept = files.with_journals(target)
    for suffix in ("-wal", "-journal"):
        journal = kept.with_name(kept.name + suffix)
        if files.is_file(journal) and (suffix == "-wal" or files.status_behind(journal).st_size):
            return True
    return False


def _in_use(target: Path, files: FileSystem) -> bool:
    """Whether another program, or this QGIS, works in a database: writes into it, or has its log open."""
    kept = files.with_journals(target)
    parts = [part for part in (kept, kept.with_name(kept.name + "-shm")) if files.is_file(part)]
    return files.is_worked_in(parts, read_too=_open_journals(target, files))
