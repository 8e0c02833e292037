"""A release's folder: one content hash in every format, types that are kept, and a description without secrets."""

from __future__ import annotations

import csv
import hashlib
import json
import sqlite3
from contextlib import closing
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pytest
import shapely
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.arrays import to_list
from vbas.core.crosswalk import crosswalk_from_table
from vbas.core.errors import InputError, PrivacyError
from vbas.core.levels import Levels
from vbas.core.package import reading
from vbas.core.package.checking import check_folder
from vbas.core.package.content_hash import content_hash
from vbas.core.package.descriptor import FILE, Said
from vbas.core.package.folder import files_of, recount, write_folder
from vbas.core.package.reading import NotAsDescribed, read_table
from vbas.core.package.table import INTEGER, STRING, DataField, DataTable, typed
from vbas.core.package.writing import CSV, FORMATS, GEOPACKAGE, PARQUET, missing_of, write_csv, write_tables
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable

from ..exploring import tried
from .package_cases import drawn_account, tables_of

PLAIN = st.one_of(st.none(), st.text(st.characters(blacklist_categories=["Cs"]), max_size=6))
COLUMNS = {
    "integer": st.one_of(st.none(), st.integers(-(2**53), 2**53)),
    "number": st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
    "boolean": st.one_of(st.none(), st.booleans()),
    "string": PLAIN,
}


@st.composite
def any_tables(draw):
    """A table of a few rows and types, with values that formats like to change."""
    n = draw(st.integers(1, 8))
    fields, columns = [DataField("vbas_region", "integer")], [column_from_values(list(range(n)))]
    for position, kind in enumerate(draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=3))):
        kind_found, column = typed(column_from_values(draw(st.lists(COLUMNS[kind], min_size=n, max_size=n))))
        fields.append(DataField(f"f{position}", kind_found))
        columns.append(column)
    copies = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), np.int64)
    return DataTable("records", "", "", tuple(fields), tuple(columns), copies)


@pytest.mark.slow
@settings(max_examples=tried(40, 100))
@given(any_tables())
def test_every_format_gives_the_content_hash_again(tmp_path_factory, table):
    folder = tmp_path_factory.mktemp("formats")
    try:
        missing = missing_of(table)
    except InputError:
        return
    for written in FORMATS:
        file = write_tables(folder, [table], written)["records"]
        read = read_table(file, "records", table.fields, missing)
        assert content_hash(read) == content_hash(table) and len(read) == len(table)


@pytest.mark.slow
@settings(max_examples=tried(40, 100))
@given(any_tables(), st.randoms())
def test_the_content_hash_knows_no_order_and_counts_equal_rows(table, random):
    at = np.repeat(np.arange(len(table.copies)), table.copies)
    order = np.array(random.sample(at.tolist(), len(at)))
    columns = tuple(type(of)(of.codes[order], of.categories) for of in table.columns)
    shuffled = DataTable("x", "", "", table.fields, columns, np.ones(len(order), np.int64))
    assert content_hash(shuffled) == content_hash(table)


