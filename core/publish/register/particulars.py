"""What is said of a release in a register: for whom it was, for which purpose, which series it belongs to, which
release it carries on, which linked tables were released with the persons, and whether it is of some people only."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from ...language import as_data
from ...plain_text import in_one_line
from ..geopackage.making import SHORT, TEXT, add_table

PARTICULARS = "vbas_told"
COLUMNS = {"release": SHORT, "what": TEXT, "text": TEXT}
SERIES, RECIPIENT, PURPOSE = "series", "recipient", "purpose"
UPDATES, UPDATE = "updates", "update"  # the number of the release that it carries on; what it is beside that
SAME_IN_ALL = as_data("the same in all")  # which quasi-identifier is the period, where classes are the same in all
LINKED = as_data("linked tables")  # the names of those that were released with the persons
OF_SOME = as_data("of some people")  # whether rows were left out, where they were
KNOWN = (SERIES, RECIPIENT, PURPOSE, UPDATES, UPDATE, SAME_IN_ALL, LINKED, OF_SOME)
ADD = "INSERT INTO vbas_told (release, what, text) VALUES (?, ?, ?)"
TAKE_OUT = ("DELETE FROM vbas_told WHERE release = ?",)
OF_RELEASE = "SELECT what, text FROM vbas_told WHERE release = ?"
OF_ALL = "SELECT DISTINCT what FROM vbas_told ORDER BY what"


def note(connection: sqlite3.Connection, release: int, particulars: Mapping[str, str]) -> None:
    """Note what is said of a release in an open register; nothing of what is empty."""
    said = {what: in_one_line(text) for what, text in particulars.items() if text.strip()}
    if not said:
        return
    if not has_particulars(connection):
        add_table(connection, PARTICULARS, COLUMNS)
    connection.executemany(ADD, ((release, what, text) for what, text in said.items()))


def particulars_of(connection: sqlite3.Connection, release: int) -> dict[str, str]:
    """What is said of a release in an open register."""
    if not has_particulars(connection):
        return {}
    return {str(what): str(text) for what, text in connection.execute(OF_RELEASE, (release,))}


def unknown_particulars(connection: sqlite3.Connection) -> list[str]:
    """What an open register says of releases that no register of this version does."""
    if not has_particulars(connection):
        return []
    return [str(what) for (what,) in connection.execute(OF_ALL) if what not in KNOWN]


def taking_particulars_out(connection: sqlite3.Connection) -> tuple[str, ...]:
    """The statements that take out of an open register what is said of a release."""
    return TAKE_OUT if has_particulars(connection) else ()


def has_particulars(connection: sqlite3.Connection) -> bool:
    """Whether anything was ever said of a release of this register."""
    return bool(connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (PARTICULARS,)).fetchone())
