"""The second count: over what was written, by typed values, in records, whatever the sink."""

from __future__ import annotations

import csv
import sqlite3
import tempfile
import time
from collections import Counter
from contextlib import closing
from io import StringIO
from itertools import groupby
from pathlib import Path
from typing import cast

import numpy as np
import pytest
import shapely
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from qgis.core import (
    QgsApplication,
    QgsCoordinateReferenceSystem,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsVectorLayer,
)

from vbas.algorithms.layers.delivery import outputs, second_count, writing
from vbas.algorithms.layers.delivery.outputs import Outputs
from vbas.algorithms.layers.delivery.second_count import _Classes, _of_csv, check_file
from vbas.algorithms.layers.delivery.writing import write_file
from vbas.algorithms.layers.inputs import Inputs
from vbas.algorithms.layers.tables import Table, number_fields
from vbas.core.errors import InputError, PrivacyError, VbasError
from vbas.core.publish.counting import SecondCount
from vbas.core.publish.geopackage import filling, recounting
from vbas.core.publish.geopackage.recounting import read_geopackage
from vbas.core.records.columns import Column, column_from_values

from ..exploring import tried
from ..systems import reads_without_a_trace
from .conftest import make_layer

PLACES = ["memory:", "file.gpkg", "file.csv", "file.shp", "file.xlsx", "database"]
K = 5
VALUES = st.sampled_from([None, "", "NULL", "1", "a", "é"])


@pytest.fixture
def write(provider, tmp_path):
    """write(place, table, check) -> the layer as it was delivered."""

    def one(place, table, check):
        target = place if place == "memory:" else str(tmp_path / place)
        if place == "database":
            database = tmp_path / "database.gpkg"
            other = Table(number_fields(vbas_region="long"), [[1]])
            write_file(database, other, "other")
            target = f"ogr:dbname='{database}' table=\"released\""
        algorithm = QgsApplication.processingRegistry().algorithmById("vbas:releaserecords").create()
        context = QgsProcessingContext()
        with Outputs(Inputs(algorithm, {"RELEASED_RECORDS": target}, context), QgsProcessingFeedback()) as outputs:
            outputs.add("RELEASED_RECORDS", table, check)
            result = outputs.deliver()["RELEASED_RECORDS"]
        # The context owns the layer.
        return context, context.getMapLayer(result) or QgsVectorLayer(result, "released", "ogr")

    return one


def release_of(regions, sex, age, count=None, kinds=("long", "text", "integer")):
    names = dict(zip(("vbas_region", "sex", "age"), kinds))
    fields = number_fields(**names, kept="text")
    kept = column_from_values([f"kept {i}" for i in range(len(sex))])
    columns: list[np.ndarray | Column] = [np.array(regions), column_from_values(sex), column_from_values(age), kept]
    if count is None:
        return Table(fields, columns), SecondCount(K, 3)
    return Table([*fields, *number_fields(records="long")], [*columns, np.array(count)]), SecondCount(K, 3, 4)


def tables_left(tmp_path):
    """What a refused run leaves of the release in the database."""
    with closing(sqlite3.connect(tmp_path / "database.gpkg")) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return [name for name in names if name == "released" or name.startswith("vbas_")]


@pytest.mark.parametrize("place", PLACES)
def test_classes_of_k_are_released(write, place):
    _, layer = write(place, *release_of([1] * 5 + [2] * 10, ["F"] * 10 + ["M"] * 5, [1] * 15))
    assert layer.featureCount() == 15


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("regions", "sex", "age"),
    [
        ([1] * 9, ["F"] * 9, [1] * 5 + [2] * 4),  # the last field tells them apart
        ([1] * 9, ["F"] * 5 + ["M"] * 4, [1] * 9),
        ([1] * 5 + [2] * 4, ["F"] * 9, [1] * 9),
    ],
    ids=["last field", "middle field", "region"],
)
def test_one_class_of_one_less_than_k_stops_the_release(write, tmp_path, place, regions, sex, age):
    with pytest.raises(PrivacyError, match=f"second count found a class of fewer than {K} records"):
        write(place, *release_of(regions, sex, age))
    assert not list(tmp_path.glob("file*"))


