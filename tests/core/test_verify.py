"""verify.py, which shares no line with the package, finds in every folder what the package finds."""

from __future__ import annotations

import ast
import hashlib
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from runpy import run_path
from typing import Any

import numpy as np
import pytest

from vbas import anonymize, update_release
from vbas.core.errors import InputError, PrivacyError
from vbas.core.package.checking import check_folder
from vbas.core.package.descriptor import FILE
from vbas.core.package.folder import recount, write_folder
from vbas.core.package.writing import CSV, GEOPACKAGE, PARQUET
from vbas.core.publish.register.listing import taking_out

from ..exploring import tried
from ..systems import of_posix
from .package_cases import VERIFY, damage, drawn_account, format_of, tables_of, verify_module, write_damaged

SAYS = {"holds": True, "does not hold": False, "not looked at": None}


def by_package(folder, k=None):
    return {claim.name: claim.holds for claim in check_folder(folder, k).claims}


def by_verify(verify, folder, k=None):
    claims = verify.verified(folder, verify.read_description(folder), k)
    return {name: SAYS[status] for name, status, _ in claims}


def both(verify, folder, k=None):
    """What both say, which is the same."""
    said = by_package(folder, k)
    assert said == by_verify(verify, folder, k)
    return said


def agree_on_drawn_folders(tmp_path, numbers):
    """Draw folders, damage them, and see that both agree; how often each damage was found."""
    verify = verify_module()
    found: dict[str, list[bool]] = {}
    for number in numbers:
        rng = np.random.default_rng([33, number])
        account, written = drawn_account(rng), format_of(number)
        folder = tmp_path / "release"
        folder.mkdir()
        tables = {table.name: table for table in tables_of(account, drawn=written != CSV)}
        package = write_folder(folder, account, list(tables.values()), written)
        assert all(both(verify, folder).values())
        damaged = damage(rng, tables, account.ask.k)
        put_right = bool(rng.random() < 0.6)
        write_damaged(folder, damaged, package, written, put_right)
        said = both(verify, folder)
        found.setdefault(damaged.name, []).append(False in said.values())
        if damaged.name == "class":
            assert said["k"] is False
        if damaged.name == "nothing":
            assert all(holds for name, holds in said.items() if not name.startswith("file") or put_right)
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
    return found


@pytest.mark.slow
def test_both_agree_on_damaged_folders(tmp_path):
    agree_on_drawn_folders(tmp_path, range(tried(30, 60)))


@pytest.mark.slow
def test_both_agree_on_many_damaged_folders(tmp_path):
    """On a thousand where others are drawn than usual."""
    n = tried(60, 1000)
    found = agree_on_drawn_folders(tmp_path, range(60, 60 + n))
    assert sum(map(len, found.values())) == n and len(found) == 7
    assert all(found["class"]) and np.mean(found["crosswalk"]) > 0.5


@pytest.fixture
def folder(tmp_path):
    account = drawn_account(np.random.default_rng(5))
    folder = tmp_path / "release"
    folder.mkdir()
    write_folder(folder, account, tables_of(account), CSV)
    return folder


def described(folder, change):
    """Change the description of a folder."""
    package = json.loads((folder / FILE).read_text(encoding="utf-8"))
    change(package)
    (folder / FILE).write_text(json.dumps(package), encoding="utf-8")


def claiming(package, k):
    """Another k in a description."""
    package["vbas"]["k"] = k


def test_a_wrong_hash_is_found(folder):
    described(folder, lambda package: package["resources"][0].update(content_sha256="0" * 64))
    assert [name for name, holds in both(verify_module(), folder).items() if not holds] == ["content records"]


def test_a_wrong_hash_of_the_release_is_found(folder):
    described(folder, lambda package: package["vbas"].update(content_sha256="0" * 64))
    assert [name for name, holds in both(verify_module(), folder).items() if not holds] == ["content"]


def test_a_larger_k_is_asked(folder):
    said = both(verify_module(), folder, 10_000)
    assert [name for name, holds in said.items() if not holds] == ["k"]


