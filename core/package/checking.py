"""A release's folder looked at once more, from its files alone: claim by claim.

`verify/verify.py` does the same without a line of this, for those who trust neither; tests hold the two together.
"""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import to_list
from ..dataclass import dataclass
from ..errors import InputError, first_values
from ..language import as_data, plural, tr
from ..linked.tables import ONE_ROW
from ..publish.files import DISK, FileSystem
from ..records.columns import combine_codes
from .claims import Claim
from .content_hash import content_hash, hash_of_all
from .dataset import CROSSWALK, RECORDS, REGIONS
from .descriptor import FILE, LAYOUT, OURS, fields_of, file_hash
from .linked import Looked, claims_of_linked
from .reading import NotAsDescribed, read_table
from .table import AREA, COUNT, LEVEL, QUASI, REGION, SENSITIVE, DataTable

TABLES = (RECORDS, CROSSWALK, REGIONS)
TOLERANCE = 1e-12  # of a share, relative
LEFT_OUT = -(2**62)  # in the place of a region's number


@dataclass(frozen=True, eq=False)
class Checked:
    """A folder that was looked at: its claims, and its tables by name, those that could be read."""

    claims: tuple[Claim, ...]
    tables: Mapping[str, DataTable]
    k: int
    smallest: int | None = None

    @property
    def broken(self) -> tuple[Claim, ...]:
        """The claims that do not hold."""
        return tuple(claim for claim in self.claims if claim.holds is False)

    @property
    def unseen(self) -> tuple[Claim, ...]:
        """The claims that could not be looked at."""
        return tuple(claim for claim in self.claims if claim.holds is None)


