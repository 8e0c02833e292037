"""Values come out of a file as they stand in it, by every reader, or the file is refused naming field and values."""

from __future__ import annotations

import csv
import os
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from osgeo import gdal, ogr
from qgis.core import QgsProcessingContext, QgsProcessingException, QgsProject, QgsVectorFileWriter, QgsVectorLayer
from qgis.PyQt.QtCore import QDate, QDateTime, Qt, QTime

from vbas.algorithms.layers.inputs import Inputs
from vbas.algorithms.layers.reading.checked_source import checked_source
from vbas.algorithms.layers.reading.records import _read_features, _read_file, read_columns
from vbas.algorithms.layers.reading.unreadable import errors_of_readers
from vbas.core.errors import InputError
from vbas.core.plain_text import plain_text
from vbas.core.records.columns import ColumnBuilder, column_from_values
from vbas.core.records.csv_columns import separator_of
from vbas.core.records.plain_files import count_dbf, scan_csv

from ..systems import reads_as_arrow
from .conftest import Feedback, make_layer

FIELDS = (("home", ogr.OFTString), ("sex", ogr.OFTString), ("age", ogr.OFTInteger), ("id", ogr.OFTInteger64))


def source_of(provider, path):
    layer = QgsVectorLayer(str(path), "records", "ogr")
    assert layer.isValid()
    return checked_source(
        Inputs(provider.algorithm("profilerecords").create(), {"RECORDS": layer}, QgsProcessingContext()), "RECORDS"
    )


def write(path, rows, driver="GPKG", fields=(*FIELDS, ("income", ogr.OFTReal)), options=()):
    dataset = ogr.GetDriverByName(driver).CreateDataSource(str(path))
    layer = dataset.CreateLayer(path.stem, geom_type=ogr.wkbNone, options=list(options))
    for name, kind in fields:
        layer.CreateField(ogr.FieldDefn(name, kind))
    for row in rows:
        feature = ogr.Feature(layer.GetLayerDefn())
        for (name, _), value in zip(fields, row):
            if value is not None:
                feature[name] = value
        layer.CreateFeature(feature)
    layer = dataset = None
    return path


def both(provider, path, names):
    """Columns from the file itself and by features; the first must be possible."""
    source = source_of(provider, path)
    fast = _read_file(source, names, lambda _: None)
    assert fast is not None
    return fast, _read_features(source, [source.fields().lookupField(name) for name in names], lambda _: None)


ROWS = [
    ("460001", "F", 3, 2**53 + 1, 0.1),
    ("460001", None, None, None, None),
    ("460002", "", 0, -(2**62), -1e300),
    ("460002", "NULL", -5, 2**53, 5.0),
    ("460003", "é – “x”", 2**31 - 1, 5, 1 / 3),
]


@pytest.mark.parametrize("driver", ["GPKG", "CSV", pytest.param("ESRI Shapefile", marks=reads_as_arrow)])
def test_all_readers_give_the_very_same_values(provider, tmp_path, driver):
    end = {"GPKG": "gpkg", "CSV": "csv", "ESRI Shapefile": "dbf"}[driver]
    rows = [row for row in ROWS if end != "dbf" or row[3] is None or abs(row[3]) <= 2**53]
    path = write(tmp_path / f"records.{end}", rows, driver, options=["ENCODING=UTF-8"] if end == "dbf" else [])
    if end == "csv":
        names = ["home", "sex"]  # QGIS takes the rest for text or numbers, as its version has it
    elif end == "dbf":
        names = ["home", "sex", "age", "id"]
    else:
        names = [name for name, _ in (*FIELDS, ("income", None))]
    fast, slow = both(provider, path, names)
    for i, name in enumerate(names):
        for column in (fast[name], slow[name]):
            values = column.categories[column.codes].tolist()
            wanted = [row[i] for row in rows]
            if end == "csv":
                wanted = [value or "" for value in wanted]
            if end == "dbf":
                wanted = [value or None if isinstance(value, str) else value for value in wanted]
            assert values == wanted
            if (end, name) != ("dbf", "id"):  # QGIS takes whole numbers of 19 places for real ones
                assert [type(value) for value in values] == [type(value) for value in wanted]
        assert fast[name].codes.tolist() == slow[name].codes.tolist()


