"""The description of a release: datapackage.json, a Frictionless Data Package with Table Schemas.

It says what is published and how it was made, and of the records no more than the released rows do: no input's name,
path or hash, not how many records were suppressed, no seed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from ..account import Account
from ..arrays import to_list
from ..dataclass import dataclass
from ..errors import InputError
from ..language import tr
from ..records.table import HOUSEHOLDS, PERSONS
from .content_hash import content_hash, hash_of_all
from .dataset import RECORDS, REGIONS
from .table import (
    BOOLEAN,
    DATETIME,
    INTEGER,
    KEPT,
    LEVEL,
    QUASI,
    REGION,
    SENSITIVE,
    STRING,
    TYPES,
    DataField,
    DataTable,
)
from .writing import CSV, missing_of

FILE = "datapackage.json"
OURS = "vbas"  # under which all stands that Frictionless has no word for
LAYOUT = 1  # of what stands there
MOST_CATEGORIES = 500
MEDIA = {
    ".csv": "text/csv",
    ".parquet": "application/vnd.apache.parquet",
    ".gpkg": "application/geopackage+sqlite3",
    ".html": "text/html",
    ".xml": "application/xml",
    ".jsonld": "application/ld+json",
}
PAGES = ("report.html", "ddi.xml", "dcat.jsonld")  # the files that are no tables
LICENCE = re.compile(r"[-a-zA-Z0-9._]+")


@dataclass(frozen=True)
class Said:
    """What is said of a release beside its tables.

    title : of the release; version, commit : of this program; time : ISO 8601; algorithm : what made it; settings : by
    name, those that may be said; command : with these settings; licence : a name such as CC-BY-4.0, an address, or
    empty; rule : the preset that was followed, empty for none or where that is not to be said; register : the name of
    the release in the register of releases, empty for none
    """

    title: str = ""
    version: str = ""
    commit: str = ""
    time: str = ""
    algorithm: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    command: str = ""
    licence: str = ""
    rule: str = ""
    register: str = ""


def described(
    account: Account, tables: Sequence[DataTable], files: Mapping[str, Path], written: str, said: Said, name: str
) -> dict[str, Any]:
    """The content of datapackage.json but for the files that are not tables, which `with_file` adds.

    tables : of the release; files : where each was written, by its name; written : the format; name : of the folder
    """
    hashes = {table.name: content_hash(table) for table in tables}
    requirement, persons = account.requirement, [members.kind for members in account.requirement.members]
    sensitive = [shares.field for shares in requirement.shares] if requirement.asks_for_values else []
    ours: dict[str, Any] = {
        "layout": LAYOUT,
        "content_sha256": hash_of_all(hashes),
        "k": account.ask.k,
        "counts": [kind for kind in (PERSONS, HOUSEHOLDS) if kind in persons] or [RECORDS],
        "l_diversity": account.ask.l_diversity if sensitive else 1,
        "max_share": account.ask.max_share if sensitive else 100.0,
        "levels": _levels(account),
        "made_by": {
            "program": "VBAS",
            "version": said.version or None,
            "commit": said.commit or None,  # where nobody knows: a copy without its history
            **{
                key: value
                for key, value in {
                    "algorithm": said.algorithm,
                    "settings": dict(said.settings),
                    "command": said.command,
                }.items()
                if value
            },
        },
    }
    if account.nested:
        ours["disclosure"] = account.ask.disclosure
    linked = () if account.rows is None else account.rows.linked
    if linked:
        ours["linked"] = [
            {"table": rows.name, "count_known": rows.count_known, "rows_known": rows.rows_known, "k": rows.k}
            for rows in linked
        ]
    if said.register:
        ours["register"] = said.register
    if said.rule:
        ours["rule"] = said.rule
    package: dict[str, Any] = {
        "profile": "data-package",
        "name": slug(name),
        "title": said.title or (tr("Nested release") if account.nested else tr("Release of records")),
        "description": tr(
            "Person records whose area is replaced by a region, released so that at least {k} share the region and all "
            "quasi-identifiers. Records that too few share may have been left out; whether any were is not said here.",
            k=account.ask.k,
        ),
    }
    if said.time:
        package["created"] = said.time
    if said.licence:
        package["licenses"] = [_licence(said.licence)]
    resources = [_resource(table, files[table.name], written, hashes[table.name]) for table in tables]
    return {**package, "resources": resources, OURS: ours}


def with_file(package: dict[str, Any], name: str, file: Path, title: str) -> dict[str, Any]:
    """The description with a file that is no table, such as a page, or shapes beside a table."""
    resource = {"name": name, "title": title, **_of_file(file)}
    return {**package, "resources": [*package["resources"], resource]}


def name_of_shapes(table: str) -> str:
    """The name of the file with a table's shapes, where they stand beside it."""
    return f"{table}-shapes"