@pytest.mark.parametrize("place", PLACES)
@reads_without_a_trace
def test_records_are_counted_where_rows_stand_for_several(write, place):
    _, layer = write(place, *release_of([1, 2], ["F", "F"], [1, 1], [5, 6]))
    assert layer.featureCount() == 2
    with pytest.raises(PrivacyError, match="second count"):
        write(place, *release_of([1, 2], ["F", "F"], [1, 1], [5, 4]))


@pytest.mark.parametrize("place", PLACES)
def test_rows_are_not_counted_where_they_stand_for_several(write, place):
    """Five rows, four records."""
    table = release_of([1] * 5, ["F"] * 5, [1] * 5, [1, 1, 1, 1, 0])
    with pytest.raises(PrivacyError, match="second count"):
        write(place, *table)


@pytest.mark.parametrize("place", PLACES)
def test_rows_without_a_count_are_no_records(write, place):
    with pytest.raises(PrivacyError, match="second count"):
        write(place, *release_of([1, 2], ["F", "F"], [1, 1], [5, None]))


@pytest.mark.slow
@pytest.mark.parametrize("place", ["memory:", "file.gpkg", "file.csv", "database"])
@pytest.mark.parametrize(
    "pair", [(None, "NULL"), ("1", "1.0"), ("01", "1"), ("a", "A"), ("a", "a "), ("é", "e\u0301"), ("nan", None)]
)
def test_texts_that_look_alike_are_two_classes(write, place, pair):
    one, other = pair
    with pytest.raises(PrivacyError, match="second count"):
        write(place, *release_of([1] * 6, [one] * 3 + [other] * 3, [1] * 6))


@pytest.mark.parametrize("place", ["memory:", "file.gpkg", "database"])
@pytest.mark.parametrize("pair", [(None, 0), (0, 1)])
def test_a_missing_number_is_no_zero(write, place, pair):
    with pytest.raises(PrivacyError, match="second count"):
        write(place, *release_of([1] * 6, ["F"] * 6, [pair[0]] * 3 + [pair[1]] * 3))


@pytest.mark.parametrize("place", ["memory:", "file.gpkg", "database"])
def test_reals_that_differ_in_their_last_digit_are_two_classes(write, place):
    ages = [0.3] * 3 + [0.1 + 0.2] * 3
    with pytest.raises(PrivacyError, match="second count"):
        write(place, *release_of([1] * 6, ["F"] * 6, ages, kinds=("long", "text", "real")))


@pytest.mark.parametrize("place", ["memory:", "file.gpkg", "database"])
def test_missing_and_empty_text_are_two_classes_where_the_file_tells_them_apart(write, place):
    with pytest.raises(PrivacyError, match="second count"):
        write(place, *release_of([1] * 6, [None] * 3 + [""] * 3, [1] * 6))


def test_missing_and_empty_text_are_one_class_in_a_csv(write):
    """They are one in the file, for whoever reads it."""
    _, layer = write("file.csv", *release_of([1] * 6, [None] * 3 + [""] * 3, [1] * 6))
    assert layer.featureCount() == 6


def test_what_fails_in_a_database_is_removed_again(write, tmp_path, monkeypatch):
    """The rows are tampered with on their way into the database."""
    chunks = Table.chunks

    def tampered(self):
        for start, rows in chunks(self):
            if self.fields[-1].name() == "kept":
                rows[0] = (*rows[0][:2], 99, *rows[0][3:])
            yield start, rows

    monkeypatch.setattr(Table, "chunks", tampered)
    monkeypatch.setattr(Table, "runs", lambda _: None)
    with pytest.raises(PrivacyError, match="second count"):
        write("database", *release_of([1] * 9, ["F"] * 9, [1] * 9))
    assert tables_left(tmp_path) == []


@pytest.mark.parametrize("column", ["vbas_region", "sex"])
def test_copies_that_the_file_makes_of_equal_rows_are_counted_too(write, tmp_path, monkeypatch, column):
    """One copy of many is another row: what was asked for is not looked at, but what stands in the file."""
    insert, used = filling._insert_runs, []

    def tampered(connection, name, *given):
        insert(connection, name, *given)
        used.append(name)
        connection.execute(f'UPDATE "{name}" SET "{column}" = 99 WHERE rowid = 3')

    monkeypatch.setattr(filling, "_insert_runs", tampered)
    table, check = release_of([1] * 50 + [2] * 50, ["F"] * 100, [1] * 100)
    table = Table(table.fields, [*table.columns[:-1], column_from_values(["the same"] * 100)])  # two runs of rows
    with pytest.raises(PrivacyError, match="second count"):
        write("file.gpkg", table, check)
    assert used and not (tmp_path / "file.gpkg").exists()


