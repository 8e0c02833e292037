"""The file of a register: its tables, and how it is changed all at once or not at all."""

from __future__ import annotations

import secrets
import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Callable

from osgeo import gdal, ogr

from ...core.errors import InputError, VbasError
from ...core.language import tr
from ..layers.gdal_errors import told_to_handlers

RELEASES, CROSSWALKS, COUNTS, VALUES = "vbas_releases", "vbas_crosswalks", "vbas_counts", "vbas_values"
MASKINGS, POINTS = "vbas_maskings", "vbas_points"
TABLES = {
    RELEASES: {
        "release": ogr.OFTInteger,
        "title": ogr.OFTString,
        "time": ogr.OFTString,
        "k": ogr.OFTInteger,
        "quasi_identifiers": ogr.OFTString,
        "levels": ogr.OFTInteger,
        "bounded": ogr.OFTInteger,
        "whole": ogr.OFTInteger,
        "coarsened": ogr.OFTString,
    },
    CROSSWALKS: {
        "release": ogr.OFTInteger,
        "vbas_level": ogr.OFTInteger,
        "area": ogr.OFTString,
        "vbas_region": ogr.OFTInteger64,
    },
    COUNTS: {
        "release": ogr.OFTInteger,
        "vbas_level": ogr.OFTInteger,
        "vbas_region": ogr.OFTInteger64,
        "class": ogr.OFTString,
        "records": ogr.OFTInteger64,
    },
    VALUES: {
        "release": ogr.OFTInteger,
        "vbas_level": ogr.OFTInteger,
        "vbas_region": ogr.OFTInteger64,
        "class": ogr.OFTString,
        "field": ogr.OFTString,
        "value": ogr.OFTString,
        "records": ogr.OFTInteger64,
    },
    MASKINGS: {"masking": ogr.OFTInteger, "time": ogr.OFTString, "crs": ogr.OFTString},
    POINTS: {"masking": ogr.OFTInteger, "x": ogr.OFTReal, "y": ogr.OFTReal},
}
SECONDS_TO_WAIT = 5.0


@dataclass(eq=False)
class Entry:
    """A change of a register, such as one more release, that is made only once `finish` is called.

    problem : what to say where it cannot be made, with places for the file and the error
    """

    path: Path
    staged: Path
    connection: sqlite3.Connection
    problem: str = tr("The release was written, but could not be added to {path}: {error}.")

    def finish(self) -> None:
        """Make the change. Raises VbasError."""
        try:
            self.connection.execute("COMMIT")
            self.connection.close()
            if self.staged != self.path:
                if self.path.exists():
                    raise VbasError(
                        tr("REGISTER: another run has made {path} meanwhile: add this release again.", path=self.path)
                    )
                self.staged.rename(self.path)
        except (sqlite3.Error, OSError) as error:
            raise VbasError(self.problem.format(path=self.path, error=error)) from error

    def close(self) -> None:
        """Take back what was not finished."""
        with suppress(sqlite3.Error):
            self.connection.close()
        if self.staged != self.path:
            for ending in ("", "-journal", "-wal", "-shm"):
                self.staged.with_name(self.staged.name + ending).unlink(missing_ok=True)


def written_entry(path: Path, write: Callable[[sqlite3.Connection], None]) -> Entry:
    """Write to a register, which is made if there is none, without making it visible yet.

    Raises InputError for a file that is not a register or that another program holds, and what `write` raises.
    """
    staged = path
    if not path.exists():
        if not path.parent.is_dir() or path.suffix.lower() != ".gpkg":
            raise InputError(
                tr("REGISTER: {path} cannot be made: name a .gpkg file in a folder that is there.", path=path)
            )
        staged = path.with_name(f".vbas-{secrets.token_hex(8)}.gpkg")
        _make(staged)
    connection = sqlite3.connect(staged, timeout=SECONDS_TO_WAIT, isolation_level=None)
    entry = Entry(path, staged, connection)
    try:
        connection.execute("BEGIN IMMEDIATE")
        check_register(connection, path)
        write(connection)
        mark_changed(connection)
    except sqlite3.Error as error:
        entry.close()
        raise InputError(
            tr("REGISTER: {path} cannot be written to: {error}. Close it in other programs.", path=path, error=error)
        ) from error
    except VbasError:
        entry.close()
        raise
    return entry


def now() -> str:
    """The time in UTC, as a register notes it."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def mark_changed(connection: sqlite3.Connection) -> None:
    """Tell readers of the GeoPackage that it has changed."""
    last = connection.execute("SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now')").fetchone()[0]
    connection.execute("UPDATE gpkg_contents SET last_change = ?", (last,))


@told_to_handlers()
def _make(path: Path) -> None:
    """An empty register."""
    dataset = gdal.GetDriverByName("GPKG").Create(str(path), 0, 0, 0, gdal.GDT_Unknown)
    if dataset is None:
        raise InputError(tr("REGISTER: {parent} cannot be written to: choose another folder.", parent=path.parent))
    for name, fields in TABLES.items():
        layer = dataset.CreateLayer(name, None, ogr.wkbNone, ["ASPATIAL_VARIANT=GPKG_ATTRIBUTES"])
        for field, kind in fields.items():
            layer.CreateField(ogr.FieldDefn(field, kind))
    layer = dataset = None  # GDAL writes the file as it lets go


def check_register(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database that is not a register. Raises InputError."""
    for name, fields in TABLES.items():
        found = {row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (name,))}
        if not set(fields) <= found:
            raise InputError(
                tr(
                    "REGISTER: {path} is not a register of releases: it lacks the table “{name}” as the "
                    "register has it. Name a register, or a new file.",
                    path=path,
                    name=name,
                )
            )


def damaged(number: object, title: object, path: Path, error: Exception) -> InputError:
    """What is said of a release in a register that cannot be read; only sentences of our own say why."""
    said = str(error) if isinstance(error, InputError) else tr("it holds what a register never holds")
    return InputError(
        tr(
            "REGISTER: release {number} (“{title}”) in {path} is damaged ({error}): restore the file from a copy.",
            number=number,
            title=title,
            path=path,
            error=said,
        )
    )
