"""The file of a register: its tables, and how it is changed all at once or not at all."""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import field
from datetime import datetime, timezone
from pathlib import Path

from ...dataclass import dataclass
from ...errors import InputError, VbasError
from ...language import as_data, tr
from ...records.sqlite_file import damaged_file
from ..files import DISK, FileSystem
from ..folders import lock_on, one_run_on
from ..free_names import give_free_name
from ..geopackage.making import LONG, REAL, SHORT, TEXT, make_geopackage
from ..leftovers import NEW, hidden_beside, left_beside, tidy_up
from ..names import check_file_name
from .chain import CHAIN, Link
from .chain import COLUMNS as OF_CHAIN
from .packs import COLUMNS as OF_PACKS
from .particulars import COLUMNS as OF_PARTICULARS
from .particulars import PARTICULARS, unknown_particulars

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
OURS = "vbas_"  # how the names of a register's own tables begin
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
IS_IN = "SELECT EXISTS (SELECT 1 FROM vbas_chain WHERE hash = ?)"
SECONDS_TO_WAIT = 5.0
DAMAGED = (
    *(InputError, ValueError, KeyError, TypeError, IndexError, AttributeError),
    *(OverflowError, RecursionError, zlib.error),
)
"""What is raised where a release in a register is read that somebody changed by hand."""
Statement = tuple[str, tuple[object, ...]]


@dataclass(eq=False)
class Entry:
    """A change of a register, such as one more release: seen once it is `put`. It is a `Place` of its run.

    Of a run it is the first: whoever sees the release finds it in the register, even where the run is killed.

    taken_back_by : the statements, with their values, by which `undo` takes it back; none where it cannot be
    problem : what to say where it cannot be made, with places for the file and the error; empty for what SQLite says
    number : of the release that it adds, 0 for other changes; chained : the hash of its entry in the chain, empty where
    it has none; entries : how many the chain has then
    files : the file system; held : what is left once it is put or discarded
    """

    path: Path
    staged: Path
    connection: sqlite3.Connection
    taken_back_by: Sequence[Statement] = ()
    problem: str = ""
    number: int = 0
    chained: str = ""
    entries: int = 0
    files: FileSystem = DISK
    held: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        self._opened, self._is_made, self._is_unsure = self.files.status_behind(self.staged), False, False

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
            if self.staged == self.path and not os.path.samestat(self.files.status_behind(self.path), self._opened):
                raise InputError(_changed_meanwhile(self.path))
            self._commit()
            self._is_made = self.staged == self.path
            self.connection.close()
            if not self._is_made:
                self._is_unsure = True
                is_given = give_free_name(self.staged, self.path, self.files)
                self._is_unsure = False
                if not is_given:
                    raise InputError(_changed_meanwhile(self.path))
                self._is_made = True
                self.files.keep_names(self.path.parent)
                self.held.close()
        except (sqlite3.Error, OSError) as error:
            said = self.problem.format(path=self.path, error=error)
            raise (VbasError(said) if said else _not_writable(self.path, error)) from error

    def _commit(self) -> None:
        """Have SQLite keep the change. A network may do what it is asked and not be able to say so: the chain says what
        whoever opens the register finds."""
        try:
            self.connection.execute("COMMIT")
        except sqlite3.Error:
            with suppress(sqlite3.Error):
                self.connection.close()
            self._is_unsure = self.staged == self.path
            is_in = self._is_in(self.staged)
            self._is_unsure = False
            if not is_in:
                raise

    def _is_in(self, file: Path) -> bool:
        """Whether a register has this entry. Raises sqlite3.Error where that cannot be seen."""
        with closing(_opened(file, self.files)) as connection:
            return bool(connection.execute(IS_IN, (self.chained,)).fetchone()[0])

    def _has_come_in(self) -> bool:
        """Whether the register has this entry after all. Raises sqlite3.Error or OSError where that cannot be seen."""
        if self.staged != self.path:
            try:
                self.files.status(self.path)
            except FileNotFoundError:
                return False
        return self._is_in(self.path)

    def check(self) -> None:
        """SQLite has said that it is done."""

    def undo(self) -> list[str]:
        """Take it out again; of a register that was made for it, nothing stays."""
        if not (self._is_made or self._is_unsure):
            return []
        try:
            if self._is_made or self._has_come_in():
                self._take_back()
        except (sqlite3.Error, OSError) as error:
            if self._is_unsure:
                return [
                    tr(
                        "{path} may have this change, which was not to be made alone, and it cannot be seen ({error}): "
                        "look once it can be reached.",
                        path=self.path,
                        error=error,
                    )
                ]
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
                    self.files.remove(self.staged.with_name(self.staged.name + ending), missing_ok=True)
        self.held.close()
        return []

    def _take_back(self) -> None:
        with closing(_opened(self.path, self.files)) as connection:
            connection.execute("PRAGMA secure_delete = ON")  # it was never published: nothing of it stays in the file
            connection.execute("BEGIN EXCLUSIVE")
            for statement, values in self.taken_back_by:
                connection.execute(statement, values)
            mark_changed(connection)
            is_needed = self.staged == self.path or connection.execute(IS_USED).fetchone()[0]
            # While it is held: whoever waits to add a release to it will see that it has gone.
            if not is_needed and not self.files.holds_what_is_open:
                self.files.remove(self.path)
            connection.execute("COMMIT")
        if not is_needed and self.files.holds_what_is_open:
            self.files.remove(self.path)