def test_a_layer_in_memory_that_fails_its_second_count_holds_nothing(provider):
    """Whoever runs this from Python still has it in the context."""
    algorithm = QgsApplication.processingRegistry().algorithmById("vbas:releaserecords").create()
    context = QgsProcessingContext()
    table, check = release_of([1] * 9, ["F"] * 5 + ["M"] * 4, [1] * 9)
    given = Inputs(algorithm, {"RELEASED_RECORDS": "memory:"}, context)
    with Outputs(given, QgsProcessingFeedback()) as outputs, pytest.raises(PrivacyError):
        outputs.add("RELEASED_RECORDS", table, check)
    assert [layer.featureCount() for layer in context.temporaryLayerStore().mapLayers().values()] == [0]


# ---- what the algorithms tell the count


@pytest.fixture
def counted(run):
    """run releaserecords on a town of two areas; counted or not."""

    def one(place, **changes):
        n = 24
        records = make_layer(
            {
                "home": (["a", "b"] * n)[:n],
                "sex": (["F", "F", "M", "M"] * n)[:n],
                "age": [1] * n,
                "n": [3] * n,
                "note": [f"note {i % 3}" for i in range(n)],
            }
        )
        crosswalk = make_layer({"home": ["a", "b"], "vbas_region": [7, 7]})
        return run(
            "releaserecords",
            RECORDS=records,
            RECORD_REGION="home",
            QUASI_IDENTIFIERS=["sex", "age"],
            KEEP_FIELDS=["note"],
            CROSSWALK=crosswalk,
            RELEASED_RECORDS=place,
            **{"K": K, **changes},
        )

    return one


@pytest.mark.parametrize("place", ["memory:", "file.gpkg", "file.csv"])
@pytest.mark.parametrize("count", [{}, {"RECORD_COUNT": "n"}], ids=["rows", "counted"])
def test_the_count_is_told_every_quasi_identifier(counted, tmp_path, monkeypatch, place, count):
    """The last quasi-identifier of one row is changed on its way."""
    place = place if place == "memory:" else str(tmp_path / place)
    assert counted(place, **count).results["N_SUPPRESSED"] == 0
    chunks = Table.chunks

    def tampered(self):
        for start, rows in chunks(self):
            yield start, [(*rows[0][:2], 2, *rows[0][3:]), *rows[1:]]

    monkeypatch.setattr(writing.Table, "chunks", tampered)
    monkeypatch.setattr(writing.Table, "runs", lambda _: None)
    with pytest.raises(QgsProcessingException, match="second count"):
        counted(place, K=20 if count else K, **count)


@pytest.mark.parametrize("place", ["memory:", "file.gpkg", "file.csv"])
@reads_without_a_trace
def test_the_count_is_told_where_the_records_stand(counted, tmp_path, monkeypatch, place):
    """Every row keeps its class; one class loses records by the count that is written."""
    place = place if place == "memory:" else str(tmp_path / place)
    done = counted(place, RECORD_COUNT="n", K=36)
    assert sum(int(row["records"]) for row in done.rows("RELEASED_RECORDS")) == 72
    chunks = Table.chunks

    def tampered(self):
        for start, (first, *others) in chunks(self):
            *values, n = first
            yield start, [(*values, cast(int, n) - 1), *others]

    monkeypatch.setattr(writing.Table, "chunks", tampered)
    monkeypatch.setattr(writing.Table, "runs", lambda _: None)
    with pytest.raises(QgsProcessingException, match="second count"):
        counted(place, RECORD_COUNT="n", K=36)


# ---- every output is read back

OTHERS = ("RELEASED_REGIONS", "CROSSWALK", "REGION_AUDIT", "SITE_POINTS", "VORONOI")


