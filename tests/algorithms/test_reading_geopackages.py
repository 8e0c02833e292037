"""A GeoPackage is read by SQLite alone: just the values that it holds, while no other program can change them."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest
from osgeo import ogr

from vbas.core.errors import InputError
from vbas.core.records import sqlite_columns
from vbas.core.records.columns import ColumnBuilder, column_from_values
from vbas.core.records.sqlite_columns import read_table

KINDS = {"home": "text", "Ort “x”": "text", "age": "integer", "id": "long", "income": "real"}
N = 60_000


def value_of(i):
    late = i > 40_000
    return (
        f"46{i % 900:04d}",
        [None, "", "a", "A", "é" * 9 if late else "b", "x ", f"only {i}" if i % 5000 == 0 else "c"][i % 7],
        [None, -(2**31), 2**31 - 1, i % 90][i % 4],
        2**63 - 1 - i % 11 if late else i % 3,
        [None, 0.0, -2.0, 1.0, float("inf"), 1 / 3, 5e-324][i % 7],
    )


@pytest.fixture
def geopackage(tmp_path):
    path = tmp_path / "records.gpkg"
    dataset = ogr.GetDriverByName("GPKG").CreateDataSource(str(path))
    layer = dataset.CreateLayer("the table", geom_type=ogr.wkbNone)
    types = {"text": ogr.OFTString, "integer": ogr.OFTInteger, "long": ogr.OFTInteger64, "real": ogr.OFTReal}
    for name, kind in KINDS.items():
        layer.CreateField(ogr.FieldDefn(name, types[kind]))
    layer = dataset = None
    with closing(sqlite3.connect(path)) as connection:
        names = ", ".join(f'"{name}"' for name in KINDS)
        rows = ((i * 3 - 50, *value_of(i)) for i in range(N))
        connection.executemany(f'insert into "the table" (fid, {names}) values (?, ?, ?, ?, ?, ?)', rows)
        connection.execute('delete from "the table" where fid between 1000 and 9000')
        connection.commit()
    return path


def same(columns, others):
    for name, column in columns.items():
        other = others[name]
        assert column.codes.dtype == other.codes.dtype
        assert np.array_equal(column.codes, other.codes)
        assert list(map(repr, column.categories)) == list(map(repr, other.categories))
    return True


@pytest.mark.slow
def test_columns_are_the_values_of_the_rows(geopackage, monkeypatch):
    monkeypatch.setattr("vbas.core.records.sqlite_pages.BYTES_AT_ONCE", 1 << 19)  # several steps of the bar
    seen: list[float] = []
    columns = read_table(geopackage, "the table", KINDS, "RECORDS", seen.append)
    rows = [value_of(i) for i in range(N) if not 1000 <= i * 3 - 50 <= 9000]
    assert same(columns, {name: column_from_values(values) for name, values in zip(KINDS, zip(*rows))})
    assert len(seen) > 1 and seen == sorted(seen) and seen[-1] == 1.0


def test_texts_are_encoded_as_values_are():
    chunks: list[list] = [["a", None, "b"], ["b", "", "a"], [], [None, "1", "é", "a "], ["c"] * 3]
    texts, plain = ColumnBuilder(), ColumnBuilder()
    for chunk in chunks:
        texts.add_texts(chunk)
        plain.add_values(chunk)
    assert same({"": texts.column()}, {"": plain.column()})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "field"),
    [
        ("update \"the table\" set home = cast(x'00' as text) where fid = -50", "home"),
        ("update \"the table\" set home = x'41' where fid = -50", "home"),
        ('update "the table" set age = 1.5 where fid = -50', "age"),
        ('update "the table" set age = 2147483648 where fid = -50', "age"),
        ('update "the table" set id = 1.5 where fid = -50', "id"),
        ("update \"the table\" set income = 'x' where fid = -50", "income"),
        ("update \"the table\" set home = cast(x'ff' as text) where fid = -50", "UTF-8"),
    ],
)
def test_values_of_another_kind_are_refused(geopackage, statement, field):
    with closing(sqlite3.connect(geopackage)) as connection:
        connection.execute(statement)
        connection.commit()
    with pytest.raises(InputError, match=field):
        read_table(geopackage, "the table", KINDS, "RECORDS", lambda _: None)


@pytest.mark.slow
def test_an_index_changes_no_order_and_no_value(geopackage):
    before = read_table(geopackage, "the table", KINDS, "RECORDS", lambda _: None)
    with closing(sqlite3.connect(geopackage)) as connection:
        connection.execute('create index by_all on "the table" (home, "Ort “x”", age, id, income)')
        connection.commit()
    assert same(read_table(geopackage, "the table", KINDS, "RECORDS", lambda _: None), before)


WRITE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], timeout=0)
try:
    with connection:
        connection.execute('update "the table" set home = 1 where fid = -50')
except sqlite3.OperationalError as error:
    sys.exit(str(error))
"""


@pytest.mark.slow
@pytest.mark.parametrize("plain", [True, False], ids=["from its pages", "by SQLite"])
def test_no_other_program_can_write_while_a_table_is_read(geopackage, plain, monkeypatch):
    said = []
    if not plain:
        monkeypatch.setattr(sqlite_columns, "_read_from_pages", lambda *_: (None, 0))

    def try_to_write(_):
        told = subprocess.run([sys.executable, "-c", WRITE, str(geopackage)], capture_output=True, text=True)
        said.append((told.returncode, told.stderr.strip()))

    read_table(geopackage, "the table", KINDS, "RECORDS", try_to_write)
    assert said and set(said) == {(1, "database is locked")}
    try_to_write(None)
    assert said[-1] == (0, "")


@pytest.mark.slow
def test_nothing_is_made_beside_an_idle_write_ahead_log(geopackage):
    with closing(sqlite3.connect(geopackage)) as connection:
        connection.execute("pragma journal_mode = wal")
    before, seen = set(geopackage.parent.iterdir()), set()
    read_table(geopackage, "the table", KINDS, "RECORDS", lambda _: seen.update(geopackage.parent.iterdir()))
    assert seen == before == set(geopackage.parent.iterdir())


def test_arrays_of_ever_new_and_ever_wider_values_are_encoded_as_values_are(monkeypatch):
    monkeypatch.setattr("vbas.core.records.columns.MOST_KNOWN", 40)
    draws = np.random.default_rng(3)
    for kind in ("S", "i", "f"):
        builder, plain = ColumnBuilder(), ColumnBuilder()
        for batch in range(12):
            numbers = draws.integers(0, 10 + 5 * batch, 200)
            values = numbers.astype(f"S{4 + batch}") if kind == "S" else numbers.astype(kind + "8")
            if kind == "S" and batch % 3 == 0:
                values = np.char.add(values, b" of many")
            missing = draws.random(200) < (0.1 if batch % 2 else 0.0)
            builder.add_array(values, missing)
            texts = [value.decode() if kind == "S" else value for value in values.tolist()]
            plain.add_values([None if lost else value for value, lost in zip(texts, missing)])
        assert same({"": builder.column()}, {"": plain.column()})
