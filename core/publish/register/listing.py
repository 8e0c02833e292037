"""What a register holds, and how a release that was never published is taken out of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...dataclass import dataclass
from ...disclosure.published import Published
from ...errors import InputError
from ...language import as_data, tr
from ...plain_text import in_one_line
from ...records.sqlite_file import reading
from .chain import ADDED, APPROVED, TAKE_OUT_LAST, WITHDRAWN, Chain, Link, append, chain_of, checked
from .entry import (
    DAMAGED,
    TAKE_OUT,
    Entry,
    Statement,
    chained,
    check_named,
    check_register,
    damaged,
    now,
    written_entry,
    written_for_good,
)
from .packs import size_of, taking_packs_out
from .particulars import PURPOSE, RECIPIENT, SERIES, UPDATE, UPDATES, particulars_of, taking_particulars_out

LISTED = (
    "SELECT release, title, time, k, quasi_identifiers, levels, "
    "(SELECT count(*) FROM vbas_counts AS c WHERE c.release = r.release), "
    "(SELECT coalesce(sum(records), 0) FROM vbas_counts AS c WHERE c.release = r.release), "
    "(SELECT group_concat(DISTINCT field) FROM vbas_values AS v WHERE v.release = r.release "
    "AND field NOT LIKE 'vbas_rows [%') "  # which is no field, see ROWS
    "FROM vbas_releases AS r ORDER BY release"
)
RENAME = "UPDATE vbas_releases SET title = ? WHERE release = ?"


@dataclass(frozen=True)
class Listed:
    """A release as a register lists it: its number there, and when it was added (UTC).

    updates : the release that it carries on, with number, title and day; update : what it is beside that one
    """

    release: int
    title: str
    time: str
    k: int
    quasi_identifiers: str
    levels: int
    counts: int
    records: int
    sensitive: str
    proposed_by: str = ""
    approved_by: str = ""
    series: str = ""
    recipient: str = ""
    purpose: str = ""
    updates: str = ""
    update: str = ""


def releases_in(path: Path) -> list[Listed]:
    """The releases of a register, in the order they were added. Raises InputError for a file that is none."""
    if not path.is_file():
        raise InputError.saying("REGISTER: there is no file {path}: name a register.", path=path)
    with reading(path, "REGISTER") as connection:
        check_register(connection, path)
        rows = connection.execute(LISTED).fetchall()
        chain = checked(connection)
        named = {row[0]: (row[1], row[2]) for row in rows}
        return [_listed(connection, row, path, chain, named) for row in rows]


def _listed(
    connection: sqlite3.Connection, row: tuple, path: Path, chain: Chain, named: Mapping[int, tuple[str, str]]
) -> Listed:
    try:
        check_named(row[0], row[1], row[2])
        release, k, levels = (int(row[at]) for at in (0, 3, 5))
        names = ", ".join(map(str, json.loads(row[4])))
        counts, records, sensitive = size_of(connection, release) or (row[6], row[7], row[8] or "")
    except DAMAGED as error:
        raise damaged(row[0], row[1], path, error) from error
    who = chain.by(ADDED, release), chain.by(APPROVED, release)
    particulars = particulars_of(connection, release)
    said = [particulars.get(what, "") for what in (SERIES, RECIPIENT, PURPOSE)]
    carried_on = [_named(particulars.get(UPDATES, ""), named), particulars.get(UPDATE, "")]
    texts = [sensitive, *who, *said, *carried_on]
    return Listed(release, row[1], row[2], k, names, levels, counts, records, *texts)


def _named(number: str, named: Mapping[int, tuple[str, str]]) -> str:
    """A release that another one carries on, by number, title and day; empty for none."""
    if not number.isdecimal():
        return ""
    title, time = named.get(int(number), ("", ""))
    if not title:
        return as_data("{number} (taken out)", number=number)
    return f"{number}: {title} ({str(time)[:10]})"


def changed_listing(rows: Sequence[Listed], release: int, name: str = "") -> list[Listed]:
    """The list of a register as it will be once a release is called `name` or, where that is empty, is taken out."""
    time = next(row.time for row in rows if row.release == release)
    named = {release: (name, time)} if name else {}
    changed = []
    for row in rows:
        if row.release == release:
            changed += [replace(row, title=name)] if name else []
        elif row.updates.startswith(f"{release}: "):
            changed.append(replace(row, updates=_named(str(release), named)))
        else:
            changed.append(row)
    return changed


def approving(path: Path, release: int, by: str) -> Entry:
    """Note in the chain of a register who approves of a release, but only once that is `put`.

    Raises InputError for a number that is not there, nobody's name, that of whoever proposed it, and a file that
    another program holds.
    """
    _check_there(path, release, "APPROVE")
    name, proposed = " ".join(by.split()), chain_of(path).by(ADDED, release)
    if not name:
        raise InputError.saying("WHO is not given: say who approves of release {release}.", release=release)
    if name.casefold() == proposed.casefold():
        raise InputError.saying(
            "Release {release} was proposed by {name}: somebody else has to approve of it.", release=release, name=name
        )

    def write(connection: sqlite3.Connection) -> list[Statement]:
        link = append(connection, APPROVED, release, now(), name)
        links.append(link)
        return [(TAKE_OUT_LAST, (link.entry,))]

    links: list[Link] = []
    entry = written_entry(path, write)
    return chained(entry, links[-1])


def _check_there(path: Path, release: int, parameter: str) -> None:
    there = [row.release for row in releases_in(path)]
    if release not in there:
        known = ", ".join(map(str, there)) or tr("none")
        raise InputError.saying(
            "{parameter} is {release}, but the register has the releases {known}: give the number of one.",
            parameter=parameter,
            release=release,
            known=known,
        )


def taking_out(path: Path, release: int, by: str = "") -> Entry:
    """Take a release out of a register, but only once that is `put`, for good; its chain keeps that it was there.

    by : who withdraws it

    Raises InputError for a number that is not there, and a file that another program holds.
    """
    _check_there(path, release, "REMOVE")

    def write(connection: sqlite3.Connection) -> None:
        links.append(append(connection, WITHDRAWN, release, now(), by))
        for statement in (*TAKE_OUT.values(), *taking_packs_out(connection), *taking_particulars_out(connection)):
            connection.execute(statement, (release,))

    links: list[Link] = []
    entry = written_for_good(path, write, tr("The release could not be taken out of {path}: {error}."))
    return chained(entry, links[-1])


def naming(path: Path, release: int, name: str) -> Entry:
    """Give a release of a register a name, but only once that is `put`; its chain takes no notice of names.

    Raises InputError for a number that is not there, no name, one that another release has, and a file that another
    program holds.
    """
    _check_there(path, release, "RENAME")
    name = in_one_line(name)
    if not name:
        raise InputError.saying("NAME is not given: say what release {release} is called.", release=release)
    same = [row for row in releases_in(path) if row.title.casefold() == name.casefold() and row.release != release]
    if same:
        raise InputError.saying(
            "NAME is “{name}”, which is what release {release} of the register is called: choose another.",
            name=name,
            release=same[0].release,
        )

    def write(connection: sqlite3.Connection) -> list[Statement]:
        before = connection.execute("SELECT title FROM vbas_releases WHERE release = ?", (release,)).fetchone()
        connection.execute(RENAME, (name, release))
        return [(RENAME, (*before, release))]

    return written_entry(path, write)


@dataclass(frozen=True, eq=False)
class Detail:
    """How areas were released, arrays over them.

    identifiers : object; releases : those that show a count of a region around the area; level : the finest level of
    such a region in any of them, from 1, and areas : the areas of the smallest such region, 0 where there is none; last
    : the number of the last such release, 0 where there is none
    """

    identifiers: np.ndarray
    releases: np.ndarray
    level: np.ndarray
    areas: np.ndarray
    last: np.ndarray


def detail_of(releases: Sequence[Published], numbers: Sequence[int], identifiers: np.ndarray | None = None) -> Detail:
    """How areas were released.

    releases, numbers : of a register; identifiers : (n,) text of the areas that are asked for, those of all releases
    where None
    """
    if identifiers is None:
        identifiers = np.array(
            list(dict.fromkeys(area for published in releases for area in published.areas.tolist())), object
        )
    position = {identifier: i for i, identifier in enumerate(identifiers.tolist())}
    n, times, last = len(identifiers), np.zeros(len(identifiers), np.int64), np.zeros(len(identifiers), np.int64)
    level, areas = (np.full(n, np.iinfo(np.int64).max, np.int64) for _ in range(2))
    for release, number in zip(releases, numbers):
        at = np.array([position.get(area, n) for area in release.areas.tolist()], np.int64)
        was_released = np.zeros(n + 1, bool)
        for height, crosswalk in enumerate(release.levels.crosswalks):
            counted = np.zeros(crosswalk.n_regions + 1, bool)
            counted[release.region[release.level == height]] = True
            counted[-1] = False  # for areas that are left out
            size = np.append(
                np.bincount(crosswalk.region_of[crosswalk.region_of >= 0], minlength=crosswalk.n_regions), 0
            )
            here = counted[crosswalk.region_of] & (at < n)
            there = at[here]
            was_released[there] = True
            level[there] = np.minimum(level[there], height + 1)
            areas[there] = np.minimum(areas[there], size[crosswalk.region_of[here]])
        times += was_released[:n]
        last[was_released[:n]] = number
    return Detail(identifiers, times, np.where(times > 0, level, 0), np.where(times > 0, areas, 0), last)