@pytest.mark.parametrize("name", ["sex", "sex_1", "sex_1_1"])
def test_values_of_fields_that_have_one_name_in_a_csv_file(provider, tmp_path, name):
    """QGIS shows nothing of such a field where another one of its name is not asked for."""
    path = tmp_path / "records.csv"
    path.write_text("home,sex,sex,sex_1\n1,f,g,h\n2,m,n,o\n")
    column = read_columns(source_of(provider, path), [name], Feedback())[name]
    given = {"sex": ["f", "m"], "sex_1": ["g", "n"], "sex_1_1": ["h", "o"]}
    assert column.categories[column.codes].tolist() == given[name]


def test_tables_of_mapinfo_are_no_csv_files(provider, tmp_path):
    path = write(tmp_path / "records.tab", [(row[0], row[1] or "") for row in ROWS] * 5, "MapInfo File", FIELDS[:2])
    columns = read_columns(source_of(provider, path), ["home", "sex"], Feedback())
    assert len(columns["home"]) == len(columns["sex"]) == 25


def test_moments_have_the_digits_that_python_writes(provider, tmp_path):
    moments = ["2021/02/03 10:00:00.5", "2021/02/03 10:00:00"]
    path = write(tmp_path / "records.gpkg", [("1", moment) for moment in moments], fields=(FIELDS[0], ("seen", 11)))
    column = read_columns(source_of(provider, path), ["seen"], Feedback())["seen"]
    texts = [plain_text(column.categories[code]) for code in column.codes]
    assert texts == ["2021-02-03T10:00:00.500000", "2021-02-03T10:00:00"]
    in_zone = QDateTime(QDate(2021, 7, 1), QTime(0, 30, 0, 7), Qt.TimeSpec.OffsetFromUTC, 7200)
    assert plain_text(in_zone) == "2021-06-30T22:30:00.007000+00:00"
    assert plain_text(QTime(1, 2, 3)) == "01:02:03" and plain_text(QTime(1, 2, 3, 40)) == "01:02:03.040000"
    assert plain_text(QDate(2021, 7, 1)) == "2021-07-01"


def test_numbers_of_a_dbf_that_would_be_rounded_are_refused(provider, tmp_path):
    path = write(tmp_path / "records.dbf", ROWS, "ESRI Shapefile", options=["ENCODING=UTF-8"])
    source = source_of(provider, path)
    index = source.fields().lookupField("id")
    for read in (
        lambda: _read_file(source, ["id"], lambda _: None),
        lambda: _read_features(source, [index], lambda _: None),
    ):
        with pytest.raises(InputError, match=r"“id” holds whole numbers .*“9007199254740993”"):
            read()


def test_an_index_changes_no_order(provider, tmp_path):
    path = write(tmp_path / "records.gpkg", [(str(i * 7 % 10), "F", 1, 1, 1.0) for i in range(10)])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create index by_home on records (home)")
        connection.commit()
    fast, slow = both(provider, path, ["home"])
    assert fast["home"].codes.tolist() == slow["home"].codes.tolist() == [i * 7 % 10 for i in range(10)]


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("age", "abc", "abc"),
        ("age", 5.5, "5.5"),
        ("age", 2**31, "2147483648"),
        ("id", "many", "many"),
        ("income", "rich", "rich"),
        ("sex", b"\x01\x02", "01 02"),
        ("sex", "F\0M", "F␀M"),
    ],
)
@pytest.mark.parametrize("reader", ["file", "features"])
def test_values_of_another_kind_are_refused(provider, tmp_path, field, value, shown, reader):
    path = write(tmp_path / "records.gpkg", ROWS)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"update records set {field} = ? where fid = 2", (value,))
        connection.commit()
    source = source_of(provider, path)
    index = source.fields().lookupField(field)
    with pytest.raises(InputError) as raised:
        if reader == "file":
            _read_file(source, [field], lambda _: None)
        else:
            _read_features(source, [index], lambda _: None)
    assert f"“{field}”" in str(raised.value) and f"“{shown}”" in str(raised.value)
    # What stands in a field that is not read does no harm.
    assert len(read_columns(source, ["home"], Feedback())["home"]) == len(ROWS)
    assert len(_read_features(source, [source.fields().lookupField("home")], lambda _: None)["home"]) == len(ROWS)