def test_a_cell_of_another_type_is_found(folder):
    text = (folder / "crosswalk.csv").read_text(encoding="utf-8")
    (folder / "crosswalk.csv").write_text(text.rstrip("\n").rpartition(",")[0] + ",many\n", encoding="utf-8")
    said = both(verify_module(), folder)
    assert said["fields crosswalk"] is False and said["levels"] is None and said["k"] is True


@pytest.mark.parametrize("name", ["records", "crosswalk", "regions"])
def test_a_file_that_is_missing_is_found(folder, name):
    (folder / f"{name}.csv").unlink()
    said = both(verify_module(), folder)
    assert said[f"file {name}.csv"] is False and said[f"fields {name}"] is False and said["content"] is None


@pytest.mark.parametrize("written", [CSV, GEOPACKAGE, PARQUET])
@pytest.mark.parametrize("what", ["records", "regions"])
def test_a_file_that_nobody_may_read_is_not_looked_at(tmp_path, monkeypatch, written, what):
    account = drawn_account(np.random.default_rng(5))
    write_folder(tmp_path, account, tables_of(account), written)
    resources = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))["resources"]
    file = next(resource["path"] for resource in resources if resource["name"] == what)
    opened, read = Path.open, Path.read_bytes

    def refused(path):
        if path.name == file:
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", lambda self, *given, **named: refused(self) or opened(self, *given, **named))
    monkeypatch.setattr(Path, "read_bytes", lambda self: refused(self) or read(self))
    said = both(verify_module(), tmp_path)
    assert said[f"file {file}"] is None and said[f"fields {what}"] is None and said["content"] is None
    assert False not in said.values()
    with pytest.raises(PrivacyError):
        recount(tmp_path)


def test_shapes_that_nobody_may_read_are_not_looked_at(tmp_path, monkeypatch):
    records = {"area": list("aabbccdd") * 3, "sex": ["F", "M"] * 12}
    areas = {"area": list("abcd"), "x": [0, 900, 0, 900], "y": [0, 0, 900, 900]}
    anonymize(areas, records, area="area", quasi_identifiers="sex").write(tmp_path / "release")
    opened, read = Path.open, Path.read_bytes

    def refused(path):
        if path.name == "regions.gpkg":
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", lambda self, *given, **named: refused(self) or opened(self, *given, **named))
    monkeypatch.setattr(Path, "read_bytes", lambda self: refused(self) or read(self))
    said = both(verify_module(), tmp_path / "release")
    assert {name for name, holds in said.items() if holds is not True} == {"file regions.gpkg", "shapes regions"}
    assert said["shapes regions"] is None


@pytest.mark.parametrize("program", ["verify.py", "chain.py"])
@pytest.mark.parametrize(
    ("path", "told_to_sqlite"),
    [
        (PurePosixPath("/srv/a b/ü#1?.gpkg"), "file:///srv/a%20b/%C3%BC%231%3F.gpkg"),
        (PureWindowsPath(r"C:\data\a.gpkg"), "file:///C:/data/a.gpkg"),
        (PureWindowsPath(r"\\server\share\a.gpkg"), "file:////server/share/a.gpkg"),
        (PureWindowsPath("\\\\?\\C:\\data\\a.gpkg"), "file:////%3F/C:/data/a.gpkg"),
    ],
)
def test_files_of_network_drives_are_told_to_sqlite_with_the_server_in_their_path(program, path, told_to_sqlite):
    assert run_path(str(VERIFY.with_name(program)))["address"](path) == told_to_sqlite


def test_a_file_that_is_cut_short_is_found(folder):
    content = (folder / "records.csv").read_bytes()
    (folder / "records.csv").write_bytes(content[:-3])
    assert both(verify_module(), folder)["file records.csv"] is False


