#!/usr/bin/env python3
"""Verify the chain of a register of releases: python3 chain.py REGISTER.gpkg [--entry HASH]

A register that VBAS for QGIS keeps has an entry for each release that was added, approved of or withdrawn, with the
hash of the entry before. This program shares no line with the one that wrote it. It works out all hashes again, of the
entries and of the releases that they are about, and prints a line per claim. Whoever noted the hash of an entry, such
as that on the page that was signed, gives it as --entry: so entries that were cut off at the end, or a chain made anew,
are seen.

Exit code: 0 all claims hold; 1 one does not; 2 there is no chain. It needs Python 3.9 and nothing else.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from io import TextIOWrapper
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

HOLDS, FAILS, UNSEEN = "holds", "does not hold", "not looked at"
OPENED_BY = {"found": "release", "added": "release", "points found": "points", "points added": "points"}
ENDED_BY = {"withdrawn": "release", "points withdrawn": "points"}
# What a release, and masked points, are in the register: tables, and those of their columns that are hashed, in order.
# The first column has the number. A title may be changed; columns that are missing count as null.
HASHED = {
    "release": {
        "vbas_releases": "release time k quasi_identifiers levels bounded whole coarsened of_persons in_zones",
        "vbas_crosswalks": "release vbas_level area vbas_region",
        "vbas_counts": "release vbas_level vbas_region class records",
        "vbas_values": "release vbas_level vbas_region class field value records",
    },
    "points": {"vbas_maskings": "masking time crs", "vbas_points": "masking x y"},
}
# What a release has in packs, where it has any: their names, each the SHA-256 of the bytes of a pack.
PACKED = "release part hash"
COLUMNS = "fid entry time what number content released by previous hash"  # of the chain
TOLD = "release what text"  # what is said of a release, where anything is
Claim = tuple[str, str, str]
Row = dict[str, Any]


def line_of(cells: list[Any]) -> str:
    return json.dumps(cells, ensure_ascii=False, separators=(",", ":"), default=str)


def rows_of(register: sqlite3.Connection, table: str) -> list[Row]:
    """All rows of a table, each by the names of its columns."""
    found = register.execute(f'SELECT * FROM "{table}"')
    names = [column[0] for column in found.description]
    return [dict(zip(names, row)) for row in found]


def contents(register: sqlite3.Connection) -> dict[tuple[str, Any], str]:
    """The hash of each release, and of each masked points, as they are in the register now."""
    texts: dict[tuple[str, Any], str] = {}
    for kind, tables in HASHED.items():
        first = next(iter(tables))
        key = tables[first].split()[0]
        numbers = [row[key] for row in rows_of(register, first)]
        lines: dict[Any, list[str]] = {number: [] for number in numbers}
        for table, columns in tables.items():
            of: dict[Any, list[str]] = {number: [] for number in numbers}
            for row in rows_of(register, table):
                if row[key] in of:
                    of[row[key]].append(line_of([row.get(column) for column in columns.split()]))
            for number in numbers:
                lines[number] += [table, *sorted(of[number])]
        if kind == "release":
            for more in (packed_in(register, numbers), told_in(register, numbers)):
                for number, further in more.items():
                    lines[number] += further
        for number in numbers:
            texts[kind, number] = "".join(f"{line}\n" for line in lines[number])
    return {key: hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for key, text in texts.items()}


def packed_in(register: sqlite3.Connection, numbers: list[Any]) -> dict[Any, list[str]]:
    """Further lines of releases that have packs; of a pack that is missing or was changed, a line that no entry has."""
    if not has_table(register, "vbas_packed"):
        return {}
    whole = {row["hash"] for row in rows_of(register, "vbas_packs") if row["hash"] == sha256_of(row["content"])}
    found: dict[Any, list[str]] = {}
    for row in rows_of(register, "vbas_packed"):
        if row["release"] in numbers:
            line = line_of([row.get(column) for column in PACKED.split()])
            found.setdefault(row["release"], []).append(line if row["hash"] in whole else f"{line} changed")
    return {number: ["vbas_packed", *sorted(lines)] for number, lines in found.items()}


def told_in(register: sqlite3.Connection, numbers: list[Any]) -> dict[Any, list[str]]:
    """Further lines of releases of which something is said."""
    found: dict[Any, list[str]] = {}
    if has_table(register, "vbas_told"):
        for row in rows_of(register, "vbas_told"):
            if row["release"] in numbers:
                found.setdefault(row["release"], []).append(line_of([row.get(column) for column in TOLD.split()]))
    return {number: ["vbas_told", *sorted(lines)] for number, lines in found.items()}


def address(path: PurePath) -> str:
    """A file as SQLite is told of it: one of a network drive of Windows has its server in the path, //server/share/…"""
    place = path.as_posix()
    return "file://" + quote(place if place.startswith("/") else f"/{place}", safe="/:")