@pytest.mark.parametrize("reader", ["file", "features"])
def test_text_that_is_not_utf_8_is_refused(provider, tmp_path, reader):
    path = write(tmp_path / "records.gpkg", ROWS)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("update records set sex = cast(x'e9e9' as text) where fid = 2")
        connection.commit()
    source = source_of(provider, path)
    if reader == "features":
        source._value = None
        with pytest.raises(InputError, match=r"“sex” holds text|not UTF-8"):
            list(source.getFeatures())
    else:
        with pytest.raises(InputError, match="not UTF-8"):
            read_columns(source, ["sex"], Feedback())


@pytest.mark.parametrize(("date", "shown"), [("2021-02-03T10:00:00.123456Z", ".123456Z"), ("yesterday", "yesterday")])
def test_times_that_qgis_would_shorten_are_refused(provider, tmp_path, date, shown):
    path = write(tmp_path / "records.gpkg", [("1", "2021/02/03 10:00:00.123")] * 3, fields=(FIELDS[0], ("seen", 11)))
    source = source_of(provider, path)
    column = read_columns(source, ["seen"], Feedback())["seen"]
    assert [value.time().msec() for value in column.categories] == [123]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("update records set seen = ? where fid = 2", (date,))
        connection.commit()
    with pytest.raises(InputError) as raised:
        read_columns(source_of(provider, path), ["seen"], Feedback())
    assert "“seen”" in str(raised.value) and shown in str(raised.value)


def test_lists_and_bytes_are_no_categories(run, tmp_path):
    path = write(tmp_path / "records.gpkg", [("460001", b"12")] * 3, fields=(FIELDS[0], ("photo", ogr.OFTBinary)))
    with pytest.raises(QgsProcessingException, match=r"“photo” holds .*not single values"):
        run("profilerecords", RECORDS=str(path), RECORD_REGION="home", QUASI_IDENTIFIERS=["photo"], PROFILE="memory:")


@pytest.mark.parametrize("name", ["RECORDS", "REGIONS"])
def test_a_layer_without_fields_is_named_as_such(anonymize, name):
    layer = QgsVectorLayer("Polygon?crs=EPSG:26914" if name == "REGIONS" else "None", "bare", "memory")
    with pytest.raises(QgsProcessingException) as error:
        anonymize(**{name: layer})
    told = str(error.value)
    assert "has no fields: choose another layer." in told and name in told, told
    assert "none" not in told


def test_encoding_that_the_user_chose(run, tmp_path):
    """The layer shows the text rightly once its encoding is chosen, and so it is read."""
    path = tmp_path / "records.csv"
    path.write_bytes("home,sex\n460001,âgée\n460001,âgêe\n".encode("latin-1"))
    layer = QgsVectorLayer(str(path), "records", "ogr")
    QgsProject.instance().addMapLayer(layer)
    try:
        given = {"RECORDS": layer, "RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex"], "PROFILE": "memory:"}
        with pytest.raises(QgsProcessingException, match="ISO-8859-1"):
            run("profilerecords", **given)
        layer.setProviderEncoding("ISO-8859-1")
        assert {row["sex"] for row in run("profilerecords", **given).rows("PROFILE")} == {"âgée", "âgêe"}
    finally:
        QgsProject.instance().removeMapLayer(layer.id())