def test_what_is_no_part_of_the_release_is_found(folder):
    (folder / "raw").mkdir()
    (folder / ".people.csv").write_text("name\n", encoding="utf-8")
    assert [name for name, holds in both(verify_module(), folder).items() if not holds] == ["other files"]
    assert "“.people.csv”, “raw”" in check_folder(folder).broken[0].says
    assert (
        "does not hold   other files: no part of the release, and not looked at: .people.csv, raw" in run(folder).stdout
    )


def test_a_page_that_is_not_described_is_found(folder):
    """Whoever writes another takes its hash out of datapackage.json, which no hash covers."""
    (folder / "report.html").write_text("<p>Nobody can be found in this release.</p>", encoding="utf-8")
    described(folder, lambda of: of.update(resources=[file for file in of["resources"] if file["name"] != "report"]))
    assert not any(file["path"] == "report.html" for file in json.loads((folder / FILE).read_text())["resources"])
    assert [name for name, holds in both(verify_module(), folder).items() if not holds] == ["other files"]


@pytest.mark.parametrize("name", ["people", "records"])  # two of a name, too: the tables are those of the last
def test_a_further_table_is_found_where_it_is_described_too(folder, name):
    """Whoever edits datapackage.json, which no hash covers, may describe one."""
    (folder / "people.csv").write_bytes(b"name\n")
    file = {"path": "people.csv", "hash": "sha256:" + hashlib.sha256(b"name\n").hexdigest()}
    described(folder, lambda of: of["resources"].insert(0, {**of["resources"][0], "name": name, **file}))
    assert [name for name, holds in both(verify_module(), folder).items() if not holds] == ["other files"]
    assert "“people.csv”" in check_folder(folder).broken[0].says


@pytest.mark.parametrize(("written", "file"), [(CSV, "regions.gpkg"), (GEOPACKAGE, "release.gpkg")])
def test_a_further_table_of_a_geopackage_is_found(tmp_path, written, file):
    account = drawn_account(np.random.default_rng(5))
    write_folder(tmp_path, account, tables_of(account, drawn=True), written)
    assert all(both(verify_module(), tmp_path).values())
    with closing(sqlite3.connect(tmp_path / file)) as connection:
        connection.execute("CREATE TABLE people (name TEXT)")
    digest = hashlib.sha256((tmp_path / file).read_bytes()).hexdigest()

    def with_its_hash(package):
        for resource in package["resources"]:
            resource.update({"hash": f"sha256:{digest}"} if resource["path"] == file else {})

    described(tmp_path, with_its_hash)
    assert [name for name, holds in both(verify_module(), tmp_path).items() if not holds] == ["other files"]
    assert f"“people in {file}”" in check_folder(tmp_path).broken[0].says


def rehashed(folder: Path, change=lambda package: None) -> None:
    """Every file hash of a folder put right, as whoever changes a file can do."""

    def with_hashes(package):
        change(package)
        for resource in package["resources"]:
            resource["hash"] = "sha256:" + hashlib.sha256((folder / resource["path"]).read_bytes()).hexdigest()

    described(folder, with_hashes)


def not_holding(folder: Path) -> list[str]:
    """The claims that both say do not hold."""
    return [name for name, holds in both(verify_module(), folder).items() if holds is False]


PEOPLE = "UPDATE records SET person = 'p' || fid"
KEYED = [
    "CREATE TABLE keyed (fid INTEGER, person TEXT, {columns}, PRIMARY KEY (fid, person))",
    "INSERT INTO keyed SELECT fid, 'p' || fid, {columns} FROM records",
    "DROP TABLE records",
    "ALTER TABLE keyed RENAME TO records",
]


