"""The register: a GeoPackage of what was published, and of nothing else.

It holds a row per release, the region of each area at each level, the counts that are shown, and of sensitive fields
that are released how many people of each count have which value: no record, and no count that is suppressed. So it is
no more sensitive than the releases themselves.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
from osgeo import gdal, ogr

from ...core.arrays import to_list
from ...core.crosswalk import LEFT_OUT, Crosswalk
from ...core.errors import InputError, VbasError
from ...core.levels import Levels
from ...core.records.sqlite_file import reading
from ...core.releases.published import Published
from ...core.releases.values import Values

RELEASES, CROSSWALKS, COUNTS, VALUES = "vbas_releases", "vbas_crosswalks", "vbas_counts", "vbas_values"
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
}
READ = {
    RELEASES: "SELECT release, title, k, quasi_identifiers, levels, bounded, whole, coarsened FROM vbas_releases "
    "ORDER BY release",
    CROSSWALKS: "SELECT vbas_level, area, vbas_region FROM vbas_crosswalks WHERE release = ? ORDER BY fid",
    COUNTS: "SELECT vbas_level, vbas_region, class, records FROM vbas_counts WHERE release = ? ORDER BY fid",
    VALUES: "SELECT vbas_level, vbas_region, class, field, value, records FROM vbas_values WHERE release = ? "
    "ORDER BY fid",
}
ADD = {
    RELEASES: "INSERT INTO vbas_releases (release, title, time, k, quasi_identifiers, levels, bounded, whole, "
    "coarsened) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    CROSSWALKS: "INSERT INTO vbas_crosswalks (release, vbas_level, area, vbas_region) VALUES (?, ?, ?, ?)",
    COUNTS: "INSERT INTO vbas_counts (release, vbas_level, vbas_region, class, records) VALUES (?, ?, ?, ?, ?)",
    VALUES: "INSERT INTO vbas_values (release, vbas_level, vbas_region, class, field, value, records) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)",
}
# Registers made before quasi-identifiers could be shown coarser do not have the column: all are shown as they are.
READ_BEFORE_LEVELS = (
    "SELECT release, title, k, quasi_identifiers, levels, bounded, whole, NULL FROM vbas_releases ORDER BY release"
)
SECONDS_TO_WAIT = 5.0


def read_register(path: Path) -> list[Published]:
    """All releases of a register, in the order they were added; none where there is no file yet.

    Raises InputError for a file that is not a register, is damaged, or holds counts below k.
    """
    if not path.exists():
        return []
    with reading(path, "REGISTER") as connection:
        check_register(connection, path)
        read = READ[RELEASES] if _has_levels(connection) else READ_BEFORE_LEVELS
        found = [_release(connection, row, path) for row in connection.execute(read).fetchall()]
    return found


@dataclass(eq=False)
class Entry:
    """A change of a register, such as one more release, that is made only once `finish` is called.

    problem : what to say where it cannot be made, before the name of the file
    """

    path: Path
    staged: Path
    connection: sqlite3.Connection
    problem: str = "The release was written, but could not be added to"

    def finish(self) -> None:
        """Make the change. Raises VbasError."""
        try:
            self.connection.execute("COMMIT")
            self.connection.close()
            if self.staged != self.path:
                if self.path.exists():
                    raise VbasError(f"REGISTER: another run has made {self.path} meanwhile: add this release again.")
                self.staged.rename(self.path)
        except (sqlite3.Error, OSError) as error:
            raise VbasError(f"{self.problem} {self.path}: {error}.") from error

    def close(self) -> None:
        """Take back what was not finished."""
        with suppress(sqlite3.Error):
            self.connection.close()
        if self.staged != self.path:
            for ending in ("", "-journal", "-wal", "-shm"):
                self.staged.with_name(self.staged.name + ending).unlink(missing_ok=True)


def new_entry(path: Path, release: Published, n_earlier: int) -> Entry:
    """Write a release to a register, which is made if there is none, without making it visible yet.

    n_earlier : the releases it was held against. Raises InputError for a file that is not a register, that another
    program holds, or to which another run has added a release meanwhile.
    """
    staged = path
    if not path.exists():
        if not path.parent.is_dir() or path.suffix.lower() != ".gpkg":
            raise InputError(f"REGISTER: {path} cannot be made: name a .gpkg file in a folder that is there.")
        staged = path.with_name(f".vbas-{secrets.token_hex(8)}.gpkg")
        _make(staged)
    connection = sqlite3.connect(staged, timeout=SECONDS_TO_WAIT, isolation_level=None)
    entry = Entry(path, staged, connection)
    try:
        connection.execute("BEGIN IMMEDIATE")
        check_register(connection, path)
        if connection.execute("SELECT count(*) FROM vbas_releases").fetchone()[0] != n_earlier:
            raise InputError(f"REGISTER: another run has added a release to {path} meanwhile: run again.")
        _add(connection, release)
    except sqlite3.Error as error:
        entry.close()
        raise InputError(f"REGISTER: {path} cannot be written to: {error}. Close it in other programs.") from error
    except VbasError:
        entry.close()
        raise
    return entry


def _add(connection: sqlite3.Connection, release: Published) -> None:
    """Add a release to an open register."""
    number = connection.execute("SELECT coalesce(max(release), 0) + 1 FROM vbas_releases").fetchone()[0]
    time = datetime.now(timezone.utc).isoformat(timespec="seconds")
    names = json.dumps(list(release.quasi_identifiers), ensure_ascii=False)
    flags = (int(release.bounded), int(release.whole))
    coarsened = json.dumps(dict(release.coarsened), ensure_ascii=False)
    if not _has_levels(connection):
        connection.execute("ALTER TABLE vbas_releases ADD COLUMN coarsened TEXT")
    row = (number, f"release {number}", time, release.k, names, len(release.levels), *flags, coarsened)
    connection.execute(ADD[RELEASES], row)
    for level, crosswalk in enumerate(release.levels.crosswalks):
        numbers = [*crosswalk.numbers.tolist(), None]  # the last one is for areas that are left out
        regions = (numbers[region] for region in crosswalk.region_of.tolist())
        areas = release.areas.tolist()
        connection.executemany(
            ADD[CROSSWALKS], ((number, level + 1, area, region) for area, region in zip(areas, regions))
        )
    rows = list(_count_rows(number, release))
    connection.executemany(ADD[COUNTS], rows)
    for values in release.sensitive:
        connection.executemany(
            ADD[VALUES],
            (
                (*rows[label][:-1], values.field, values.categories[value], records)
                for label, value, records in zip(*map(to_list, (values.label, values.value, values.records)))
            ),
        )
    mark_changed(connection)


def mark_changed(connection: sqlite3.Connection) -> None:
    """Tell readers of the GeoPackage that it has changed."""
    last = connection.execute("SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now')").fetchone()[0]
    connection.execute("UPDATE gpkg_contents SET last_change = ?", (last,))


def _count_rows(number: int, release: Published) -> Iterable[tuple[object, ...]]:
    classes = [json.dumps(list(values), ensure_ascii=False) for values in release.values_of_classes()]
    shown_as = [crosswalk.numbers.tolist() for crosswalk in release.levels.crosswalks]
    columns = (release.level, release.region, release.class_of, release.records)
    for level, region, class_of, records in zip(*(one.tolist() for one in columns)):
        yield number, level + 1, shown_as[level][region], classes[class_of], records


def _make(path: Path) -> None:
    """An empty register."""
    dataset = gdal.GetDriverByName("GPKG").Create(str(path), 0, 0, 0, gdal.GDT_Unknown)
    if dataset is None:
        raise InputError(f"REGISTER: {path.parent} cannot be written to: choose another folder.")
    for name, fields in TABLES.items():
        layer = dataset.CreateLayer(name, None, ogr.wkbNone, ["ASPATIAL_VARIANT=GPKG_ATTRIBUTES"])
        for field, kind in fields.items():
            layer.CreateField(ogr.FieldDefn(field, kind))
    layer = dataset = None  # GDAL writes the file as it lets go


def check_register(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database that is not a register. Raises InputError."""
    for name, fields in TABLES.items():
        found = {row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (name,))}
        if not set(fields) - {"coarsened"} <= found:
            raise InputError(
                f"REGISTER: {path} is not a register of releases: it lacks the table “{name}” as the register has it. "
                "Name a register, or a new file."
            )