def by_hand(names, rows):
    """The content hash as its definition says, row by row."""

    def cell(value):
        if isinstance(value, float):
            return repr(value + 0.0)
        return json.dumps(value, ensure_ascii=False)

    lines = ["[" + ",".join(map(cell, row)) + "]" for row in rows]
    counted = sorted(f"{line}\t{lines.count(line)}\n".encode() for line in set(lines))
    head = json.dumps(names, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    return hashlib.sha256(head + b"".join(counted)).hexdigest()


@pytest.mark.slow
@given(any_tables())
def test_the_content_hash_is_the_one_defined(table):
    at = np.repeat(np.arange(len(table.copies)), table.copies).tolist()
    values = [[of.categories[of.codes[row]] for of in table.columns] for row in at]
    assert content_hash(table) == by_hand(list(table.names), values)
    with pytest.MonkeyPatch.context() as patch:  # as of large tables, whose cells are put together some at a time
        patch.setattr("vbas.core.package.content_hash.FEWEST_TEXTS", 2)
        patch.setattr("vbas.core.package.content_hash.AT_ONCE", 2)
        assert content_hash(table) == by_hand(list(table.names), values)


def test_a_type_is_that_of_the_values_in_use():
    def found(*values):
        kind, column = typed(column_from_values(list(values)))
        return kind, [column.categories[code] for code in column.codes]

    assert found(1, 2, None) == ("integer", [1, 2, None])
    assert found(1.5, None) == ("number", [1.5, None])
    assert found(True, False) == ("boolean", [True, False])
    assert found(date(2020, 1, 31)) == ("date", ["2020-01-31"])
    assert found(datetime(2020, 1, 31, 6, 5)) == ("datetime", ["2020-01-31T06:05:00"])
    assert found(Decimal("1.5"), Decimal("2")) == ("number", [1.5, 2.0])
    assert found(Decimal("1.00000000000000000001")) == ("string", ["1.00000000000000000001"])
    assert found(1, "a") == ("string", ["1", "a"]) and found(None) == ("string", [None])


def test_a_value_that_is_not_released_is_nowhere_in_the_folder(tmp_path):
    areas = make_areas(["a", "b"], [(0, 0), (500, 0)], [3, 3])
    values = column_from_values(["common"] * 6 + ["rarest of all"])
    table = RecordTable(
        column_from_values(list("aaabbba")), {"q": values}, {"kept": column_from_values(["x"] * 6 + ["y!"])}
    )
    levels = Levels((crosswalk_from_table(areas, ["a", "b"], [1, 1]),))
    account = anonymise(areas, match_records(table, areas), levels, Ask(k=3))
    write_folder(tmp_path, account, tables_of(account, drawn=False))
    for file in tmp_path.iterdir():
        assert b"rarest" not in file.read_bytes() and b"y!" not in file.read_bytes()


def test_the_description_says_what_is_asked_and_no_more(tmp_path):
    account = drawn_account(np.random.default_rng(3))
    said = Said(
        "A title", "1.2", "abc", "2026-01-01T00:00:00Z", "vbas:anonymize", {"K": 3}, "run", "CC-BY-4.0", "a rule"
    )
    package = write_folder(tmp_path, account, tables_of(account), CSV, said, "My release (2026)")
    assert package == json.loads((tmp_path / FILE).read_text(encoding="utf-8"))
    assert package["name"] == "my-release-2026" and package["licenses"] == [{"name": "CC-BY-4.0"}]
    ours = package["vbas"]
    assert ours["k"] == account.ask.k and ours["rule"] == "a rule" and ours["made_by"]["settings"] == {"K": 3}
    text = json.dumps(package)
    assert "suppress" not in text.lower() and "seed" not in text.lower()
    roles = {field["name"]: field.get("role") for field in package["resources"][0]["schema"]["fields"]}
    quasi = account.plan.profile.quasi_identifiers
    assert [name for name, role in roles.items() if role == "quasi-identifier"] == list(quasi)
    assert files_of(tmp_path) == {file.name for file in tmp_path.iterdir()}


def test_shapes_are_read_by_others(tmp_path):
    account = drawn_account(np.random.default_rng(9))
    tables = tables_of(account)
    for written in FORMATS:
        folder = tmp_path / written
        folder.mkdir()
        write_folder(folder, account, tables, written)
    with closing(sqlite3.connect(tmp_path / GEOPACKAGE / "release.gpkg")) as database:
        blobs = [blob for (blob,) in database.execute("SELECT geom FROM regions")]
        assert database.execute("SELECT srs_id FROM gpkg_geometry_columns").fetchall() == [(3347,)]
    shapes = tables[2].shapes
    assert shapes is not None
    drawn = np.array([shapely.MultiPolygon([one]) for one in shapes], dtype=object)
    assert shapely.equals(shapely.from_wkb([blob[8:] for blob in blobs]), drawn).all()
    parquet = pytest.importorskip("pyarrow.parquet")
    read = parquet.read_table(str(tmp_path / PARQUET / "regions.parquet"))
    assert shapely.equals(shapely.from_wkb(read.column("geom").to_pylist()), drawn).all()
    geo = json.loads(read.schema.metadata[b"geo"])
    assert geo["columns"]["geom"]["geometry_types"] == ["MultiPolygon"] and geo["primary_column"] == "geom"
    assert (tmp_path / CSV / "regions.gpkg").is_file()


@pytest.mark.parametrize("missing", ["pyarrow", "duckdb"])
def test_parquet_is_written_and_read_by_either(tmp_path, monkeypatch, missing):
    pytest.importorskip("pyarrow")
    pytest.importorskip("duckdb")
    account = drawn_account(np.random.default_rng(12))
    from vbas.core.package import reading, writing

    hashes = []
    for module in (writing, reading):
        real = module.is_there
        monkeypatch.setattr(module, "is_there", lambda name, real=real: name != missing and real(name))
        package = write_folder(tmp_path, account, tables_of(account), PARQUET)
        hashes.append(package["vbas"]["content_sha256"])
        assert all(claim.holds for claim in check_folder(tmp_path).claims)
    assert len(set(hashes)) == 1


def test_parquet_without_a_package_that_writes_it_is_refused_in_a_sentence(tmp_path, monkeypatch):
    from vbas.core.package import writing

    monkeypatch.setattr(writing, "is_there", lambda name: False)
    account = drawn_account(np.random.default_rng(1))
    with pytest.raises(InputError, match="neither is installed: choose CSV or GeoPackage"):
        write_folder(tmp_path, account, tables_of(account), PARQUET)


def test_an_unknown_format_is_refused(tmp_path):
    account = drawn_account(np.random.default_rng(1))
    with pytest.raises(InputError, match="“ODS” is unknown: choose one of CSV, Parquet, GeoPackage"):
        write_folder(tmp_path, account, tables_of(account), "ODS")


def test_what_was_written_otherwise_is_not_delivered(tmp_path):
    account = drawn_account(np.random.default_rng(1))
    write_folder(tmp_path, account, tables_of(account))
    recount(tmp_path)
    lines = (tmp_path / "records.csv").read_text(encoding="utf-8")
    (tmp_path / "records.csv").write_text(lines + lines.splitlines()[-1] + "\n", encoding="utf-8")
    with pytest.raises(PrivacyError, match="does not hold what it is to hold"):
        recount(tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("vbas_region\n1\n", "fields are vbas_region, not vbas_region, x"),
        ("vbas_region,x\n1\n", "more or fewer cells"),
        ("vbas_region,x\n1,\n,two\nthree,4\n", "“vbas_region” has 'three', which is no integer"),
    ],
)
def test_a_table_that_is_not_as_described_is_told(tmp_path, text, says):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    with pytest.raises(NotAsDescribed, match=says):
        read_table(tmp_path / "t.csv", "t", (DataField("vbas_region", "integer"), DataField("x", "string")))


