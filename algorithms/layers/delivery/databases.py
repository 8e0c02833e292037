"""Tables of databases as outputs: written under a random name, and swapped in with all other outputs."""

from __future__ import annotations

import os
import re
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from qgis.core import (
    QgsAbstractDatabaseProviderConnection,
    QgsDataSourceUri,
    QgsProcessingUtils,
    QgsProviderRegistry,
    QgsVectorLayer,
)

from ....core.engines.postgres_tables import standing, why_it_stays
from ....core.errors import InputError, VbasError, first_values
from ....core.language import tr
from ....core.publish.journals import JOURNALS, other_tables
from ....core.publish.names import check_file_name, check_length, check_name
from ....core.publish.names_aside import NEW, OLD, is_aside, name_aside, role_of
from ....core.records.sqlite_file import SECONDS_TO_WAIT
from ....core.records.sqlite_uri import sqlite_uri
from ....core.secrecy import without_secrets
from ..gdal_errors import silent_gdal

Found = TypeVar("Found")
# How names of tables begin that GeoPackages and SQLite keep for themselves; and where QGIS keeps styles.
RESERVED = ("gpkg", "sqlite_", "rtree_")
STYLES_TABLE = "layer_styles"
FILES = ("ogr", "spatialite")  # databases that are a file
NEEDED = (
    QgsAbstractDatabaseProviderConnection.Capability.RenameVectorTable,
    QgsAbstractDatabaseProviderConnection.Capability.DropVectorTable,
)
# One server under all its names: the moment it started, and the database.
SERVER = "SELECT pg_postmaster_start_time()::text, current_database()"
# Bytes of a name; what is longer the server cuts.
LONGEST_NAME = "SHOW max_identifier_length"
# What would keep a replaced table from being dropped, and go on showing its old rows.
DEPENDENTS = """
SELECT n.nspname, c.relname, r.ev_class::regclass::text
FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid JOIN pg_class c ON c.oid = d.refobjid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND r.ev_class <> c.oid
UNION
SELECT n.nspname, c.relname, k.conrelid::regclass::text
FROM pg_constraint k JOIN pg_class c ON c.oid = k.confrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE k.contype = 'f'
UNION
SELECT n.nspname, c.relname, d.objid::regprocedure::text
FROM pg_depend d JOIN pg_class c ON c.oid = d.refobjid OR c.reltype = d.refobjid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE d.classid = 'pg_proc'::regclass
"""


@dataclass(frozen=True)
class DatabaseTable:
    """A table of a database: prefix and uri as QGIS writes them, provider as it names the kind of database."""

    prefix: str
    provider: str
    uri: str

    @property
    def parts(self) -> QgsDataSourceUri:
        """The parts of the address."""
        return QgsDataSourceUri(self.uri)

    @property
    def schema(self) -> str:
        """The schema; empty where the database knows none."""
        return self.parts.schema()

    @property
    def file(self) -> Path | None:
        """The file, where the database is one."""
        return Path(self.parts.database()).absolute() if self.provider in FILES else None

    def named(self, table: str) -> str:
        """The destination with another table."""
        uri = self.parts
        uri.setDataSource(uri.schema(), table, uri.geometryColumn(), uri.sql(), uri.keyColumn())
        if self.file is not None:
            column = f" ({uri.geometryColumn()})" if uri.geometryColumn() else ""
            return f"{self.prefix}dbname='{uri.database()}' table=\"{table}\"{column}"
        return self.prefix + uri.uri(False)

    def connect(self) -> QgsAbstractDatabaseProviderConnection:
        """A connection to the database."""
        metadata = QgsProviderRegistry.instance().providerMetadata(self.provider)
        if self.provider == "ogr":
            return metadata.createConnection(str(self.file), {})
        if self.provider == "spatialite":
            return metadata.createConnection(f"dbname='{self.file}'", {})
        return metadata.createConnection(self.parts.connectionInfo(True), {})


