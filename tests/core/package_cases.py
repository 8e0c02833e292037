"""Small releases drawn by chance, written as folders, and damaged."""

from __future__ import annotations

import importlib.util
import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.errors import VbasError
from vbas.core.levels import Levels
from vbas.core.package.content_hash import content_hash, hash_of_all
from vbas.core.package.dataset import tables_of_release
from vbas.core.package.descriptor import FILE, file_hash
from vbas.core.package.table import Crs, DataTable
from vbas.core.package.writing import CSV, GEOPACKAGE, PARQUET, write_tables
from vbas.core.records.columns import Column, column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable

from .nested_cases import random_levels

VERIFY = Path(__file__).resolve().parents[2] / "verify" / "verify.py"
TEXTS = ["a", "b", "", "NA", 'with "quotes", and commas', "two\nlines", " blanks ", "é", "+1+1", "𝒳"]


def verify_module():
    """verify.py as a module, which knows nothing of the package."""
    spec = importlib.util.spec_from_file_location("verify_as_it_stands", VERIFY)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drawn_account(rng: np.random.Generator) -> Account:
    """A release of a few areas and people: of one level or nested, counted or not, with sensitive values or without."""
    while True:
        n, n_records = int(rng.integers(2, 12)), int(rng.integers(20, 150))
        areas = make_areas([f"{i:03d}" for i in range(n)], rng.integers(0, 900, (n, 2)).astype(float), np.ones(n))
        values: list[list[object]] = [["F", "M", None], [0, 1, 2], list(rng.choice(TEXTS, 3)), [0.5, -0.0, 3.0]]
        kinds = rng.permutation(4)[: int(rng.integers(1, 3))]
        quasi = {f"q{i}": column_from_values([values[i][j] for j in rng.integers(0, 3, n_records)]) for i in kinds}
        kept = {"illness": column_from_values([TEXTS[j] for j in rng.integers(0, 5, n_records)])}
        if rng.random() < 0.3:
            kept["well"] = column_from_values([bool(j) for j in rng.integers(0, 2, n_records)])
        asks_for_values = rng.random() < 0.4
        counts = rng.integers(1, 4, n_records) if rng.random() < 0.3 else None
        table = RecordTable(
            column_from_values([f"{i:03d}" for i in rng.integers(0, n, n_records)]),
            quasi,
            kept if asks_for_values or rng.random() < 0.6 else {},
            counts,
            sensitive=("illness",) if asks_for_values else (),
        )
        nested = bool(rng.random() < 0.6)
        levels = random_levels(areas, rng, int(rng.integers(2, 4)) if nested else 1, left_out=True)
        if not nested:
            levels = Levels(levels.crosswalks[:1])
        ask = Ask(
            k=int(rng.integers(2, 5)),
            l_diversity=2 if asks_for_values else 1,
            max_share=float(rng.choice([100.0, 75.0])) if asks_for_values else 100.0,
            nested=nested,
        )
        try:
            account = anonymise(areas, match_records(table, areas), levels, ask)
        except VbasError:  # such as a kept field that gives away the area
            continue
        if account.release.n_records:
            return account


def shapes_of(account: Account) -> list[np.ndarray]:
    """A square for each region of each level."""
    return [
        np.array([shapely.box(i, level, i + 1, level + 1) for i in range(crosswalk.n_regions)], dtype=object)
        for level, crosswalk in enumerate(account.levels.crosswalks)
    ]


def tables_of(account: Account, drawn: bool = True) -> tuple[DataTable, ...]:
    """The tables of a release, its regions drawn or not."""
    if not drawn:
        return tables_of_release(account)
    return tables_of_release(account, "area", shapes_of(account), Crs("EPSG:3347", "PROJCS[]"))


def changed(table: DataTable, name: str, row: int, value: object) -> DataTable:
    """The table with another value in one row, which is counted apart from those that were the same."""
    at = table.names.index(name)
    columns = [Column(np.append(of.codes, of.codes[row]).astype(np.int64), of.categories) for of in table.columns]
    categories = np.append(columns[at].categories, np.array([None], dtype=object))
    categories[-1] = value
    codes = columns[at].codes.copy()
    codes[-1] = len(categories) - 1
    columns[at] = Column(codes, categories)
    copies = np.append(table.copies, 1)
    copies[row] = max(copies[row] - 1, 0)
    shapes = None if table.shapes is None else np.append(table.shapes, table.shapes[row : row + 1])
    return replace(table, columns=tuple(columns), copies=copies, shapes=shapes)