@pytest.mark.parametrize(
    ("statements", "claim"),
    [
        (["CREATE TABLE gpkg_people (name TEXT)"], "other files"),
        (["CREATE TABLE rtree_people (name TEXT)"], "other files"),
        (["CREATE VIEW people AS SELECT * FROM records"], "other files"),
        (["CREATE TRIGGER people AFTER INSERT ON records BEGIN SELECT 'p1'; END"], "other files"),
        (["CREATE INDEX people ON records (vbas_region) WHERE vbas_region <> 'p1'"], "other files"),
        (["ALTER TABLE records ADD COLUMN person TEXT GENERATED ALWAYS AS ('p' || fid) VIRTUAL"], "fields records"),
        (
            [
                "ALTER TABLE records ADD COLUMN person TEXT",
                "INSERT INTO gpkg_geometry_columns VALUES ('records', 'person', 'GEOMETRY', -1, 0, 0)",
                PEOPLE,
            ],
            "fields records",
        ),
        (KEYED, "fields records"),
        (["UPDATE records SET fid = fid + 461"], "fields records"),
        (["UPDATE regions SET geom = 'p1'"], "fields regions"),
    ],
)
def test_what_a_geopackage_hides_beside_its_tables_is_found(tmp_path, statements, claim):
    """A name that begins as those of the standard, a view, a column that is no column of the rows."""
    account = drawn_account(np.random.default_rng(5))
    write_folder(tmp_path, account, tables_of(account, drawn=True), GEOPACKAGE)
    assert not not_holding(tmp_path)
    with closing(sqlite3.connect(tmp_path / "release.gpkg")) as connection:
        columns = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info('records')")]
        for statement in statements:
            connection.execute(statement.format(columns=", ".join(columns[1:])))
        connection.commit()
    rehashed(tmp_path)
    assert claim in not_holding(tmp_path)


@pytest.mark.parametrize("name", ["records", "regions"])
def test_a_column_of_parquet_that_is_said_to_be_shapes_is_found(tmp_path, name):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    account = drawn_account(np.random.default_rng(5))
    write_folder(tmp_path, account, tables_of(account, drawn=True), PARQUET)
    assert not not_holding(tmp_path)
    file = tmp_path / f"{name}.parquet"
    table = parquet.read_table(str(file))
    people = table.drop_columns(["geom"] if name == "regions" else []).append_column(
        "person", pa.array([f"p{i}" for i in range(len(table))])
    )
    geo = {b"geo": json.dumps({"columns": {"person": {}}}).encode()}
    parquet.write_table(people.replace_schema_metadata(geo), str(file))
    rehashed(tmp_path)
    assert f"fields {name}" in not_holding(tmp_path)


def test_a_further_page_is_found_where_it_is_described_too(folder):
    (folder / "people.xml").write_text("<name/>", encoding="utf-8")
    rehashed(folder, lambda of: of["resources"].append({"name": "people", "path": "people.xml"}))
    assert not_holding(folder) == ["other files"]


@of_posix
def test_a_link_in_the_place_of_a_file_is_found(folder):
    away = folder.with_name("away.csv")
    (folder / "records.csv").rename(away)
    (folder / "records.csv").symlink_to(away)
    assert not_holding(folder) == ["file records.csv"]


@pytest.mark.parametrize(
    "statement", ["UPDATE regions SET areas = areas + 1", "ALTER TABLE regions ADD COLUMN name TEXT"]
)
def test_rows_beside_the_shapes_are_those_of_the_table(tmp_path, statement):
    """What a map shows with the shapes is looked at, too."""
    account = drawn_account(np.random.default_rng(5))
    write_folder(tmp_path, account, tables_of(account, drawn=True), CSV)
    assert not not_holding(tmp_path)
    with closing(sqlite3.connect(tmp_path / "regions.gpkg")) as connection:
        connection.execute(statement)
        connection.commit()
    rehashed(tmp_path)
    assert not_holding(tmp_path) == ["shapes regions"]


@pytest.mark.parametrize("named", ["", "another"])
def test_an_area_is_named_once(folder, named):
    """In the place of an area another one of the same region, or none."""
    file = folder / "crosswalk.csv"
    header, *rows = file.read_text(encoding="utf-8").splitlines()
    first = rows[0].partition(",")[0]
    others = [row.partition(",")[0] for row in rows[1:]]
    rows[0] = rows[0].replace(first, others[0] if named else "", 1)
    file.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    assert "areas" in not_holding(folder) and "levels" not in not_holding(folder)


