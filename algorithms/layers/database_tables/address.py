"""Which table of which database an address of QGIS names."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from qgis.core import (
    QgsAbstractDatabaseProviderConnection,
    QgsDataSourceUri,
    QgsProcessingUtils,
    QgsProviderRegistry,
    QgsVectorLayer,
)

from ....core.dataclass import dataclass
from ....core.secrecy import without_secrets

FILES = ("ogr", "spatialite")  # databases that are a file
# One server under all its names: the moment it started, and the database.
SERVER = "SELECT pg_postmaster_start_time()::text, current_database()"


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


def table_layer(address: str) -> QgsVectorLayer:
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


def first_line(error: Exception, table: DatabaseTable) -> str:
    """The first line of what a database says: QGIS may put the whole address into it, a password included, and the
    statement."""
    said = str(error).strip()
    by_server = re.search(r"\[ERROR:\s*([^\n]+)", said)
    sentence = (by_server[1] if by_server else said.split("\n")[0]).rstrip(". ")
    return without_secrets(sentence, table.parts.connectionInfo(True))
