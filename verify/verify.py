#!/usr/bin/env python3
"""Verify a release: python3 verify.py FOLDER [--k K] [--register REGISTER.gpkg]

FOLDER is one that VBAS for QGIS wrote (RELEASE_FOLDER): datapackage.json and the files that it names. This program
shares no line with the one that wrote it. It reads the files, counts everything again, and prints a line per claim:

    holds           the claim is true of the files as they are here
    does not hold   it is not
    not looked at   it cannot be looked at, with the reason

Exit code: 0 all claims hold; 1 at least one does not; 2 none fails, but some could not be looked at, or there is no
release in FOLDER. README.md says what each claim means. It needs Python 3.9; Parquet files need pyarrow, too.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from io import TextIOWrapper
from pathlib import Path, PurePath
from runpy import run_path
from typing import Any
from urllib.parse import quote as quoted

HOLDS, FAILS, UNSEEN = "holds", "does not hold", "not looked at"
TABLES = ("records", "crosswalk", "regions")
PAGES, DRAWN = ("report.html", "ddi.xml", "dcat.jsonld"), "regions"
# What a GeoPackage of a release holds beside its tables.
STANDARD = ("gpkg_spatial_ref_sys", "gpkg_contents", "gpkg_geometry_columns", "sqlite_sequence")
CANNOT_READ = "what it rests on cannot be read"
Place = tuple[Any, Any]  # level and number of a region
Told = dict[Place, dict[str, Any]]


class Broken(Exception):
    """A table that is not what its schema says."""


class Table:
    """A table of the release: the names of its fields, the field of each role, and how often each row occurs."""

    def __init__(self, resource: dict[str, Any], rows: Counter[tuple[Any, ...]]) -> None:
        self.fields = resource["schema"]["fields"]
        self.names = [field["name"] for field in self.fields]
        self.types = [field["type"] for field in self.fields]
        self.rows = rows  # Counter of tuples

    def __len__(self) -> int:
        return sum(self.rows.values())

    def positions(self, *roles: str) -> list[int]:
        """Where the fields stand that are for one of these."""
        return [i for i, field in enumerate(self.fields) if field.get("role") in roles]

    def weighted(self) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """Each different row with the records that it stands for."""
        counts = self.positions("count")
        for row, copies in self.rows.items():
            yield row, copies * (max(row[counts[0]] or 0, 0) if counts else 1)


def read_description(folder: Path) -> dict[str, Any] | None:
    """datapackage.json, or None where it is not that of a release."""
    try:
        text = (folder / "datapackage.json").read_text(encoding="utf-8")
        package = json.loads(text, object_pairs_hook=named_once)
        ours = package["vbas"]
        layout, _, _ = int(ours["layout"]), [level["regions"] for level in ours["levels"]], [*ours.get("counts", [])]
        linked = [(one["table"], one["count_known"], one["k"])[2] for one in ours.get("linked", [])]
        least = [type(k) is int and k for k in (ours["k"], ours.get("l_diversity", 1), *linked)]
        if min(least) < 1 or not 0 < ours.get("max_share", 100) <= 100:
            return None  # true would pass for 1, and of NaN every comparison comes out as wished
        paths = [resource["path"] + "" for resource in package["resources"]]
        for resource in package["resources"]:
            fields = resource.get("schema", {"fields": []})["fields"]
            roles = ["".join((field["name"], field["type"])) and field.get("role") for field in fields]
            _ = [set(field.get("constraints", {}).get("enum", [])) for field in fields]
            _ = roles.index("region") if resource["name"] == "records" else 0
    except (OSError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return None
    unsafe = any(Path(path).name != path or path in ("", ".", "..") for path in paths)
    return None if layout > 1 or unsafe else package


def named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, in which another reader would find another value where a name stands twice."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name stands twice")
    return dict(pairs)


def read_table(folder: Path, name: str, resource: dict[str, Any]) -> Table:
    """The rows of a table, each cell as its schema says. Raises Broken, OSError and NotImplementedError."""
    file, schema = folder / resource["path"], resource["schema"]
    names, kind = [field["name"] for field in schema["fields"]], file.suffix.lower()
    with file.open("rb"):  # what SQLite and pyarrow say of a file that they may not open tells nothing of the reason
        pass
    if kind == ".csv":
        found, rows = rows_of_csv(file)
    elif kind == ".gpkg":
        found, rows = rows_of_geopackage(file, name)
    elif kind == ".parquet":
        found, rows = rows_of_parquet(file, name)
    else:
        raise NotImplementedError(f"{file.name} is neither CSV, nor GeoPackage, nor Parquet")
    if found != names:
        raise Broken(f"the fields are {', '.join(found)}, not {', '.join(names)}")
    if any(len(row) != len(names) for row in rows):
        raise Broken("a row has more or fewer cells than there are fields")
    if len(schema["missingValues"]) != 1:
        raise Broken("not one text stands for a missing value")
    missing = schema["missingValues"][0] if kind == ".csv" else None
    readers = [reader_of(field["type"], kind == ".csv") for field in schema["fields"]]
    seen: list[dict[Any, Any]] = [{} for _ in names]  # each different value is read once
    read: Counter[tuple[Any, ...]] = Counter()
    for row, copies in rows.items():
        cells = []
        for value, reader, known, field in zip(row, readers, seen, names):
            key = (type(value), value)
            if key not in known:
                try:
                    known[key] = None if value is None or value == missing else reader(value)
                except (ValueError, TypeError, KeyError, OverflowError) as error:
                    raise Broken(f"{field}: {value!r} is of another type") from error
            cells.append(known[key])
        read[tuple(cells)] += copies
    return Table(resource, read)


def is_closed(file: Path, error: Exception) -> bool:
    """Whether a file could not be read since the rights are lacking, or, on Windows, another program has it open."""
    return isinstance(error, PermissionError) and file.is_file()  # Windows says the same of a folder


def rows_of_csv(file: Path) -> tuple[list[str], Counter[tuple[Any, ...]]]:
    csv.field_size_limit(1 << 27)
    try:
        with file.open(encoding="utf-8", newline="") as opened:
            rows = csv.reader(opened, strict=True)
            names = next(rows, [])
            return names, Counter(map(tuple, rows))
    except (csv.Error, UnicodeDecodeError) as error:
        raise Broken(str(error)) from error


def rows_of_geopackage(file: Path, name: str) -> tuple[list[str], Counter[tuple[Any, ...]]]:
    try:
        with closing(sqlite3.connect(f"{address(file.resolve())}?mode=ro&immutable=1", uri=True)) as database:
            drawn = database.execute("SELECT column_name FROM gpkg_geometry_columns WHERE table_name = ?", (name,))
            shapes = shapes_of(name, [column for (column,) in drawn])
            described = "SELECT name, type, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid"
            columns = database.execute(described, (name,)).fetchall()
            if not columns:
                raise Broken(f"there is no table {name}")
            # The first column numbers the rows; one that is hidden is a column all the same.
            number, names = columns[0][0], [column for column, *_ in columns[1:] if column not in shapes]
            if columns[0][1:] != ("INTEGER", 1, 0) or any(key for *_, key, _ in columns[1:]):
                raise Broken("the rows are not numbered in their first column alone")
            of = quote(name)
            limits = f"COUNT(*), COALESCE(MIN({quote(number)}), 1), COALESCE(MAX({quote(number)}), 0)"
            n_rows, first, last = database.execute(f"SELECT {limits} FROM {of}").fetchone()
            if (first, last) != (1, n_rows):
                raise Broken("the rows are not numbered 1, 2, 3, …")
            for shape in map(quote, shapes):
                if database.execute(f"SELECT 1 FROM {of} WHERE SUBSTR({shape}, 1, 2) <> X'4750'").fetchone():
                    raise Broken("what stands in the column of shapes is none")
            rows = database.execute(f"SELECT {', '.join(map(quote, names))} FROM {of}")
            return names, Counter(rows)
    except sqlite3.Error as error:
        raise Broken(str(error)) from error


def address(path: PurePath) -> str:
    """A file as SQLite is told of it: one of a network drive of Windows has its server in the path, //server/share/…"""
    place = path.as_posix()
    return "file://" + quoted(place if place.startswith("/") else f"/{place}", safe="/:")


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def shapes_of(name: str, columns: list[str]) -> list[str]:
    """The columns of shapes that a table says it has: those of the regions, in one column, are no part of the rows."""
    if columns and (name != DRAWN or len(columns) > 1):
        raise Broken(f"{', '.join(columns)}: shapes are of the regions, and in one column")
    return columns