def test_the_regions_of_a_level_are_as_many_as_are_described(folder):
    described(folder, lambda package: package["vbas"]["levels"][0].update(regions=99))
    assert not_holding(folder) == ["levels"]


@pytest.mark.parametrize("cell", [" 1", "0_1", "\u0661"])
def test_a_number_is_one_to_every_reader(folder, cell):
    text = (folder / "crosswalk.csv").read_text(encoding="utf-8")
    assert ",1" in text
    (folder / "crosswalk.csv").write_text(text.replace(",1", f",{cell}", 1), encoding="utf-8")
    assert "fields crosswalk" in not_holding(folder)


@pytest.mark.parametrize("texts", [[], ["", "F"]])
def test_one_text_stands_for_a_missing_value(folder, texts):
    described(folder, lambda package: package["resources"][0]["schema"].update(missingValues=texts))
    assert not_holding(folder) == ["fields records"]


def test_a_description_that_says_k_twice_is_refused(folder):
    text = (folder / FILE).read_text(encoding="utf-8")
    (folder / FILE).write_text(text.replace('"k": ', '"k": 50, "k": ', 1), encoding="utf-8")
    with pytest.raises(InputError, match="no folder of a release"):
        check_folder(folder)
    assert run(str(folder)).returncode == 2


def run(*arguments):
    return subprocess.run([sys.executable, "-I", str(VERIFY), *arguments], capture_output=True, text=True)


def test_it_says_a_line_per_claim_and_an_exit_code(folder):
    done = run(str(folder))
    assert done.returncode == 0 and not done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(by_package(folder)) and all(line.startswith("holds") for line in lines)
    asked = run(str(folder), "--k", "10000")
    assert asked.returncode == 1 and "does not hold   k: " in asked.stdout


def test_what_is_no_release_has_an_exit_code_of_its_own(tmp_path):
    done = run(str(tmp_path))
    assert done.returncode == 2 and "is no folder of a release" in done.stdout and not done.stderr


def test_a_path_out_of_the_folder_is_not_followed(folder):
    described(folder, lambda package: package["resources"][0].update(path="../records.csv"))
    assert run(str(folder)).returncode == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda package: package["resources"][0].pop("name"),
        lambda package: package["resources"][1].update(path=["crosswalk.csv"]),
        lambda package: package["resources"][0]["schema"]["fields"][0].update(type=None),
        lambda package: package["resources"][0]["schema"]["fields"][0].update(constraints="required"),
        lambda package: package["resources"][0]["schema"]["fields"][-1].update(constraints={"enum": [["F"]]}),
        lambda package: [field.pop("role", None) for field in package["resources"][0]["schema"]["fields"]],
        lambda package: package["vbas"].update(layout=float("inf")),
        lambda package: package["vbas"].update(counts=None),
        lambda package: package["vbas"].update(l_diversity="two"),
        lambda package: package["vbas"].update(max_share=None),
        lambda package: package["vbas"].update(max_share=float("nan")),
        lambda package: package["vbas"].update(l_diversity=0),
        *(partial(claiming, k=k) for k in (True, 0, -1, 2.5, "5", float("nan"))),
    ],
)
def test_a_description_of_another_kind_is_refused_in_a_sentence(folder, change):
    """Nor is k said to hold of classes where nothing says which field is the region."""
    described(folder, change)
    with pytest.raises(InputError, match="no folder of a release"):
        check_folder(folder)
    done = run(str(folder))
    assert done.returncode == 2 and "is no folder of a release" in done.stdout and not done.stderr