def parse(name: str, text: str) -> DatabaseTable:
    """The table that a destination names. Raises InputError for what is no table that can be swapped in."""
    matched, provider, uri = QgsProcessingUtils.decodeProviderKeyAndUri(text)
    prefix = text[: len(text) - len(uri)] if matched else text[: text.index(":") + 1]
    if not matched:
        provider, uri = prefix.rstrip(":"), text[len(prefix) :]
    provider = {"postgis": "postgres"}.get(provider, provider)
    table = DatabaseTable(prefix, provider, uri)
    metadata = QgsProviderRegistry.instance().providerMetadata(provider)
    if metadata is None:
        raise InputError(
            tr(
                "{name}: “{provider}” is not a database that this QGIS knows: choose a file or another database.",
                name=name,
                provider=provider,
            )
        )
    if not table.parts.table() or (table.file is not None and not table.parts.database()):
        raise InputError(
            tr(
                "{name}: {text} does not name a database and a table, such as {example}.",
                name=name,
                text=text,
                example="ogr:dbname='/folder/file.gpkg' table=\"name\"",
            )
        )
    if table.file is None:
        check_name(name, table.parts.table())
    else:
        check_table_name(name, table.parts.table())
        if not os.path.exists(table.file):  # noqa: PTH110 - that of Path fails for names that are too long
            check_file_name(name, table.file.name)
    if provider == "ogr" and table.file is not None and table.file.suffix.lower() != ".gpkg":
        raise InputError(
            tr("{name}: {file} is not a GeoPackage: tables are added to .gpkg files alone.", name=name, file=table.file)
        )
    if table.file is not None and not (table.file.parent.is_dir() and (table.file.is_file() or provider == "ogr")):
        raise InputError(
            tr(
                "{name}: there is no database {file}: make it first or choose another place.",
                name=name,
                file=table.file,
            )
        )
    if table.file is not None and table.file.is_file():
        _check_is_writable(name, table.file)
    if table.file is None or table.file.is_file():
        _check_connection(name, table)
    return table


def check_table_name(name: str, table: str) -> None:
    """Refuse names of tables that GeoPackages and SQLite keep for themselves, or that are not read back as written.

    name : the output, for the message; table : also the name of a new GeoPackage without its ending. Raises InputError.
    """
    check_name(name, table)
    if table.lower().startswith(RESERVED) or table.lower() == STYLES_TABLE:
        raise InputError(
            tr(
                "{name}: a table cannot be called “{table}”: names that begin with {reserved} are the database's own. "
                "Choose another name.",
                name=name,
                table=table,
                reserved=first_values(RESERVED),
            )
        )


def _check_is_writable(name: str, file: Path) -> None:
    """Raise InputError where a table cannot be added to a file now, since it is locked or closed; it stays as it is."""
    try:
        with closing(
            sqlite3.connect(sqlite_uri(file, "mode=rw"), uri=True, timeout=SECONDS_TO_WAIT, isolation_level=None)
        ) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        raise InputError(
            tr(
                "{name}: no table can be added to {file} now ({error}): close it in other programs, or choose another "
                "place.",
                name=name,
                file=file,
                error=error,
            )
        ) from error


def _check_connection(name: str, table: DatabaseTable) -> None:
    try:
        connection = table.connect()
        # Of other servers it is not known how a table is kept from others until it is counted.
        able = connection is not None and all(connection.capabilities() & one for one in NEEDED)
        able = able and table.provider in (*FILES, "postgres")
        dependents, protecting, longest = [], "", sys.maxsize
        if able and table.provider == "postgres":
            longest = int(connection.executeSql(LONGEST_NAME)[0][0])
            schema = table.schema or str(connection.executeSql("SELECT current_schema()")[0][0])
            protecting = why_it_stays(connection.executeSql(standing(schema, table.parts.table())))
            rows = connection.executeSql(DEPENDENTS)
            dependents = [str(by) for of, one, by in rows if (of, one) == (schema, table.parts.table())]
    except Exception as error:  # QGIS 3.22 raises a kind that it does not export
        said = first_line(error, table)
        raise InputError(
            tr("{name}: the database cannot be reached: {first_line}.", name=name, first_line=said)
        ) from None
    if not able:
        raise InputError(
            tr(
                "{name}: tables of “{provider}” cannot be put in their place all together with the other outputs: "
                "write into PostgreSQL, a GeoPackage or a file.",
                name=name,
                provider=table.provider,
            )
        )
    check_length(name, table.parts.table(), longest)
    if protecting:
        raise InputError(
            tr(
                "{name}: the table “{table}” cannot be replaced: {reason}. Choose another table.",
                name=name,
                table=table.parts.table(),
                reason=protecting,
            )
        )
    if dependents:
        raise InputError(
            tr(
                "{name}: the table “{table}” cannot be replaced, since {first} depend on it: choose another table.",
                name=name,
                table=table.parts.table(),
                first=first_values(dependents),
            )
        )