@dataclass
class Damage:
    """What was done to the tables of a folder, or to its description."""

    name: str
    tables: dict[str, DataTable]


def other_value(rng: np.random.Generator, table: DataTable, name: str) -> object:
    """A value of a column, or a new one of its type."""
    column = table.column(name)
    known = [value for value in column.categories.tolist() if value is not None]
    kind = table.fields[table.names.index(name)].type
    new = {"integer": 77, "number": 7.5, "boolean": True}.get(kind, "new")
    return known[rng.integers(len(known))] if known and rng.random() < 0.7 else new


def damage(rng: np.random.Generator, tables: dict[str, DataTable], k: int) -> Damage:
    """Damage tables of a release by chance: a row, a region, a class, a crosswalk, a count, or nothing."""
    kind = str(rng.choice(["row", "swap", "class", "crosswalk", "region", "gap", "nothing"]))
    records, crosswalk, regions = (tables[name] for name in ("records", "crosswalk", "regions"))
    row = int(rng.integers(len(records.copies)))
    if kind == "row":
        name = str(rng.choice(records.names))
        records = changed(records, name, row, other_value(rng, records, name))
    elif kind == "swap":
        for_row, other = records.column("vbas_region"), int(rng.integers(len(records.copies)))
        mine, others = (for_row.categories[for_row.codes[i]] for i in (row, other))
        records = changed(changed(records, "vbas_region", row, others), "vbas_region", other, mine)
    elif kind == "class":
        records = with_class_below(records, row, k)
    elif kind == "crosswalk":
        name = str(rng.choice(crosswalk.names[1:]))
        at = int(rng.integers(len(crosswalk.copies)))
        crosswalk = changed(crosswalk, name, at, other_value(rng, crosswalk, name))
    elif kind == "region":
        name = str(rng.choice(regions.names))
        regions = changed(regions, name, int(rng.integers(len(regions.copies))), other_value(rng, regions, name))
    elif kind == "gap":
        name = str(rng.choice(records.names[:-1] if len(records.names) > 2 else records.names[:1]))
        records = changed(records, name, row, None)
    return Damage(kind, {"records": records, "crosswalk": crosswalk, "regions": regions})


def with_class_below(records: DataTable, row: int, k: int) -> DataTable:
    """The records with the class of one row cut down to k - 1."""
    told = ("level", "region", "quasi-identifier")
    shown = [of.codes for field, of in zip(records.fields, records.columns) if field.role in told]
    same = np.logical_and.reduce([codes == codes[row] for codes in shown])
    copies = np.where(same, 0, records.copies)
    if "records" not in records.names:
        copies[row] = k - 1
        return replace(records, copies=copies)
    copies[row] = 1
    return changed(replace(records, copies=copies), "records", row, k - 1)


def write_damaged(folder: Path, damaged: Damage, package: dict[str, Any], written: str, hashes_put_right: bool) -> None:
    """Write damaged tables over those of a folder; with hashes that say so, or with those of before."""
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    shutil.rmtree(folder)
    folder.mkdir()
    write_tables(folder, list(damaged.tables.values()), written)
    for resource in package["resources"]:  # what is no table stays as it was
        if not (file := folder / resource["path"]).exists():
            file.write_bytes(before[file.name])
    package = json.loads(json.dumps(package))
    if hashes_put_right:
        found = {name: content_hash(table) for name, table in damaged.tables.items()}
        for resource in package["resources"]:
            resource["hash"] = f"sha256:{file_hash(folder / resource['path'])}"
            if resource["name"] in found:
                resource["content_sha256"] = found[resource["name"]]
                resource["rows"] = len(damaged.tables[resource["name"]])
        package["vbas"]["content_sha256"] = hash_of_all(found)
    (folder / FILE).write_text(json.dumps(package), encoding="utf-8")


def format_of(i: int) -> str:
    """Mostly CSV, which is written fastest."""
    return GEOPACKAGE if i % 10 == 3 else PARQUET if i % 10 == 7 else CSV