def _has_levels(connection: sqlite3.Connection) -> bool:
    """Whether a register says at which levels quasi-identifiers are shown."""
    columns = connection.execute("SELECT name FROM pragma_table_info('vbas_releases')")
    return ("coarsened",) in columns.fetchall()


def _release(connection: sqlite3.Connection, row: tuple[object, ...], path: Path) -> Published:
    """One release of a register."""
    number, title, k, names, n_levels, bounded, whole, coarsened = row
    regions = connection.execute(READ[CROSSWALKS], (number,)).fetchall()
    counts = connection.execute(READ[COUNTS], (number,)).fetchall()
    values = connection.execute(READ[VALUES], (number,)).fetchall()
    try:
        levels = {str(name): int(level) for name, level in json.loads(coarsened or "{}").items()}
        release = _published(str(title), int(k), json.loads(names), int(n_levels), regions, counts, (bounded, whole))
        return replace(release, sensitive=_sensitive(counts, values), coarsened=levels)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise InputError(
            f"REGISTER: release {number} (“{title}”) in {path} is damaged ({error}): restore the file from a copy."
        ) from error


def _sensitive(counts: list[tuple[int, int, str, int]], rows: list[tuple[object, ...]]) -> tuple[Values, ...]:
    """The values of each count: with all its records, or none of a field."""
    label_of: dict[tuple[object, ...], int] = {row[:3]: label for label, row in enumerate(counts)}
    records = np.array([row[3] for row in counts], np.int64)
    found = []
    for name in dict.fromkeys(str(row[3]) for row in rows):
        own = [row for row in rows if row[3] == name]
        label = np.array([label_of[row[:3]] for row in own], np.int64)
        values, value = np.unique(np.array([row[4] for row in own], dtype=str), return_inverse=True)
        shown = np.array([row[5] for row in own], np.int64)
        if (np.bincount(label, shown, len(records)) != records).any():
            raise ValueError(f"the values of “{name}” do not add up to its counts")
        found.append(Values(name, values.astype(object), label, value.reshape(-1), shown))
    return tuple(found)


