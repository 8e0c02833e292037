"""Values come out as they went in, or are refused with the field's name and the first of them."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsFeature,
    QgsField,
    QgsProcessingException,
    QgsProcessingFeatureSourceDefinition,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QByteArray, QDate, QDateTime, QTime, QUrl, QVariant

from vbas.algorithms.layers.delivery.exact_values import check_writable, exact_text
from vbas.algorithms.layers.delivery.second_count import check_file
from vbas.algorithms.layers.delivery.writing import write_file
from vbas.algorithms.layers.tables import Table, number_fields
from vbas.core.errors import InputError
from vbas.core.records.columns import column_from_values

from ..systems import reads_without_a_trace
from .conftest import make_layer

N = 12
HOMES = (["a", "b"] * N)[:N]


def make_geopackage(path, types, tamper=()):
    """Records with the columns of these SQL types, every value as it would be written by GDAL; then tampered with."""
    layer = make_layer({"home": HOMES, "sex": ["F"] * N})
    table = Table([*layer.fields()], [HOMES, ["F"] * N])
    write_file(path, table, "records")
    with closing(sqlite3.connect(path)) as connection, connection:
        for name, sql_type, value in types:
            connection.execute(f'ALTER TABLE "{path.stem}" ADD COLUMN "{name}" {sql_type}')
            connection.execute(f'UPDATE "{path.stem}" SET "{name}" = ?', (value,))
        for name, value in tamper:
            connection.execute(f'UPDATE "{path.stem}" SET "{name}" = ? WHERE rowid IN (3, 5)', (value,))


@pytest.fixture
def released(run):
    """Run releaserecords on records of two areas in one region, with the field `x` kept."""

    def one(records, place="memory:", **changes):
        crosswalk = make_layer({"home": ["a", "b"], "vbas_region": [1, 1]})
        parameters = {
            "RECORDS": records,
            "RECORD_REGION": "home",
            "QUASI_IDENTIFIERS": ["sex"],
            "KEEP_FIELDS": ["x"],
            "CROSSWALK": crosswalk,
            "K": 2,
            "RELEASED_RECORDS": str(place),
            **changes,
        }
        return run("releaserecords", **parameters)

    return one


@pytest.mark.parametrize("place", ["out.gpkg", "memory:"])
def test_numbers_of_a_virtual_layer_whose_first_row_is_empty_are_released(released, tmp_path, project, place):
    """QGIS takes their field for one of text."""
    numbers: list[int | None] = [None, *[7] * (N - 1)]
    table = make_layer({"home": HOMES, "sex": ["F"] * N, "n": numbers})
    project.addMapLayer(table, False)
    query = bytes(QUrl.toPercentEncoding(f'SELECT home, sex, n * 10 AS x FROM "{table.id()}"')).decode()
    layer = QgsVectorLayer(f"?query={query}", "virtual", "virtual")
    done = released(layer, place if place == "memory:" else tmp_path / place)
    values = [row["x"] for row in done.rows("RELEASED_RECORDS")]
    assert sorted(map(str, values)) == [*["70"] * (N - 1), "None"]


@pytest.mark.parametrize("ending", ["gpkg", "csv", "shp"])
def test_texts_that_are_longer_than_their_field_says_are_released(released, tmp_path, ending):
    """SQLite keeps them, whoever wrote them."""
    make_geopackage(tmp_path / "records.gpkg", [("x", "TEXT(3)", "seven")])
    done = released(QgsVectorLayer(str(tmp_path / "records.gpkg"), "records", "ogr"), tmp_path / f"out.{ending}")
    assert {row["x"] for row in done.rows("RELEASED_RECORDS")} == {"seven"}


@pytest.mark.parametrize("place", ["out.gpkg", "out.csv", "memory:"])
def test_the_smallest_whole_number_of_a_field_is_released(released, tmp_path, place):
    """QGIS itself takes it for too large; R writes it for a missing one."""
    make_geopackage(tmp_path / "records.gpkg", [("x", "MEDIUMINT", -(2**31))])
    place = place if place == "memory:" else tmp_path / place
    done = released(QgsVectorLayer(str(tmp_path / "records.gpkg"), "records", "ogr"), place)
    assert {str(row["x"]) for row in done.rows("RELEASED_RECORDS")} == {str(-(2**31))}


def test_values_that_a_format_does_not_keep_are_named_as_they_read(released, tmp_path):
    make_geopackage(tmp_path / "records.gpkg", [("x", "DATETIME", "2020-01-02T01:02:03.500Z")])
    """Half a second is kept in a CSV file by GDAL 3.10, and not by GDAL 3.6."""
    layer, file = QgsVectorLayer(str(tmp_path / "records.gpkg"), "records", "ogr"), tmp_path / "out.csv"
    try:
        released(layer, file)
    except QgsProcessingException as error:
        assert re.search(r"the times “2020-01-02.01:02:03\.500000.*make a field of text", str(error))
        assert not file.exists()
    else:
        assert re.search(r"01:02:03\.50*\b", file.read_text(encoding="utf-8"))


MISREAD = [
    ("INTEGER", 7, "abc", "“abc”"),
    ("INTEGER", 7, 5.5, "“5.5”"),
    ("INTEGER", 7, b"\x01", "“01”"),
    ("MEDIUMINT", 7, 4294967301, "“4294967301”"),
    ("SMALLINT", 7, 70000, "“70000”"),
    ("BOOLEAN", 1, 7, "“7”"),
    ("REAL", 7.5, "abc", "“abc”"),
    ("TEXT", "seven", "a\0b", "a␀b"),
    ("TEXT", "seven", b"\x01", "“01”"),
    ("DATE", "2020-01-02", "yesterday", "“yesterday”"),
    ("DATETIME", "2020-01-02T01:02:03Z", "2020-01-02T01:02:03.123456Z", "123456"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("sql_type", "usual", "wrong", "shown"), MISREAD)
@pytest.mark.parametrize("way", ["file", "selection", "view"])
def test_values_that_would_be_read_as_others_are_refused(
    released, project, tmp_path, sql_type, usual, wrong, shown, way
):
    path = tmp_path / "records.gpkg"
    make_geopackage(path, [("x", sql_type, usual)])
    if way == "view":
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("CREATE VIEW seen AS SELECT * FROM records")
            connection.execute(
                "INSERT INTO gpkg_contents (table_name, data_type, identifier) VALUES ('seen', 'attributes', 'seen')"
            )
    source = f"{path}|layername=seen" if way == "view" else str(path)
    if way == "selection":
        layer = QgsVectorLayer(source, "records", "ogr")
        layer.selectAll()
        project.addMapLayer(layer)
        source = QgsProcessingFeatureSourceDefinition(layer.id(), True)
    done = released(source)
    assert len(done.rows("RELEASED_RECORDS")) == N
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE records SET x = ? WHERE rowid IN (3, 5)", (wrong,))
    with pytest.raises(
        QgsProcessingException, match=r"RECORDS: field “x” is one of .*, but holds other values"
    ) as refused:
        released(source)
    assert shown in str(refused.value)


@pytest.mark.parametrize("field", ["home", "n"])
def test_areas_and_counts_that_would_be_misread_are_refused(run, tmp_path, field):
    path = tmp_path / "records.gpkg"
    make_geopackage(path, [("n", "INTEGER", 3), ("area", "INTEGER", 1)], [(field if field == "n" else "area", "many")])
    with pytest.raises(QgsProcessingException, match="“many”"):
        run(
            "profilerecords",
            RECORDS=str(path),
            RECORD_REGION="home" if field == "n" else "area",
            QUASI_IDENTIFIERS=["sex"],
            RECORD_COUNT="n",
            PROFILE="memory:",
        )


def test_a_crosswalk_that_would_be_misread_is_refused(released, tmp_path):
    path = tmp_path / "crosswalk.gpkg"
    write_file(
        path,
        Table(number_fields(home="text", vbas_region="long"), [["a", "b"], [1, 2]]),
        "crosswalk",
    )
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE crosswalk SET vbas_region = 'north' WHERE home = 'b'")
    records = make_layer({"home": HOMES, "sex": ["F"] * N, "x": [1] * N})
    with pytest.raises(QgsProcessingException, match=r"CROSSWALK: field “vbas_region” .* “north”"):
        released(records, CROSSWALK=str(path))


def test_a_csv_with_a_nul_character_is_refused(released, tmp_path):
    path = tmp_path / "records.csv"
    path.write_bytes(b"home,sex,x\n" + b"a,F,good\nb,F,bad\0rest\n" * 6)
    with pytest.raises(QgsProcessingException, match=r"records.csv holds NUL characters"):
        released(str(path))


# ---- what is released


def layer_of(kind, values):
    layer = QgsVectorLayer("None", "records", "memory")
    layer.dataProvider().addAttributes(
        [QgsField("home", QVariant.Type.String), QgsField("sex", QVariant.Type.String), kind]
    )
    layer.updateFields()
    for home, value in zip(HOMES, values):
        feature = QgsFeature(layer.fields())
        feature.setAttributes([home, "F", value])
        assert layer.dataProvider().addFeature(feature)
    assert layer.featureCount() == N
    return layer


@pytest.mark.parametrize("place", ["memory:", "released.gpkg", "released.csv"])
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (QgsField("x", QVariant.Type.StringList, subType=QVariant.Type.String), ["a", "b"]),
        (QgsField("x", QVariant.Type.ByteArray), QByteArray(b"\x01\x02")),
    ],
    ids=["list", "binary"],
)
@pytest.mark.parametrize("parameter", ["KEEP_FIELDS", "QUASI_IDENTIFIERS"])
def test_lists_maps_and_binary_data_are_refused(released, tmp_path, place, kind, value, parameter):
    place = place if place == "memory:" else tmp_path / place
    other: dict[str, list] = {"KEEP_FIELDS": []} if parameter == "QUASI_IDENTIFIERS" else {}
    with pytest.raises(QgsProcessingException, match=r"RECORDS: field “x” holds .*, not single values"):
        released(layer_of(kind, [value] * N), place, **{**other, parameter: ["x"]})


@pytest.mark.parametrize("place", ["memory:", "released.gpkg", "released.csv", "released.shp", "released.xlsx"])
def test_text_with_a_nul_character_is_refused(released, tmp_path, place):
    place = place if place == "memory:" else tmp_path / place
    layer = layer_of(QgsField("x", QVariant.Type.String), ["good"] * 6 + ["bad\0rest"] * 6)
    if not any("\0" in feature["x"] for feature in layer.getFeatures()):
        pytest.skip("this QGIS takes no NUL character into a text")
    with pytest.raises(QgsProcessingException, match=r"field “x” .* cannot hold the values “bad\\x00rest”"):
        released(layer, place)


MOMENTS = [
    (QVariant.Type.Time, QTime(1, 2, 3, 45), QTime(1, 2, 3)),
    (
        QVariant.Type.DateTime,
        QDateTime(QDate(2020, 1, 2), QTime(1, 2, 3, 45)),
        QDateTime(QDate(2020, 1, 2), QTime(1, 2)),
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".gpkg", ".csv", ".shp", ".xlsx"])
@pytest.mark.parametrize(("kind", "fine", "coarse"), MOMENTS, ids=["time", "datetime"])
def test_milliseconds_are_kept_or_refused(released, tmp_path, suffix, kind, fine, coarse):
    done = released(layer_of(QgsField("x", kind), [coarse] * N), tmp_path / f"coarse{suffix}")
    assert Path(done.results["RELEASED_RECORDS"]).is_file()
    place = tmp_path / f"fine{suffix}"
    try:
        done = released(layer_of(QgsField("x", kind), [fine] * N), place)
    except QgsProcessingException as error:
        assert "does not keep the times" in str(error)
        assert "“x”" in str(error)
        assert not list(tmp_path.glob("fine*"))
    else:
        row = done.rows("RELEASED_RECORDS")[0]
        assert "03.045" in (row["x"] if isinstance(row["x"], str) else row["x"].toString("HH:mm:ss.zzz"))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".gpkg", ".csv", ".shp", ".xlsx"])
@pytest.mark.parametrize("number", [2**53 + 1, -(2**63), 2**63 - 1, 4_294_967_301])
def test_long_numbers_are_kept_or_refused(released, tmp_path, suffix, number):
    layer = layer_of(QgsField("x", QVariant.Type.LongLong), [number] * N)
    place = tmp_path / f"long{suffix}"
    try:
        done = released(layer, place)
    except QgsProcessingException as error:
        assert f"“{number}” of field “x”" in str(error)
        assert not list(tmp_path.iterdir())
        assert suffix in (".shp", ".xlsx")
        assert abs(number) > 2**53
    else:
        assert {int(row["x"]) for row in done.rows("RELEASED_RECORDS")} == {number}


@pytest.mark.parametrize(
    ("suffix", "value"), [(".shp", "ends in a blank "), (".shp", "x" * 300), (".shp", "é" * 200), (".gml", " both ")]
)
def test_text_that_a_format_would_cut_is_refused(released, tmp_path, suffix, value):
    layer = layer_of(QgsField("x", QVariant.Type.String), ["good"] * 6 + [value] * 6)
    with pytest.raises(QgsProcessingException, match="RELEASED_RECORDS: the format does not keep the values"):
        released(layer, tmp_path / f"cut{suffix}")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".gpkg", ".csv"])
@pytest.mark.parametrize(
    "value", ["ends in a blank ", "x" * 200_000, "a\nb", 'say "no"', "a,b;c", "+1+1", "01", "NULL"]
)
def test_any_other_text_is_kept(released, tmp_path, suffix, value):
    layer = layer_of(QgsField("x", QVariant.Type.String), ["good"] * 6 + [value] * 6)
    done = released(layer, tmp_path / f"kept{suffix}")
    assert {row["x"] for row in done.rows("RELEASED_RECORDS")} == {"good", value}


# ---- region numbers


@pytest.mark.parametrize("suffix", [".gpkg", ".csv", ".shp", ".geojson", ".xlsx", "memory"])
def test_region_numbers_beyond_32_bits_stay_apart(released, tmp_path, suffix):
    """5 and 4 294 967 301 are one in 32 bits."""
    numbers = [5, 4_294_967_301]
    crosswalk = make_layer({"home": ["a", "b"], "vbas_region": numbers})
    records = make_layer({"home": HOMES, "sex": ["F"] * N, "x": [1] * N})
    place = "memory:" if suffix == "memory" else tmp_path / f"released{suffix}"
    done = released(records, place, CROSSWALK=crosswalk)
    rows = done.rows("RELEASED_RECORDS")
    found = [int(next(iter(v for k, v in row.items() if k.startswith("vbas_regio")))) for row in rows]
    assert sorted(found) == [5] * 6 + [4_294_967_301] * 6


@pytest.mark.parametrize("suffix", [".gpkg", ".csv", ".shp", "memory"])
def test_crosswalks_and_regions_keep_numbers_beyond_32_bits(run, grid, tmp_path, suffix):
    names = [f["da"] for f in grid[0].getFeatures()]
    numbers = [5 if i % 6 < 3 else 4_294_967_301 for i in range(len(names))]
    place = "memory:" if suffix == "memory" else str(tmp_path / f"audit{suffix}")
    done = run(
        "evaluate",
        REGIONS=grid[0],
        REGION_ID="da",
        RECORDS=grid[1],
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex"],
        CROSSWALK=make_layer({"da": names, "vbas_region": numbers}),
        REGION_AUDIT=place,
    )
    rows = done.rows("REGION_AUDIT")
    found = [int(next(iter(v for k, v in row.items() if k.startswith("vbas_regio")))) for row in rows]
    assert sorted(found) == [5, 4_294_967_301]


@pytest.mark.parametrize("number", [str(2**63), "9" * 30, "--5", "5.5", 2.0**60])
def test_region_numbers_that_are_none_are_refused(released, number):
    records = make_layer({"home": HOMES, "sex": ["F"] * N, "x": [1] * N})
    crosswalk = make_layer({"home": ["a", "b"], "vbas_region": [number, number]})
    with pytest.raises(QgsProcessingException, match="not a whole number in 2 rows"):
        released(records, CROSSWALK=crosswalk)


# ---- names that meet


@pytest.mark.parametrize("place", ["memory:", "profile.gpkg", "profile.csv", "profile.shp"])
@pytest.mark.parametrize("name", ["records", "Records", "RECORDS"])
@pytest.mark.parametrize("area", [True, False])
def test_a_profile_of_a_field_called_records_is_refused(run, tmp_path, place, name, area):
    other = make_layer({"home" if not area else name: HOMES, name if not area else "sex": ["F"] * N})
    with pytest.raises(QgsProcessingException, match=r"two fields called|a name that the release itself uses"):
        run(
            "profilerecords",
            RECORDS=other,
            RECORD_REGION=name if area else "home",
            QUASI_IDENTIFIERS=["sex" if area else name],
            PROFILE=place if place == "memory:" else str(tmp_path / place),
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("place", ["memory:", "released.gpkg", "released.csv", "released.shp", "released.geojson"])
@pytest.mark.parametrize("name", ["vbas_region", "VBAS_Region", "records", "Records"])
@pytest.mark.parametrize("parameter", ["KEEP_FIELDS", "QUASI_IDENTIFIERS"])
def test_names_of_the_release_itself_are_refused(released, tmp_path, place, name, parameter):
    records = make_layer({"home": HOMES, "sex": ["F"] * N, "n": [2] * N, name: ["x"] * N})
    place = place if place == "memory:" else tmp_path / place
    with pytest.raises(QgsProcessingException, match=f"“{name}” has a name that the release itself uses"):
        released(records, place, **{"KEEP_FIELDS": [], parameter: [name], "RECORD_COUNT": "n"})
    assert not list(tmp_path.iterdir())


def test_areas_called_vbas_region_are_refused(run, grid):
    """The regions of an earlier run taken as areas, under the name they have there."""
    layer = make_layer(
        {"vbas_region": list(range(36)), "people": [1] * 36}, [f.geometry().asWkt() for f in grid[0].getFeatures()]
    )
    with pytest.raises(QgsProcessingException, match="two fields called “vbas_region”"):
        run(
            "staticcutoff",
            REGIONS=layer,
            REGION_ID="vbas_region",
            POPULATION="people",
            CUTOFF=1,
            CROSSWALK="memory:",
        )


@pytest.mark.parametrize(
    ("name", "words"), [("a\nb", "cannot be written"), ("", "cannot be written"), ("VBAS_REGION", "two fields")]
)
def test_tables_with_names_no_file_can_hold_are_refused(qgis_app, name, words):
    with pytest.raises(InputError, match=words):
        check_writable("OUT", Table(number_fields(**{"vbas_region": "long", name: "text"}), [[1], ["x"]]))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("integer", 2**31),
        ("integer", 5.5),
        ("long", 2**63),
        ("long", "7"),
        ("real", 2**53 + 1),
        ("real", "7"),
        ("text", 7),
        ("text", "a\0"),
        ("text", "\ud800"),
    ],
)
def test_values_a_field_cannot_hold_are_refused(qgis_app, kind, value):
    for column in (column_from_values([value]), [value]):
        with pytest.raises(InputError, match=r"field “x” .* cannot hold the values"):
            check_writable("OUT", Table(number_fields(x=kind), [column]))


def test_values_a_field_can_hold_pass(qgis_app):
    table = Table(
        number_fields(i="integer", j="long", r="real", t="text"),
        [[2**31 - 1, None], [-(2**63), 5.0], [2**53, float("nan")], ["é", ""]],
    )
    check_writable("OUT", table)


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("datetime", QDateTime(QDate(2020, 1, 2), QTime(1, 2, 3, 40)), "2020/01/02 01:02:03.04"),
        ("datetime", QDateTime(QDate(2020, 1, 2), QTime(1, 2, 3)), "2020-01-02T01:02:03Z"),
        ("date", QDate(2020, 1, 2), "2020/01/02"),
        ("time", QTime(1, 2, 3), "01:02:03"),
        ("boolean", True, "1"),
        ("long", 2**60, str(2**60)),
        ("real", 0.1, "0.1"),
        ("text", None, ""),
    ],
)
def test_formats_say_the_same_in_their_own_ways(qgis_app, kind, one, other):
    assert exact_text(one, kind) == exact_text(other, kind)


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("datetime", QDateTime(QDate(2020, 1, 2), QTime(1, 2, 3, 40)), "2020/01/02 01:02:03"),
        ("datetime", QDateTime(QDate(2020, 1, 2), QTime(1, 2, 3)), "2020-01-02T01:02:04Z"),
        ("date", QDate(2020, 1, 2), "2020/01/03"),
        ("time", QTime(1, 2, 3), "01:02:04"),
        ("boolean", True, "0"),
        ("long", 2**60 + 1, float(2**60)),
        ("real", 0.1, "0.10000001"),
        ("text", "a", "a "),
        ("long", 0, None),
    ],
)
def test_what_differs_is_seen(qgis_app, kind, one, other):
    assert exact_text(one, kind) != exact_text(other, kind)


def test_shapes_stand_beside_a_field_called_geom(qgis_app, tmp_path):
    import numpy as np
    import shapely

    table = Table(
        number_fields(geom="text", fid="long"),
        [["x", "y"], [7, 7]],
        "points",
        np.array([shapely.Point(1, 1), shapely.Point(2, 2)], dtype=object),
        QgsCoordinateReferenceSystem("EPSG:26914"),
    )
    file = tmp_path / 'it\'s a "table".gpkg'
    write_file(file, table, "title")
    check_file("OUT", file, table, None)
    layer = QgsVectorLayer(str(file), "layer", "ogr")
    assert sorted(f["geom"] for f in layer.getFeatures()) == ["x", "y"]
    assert {f["fid"] for f in layer.getFeatures()} == {7}


@reads_without_a_trace
def test_the_reader_leaves_the_file_as_it_is(released, tmp_path):
    path = tmp_path / "records.gpkg"
    make_geopackage(path, [("x", "INTEGER", 1)])
    copy = shutil.copy(path, tmp_path / "copy")
    released(str(path))
    assert path.read_bytes() == Path(copy).read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["copy", "records.gpkg"]