def rows_of_parquet(file: Path, name: str) -> tuple[list[str], Counter[tuple[Any, ...]]]:
    try:
        from pyarrow import lib, parquet
    except ImportError as error:
        raise NotImplementedError("Parquet is read by pyarrow, which is not installed") from error
    try:
        table = parquet.read_table(str(file))
    except lib.ArrowException as error:
        raise Broken(str(error)) from error
    geo = (table.schema.metadata or {}).get(b"geo")
    shapes = shapes_of(name, [*json.loads(geo)["columns"]] if geo else [])
    if any(str(table.schema.field(shape).type) != "binary" for shape in shapes):
        raise Broken("what stands in the column of shapes is none")
    names = [column for column in table.column_names if column not in shapes]
    return names, Counter(zip(*(table.column(column).to_pylist() for column in names)))


def reader_of(kind: str, text: bool) -> Callable[[Any], Any]:
    """What makes a value of a field's type of a cell; text : whether cells are text, as in CSV."""

    readers: dict[str, Any] = {
        "integer": lambda value: int(digits(value)) if text else {int: value}[type(value)],
        "number": lambda value: float(digits(value) if text else value) + 0.0,
        "boolean": {"true": True, "false": False, 1: True, 0: False}.__getitem__,
        "string": str.__str__,
        "date": str.__str__,
        "datetime": str.__str__,
    }
    return readers[kind]


