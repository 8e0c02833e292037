"""The file of a register: its tables, and how it is changed all at once or not at all."""

from __future__ import annotations

import os
import secrets
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from ...errors import InputError, VbasError
from ...language import as_data, tr
from ...records.sqlite_uri import sqlite_uri
from ..files import DISK
from ..free_names import give_free_name
from ..geopackage.making import LONG, REAL, SHORT, TEXT, make_geopackage
from ..names import check_file_name
from .chain import Link

RELEASES, CROSSWALKS, COUNTS, VALUES = "vbas_releases", "vbas_crosswalks", "vbas_counts", "vbas_values"
MASKINGS, POINTS = "vbas_maskings", "vbas_points"
TABLES = {
    RELEASES: {
        "release": SHORT,
        "title": TEXT,
        "time": TEXT,
        "k": SHORT,
        "quasi_identifiers": TEXT,
        "levels": SHORT,
        "bounded": SHORT,
        "whole": SHORT,
        "coarsened": TEXT,
        "of_persons": SHORT,
        "in_zones": SHORT,
    },
    CROSSWALKS: {"release": SHORT, "vbas_level": SHORT, "area": TEXT, "vbas_region": LONG},
    COUNTS: {"release": SHORT, "vbas_level": SHORT, "vbas_region": LONG, "class": TEXT, "records": LONG},
    VALUES: {
        "release": SHORT,
        "vbas_level": SHORT,
        "vbas_region": LONG,
        "class": TEXT,
        "field": TEXT,
        "value": TEXT,
        "records": LONG,
    },
    MASKINGS: {"masking": SHORT, "time": TEXT, "crs": TEXT},
    POINTS: {"masking": SHORT, "x": REAL, "y": REAL},
}
NAMED = as_data("release {n}")  # how a release is called until somebody names it
LATER = ("of_persons", "in_zones")
ADDED_LATER = {(RELEASES, name) for name in LATER}
"""Columns that registers from before may lack."""
TAKE_OUT = {
    COUNTS: "DELETE FROM vbas_counts WHERE release = ?",
    CROSSWALKS: "DELETE FROM vbas_crosswalks WHERE release = ?",
    VALUES: "DELETE FROM vbas_values WHERE release = ?",
    RELEASES: "DELETE FROM vbas_releases WHERE release = ?",
}
IS_USED = "SELECT EXISTS (SELECT 1 FROM vbas_releases) OR EXISTS (SELECT 1 FROM vbas_maskings)"
SECONDS_TO_WAIT = 5.0
Statement = tuple[str, tuple[object, ...]]


@dataclass(eq=False)
class Entry:
    """A change of a register, such as one more release: seen once it is `put`. It is a `Place` of its run.

    Of a run it is the first: whoever sees the release finds it in the register, even where the run is killed.

    taken_back_by : the statements, with their values, by which `undo` takes it back; none where it cannot be
    problem : what to say where it cannot be made, with places for the file and the error
    number : of the release that it adds, 0 for other changes; chained : the hash of its entry in the chain, empty where
    it has none; entries : how many the chain has then
    """

    path: Path
    staged: Path
    connection: sqlite3.Connection
    taken_back_by: Sequence[Statement] = ()
    problem: str = tr("REGISTER: {path} cannot be written to: {error}. Close it in other programs.")
    number: int = 0
    chained: str = ""
    entries: int = 0

    def __post_init__(self) -> None:
        self._opened, self._is_made = self.staged.stat(), False

    @property
    def name(self) -> str:
        """What the release that it adds is called in the register, as data say it."""
        return as_data(NAMED, n=self.number)

    @property
    def in_words(self) -> str:
        """The same for people, with the register."""
        return tr(
            "{register}, release {number:d}; hash of the entry: {checksum}",
            register=self.path.name,
            number=self.number,
            checksum=self.chained,
        )

    def prepare(self) -> None:
        """Nothing more: it is written already."""

    def put(self) -> None:
        """Make the change. Raises VbasError."""
        try:
            if self.staged == self.path and not os.path.samestat(self.path.stat(), self._opened):
                raise InputError(_changed_meanwhile(self.path))
            self.connection.execute("COMMIT")
            self._is_made = self.staged == self.path
            self.connection.close()
            if not self._is_made:
                if not give_free_name(self.staged, self.path):
                    raise InputError(_changed_meanwhile(self.path))
                self._is_made = True
        except (sqlite3.Error, OSError) as error:
            raise VbasError(self.problem.format(path=self.path, error=error)) from error

    def check(self) -> None:
        """SQLite has said that it is done."""

    def undo(self) -> list[str]:
        """Take it out again; of a register that was made for it, nothing stays."""
        if not self._is_made:
            return []
        try:
            self._take_back()
        except (sqlite3.Error, OSError) as error:
            return [
                tr(
                    "{path} has this release, which was not written, and it could not be taken out again ({error}): "
                    "later releases are held against it too.",
                    path=self.path,
                    error=error,
                )
            ]
        return []

    def forget(self) -> list[str]:
        """Nothing was kept."""
        return []

    def discard(self) -> list[str]:
        """Take back what was never put."""
        with suppress(sqlite3.Error):
            self.connection.close()
        if self.staged != self.path:
            for ending in ("", "-journal", "-wal", "-shm"):
                with suppress(OSError):
                    DISK.remove(self.staged.with_name(self.staged.name + ending), missing_ok=True)
        return []

    def _take_back(self) -> None:
        with closing(
            sqlite3.connect(
                sqlite_uri(self.path.absolute(), "mode=rw"), uri=True, timeout=SECONDS_TO_WAIT, isolation_level=None
            )
        ) as connection:
            connection.execute("PRAGMA secure_delete = ON")  # it was never published: nothing of it stays in the file
            connection.execute("BEGIN EXCLUSIVE")
            for statement, values in self.taken_back_by:
                connection.execute(statement, values)
            mark_changed(connection)
            is_needed = self.staged == self.path or connection.execute(IS_USED).fetchone()[0]
            # While it is held: whoever waits to add a release to it will see that it has gone.
            if not is_needed and sys.platform != "win32":
                DISK.remove(self.path)
            connection.execute("COMMIT")
        if not is_needed and sys.platform == "win32":  # where an open file cannot be removed
            DISK.remove(self.path)