def has_table(register: sqlite3.Connection, table: str) -> bool:
    return any(row["name"] == table for row in rows_of(register, "sqlite_master"))


def sha256_of(content: Any) -> str:
    return hashlib.sha256(content).hexdigest() if isinstance(content, bytes) else ""


def verified(file: Path, noted: str = "", package: dict[str, Any] | None = None) -> Iterator[Claim]:
    """Every claim with whether it holds. noted : the hash of an entry; package : of a release that went out, what
    describes it"""
    try:
        with closing(sqlite3.connect(f"{address(file.resolve())}?mode=ro", uri=True)) as register:
            rows = [{column: row[column] for column in COLUMNS.split()} for row in rows_of(register, "vbas_chain")]
            chain = sorted(rows, key=lambda row: (row["entry"], row["fid"]))
            found = contents(register)
            kept = {f"release {row['release']}": row for row in rows_of(register, "vbas_releases")}
    except (sqlite3.Error, OSError, RuntimeError, KeyError, TypeError) as error:
        yield "chain", UNSEEN, f"{file.name} has no chain that can be read ({error})"
        return
    wrong, before = [], ""
    told: dict[tuple[str, Any], str] = {}
    for place, row in enumerate(chain, 1):
        cells = [before, place, *(row[column] for column in ("time", "what", "number", "content", "released", "by"))]
        reckoned = hashlib.sha256(line_of(cells).encode("utf-8", "surrogatepass")).hexdigest()
        if (row["entry"], row["previous"], row["hash"]) != (place, before, reckoned):
            wrong.append(str(place))
        before = row["hash"]
        if row["what"] in OPENED_BY:
            told[OPENED_BY[row["what"]], row["number"]] = row["content"]
        elif row["what"] in ENDED_BY:
            told.pop((ENDED_BY[row["what"]], row["number"]), None)
    yield judged("chain", not wrong, f"{len(chain)} entries, the last {before}", f"broken at {', '.join(wrong)}")
    changed = sorted(
        {
            f"{kind} {number}"
            for kind, number in told.keys() | found.keys()
            if told.get((kind, number)) != found.get((kind, number))
        }
    )
    yield judged("releases of the register", not changed, "they are those of the chain", ", ".join(changed))
    if noted:
        there = any(row["hash"] == noted for row in chain)
        yield judged("entry", there, "the chain has the hash that was noted", "no entry has the hash that was noted")
    if package is not None:
        yield from claims_of_release(chain, kept, package)


def claims_of_release(chain: list[Row], kept: dict[str, Row], package: dict[str, Any]) -> Iterator[Claim]:
    """That a release that went out is the one of the register: its content, its k and its quasi-identifiers; kept : the
    rows of all that are there"""
    ours = package["vbas"]
    name, claims = ours.get("register"), ("release in the register", "k and quasi-identifiers in the register")
    if not name:
        yield claims[0], UNSEEN, "the release does not say which one of a register it is"
        return
    about = [row for row in chain if f"release {row['number']}" == name]
    of = [row["released"] for row in about if row["what"] == "added"]
    same, says = of[-1:] == [ours.get("content_sha256")], f"{name} is in the chain, with this content"
    if about and about[-1]["what"] == "withdrawn":
        yield claims[0], FAILS, f"{name} was taken out of the register, so that later releases are not held against it"
        return
    if of[-1:] == [""]:
        yield claims[0], UNSEEN, f"{name} is in the chain, which does not say with which content"
    else:
        yield judged(claims[0], same, says, f"{name} is not in the chain, or with another content")
    try:
        row = kept[name]
        fields = [
            field for one in package["resources"] if one["name"] == "records" for field in one["schema"]["fields"]
        ]
        names = {field["name"] for field in fields if field.get("role") == "quasi-identifier"}
        wanted = set(json.loads(row["quasi_identifiers"]))
        told = f"k of {ours['k']}, {', '.join(sorted(names))}"
        kept_there = f"k of {row['k']}, {', '.join(sorted(wanted))}"
        yield judged(claims[1], (int(ours["k"]), names) == (row["k"], wanted), told, f"{told}, not {kept_there}")
    except (KeyError, TypeError, ValueError) as error:
        yield claims[1], UNSEEN, f"what it rests on cannot be read ({error})"


def judged(name: str, holds: bool, good: str, bad: str) -> Claim:
    return name, HOLDS if holds else FAILS, good if holds else bad


def main() -> int:
    # Names that the code page of a Windows system lacks are written by their numbers.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("register", type=Path, metavar="REGISTER.gpkg")
    parser.add_argument("--entry", default="", metavar="HASH", help="the hash of an entry that was noted")
    given = parser.parse_args()
    claims = list(verified(given.register, given.entry))
    for name, status, found in claims:
        print(f"{status:<15} {name}: {found}")
    statuses = {status for _, status, _ in claims}
    return 1 if FAILS in statuses else 2 if UNSEEN in statuses else 0


if __name__ == "__main__":
    raise SystemExit(main())