def digits(cell: str) -> str:
    """A number as text: Python would read more, such as 1_0 or the digits of other scripts."""
    if not cell.isascii() or "_" in cell or cell != cell.strip():
        raise ValueError(cell)
    return cell


def content_hash(table: Table) -> str:
    """SHA-256 of the names of the fields and of the different rows in order, each with how often it occurs."""
    lines = []
    for row, copies in table.rows.items():
        cells = ",".join(
            (repr if of == "number" and cell is not None else as_json)(cell) for cell, of in zip(row, table.types)
        )
        lines.append(f"[{cells}]\t{copies}\n".encode("utf-8", "surrogatepass"))
    names = (as_json(table.names) + "\n").encode("utf-8", "surrogatepass")
    return hashlib.sha256(names + b"".join(sorted(lines))).hexdigest()


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def other_tables(file: Path, names: set[str]) -> list[str]:
    """What a GeoPackage holds beside the tables of these names and those that say what is in it: tables, views,
    triggers, indexes."""
    try:
        with closing(sqlite3.connect(f"{address(file.resolve())}?mode=ro&immutable=1", uri=True)) as database:
            there = database.execute("SELECT name, type FROM sqlite_master").fetchall()
    except sqlite3.Error:
        return []  # no GeoPackage, or one that cannot be read, which its tables say
    ours = {(name, "table") for name in (*names, *STANDARD)}
    ours |= {(f"sqlite_autoindex_{of}_{i}", "index") for of in STANDARD for i in (1, 2)}
    return [f"{name} in {file.name}" for name, kind in there if (name, kind) not in ours]