@pytest.mark.slow
@pytest.mark.parametrize("output", ["RELEASED_RECORDS", "RELEASED_REGIONS", "CROSSWALK", "REGION_AUDIT", "VORONOI"])
@pytest.mark.parametrize("place", ["memory:", ".gpkg", ".csv", ".shp"])
def test_a_row_that_is_lost_on_the_way_stops_the_run(anonymize, tmp_path, monkeypatch, output, place):
    chunks = Table.chunks
    wanted = {"RELEASED_RECORDS": "age", "RELEASED_REGIONS": "released", "CROSSWALK": "vbas_region"}
    wanted |= {"REGION_AUDIT": "distorting", "VORONOI": "vbas_region"}

    def short(self):
        for start, rows in chunks(self):
            yield start, rows[:-1] if self.fields[-1].name() == wanted[output] else rows

    monkeypatch.setattr(writing.Table, "chunks", short)
    monkeypatch.setattr(writing.Table, "runs", lambda _: None)
    target = place if place == "memory:" else str(tmp_path / f"{output.lower()}{place}")
    with pytest.raises(QgsProcessingException, match=f"{output} was not written whole"):
        anonymize(**{**dict.fromkeys(OTHERS), output: target})


def squares(n):
    return np.array([shapely.box(i, 0, i + 1, 1) for i in range(n)], dtype=object)


@pytest.mark.parametrize("suffix", [".gpkg", ".shp", ".geojson", ".fgb"])
def test_a_shape_that_is_lost_is_noticed(qgis_app, tmp_path, suffix):
    crs = QgsCoordinateReferenceSystem("EPSG:26914")
    points = shapely.points([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    whole = Table(number_fields(vbas_region="long"), [[1, 2, 3]], "points", points, crs)
    file = tmp_path / f"regions{suffix}"
    write_file(file, whole, "regions")
    check_file("REGIONS", file, whole, None)
    points = points.copy()
    points[1] = None
    other = tmp_path / f"other{suffix}"
    # Some versions of GDAL refuse a row without a shape in FlatGeobuf.
    with pytest.raises(VbasError, match=r"not written whole \(2 of 3 rows|Row 2 could not be written"):
        write_file(other, Table(whole.fields, whole.columns, "points", points, crs), "other")
        check_file("REGIONS", other, whole, None)


def test_a_geopackage_whose_map_would_lack_a_region_is_noticed(qgis_app, tmp_path):
    """QGIS draws what the spatial index finds."""
    crs = QgsCoordinateReferenceSystem("EPSG:26914")
    table = Table(number_fields(vbas_region="long"), [[1, 2, 3]], "polygons", squares(3), crs)
    file = tmp_path / "regions.gpkg"
    write_file(file, table, "regions")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("DELETE FROM rtree_regions_geom WHERE id = 2")
    with pytest.raises(VbasError, match="2 of 3 rows with a shape"):
        check_file("REGIONS", file, table, None)


def test_a_profile_in_a_format_without_tables_is_refused(run, tmp_path):
    records = make_layer({"home": ["a", "b"] * 6, "sex": ["F", "M"] * 6})
    with pytest.raises(QgsProcessingException):
        run(
            "profilerecords",
            RECORDS=records,
            RECORD_REGION="home",
            QUASI_IDENTIFIERS=["sex"],
            PROFILE=str(tmp_path / "p.fgb"),
        )
    assert not list(tmp_path.iterdir())


# ---- names that are awkward


NAMES = ['a"b', "it's", "select", "group by", "fid", "geom", "DA", "ROWID", "a;b", "a,b", "é", "sum(1)", "--", "[x]"]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".gpkg", ".csv", ".shp", ".geojson", ".xlsx"])
@pytest.mark.parametrize("name", NAMES)
def test_awkward_names_are_written_and_counted_or_refused(qgis_app, tmp_path, suffix, name):
    """Both a good and a bad release, with the field told last: the count must look at it."""
    for ages, good in (([1] * 5 + [2] * 5, True), ([1] * 6 + [2] * 4, False)):
        fields = number_fields(**{"vbas_region": "long", name: "integer"})
        table = Table(fields, [np.ones(10, np.int64), column_from_values(ages)])
        file = tmp_path / str(good) / f"my {name.replace('%', '')} table{suffix}"
        file.parent.mkdir()
        write_file(file, table, "title")
        file = file if file.exists() else file.with_suffix(".dbf")
        if good:
            check_file("RELEASED_RECORDS", file, table, SecondCount(K, 2))
        else:
            with pytest.raises(PrivacyError, match="second count"):
                check_file("RELEASED_RECORDS", file, table, SecondCount(K, 2))