def test_names_of_fields_in_another_encoding(run, tmp_path):
    """GDAL's stream cannot leave such a field out: others are read all the same, and it is asked for in vain."""
    path = tmp_path / "records.csv"
    path.write_bytes("home;sex;Âge\n460001;F;1\n460001;M;2\n".encode("windows-1252"))
    given = {"RECORDS": str(path), "RECORD_REGION": "home", "PROFILE": "memory:"}
    assert {row["sex"] for row in run("profilerecords", **given, QUASI_IDENTIFIERS=["sex"]).rows("PROFILE")} == set(
        "FM"
    )
    for name, says in (("Âge", "Those with � are in another encoding"), ("�ge", "is not in the encoding of the layer")):
        with pytest.raises(QgsProcessingException, match=says):
            run("profilerecords", **given, QUASI_IDENTIFIERS=[name])


@pytest.mark.parametrize("header", ["a,b", "a;b", "a\tb", "a;b,c", "a b;c d", '"a,b";c', "a:b,c", '"a;b","c;d"'])
def test_what_separates_fields_is_found_as_gdal_does(tmp_path, header):
    path = tmp_path / "table.csv"
    path.write_text(f"{header}\n1\n", encoding="utf-8")
    fields = QgsVectorLayer(str(path), "table", "ogr").fields().names()
    assert next(csv.reader([header], delimiter=separator_of(header))) == fields


# ---- the other tables and layers


def saved(layer, path):
    options = QgsVectorFileWriter.SaveVectorOptions()
    options.driverName = "GPKG"
    QgsVectorFileWriter.writeAsVectorFormatV3(layer, str(path), QgsProject.instance().transformContext(), options)
    return path


def damage(path, table):
    """Overwrite the page in which the table begins."""
    with closing(sqlite3.connect(path)) as connection:
        ((page,),) = connection.execute("select rootpage from sqlite_master where name = ?", (table,)).fetchall()
        ((size,),) = connection.execute("pragma page_size").fetchall()
    with path.open("r+b") as file:
        file.seek(size * (page - 1))
        file.write(b"\xff" * size)


@pytest.mark.slow
def test_damaged_areas_crosswalk_and_sites(run, anonymize, grid, tmp_path):
    plain = anonymize()
    regions = saved(grid[0], tmp_path / "areas.gpkg")
    crosswalk = saved(plain.layer("CROSSWALK"), tmp_path / "crosswalk.gpkg")
    sites = saved(plain.layer("SITE_POINTS"), tmp_path / "sites.gpkg")
    records = {"RECORDS": grid[1], "RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex", "age"]}
    given = {"REGIONS": str(regions), "REGION_ID": "da", "CROSSWALK": str(crosswalk), "SITES": str(sites), **records}
    assert run("evaluate", **given, REGION_AUDIT="memory:").results["N_SITES"] == 6
    for name, path in (("SITES", sites), ("CROSSWALK", crosswalk), ("REGIONS", regions)):
        damage(path, path.stem)
        with pytest.raises(QgsProcessingException, match=f"{name}: {path.name} is damaged"):
            run("evaluate", **given, REGION_AUDIT="memory:")


def test_damaged_points_cells_and_hierarchies(run, grid, tmp_path):
    points = make_layer({"name": ["a"] * 40}, [f"Point ({630_000 + 10 * i} 5520010)" for i in range(40)])
    path = saved(points, tmp_path / "points.gpkg")
    damage(path, "points")
    with pytest.raises(QgsProcessingException, match=r"POINTS: points\.gpkg is damaged"):
        run("donutmask", POINTS=str(path), AREAS=grid[0], POPULATION="people", K_INNER=2, MASKED="memory:")
    path = saved(grid[0], tmp_path / "cells.gpkg")
    damage(path, "cells")
    with pytest.raises(QgsProcessingException, match=r"CELLS: cells\.gpkg is damaged"):
        run("partitioncells", CELLS=str(path), CELL_ID="da", POPULATIONS=["people"], K=100, CROSSWALK="memory:")


