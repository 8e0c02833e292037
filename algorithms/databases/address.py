"""Where records are, as a form is told: a connection of this QGIS by its name, or an address."""

from __future__ import annotations

from collections.abc import Mapping

from qgis.core import QgsAbstractProviderConnection, QgsDataSourceUri, QgsProviderRegistry

from ...core.engines.addresses import Address, read_address
from ...core.errors import InputError
from ...core.language import tr


def known_connections() -> Mapping[str, QgsAbstractProviderConnection]:
    """The PostgreSQL connections of this QGIS by name."""
    metadata = QgsProviderRegistry.instance().providerMetadata("postgres")
    return metadata.connections() if metadata is not None else {}


def check_address(given: str) -> None:
    """See that what is given is the name of a connection of QGIS, or an address without a secret, before anybody keeps
    or repeats it. Raises InputError."""
    if given not in known_connections():
        read_address(given)


def address_of(given: str) -> Address:
    """A connection of QGIS by its name, with the secrets that QGIS keeps, or an address.

    Raises InputError for an address that holds a secret or is none, and where QGIS does not open its own secrets.
    """
    known = known_connections()
    if given not in known:
        return read_address(given)
    uri = QgsDataSourceUri(known[given].uri())
    opened = uri.connectionInfo(True)
    if uri.authConfigId() and "authcfg" in opened:
        raise InputError(
            tr(
                "CONNECTION “{name}” has its password in QGIS's authentication, which did not open: enter the master "
                "password in QGIS, or without windows name the file that holds it in QGIS_AUTH_PASSWORD_FILE.",
                name=given,
            )
        )
    return Address("postgres", given, opened)
