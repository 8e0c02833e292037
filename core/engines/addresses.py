"""Addresses of records that stay where they are, and what must not stand in them."""

from __future__ import annotations

import re
from dataclasses import field
from pathlib import Path
from urllib.parse import parse_qsl, unquote

from ..dataclass import dataclass
from ..errors import InputError
from ..language import tr
from ..secrecy import HIDDEN, holds_secret

FILES = (".parquet", ".pq", ".csv", ".csv.gz", ".tsv")
DATABASES = (".duckdb", ".ddb")
# What PostgreSQL's own library knows, and what an address of key=value begins with.
BEGIN = ("dbname", "service", "host", "hostaddr", "user", "port", "passfile", "sslmode")
KNOWN = (
    *BEGIN,
    *("servicefile", "connect_timeout", "client_encoding", "options", "application_name", "fallback_application_name"),
    *("keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout", "replication"),
    *("gssencmode", "krbsrvname", "gsslib", "gssdelegation", "ssl", "sslnegotiation", "sslcompression", "sslcert"),
    *("sslkey", "sslcertmode", "sslrootcert", "sslcrl", "sslcrldir", "sslsni", "requirepeer", "require_auth"),
    *("ssl_min_protocol_version", "ssl_max_protocol_version", "min_protocol_version", "max_protocol_version"),
    *("channel_binding", "target_session_attrs", "load_balance_hosts"),
)
HOST = r"(?:\[[0-9A-Fa-f:.%]+\]|[\w.%/-]*)(?::\d*)?"
URL = re.compile(
    rf"postgres(?:ql)?://(?:(?P<user>[^\s/?#@:]*)@)?(?:{HOST})(?:,{HOST})*?(?:/(?P<database>[^\s/?#@:=]*))?"
    r"(?:\?(?P<asked>[^\s?#@]*))?"
)
PAIR = r"([a-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'(?=\s|$)|((?:\\.|[^\s'\\])(?:\\.|[^\s\\])*)?(?=\s|$))"
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
    """What an address names. Raises InputError for one that holds a secret, and for one that is none.

    Only what is read here in every part is an address: a message never repeats one that is not, since any part of it
    may be a password.
    """
    text = text.strip()
    if not text:
        raise InputError.saying("CONNECTION is empty: choose a connection of QGIS, or give the address of the records.")
    refuse_secrets(text)
    if re.match(r"postgres(ql)?:", text) or re.search(rf"(^|\s)({'|'.join(BEGIN)})\s*=", text):
        _check_postgres(text)
        return Address("postgres", text, text)
    if re.fullmatch(r"spark://[\w.,:\[\]-]+|local(-cluster)?\[[\w.,*]*\]", text):
        return Address("spark", text, text)
    if re.fullmatch(rf"sc://(?!/)(?:{HOST})/?(?:;.*)?", text):
        return Address("connect", _only_known(text), text)
    # Of a drive of Windows the slash before it is the address's: duckdb:///C:/data/people.duckdb.
    path = re.sub(r"^duckdb://(?:/(?=[A-Za-z]:[\\/])|(?=/))", "", text)
    of_files = path != text or path.lower().endswith((*FILES, *DATABASES)) or "*" in path or Path(path).is_dir()
    if of_files and "://" not in path:
        return Address("duckdb", path, path)
    raise InputError.saying(
        "CONNECTION {shown} is neither a connection of QGIS nor an address: give a Parquet or CSV file, a folder of "
        "Parquet files, a .duckdb file, postgresql://user@host/database, or for Spark sc://host:15002 or "
        "spark://host:7077.",
        shown=tr("“{value}”", value=text) if re.fullmatch(r"[^@=:;?]*|[A-Za-z]:[^@=:;?]*", text) else HIDDEN,
    )


def _check_postgres(text: str) -> None:
    """Raise InputError for an address of PostgreSQL with anything that it does not know, or that hides another one."""
    url = URL.fullmatch(text)
    pairs = parse_qsl(url["asked"] or "", keep_blank_values=True) if url else _pairs(text)
    opened = [unquote(url[part] or "") for part in ("user", "database")] if url else []
    names = [value for name, value in pairs if name in ("dbname", "user")]
    unknown = {name for name, _ in pairs} - set(KNOWN)
    if (not url and not pairs) or unknown or any(re.search(r"[:=@]|//", word) for word in [*opened, *names]):
        raise InputError.saying(
            "CONNECTION cannot be read as an address of PostgreSQL: write postgresql://user@host:port/database, or "
            "host=… port=… dbname=… user=…; it must hold no password, however it is written."
        )


def _pairs(text: str) -> list[tuple[str, str]]:
    """Names and values as libpq reads them; none where it would not."""
    if not re.fullmatch(rf"\s*(?:{PAIR}\s*)+", text):
        return []
    return [(name, re.sub(r"\\(.)", r"\1", quoted or plain)) for name, quoted, plain in re.findall(PAIR, text)]


def _only_known(text: str) -> str:
    """An address of Spark Connect without parameters of its own, which are sent as they are and may be secrets."""
    names = re.findall(r";([^;=]*)", text)
    unknown = [name for name in names if name and name.strip().lower() not in CONNECT]
    if unknown:
        raise InputError.saying(
            "CONNECTION: an address of Spark Connect may hold {known} here, and nothing else: take “{name}” out.",
            known=", ".join(CONNECT),
            name=unknown[0],
        )
    return text


def refuse_secrets(text: str) -> None:
    """Raise InputError for a password or token in an address; the message does not repeat it."""
    if holds_secret(text) or re.search(r"(^|[\s;&?/:])authcfg\s*=", text, re.IGNORECASE):
        raise InputError(REFUSED)
