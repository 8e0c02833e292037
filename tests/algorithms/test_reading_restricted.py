"""Who was filtered out, left unselected or taken out in an edit is never read, in any format, by any reader.

Each case is counted through vbas:profilerecords and beside it by plain Python from the rows the files were made of.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing

import pytest
from osgeo import ogr
from qgis.core import (
    QgsFeature,
    QgsField,
    QgsProcessingException,
    QgsProcessingFeatureSourceDefinition,
    QgsProject,
    QgsVectorLayer,
    QgsVectorLayerJoinInfo,
)
from qgis.PyQt.QtCore import QVariant

from .conftest import make_layer

ROWS = [(f"46{i % 7:04d}", "FM"[i % 2], i % 5) for i in range(300)]
FORMATS = {"gpkg": "GPKG", "csv": "CSV", "fgb": "FlatGeobuf", "dbf": "ESRI Shapefile", "view": "GPKG"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The rows in each format; in order of their feature ids."""
    folder = tmp_path_factory.mktemp("restricted")
    paths = {}
    for name, driver in FORMATS.items():
        path = folder / f"people_{name}.{'gpkg' if name == 'view' else name}"
        dataset = ogr.GetDriverByName(driver).CreateDataSource(str(path))
        is_flatgeobuf = name == "fgb"
        layer = dataset.CreateLayer(
            "people",
            geom_type=ogr.wkbPoint if is_flatgeobuf else ogr.wkbNone,
            options=["SPATIAL_INDEX=NO"] if is_flatgeobuf else ["ENCODING=UTF-8"] if name == "dbf" else [],
        )
        for field, kind in (("home", ogr.OFTString), ("sex", ogr.OFTString), ("age", ogr.OFTInteger)):
            layer.CreateField(ogr.FieldDefn(field, kind))
        for i, row in enumerate(ROWS):
            feature = ogr.Feature(layer.GetLayerDefn())
            for field, value in zip(("home", "sex", "age"), row):
                feature[field] = value
            if is_flatgeobuf:
                feature.SetGeometry(ogr.CreateGeometryFromWkt(f"POINT ({i} {i})"))
            layer.CreateFeature(feature)
        layer = dataset = None
        paths[name] = str(path)
    with closing(sqlite3.connect(paths["view"])) as connection:
        connection.execute("create view everybody as select fid, home, sex, age from people")
        connection.execute(
            "insert into gpkg_contents (table_name, data_type, identifier) values ('everybody', 'attributes', 'x')"
        )
        connection.commit()
    paths["view"] += "|layername=everybody"
    return paths


@pytest.fixture
def opened(files):
    """opened(format) -> the layer in the project; taken out again afterwards."""
    layers = []

    def one(name, suffix=""):
        layer = QgsVectorLayer(files[name] + suffix, "people", "ogr")
        assert layer.isValid() and layer.featureCount() >= 0
        QgsProject.instance().addMapLayer(layer)
        layers.append(layer)
        return layer

    yield one
    for layer in layers:
        if layer.isEditable():
            layer.rollBack()
        QgsProject.instance().removeMapLayer(layer.id())


@pytest.fixture
def counted(run):
    """counted(records) -> records by area, sex and age, as the profile has them."""

    def one(records, fields=("sex", "age")):
        done = run(
            "profilerecords",
            RECORDS=records,
            RECORD_REGION="home",
            QUASI_IDENTIFIERS=list(fields),
            PROFILE="memory:",
        )
        return Counter({tuple(str(v) for v in list(row.values())[:-1]): row["records"] for row in done.rows("PROFILE")})

    return one


def expected(rows):
    return Counter((home, sex, str(age)) for home, sex, age in rows)


EVERY_FORMAT = pytest.mark.parametrize("name", FORMATS)


@EVERY_FORMAT
def test_all_rows(files, opened, counted, name):
    assert counted(files[name]) == counted(opened(name)) == expected(ROWS)


@EVERY_FORMAT
def test_filter_of_the_layer(opened, counted, name):
    layer = opened(name)
    assert layer.setSubsetString("sex = 'F'")
    assert counted(layer) == counted(layer.id()) == expected(row for row in ROWS if row[1] == "F")


