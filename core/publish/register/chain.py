"""The chain of a register: an entry for whatever became of it, each with the hash of the one before.

Nobody can change, remove or put in an entry, or a release that an entry is about, unseen: the hashes no longer fit.
That the last entries were cut off is seen by whoever noted a hash, such as on the page that was signed. A register from
before its chain is taken as it is: its releases are entries “found”, and held from then on. verify/chain.py, which
shares no line with this, does the same check.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import field, replace
from pathlib import Path

from ...dataclass import dataclass
from ...language import as_data, in_turn, tr
from ...plain_text import in_one_line
from ...records.sqlite_file import quoted, reading
from ..geopackage.making import SHORT, TEXT, add_table
from .packs import PACKED, changed_packs
from .particulars import PARTICULARS

CHAIN = "vbas_chain"
IS_LISTED = "SELECT 1 FROM gpkg_contents WHERE table_name = ?"
COLUMNS = {
    "entry": SHORT,
    "time": TEXT,
    "what": TEXT,
    "number": SHORT,
    "content": TEXT,
    "released": TEXT,
    "by": TEXT,
    "previous": TEXT,
    "hash": TEXT,
}
FOUND, ADDED, APPROVED, WITHDRAWN = as_data("found"), as_data("added"), as_data("approved"), as_data("withdrawn")
POINTS_FOUND, POINTS_ADDED = as_data("points found"), as_data("points added")
POINTS_WITHDRAWN = as_data("points withdrawn")
OPENS = {FOUND: "release", ADDED: "release", POINTS_FOUND: "points", POINTS_ADDED: "points"}
ENDS = {WITHDRAWN: "release", POINTS_WITHDRAWN: "points"}
BEGINNING = ""  # the hash before the first entry
# The rows that an entry is about, column by column; titles may be changed.
RELEASE_ROWS: dict[str, Sequence[str]] = {
    "vbas_releases": (
        *("release", "time", "k", "quasi_identifiers", "levels", "bounded", "whole", "coarsened"),
        *("of_persons", "in_zones"),
    ),
    "vbas_crosswalks": ("release", "vbas_level", "area", "vbas_region"),
    "vbas_counts": ("release", "vbas_level", "vbas_region", "class", "records"),
    "vbas_values": ("release", "vbas_level", "vbas_region", "class", "field", "value", "records"),
}
# Tables that came later: where a release has no row in them, its hash is what it was before there were any.
LATER_ROWS: dict[str, Sequence[str]] = {
    PACKED: ("release", "part", "hash"),
    PARTICULARS: ("release", "what", "text"),
}
POINTS_ROWS: dict[str, Sequence[str]] = {
    "vbas_maskings": ("masking", "time", "crs"),
    "vbas_points": ("masking", "x", "y"),
}
# What somebody wrote by hand in the place of a number counts for none: the hashes tell it.
LAST = (
    "SELECT entry, hash FROM vbas_chain WHERE typeof(entry) = 'integer' AND entry < 2147483648 "
    "ORDER BY entry DESC LIMIT 1"
)
ALL = 'SELECT entry, time, what, number, content, released, "by", previous, hash FROM vbas_chain ORDER BY entry, fid'
ADD = (
    'INSERT INTO vbas_chain (entry, time, what, number, content, released, "by", previous, hash) '
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
GREATEST = (
    "SELECT coalesce(max(number), 0) FROM vbas_chain WHERE what IN (?, ?) AND typeof(number) = 'integer' "
    "AND number < 2147483648"
)
TAKE_OUT_LAST = (
    "DELETE FROM vbas_chain WHERE entry = ? AND entry = "
    "(SELECT max(entry) FROM vbas_chain WHERE typeof(entry) = 'integer' AND entry < 2147483648)"
)
SINCE_CHAINS = (PACKED, PARTICULARS)
"""Tables that no register had before it had a chain."""


@dataclass(frozen=True)
class Link:
    """An entry of the chain.

    what : what became of the register; number : of the release, or the masked points; content : the hash of its rows
    here; released : the content hash of the release as it went out, empty where it is not known; by : who
    """

    entry: int
    time: str
    what: str
    number: int
    content: str
    released: str
    by: str
    previous: str
    hash: str

    @property
    def reckoned(self) -> str:
        """The hash that the entry must have."""
        content = [self.previous, self.entry, self.time, self.what, self.number, self.content, self.released, self.by]
        return hashlib.sha256(_json(content).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Chain:
    """The entries of a register, and what does not hold of them: sentences, none where all does."""

    links: Sequence[Link] = ()
    problems: Sequence[str] = field(default_factory=tuple)

    def by(self, what: str, number: int) -> str:
        """Who did that to a release, the last to do it; empty where nobody did or said."""
        by = next((link.by for link in reversed(self.links) if (link.what, link.number) == (what, number)), "")
        return by if isinstance(by, str) else ""


def append(connection: sqlite3.Connection, what: str, number: int, time: str, by: str = "", released: str = "") -> Link:
    """Add an entry to the chain of an open register, which begins here where there is none.

    what, number : a release, or masked points, added, approved or withdrawn (before their rows are taken out)
    time : in UTC; by : who; released : the content hash of what goes out
    """
    if not has_chain(connection):
        lost = _lost_chain(connection)
        add_table(connection, CHAIN, COLUMNS)
        # Of a register whose chain somebody took out nobody can say what its releases were: they stay without entries.
        for kind, of_kind in () if lost else (("release", FOUND), ("points", POINTS_FOUND)):
            for there in _numbers(connection, kind):
                if (OPENS.get(what), number) != (kind, there):
                    _append(connection, of_kind, there, time, "", "")
    return _append(connection, what, number, time, in_one_line(by), released)


def chain_of(path: Path) -> Chain:
    """The chain of a register, looked at as a whole; one without entries where there is none yet.

    Raises InputError for a file that cannot be read.
    """
    with reading(path, "REGISTER") as connection:
        return checked(connection)


def broken_chain(path: Path) -> str:
    """The sentence on a register whose chain does not hold; empty where it does, or where there is no file yet."""
    problems = chain_of(path).problems if path.exists() else ()
    if not problems:
        return ""
    return tr(
        "REGISTER: the chain of {path} is broken, so somebody changed it by hand: {problems}. Compare it with a copy.",
        path=path,
        problems=in_turn(problems),
    )


def checked(connection: sqlite3.Connection) -> Chain:
    """The chain of an open register, looked at as a whole."""
    if not has_chain(connection):
        return Chain(problems=(tr("all of its entries are missing"),)) if _lost_chain(connection) else Chain()
    rows = connection.execute(ALL).fetchall()
    links = [Link(*row) for row in rows]
    problems, before = [], BEGINNING
    for place, link in enumerate(links, 1):
        if link.entry != place or link.previous != before or link.hash != link.reckoned:
            problems.append(tr("entry {entry:d} of the chain was changed, or one before it is missing", entry=place))
        before = link.hash
    there = {(kind, number) for kind in ("release", "points") for number in _numbers(connection, kind)}
    held, changed = _held(links), changed_packs(connection)
    for kind, number in sorted(there | held.keys()):
        content = held.get((kind, number))
        if content is None:
            problems.append(_not_in_chain(kind, number))
        elif (kind, number) not in there:
            problems.append(_missing(kind, number))
        elif content != content_of(connection, kind, number, changed):
            problems.append(_changed(kind, number))
    return Chain(links, problems)


def has_chain(connection: sqlite3.Connection) -> bool:
    """Whether a register has a chain."""
    return _has_table(connection, CHAIN)


def _has_table(connection: sqlite3.Connection, table: str) -> bool:
    return bool(connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone())


def _lost_chain(connection: sqlite3.Connection) -> bool:
    """Whether a register that has no chain had one, so that somebody took it out."""
    if any(_has_table(connection, table) for table in SINCE_CHAINS):
        return True
    return _has_table(connection, "gpkg_contents") and bool(connection.execute(IS_LISTED, (CHAIN,)).fetchone())


def next_number(connection: sqlite3.Connection) -> int:
    """The number of the next release: none is given twice, even where one was withdrawn."""
    last = connection.execute("SELECT coalesce(max(release), 0) FROM vbas_releases").fetchone()[0]
    if has_chain(connection):
        last = max(last, connection.execute(GREATEST, (FOUND, ADDED)).fetchone()[0])
    return int(last) + 1


def next_points(connection: sqlite3.Connection) -> int:
    """The number of the next masked points: none is given twice, even where some were withdrawn."""
    last = connection.execute("SELECT coalesce(max(masking), 0) FROM vbas_maskings").fetchone()[0]
    if has_chain(connection):
        last = max(last, connection.execute(GREATEST, (POINTS_FOUND, POINTS_ADDED)).fetchone()[0])
    return int(last) + 1


def content_of(connection: sqlite3.Connection, kind: str, number: int, changed: Collection[str] = ()) -> str:
    """The hash of the rows of a release, or of masked points: SHA-256 of a line for each table, and for each of its
    rows the JSON array of its cells, in the order of the lines.

    changed : the names of packs that do not have what they are named by; a release with one of them has no hash
    """
    digest = hashlib.sha256()
    of_kind = RELEASE_ROWS if kind == "release" else POINTS_ROWS
    for table, columns in {**of_kind, **(LATER_ROWS if kind == "release" else {})}.items():
        there = {row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}
        if table not in of_kind and not there:
            continue
        names = ", ".join(quoted(column) if column in there else "NULL" for column in columns)
        # Names cannot be bound: they are this program's own, and quoted.
        wanted = ("SELECT", names, "FROM", quoted(table), "WHERE", quoted(columns[0]), "= ?")
        rows = connection.execute(" ".join(wanted), (number,)).fetchall()
        if table not in of_kind and not rows:
            continue
        if table == PACKED and any(name in changed or not _has_pack(connection, name) for *_, name in rows):
            return ""
        digest.update(f"{table}\n".encode())
        for line in sorted(_json(list(row)) for row in rows):
            digest.update(f"{line}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _has_pack(connection: sqlite3.Connection, name: object) -> bool:
    return bool(connection.execute("SELECT 1 FROM vbas_packs WHERE hash = ?", (name,)).fetchone())


def _append(connection: sqlite3.Connection, what: str, number: int, time: str, by: str, released: str) -> Link:
    last = connection.execute(LAST).fetchone() or (0, BEGINNING)
    kind = OPENS.get(what, ENDS.get(what, "release"))
    link = Link(last[0] + 1, time, what, number, content_of(connection, kind, number), released, by, last[1], "")
    values = [getattr(link, name) for name in list(COLUMNS)[:-1]]
    link = replace(link, hash=link.reckoned)
    connection.execute(ADD, [*values, link.hash])
    return link


def _held(links: Sequence[Link]) -> dict[tuple[str, int], str]:
    """The content that each release and each masked points must have, by the last entry that is about it."""
    held: dict[tuple[str, int], str] = {}
    for link in links:
        if not isinstance(link.number, int):
            continue  # which its hash tells
        if link.what in OPENS:
            held[OPENS[link.what], link.number] = link.content
        elif link.what in ENDS:
            held.pop((ENDS[link.what], link.number), None)
    return held


def _numbers(connection: sqlite3.Connection, kind: str) -> Iterator[int]:
    """The numbers of the releases, or the masked points, that a register holds."""
    releases, points = "SELECT release FROM vbas_releases ORDER BY 1", "SELECT masking FROM vbas_maskings ORDER BY 1"
    for (number,) in connection.execute(releases if kind == "release" else points).fetchall():
        if isinstance(number, int):
            yield number


def _not_in_chain(kind: str, number: int) -> str:
    if kind == "release":
        return tr("release {number:d} is in the register, but not in its chain", number=number)
    return tr("masked points {number:d} are in the register, but not in its chain", number=number)


def _missing(kind: str, number: int) -> str:
    if kind == "release":
        return tr("release {number:d} is missing, and was not withdrawn", number=number)
    return tr("masked points {number:d} are missing, and were not withdrawn", number=number)


def _changed(kind: str, number: int) -> str:
    if kind == "release":
        return tr("release {number:d} was changed after it was added", number=number)
    return tr("masked points {number:d} were changed after they were added", number=number)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
