"""What a register holds, and how a release that was never published is taken out of it."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from ...errors import InputError, VbasError
from ...language import tr
from ...records.sqlite_file import reading
from .entry import (
    SECONDS_TO_WAIT,
    TAKE_OUT,
    Entry,
    check_register,
    damaged,
    mark_changed,
)

LISTED = (
    "SELECT release, title, time, k, quasi_identifiers, levels, "
    "(SELECT count(*) FROM vbas_counts AS c WHERE c.release = r.release), "
    "(SELECT coalesce(sum(records), 0) FROM vbas_counts AS c WHERE c.release = r.release), "
    "(SELECT group_concat(DISTINCT field) FROM vbas_values AS v WHERE v.release = r.release) "
    "FROM vbas_releases AS r ORDER BY release"
)


@dataclass(frozen=True)
class Listed:
    """A release as a register lists it: its number there, and when it was added (UTC)."""

    release: int
    title: str
    time: str
    k: int
    quasi_identifiers: str
    levels: int
    counts: int
    records: int
    sensitive: str


def releases_in(path: Path) -> list[Listed]:
    """The releases of a register, in the order they were added. Raises InputError for a file that is none."""
    if not path.is_file():
        raise InputError(tr("REGISTER: there is no file {path}: name a register.", path=path))
    with reading(path, "REGISTER") as connection:
        check_register(connection, path)
        rows = connection.execute(LISTED).fetchall()
    return [_listed(row, path) for row in rows]


def _listed(row: tuple, path: Path) -> Listed:
    try:
        numbers = [int(row[at]) for at in (0, 3, 5)]
        names = ", ".join(map(str, json.loads(row[4])))
    except (ValueError, TypeError) as error:
        raise damaged(row[0], row[1], path, error) from error
    release, k, levels = numbers
    return Listed(release, row[1], row[2], k, names, levels, row[6], row[7], row[8] or "")


def taking_out(path: Path, release: int) -> Entry:
    """Take a release out of a register, but only once that is `put`, for good.

    Raises InputError for a number that is not there, and a file that another program holds.
    """
    there = [row.release for row in releases_in(path)]
    if release not in there:
        known = ", ".join(map(str, there)) or tr("none")
        raise InputError(
            tr(
                "REMOVE is {release}, but the register has the releases {known}: give the number of one.",
                release=release,
                known=known,
            )
        )
    connection = sqlite3.connect(path, timeout=SECONDS_TO_WAIT, isolation_level=None)
    entry = Entry(path, path, connection, problem=tr("The release could not be taken out of {path}: {error}."))
    try:
        connection.execute("PRAGMA secure_delete = ON")  # it was never published: nothing of it stays in the file
        connection.execute("BEGIN IMMEDIATE")
        for statement in TAKE_OUT.values():
            connection.execute(statement, (release,))
        mark_changed(connection)
    except sqlite3.Error as error:
        entry.discard()
        raise VbasError(
            tr("REGISTER: {path} cannot be written to: {error}. Close it in other programs.", path=path, error=error)
        ) from error
    return entry