def chained(entry: Entry, link: Link) -> Entry:
    """A change of a register that adds this link to its chain."""
    entry.chained, entry.entries = link.hash, link.entry
    return entry


def _changed_meanwhile(path: Path) -> str:
    return tr("REGISTER: another run has added a release to {path} meanwhile: run again.", path=path)


def written_entry(
    path: Path, write: Callable[[sqlite3.Connection], Sequence[Statement]], files: FileSystem = DISK
) -> Entry:
    """Write to a register, which is made if there is none, without making it visible yet.

    write : writes, and gives the statements that take it back. Raises InputError for a file that is not a register,
    VbasError for one that cannot be written to now, and what `write` raises.

    Until it has its name, a new one is hidden beside it and held: what a killed run left so, with classes of a release
    that was never published, goes with the next run on the register.
    """
    with ExitStack() as stack:
        staged = _staged(path, stack, files)
        connection = _opened_for(staged, path, files)
        entry = Entry(path, staged, connection, files=files, held=stack.pop_all())
    try:
        connection.execute("BEGIN IMMEDIATE")
        check_register(connection, path)
        entry.taken_back_by = write(connection)
        mark_changed(connection)
    except sqlite3.Error as error:
        entry.discard()
        raise _not_writable(path, error) from error
    except VbasError:
        entry.discard()
        raise
    return entry


def _staged(path: Path, stack: ExitStack, files: FileSystem) -> Path:
    """The register, or an empty one that is hidden beside its place and held until the stack is closed."""
    # No output is called so: a register is not in the way of an output whose name begins alike.
    aside = path.with_name(f"{path.stem}\n{path.suffix}")
    if files.is_folder(path.parent):
        _tidy_up(path, aside, files)
    if files.is_file(path):
        return path
    check_place(path, files)
    stack.enter_context(one_run_on(aside, "REGISTER", files, path))
    staged = hidden_beside(aside, aside, NEW)
    _make(staged)
    return staged


def check_place(path: Path, files: FileSystem = DISK) -> None:
    """Raise InputError where there is no register and none can be made, which is worth to be known before any work."""
    if files.is_file(path):
        return
    if files.is_there(path) or not files.is_folder(path.parent) or path.suffix.lower() != ".gpkg":
        raise InputError.saying(
            "REGISTER: {path} cannot be made: name a .gpkg file in a folder that is there.", path=path
        )
    check_file_name("REGISTER", path.name)


def _tidy_up(path: Path, aside: Path, files: FileSystem) -> None:
    """Remove what a killed run left, unless another run is making the register."""
    if left_beside(aside, files) or files.is_there(lock_on(aside)):
        with suppress(VbasError), one_run_on(aside, "REGISTER", files, path) as sure:
            if sure:
                tidy_up(aside, files)


def _opened(file: Path, files: FileSystem) -> sqlite3.Connection:
    return sqlite3.connect(
        files.uri(file.absolute(), "mode=rw"), uri=True, timeout=SECONDS_TO_WAIT, isolation_level=None
    )


def written_for_good(
    path: Path, write: Callable[[sqlite3.Connection], None], problem: str, files: FileSystem = DISK
) -> Entry:
    """Take something out of a register that is there, without that being visible yet, and so that nothing of it stays
    in the file; it cannot be taken back once it is `put`.

    problem : what to say where it cannot be made, with places for path and error. Raises VbasError for a file that
    another program holds.
    """
    connection = _opened_for(path, path, files)
    entry = Entry(path, path, connection, problem=problem, files=files)
    try:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("BEGIN IMMEDIATE")
        write(connection)
        mark_changed(connection)
    except sqlite3.Error as error:
        entry.discard()
        raise _not_writable(path, error) from error
    return entry


