"""Addresses of records that stay where they are, and what must not stand in them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from ..errors import InputError
from ..language import tr

FILES = (".parquet", ".pq", ".csv", ".csv.gz", ".tsv")
DATABASES = (".duckdb", ".ddb")
SECRETS = re.compile(r"(^|[\s;&?/:])(password|passwd|pwd|sslpassword|token|secret|authcfg)\s*=", re.IGNORECASE)
CONNECT = ("use_ssl", "user_id")
REFUSED = tr(
    "CONNECTION holds a password or a token, which the history of Processing would keep: take it out. PostgreSQL reads "
    "it from a connection of QGIS, from ~/.pgpass or from PGPASSFILE, Spark Connect from the environment "
    "(SPARK_CONNECT_AUTHENTICATE_TOKEN)."
)


@dataclass(frozen=True)
class Address:
    """Where records are.

    kind : a key of ENGINES; place : the path, or the address as the engine takes it, without any secret
    connection : what opens it, with the secrets it needs; never shown, not even by repr
    """

    kind: str
    place: str
    connection: str = field(repr=False)


def read_address(text: str) -> Address:
    """What an address names. Raises InputError for one that holds a secret, and for one that is none."""
    text = text.strip()
    if not text:
        raise InputError(tr("CONNECTION is empty: choose a connection of QGIS, or give the address of the records."))
    refuse_secrets(text)
    if re.match(r"(postgresql|postgres)://", text):
        return Address("postgres", text, text)
    if re.search(r"(^|\s)(dbname|service|host)\s*=", text):
        return Address("postgres", text, text)
    if re.match(r"spark://|local(-cluster)?\[", text):
        return Address("spark", text, text)
    if text.startswith("sc://"):
        return Address("connect", _only_known(text), text)
    path = re.sub(r"^duckdb://(?=/)", "", text)
    if path != text or path.lower().endswith((*FILES, *DATABASES)) or "*" in path or Path(path).is_dir():
        return Address("duckdb", path, path)
    raise InputError(
        tr(
            "CONNECTION “{text}” is neither a connection of QGIS nor an address: give a Parquet or CSV file, "
            "a folder of Parquet files, a .duckdb file, postgresql://user@host/database, or for Spark "
            "sc://host:15002 or spark://host:7077.",
            text=text,
        )
    )


def _only_known(text: str) -> str:
    """An address of Spark Connect without parameters of its own, which are sent as they are and may be secrets."""
    given = re.findall(r";([^;=]*)", text)
    unknown = [name for name in given if name and name.strip().lower() not in CONNECT]
    if unknown:
        raise InputError(
            tr(
                "CONNECTION: an address of Spark Connect may hold {known} here, and nothing else: take “{name}” out.",
                known=", ".join(CONNECT),
                name=unknown[0],
            )
        )
    return text


def refuse_secrets(text: str) -> None:
    """Raise InputError for a password or token in an address; the message does not repeat it."""
    try:
        parts = urlsplit(text) if "://" in text else None
        found = parts is not None and (
            parts.password is not None or any(SECRETS.match(f"{name}=") for name, _ in parse_qsl(parts.query))
        )
    except ValueError:  # brackets that are no address of IPv6
        found = True
    if found or SECRETS.search(text):
        raise InputError(REFUSED)


def without_secrets(text: str, connection: str) -> str:
    """A message of an engine without anything that stands in the connection as a secret."""
    values = re.findall(r"(?:password|passwd|pwd|token|secret)\s*=\s*('(?:[^'\\]|\\.)*'|[^\s;&]+)", connection, re.I)
    values += re.findall(r"://[^:/@\s]*:([^@/\s]+)@", connection)
    for value in values:
        for secret in {value, value.strip("'"), value.strip("'").replace("\\'", "'").replace("\\\\", "\\")}:
            if secret:
                text = text.replace(secret, "…")
    return text