def verified(folder: Path, package: dict[str, Any], k: int | None = None) -> Iterator[tuple[str, str, str]]:
    """Every claim as (name, HOLDS, FAILS or UNSEEN, what was found)."""
    ours, resources = package["vbas"], {str(one["name"]): one for one in package["resources"]}
    files = {str(one["path"]): one for one in package["resources"]}
    for path, resource in files.items():
        try:
            link, held = (folder / path).is_symlink(), (folder / path).read_bytes()
            same = not link and resource.get("hash") == "sha256:" + hashlib.sha256(held).hexdigest()
            bad = "it is a link, and not in the folder" if link else "it was changed after it was written"
            yield judged(f"file {path}", same, "its bytes are those described", bad)
        except OSError as error:
            yield f"file {path}", UNSEEN if is_closed(folder / path, error) else FAILS, str(error.strerror)
    linked = {str(one["table"]): one for one in ours.get("linked", [])}
    names = (*TABLES, *linked)
    parts = {resources[name]["path"] for name in (*names, *(f"{name}-shapes" for name in names)) if name in resources}
    pages = {*PAGES} & {*files}  # one that is not described has no hash, and may say anything
    others = sorted({*(entry.name for entry in folder.iterdir()), *files} - {"datapackage.json", *parts, *pages})
    others += [table for path in sorted(parts) for table in other_tables(folder / path, {*names})]
    said = f"no part of the release, and not looked at: {', '.join(others)}"
    yield judged("other files", not others, "there are none", said)
    tables, hashes = dict[str, Table](), dict[str, str]()
    for name in names:
        file = folder / resources.get(name, {}).get("path", "")
        try:
            tables[name] = read_table(folder, name, resources[name])
            yield f"fields {name}", HOLDS, "names and types are those of the schema"
        except NotImplementedError as error:
            yield f"fields {name}", UNSEEN, str(error)
        except (Broken, OSError, KeyError, IndexError, TypeError) as error:
            yield f"fields {name}", UNSEEN if is_closed(file, error) else FAILS, str(error)
        if name not in tables:
            yield from ((f"{claim} {name}", UNSEEN, CANNOT_READ) for claim in ("content", "values"))
            continue
        table, hashes[name] = tables[name], content_hash(tables[name])
        described = resources[name].get("content_sha256"), resources[name].get("rows")
        found = f"{hashes[name]}, {len(table)} rows"
        yield judged(f"content {name}", (hashes[name], len(table)) == described, found, found)
        wrong = ", ".join(fields_with_other_values(table))
        yield judged(f"values {name}", not wrong, "all are listed in the schema", f"not listed: {wrong}")
    for name in tables:
        if f"{name}-shapes" in resources:
            beside = {**resources[name], "path": resources[f"{name}-shapes"]["path"]}
            yield claim_of_shapes(folder, name, beside, hashes[name])
    if len(hashes) == len(TABLES) + len(linked):
        whole = hashlib.sha256("".join(f"{name}\t{hashes[name]}\n" for name in sorted(hashes)).encode()).hexdigest()
        yield judged("content", whole == ours.get("content_sha256"), whole, whole)
    else:
        yield "content", UNSEEN, CANNOT_READ
    if "records" in tables:
        yield from claims_of_classes(tables["records"], ours, max(int(ours["k"]), k or 0))
    else:
        yield "k", UNSEEN, CANNOT_READ
    yield from claims_of_places(tables, [level["regions"] for level in ours["levels"]])
    if linked:
        yield from run_path(str(Path(__file__).with_name("linked.py")))["claims_of_linked"](tables, linked, k or 0)


def claim_of_shapes(folder: Path, name: str, resource: dict[str, Any], content: str) -> tuple[str, str, str]:
    """That the file with the shapes of a table has the rows of that table beside them."""
    try:
        same = content_hash(read_table(folder, name, resource)) == content
    except (Broken, OSError, NotImplementedError) as error:
        closed = is_closed(folder / resource["path"], error)
        return f"shapes {name}", UNSEEN if closed else FAILS, str(error)
    return judged(f"shapes {name}", same, "its rows are those of the table", "its rows are others than the table's")


def judged(name: str, holds: bool, good: str, bad: str) -> tuple[str, str, str]:
    return name, HOLDS if holds else FAILS, good if holds else bad


