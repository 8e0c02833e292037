"""Names of tables beside a table: what is to become it, and what it was; they tell the next run of which table."""

from __future__ import annotations

import hashlib
import re
import secrets

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
