"""SQLite files, GeoPackages among them: read in one transaction, tables checked and counted by SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from ..errors import InputError, first_values
from ..language import tr
from .sqlite_uri import sqlite_uri

SHORT, INTEGER, LONG, REAL, TEXT = "short", "integer", "long", "real", "text"
BOOLEAN, DATE, TIME = "boolean", "date", "datetime"
SECONDS_TO_WAIT = 2.0  # besides the five that GDAL waits when QGIS opens a locked file
_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
# What a value must be so that QGIS shows exactly that value; each ? is the field.
_WRONG = {
    SHORT: "typeof(?) <> 'integer' OR ? NOT BETWEEN -32768 AND 32767",
    INTEGER: "typeof(?) <> 'integer' OR ? NOT BETWEEN -2147483648 AND 2147483647",
    LONG: "typeof(?) <> 'integer'",
    REAL: "typeof(?) NOT IN ('real', 'integer') OR (typeof(?) = 'integer' AND abs(?) > 9007199254740992)",
    TEXT: "typeof(?) <> 'text' OR instr(?, char(0)) > 0",
    BOOLEAN: "typeof(?) <> 'integer' OR ? NOT IN (0, 1)",
    DATE: f"typeof(?) <> 'text' OR ? NOT GLOB '{_DAY}'",
    TIME: f"typeof(?) <> 'text' OR ? NOT GLOB '{_DAY}[T ][0-9][0-9]:[0-9][0-9]*' OR ? GLOB '*.[0-9][0-9][0-9][0-9]*'",
}
_WORDS = {
    SHORT: tr("whole numbers up to 32 767"),
    INTEGER: tr("whole numbers up to 2 147 483 647"),
    LONG: tr("whole numbers"),
    REAL: "numbers",
    TEXT: tr("plain text"),
    BOOLEAN: tr("yes or no (1 or 0)"),
    DATE: tr("dates (2021-12-31)"),
    TIME: tr("times to the millisecond (2021-12-31T23:59:59.999Z)"),
}


def is_sqlite(path: Path) -> bool:
    """Whether a file is one of SQLite's, by its ending or how it begins."""
    # Closing a file gives up the locks that this process holds on it: open none that SQLite may hold.
    if path.suffix.lower() in (".gpkg", ".sqlite", ".db"):
        return True
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


@contextmanager
def reading(path: Path, layer: str, idle: bool | None = None) -> Iterator[sqlite3.Connection]:
    """A transaction that sees one state of the file, and keeps other programs from changing it where SQLite can.

    layer : the parameter, for messages; idle : what `has_idle_log` says of the file, where it was asked before: it
    opens and closes the file, and thereby gives up what another transaction of this process holds. Raises InputError
    where the file is damaged, locked, or was changed meanwhile by a program that did not respect the lock.
    """
    with _in_a_sentence(path, layer), closing(_connection(path, idle, layer)) as connection:
        connection.execute("PRAGMA temp_store = MEMORY")  # what is sorted are raw values: none goes to a disk
        before = (_version(connection), _state(path))
        connection.execute("BEGIN")
        connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        yield connection
        connection.execute("COMMIT")
        if (_version(connection), _state(path)) != before:
            raise InputError.saying(
                "{layer}: {name} was changed by another program while it was read: run again when that has ended.",
                layer=layer,
                name=path.name,
            )


def check_table(connection: sqlite3.Connection, path: Path, table: str, layer: str) -> int:
    """Rows of a table or view, every page of the table checked. Raises InputError for a damaged table."""
    with _in_a_sentence(path, layer):
        if is_table(connection, table):
            problems = [row[0] for row in connection.execute(f"PRAGMA quick_check({quoted(table)})").fetchmany(3)]
            if problems != ["ok"]:
                raise InputError(damaged_file(path, layer, "; ".join(problems)))
        return int(connection.execute(statement(("SELECT COUNT(*) FROM",), table, connection)).fetchone()[0])


def has_table(connection: sqlite3.Connection, table: str) -> bool:
    """Whether there is a table or view that SQLite alone can read: a view may call functions of GDAL's."""
    try:
        connection.execute(statement(("SELECT 1 FROM",), table, connection) + " LIMIT 1").fetchone()
    except sqlite3.OperationalError as error:
        if "no such" not in str(error):
            raise
        return False
    return True


def columns_of(connection: sqlite3.Connection, table: str) -> dict[str, str]:
    """Declared type, in capitals, by column."""
    rows = connection.execute(f"PRAGMA table_info({quoted(table)})").fetchall()
    return {row[1]: (row[2] or "").upper() for row in rows}


def declared_types(path: Path, table: str, layer: str) -> dict[str, str]:
    """`columns_of` a table of a file. Raises InputError where it is damaged or locked."""
    with reading(path, layer) as connection:
        return columns_of(connection, table)


def check_values(connection: sqlite3.Connection, path: Path, table: str, kinds: Mapping[str, str], layer: str) -> None:
    """Refuse values that are not of their field's kind, which readers would alter silently.

    kinds : INTEGER, LONG, REAL, … by field; others are not checked. Raises InputError naming the field and the first
    values.
    """
    for name, kind in kinds.items():
        if kind not in _WRONG:
            continue
        column = quoted(name)
        condition = ("WHERE", column, "IS NOT NULL AND (", _WRONG[kind].replace("?", column), ") LIMIT 6")
        with _in_a_sentence(path, layer):
            rows = statement(("SELECT DISTINCT", column, "FROM"), table, connection)
            wrong = [row[0] for row in connection.execute(" ".join((rows, *condition)))]
        if wrong:
            raise InputError(other_values(layer, name, kind, wrong))