def fields_with_other_values(table: Table) -> Iterator[str]:
    """Fields with values that the schema does not list, or with gaps where it allows none."""
    for position, field in enumerate(table.fields):
        values, constraints = {row[position] for row in table.rows}, field.get("constraints", {})
        gap = constraints.get("required") and None in values
        if gap or ("enum" in constraints and not values - {None} <= set(constraints["enum"])):
            yield field["name"]


def claims_of_classes(table: Table, ours: dict[str, Any], k: int) -> Iterator[tuple[str, str, str]]:
    """k: every class (level, region, quasi-identifiers) has k records; l and shares: what its sensitive values are."""
    shown = table.positions("level", "region", "quasi-identifier")
    classes: Counter[tuple[Any, ...]] = Counter()
    for row, records in table.weighted():
        classes[tuple(row[i] for i in shown)] += records
    below = sum(records < k for records in classes.values())
    of = f"{len(classes)} classes of {', '.join(table.names[i] for i in shown)}"
    found = f"{of}, the smallest of {min(classes.values(), default=0)} records, {below} below {k}"
    yield judged("k", not below, found, found)
    members = [kind for kind in ours.get("counts", []) if kind != "records"]
    for kind in members:
        yield f"k of {kind}", UNSEEN, "who the records belong to is not published"
    least, most = int(ours.get("l_diversity", 1)), float(ours.get("max_share", 100))
    if least <= 1 and most >= 100:
        return
    for position in table.positions("sensitive"):
        name = table.names[position]
        if members:
            yield f"l {name}", UNSEEN, "who the records belong to is not published"
            continue
        values: defaultdict[tuple[Any, ...], Counter[Any]] = defaultdict(Counter)
        for row, records in table.weighted():
            if records > 0:
                values[tuple(row[i] for i in shown)][row[position]] += records
        fewest = min(map(len, values.values()), default=least)
        largest = max((100 * max(held.values()) / sum(held.values()) for held in values.values()), default=0)
        found = f"at least {fewest} values in a class, at most {largest:.1f} % of it with the same"
        yield judged(f"l {name}", fewest >= least and largest <= most * (1 + 1e-12), found, found)


def claims_of_places(tables: dict[str, Table], described: list[Any]) -> Iterator[tuple[str, str, str]]:
    """That the regions of records are there, that levels nest, and that regions have the records counted for them.

    described : how many regions each level is said to have
    """
    if not set(TABLES) <= set(tables):
        yield from ((name, UNSEEN, CANNOT_READ) for name in ("areas", "regions", "levels", "counts"))
        return
    n_levels = len(described)
    records, crosswalk, regions = (tables[name] for name in TABLES)
    nested = bool(records.positions("level"))
    expected = [f"vbas_region_{level + 1}" for level in range(n_levels)] if nested else ["vbas_region"]
    others = [field["name"] for field in crosswalk.fields if field.get("role") != "area"]
    try:
        if others != expected or len(expected) != n_levels or len(crosswalk.positions("area")) != 1:
            raise ValueError("the crosswalk has other levels than are described")
        told = told_of_regions(regions, nested)
        shown = places_of_records(records, nested)
    except (ValueError, IndexError) as error:
        yield "levels", FAILS, str(error)
        yield from ((name, UNSEEN, CANNOT_READ) for name in ("areas", "regions", "counts"))
        return
    named: Counter[Any] = Counter()
    for row, copies in crosswalk.rows.items():
        named[row[crosswalk.positions("area")[0]]] += copies
    twice = sum(copies > 1 or area is None for area, copies in named.items())
    yield judged("areas", not twice, "each is named once", f"{twice} are named more than once, or have no name")
    # How many areas have these regions, from the finest level to the coarsest.
    chains: Counter[tuple[Any, ...]] = Counter()
    at = [crosswalk.names.index(name) for name in expected]
    for row, copies in crosswalk.rows.items():
        chains[tuple(row[i] for i in at)] += copies
    held: Counter[Place] = Counter()
    above: defaultdict[Place, set[Any]] = defaultdict(set)
    for chain, n_areas in chains.items():
        for level, region in enumerate(chain, 1):
            if region is not None:
                held[level, region] += n_areas
                above[level, region].add(chain[level] if level < n_levels else None)
    lost = sum(rows for place, (rows, _) in shown.items() if place not in told or place not in held)
    yield judged("regions", not lost, "every record's region is known", f"{lost} rows are of regions that are not")
    wrong = sum(not nests(place, told, held, above) for place in {*held, *told})
    n_held = [sum(at == level for at, _ in held) for level in range(1, n_levels + 1)]
    bad = f"{wrong} regions do not" if wrong else f"they have {n_held} regions, not {described}"
    yield judged("levels", not wrong and n_held == described, "every region lies in one of the next level", bad)
    differing = counted_otherwise(told, {place: weight for place, (_, weight) in shown.items()}, nested)
    yield judged("counts", not differing, "they are those of the records", f"{differing} regions differ")