def _published(
    title: str,
    k: int,
    names: list[str],
    n_levels: int,
    regions: list[tuple[int, str, int | None]],
    counts: list[tuple[int, int, str, int]],
    flags: tuple[object, object],
) -> Published:
    areas = np.array([area for level, area, _ in regions if level == 1], dtype=object)
    position = {area: i for i, area in enumerate(areas.tolist())}
    crosswalks, number_of = [], []
    for level in range(1, n_levels + 1):
        of_area = {area: region for at, area, region in regions if at == level}
        numbers = np.unique([region for region in of_area.values() if region is not None])
        at = {number: i for i, number in enumerate(numbers.tolist())}
        region_of = np.full(len(areas), LEFT_OUT, np.int64)
        for area, region in of_area.items():
            region_of[position[area]] = LEFT_OUT if region is None else at[region]
        crosswalks.append(Crosswalk(region_of, len(numbers), numbers))
        number_of.append(at)
    values = sorted({one for _, _, one, _ in counts})
    class_at = {one: i for i, one in enumerate(values)}
    rows = [json.loads(one) for one in values]
    categories, codes = [], np.zeros((len(rows), len(names)), np.int64)
    for column in range(len(names)):
        used, of = np.unique(np.array([row[column] for row in rows], dtype=str), return_inverse=True)
        categories.append(used.astype(object))
        codes[:, column] = of.reshape(-1)
    level = np.array([level - 1 for level, *_ in counts], np.int64)
    region = np.array([number_of[one - 1][number] for one, number, _, _ in counts], np.int64)
    class_of = np.array([class_at[one] for _, _, one, _ in counts], np.int64)
    records = np.array([one for *_, one in counts], np.int64)
    if (records < k).any():
        raise ValueError(f"{int((records < k).sum())} counts are below its k of {k}")
    bounded, whole = (bool(one) for one in flags)
    return Published(
        title,
        k,
        areas,
        Levels(tuple(crosswalks)),
        tuple(names),
        tuple(categories),
        codes,
        level,
        region,
        class_of,
        records,
        bounded,
        whole,
    )