def layer_of(address: str) -> QgsVectorLayer:
    """The table that QGIS names so, as a layer called by schema and table."""
    matched, provider, uri = QgsProcessingUtils.decodeProviderKeyAndUri(address)
    parts = QgsDataSourceUri(uri)
    return QgsVectorLayer(uri, ".".join(filter(None, (parts.schema(), parts.table()))), provider if matched else "ogr")


def server(provider: str, uri: QgsDataSourceUri) -> tuple[str, ...]:
    """What distinguishes one database of a server from all others, however its host is written."""
    if provider == "postgres":
        with suppress(Exception):  # it cannot be asked: what is written must do
            metadata = QgsProviderRegistry.instance().providerMetadata(provider)
            rows = metadata.createConnection(uri.connectionInfo(True), {}).executeSql(SERVER)
            return (provider, *map(str, rows[0]))
    return provider, uri.host().lower(), uri.port(), uri.service(), uri.database()


class TablePlace:
    """A table that was written under a name of its own, and gets its final name with all other outputs."""

    def __init__(self, name: str, table: DatabaseTable) -> None:
        self._name, self._table = name, table
        self._final = table.parts.table()
        self._schema = self._schema_of(table)
        self._new, self._kept = (name_aside(role, self._schema, self._final) for role in (NEW, OLD))
        self._makes_the_file = table.file is not None and not table.file.exists()
        self._existed = self._delivered = False
        self.begun = False  # whether anything was written under its new name

    @property
    def new(self) -> str:
        """The name that the table is written under."""
        return self._new

    @property
    def called(self) -> str:
        """The table in its place, as people name it."""
        if self._table.file is not None:
            return f"{self._table.file}, {self._final}"
        return ".".join(filter(None, (self._table.schema, self._final)))

    @property
    def staging(self) -> str:
        """The destination to be written to."""
        return self._table.named(self._new)

    def final(self, identifier: str) -> str:
        """The address of the table in its place, from that of the table as it was written."""
        return identifier.replace(self._new, self._final)

    def held(self) -> AbstractContextManager[Sequence[str]]:
        """Hold the table against other runs, and tidy up what killed ones left; gives sentences on that.

        A file is held as such by now: what stands there of other runs is nobody's any more.
        """
        return nullcontext([] if self._makes_the_file else self._tidied_up())

    def close_to_others(self) -> None:
        """Called when the table is made and empty; who may read a file is decided by the file."""

    def prepare(self) -> None:
        """See that both tables can be reached."""
        self._existed = self._exists(self._final)

    def put(self) -> None:
        """Rename what is there, then the new table."""
        if self._existed:
            self._rename(self._final, self._kept)
        self._rename(self._new, self._final)

    def check(self) -> None:
        """The database has renamed what was counted: it is the same table."""

    def undo(self) -> list[str]:
        """Rename back, as far as `put` came: the database shows how far."""
        kept: bool | None = None
        try:
            kept, new, final = (self._exists(one) for one in (self._kept, self._new, self._final))
            ours = [(self._final, self._new)] if final and not new and (kept or not self._existed) else []
            self._put_back([*ours, *([(self._kept, self._final)] if kept else [])])
        except VbasError as error:
            where = tr("look what it holds")
            if kept:
                where = tr("what it held is in the table “{kept}”, rename it", kept=self._kept)
            elif kept is None and self._existed:
                where = tr(
                    "if there is a table “{kept}”, that is what it held: rename it, in the place of what has its name "
                    "now",
                    kept=self._kept,
                )
            return [
                tr(
                    "The table “{final}” could not be put back ({error}): {where}.",
                    final=self._final,
                    error=error,
                    where=where,
                )
            ]
        return []

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
        if self._delivered or (self._table.file is not None and not self._table.file.exists()):
            return []
        try:
            if self._exists(self._new):
                self._drop(self._new)
            file = self._table.file
            if self._makes_the_file and file is not None and not other_tables(file, self._new):
                for ending in ("", *JOURNALS):
                    file.with_name(file.name + ending).unlink(missing_ok=True)
        except (VbasError, OSError) as error:
            if self.begun:
                return [
                    tr(
                        "What was written for “{final}” may still be in the table “{new}”, which nobody is to use "
                        "({error}): drop it.",
                        final=self._final,
                        new=self._new,
                        error=error,
                    )
                ]
        return []

    def _tidied_up(self) -> list[str]:
        """Drop what a killed run was writing, put back what it was replacing; sentences on that, and on what others
        left."""
        told = []
        for name, mine in self._left():
            role = role_of(name, self._schema, self._final)
            if role and mine:
                with suppress(VbasError):
                    told.append(self._tidied(name, role))
                    continue
            told.append(
                tr(
                    "There is the table “{table}” of a run of VBAS that was ended before its end ({where}): nobody is "
                    "to use it, its owner is to drop it.",
                    where=self._schema or self._table.file,
                    table=name,
                )
            )
        return told

    def _tidied(self, name: str, role: str) -> str:
        if role == OLD:
            self._put_back_old(name)
            return tr(
                "A run that was ended before its end was replacing “{final}”: it was put back.", final=self._final
            )
        self._drop(name)
        return tr(
            "A run that was ended before its end had left the table “{table}”, of what was to be “{final}”: it was "
            "dropped.",
            table=name,
            final=self._final,
        )

    def _put_back_old(self, name: str) -> None:
        """Put back what a killed run was replacing. Raises VbasError where something stands there that may be meant."""
        if self._exists(self._final):
            raise VbasError(name)
        self._rename(name, self._final)

    def _left(self) -> list[tuple[str, bool]]:
        """The tables that runs which have ended left, and whether this one may drop them."""
        there = self._run(lambda connection: [one.tableName() for one in connection.tables()])
        return [(name, True) for name in sorted(there) if is_aside(name)]

    def _schema_of(self, table: DatabaseTable) -> str:
        return table.schema

    def _into_the_file(self) -> None:
        """Rows that SQLite keeps in a journal beside the file go into it: whoever copies the file has all of them.

        QGIS holds the file open where it has written several tables into it, and the journal stays meanwhile.
        """
        if self._table.file is not None:
            with suppress(sqlite3.Error), closing(sqlite3.connect(self._table.file)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _hand_on_styles(self) -> None:
        """Styles saved for the table that was replaced went with its name: they are for the new one."""
        if self._table.provider == "ogr" and self._table.file is not None:
            with suppress(sqlite3.Error), closing(sqlite3.connect(self._table.file)) as connection, connection:
                connection.execute(
                    "UPDATE layer_styles SET f_table_name = ? WHERE f_table_name = ?", (self._final, self._kept)
                )

    def _exists(self, table: str) -> bool:
        return self._run(lambda connection: connection.tableExists(self._table.schema, table))

    def _drop(self, table: str) -> None:
        self._run(lambda connection: connection.dropVectorTable(self._table.schema, table))

    def _rename(self, old: str, new: str) -> None:
        self._run(lambda connection: connection.renameVectorTable(self._table.schema, old, new))

    def _run(self, action: Callable[[QgsAbstractDatabaseProviderConnection], Found]) -> Found:
        try:
            with silent_gdal():  # QGIS renames styles along with a table, in files too that have none
                return action(self._table.connect())
        except Exception as error:  # QGIS 3.22 raises a kind that it does not export
            said = first_line(error, self._table)
            raise VbasError(tr("{name}: the database says: {first_line}", name=self._name, first_line=said)) from None


def first_line(error: Exception, table: DatabaseTable) -> str:
    """The first line of what a database says: QGIS may put the whole address into it, a password included, and the
    statement."""
    said = str(error).strip()
    by_server = re.search(r"\[ERROR:\s*([^\n]+)", said)
    told = (by_server[1] if by_server else said.split("\n")[0]).rstrip(". ")
    return without_secrets(told, table.parts.connectionInfo(True))
