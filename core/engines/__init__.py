"""Records where they are: engines that count the profile and write the release without the records leaving them.

An engine is named by an address: a path (DuckDB), a PostgreSQL connection, or a cluster of Spark. What is worked out
here is the same as anywhere else, a `Profile` and a `Plan`; the rows never come. The packages this needs are optional,
and none of them is imported before an engine is opened.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Callable

from ..errors import InputError
from ..installing import is_there, pip_lines, pyarrow_needed, this_one
from ..language import all_of
from ..progress import Progress, silent
from .addresses import Address, read_address
from .engine import Engine

if TYPE_CHECKING:
    from .listing import TableThere

ALL = ("ibis", "pyarrow", "pyarrow_hotfix")
# By kind of address: what is shown to the user, the module of this room, and the packages that it needs.
ENGINES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "duckdb": ("DuckDB", "duckdb", (*ALL, "duckdb")),
    "postgres": ("PostgreSQL", "postgres", (*ALL, "adbc_driver_postgresql", "adbc_driver_manager")),
    "spark": ("Spark", "spark", (*ALL, "pyspark")),
    "connect": ("Spark", "spark", (*ALL, "pyspark", "grpc", "grpc_status")),
}
# What pip is asked for, by module.
PACKAGES = {
    "ibis": "ibis-framework>=12,<13",
    "pyarrow": pyarrow_needed(),
    "pyarrow_hotfix": "pyarrow-hotfix>=0.6",
    "duckdb": "duckdb>=1.4,<3",
    "adbc_driver_postgresql": "adbc-driver-postgresql>=1,<2",
    "adbc_driver_manager": "adbc-driver-manager>=1,<2",
    **dict.fromkeys(("pyspark", "grpc", "grpc_status"), "pyspark[connect]>=4.0.1,<4.1"),
}
MEMORY = 2_000  # MB that an engine may use here, where it works on this machine


def missing_packages(kind: str) -> list[str]:
    """The packages that an engine needs and this Python does not have, or not such as go with its numpy, as pip is
    asked for them."""
    return list(dict.fromkeys(PACKAGES[name] for name in ENGINES[kind][2] if not is_there(name)))


def open_engine(
    address: str | Address,
    table: str = "",
    schema: str = "",
    memory: int = MEMORY,
    progress: Progress = silent,
) -> Engine:
    """An engine that is open over one table, to be used as a context: leaving it undoes what was not published.

    Parameters
    ----------
    address : str or Address
        A path, a URL, or what `read_address` made of one.
    table, schema : str
        Of a database; empty for files.
    memory : int
        MB that the engine may use, where it works on this machine.
    progress : callable, optional
        Is called while the engine works; raises to cancel.

    Returns
    -------
    Engine
        Open over the table.

    Raises
    ------
    InputError
        For a password in a URL, an address that is none, a missing package, and where the table cannot be reached.

    Examples
    --------
    >>> from pathlib import Path
    >>> from vbas.core.engines import open_engine
    >>> _ = Path("records.csv").write_text("area,sex\\na,F\\nb,M\\n")
    >>> with open_engine("records.csv") as engine:
    ...     list(engine.fields)
    ['area', 'sex']
    """
    engine_address = read_address(address) if isinstance(address, str) else address
    _check_packages(engine_address.kind)
    opened: Callable[..., Engine] = import_module(f".{ENGINES[engine_address.kind][1]}", __name__).open_engine
    return opened(engine_address, table, schema, memory, progress)


def tables_there(address: Address) -> list[TableThere]:
    """The tables of a database; none of files. Raises EngineError, and InputError for a missing package."""
    _check_packages(address.kind)
    listed = getattr(import_module(".listing", __name__), f"in_{address.kind}", None)
    return listed(address) if listed else []


def _check_packages(kind: str) -> None:
    """Raises InputError where a package that an engine needs is missing."""
    missing = missing_packages(kind)
    if missing:
        raise InputError.saying(
            "CONNECTION: records in {title} need {missing}, which this Python does not have, or not in a version that "
            "goes with its numpy. Copy this into a terminal (on Windows the OSGeo4W Shell), then start again:\n{lines}",
            title=ENGINES[kind][0],
            missing=all_of(re.split("[<>=[]", package)[0] for package in missing),
            lines=pip_lines(missing, this_one()),
        )
