"""GDAL's stream of a GeoPackage gives the very columns that SQLite gives row by row, or is not asked."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from osgeo import ogr
from qgis.core import QgsVectorLayer

from vbas.algorithms.layers.reading.checked_source import layer_file
from vbas.algorithms.layers.reading.records import _stream, open_table, read_arrow
from vbas.core.errors import InputError
from vbas.core.records.columns import ColumnBuilder, column_from_values
from vbas.core.records.sqlite_file import read_table

KINDS = {"home": "text", "Ort “x”": "text", "age": "integer", "id": "long", "income": "real"}
N = 150_000  # several batches of the stream


def value_of(i):
    late = i > 100_000
    return (
        f"46{i % 900:04d}",
        [None, "", "a", "A", "é" * 9 if late else "b", "x ", f"only {i}" if i % 5000 == 0 else "c"][i % 7],
        [None, -(2**31), 2**31 - 1, i % 90][i % 4],
        2**63 - 1 - i % 11 if late else i % 3,
        [None, -0.0, 0.0, 1.0, float("inf"), 1 / 3, 5e-324][i % 7],
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


def read(path, kinds=KINDS, change=lambda columns: columns):
    """The columns and how often the stream gave them."""
    layer = QgsVectorLayer(f"{path}|layername=the table", "records", "ogr")
    given = []

    def stream(n_rows, widest):
        given.append(_stream(layer_file(layer), layer, list(kinds), n_rows, widest, "RECORDS", lambda _: None))
        return change(given[-1])

    return read_table(path, "the table", kinds, "RECORDS", lambda _: None, stream), given


def same(columns, others):
    for name, column in columns.items():
        other = others[name]
        assert column.codes.dtype == other.codes.dtype
        assert np.array_equal(column.codes, other.codes)
        assert list(map(repr, column.categories)) == list(map(repr, other.categories))
    return True


def test_the_stream_gives_the_very_same_columns(qgis_app, geopackage):
    columns, given = read(geopackage)
    assert len(given) == 1 and given[0] is not None
    assert same(columns, read_table(geopackage, "the table", KINDS, "RECORDS", lambda _: None))
    assert columns["home"].categories[columns["home"].codes[-1]] == value_of(N - 1)[0]


@pytest.mark.parametrize(
    "statement",
    [
        'create index by_home on "the table" (home)',
        "update \"the table\" set home = cast(x'00' as text) where fid = -50",
        "update \"the table\" set home = cast(x'ff' as text) where fid = -50",
        "update \"the table\" set home = x'41' where fid = -50",
        'update "the table" set age = 1.5 where fid = -50',
    ],
)
def test_the_stream_is_not_asked_where_it_could_alter_or_reorder(qgis_app, geopackage, statement):
    with closing(sqlite3.connect(geopackage)) as connection:
        connection.execute(statement)
        connection.commit()
    given = []
    arguments = (geopackage, "the table", KINDS, "RECORDS", lambda _: None)
    try:
        read_table(*arguments, lambda *_: given.append(1))
    except InputError as error:
        with pytest.raises(InputError) as plain:
            read_table(*arguments)
        assert str(plain.value) == str(error)
    assert not given


def test_values_that_differ_between_the_two_are_refused(qgis_app, geopackage):
    def change(columns):
        return {**columns, "home": column_from_values(["elsewhere"] * len(columns["home"]))}

    with pytest.raises(InputError, match=r"records\.gpkg is damaged"):
        read(geopackage, change=change)


def test_the_stream_makes_nothing_beside_an_idle_write_ahead_log(qgis_app, geopackage):
    layer = QgsVectorLayer(f"{geopackage}|layername=the table", "records", "ogr")
    file, names = layer_file(layer), layer.fields().names()
    del layer
    with closing(sqlite3.connect(geopackage)) as connection:
        (n_rows,) = connection.execute('select count(*) from "the table"').fetchone()  # QGIS may estimate it
        connection.execute("pragma journal_mode = wal")
    before = sorted(geopackage.parent.iterdir())
    seen = []
    _dataset, table = open_table(file)
    read_arrow(table, names[1:], n_rows, 20, "RECORDS", lambda _: seen.extend(sorted(geopackage.parent.iterdir())))
    assert seen[: len(before)] == before and set(seen) == set(before)


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