def told_of_regions(regions: Table, nested: bool) -> Told:
    """By (level, number): parent, areas, records released there, and within."""
    wanted = ["vbas_region", "areas", "released", *(["vbas_level", "vbas_parent", "within"] if nested else [])]
    for name in wanted:
        if name not in regions.names or regions.types[regions.names.index(name)] != "integer":
            raise ValueError(f"regions have no whole numbers {name}")
    told = {}
    for row in regions.rows:
        of = dict(zip(regions.names, row))
        place = of["vbas_level"] if nested else 1, of["vbas_region"]
        told[place] = {"parent": None, "within": None, **{name.replace("vbas_", ""): of[name] for name in wanted}}
    if len(told) < len(regions):
        raise ValueError("a region is named twice")
    return told


def places_of_records(records: Table, nested: bool) -> dict[Place, tuple[int, Any]]:
    """By (level, number): rows there, and records."""
    shown: defaultdict[Place, tuple[int, Any]] = defaultdict(lambda: (0, 0))
    level, region = records.positions("level"), records.positions("region")[0]
    for row, weight in records.weighted():
        place = row[level[0]] if nested else 1, row[region]
        rows, before = shown[place]
        shown[place] = rows + records.rows[row], before + weight
    return shown


def nests(place: Place, told: Told, held: Counter[Place], above: dict[Place, set[Any]]) -> bool:
    """Whether a region is described, holds the areas counted for it, and lies in its parent and nowhere else."""
    there = place in told and place in held
    return there and told[place]["areas"] == held[place] and above[place] == {told[place]["parent"]}


def counted_otherwise(told: Told, weights: dict[Place, Any], nested: bool) -> int:
    """Regions for which other records are counted than the rows show, there or in regions within."""
    within = {place: weights.get(place, 0) for place in told}
    for place in sorted(told, key=lambda place: (place[0] is None, place[0])):
        above = (None if place[0] is None else place[0] + 1, told[place]["parent"])
        if nested and above in within:
            within[above] += within[place]
    return sum(
        of["released"] != weights.get(place, 0) or (nested and of["within"] != within[place])
        for place, of in told.items()
    )


def main() -> int:
    # Names that the code page of a Windows system lacks are written by their numbers.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--k", type=int, help="what is asked, where that is more than the release claims")
    parser.add_argument("--register", type=Path, help="the register that it is in, whose chain is verified too")
    given = parser.parse_args()
    package = read_description(given.folder)
    if package is None:
        print(f"{given.folder} is no folder of a release: it has no datapackage.json of VBAS that can be read.")
        return 2
    claims = list(verified(given.folder, package, given.k))
    if given.register:
        verified_chain = run_path(str(Path(__file__).with_name("chain.py")))["verified"]
        claims += verified_chain(given.register, package=package)
    print(*(f"{status:<15} {name}: {found}" for name, status, found in claims), sep="\n")
    statuses = {status for _, status, _ in claims}
    return 1 if FAILS in statuses else 2 if UNSEEN in statuses else 0


if __name__ == "__main__":
    raise SystemExit(main())