def _not_writable(path: Path, error: Exception) -> VbasError:
    """What is said of a register that cannot be written to: what to do depends on why. One that is damaged is an input
    that cannot be used; of the others nothing is wrong but that this cannot be written now."""
    why = str(error)
    if "locked" in why or "busy" in why:
        said = tr("REGISTER: {path} cannot be written to: {error}. Close it in other programs.", path=path, error=error)
    elif "is full" in why:
        said = tr(
            "REGISTER: {path} cannot be written to: {error}. Make room there, and run again.", path=path, error=error
        )
    elif isinstance(error, OSError) or "readonly" in why or "unable to open" in why or "disk I/O" in why:
        said = tr(
            "REGISTER: {path} cannot be written to: {error}. See that you may write to the file and its folder, and "
            "that no other program has it open.",
            path=path,
            error=error,
        )
    else:
        return InputError(damaged_file(path, "REGISTER", why))
    return VbasError(said)


def _opened_for(file: Path, path: Path, files: FileSystem) -> sqlite3.Connection:
    """The register, or what is to become it, open; path : the register, for the message."""
    try:
        return _opened(file, files)
    except sqlite3.Error as error:
        raise _not_writable(path, error) from error


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
    """An empty register. Raises VbasError where it cannot be written."""
    try:
        make_geopackage(path, TABLES)
    except sqlite3.Error as error:
        raise VbasError.saying(
            "REGISTER: SQLite cannot write into {parent} ({error}): choose another folder.",
            parent=path.parent,
            error=error,
        ) from error


def check_register(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database that is not a register, lacks a part of one, or has parts that this version does not know.
    Raises InputError."""
    lacking = [
        name
        for name, fields in TABLES.items()
        if {(name, field) for field in set(fields) - _columns(connection, name)} - ADDED_LATER
    ]
    unknown = _unknown(connection)
    if unknown and not lacking:
        raise InputError.saying(
            "REGISTER: {path} holds “{name}”, which this version of VBAS does not know, and would hold no release "
            "against: a newer version wrote it, or somebody by hand. Go on with the newer version.",
            path=path,
            name=unknown,
        )
    if not lacking:
        return
    # A new file in the place of a damaged register would know no earlier release.
    if any(_columns(connection, name) for name in TABLES):
        raise InputError.saying(
            "REGISTER: {path} is damaged: it lacks the table “{name}” as the register has it. Restore the file from a "
            "copy.",
            path=path,
            name=lacking[0],
        )
    raise InputError.saying(
        "REGISTER: {path} is not a register of releases: it lacks the table “{name}” as the register has it. Name a "
        "register, or a new file.",
        path=path,
        name=lacking[0],
    )


def _unknown(connection: sqlite3.Connection) -> str:
    """A table of the register's own names, a column of one, or what is said of a release, that no register of this
    version has; empty for none."""
    known = {**TABLES, CHAIN: OF_CHAIN, **OF_PACKS, PARTICULARS: OF_PARTICULARS}
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    for name in (str(table) for (table,) in tables):
        if name.startswith(OURS) and name not in known:
            return name
        for column in sorted(_columns(connection, name) - {*known[name], "fid"} if name in known else ()):
            return f"{name}.{column}"
    return next((f"{PARTICULARS}: {what}" for what in unknown_particulars(connection)), "")


def is_there(connection: sqlite3.Connection, table: str, column: str) -> bool:
    """Whether a register has a column that was added later."""
    return column in _columns(connection, table)


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}


def check_named(number: object, title: object, time: object) -> None:
    """Refuse a release whose number, title or time is none. Raises ValueError."""
    if not (isinstance(number, int) and isinstance(title, str) and isinstance(time, str)):
        raise ValueError


def damaged(number: object, title: object, path: Path, error: Exception) -> InputError:
    """What is said of a release in a register that cannot be read; only sentences of our own say why."""
    said = str(error) if isinstance(error, InputError) else tr("it holds what a register never holds")
    return InputError.saying(
        "REGISTER: release {number} (“{title}”) in {path} is damaged ({error}): restore the file from a copy.",
        number=number,
        title=title,
        path=path,
        error=said,
    )