@EVERY_FORMAT
def test_filter_in_the_path(files, counted, name):
    assert counted(files[name] + "|subset=sex = 'F'") == expected(row for row in ROWS if row[1] == "F")


@EVERY_FORMAT
def test_selection(opened, counted, name):
    layer = opened(name)
    layer.selectByExpression("home = '460001'")
    rows = [row for row in ROWS if row[0] == "460001"]
    assert counted(QgsProcessingFeatureSourceDefinition(layer.id(), True)) == expected(rows)
    # The layer itself is all of it, whatever is selected.
    assert counted(layer) == expected(ROWS)


@EVERY_FORMAT
def test_selection_among_the_filtered(opened, counted, name):
    layer = opened(name)
    layer.setSubsetString("sex = 'F'")
    layer.selectByExpression("home = '460001'")
    rows = [row for row in ROWS if row[:2] == ("460001", "F")]
    assert counted(QgsProcessingFeatureSourceDefinition(layer.id(), True)) == expected(rows)


@EVERY_FORMAT
@pytest.mark.parametrize("by", ["layer", "path"])
def test_limit(files, opened, counted, name, by):
    given = opened(name).id() if by == "layer" else files[name]
    found = counted(QgsProcessingFeatureSourceDefinition(given, False, 40))
    assert found.total() == 40
    assert not found - expected(ROWS)
    everybody = QgsProcessingFeatureSourceDefinition(given, False, 10_000)
    assert counted(everybody) == expected(ROWS)


@EVERY_FORMAT
@pytest.mark.skipif(
    not hasattr(QgsProcessingFeatureSourceDefinition("x"), "filterExpression"), reason="QGIS 3.32 and later"
)
def test_expression_of_the_parameter(opened, counted, name):
    value = QgsProcessingFeatureSourceDefinition(opened(name).id(), False, -1, filterExpression="\"sex\" = 'F'")
    assert counted(value) == expected(row for row in ROWS if row[1] == "F")


@EVERY_FORMAT
@pytest.mark.parametrize("change", ["deleted", "changed", "added"])
def test_unsaved_edits(opened, counted, name, change):
    layer = opened(name)
    if not layer.startEditing():
        pytest.skip(f"QGIS does not edit {FORMATS[name]} here")
    rows = list(ROWS)
    ids = [feature.id() for feature in layer.getFeatures()]
    if change == "deleted":
        done = layer.deleteFeature(ids[3])
        del rows[3]
    elif change == "changed":
        done = layer.changeAttributeValue(ids[3], layer.fields().lookupField("sex"), "X")
        rows[3] = (rows[3][0], "X", rows[3][2])
    else:
        feature = QgsFeature(layer.fields())
        for field, value in zip(("home", "sex", "age"), ("460009", "X", 4)):
            index = layer.fields().lookupField(field)
            feature[index] = value if layer.fields().at(index).isNumeric() else str(value)  # as a form does
        done = layer.addFeature(feature)
        rows.append(("460009", "X", 4))
    if not done:
        pytest.skip(f"QGIS cannot make this edit in {FORMATS[name]}")
    assert layer.isModified()
    assert counted(layer) == expected(rows)


@EVERY_FORMAT
def test_virtual_field(opened, counted, name):
    layer = opened(name)
    layer.addExpressionField("\"sex\" || 'x'", QgsField("marked", QVariant.Type.String))
    found = counted(layer, ("marked", "age"))
    assert found == Counter((home, sex + "x", str(age)) for home, sex, age in ROWS)


