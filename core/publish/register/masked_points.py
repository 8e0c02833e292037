"""Masked points in a register: where they were shown, and nothing else of them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np

from ...arrays import to_list
from ...dataclass import dataclass
from ...errors import InputError
from ...language import tr
from ...records.sqlite_file import reading
from .chain import POINTS_ADDED, POINTS_WITHDRAWN, TAKE_OUT_LAST, Link, append, next_points
from .entry import Entry, Statement, chained, check_register, now, written_entry, written_for_good

TAKE_OUT = ("DELETE FROM vbas_points WHERE masking = ?", "DELETE FROM vbas_maskings WHERE masking = ?")


@dataclass(frozen=True, eq=False)
class ReleasedPoints:
    """Masked points that were released: their number in the register, when (UTC), and where.

    crs : the reference system as WKT; points : (n, 2) float64, coordinates in it
    """

    number: int
    time: str
    crs: str
    points: np.ndarray


def maskings_in(path: Path) -> list[ReleasedPoints]:
    """The masked points of a register, in the order they were added. Raises InputError for a file that is none."""
    with reading(path, "REGISTER") as connection:
        check_register(connection, path)
        rows = connection.execute("SELECT masking, time, crs FROM vbas_maskings ORDER BY masking").fetchall()
        return [ReleasedPoints(number, time, crs, _points(connection, number, path)) for number, time, crs in rows]


def _points(connection: sqlite3.Connection, number: int, path: Path) -> np.ndarray:
    rows = connection.execute("SELECT x, y FROM vbas_points WHERE masking = ?", (number,)).fetchall()
    try:
        return np.array(rows, float).reshape(-1, 2)
    except (TypeError, ValueError) as error:
        raise InputError.saying(
            "REGISTER: masked points {number} in {path} are damaged (a place is no number): restore the file from a "
            "copy.",
            number=number,
            path=path,
        ) from error


def new_masking(path: Path, crs: str, points: np.ndarray) -> Entry:
    """Write masked points to a register, which is made if there is none, without making them visible yet.

    crs : the reference system as WKT; points : (n, 2) float64. Raises InputError for a file that is not a register or
    that another program holds.
    """

    def write(connection: sqlite3.Connection) -> list[Statement]:
        number = next_points(connection)
        connection.execute("INSERT INTO vbas_maskings (masking, time, crs) VALUES (?, ?, ?)", (number, now(), crs))
        rows = ((number, x, y) for x, y in to_list(points))
        connection.executemany("INSERT INTO vbas_points (masking, x, y) VALUES (?, ?, ?)", rows)
        link = append(connection, POINTS_ADDED, number, now())
        return [*((statement, (number,)) for statement in TAKE_OUT), (TAKE_OUT_LAST, (link.entry,))]

    return written_entry(path, write)


def taking_points_out(path: Path, number: int, by: str = "") -> Entry:
    """Take masked points out of a register, but only once that is `put`, for good; its chain keeps that they were
    there.

    by : who withdraws them

    Raises InputError for a number that is not there, and a file that another program holds.
    """
    there = [masking.number for masking in maskings_in(path)]
    if number not in there:
        raise InputError.saying(
            "REMOVE_POINTS is {number}, but the register has the masked points {known}: give the number of some.",
            number=number,
            known=", ".join(map(str, there)) or tr("none"),
        )

    def write(connection: sqlite3.Connection) -> None:
        links.append(append(connection, POINTS_WITHDRAWN, number, now(), by))
        for statement in TAKE_OUT:
            connection.execute(statement, (number,))

    links: list[Link] = []
    entry = written_for_good(path, write, tr("The masked points could not be taken out of {path}: {error}."))
    return chained(entry, links[-1])
