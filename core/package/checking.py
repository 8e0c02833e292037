"""A release's folder looked at once more, from its files alone: claim by claim.

`verify/verify.py` does the same without a line of this, for those who trust neither; tests hold the two together.
"""

from __future__ import annotations

import csv
import json
import sqlite3
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import counted
from ..arrays import to_list
from ..dataclass import dataclass
from ..errors import InputError, first_values
from ..language import as_data, tr
from ..linked.tables import ONE_ROW
from ..publish.files import DISK, FileSystem
from .claims import Claim, unseen
from .content_hash import content_hash, hash_of_all
from .counting_again import TABLES, Classes, claims_of_classes, claims_of_places
from .dataset import RECORDS
from .descriptor import FILE, LAYOUT, OURS, PAGES, fields_of, file_hash, name_of_shapes
from .linked import Looked, claims_of_linked
from .reading import NotAsDescribed, names_beside, read_table
from .table import REGION, DataTable


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
        package = json.loads(files.read_bytes(folder / FILE).decode("utf-8"), object_pairs_hook=_named_once)
        ours, named = package[OURS], [str(resource["path"]) for resource in package["resources"]]
        layout, _ = int(ours["layout"]), [level["regions"] for level in ours["levels"]]
        _linked_of(ours)
        _look_whether_all_is_there(package)
    except (OSError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError.saying(
            "{folder} is no folder of a release: it has no {file} of VBAS that can be read.", folder=folder, file=FILE
        ) from error
    if layout > LAYOUT or any(Path(path).name != path or path in ("", ".", "..") for path in named):
        raise InputError.saying(
            "{folder}: its {file} is of a newer version than this one reads, or damaged.", folder=folder, file=FILE
        )
    return dict(package)


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. Raises ValueError where a name stands twice, of which readers take one or the other."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError(pairs[0][0])
    return dict(pairs)


def _least(number: object) -> int:
    """A number that a release claims to reach. Raises ValueError for others, such as true, which would pass for 1."""
    if type(number) is not int or number < 1:
        raise ValueError(number)
    return number


def _linked_of(ours: Mapping[str, Any]) -> dict[str, Looked]:
    """How each linked table is looked at, by its name."""
    return {
        str(table["table"]): Looked(bool(table["count_known"]), table.get("rows_known") == ONE_ROW, _least(table["k"]))
        for table in ours.get("linked", [])
    }


def _look_whether_all_is_there(package: Mapping[str, Any]) -> None:
    """Raises some error where the description of claims or of fields is of another kind than this program writes."""
    ours = package[OURS]
    _ = _least(ours["k"]), _least(ours.get("l_diversity", 1)), [*ours.get("counts", [])]
    if not 0 < ours.get("max_share", 100) <= 100:  # of NaN every comparison comes out as wished
        raise ValueError("max_share")
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
    by_name = {str(resource["name"]): resource for resource in package["resources"]}
    hashes: dict[str, str] = {}
    linked = _linked_of(ours)
    names = (*TABLES, *linked)
    claims.append(_other_files_claim(_no_part_of_it(folder, by_path, by_name, names)))
    for name in names:
        table, claim = _read(folder, name, by_name.get(name))
        claims.append(claim)
        if table is None:
            claims += [unseen(f"content {name}"), unseen(f"values {name}")]
            continue
        tables[name] = table
        hashes[name] = content_hash(table)
        claims.append(_content_claim(table, by_name[name], hashes[name]))
        claims.append(_values_claim(table, by_name[name]))
        if name_of_shapes(name) in by_name:
            claims.append(_shapes_claim(folder, table, by_name, hashes[name]))
    if len(hashes) == len(names):
        same = hash_of_all(hashes) == ours.get("content_sha256")
        claims.append(
            Claim(
                "content",
                same,
                tr("The hash of the whole release is {content_hash}.", content_hash=hash_of_all(hashes)),
            )
        )
    else:
        claims.append(unseen("content"))
    asked = max(int(ours["k"]), k or 0)
    smallest = None
    if RECORDS in tables:
        classes = Classes(tables[RECORDS])
        smallest = int(classes.sizes.min()) if len(classes.sizes) else None
        claims += claims_of_classes(classes, tables[RECORDS], ours, asked)
    else:
        claims.append(unseen("k"))
    claims += claims_of_places(tables, ours)
    claims += claims_of_linked(tables, linked, k or 0)
    return Checked(tuple(claims), tables, asked, smallest)


def _file_claim(folder: Path, resource: Mapping[str, Any]) -> Claim:
    path = str(resource["path"])
    try:
        if stat.S_ISLNK(DISK.status(folder / path).st_mode):
            return Claim(f"file {path}", False, tr("{path} is a link, and not in the folder.", path=path))
        same = f"sha256:{file_hash(folder / path)}" == resource.get("hash")
    except OSError as error:
        holds = None if _closed(folder / path) else False
        return Claim(f"file {path}", holds, tr("{path} cannot be read: {reason}.", path=path, reason=error.strerror))
    says = tr("{path} has the bytes that were written.", path=path)
    return Claim(f"file {path}", same, says if same else tr("{path} was changed after it was written.", path=path))


def _closed(file: Path) -> str:
    """Why a file cannot be read: the rights are lacking, or, on Windows, another program has it open; else empty."""
    try:
        DISK.read(file).close()
    except PermissionError as error:
        return str(error.strerror) if DISK.is_file(file) else ""  # Windows says the same of a folder
    except OSError:
        pass  # as is said of what it is to hold
    return ""


def _no_part_of_it(
    folder: Path, by_path: Mapping[str, Any], by_name: Mapping[str, Mapping[str, Any]], tables: Sequence[str]
) -> list[str]:
    """What lies in the folder, or is described, and is no table that is looked at, none's shapes, and no page of ours.

    A further table or page may be described as well, by whoever puts it there: datapackage.json is hashed by nothing.
    A page of ours that is not described counts too: without a hash it may say anything.
    In a GeoPackage all counts that is not its tables, such as a view.
    """
    of_tables = {name for table in tables for name in (table, name_of_shapes(table))}
    parts = {str(resource["path"]) for name, resource in by_name.items() if name in of_tables}
    pages = {*PAGES} & {*by_path}
    others = sorted({*DISK.names(folder), *by_path} - {FILE, *parts, *pages})
    return others + [table for path in sorted(parts) for table in _further_parts(folder / path, tables)]


def _further_parts(file: Path, tables: Sequence[str]) -> list[str]:
    try:
        names = names_beside(file, tables)
    except sqlite3.Error:
        return []  # no GeoPackage, or one that cannot be read, as is said of its tables
    return [tr("{table} in {file}", table=name, file=file.name) for name in names]


def _other_files_claim(others: list[str]) -> Claim:
    """That nothing lies in the folder that is no part of the release, such as what was put there for the time being."""
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
    file = folder / str(resource["path"])
    if reason := _closed(file):
        return None, Claim(claim, None, tr("{path} cannot be read: {reason}.", path=file.name, reason=reason))
    try:
        table = read_table(file, name, fields, _missing_of(resource, file))
    except InputError as error:
        return None, Claim(claim, None, str(error))
    except (NotAsDescribed, OSError, sqlite3.Error, csv.Error, KeyError, IndexError, TypeError) as error:
        return None, Claim(
            claim, False, tr("“{table}” is not what its schema says: {error}.", table=name, error=str(error))
        )
    return table, Claim(claim, True, tr("The fields of “{table}” have the names and types of its schema.", table=name))


def _missing_of(resource: Mapping[str, Any], file: Path) -> str:
    """What stands for a missing value. Raises NotAsDescribed unless it is one text, as in every release."""
    texts = resource["schema"]["missingValues"]
    if len(texts) != 1:
        raise NotAsDescribed(tr("its schema names no text, or several, that stand for a missing value"))
    return str(texts[0]) if file.suffix.lower() == ".csv" else ""


def _shapes_claim(folder: Path, table: DataTable, by_name: Mapping[str, Mapping[str, Any]], content: str) -> Claim:
    """That the file with a table's shapes has the rows of the table beside them, which a map shows with the shapes."""
    path = str(by_name[name_of_shapes(table.name)]["path"])
    there, claim = _read(folder, table.name, {**by_name[table.name], "path": path})
    name = f"shapes {table.name}"
    if there is None:
        return Claim(name, None if _closed(folder / path) else False, claim.says)
    same = content_hash(there) == content
    says = tr("{path} has the rows of “{table}”.", path=path, table=table.name)
    return Claim(name, same, says if same else tr("{path} has other rows than “{table}”.", path=path, table=table.name))


def _content_claim(table: DataTable, resource: Mapping[str, Any], content_hash: str) -> Claim:
    same = content_hash == resource.get("content_sha256") and len(table) == resource.get("rows")
    return Claim(
        f"content {table.name}",
        same,
        tr(
            "“{table}”: content hash {content_hash} of {rows}.",
            table=table.name,
            content_hash=content_hash,
            rows=counted.rows(len(table)),
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