def test_names_that_a_shapefile_makes_alike_are_kept_apart(write):
    """Both shorten to the same ten characters; the small class shows in the second only."""
    fields = number_fields(vbas_region="long", age_group_of_person="text", age_group_of_parent="text")
    region, same = np.ones(10, np.int64), column_from_values(["x"] * 10)
    other = column_from_values(["y"] * 6 + ["z"] * 4)
    write("file.shp", Table(fields, [region, same, same]), SecondCount(K, 3))
    with pytest.raises(PrivacyError, match="second count"):
        write("other.shp", Table(fields, [region, same, other]), SecondCount(K, 3))


@pytest.mark.parametrize("suffix", [".gpkg", ".csv", ".shp", ".geojson", ".xlsx", ".ods"])
def test_everything_suppressed_gives_an_empty_file_or_a_sentence(anonymize, grid, tmp_path, suffix):
    n = grid[1].featureCount()
    home = [f["home"] for f in grid[1].getFeatures()]
    # Neither is an identifier, which would be refused; the two together are.
    records = make_layer({"home": home, "street": [str(i // 2) for i in range(n)], "side": ["F", "M"] * (n // 2)})
    given = {"RECORDS": records, "QUASI_IDENTIFIERS": ["street", "side"], "K": 5}
    place = tmp_path / f"released{suffix}"
    if suffix == ".ods":  # without rows GDAL cannot open it
        with pytest.raises(QgsProcessingException, match="RELEASED_RECORDS cannot be read back"):
            anonymize(**given, RELEASED_RECORDS=str(place))
        return
    done = anonymize(**given, RELEASED_RECORDS=str(place))
    assert done.results["N_SUPPRESSED"] == n
    made = Path(done.results["RELEASED_RECORDS"])
    assert made.is_file()
    if suffix != ".xlsx":  # where GDAL takes the row of names for one of values
        assert QgsVectorLayer(str(made), "released", "ogr").featureCount() == 0


@pytest.mark.parametrize("suffix", [".xlsx", ".ods", ".csv", ".shp", ".gpkg"])
def test_a_table_of_nothing_but_text_is_counted_without_its_row_of_names(qgis_app, tmp_path, suffix):
    table = Table(number_fields(one="text", two="text"), [["a", "b"], ["c", "d"]])
    file = tmp_path / f"file{suffix}"
    write_file(file, table, "title")
    check_file("OUT", file if file.exists() else file.with_suffix(".dbf"), table, None)


def test_a_row_that_lost_a_field_is_not_counted_by_the_others(qgis_app, tmp_path):
    """Where a row of a CSV is short, the classes must not be told by the fields that are left."""
    table, check = release_of([1] * 10, ["F"] * 10, [1] * 10)
    file = tmp_path / "file.csv"
    write_file(file, table, "title")
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:-1], "1"]) + "\n")
    with pytest.raises(VbasError, match="a row has 1 of 4 fields"):
        check_file("RELEASED_RECORDS", file, table, check)


@settings(max_examples=tried(300, 2000), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from(["1,a\n", "1,a\r\n", '2,"a\nb"\n', '2,"a""b"\n', '3,"a\n', '3,a"\n', "\n", '"\n', "4,b\r"])
    ),
    st.sampled_from(["", "1,a", '1,"a', '"']),
    st.integers(1, 4),
)
def test_equal_lines_of_a_csv_are_read_once_and_the_rows_are_those_of_the_whole(monkeypatch, lines, last, chunk):
    """The oracle reads row by row; a row may go on over the ends of lines, and of what is read at once."""
    monkeypatch.setattr(second_count, "CHUNK", chunk)
    table = Table(number_fields(one="text", two="text"), [[], []])
    text = "one,two\n" + "".join(lines) + last
    rows = [row for row in csv.reader(StringIO(text, newline="")) if row][1:]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.csv"
        file.write_bytes(text.encode())
        if any(len(row) != 2 for row in rows):
            with pytest.raises(VbasError, match="of 2 fields"):
                _of_csv(file, table, SecondCount(K, 2))
            return
        read_back = _of_csv(file, table, SecondCount(K, 2))
    assert read_back.n_rows == len(rows)
    assert read_back.smallest == min(Counter(map(tuple, rows)).values(), default=None)
    assert [{*values} for values in read_back.values or ()] == [{*column} for column in zip(*rows)] or not rows


# ---- a GeoPackage is counted by the runs of its rows, whatever their order