def test_virtual_field_of_a_name_that_the_file_has_got_since(tmp_path, counted):
    path = tmp_path / "people.gpkg"
    dataset = ogr.GetDriverByName("GPKG").CreateDataSource(str(path))
    layer = dataset.CreateLayer("people", geom_type=ogr.wkbNone)
    for field in ("home", "sex"):
        layer.CreateField(ogr.FieldDefn(field, ogr.OFTString))
    layer = dataset = None
    with closing(sqlite3.connect(path)) as connection:
        connection.executemany("insert into people (home, sex) values (?, ?)", [("460001", "F")] * 20)
        connection.commit()
        shown = QgsVectorLayer(str(path), "people", "ogr")
        shown.addExpressionField("'shown'", QgsField("marked", QVariant.Type.String))
        connection.execute("alter table people add column marked text default 'hidden'")
        connection.commit()
    assert counted(shown, ["marked"]) == Counter({("460001", "shown"): 20})


def test_virtual_field_of_a_name_that_a_csv_file_has_got_since(tmp_path, counted):
    path = tmp_path / "people.csv"
    path.write_text("home,sex\n" + "460001,F\n" * 20)
    shown = QgsVectorLayer(str(path), "people", "ogr")
    shown.addExpressionField("'shown'", QgsField("marked", QVariant.Type.String, "String"))
    path.write_text("home,sex,marked\n" + "460001,F,hidden\n" * 20)
    assert counted(shown, ["marked"]) == Counter({("460001", "shown"): 20})


@EVERY_FORMAT
def test_joined_field(opened, counted, name):
    layer = opened(name)
    table = make_layer({"code": ["F", "M"], "word": ["female", "male"]})
    QgsProject.instance().addMapLayer(table)
    try:
        join = QgsVectorLayerJoinInfo()
        join.setJoinLayer(table)
        join.setJoinFieldName("code")
        join.setTargetFieldName("sex")
        join.setPrefix("joined_")
        assert layer.addJoin(join)
        words = {"F": "female", "M": "male"}
        assert counted(layer, ("joined_word", "age")) == Counter((h, words[s], str(a)) for h, s, a in ROWS)
    finally:
        QgsProject.instance().removeMapLayer(table.id())


def test_kinds_of_geometry(tmp_path, counted):
    """A path that asks for points shows the points alone."""
    path = tmp_path / "mixed.gpkg"
    dataset = ogr.GetDriverByName("GPKG").CreateDataSource(str(path))
    layer = dataset.CreateLayer("mixed", geom_type=ogr.wkbUnknown)
    for field in ("home", "sex"):
        layer.CreateField(ogr.FieldDefn(field, ogr.OFTString))
    for sex, wkt in (("F", "POINT (1 1)"), ("M", "LINESTRING (0 0, 1 1)"), ("F", "POINT (2 2)")):
        feature = ogr.Feature(layer.GetLayerDefn())
        feature["home"], feature["sex"] = "460001", sex
        feature.SetGeometry(ogr.CreateGeometryFromWkt(wkt))
        layer.CreateFeature(feature)
    layer = dataset = None
    found = counted(f"{path}|layername=mixed|geometrytype=Point", ["sex"])
    assert found == Counter({("460001", "F"): 2})


def test_row_that_was_selected_and_is_gone(tmp_path, opened, run):
    """A selection that no longer stands in the file is no smaller selection."""
    path = tmp_path / "gone.gpkg"
    dataset = ogr.GetDriverByName("GPKG").CreateDataSource(str(path))
    layer = dataset.CreateLayer("gone", geom_type=ogr.wkbNone)
    for field in ("home", "sex"):
        layer.CreateField(ogr.FieldDefn(field, ogr.OFTString))
    layer = dataset = None
    with closing(sqlite3.connect(path)) as connection:
        connection.executemany("insert into gone (home, sex) values (?, ?)", [("460001", "F")] * 20)
        connection.commit()
        shown = QgsVectorLayer(str(path), "gone", "ogr")
        QgsProject.instance().addMapLayer(shown)
        shown.selectAll()
        connection.execute("delete from gone where fid > 10")
        connection.commit()
    try:
        with pytest.raises(QgsProcessingException, match="10 rows were read where 20 are"):
            run(
                "profilerecords",
                RECORDS=QgsProcessingFeatureSourceDefinition(shown.id(), True),
                RECORD_REGION="home",
                QUASI_IDENTIFIERS=["sex"],
                PROFILE="memory:",
            )
    finally:
        QgsProject.instance().removeMapLayer(shown.id())
