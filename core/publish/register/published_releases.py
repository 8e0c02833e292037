"""Releases in a register: read, and added."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Union

import numpy as np

from ...account import Account
from ...arrays import to_list
from ...crosswalk import LEFT_OUT, Crosswalk
from ...disclosure.in_series import in_all_periods
from ...disclosure.published import Published
from ...disclosure.row_values import all_values, apart
from ...disclosure.values import Values
from ...errors import InputError
from ...generalising.rules import HierarchyRule
from ...generalising.table import HierarchyTable
from ...language import as_data, tr
from ...levels import Levels
from ...records.sqlite_file import reading
from ...releases.earlier import STOP, Earlier
from ..files import DISK
from ..geopackage.making import SHORT
from ..names import check_file_name
from .chain import ADDED, TAKE_OUT_LAST, Link, append, broken_chain, next_number
from .entry import (
    COUNTS,
    CROSSWALKS,
    DAMAGED,
    LATER,
    NAMED,
    RELEASES,
    TAKE_OUT,
    VALUES,
    Entry,
    Statement,
    chained,
    check_named,
    check_register,
    damaged,
    is_there,
    new_register,
    now,
    written_entry,
)
from .packs import Unpacked, add_packed, is_large, taking_packs_out
from .particulars import (
    LINKED,
    OF_SOME,
    SAME_IN_ALL,
    SERIES,
    UPDATE,
    UPDATES,
    note,
    particulars_of,
    taking_particulars_out,
)

READ = {
    RELEASES: "SELECT release, title, time, k, quasi_identifiers, levels, bounded, whole, coarsened, {later} "
    "FROM vbas_releases ORDER BY release",
    CROSSWALKS: "SELECT vbas_level, area, vbas_region FROM vbas_crosswalks WHERE release = ? ORDER BY fid",
    COUNTS: "SELECT vbas_level, vbas_region, class, records FROM vbas_counts WHERE release = ? ORDER BY fid",
    VALUES: "SELECT vbas_level, vbas_region, class, field, value, records FROM vbas_values WHERE release = ? "
    "ORDER BY fid",
}
ADD = {
    RELEASES: "INSERT INTO vbas_releases (release, title, time, k, quasi_identifiers, levels, bounded, whole, "
    "coarsened, of_persons, in_zones) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    CROSSWALKS: "INSERT INTO vbas_crosswalks (release, vbas_level, area, vbas_region) VALUES (?, ?, ?, ?)",
    COUNTS: "INSERT INTO vbas_counts (release, vbas_level, vbas_region, class, records) VALUES (?, ?, ?, ?, ?)",
    VALUES: "INSERT INTO vbas_values (release, vbas_level, vbas_region, class, field, value, records) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)",
}

NUMBER_AT = "SELECT release FROM vbas_releases ORDER BY release LIMIT 1 OFFSET ?"
NOTHING: Mapping[str, str] = {}
YES = "yes"


def read_register(path: Path) -> list[Published]:
    """All releases of a register, in the order they were added.

    Parameters
    ----------
    path : Path
        The file, a GeoPackage; there need not be one yet.

    Returns
    -------
    list of Published
        Empty where there is no file yet.

    Raises
    ------
    InputError
        For a file that is not a register, is damaged, or holds counts below k.

    Examples
    --------
    >>> from pathlib import Path
    >>> from vbas.core.publish.register.published_releases import read_register
    >>> read_register(Path("a register that is not there yet.gpkg"))
    []
    """
    if not path.exists():
        return []
    with reading(path, "REGISTER") as connection:
        check_register(connection, path)
        later = ", ".join(name if is_there(connection, RELEASES, name) else "NULL" for name in LATER)
        rows = connection.execute(READ[RELEASES].format(later=later)).fetchall()
        unpacked = Unpacked()
        positions = {str(row[0]): position for position, row in enumerate(rows)}
        releases = [_release(connection, row, path, unpacked, positions) for row in rows]
    return releases


def earlier_releases(
    path: Path,
    action: str = STOP,
    aliases: Sequence[tuple[str, str]] = (),
    tables: Mapping[str, HierarchyTable] | None = None,
    rules: Mapping[str, HierarchyRule] | None = None,
) -> Earlier:
    """What a release is held against: the releases of a register, none where there is no file yet.

    Parameters
    ----------
    path : Path
        The file, a GeoPackage.
    action, aliases, tables, rules
        As for `Earlier`.

    Returns
    -------
    Earlier
        For `Ask.earlier`.

    Raises
    ------
    InputError
        As `read_register` does.

    Examples
    --------
    >>> from pathlib import Path
    >>> from vbas.core.anonymise import Ask
    >>> from vbas.core.publish.register.published_releases import earlier_releases
    >>> ask = Ask(k=5, earlier=earlier_releases(Path("a register that is not there yet.gpkg")))
    >>> len(ask.earlier.releases)
    0
    """
    if not DISK.is_file(path):
        check_file_name("REGISTER", path.name)  # of the one that is made in the end: Windows opens devices, too
    entries = _entries_in(path)  # first: what comes in or goes between is seen when this release is added
    releases, warning = read_register(path), ""
    broken = broken_chain(path)
    if not releases:
        warning = new_register(path)
        if path.exists():
            warning = tr(
                "REGISTER: {path} has no release in it: this one was held against no earlier release.", path=path
            )
    return Earlier(releases, action, aliases, tables or {}, rules or {}, warning, broken, entries=entries)


def _entries_in(path: Path) -> list[tuple[int, str]]:
    """The number of each release of a register, and when it was added; none where there is no file yet."""
    if not path.exists():
        return []
    with reading(path, "REGISTER") as connection:
        check_register(connection, path)
        return _entries(connection)


def _entries(connection: sqlite3.Connection) -> list[tuple[int, str]]:
    return connection.execute("SELECT release, time FROM vbas_releases ORDER BY release").fetchall()


def add_release(path: Path, account: Account) -> None:
    """Add a release to the register that it was held against (`Ask.earlier`), as one that is published now.

    Parameters
    ----------
    path : Path
        The file, a GeoPackage, which is made if there is none.
    account : Account
        Of the release, as `anonymise` gives it.

    Raises
    ------
    InputError
        As `new_entry` does, and where the release was held against none.

    Examples
    --------
    >>> from vbas.core.synthetic.hamlet import hamlet
    >>> areas, records, crosswalk = hamlet()
    >>> from pathlib import Path
    >>> from vbas.core.anonymise import Ask, anonymise
    >>> from vbas.core.levels import Levels
    >>> from vbas.core.publish.register.published_releases import add_release, earlier_releases, read_register
    >>> register = Path("register.gpkg")
    >>> account = anonymise(areas, records, Levels((crosswalk,)), Ask(k=2, earlier=earlier_releases(register)))
    >>> add_release(register, account)
    >>> [(one.k, one.records.tolist()) for one in read_register(register)]
    [(2, [2, 2, 3])]
    """
    new_entry(path, *entry_of(account)).put()


HeldAgainst = Union[int, Sequence[tuple[int, str]]]
"""The releases that another one was held against: how many, or by number and time of their entries."""


def entry_of(account: Account) -> tuple[Published, HeldAgainst]:
    """What the register is to keep of a release, and which releases it was held against. Raises InputError."""
    if account.published is None or account.ask.earlier is None:
        raise InputError.saying("The release was held against no register: give Ask(earlier=earlier_releases(path)).")
    earlier = account.ask.earlier
    return account.published, len(earlier.releases) if earlier.entries is None else earlier.entries


def new_entry(
    path: Path,
    release: Published,
    earlier: HeldAgainst,
    by: str = "",
    released: str = "",
    particulars: Mapping[str, str] = NOTHING,
) -> Entry:
    """Write a release to a register, which is made if there is none, without making it visible yet.

    earlier : the releases it was held against; by : who proposes it; released : its content hash; particulars : what
    is said of it, by SERIES, RECIPIENT, PURPOSE. Raises InputError
    for a file that is not a register, that another program holds, or that has other releases by now.
    """

    def add(connection: sqlite3.Connection) -> list[Statement]:
        _check_unchanged(connection, path, earlier)
        carries_on = _carried_on(connection, release)
        number = _insert(connection, release)
        note(
            connection,
            number,
            {
                **carries_on,
                **{what: text for what, text in particulars.items() if text.strip()},
                **_same_in_all(release),
                LINKED: ", ".join(release.linked),
                OF_SOME: YES if release.of_some else "",
            },
        )
        link = append(connection, ADDED, number, now(), by, released)
        links.append(link)
        statements = (*TAKE_OUT.values(), *taking_packs_out(connection), *taking_particulars_out(connection))
        return [*((statement, (number,)) for statement in statements), (TAKE_OUT_LAST, (link.entry,))]

    links: list[Link] = []
    entry = written_entry(path, add)
    entry.number = links[0].number
    return chained(entry, links[0])


def _check_unchanged(connection: sqlite3.Connection, path: Path, earlier: HeldAgainst) -> None:
    """Refuse an open register that has other releases than those that one was held against. Raises InputError."""
    there = _entries(connection)
    n_earlier = earlier if isinstance(earlier, int) else len(earlier)
    if len(there) > n_earlier:
        raise InputError.saying("REGISTER: another run has added a release to {path} meanwhile: run again.", path=path)
    if len(there) < n_earlier or (not isinstance(earlier, int) and there != list(earlier)):
        raise InputError.saying(
            "REGISTER: {path} has other releases than when this run looked into it: run again.", path=path
        )


def _same_in_all(release: Published) -> dict[str, str]:
    """What a register is told of the period of a release whose classes are the same in all; nothing of another."""
    return {SAME_IN_ALL: str(release.quasi_identifiers.index(release.period))} if release.period else {}


def _carried_on(connection: sqlite3.Connection, release: Published) -> dict[str, str]:
    """What a register is told of the release that an update carries on; nothing of another release."""
    if release.updates is None:
        return {}
    position, kind = release.updates
    ((number,),) = connection.execute(NUMBER_AT, (position,)).fetchall()
    series = particulars_of(connection, number).get(SERIES, "")  # of an update that names no other
    return {SERIES: series, UPDATES: str(number), UPDATE: kind}


def _insert(connection: sqlite3.Connection, release: Published) -> int:
    """Add a release to an open register; its number there."""
    number = next_number(connection)
    names = json.dumps(list(release.quasi_identifiers), ensure_ascii=False)
    flags = (int(release.bounded), int(release.whole))
    coarsened = json.dumps(dict(release.coarsened), ensure_ascii=False)
    row = (*flags, coarsened, int(release.of_persons), int(release.in_zones))
    for name in LATER:
        if not is_there(connection, RELEASES, name):
            connection.execute(f"ALTER TABLE {RELEASES} ADD COLUMN {name} {SHORT}")
    connection.execute(
        ADD[RELEASES], (number, as_data(NAMED, n=number), now(), release.k, names, len(release.levels), *row)
    )
    if is_large(release):
        add_packed(connection, number, release)
        return number
    for level, crosswalk in enumerate(release.levels.crosswalks):
        numbers = [*crosswalk.numbers.tolist(), None]  # the last one is for areas that are left out
        regions = (numbers[region] for region in to_list(crosswalk.region_of))
        areas = release.areas.tolist()
        connection.executemany(
            ADD[CROSSWALKS], ((number, level + 1, area, region) for area, region in zip(areas, regions))
        )
    rows = list(_count_rows(number, release))
    connection.executemany(ADD[COUNTS], rows)
    for values in all_values(release):
        connection.executemany(
            ADD[VALUES],
            (
                (*rows[equivalence_class][:-1], values.field, values.categories[value], records)
                for equivalence_class, value, records in zip(
                    *map(to_list, (values.equivalence_class, values.value, values.records))
                )
            ),
        )
    return number


def _count_rows(number: int, release: Published) -> Iterable[tuple[object, ...]]:
    classes = [json.dumps(list(values), ensure_ascii=False) for values in release.values_of_classes()]
    shown_as = [crosswalk.numbers.tolist() for crosswalk in release.levels.crosswalks]
    columns = (release.level, release.region, release.class_of, release.records)
    for level, region, class_of, records in zip(*(column.tolist() for column in columns)):
        yield number, level + 1, shown_as[level][region], classes[class_of], records


def _release(
    connection: sqlite3.Connection,
    row: tuple[Any, ...],
    path: Path,
    unpacked: Unpacked,
    positions: Mapping[str, int],
) -> Published:
    """One release of a register; unpacked : what the releases before it had; positions : of releases, by number."""
    number, title, time, k, names, n_levels, bounded, whole, coarsened, of_persons, in_zones = row
    regions = connection.execute(READ[CROSSWALKS], (number,)).fetchall()
    counts = connection.execute(READ[COUNTS], (number,)).fetchall()
    values = connection.execute(READ[VALUES], (number,)).fetchall()
    try:
        check_named(number, title, time)
        levels = {str(name): int(level) for name, level in json.loads(coarsened or "{}").items()}
        # The name that releases are given when they are added is read in the language of the user.
        named = tr(NAMED, n=number) if title == as_data(NAMED, n=number) else str(title)
        heights = len({level for level, *_ in regions})  # none of a release that is packed
        if heights and heights != int(n_levels):
            raise ValueError
        release = _published(named, int(k), json.loads(names), max(heights, 1), regions, counts, (bounded, whole))
        packed = unpacked.release(connection, number, release)
        if packed is None:
            sensitive, shown_rows = apart(_sensitive(counts, values))
            release = replace(release, sensitive=sensitive, rows=shown_rows)
        elif regions or counts or values or len(packed.levels) != int(n_levels):
            raise ValueError  # rows beside packs
        else:
            release = packed
        if not len(release.areas):
            raise ValueError
        _check_counts(release)
        particulars = particulars_of(connection, number)
        linked = tuple(name for name in particulars.get(LINKED, "").split(", ") if name)
        updates = (
            (positions.get(particulars[UPDATES], -1), particulars.get(UPDATE, "")) if UPDATES in particulars else None
        )
        release = replace(release, of_persons=bool(of_persons), in_zones=bool(in_zones), linked=linked)
        release = replace(release, of_some=OF_SOME in particulars)
        release = replace(release, coarsened=levels, updates=updates)
        if SAME_IN_ALL in particulars:
            release = in_all_periods(release, release.quasi_identifiers[int(particulars[SAME_IN_ALL])])
        return release
    except DAMAGED as error:
        raise damaged(number, title, path, error) from error


def _sensitive(counts: list[tuple[int, int, str, int]], rows: list[tuple[object, ...]]) -> tuple[Values, ...]:
    """The values of each count: with all its records, or none of a field."""
    equivalence_class_of: dict[tuple[object, ...], int] = {
        row[:3]: equivalence_class for equivalence_class, row in enumerate(counts)
    }
    records = np.array([row[3] for row in counts], np.int64)
    fields = []
    for name in dict.fromkeys(str(row[3]) for row in rows):
        own = [row for row in rows if row[3] == name]
        equivalence_class = np.array([equivalence_class_of[row[:3]] for row in own], np.int64)
        values, value = np.unique(np.array([row[4] for row in own], dtype=str), return_inverse=True)
        released = np.array([row[5] for row in own], np.int64)
        if (np.bincount(equivalence_class, released, len(records)) != records).any():
            raise InputError.saying("the values of “{name}” do not add up to its counts", name=name)
        fields.append(Values(name, values.astype(object), equivalence_class, value.reshape(-1), released))
    return tuple(fields)


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
    if not all(isinstance(text, str) for text in (*names, *areas.tolist())):
        raise ValueError
    position = {area: i for i, area in enumerate(areas.tolist())}
    crosswalks, number_of = [], []
    for height in range(1, n_levels + 1):
        of_area = {area: number_released for at, area, number_released in regions if at == height}
        numbers = np.unique([region for region in of_area.values() if region is not None])
        positions = {number: i for i, number in enumerate(numbers.tolist())}
        region_of = np.full(len(areas), LEFT_OUT, np.int64)
        for area, number_released in of_area.items():
            region_of[position[area]] = LEFT_OUT if number_released is None else positions[number_released]
        crosswalks.append(Crosswalk(region_of, len(numbers), numbers))
        number_of.append(positions)
    values = sorted({value for _, _, value, _ in counts})
    class_at = {value: i for i, value in enumerate(values)}
    rows = [json.loads(value) for value in values]
    categories, codes = [], np.zeros((len(rows), len(names)), np.int64)
    for column in range(len(names)):
        used, of = np.unique(np.array([row[column] for row in rows], dtype=str), return_inverse=True)
        categories.append(used.astype(object))
        codes[:, column] = of.reshape(-1)
    level = np.array([level - 1 for level, *_ in counts], np.int64)
    region = np.array([number_of[level - 1][number] for level, number, _, _ in counts], np.int64)
    class_of = np.array([class_at[value] for _, _, value, _ in counts], np.int64)
    records = np.array([n for *_, n in counts], np.int64)
    bounded, whole = (bool(stored) for stored in flags)
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


def _check_counts(release: Published) -> None:
    """Refuse a release that shows counts below its k. Raises InputError."""
    if (release.records < release.k).any():
        raise InputError.counting(
            "{n} count is below its k of {k}",
            "{n} counts are below its k of {k}",
            int((release.records < release.k).sum()),
            k=release.k,
        )