def chained(entry: Entry, link: Link) -> Entry:
    """A change of a register that adds this link to its chain."""
    entry.chained, entry.entries = link.hash, link.entry
    return entry


def _changed_meanwhile(path: Path) -> str:
    return tr("REGISTER: another run has added a release to {path} meanwhile: run again.", path=path)


def written_entry(path: Path, write: Callable[[sqlite3.Connection], Sequence[Statement]]) -> Entry:
    """Write to a register, which is made if there is none, without making it visible yet.

    write : writes, and gives the statements that take it back. Raises InputError for a file that is not a register or
    that another program holds, and what `write` raises.
    """
    staged = path
    if not path.exists():
        if not path.parent.is_dir() or path.suffix.lower() != ".gpkg":
            raise InputError(
                tr("REGISTER: {path} cannot be made: name a .gpkg file in a folder that is there.", path=path)
            )
        check_file_name("REGISTER", path.name)
        staged = path.with_name(f".vbas-{secrets.token_hex(8)}.gpkg")
        _make(staged)
    connection = sqlite3.connect(staged, timeout=SECONDS_TO_WAIT, isolation_level=None)
    entry = Entry(path, staged, connection)
    try:
        connection.execute("BEGIN IMMEDIATE")
        check_register(connection, path)
        entry.taken_back_by = write(connection)
        mark_changed(connection)
    except sqlite3.Error as error:
        entry.discard()
        raise InputError(
            tr("REGISTER: {path} cannot be written to: {error}. Close it in other programs.", path=path, error=error)
        ) from error
    except VbasError:
        entry.discard()
        raise
    return entry


def written_for_good(path: Path, write: Callable[[sqlite3.Connection], None], problem: str) -> Entry:
    """Take something out of a register that is there, without that being visible yet, and so that nothing of it stays
    in the file; it cannot be taken back once it is `put`.

    problem : what to say where it cannot be made, with places for path and error. Raises VbasError for a file that
    another program holds.
    """
    connection = sqlite3.connect(path, timeout=SECONDS_TO_WAIT, isolation_level=None)
    entry = Entry(path, path, connection, problem=problem)
    try:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("BEGIN IMMEDIATE")
        write(connection)
        mark_changed(connection)
    except sqlite3.Error as error:
        entry.discard()
        raise VbasError(
            tr("REGISTER: {path} cannot be written to: {error}. Close it in other programs.", path=path, error=error)
        ) from error
    return entry


def new_register(path: Path) -> str:
    """What is said of a register that is not there yet: who mistypes its name begins another, which knows of none."""
    return tr(
        "REGISTER: {path} is a new register, which knows no earlier release: this one was held against none. If there "
        "is a register of these people already, correct the name and run again.",
        path=path,
    )


def now() -> str:
    """The time in UTC, as a register notes it."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def mark_changed(connection: sqlite3.Connection) -> None:
    """Tell readers of the GeoPackage that it has changed."""
    last = connection.execute("SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now')").fetchone()[0]
    connection.execute("UPDATE gpkg_contents SET last_change = ?", (last,))


def _make(path: Path) -> None:
    """An empty register."""
    try:
        make_geopackage(path, TABLES)
    except sqlite3.Error as error:
        raise InputError(
            tr("REGISTER: {parent} cannot be written to: choose another folder.", parent=path.parent)
        ) from error


def check_register(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database that is not a register. Raises InputError."""
    for name, fields in TABLES.items():
        lacking = set(fields) - _columns(connection, name)
        if any((name, field) not in ADDED_LATER for field in lacking):
            raise InputError(
                tr(
                    "REGISTER: {path} is not a register of releases: it lacks the table “{name}” as the "
                    "register has it. Name a register, or a new file.",
                    path=path,
                    name=name,
                )
            )


def is_there(connection: sqlite3.Connection, table: str, column: str) -> bool:
    """Whether a register has a column that was added later."""
    return column in _columns(connection, table)


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}


def damaged(number: object, title: object, path: Path, error: Exception) -> InputError:
    """What is said of a release in a register that cannot be read; only sentences of our own say why."""
    said = str(error) if isinstance(error, InputError) else tr("it holds what a register never holds")
    return InputError(
        tr(
            "REGISTER: release {number} (“{title}”) in {path} is damaged ({error}): restore the file from a copy.",
            number=number,
            title=title,
            path=path,
            error=said,
        )
    )
