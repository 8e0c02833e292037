"""Records where they are: engines that count the profile and write the release without the records leaving them.

An engine is named by an address: a path (DuckDB) or a PostgreSQL connection. What is worked out here is the same as
anywhere else, a `Profile` and a `Plan`; the rows never come. The packages this needs are optional, and none
of them is imported before an engine is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Callable

from ..errors import InputError
from ..language import tr
from ..progress import Progress, silent
from .addresses import Address, read_address
from .engine import Engine

# By kind of address: what is shown to the user, the module of this room, and the packages that it needs.
ENGINES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "duckdb": ("DuckDB", "duckdb", ("ibis", "pyarrow", "duckdb")),
    "postgres": ("PostgreSQL", "postgres", ("ibis", "pyarrow", "adbc_driver_postgresql", "adbc_driver_manager")),
}
PACKAGES = {
    "ibis": "ibis-framework",
    "adbc_driver_postgresql": "adbc-driver-postgresql",
    "adbc_driver_manager": "adbc-driver-manager",
}
MEMORY = 2_000  # MB that an engine may use here, where it works on this machine


def missing_packages(kind: str) -> list[str]:
    """The packages that an engine needs and this Python does not have, as pip calls them."""
    return [PACKAGES.get(name, name) for name in ENGINES[kind][2] if find_spec(name) is None]


def open_engine(
    address: str | Address,
    table: str = "",
    schema: str = "",
    memory: int = MEMORY,
    progress: Progress = silent,
) -> Engine:
    """An engine that is open over one table, to be used as a context: leaving it undoes what was not published.

    address : a path, a URL, or what `read_address` made of one; table, schema : of a database; memory : MB
    progress : called while the engine works; raises to cancel.
    Raises InputError for a password in a URL, an address that is none, a missing package, and where the table cannot be
    reached.
    """
    found = read_address(address) if isinstance(address, str) else address
    title, module, _ = ENGINES[found.kind]
    missing = missing_packages(found.kind)
    if missing:
        raise InputError(
            tr(
                "CONNECTION: records in {title} need {missing}, which this Python does not have: install them "
                "with python -m pip install {packages} (docs/large-tables.md), then start again.",
                title=title,
                missing=", ".join(missing),
                packages=" ".join(missing),
            )
        )
    opened: Callable[..., Engine] = import_module(f".{module}", __name__).open_engine
    return opened(found, table, schema, memory, progress)