def read_descriptor(folder: Path, files: FileSystem = DISK) -> dict[str, Any]:
    """The description of a release's folder. Raises InputError where there is none that this program wrote."""
    try:
        package = json.loads(files.read_bytes(folder / FILE).decode("utf-8"))
        ours, named = package[OURS], [str(resource["path"]) for resource in package["resources"]]
        layout, _, _ = int(ours["layout"]), int(ours["k"]), len(ours["levels"])
        _linked_of(ours)
        _look_whether_all_is_there(package)
    except (OSError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(
            tr(
                "{folder} is no folder of a release: it has no {file} of VBAS that can be read.",
                folder=folder,
                file=FILE,
            )
        ) from error
    if layout > LAYOUT or any(Path(path).name != path or path in ("", ".", "..") for path in named):
        raise InputError(
            tr("{folder}: its {file} is of a newer version than this one reads, or damaged.", folder=folder, file=FILE)
        )
    return dict(package)


def _linked_of(ours: Mapping[str, Any]) -> dict[str, Looked]:
    """How each linked table is looked at, by its name."""
    return {
        str(table["table"]): Looked(bool(table["count_known"]), table.get("rows_known") == ONE_ROW, int(table["k"]))
        for table in ours.get("linked", [])
    }


def _look_whether_all_is_there(package: Mapping[str, Any]) -> None:
    """Raises some error where the description of claims or of fields is of another kind than this program writes."""
    ours = package[OURS]
    _ = int(ours.get("l_diversity", 1)), float(ours.get("max_share", 100)), [*ours.get("counts", [])]
    for resource in package["resources"]:
        fields = resource.get("schema", {"fields": []})["fields"]
        roles = ["".join((field["name"], field["type"])) and field.get("role") for field in fields]
        _ = Path(resource["path"]), [set(field.get("constraints", {}).get("enum", [])) for field in fields]
        if resource["name"] == RECORDS:
            roles.index(REGION)  # without it, classes of different regions would be counted as one


def check_folder(folder: Path, k: int | None = None) -> Checked:
    """Look at every claim of a release's folder.

    Parameters
    ----------
    folder : Path
        With datapackage.json and the files that it names.
    k : int, optional
        What is asked, where that is more than the release claims.

    Returns
    -------
    Checked
        Claims, each with whether it holds.

    Raises
    ------
    InputError
        Where it is no folder of a release.

    Examples
    --------
    >>> from pathlib import Path
    >>> from vbas import anonymize
    >>> from vbas.core.package.checking import check_folder
    >>> areas = {"area": ["a", "b", "c", "d"], "x": [0, 900, 0, 900], "y": [0, 0, 900, 900]}
    >>> people = {"area": list("aabbccdd") * 3, "sex": ["F", "M"] * 12}
    >>> _ = anonymize(areas, people, area="area", quasi_identifiers="sex").write("release")
    >>> checked = check_folder(Path("release"), k=20)
    >>> checked.smallest, [claim.name for claim in checked.claims if not claim.holds]
    (12, ['k'])
    """
    package = read_descriptor(folder)
    ours, claims, tables = package[OURS], [], {}
    by_path = {str(resource["path"]): resource for resource in package["resources"]}
    claims += [_file_claim(folder, resource) for resource in by_path.values()]
    claims.append(_other_files_claim(sorted(set(DISK.names(folder)) - {FILE, *by_path})))
    by_name = {str(resource["name"]): resource for resource in package["resources"]}
    hashes: dict[str, str] = {}
    linked = _linked_of(ours)
    for name in (*TABLES, *linked):
        table, claim = _read(folder, name, by_name.get(name))
        claims.append(claim)
        if table is None:
            claims += [_unseen(f"content {name}"), _unseen(f"values {name}")]
            continue
        tables[name] = table
        hashes[name] = content_hash(table)
        claims.append(_content_claim(table, by_name[name], hashes[name]))
        claims.append(_values_claim(table, by_name[name]))
    if len(hashes) == len(TABLES) + len(linked):
        same = hash_of_all(hashes) == ours.get("content_sha256")
        claims.append(
            Claim(
                "content",
                same,
                tr("The hash of the whole release is {content_hash}.", content_hash=hash_of_all(hashes)),
            )
        )
    else:
        claims.append(_unseen("content"))
    asked = max(int(ours["k"]), k or 0)
    smallest = None
    if RECORDS in tables:
        classes = _Classes(tables[RECORDS])
        smallest = int(classes.sizes.min()) if len(classes.sizes) else None
        claims += _claims_of_classes(classes, tables[RECORDS], ours, asked)
    else:
        claims.append(_unseen("k"))
    claims += _claims_of_places(tables, ours)
    claims += claims_of_linked(tables, linked, k or 0)
    return Checked(tuple(claims), tables, asked, smallest)


def _unseen(name: str) -> Claim:
    return Claim(name, None, tr("Not looked at: what it rests on cannot be read."))


def _file_claim(folder: Path, resource: Mapping[str, Any]) -> Claim:
    path = str(resource["path"])
    try:
        same = f"sha256:{file_hash(folder / path)}" == resource.get("hash")
    except OSError as error:
        return Claim(f"file {path}", False, tr("{path} cannot be read: {reason}.", path=path, reason=error.strerror))
    says = tr("{path} has the bytes that were written.", path=path)
    return Claim(f"file {path}", same, says if same else tr("{path} was changed after it was written.", path=path))


def _other_files_claim(others: list[str]) -> Claim:
    """That nothing lies in the folder that is not described, such as what was put there for the time being."""
    name = as_data("other files")
    if not others:
        return Claim(name, True, tr("The folder holds no other files."))
    says = tr(
        "The folder holds what is no part of the release, and what nobody looked at: {files}. Take it out before the "
        "folder goes out.",
        files=first_values(others),
    )
    return Claim(name, False, says)


def _read(folder: Path, name: str, resource: Mapping[str, Any] | None) -> tuple[DataTable | None, Claim]:
    """A table, None where it cannot be read, and the claim that its fields are those of its schema."""
    claim = f"fields {name}"
    if resource is None:
        return None, Claim(claim, False, tr("There is no table “{table}”.", table=name))
    try:
        fields = fields_of(resource)
    except InputError as error:
        return None, Claim(claim, False, str(error))
    try:
        file = folder / str(resource["path"])
        missing = str(resource["schema"]["missingValues"][0]) if file.suffix.lower() == ".csv" else ""
        table = read_table(file, name, fields, missing)
    except InputError as error:
        return None, Claim(claim, None, str(error))
    except (NotAsDescribed, OSError, sqlite3.Error, csv.Error, KeyError, IndexError, TypeError) as error:
        return None, Claim(
            claim, False, tr("“{table}” is not what its schema says: {error}.", table=name, error=str(error))
        )
    return table, Claim(claim, True, tr("The fields of “{table}” have the names and types of its schema.", table=name))


def _content_claim(table: DataTable, resource: Mapping[str, Any], content_hash: str) -> Claim:
    same = content_hash == resource.get("content_sha256") and len(table) == resource.get("rows")
    return Claim(
        f"content {table.name}",
        same,
        tr(
            "“{table}”: content hash {content_hash} of {n:,} rows.",
            table=table.name,
            content_hash=content_hash,
            n=len(table),
        ),
    )


def _values_claim(table: DataTable, resource: Mapping[str, Any]) -> Claim:
    """That each field holds the categories that its schema lists, and no gaps where it allows none."""
    wrong = []
    for described, column in zip(resource["schema"]["fields"], table.columns):
        constraints = described.get("constraints", {})
        values = set(to_list(column.categories))
        listed = constraints.get("enum")
        if (constraints.get("required") and None in values) or (
            listed is not None and not values - {None} <= set(listed)
        ):
            wrong.append(str(described["name"]))
    says = tr("The values of “{table}” are those that its schema lists.", table=table.name)
    if wrong:
        says = tr("“{table}” has values that its schema does not list: {fields}.", table=table.name, fields=wrong[0])
    return Claim(f"values {table.name}", not wrong, says)


class _Classes:
    """The classes of the released records: level, region and quasi-identifiers."""

    def __init__(self, table: DataTable) -> None:
        count = table.of_role(COUNT)
        # A count that is missing or below 0, which no release has, is nobody.
        self.weights = table.copies * (np.maximum(_numbers(table, count[0].name), 0) if count else 1)
        own = [of for field, of in zip(table.fields, table.columns) if field.role in (LEVEL, REGION, QUASI)]
        self.class_of = np.empty(0, np.int64)
        if len(table.copies):
            self.class_of, _ = combine_codes([of.codes for of in own], [len(of.categories) for of in own])
        self.sizes = np.bincount(self.class_of, self.weights).astype(np.int64)


def _claims_of_classes(classes: _Classes, table: DataTable, ours: Mapping[str, Any], k: int) -> Iterator[Claim]:
    sizes = classes.sizes
    below = int((sizes < k).sum())
    if not len(sizes):
        says = tr("No record is released.")
    elif not below:
        says = tr(
            "Every class of level, region and quasi-identifiers has at least {k} records; the smallest has {n}.",
            k=k,
            n=int(sizes.min()),
        )
    else:
        says = plural(
            "{n} class has fewer than {k} records; the smallest has {least}.",
            "{n} classes have fewer than {k} records; the smallest has {least}.",
            below,
            k=k,
            least=int(sizes.min()),
        )
    yield Claim("k", not below, says)
    members = [kind for kind in ours.get("counts", []) if kind != RECORDS]
    for kind in members:
        yield Claim(f"k of {kind}", None, tr("Who the records belong to is not published: not looked at."))
    distinct, share = int(ours.get("l_diversity", 1)), float(ours.get("max_share", 100))
    if distinct <= 1 and share >= 100:
        return
    for field in table.of_role(SENSITIVE):
        if members:
            yield Claim(f"l {field.name}", None, tr("Who the records belong to is not published: not looked at."))
            continue
        column = table.column(field.name)
        n_values = max(len(column.categories), 1)
        pairs, pair_of = np.unique(classes.class_of * n_values + column.codes, return_inverse=True)
        held = np.bincount(pair_of.reshape(-1), classes.weights, len(pairs))
        of_class = pairs[held > 0] // n_values
        values = np.bincount(of_class, minlength=len(sizes))
        largest = np.zeros(len(sizes))
        np.maximum.at(largest, pairs // n_values, held)
        shares = 100.0 * largest / np.maximum(sizes, 1)
        least, most = (int(values.min()), float(shares.max())) if len(sizes) else (distinct, 0.0)
        yield Claim(
            f"l {field.name}",
            least >= distinct and most <= share * (1 + TOLERANCE),
            tr(
                "“{field}”: every class has at least {least} values, and at most {most:.1f} % of one has the same.",
                field=field.name,
                least=least,
                most=most,
            ),
        )


def _claims_of_places(tables: Mapping[str, DataTable], ours: Mapping[str, Any]) -> Iterator[Claim]:
    if not set(TABLES) <= set(tables):
        yield from map(_unseen, ("regions", "levels", "counts"))
        return
    try:
        places = _Places(tables, len(ours["levels"]))
    except (ValueError, IndexError) as error:
        yield Claim("levels", False, tr("The levels of the tables are not those described: {error}.", error=str(error)))
        yield from map(_unseen, ("regions", "counts"))
        return
    unknown = places.rows_nowhere()
    yield Claim(
        "regions",
        not unknown,
        plural("{n} row is of a region that there is not.", "{n} rows are of regions that there are not.", unknown)
        if unknown
        else tr("The region of every record is in the tables of regions and of areas."),
    )
    wrong = places.not_nested()
    yield Claim(
        "levels",
        not wrong,
        plural("{n} region lies in no one region above it.", "{n} regions lie in no one region above them.", wrong)
        if wrong
        else tr("Every region lies in one region of the next level, and holds the areas that are counted for it."),
    )
    differing = places.counted_otherwise()
    yield Claim(
        "counts",
        not differing,
        plural(
            "{n} region has other records than are counted for it.",
            "{n} regions have other records than are counted for them.",
            differing,
        )
        if differing
        else tr("Every region has as many records as are counted for it."),
    )


class _Places:
    """Regions by level and number, as the three tables name them. Raises ValueError for tables without the fields."""

    def __init__(self, tables: Mapping[str, DataTable], n_levels: int) -> None:
        records, crosswalk, regions = (tables[name] for name in TABLES)
        nested = bool(records.of_role(LEVEL))
        names = [f"vbas_region_{level + 1}" for level in range(n_levels)] if nested else ["vbas_region"]
        if [field.name for field in crosswalk.fields if field.role != AREA] != names or len(names) != n_levels:
            raise ValueError(", ".join(crosswalk.names))
        self.of_areas = [np.repeat(_numbers(crosswalk, name), crosswalk.copies) for name in names]
        self.nested, self.n_levels = nested, n_levels
        self.regions, self.records = regions, records
        self.level = _numbers(regions, "vbas_level") if nested else np.ones(len(regions.copies), np.int64)
        self.number = _numbers(regions, "vbas_region")
        self.place = {place: i for i, place in enumerate(zip(to_list(self.level), to_list(self.number)))}
        if len(self.place) < len(regions):
            raise ValueError(tr("a region is named twice"))
        level = _numbers(records, "vbas_level") if nested else np.ones(len(records.copies), np.int64)
        rows = np.column_stack([level, _numbers(records, "vbas_region")])
        rows_there, row_of = np.unique(rows, axis=0, return_inverse=True)
        of_shown = np.array([self.place.get((level, number), -1) for level, number in to_list(rows_there)], np.int64)
        self.row_place = of_shown[row_of.reshape(-1)]
        self.weights = _Classes(records).weights

    def rows_nowhere(self) -> int:
        """Rows whose region is not in the table of regions, or holds no area."""
        held = {
            (i + 1, number)
            for i, of in enumerate(self.of_areas)
            for number in np.unique(of).tolist()
            if number != LEFT_OUT
        }
        empty = np.array([place not in held for place in self.place], bool)
        lost = (self.row_place < 0) | np.append(empty, True)[self.row_place]
        return int(self.records.copies[lost].sum())

    def not_nested(self) -> int:
        """Regions that lie in another region than their parent, or hold another number of areas."""
        wrong: set[tuple[int, int]] = {place for place in self.place if not 1 <= place[0] <= self.n_levels}
        areas = dict(zip(self.place, _numbers(self.regions, "areas").tolist()))
        parents = dict(zip(self.place, self._parents().tolist()))
        for level in range(1, self.n_levels + 1):
            of, above = self.of_areas[level - 1], self.of_areas[level] if level < self.n_levels else None
            numbers, first, region_of, held = np.unique(of, return_index=True, return_inverse=True, return_counts=True)
            split = np.zeros(len(numbers), bool)
            if above is not None:
                np.logical_or.at(split, region_of.reshape(-1), above[first][region_of.reshape(-1)] != above)
            for i, number in enumerate(numbers.tolist()):
                if number == LEFT_OUT:
                    continue
                parent = LEFT_OUT if above is None else above[first[i]]
                known = areas.get((level, number))
                if known != held[i] or split[i] or (self.nested and parents.get((level, number)) != parent):
                    wrong.add((level, number))
            there = set(numbers.tolist()) - {LEFT_OUT}
            wrong |= {place for place in self.place if place[0] == level and place[1] not in there}
        return len(wrong)

    def counted_otherwise(self) -> int:
        """Regions for which other records are counted than the rows show, here or in regions within."""
        here = self.row_place >= 0
        released = np.zeros(len(self.level), np.int64)
        np.add.at(released, self.row_place[here], self.weights[here])
        differ = released != _numbers(self.regions, "released")
        if self.nested:
            within, parents = released.copy(), self._parents()
            for place in np.argsort(self.level, kind="stable").tolist():
                above = self.place.get((int(self.level[place]) + 1, int(parents[place])))
                if above is not None:
                    within[above] += within[place]
            differ |= within != _numbers(self.regions, "within")
        return int(differ.sum())

    def _parents(self) -> np.ndarray:
        if not self.nested:
            return np.full(len(self.level), LEFT_OUT)
        return _numbers(self.regions, "vbas_parent")


def _numbers(table: DataTable, name: str) -> np.ndarray:
    """A column of whole numbers, (R,) int64, LEFT_OUT where there is none. Raises ValueError for another column."""
    column = table.column(name)
    values = [LEFT_OUT if value is None else value for value in to_list(column.categories)]
    if any(isinstance(value, str) for value in values):
        raise ValueError(name)
    return np.array(values or [0], np.int64)[column.codes]