def test_gaps_and_empty_texts_are_told_apart():
    fields = DataField("vbas_region", "integer"), DataField("x", "string")
    columns = column_from_values([1, 2]), column_from_values([None, ""])
    table = DataTable("records", "", "", fields, columns, np.array([1, 1]))
    assert missing_of(table) == "NA"


def test_no_folder_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match="no folder of a release: it has no datapackage"):
        check_folder(tmp_path)


NUMBERS, NAMES = st.sampled_from([1, 2, None]), st.sampled_from(["a", "b c", "d,e", 'f"g', "", "é"])
BYTES = st.sampled_from([b"", b'"', b",", b"\n", b"\r", b"\0", b" ", b"\xff", b"1"])


@settings(max_examples=tried(200, 5000), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(NUMBERS, NAMES), max_size=5),
    st.lists(st.tuples(st.integers(0, 60), BYTES), max_size=2),
    st.booleans(),
)
def test_whatever_stands_in_a_csv_file_is_read_as_it_would_be_row_by_row(tmp_path, monkeypatch, rows, edits, mark):
    fields = (DataField("region", INTEGER), DataField("name", STRING))
    columns = [column_from_values([row[position] for row in rows]) for position in range(2)]
    file = tmp_path / "records.csv"
    write_csv(file, DataTable("records", "", "", fields, tuple(columns), np.ones(len(rows), np.int64)))
    content = file.read_bytes()
    for at, what in edits:
        content = content[:at] + what + content[at + at % 2 :]
    file.write_bytes((b"\xef\xbb\xbf" if mark else b"") + content)

    def read():
        try:
            table = read_table(file, "records", fields, "NA")
        except (NotAsDescribed, csv.Error, InputError) as error:
            return type(error), str(error)
        values = zip(*(to_list(of.categories[of.codes]) for of in table.columns))
        return dict(zip(values, to_list(table.copies)))

    plainly = read()
    with monkeypatch.context() as by_rows:
        by_rows.setattr(reading, "_plain_csv", lambda *_: None)
        assert read() == plainly