def other_values(layer: str, name: str, kind: str, wrong: Sequence[object]) -> str:
    """What is said of values that are not of their field's kind."""
    return tr(
        "{layer}: field “{name}” is one of {words}, but holds other values (first: "
        "{first}): correct them, or change the type of the field.",
        layer=layer,
        name=name,
        words=_WORDS[kind],
        first=first_values(_shown(value) for value in wrong),
    )


def _shown(value: object) -> str:
    text = value.hex(" ") if isinstance(value, bytes) else str(value).replace("\0", "␀")
    return text if len(text) <= 40 else text[:40] + "…"


def _connection(path: Path, idle: bool | None, layer: str) -> sqlite3.Connection:
    # Nothing is ever written, not even the files that SQLite would make next to one with an empty write-ahead log.
    try:
        mode = "immutable=1" if (has_idle_log(path) if idle is None else idle) else "mode=ro"
    except OSError as error:
        raise InputError(unreadable(path, layer, error.strerror or str(error))) from error
    return sqlite3.connect(
        sqlite_uri(path.resolve(), mode),
        uri=True,
        isolation_level=None,
        timeout=SECONDS_TO_WAIT,
        check_same_thread=False,
    )


def log_size(path: Path) -> int:
    """Bytes of the write-ahead log, 0 where there is none."""
    try:
        return beside(path, "-wal").stat().st_size
    except OSError:
        return 0


def beside(path: Path, ending: str) -> Path:
    """What SQLite keeps beside a file, not beside a link to it; ending : "-wal", "-journal" or "-shm"."""
    file = path.resolve()
    return file.with_name(file.name + ending)


def has_idle_log(path: Path) -> bool:
    """Whether the file works with a write-ahead log, but nobody has it open."""
    if beside(path, "-wal").exists():
        return False
    with path.open("rb") as file:
        return file.read(20)[18:20] == b"\2\2"


def _state(path: Path) -> tuple[int, ...]:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns, log_size(path)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def is_table(connection: sqlite3.Connection, name: str) -> bool:
    """Whether SQLite holds a table itself, and is not told of it by a view or a program."""
    kind = connection.execute(
        "SELECT type, sql FROM sqlite_master WHERE lower(name) = lower(?) AND type IN ('table', 'view')", (name,)
    ).fetchone()
    return kind is not None and kind[0] == "table" and not (kind[1] or "").upper().startswith("CREATE VIRTUAL")


def statement(beginning: tuple[str, ...], table: str, connection: sqlite3.Connection) -> str:
    """A query of a table or view, up to its name."""
    # Names cannot be bound: they are quoted. An index may be damaged where the table is not, and has another order.
    return " ".join((*beginning, quoted(table), "NOT INDEXED" if is_table(connection, table) else ""))


def rows_in_order(connection: sqlite3.Connection, table: str, names: Sequence[str]) -> Iterator[tuple[object, ...]]:
    """The values of some fields, row by row, in the order in which any other fields of the table or view are given.

    A view is read with all of its fields: else SQLite may go along an index that holds those that are asked for.
    """
    if is_table(connection, table):
        fields = ", ".join(map(quoted, names))
        return iter(connection.execute(statement(("SELECT", fields, "FROM"), table, connection)))
    rows = connection.execute(statement(("SELECT * FROM",), table, connection))
    there = [column for column, *_ in rows.description]
    positions = [there.index(name) for name in names]
    return (tuple(row[position] for position in positions) for row in rows)


def damaged_file(path: Path, layer: str, what: str) -> str:
    """What is said of a file that cannot be read whole."""
    return tr(
        "{layer}: {name} is damaged ({what}): take it from a complete copy.", layer=layer, name=path.name, what=what
    )


@contextmanager
def _in_a_sentence(path: Path, layer: str) -> Iterator[None]:
    """SQLite's errors as what a custodian can act on."""
    try:
        yield
    except UnicodeDecodeError as error:  # in names, and in what SQLite itself says of them
        raise InputError(_not_utf_8(path, layer, str(error))) from error
    except sqlite3.Error as error:
        text = str(error)
        if "locked" in text or "busy" in text:
            message = tr(
                "{layer}: {name} is locked by another program that is changing it: run again when that has ended.",
                layer=layer,
                name=path.name,
            )
        elif "readonly" in text or "unable to open" in text:
            message = tr(
                "{layer}: {name} holds a change that another program has not finished (next to it is a -journal "
                "or -wal file): open it once in that program or in QGIS and close it there.",
                layer=layer,
                name=path.name,
            )
            with suppress(OSError):
                if not any(beside(path, end).exists() for end in ("-journal", "-wal")):
                    message = unreadable(path, layer, text)
        elif "Could not decode" in text:
            message = _not_utf_8(path, layer, text)
        else:
            message = damaged_file(path, layer, text)
        raise InputError(message) from error


def unreadable(path: Path, layer: str, text: str) -> str:
    """That a file cannot be read; layer : the input, for the sentence; text : the reason."""
    return tr(
        "{layer}: {name} cannot be read ({text}): check that you may read it.",
        layer=layer,
        name=path.name,
        text=text,
    )


def _not_utf_8(path: Path, layer: str, text: str) -> str:
    return tr(
        "{layer}: {name} holds text that is not UTF-8 ({text}): correct it.",
        layer=layer,
        name=path.name,
        text=text[:80],
    )


def quoted(name: str) -> str:
    """A name as SQLite takes it."""
    return '"' + name.replace('"', '""') + '"'
