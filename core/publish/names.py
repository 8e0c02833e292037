"""Names that a file, a folder or a table can have on every system: what is written here is read elsewhere."""

from __future__ import annotations

import hashlib
import re
import secrets

from ..errors import InputError, first_values
from ..plain_text import visible

FORBIDDEN = '<>:"/\\|?*'  # of Windows; QGIS takes what follows a bar for the name of a layer
PORTS = (f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³")
DEVICES = frozenset(("con", "prn", "aux", "nul", "conin$", "conout$", "clock$", *PORTS))
MOST_BYTES = 255
# How names of tables begin that GeoPackages and SQLite keep for themselves; and where QGIS keeps styles.
RESERVED = ("gpkg", "sqlite_", "rtree_")
STYLES_TABLE = "layer_styles"


def check_name(output: str, name: str, as_given: str = "") -> None:
    """Refuse the name of a file, a folder or a table that programs or other systems read differently.

    output : for messages; as_given : what the user wrote, where that is more than the name. Raises InputError.
    """
    # Windows drops blanks and dots at the end; what begins with a dot is hidden elsewhere, and no name for a layer.
    if not name or set(name) & set(FORBIDDEN) or not name.isprintable() or name.strip(" .") != name:
        raise InputError.saying(
            "{output}: the name “{given}” would not be read back as it is written, here or on another system: leave "
            "out the characters {forbidden} and those that cannot be seen, and blanks or dots at its ends.",
            output=output,
            given=visible(as_given or name),
            forbidden=" ".join(FORBIDDEN),
        )


def check_file_name(output: str, name: str, as_given: str = "") -> None:
    """`check_name` of a file or folder; refuses also what is too long, and what Windows keeps for its devices."""
    check_name(output, name, as_given)
    # Windows looks at what comes before the first dot, without the blanks at its end.
    if name.partition(".")[0].rstrip(" ").lower() in DEVICES:
        raise InputError.saying(
            "{output}: “{name}” cannot be the name of a file on Windows, which keeps it for a device: choose another "
            "name.",
            output=output,
            name=name,
        )
    check_length(output, name, MOST_BYTES)


def check_length(output: str, name: str, most: int) -> None:
    """Refuse a name of more bytes than are kept where it goes, where it would be cut. Raises InputError."""
    n_bytes = len(name.encode("utf-8", "surrogateescape"))
    if n_bytes > most:
        raise InputError.saying(
            "{output}: the name “{name}…” has {n_bytes} bytes, and no more than {most} are kept: choose a shorter one.",
            output=output,
            name=visible(name[:40]),
            n_bytes=n_bytes,
            most=most,
        )


def check_table_name(name: str, table: str) -> None:
    """Refuse names of tables that GeoPackages and SQLite keep for themselves, or that are not read back as written.

    name : the output, for the message; table : also the name of a new GeoPackage without its ending. Raises InputError.
    """
    check_name(name, table)
    if table.lower().startswith(RESERVED) or table.lower() == STYLES_TABLE:
        raise InputError.saying(
            "{name}: a table cannot be called “{table}”: names that begin with {reserved} are the database's own. "
            "Choose another name.",
            name=name,
            table=table,
            reserved=first_values(RESERVED),
        )


NEW, OLD = "new", "old"
ASIDE = f"vbas_({NEW}|{OLD})_([0-9a-f]{{16}})_[0-9a-f]{{16}}"


def key_of(schema: str, table: str) -> int:
    """A number for a table, of 64 bits with a sign."""
    digest = hashlib.sha256("\0".join((schema, table)).encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def hexed(schema: str, table: str) -> str:
    """The same number as names have it."""
    return f"{key_of(schema, table) % 2**64:016x}"


def name_aside(role: str, schema: str, table: str) -> str:
    """A name that nobody can predict, for what becomes a table (NEW) or was one (OLD)."""
    return f"vbas_{role}_{hexed(schema, table)}_{secrets.token_hex(8)}"


def role_of(name: str, schema: str, table: str) -> str:
    """NEW or OLD for a name that a run on this table made; empty for any other."""
    match = re.fullmatch(ASIDE, name)
    return match[1] if match and match[2] == hexed(schema, table) else ""


def is_aside(name: str) -> bool:
    """Whether a run made this name, whatever its table."""
    return re.fullmatch(ASIDE, name) is not None
