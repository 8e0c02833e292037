"""The table that a destination names; refused where it cannot be swapped in."""

from __future__ import annotations

import os
import sys

from qgis.core import QgsAbstractDatabaseProviderConnection, QgsProcessingUtils, QgsProviderRegistry

from ....core.errors import InputError, first_values
from ....core.publish.names import check_file_name, check_length, check_name, check_table_name
from ....core.publish.sqlite_targets import refuse_if_closed
from .address import FILES, DatabaseTable, first_line
from .postgres import in_the_way

NEEDED = (
    QgsAbstractDatabaseProviderConnection.Capability.RenameVectorTable,
    QgsAbstractDatabaseProviderConnection.Capability.DropVectorTable,
)


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
        raise InputError.saying(
            "{name}: “{provider}” is not a database that this QGIS knows: choose a file or another database.",
            name=name,
            provider=provider,
        )
    if not table.parts.table() or (table.file is not None and not table.parts.database()):
        raise InputError.saying(
            "{name}: {text} does not name a database and a table, such as {example}.",
            name=name,
            text=text,
            example="ogr:dbname='/folder/file.gpkg' table=\"name\"",
        )
    if table.file is None:
        check_name(name, table.parts.table())
    else:
        check_table_name(name, table.parts.table())
        if not os.path.exists(table.file):  # noqa: PTH110 - that of Path fails for names that are too long
            check_file_name(name, table.file.name)
            if os.path.islink(table.file):  # noqa: PTH114 - likewise
                raise InputError.saying(
                    "{name}: {file} is a symbolic link to {path}, which is not there: give the name of the file "
                    "itself.",
                    name=name,
                    file=table.file,
                    path=os.path.realpath(table.file),
                )
    if provider == "ogr" and table.file is not None and table.file.suffix.lower() != ".gpkg":
        raise InputError.saying(
            "{name}: {file} is not a GeoPackage: tables are added to .gpkg files alone.", name=name, file=table.file
        )
    if table.file is not None and not (table.file.parent.is_dir() and (table.file.is_file() or provider == "ogr")):
        raise InputError.saying(
            "{name}: there is no database {file}: make it first or choose another place.", name=name, file=table.file
        )
    if table.file is not None and table.file.is_file():
        refuse_if_closed(table.file, name)
    if table.file is None or table.file.is_file():
        _check_connection(name, table)
    return table


def _check_connection(name: str, table: DatabaseTable) -> None:
    try:
        connection = table.connect()
        # Of other servers it is not known how a table is kept from others until it is counted.
        able = connection is not None and all(connection.capabilities() & capability for capability in NEEDED)
        able = able and table.provider in (*FILES, "postgres")
        longest, protecting = sys.maxsize, ""
        dependents: list[str] = []
        if able and table.provider == "postgres":
            longest, protecting, dependents = in_the_way(connection, table)
    except Exception as error:  # QGIS 3.22 raises a kind that it does not export
        said = first_line(error, table)
        raise InputError.saying(
            "{name}: the database cannot be reached: {first_line}.", name=name, first_line=said
        ) from None
    if not able:
        raise InputError.saying(
            "{name}: tables of “{provider}” cannot be put in their place all together with the other outputs: write "
            "into PostgreSQL, a GeoPackage or a file.",
            name=name,
            provider=table.provider,
        )
    check_length(name, table.parts.table(), longest)
    if protecting:
        raise InputError.saying(
            "{name}: the table “{table}” cannot be replaced: {reason}. Choose another table.",
            name=name,
            table=table.parts.table(),
            reason=protecting,
        )
    if dependents:
        raise InputError.saying(
            "{name}: the table “{table}” cannot be replaced, since {first} depend on it: choose another table.",
            name=name,
            table=table.parts.table(),
            first=first_values(dependents),
        )