# ---- counting without the reader


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.lists(
        st.lists(st.text("ab \n\",;'", max_size=6), min_size=2, max_size=3),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from(["\n", "\r\n"]),
)
def test_rows_of_a_csv_are_counted_as_python_counts_them(tmp_path_factory, rows, line_end):
    import csv

    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator=line_end).writerows(rows)
    assert scan_csv(path, "RECORDS").n_rows == len(rows)


@pytest.mark.parametrize("chunk", [16, 17, 64])
def test_rows_of_a_csv_across_chunks(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr("vbas.core.records.plain_files._CHUNK", chunk)
    path = tmp_path / "rows.csv"
    path.write_bytes(b'a,b\r\n1,"x\r\n""y"""\r\n\r\n2,z\r\n3,"q"')
    found = scan_csv(path, "RECORDS")
    assert found.n_rows == 4
    assert found.longest == len(b'1,"x\r\n""y"""\r\n')
    path.write_bytes(b"a,b\r1,2\r3,4\r")  # a return alone
    assert scan_csv(path, "RECORDS").n_rows == 3
    path.write_bytes(b"")
    assert scan_csv(path, "RECORDS").n_rows == 0


@reads_as_arrow
def test_deleted_rows_of_a_dbf_do_not_count(provider, tmp_path):
    path = write(tmp_path / "records.dbf", ROWS, "ESRI Shapefile", options=["ENCODING=UTF-8"])
    with path.open("r+b") as file:
        header = file.read(12)
        start, width = (int.from_bytes(header[a : a + 2], "little") for a in (8, 10))
        file.seek(start + width)
        file.write(b"*")
    assert count_dbf(path, [], "RECORDS") == len(ROWS) - 1
    fast, slow = both(provider, path, ["home"])
    assert len(fast["home"]) == len(slow["home"]) == len(ROWS) - 1
    os.truncate(path, start + 2 * width + 5)
    with pytest.raises(InputError, match="cut short: its header says 5 rows, but the file holds 2"):
        count_dbf(path, [], "RECORDS")


@given(st.lists(st.lists(st.sampled_from([None, 1, 1.0, True, "1", "", 2**53 + 1, 0.5]), max_size=6), max_size=4))
def test_columns_do_not_hang_on_the_chunks(chunks):
    builder = ColumnBuilder()
    for chunk in chunks:
        builder.add_values(chunk)
    together, whole = builder.column(), column_from_values([value for chunk in chunks for value in chunk])
    for column in (together, whole):
        values = column.categories[column.codes].tolist() if len(column) else []
        flat = [value for chunk in chunks for value in chunk]
        assert [(type(v), v) for v in values] == [(type(v), v) for v in flat]
    assert np.array_equal(together.codes, whole.codes)


@pytest.mark.parametrize(
    ("kind", "text"),
    [(gdal.CE_Failure, "Read error"), (gdal.CE_Warning, "Invalid value for field age"), (gdal.CE_Warning, "A remark")],
)
def test_what_a_reader_reports_ends_the_run_where_rows_or_values_are_lost(gdal_raises, kind, text):
    def read():
        with errors_of_readers("RECORDS"):
            gdal.Error(kind, 1, text)

    if text == "A remark":
        read()
    else:
        with pytest.raises(InputError, match=f"RECORDS cannot be read as it is \\({text}"):
            read()


@pytest.mark.parametrize(("ages", "is_read"), [(("old", "young"), False), ((70, 7), True)])
def test_a_sheet_whose_headings_were_not_recognised_is_refused(provider, tmp_path, ages, is_read):
    kind = ogr.OFTInteger if is_read else ogr.OFTString
    rows = [(f"a{i}", "F", ages[i % 2]) for i in range(6)]
    fields = (("home", ogr.OFTString), ("sex", ogr.OFTString), ("age", kind))
    sheet = write(tmp_path / "people.xlsx", rows, "XLSX", fields)
    if is_read:
        assert source_of(provider, sheet).fields().names() == ["home", "sex", "age"]
        return
    with pytest.raises(InputError, match=r"RECORDS: the first row .* called Field1, .* as CSV and load that"):
        source_of(provider, sheet)