@pytest.mark.parametrize("cell", ["", "-3"])
def test_a_count_that_counts_nobody_is_nobody(tmp_path, cell):
    areas = {"area": ["a", "b"], "x": [0, 900], "y": [0, 900]}
    people = {"area": ["a", "b", "a"], "sex": ["F", "M", "F"], "n": [6, 9, 1]}
    chosen: dict[str, Any] = {"combination": "custom", "site_number": "given number", "n_sites": 1, "k": 7}
    made = anonymize(areas, people, area="area", quasi_identifiers="sex", record_count="n", **chosen)
    made.write(tmp_path / "release")
    rows = tmp_path / "release" / "records.csv"
    assert all(both(verify_module(), rows.parent).values())
    text = rows.read_text(encoding="utf-8")
    assert ",9\n" in text
    rows.write_text(text.replace(",9\n", f",{cell}\n"), encoding="utf-8")
    said = both(verify_module(), rows.parent)
    assert said["fields records"] and said["k"] is False and said["counts"] is False
    assert check_folder(rows.parent).smallest == 0


def test_it_stands_alone_and_is_short():
    source = VERIFY.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 495
    imported = {
        name
        for node in ast.walk(ast.parse(source))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert {name.partition(".")[0] for name in imported} - {"pyarrow"} <= set(sys.stdlib_module_names)


def of_register(folder: Path, register: Path) -> tuple[int, dict[str, bool | None]]:
    """What verify.py says of a release's folder and its register."""
    asked = [sys.executable, str(VERIFY), str(folder), "--register", str(register)]
    done = subprocess.run(asked, capture_output=True, text=True)
    assert not done.stderr
    lines = [(line[:15].strip(), line[16:].partition(":")[0]) for line in done.stdout.splitlines()]
    return done.returncode, {name: SAYS[status] for status, name in lines}


def test_with_its_register_a_release_cannot_say_more_of_itself_than_it_was_made_with(tmp_path: Path) -> None:
    """A larger k holds where fields are no quasi-identifiers any more, and nothing in the folder tells."""
    areas = {"area": ["a", "b"], "x": [0, 900], "y": [0, 900]}
    people = {"area": ["a", "b"] * 16, "sex": ["F", "F", "M", "M"] * 8, "age": ["0"] * 16 + ["1"] * 16}
    register = tmp_path / "register.gpkg"
    asked: dict[str, Any] = {"area": "area", "quasi_identifiers": ["sex", "age"], "register": register}
    chosen: dict[str, Any] = {"combination": "custom", "site_number": "given number", "n_sites": 1, "k": 5}
    anonymize(areas, people, **asked, **chosen).write(tmp_path / "first")
    update_release(areas, people, **asked).write(tmp_path / "second")
    folder, names = tmp_path / "second", ("release in the register", "k and quasi-identifiers in the register")
    for there in (tmp_path / "first", folder):
        status, said = of_register(there, register)
        assert status == 0 and said[names[0]] and said[names[1]]
    written = (folder / FILE).read_text(encoding="utf-8")
    package = json.loads(written)
    package["vbas"]["k"] = 12
    for field in next(table for table in package["resources"] if table["name"] == "records")["schema"]["fields"]:
        if field["name"] == "age":
            field["role"] = "kept"
    (folder / FILE).write_text(json.dumps(package), encoding="utf-8")
    status, said = of_register(folder, register)
    assert status == 1 and said["k"] and said[names[0]] and said[names[1]] is False
    del package["vbas"]["register"]
    (folder / FILE).write_text(json.dumps(package), encoding="utf-8")
    status, said = of_register(folder, register)
    assert status == 2 and said[names[0]] is None
    (folder / FILE).write_text(written, encoding="utf-8")
    taking_out(register, 2).put()
    status, said = of_register(folder, register)
    assert status == 1 and said[names[0]] is False


@pytest.mark.parametrize(
    ("released", "status"), [("0" * 64, "holds"), ("1" * 64, "does not hold"), ("", "not looked at")]
)
def test_a_chain_without_the_content_of_a_release_says_nothing_of_it(released: str, status: str) -> None:
    claims = run_path(str(VERIFY.with_name("chain.py")))["claims_of_release"]
    chain = [{"number": 1, "what": "added", "released": released}]
    package = {"vbas": {"register": "release 1", "k": 5, "content_sha256": "0" * 64}, "resources": []}
    name, said, found = next(claims(chain, {}, package))
    assert (name, said) == ("release in the register", status)
    assert ("with this content" in found) == (status == "holds")