@pytest.mark.slow
@settings(max_examples=tried(40, 100), suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.integers(1, 2), st.sampled_from([None, "", "NULL", "a"])), min_size=1, max_size=12),
    st.integers(2, 4),
    st.booleans(),
    st.sets(st.integers(0, 11), max_size=2),
)
def test_classes_are_counted_in_any_order_and_with_any_gaps(qgis_app, rows, k, is_sorted, lost):
    """The oracle counts by hand. Rows that are lost leave gaps, over which no run may reach."""
    rows = sorted(rows, key=str) if is_sorted else rows
    table = Table(number_fields(vbas_region="long", sex="text"), [list(column) for column in zip(*rows)])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.gpkg"
        write_file(file, table, "rows")
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("DROP TRIGGER trigger_delete_feature_count_rows")
            connection.executemany("DELETE FROM rows WHERE fid = ?", ((row + 1,) for row in lost))
        left = [row for number, row in enumerate(rows) if number not in lost]
        read_back = read_geopackage(file, table.qgs_fields.names(), SecondCount(k, 2))
    assert read_back.n_rows == len(left)
    sizes = Counter(left).values()
    if not left:
        assert read_back.smallest is None
    elif min(sizes) < k:
        assert read_back.smallest == min(sizes)
    else:  # what is counted by runs may be smaller than the class, never larger
        assert read_back.smallest is not None and k <= read_back.smallest <= min(sizes)


@pytest.mark.parametrize("place", ["file.gpkg", "file.csv"])
def test_nothing_is_put_in_its_place_before_the_first_count_has_ended(write, monkeypatch, place):
    """A GeoPackage is counted while the run goes on."""
    counted = []
    check_file = outputs.check_file

    def slow(*given):
        time.sleep(0.2)
        check_file(*given)
        counted.append(given[0])

    def put(places, check_cancelled, last):
        assert counted == ["RELEASED_RECORDS"]
        return []

    monkeypatch.setattr(outputs, "check_file", slow)
    monkeypatch.setattr(outputs, "deliver", put)
    table, check = release_of([1] * 5, ["F"] * 5, [1] * 5)
    write(place, table, check)
    counted.clear()
    with pytest.raises(PrivacyError, match="second count"):
        write(place, table, SecondCount(6, 3))
    assert not counted


def test_a_number_that_is_missing_is_no_row(qgis_app, tmp_path):
    """Four numbers, three rows."""
    table = Table(number_fields(vbas_region="long"), [[1, 1, 1, 1, 2, 2, 2, 2]])
    write_file(tmp_path / "rows.gpkg", table, "rows")
    with closing(sqlite3.connect(tmp_path / "rows.gpkg")) as connection, connection:
        connection.execute("DROP TRIGGER trigger_delete_feature_count_rows")
        connection.execute("DELETE FROM rows WHERE fid = 5")
    read_back = read_geopackage(tmp_path / "rows.gpkg", table.qgs_fields.names(), SecondCount(4, 1))
    assert (read_back.n_rows, read_back.smallest) == (7, 3)


def test_sorted_rows_are_counted_without_sorting_them_again(qgis_app, tmp_path, monkeypatch):
    table, check = release_of([1] * 5 + [2] * 10, ["F"] * 10 + ["M"] * 5, [1] * 15)
    write_file(tmp_path / "rows.gpkg", table, "rows")
    asked: list[str] = []
    connect = sqlite3.connect

    def traced(*given, **named):
        connection = connect(*given, **named)
        connection.set_trace_callback(asked.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    assert read_geopackage(tmp_path / "rows.gpkg", table.qgs_fields.names(), check).smallest == 5
    assert asked
    assert not any("GROUP BY" in statement for statement in asked)


@pytest.mark.slow
@settings(max_examples=tried(40, 100), suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.tuples(st.sampled_from([None, 0, 1]), VALUES), st.integers(1, 9)), max_size=8),
    st.sampled_from([2, 10_000]),
)
def test_runs_of_equal_rows_are_written_as_they_are(qgis_app, runs, longest):
    rows = [row for row, length in runs for _ in range(length)]
    columns = [column_from_values(list(column)) for column in zip(*rows)] if rows else [column_from_values([])] * 2
    table = Table(number_fields(number="long", word="text"), columns)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(filling, "LONGEST_RUN", longest)
        patch.setattr(filling, "RUNS_AT_ONCE", 3)
        patch.setattr(filling, "WORTH_A_RUN", 0)
        file = Path(folder) / "rows.gpkg"
        write_file(file, table, "rows")
        with closing(sqlite3.connect(file)) as connection:
            assert connection.execute("SELECT fid, number, word FROM rows").fetchall() == [
                (number, *row) for number, row in enumerate(rows, 1)
            ]
            names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
        assert not [name for name in names if "vbas" in name]


