"""Tables of files of SQLite, GeoPackages among them, as outputs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from pathlib import Path

from ....core.errors import VbasError
from ....core.language import tr
from ....core.publish.files import DISK
from ....core.publish.names import is_aside
from ....core.publish.sqlite_targets import JOURNALS, other_tables
from ....core.records.sqlite_file import quoted
from .address import DatabaseTable
from .swapping import TablePlace


class SqlitePlace(TablePlace):
    """A table of a file, which is made for it where there is none; who may read it is decided by the file."""

    def __init__(self, name: str, table: DatabaseTable, file: Path) -> None:
        super().__init__(name, table)
        self._file, self._makes_the_file = file, not file.exists()

    def held(self) -> AbstractContextManager[Sequence[str]]:
        """Tidy up what killed runs left: a file is held as such by now, and what stands there is nobody's any more."""
        return nullcontext([] if self._makes_the_file else self._tidied_up())

    def put(self) -> None:
        """Rename what is there, then the new table."""
        if self._existed:
            self._rename(self._final, self._kept)
        self._rename(self._new, self._final)

    def _put_back(self, moves: list[tuple[str, str]]) -> None:
        for old, new in moves:
            self._rename(old, new)

    def forget(self) -> list[str]:
        """Drop what was kept."""
        self._delivered = True
        self._into_the_file()
        if not self._existed:
            return []
        try:
            self._drop(self._kept)
        except VbasError as error:
            return [
                tr(
                    "What the table “{final}” held before is still in the table “{kept}” ({error}): drop it, "
                    "and what depends on it.",
                    final=self._final,
                    kept=self._kept,
                    error=error,
                )
            ]
        self._hand_on_styles()
        return []

    def discard(self) -> list[str]:
        """Drop the new table, and a file that was made for it, unless it holds tables of other outputs."""
        return super().discard() if self._file.exists() else []

    def _drop_new(self) -> None:
        super()._drop_new()
        if self._makes_the_file and not other_tables(self._file, self._new):
            for ending in ("", *JOURNALS):
                DISK.remove(self._file.with_name(self._file.name + ending), missing_ok=True)

    def _put_back_old(self, name: str) -> None:
        if self._exists(self._final):
            raise VbasError(name)
        self._rename(name, self._final)

    def _left(self) -> list[tuple[str, bool]]:
        return [(name, True) for name in sorted(self._there()) if is_aside(name)]

    def _exists(self, table: str) -> bool:
        return table.lower() in (name.lower() for name in self._there())

    def _drop(self, table: str) -> None:
        """Drop a table, even one that a GeoPackage does not list."""
        try:
            super()._drop(table)
        except VbasError:
            with self._opened() as connection:
                if _is_listed(connection, table):
                    raise
                connection.execute(" ".join(("DROP TABLE IF EXISTS", quoted(table))))

    def _there(self) -> list[str]:
        """The tables and views, by SQLite itself: QGIS does not see one that was half made or half renamed."""
        if not self._file.exists():
            return []
        with self._opened() as connection:
            rows = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
        return [str(name) for (name,) in rows]

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """The file, open. Raises VbasError where SQLite refuses something."""
        try:
            with closing(
                sqlite3.connect(DISK.uri(self._file, "mode=rw"), uri=True, isolation_level=None)
            ) as connection:
                yield connection
        except sqlite3.Error as error:
            raise VbasError.saying(
                "{name}: the database says: {first_line}", name=self._name, first_line=error
            ) from error

    def _into_the_file(self) -> None:
        """Rows that SQLite keeps in a journal beside the file go into it: whoever copies the file has all of them.

        QGIS holds the file open where it has written several tables into it, and the journal stays meanwhile.
        """
        with suppress(VbasError), self._opened() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _hand_on_styles(self) -> None:
        """Styles saved for the table that was replaced went with its name: they are for the new one."""
        if self._table.provider == "ogr":
            with suppress(VbasError), self._opened() as connection:
                connection.execute(
                    "UPDATE layer_styles SET f_table_name = ? WHERE f_table_name = ?", (self._final, self._kept)
                )


def _is_listed(connection: sqlite3.Connection, table: str) -> bool:
    """Whether a GeoPackage lists a table: without its entries there it may not go."""
    try:
        rows = connection.execute("SELECT 1 FROM gpkg_contents WHERE lower(table_name) = lower(?)", (table,))
    except sqlite3.OperationalError:  # no GeoPackage
        return False
    return rows.fetchone() is not None
