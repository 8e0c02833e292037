"""Registers of releases: drawn, written by plain SQLite, and looked into before and after a run."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from osgeo import gdal, ogr

from .reading import loose, positions, rows_of_output

TABLES = {
    "vbas_releases": ("release", "title", "time", "k", "quasi_identifiers", "levels", "bounded", "whole", "coarsened"),
    "vbas_crosswalks": ("release", "vbas_level", "area", "vbas_region"),
    "vbas_counts": ("release", "vbas_level", "vbas_region", "class", "records"),
    "vbas_values": ("release", "vbas_level", "vbas_region", "class", "field", "value", "records"),
    "vbas_maskings": ("masking", "time", "crs"),
    "vbas_points": ("masking", "x", "y"),
}
NUMBERS = frozenset(("release", "k", "levels", "bounded", "whole", "vbas_level", "vbas_region", "records", "masking"))
FAULTS = ("text", "half", "lacks a table", "empty", "below k", "no list", "no number")


@dataclass(frozen=True)
class Register:
    """A register: rows by table; fault : what is wrong with the file, one of FAULTS or empty; name : in its folder."""

    rows: tuple = ()
    fault: str = ""
    name: str = "register.gpkg"
    there: bool = True


def write_register(register, folder):
    """Write it into a folder; what it holds, by table, or None where there is no register."""
    file = Path(folder) / register.name
    if not register.there:
        return None
    if register.fault == "text":
        file.write_text("no database")
        return None
    dataset = gdal.GetDriverByName("GPKG").Create(str(file), 0, 0, 0, gdal.GDT_Unknown)
    for table, columns in TABLES.items():
        if register.fault == "empty" or (register.fault == "lacks a table" and table == "vbas_counts"):
            continue
        layer = dataset.CreateLayer(table, None, ogr.wkbNone, ["ASPATIAL_VARIANT=GPKG_ATTRIBUTES"])
        for column in columns:
            kind = ogr.OFTInteger64 if column in NUMBERS else ogr.OFTReal if column in "xy" else ogr.OFTString
            layer.CreateField(ogr.FieldDefn(column, kind))
    layer = dataset = None  # GDAL writes the file as it lets go
    if register.fault in ("empty", "lacks a table"):
        return None
    with closing(sqlite3.connect(file)) as connection, connection:
        for table, rows in register.rows:
            names = ", ".join(f'"{one}"' for one in TABLES[table])
            places = ", ".join("?" * len(TABLES[table]))
            connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({places})", rows)
        spoil = {
            "below k": "UPDATE vbas_counts SET records = 1",
            "no list": "UPDATE vbas_releases SET quasi_identifiers = 'sex'",
            "no number": "UPDATE vbas_releases SET k = 'many', levels = 'x'",
        }
        if register.fault in spoil:
            connection.execute(spoil[register.fault])
    if register.fault == "half":
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        return None
    return contents_of(file)


def contents_of(file):
    """All rows by table, the key apart, in the order they were added."""
    with closing(sqlite3.connect(file)) as connection:
        return {
            table: connection.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY fid").fetchall()
            for table, columns in TABLES.items()
        }


def drawn_register(dice):
    """A register of some releases that have nothing to do with each other."""
    if dice.odd(3):
        return Register(_releases(dice, 1), fault=dice.choice(FAULTS))
    return Register(_releases(dice, dice.randint(1, 4)), there=not dice.odd(2))


def _releases(dice, n):
    rows: dict[str, list[tuple]] = {table: [] for table in TABLES}
    for number in sorted(dice.sample(range(1, 9), n)):
        k = dice.randint(2, 5)
        names = dice.pick(["sex"], ["sex", "age"], ["a, b"], ['"', "é"])
        n_levels = dice.pick(1, 1, 2)
        title = f"secret-{number}-{dice.randrange(10**9)}"
        moment = f"2026-01-0{number}T00:00:00+00:00"
        listed = json.dumps(names, ensure_ascii=False)
        rows["vbas_releases"].append((number, title, moment, k, listed, n_levels, 1, 1, dice.pick("{}", None)))
        for level in range(1, n_levels + 1):
            regions = (1, 1, 2, 2) if level == 1 else (1, 1, 1, 1)
            rows["vbas_crosswalks"] += [(number, level, f"{title}-{i}", region) for i, region in enumerate(regions)]
        field = dice.pick("job", "ill", "")
        for region in (1, 2):
            values = json.dumps([dice.pick("F", "M", "", "other") for _ in names], ensure_ascii=False)
            there = k + dice.randint(0, 5)
            rows["vbas_counts"].append((number, 1, region, values, there))
            if field:
                rows["vbas_values"].append((number, 1, region, values, field, f"{title}-v", there))
    rows["vbas_maskings"] = [(1, "2026-01-01T00:00:00+00:00", "EPSG:26914")]
    rows["vbas_points"] = [(1, 1.5, 2.5)]
    return tuple((table, tuple(some)) for table, some in rows.items())


def _number(value):
    """A number as it was given, None where there is none."""
    if value in (None, ""):
        return None
    return int(float(value[0] if isinstance(value, list) else value))


def edited(case, outcome):
    """vbas:editregister: what is listed is what is in the file; what is taken out is gone, and nothing else."""
    before, given = outcome.layers["REGISTER"], case.parameters
    register = given["REGISTER"]
    file = outcome.folder / register.name
    if before is None:
        yield "A file that is no register was edited."
        return
    removed, points, named = (_number(given.get(name)) for name in ("REMOVE", "REMOVE_POINTS", "RENAME"))
    if (removed is not None or points is not None) and not ticked(given.get("NEVER_PUBLISHED")):
        yield "A release was taken out of which nobody said that it was never published."
    numbers = outcome.results
    there = {row[0] for row in before["vbas_releases"]}
    approved = given.get("APPROVE") not in (None, "")
    others = approved or points is not None or named is not None
    if removed is None and not others and outcome.files[0][register.name] != outcome.files[1][register.name]:
        yield "The register is changed, though nothing was to be taken out or approved of."
    if removed is not None and removed not in there:
        yield f"Release {removed} was taken out, the register has {there}."
    wanted = {
        table: [row for row in rows if row[0] != (removed if TABLES[table][0] == "release" else points)]
        for table, rows in before.items()
    }
    name = " ".join(str(given.get("NAME")).split())
    wanted["vbas_releases"] = [(row[0], name, *row[2:]) if row[0] == named else row for row in wanted["vbas_releases"]]
    after = contents_of(file)
    for table in TABLES:
        if after[table] != wanted[table] and (table != "vbas_releases" or name.isprintable()):
            yield f"{table} holds {len(after[table])} rows, {len(wanted[table])} were to stay."
    if numbers["N_RELEASES"] != len(wanted["vbas_releases"]) or numbers["N_REMOVED"] != int(
        removed is not None or points is not None
    ):
        yield f"The run counts {numbers['N_RELEASES']} releases and {numbers['N_REMOVED']} taken out."
    held = file.read_bytes()
    for row in before["vbas_releases"]:
        if row[0] == removed and row[1].encode() in held:
            yield f"{row[1]} was taken out, and can still be read in the file."
    if "CONTENTS" in numbers:
        yield from _listed(outcome, wanted)


def ticked(value):
    return str(value).lower() in ("true", "1", "yes")


def _listed(outcome, there):
    """CONTENTS is a row for each release that stays, counted by hand."""
    names, rows = rows_of_output(outcome.results["CONTENTS"], outcome.context)
    fields = ("release", "title", "time", "k", "quasi_identifiers", "levels", "counts", "records", "sensitive")
    if str(outcome.results["CONTENTS"]).endswith((".shp", ".dbf")):
        return
    at = positions(names, fields)
    found = [tuple(loose(row[i]) for i in at[:-1]) for row in rows]
    wanted = []
    for number, title, moment, k, listed, levels, *_ in there["vbas_releases"]:
        counts = [row[4] for row in there["vbas_counts"] if row[0] == number]
        names = ", ".join(json.loads(listed))
        wanted.append(tuple(map(loose, (number, title, moment, k, names, levels, len(counts), sum(counts)))))
    if found != wanted:
        yield f"CONTENTS lists {found[:3]!r}, there are {wanted[:3]!r}."
    for row, (number, *_) in zip(rows, there["vbas_releases"]):
        sensitive = {one[4] for one in there["vbas_values"] if one[0] == number}
        if set(filter(None, str(row[at[-1]] or "").split(","))) != sensitive:
            yield f"CONTENTS lists {row[at[-1]]!r} as sensitive, there are {sensitive}."


def added(case, outcome, released):
    """What a run adds to its register: exactly what it shows, in its regions; and what was there stays.

    released : Counter of (level, region, values as text)
    """
    if not isinstance(case.parameters.get("REGISTER"), Register):
        return
    register = case.parameters["REGISTER"]
    before = outcome.layers["REGISTER"] or {table: [] for table in TABLES}
    after = contents_of(outcome.folder / register.name)
    for table in TABLES:
        if after[table][: len(before[table])] != before[table]:
            yield f"{table} of the register is no longer as it was."
    new = {table: after[table][len(before[table]) :] for table in TABLES}
    if len(new["vbas_releases"]) != 1:
        yield f"{len(new['vbas_releases'])} releases were added to the register."
        return
    found: Counter[tuple] = Counter()
    of_dbf = str(outcome.results["RELEASED_RECORDS"]).endswith((".shp", ".dbf"))  # which knows no empty text
    for _, level, region, values, people in new["vbas_counts"]:
        texts = [None if of_dbf and text == "''" else loose(text) for text in json.loads(values)]
        found[level, region, tuple(texts)] += people
    if found != released:
        more, missing = dict(found - released), dict(released - found)
        yield f"The register says what is not released: {more!r}; or not what is: {missing!r}."