def test_a_run_that_is_one_too_short_stops_the_release(write, tmp_path, monkeypatch):
    insert = filling._insert_runs

    def shifted(connection, name, names, table, positions, lengths, progress):
        assert [positions.tolist(), lengths.tolist()] == [[0, 10], [10, 5]]
        insert(connection, name, names, table, positions, lengths + np.array([1, -1]), progress)

    table, check = release_of([1] * 10 + [2] * 5, ["F"] * 15, [1] * 15)
    table = Table(table.fields[:3], table.columns[:3])
    write("file.gpkg", table, check)
    monkeypatch.setattr(filling, "_insert_runs", shifted)
    with pytest.raises(PrivacyError, match="second count"):
        write("other.gpkg", table, check)
    assert not list(tmp_path.glob("other*"))


def test_rows_that_all_differ_are_written_one_by_one(qgis_app, tmp_path, monkeypatch):
    monkeypatch.setattr(filling, "_insert_runs", None)  # it would fail
    table = Table(number_fields(number="long"), [np.arange(100)])
    write_file(tmp_path / "rows.gpkg", table, "rows")
    check_file("OUT", tmp_path / "rows.gpkg", table, SecondCount(1, 1))


def test_missing_numbers_of_a_computed_field_never_join_runs(qgis_app, tmp_path, monkeypatch):
    """NaN differs from itself: each is a run of its own, and comes back as a missing value."""
    table = Table(number_fields(number="real"), [np.array([1.5, 1.5, np.nan, np.nan, 2.0])])
    runs = table.runs()
    assert runs is not None and [run.tolist() for run in runs] == [[0, 2, 3, 4], [2, 1, 1, 1]]
    monkeypatch.setattr(filling, "WORTH_A_RUN", 0)
    write_file(tmp_path / "rows.gpkg", table, "rows")
    with closing(sqlite3.connect(tmp_path / "rows.gpkg")) as connection:
        assert [number for (number,) in connection.execute("SELECT number FROM rows")] == [1.5, 1.5, None, None, 2.0]


@pytest.mark.parametrize("given", [[1, 1.0], [1, True], ["1", 1], [1.0, True, None], ["a", "A", "a "]])
@pytest.mark.parametrize("at_once", [True, False])
def test_values_that_python_takes_for_one_are_several_classes(given, at_once):
    """1 == 1.0 == True: a database may give back either, and each is a class of its own."""
    rows = [(1, value) for value in given]
    found = _Classes(SecondCount(2, 2), 2)
    for some in [rows] if at_once else [[row] for row in rows]:
        found.add(some)
    assert sorted(found.sizes.values()) == [1] * len(given)


@pytest.mark.parametrize("suffix", [".csv", ".gpkg"])
def test_areas_named_by_long_whole_reals_stay_apart(qgis_app, tmp_path, suffix):
    """A text format writes 15 digits of a real: two areas would get one name, or none that is theirs."""
    areas = [9_007_199_254_740_989.0, 9_007_199_254_740_991.0, 46110001.5]
    table = Table(number_fields(da="real", vbas_region="long"), [areas, [1, 2, 2]])
    file = tmp_path / f"crosswalk{suffix}"
    write_file(file, table, "title")
    if suffix == ".gpkg":
        check_file("CROSSWALK", file, table, None)
        return
    with pytest.raises(InputError, match=r"does not keep the values “9007199254740989”, .*of field “da”"):
        check_file("CROSSWALK", file, table, None)


@pytest.mark.slow
@given(st.lists(st.sampled_from(["a", "b", None, 1, 1.0]), min_size=1, max_size=30), st.integers(-5, 5))
@settings(deadline=None)
def test_the_shortest_run_is_that_of_the_rows_one_by_one(values, first):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.gpkg"
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("CREATE TABLE rows (fid INTEGER PRIMARY KEY, value)")
            connection.executemany("INSERT INTO rows VALUES (?, ?)", enumerate(values, first))
        with closing(sqlite3.connect(file)) as connection:
            found = recounting._shortest_run(connection, file, "fid", ['"value"'])
    runs = [len(list(run)) for _, run in groupby(values)]  # 1 and 1.0 are equal to SQLite, too
    assert found == (len(values), min(runs))