def file_hash(file: Path, check: Callable[[], None] = lambda: None) -> str:
    """SHA-256 of the bytes of a file, which may be larger than the memory. check : raises to cancel. Raises OSError."""
    digest = hashlib.sha256()
    with file.open("rb") as read:
        while chunk := read.read(1 << 20):
            check()
            digest.update(chunk)
    return digest.hexdigest()


def fields_of(resource: Mapping[str, Any]) -> list[DataField]:
    """The fields of a table as its resource describes them. Raises InputError for what no schema of ours is."""
    try:
        fields = [
            DataField(
                str(field["name"]),
                str(field["type"]),
                str(field.get("title", "")),
                str(field.get("description", "")),
                str(field.get("unit", "")),
                str(field.get("role", "")),
                int(field.get("coarser", 0)),
            )
            for field in resource["schema"]["fields"]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError.saying(
            "{file} has no schema that can be read: {error}", file=FILE, error=repr(error)
        ) from error
    unknown = [field.type for field in fields if field.type not in TYPES]
    if unknown:
        raise InputError.saying("{file} has fields of a type that is not known: {type}.", file=FILE, type=unknown[0])
    return fields


def slug(name: str) -> str:
    """The name of a folder as data packages have names."""
    return re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-._") or "release"


def _resource(table: DataTable, file: Path, written: str, content: str) -> dict[str, Any]:
    resource: dict[str, Any] = {
        "name": table.name,
        "title": table.title,
        "description": table.description,
        "profile": "tabular-data-resource",
        **_of_file(file),
        "schema": _schema(table, written),
        "rows": len(table),
        "content_sha256": content,
    }
    if written == CSV:
        resource["encoding"] = "utf-8"
        resource["dialect"] = {"delimiter": ",", "lineTerminator": "\n", "quoteChar": '"', "doubleQuote": True}
    if table.name == REGIONS and table.crs is not None:
        resource["crs"] = table.crs.name or table.crs.wkt
    return resource


def _of_file(file: Path) -> dict[str, Any]:
    return {
        "path": file.name,
        "format": file.suffix.lstrip("."),
        "mediatype": MEDIA.get(file.suffix, "application/octet-stream"),
        "bytes": file.stat().st_size,
        "hash": f"sha256:{file_hash(file)}",
    }


def _schema(table: DataTable, written: str) -> dict[str, Any]:
    fields = [_field(field, table) for field in table.fields]
    keys = [column.name for column in table.fields if column.role in (LEVEL, REGION)] if table.name == REGIONS else []
    schema: dict[str, Any] = {"fields": fields, "missingValues": [missing_of(table) if written == CSV else ""]}
    if table.name == RECORDS:
        places = [column.name for column in table.fields if column.role in (LEVEL, REGION)]
        schema["foreignKeys"] = [{"fields": places, "reference": {"resource": REGIONS, "fields": places}}]
    return {**schema, "primaryKey": keys} if keys else schema


def _field(field: DataField, table: DataTable) -> dict[str, Any]:
    described: dict[str, Any] = {"name": field.name, "type": field.type, "title": field.title}
    if field.type == DATETIME:
        described["format"] = "any"
    for name in ("description", "unit", "role", "coarser"):
        if getattr(field, name):
            described[name] = getattr(field, name)
    values = [value for value in to_list(table.column(field.name).categories) if value is not None]
    constraints: dict[str, Any] = {}
    if field.role in (LEVEL, REGION):
        constraints["required"] = table.name != "crosswalk"
    known = field.role in (QUASI, SENSITIVE, LEVEL) or (field.role == KEPT and field.type in (STRING, BOOLEAN))
    if known and field.type in (STRING, INTEGER, BOOLEAN) and 0 < len(values) <= MOST_CATEGORIES:
        constraints["enum"] = values
    return {**described, "constraints": constraints} if constraints else described


def _levels(account: Account) -> list[dict[str, Any]]:
    """Each level, the finest first: how many regions it has, and what it shows of the quasi-identifiers."""
    says = account.plan.values_of_levels
    return [
        {"level": level + 1, "regions": crosswalk.n_regions, **({"values": says[level]} if says else {})}
        for level, crosswalk in enumerate(account.levels.crosswalks)
    ]


def _licence(text: str) -> dict[str, str]:
    if "://" in text:
        return {"path": text}
    return {"name": text} if LICENCE.fullmatch(text) else {"name": slug(text), "title": text}
