"""The main job inside QGIS: outputs, kinds of areas, bad input, cancel, the second count."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
import shapely
from qgis.core import (
    QgsFeatureRequest,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeatureSourceDefinition,
    QgsProcessingOutputLayerDefinition,
    QgsProject,
    QgsVectorFileWriter,
    QgsVectorLayer,
)

from vbas.algorithms.form.records import of_selected_areas
from vbas.algorithms.layers.delivery import writing
from vbas.algorithms.layers.inputs import Inputs
from vbas.algorithms.layers.reading.checked_source import checked_source
from vbas.algorithms.layers.reading.records import _read_features, _read_file

from .conftest import OUTPUTS, make_layer


def files_in(folder):
    return sorted(path.name for path in Path(folder).iterdir())


def least_class(rows, *fields):
    return min(Counter(tuple(row[f] for f in fields) for row in rows).values())


def test_outputs_in_memory(anonymize):
    done = anonymize(KEEP_FIELDS=["diagnosis"], K=5)
    rows = done.rows("RELEASED_RECORDS")
    assert list(rows[0]) == ["vbas_region", "sex", "age", "diagnosis"]
    assert least_class(rows, "vbas_region", "sex", "age") >= 5
    assert len(rows) + done.results["N_SUPPRESSED"] == done.results["N_RECORDS"] == 36 * 40
    assert {row["age"] for row in rows} <= set(range(1, 6))
    assert {row["diagnosis"] for row in rows} == {None, "flu", "cold"}

    crosswalk = done.rows("CROSSWALK")
    assert list(crosswalk[0]) == ["da", "vbas_region"]
    assert len({row["da"] for row in crosswalk}) == 36
    assert {row["vbas_region"] for row in crosswalk} == set(range(1, 7))

    regions = done.rows("RELEASED_REGIONS")
    assert list(regions[0]) == ["vbas_region", "areas", "area_km2", "released"]
    assert sum(row["released"] for row in regions) == len(rows)
    assert sum(row["areas"] for row in regions) == 36
    assert np.isclose(sum(row["area_km2"] for row in regions), 36 * 0.25)
    surface = sum(feature.geometry().area() for feature in done.layer("RELEASED_REGIONS").getFeatures())
    assert np.isclose(surface, 36 * 500**2)

    audit = done.rows("REGION_AUDIT")
    assert list(audit[0])[:4] == ["vbas_region", "areas", "area_km2", "released"]
    assert sum(row["areas"] for row in audit) == 36
    assert sum(row["suppressed"] for row in audit) == done.results["N_SUPPRESSED"]
    assert sum(row["records"] for row in audit) == 36 * 40
    assert np.isclose(sum(row["compactness"] for row in audit), done.results["COMPACTNESS"])
    assert all(row["parts"] == 1 for row in audit)
    assert len(done.rows("SITE_POINTS")) == len(done.rows("VORONOI")) == 6
    assert "internal" in done.layer("REGION_AUDIT").name()
    assert "for release" in done.layer("RELEASED_RECORDS").metadata().abstract()
    assert type(done.layer("RELEASED_REGIONS").renderer()).__name__ == "QgsGraduatedSymbolRenderer"


@pytest.mark.parametrize("k", [16, 20, 24, 26])
def test_release_and_measures_draw_the_line_at_the_same_k(anonymize, grid, k):
    """Classes have about 24 records here, so that some have just k."""
    done = anonymize(K=k)
    region_of = {row["da"]: row["vbas_region"] for row in done.rows("CROSSWALK")}
    records = [(region_of[f["home"]], f["sex"], f["age"]) for f in grid[1].getFeatures()]
    classes = Counter(records)
    assert k in classes.values()
    expected = Counter({row: n for row, n in classes.items() if n >= k})
    assert Counter((r["vbas_region"], r["sex"], r["age"]) for r in done.rows("RELEASED_RECORDS")) == expected
    assert done.results["N_SUPPRESSED"] == len(records) - sum(expected.values())


def test_each_area_lies_in_the_region_that_the_crosswalk_names(anonymize, grid):
    done = anonymize()
    shape_of = {f["vbas_region"]: f.geometry() for f in done.layer("RELEASED_REGIONS").getFeatures()}
    region_of = {row["da"]: row["vbas_region"] for row in done.rows("CROSSWALK")}
    for area in grid[0].getFeatures():
        assert shape_of[region_of[area["da"]]].contains(area.geometry().centroid())


def test_choices_may_be_told_by_their_numbers(anonymize, provider):
    """Headless QGIS lists choices with numbers, and offers those as what may be given."""
    definition = provider.algorithm("anonymize").parameterDefinition("SITE_LOCATION")
    word = "random"
    number = definition.options().index(word)
    crosswalks = [
        anonymize(COMBINATION="custom", SITE_LOCATION=told, SITE_NUMBER="given number", N_SITES=5).rows("CROSSWALK")
        for told in (word, number, str(number))
    ]
    assert crosswalks[0] == crosswalks[1] == crosswalks[2]
    other = anonymize(COMBINATION="custom", SITE_LOCATION=0, SITE_NUMBER="given number", N_SITES=5).rows("CROSSWALK")
    assert other != crosswalks[0]


def test_order_of_the_release_tells_nothing(anonymize, grid):
    rows = anonymize(KEEP_FIELDS=["diagnosis"]).rows("RELEASED_RECORDS")
    backwards = list(grid[1].getFeatures())[::-1]
    turned = QgsVectorLayer("None", "turned", "memory")
    turned.dataProvider().addAttributes(grid[1].fields().toList())
    turned.updateFields()
    turned.dataProvider().addFeatures(backwards)
    assert anonymize(KEEP_FIELDS=["diagnosis"], RECORDS=turned).rows("RELEASED_RECORDS") == rows


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".gpkg", ".csv", ".shp", ".geojson"])
def test_outputs_in_files_of_several_formats(anonymize, tmp_path, suffix):
    places = {name: str(tmp_path / f"{name.lower()}{suffix}") for name in OUTPUTS}
    if suffix == ".geojson":
        places["RELEASED_RECORDS"] = str(tmp_path / "released_records.csv")
    done = anonymize(**places)
    for name in OUTPUTS:
        path = Path(places[name])
        if suffix == ".shp" and not path.exists():
            path = path.with_suffix(".dbf")
        assert path.is_file(), files_in(tmp_path)
        layer = QgsVectorLayer(str(path), name, "ogr")
        assert layer.isValid()
        assert layer.featureCount() > 0
    table = Path(places["RELEASED_RECORDS"])
    table = table if table.exists() else table.with_suffix(".dbf")
    released = QgsVectorLayer(str(table), "released", "ogr")
    rows = [tuple(map(str, f.attributes()))[-3:] for f in released.getFeatures()]
    assert min(Counter(rows).values()) >= 5
    assert len(rows) == done.results["N_RECORDS"] - done.results["N_SUPPRESSED"]


def test_geopackage_is_styled_and_says_what_it_is(anonymize, tmp_path):
    place = tmp_path / "regions.gpkg"
    anonymize(RELEASED_REGIONS=str(place))
    layer = QgsVectorLayer(str(place), "regions", "ogr")
    assert type(layer.renderer()).__name__ == "QgsGraduatedSymbolRenderer"
    assert "for release" in layer.metadata().abstract() + layer.abstract() + layer.dataComment()


def test_toolbox_destinations_are_loaded_into_the_project(anonymize, tmp_path):
    place = tmp_path / "regions.gpkg"
    definition = QgsProcessingOutputLayerDefinition(str(place), QgsProject.instance())
    done = anonymize(RELEASED_REGIONS=definition)
    assert str(place) in done.context.layersToLoadOnCompletion()
    temporary = QgsProcessingOutputLayerDefinition("TEMPORARY_OUTPUT", QgsProject.instance())
    done = anonymize(RELEASED_RECORDS=temporary)
    assert done.results["RELEASED_RECORDS"] in done.context.layersToLoadOnCompletion()


def test_report_holds_verdict_and_parameters(anonymize, tmp_path):
    place = tmp_path / "report.html"
    anonymize(REPORT=str(place), K=4)
    text = place.read_text(encoding="utf-8")
    assert "The release is 4-anonymous" in text
    assert "Do not publish" in text
    assert "k: smallest class allowed (K)" in text
    assert text.count("<title>Region ") == 12
    assert "://" not in text and "<script" not in text


# ---- areas as they come


def test_points_get_voronoi_cells(anonymize, grid):
    points = [f.geometry().centroid().asWkt() for f in grid[0].getFeatures()]
    layer = make_layer({"da": [f["da"] for f in grid[0].getFeatures()]}, points)
    done = anonymize(REGIONS=layer)
    region_of = {row["da"]: row["vbas_region"] for row in done.rows("CROSSWALK")}
    shape_of = {f["vbas_region"]: f.geometry() for f in done.layer("RELEASED_REGIONS").getFeatures()}
    for point in layer.getFeatures():
        assert shape_of[region_of[point["da"]]].contains(point.geometry())


@pytest.mark.parametrize("crs", ["EPSG:4326", "EPSG:3857", "EPSG:2264"])
def test_other_systems_are_measured_in_metres(anonymize, grid, crs):
    from qgis.core import QgsCoordinateReferenceSystem, QgsCoordinateTransform

    turn = QgsCoordinateTransform(
        QgsCoordinateReferenceSystem("EPSG:26914"), QgsCoordinateReferenceSystem(crs), QgsProject.instance()
    )
    wkts = []
    for feature in grid[0].getFeatures():
        geometry = feature.geometry()
        geometry.transform(turn)
        wkts.append(geometry.asWkt(12))
    layer = make_layer({"da": [f["da"] for f in grid[0].getFeatures()]}, wkts, crs)
    here, there = anonymize(), anonymize(REGIONS=layer)
    # Winnipeg lies in Canada, whose projection is conformal: 49.8 N is near its standard parallel.
    assert any("EPSG:3347" in line for line in there.log)
    assert np.isclose(there.results["COMPACTNESS"], here.results["COMPACTNESS"], rtol=5e-3)
    assert np.isclose(sum(r["area_km2"] for r in there.rows("RELEASED_REGIONS")), 9.0, rtol=5e-3)
    assert there.layer("RELEASED_REGIONS").crs().authid() == crs
    assert there.layer("SITE_POINTS").extent().xMaximum() < 0


def test_invalid_polygons_are_repaired_and_named(anonymize, grid):
    bowtie = "Polygon((630000 5520000, 630500 5520500, 630500 5520000, 630000 5520500, 630000 5520000))"
    wkts = [bowtie, *(f.geometry().asWkt() for f in list(grid[0].getFeatures())[1:])]
    layer = make_layer({"da": [f["da"] for f in grid[0].getFeatures()]}, wkts)
    done = anonymize(REGIONS=layer)
    assert any("460000" in line and "invalid" in line for line in done.log)
    assert all(f.geometry().isGeosValid() for f in done.layer("RELEASED_REGIONS").getFeatures())


def test_numeric_identifiers_meet_text(anonymize, grid):
    numbers = make_layer(
        {"da": [int(f["da"]) for f in grid[0].getFeatures()]}, [f.geometry().asWkt() for f in grid[0].getFeatures()]
    )
    assert anonymize(REGIONS=numbers).results["N_RECORDS"] == 36 * 40


def test_leading_zeros_are_kept_apart(anonymize, grid):
    zeros = make_layer(
        {"da": ["0" + f["da"] for f in grid[0].getFeatures()]}, [f.geometry().asWkt() for f in grid[0].getFeatures()]
    )
    with pytest.raises(
        QgsProcessingException,
        match=r"records have “460000”, .* areas “0460000”, .* hold the same identifiers. .* but for leading zeros",
    ):
        anonymize(REGIONS=zeros)


def test_areas_without_people_or_records_join_a_region(anonymize, grid):
    areas = make_layer(
        {"da": [f["da"] for f in grid[0].getFeatures()], "people": [0] * 6 + [50] * 30},
        [f.geometry().asWkt() for f in grid[0].getFeatures()],
    )
    records = grid[1].materialize(QgsFeatureRequest().setFilterExpression("home >= '460200'"))
    done = anonymize(REGIONS=areas, RECORDS=records, POPULATION="people")
    assert all(row["vbas_region"] for row in done.rows("CROSSWALK"))
    assert done.results["N_RECORDS"] == 24 * 40


# ---- records as they come


def test_counted_records_give_the_same_crosswalk_and_measures(run, anonymize, grid):
    plain = anonymize()
    profile = run(
        "profilerecords",
        RECORDS=grid[1],
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex", "age"],
        PROFILE="memory:",
    )
    counted = anonymize(RECORDS=profile.layer("PROFILE"), RECORD_COUNT="records")
    assert counted.rows("CROSSWALK") == plain.rows("CROSSWALK")
    for name in ("N_RECORDS", "N_SUPPRESSED", "COMPACTNESS", "DISCERNIBILITY", "NON_UNIFORM_ENTROPY"):
        assert counted.results[name] == plain.results[name]
    rows = counted.rows("RELEASED_RECORDS")
    assert list(rows[0]) == ["vbas_region", "sex", "age", "records"]
    assert min(row["records"] for row in rows) >= 5
    # One row a class: several would show the areas within.
    assert least_class(rows, "vbas_region", "sex", "age") == max(
        Counter((r["vbas_region"], r["sex"], r["age"]) for r in rows).values()
    )


def test_selected_records_only(anonymize, grid):
    records = grid[1]
    QgsProject.instance().addMapLayer(records)
    records.selectByExpression("sex = 'F'")
    done = anonymize(RECORDS=QgsProcessingFeatureSourceDefinition(records.id(), True))
    assert done.results["N_RECORDS"] == records.selectedFeatureCount() < 36 * 40
    QgsProject.instance().removeMapLayer(records.id())


def test_fast_and_slow_reading_agree(provider, grid, tmp_path):
    options = QgsVectorFileWriter.SaveVectorOptions()
    options.driverName = "GPKG"
    path = tmp_path / "records.gpkg"
    QgsVectorFileWriter.writeAsVectorFormatV3(grid[1], str(path), QgsProject.instance().transformContext(), options)
    file = QgsVectorLayer(str(path), "records", "ogr")
    names = ["home", "sex", "age", "diagnosis"]
    source = checked_source(
        Inputs(provider.algorithm("profilerecords").create(), {"RECORDS": file}, QgsProcessingContext()), "RECORDS"
    )
    assert source is not None
    fast = _read_file(source, names, lambda _: None)
    slow = _read_features(source, [file.fields().lookupField(name) for name in names], lambda _: None)
    assert fast is not None
    for name in names:
        assert fast[name].categories.tolist() == slow[name].categories.tolist()
        assert fast[name].codes.tolist() == slow[name].codes.tolist()


def test_unmatched_records_are_counted_or_suppressed(anonymize, grid):
    few = make_layer(
        {"da": [f["da"] for f in grid[0].getFeatures()][:30]},
        [f.geometry().asWkt() for f in grid[0].getFeatures()][:30],
    )
    with pytest.raises(QgsProcessingException, match=r"240 records .*“460500”"):
        anonymize(REGIONS=few)
    done = anonymize(REGIONS=few, UNMATCHED="suppress")
    assert done.results["N_RECORDS"] == 36 * 40
    assert done.results["N_SUPPRESSED"] >= 240
    assert done.results["N_SUPPRESSED"] == 36 * 40 - len(done.rows("RELEASED_RECORDS"))


# ---- bad input


def twice(grid):
    names = [f["da"] for f in grid[0].getFeatures()]
    return make_layer({"da": [names[1], *names[1:]]}, [f.geometry().asWkt() for f in grid[0].getFeatures()])


def with_population(grid, values):
    return make_layer(
        {"da": [f["da"] for f in grid[0].getFeatures()], "people": values},
        [f.geometry().asWkt() for f in grid[0].getFeatures()],
    )


def without_geometry(grid):
    wkts = [f.geometry().asWkt() for f in grid[0].getFeatures()]
    return make_layer({"da": [f["da"] for f in grid[0].getFeatures()]}, [*wkts[:-1], ""], kind="Polygon")


def counted(grid, value):
    n = grid[1].featureCount()
    rows = list(grid[1].getFeatures())
    return make_layer(
        {
            "home": [f["home"] for f in rows],
            "sex": [f["sex"] for f in rows],
            "n": [value] * 3 + [type(value)(1)] * (n - 3),
        }
    )


BAD_INPUT: dict[str, tuple[Callable[[Any], dict[str, Any]], str]] = {
    "no such id": (lambda g: {"REGION_ID": "dauid"}, "REGION_ID: there is no field “dauid” in REGIONS, .*“da”"),
    "no such area": (lambda g: {"RECORD_REGION": "x"}, "RECORD_REGION: there is no field “x” in RECORDS"),
    "no such quasi": (lambda g: {"QUASI_IDENTIFIERS": ["sex", "x"]}, "QUASI_IDENTIFIERS: there is no field “x”"),
    "no such kept": (lambda g: {"KEEP_FIELDS": ["x"]}, "KEEP_FIELDS: there is no field “x”"),
    "no such sensitive": (lambda g: {"SENSITIVE": ["x"]}, "^SENSITIVE: there is no field “x”"),
    "quasi as sensitive": (lambda g: {"SENSITIVE": ["sex"]}, "^SENSITIVE repeats quasi-identifiers .*“sex”"),
    "area as sensitive": (lambda g: {"SENSITIVE": ["home"]}, "“home” in SENSITIVE is the identifier"),
    "register of another kind": (
        lambda g: {"REGISTER": "/nowhere/register.sqlite"},
        "“/nowhere/register.sqlite”: name a file that ends in “.gpkg”",
    ),
    "series with what cannot be checked, before a record is read": (
        lambda g: {
            "RECORDS": make_layer({"home": [], "sex": [], "age": []}),
            **{"PERIOD": "age", "PERIODS": "the same in all periods"},
            **{"RELEASE": "nested levels", "DISCLOSURE": "no small count follows"},
        },
        "DISCLOSURE “no small count follows” and PERIODS “the same in all periods” do not go together",
    ),
    "no such population": (lambda g: {"POPULATION": "x"}, "POPULATION: there is no field “x”"),
    "twice": (lambda g: {"REGIONS": twice(g)}, "“da” of REGIONS is not unique: 1 identifier .*“460001”"),
    "empty records": (
        lambda g: {"RECORDS": make_layer({"home": [], "sex": [], "age": []})},
        "RECORDS is empty",
    ),
    "empty regions": (lambda g: {"REGIONS": make_layer({"da": []}, [], kind="Polygon")}, "REGIONS is empty"),
    "no quasi": (lambda g: {"QUASI_IDENTIFIERS": []}, "QUASI_IDENTIFIERS"),
    "area as quasi": (
        lambda g: {"QUASI_IDENTIFIERS": ["sex", "home"]},
        "“home” in QUASI_IDENTIFIERS is the identifier",
    ),
    "area kept": (lambda g: {"KEEP_FIELDS": ["home"]}, "“home” in KEEP_FIELDS is the identifier"),
    "k of one": (lambda g: {"K": 1}, "K"),
    "k too large": (lambda g: {"K": 10_000}, "K is 10\u00a0000, but RECORDS has only 1440 records"),
    "negative": (
        lambda g: {"REGIONS": with_population(g, [-1] + [5] * 35), "POPULATION": "people"},
        "POPULATION is negative in 1 area .*“460000”",
    ),
    "missing": (
        lambda g: {"REGIONS": with_population(g, [None] + [5] * 35), "POPULATION": "people"},
        "POPULATION is missing in 1 area .*“460000”",
    ),
    "no number": (
        lambda g: {"REGIONS": with_population(g, ["many"] + ["5"] * 35), "POPULATION": "people"},
        "POPULATION field “people” holds what is no number .*“many”.*: choose a numeric field or correct it",
    ),
    "negative count": (
        lambda g: {"RECORDS": counted(g, -2), "RECORD_COUNT": "n", "QUASI_IDENTIFIERS": ["sex"]},
        "“n” is negative in 3 rows",
    ),
    "half a count": (
        lambda g: {"RECORDS": counted(g, 1.5), "RECORD_COUNT": "n", "QUASI_IDENTIFIERS": ["sex"]},
        "“n” is not a whole number in 3 rows",
    ),
    "no geometry": (lambda g: {"REGIONS": without_geometry(g)}, "REGIONS has 1 area with an empty geometry .*“460505”"),
    "no sites": (lambda g: {"N_SITES": 0}, "N_SITES is 0, but must be between 1 and the number of areas, 36"),
    "too many sites": (lambda g: {"N_SITES": 37}, "N_SITES is 37"),
    "one area": (lambda g: {"REGIONS": g[0].materialize(QgsFeatureRequest(1))}, "only one area"),
    "no layer": (lambda g: {"RECORDS": "/nowhere/records.gpkg"}, "RECORDS"),
    "no crs": (
        lambda g: {"REGIONS": make_layer({"da": ["a", "b"]}, ["Point(0 0)", "Point(1 1)"], "")},
        "no coordinate reference",
    ),
    "no folder": (lambda g: {"CROSSWALK": "/nowhere/at/all.csv"}, "CROSSWALK: there is no folder"),
    "no format": (lambda g: {"CROSSWALK": "crosswalk.nonsense"}, "not a format that QGIS writes"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_gets_one_sentence_and_writes_nothing(anonymize, grid, tmp_path, case):
    change, words = BAD_INPUT[case]
    places = {name: str(tmp_path / f"{name}.gpkg") for name in OUTPUTS}
    changes = {**places, "REPORT": str(tmp_path / "report.html"), **change(grid)}
    if changes["CROSSWALK"] == "crosswalk.nonsense":
        changes["CROSSWALK"] = str(tmp_path / "crosswalk.nonsense")
    with pytest.raises(QgsProcessingException, match=words) as error:
        anonymize(**changes)
    assert "Traceback" not in str(error.value)
    assert files_in(tmp_path) == []


def test_two_outputs_in_one_file_and_an_output_over_an_input_are_refused(anonymize, grid, tmp_path):
    place = str(tmp_path / "same.gpkg")
    with pytest.raises(QgsProcessingException, match="are the same file"):
        anonymize(CROSSWALK=place, REGION_AUDIT=place)
    records = tmp_path / "records.csv"
    records.write_text("home,sex,age\n" + "460000,F,1\n" * 9)
    before = records.read_bytes()
    with pytest.raises(QgsProcessingException, match="RELEASED_RECORDS and RECORDS are the same file"):
        anonymize(RECORDS=str(records), RELEASED_RECORDS=str(records))
    assert records.read_bytes() == before


@pytest.mark.parametrize("stop_at", [0.5, 10, 55, 65, 79])
def test_cancel_at_any_moment_leaves_nothing(anonymize, run, grid, tmp_path, stop_at):
    places = {name: str(tmp_path / f"{name}.gpkg") for name in OUTPUTS}
    areas, records = grid
    with pytest.raises(QgsProcessingException, match="Cancelled"):
        run(
            "anonymize",
            stop_at=stop_at,
            REGIONS=areas,
            REGION_ID="da",
            RECORDS=records,
            RECORD_REGION="home",
            QUASI_IDENTIFIERS=["sex"],
            COMBINATION="custom",
            SITE_NUMBER="given number",
            N_SITES=6,
            **places,
        )
    assert files_in(tmp_path) == []


def test_an_output_that_cannot_be_put_in_place_loses_nothing(anonymize, tmp_path):
    old = tmp_path / "crosswalk.csv"
    old.write_text("what was there before")
    (tmp_path / "audit.gpkg").mkdir()
    with pytest.raises(QgsProcessingException):
        anonymize(CROSSWALK=str(old), REGION_AUDIT=str(tmp_path / "audit.gpkg"))
    assert files_in(tmp_path) == ["audit.gpkg", "crosswalk.csv"]


# ---- the second count


@pytest.mark.parametrize("place", ["memory:", "file.gpkg", "file.csv"])
def test_second_count_stops_a_release_that_was_written_wrongly(anonymize, tmp_path, monkeypatch, place):
    """The written rows are tampered with on their way: one row gets a class of its own."""
    chunks = writing.Table.chunks

    def tampered(self):
        for start, rows in chunks(self):
            if self.fields[-1].name() == "age":
                rows[0] = (rows[0][0], "only one of this kind", *rows[0][2:])
            yield start, rows

    monkeypatch.setattr(writing.Table, "chunks", tampered)
    monkeypatch.setattr(writing.Table, "runs", lambda _: None)
    target = place if place == "memory:" else str(tmp_path / place)
    with pytest.raises(QgsProcessingException, match="second count"):
        anonymize(RELEASED_RECORDS=target, CROSSWALK=str(tmp_path / "crosswalk.csv"))
    assert files_in(tmp_path) == []


def test_second_count_of_a_table_in_a_database(anonymize, tmp_path, monkeypatch):
    """The release is tampered with on its way into the database."""
    chunks, database = writing.Table.chunks, tmp_path / "database.gpkg"
    anonymize(RELEASED_REGIONS=str(database))

    def tampered(self):
        for start, rows in chunks(self):
            if self.fields[-1].name() == "age":
                rows[0] = (rows[0][0], "only one of this kind", *rows[0][2:])
            yield start, rows

    monkeypatch.setattr(writing.Table, "chunks", tampered)
    monkeypatch.setattr(writing.Table, "runs", lambda _: None)
    with pytest.raises(QgsProcessingException, match="second count"):
        anonymize(RELEASED_RECORDS=f"ogr:dbname='{database}' table=\"released\"")
    # What fails never had its final name, and is dropped.
    with closing(sqlite3.connect(database)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert "database" in tables
        assert not {name for name in tables if name == "released" or name.startswith("vbas_")}


def test_second_count_notices_lost_rows(anonymize, tmp_path, monkeypatch):
    chunks = writing.Table.chunks

    def short(self):
        for start, rows in chunks(self):
            yield start, rows[:-1] if self.fields[-1].name() == "age" else rows

    monkeypatch.setattr(writing.Table, "chunks", short)
    monkeypatch.setattr(writing.Table, "runs", lambda _: None)
    with pytest.raises(QgsProcessingException, match="not written whole"):
        anonymize(RELEASED_RECORDS=str(tmp_path / "file.gpkg"))
    assert files_in(tmp_path) == []


def test_everything_suppressed_is_said_and_empty(anonymize, grid, tmp_path):
    n = grid[1].featureCount()
    records = make_layer(
        {"home": [f["home"] for f in grid[1].getFeatures()], "code": [str(i // 2) for i in range(n)]},
    )
    done = anonymize(RECORDS=records, QUASI_IDENTIFIERS=["code"], REPORT=str(tmp_path / "r.html"))
    assert done.results["N_SUPPRESSED"] == n
    assert done.rows("RELEASED_RECORDS") == []
    assert "No record could be released" in (tmp_path / "r.html").read_text(encoding="utf-8")


# ---- real areas


@pytest.mark.slow
def test_winnipeg(run, real_data, tmp_path):
    areas = str(real_data / "winnipeg_da2016.gpkg")
    records = str(tmp_path / "records.gpkg")
    run("generaterecords", REGIONS=areas, REGION_ID="DAUID", LEAST=40, MOST=70, RECORDS=records)
    done = run(
        "anonymize",
        REGIONS=areas,
        REGION_ID="DAUID",
        RECORDS=records,
        RECORD_REGION="DAUID",
        QUASI_IDENTIFIERS=_first_two(records),
        COMBINATION="fastest",
        RELEASED_RECORDS="memory:",
        RELEASED_REGIONS="memory:",
    )
    rows = done.rows("RELEASED_RECORDS")
    assert least_class(rows, *list(rows[0])[:3]) >= 5
    whole = shapely.union_all(
        [shapely.from_wkb(bytes(f.geometry().asWkb())) for f in done.layer("RELEASED_REGIONS").getFeatures()]
    )
    layer = QgsVectorLayer(areas, "areas", "ogr")
    surface = sum(f.geometry().area() for f in layer.getFeatures())
    assert np.isclose(whole.area, surface, rtol=1e-6)


def _first_two(path):
    return QgsVectorLayer(path, "records", "ogr").fields().names()[2:4]  # after fid and the area


@pytest.mark.slow
def test_ottawa_geographic(run, real_data):
    done = run(
        "generaterecords",
        REGIONS=str(real_data / "ottawa_da2021.gpkg"),
        REGION_ID="DAUID",
        LEAST=20,
        MOST=30,
        RECORDS="memory:",
    )
    records = done.layer("RECORDS")
    result = run(
        "anonymize",
        REGIONS=str(real_data / "ottawa_da2021.gpkg"),
        REGION_ID="DAUID",
        RECORDS=records,
        RECORD_REGION="DAUID",
        QUASI_IDENTIFIERS=records.fields().names()[1:3],
        COMBINATION="custom",
        SITE_NUMBER="population cut-off",
        CUTOFF=800,
        RELEASED_RECORDS="memory:",
        RELEASED_REGIONS="memory:",
    )
    layer = result.layer("RELEASED_REGIONS")
    assert layer.crs().authid() == "EPSG:4326"
    square_kilometres = sum(row["area_km2"] for row in result.rows("RELEASED_REGIONS"))
    assert 2_500 < square_kilometres < 3_500  # Ottawa has about 2 790 km²
    assert any("EPSG:3347" in line and "1.6 % longer" in line for line in result.log)


def test_a_kept_field_named_records_is_no_count(anonymize, grid, tmp_path):
    rows = list(grid[1].getFeatures())
    records = make_layer(
        {"home": [f["home"] for f in rows], "sex": [f["sex"] for f in rows], "records": [1000] * len(rows)}
    )
    for place in ("memory:", str(tmp_path / "released.gpkg")):
        done = anonymize(
            RECORDS=records, QUASI_IDENTIFIERS=["sex"], KEEP_FIELDS=["records"], RELEASED_RECORDS=place, K=5
        )
        assert len(done.rows("RELEASED_RECORDS")) == len(rows) - done.results["N_SUPPRESSED"]
    with pytest.raises(QgsProcessingException, match="“records” has a name that the release itself uses"):
        anonymize(RECORDS=records, QUASI_IDENTIFIERS=["sex"], KEEP_FIELDS=["records"], RECORD_COUNT="home")


@pytest.mark.slow
def test_release_into_a_table_of_a_database(anonymize, tmp_path):
    database = tmp_path / "database.gpkg"
    anonymize(RELEASED_REGIONS=str(database))
    done = anonymize(RELEASED_RECORDS=f"ogr:dbname='{database}' table=\"released\"")
    table = QgsVectorLayer(f"{database}|layername=released", "released", "ogr")
    assert table.featureCount() == done.results["N_RECORDS"] - done.results["N_SUPPRESSED"] > 0
    assert QgsVectorLayer(f"{database}|layername=database", "regions", "ogr").featureCount() == 6


@pytest.mark.parametrize("counts", [(-1, 36), (-2, 36), (12, -1), (-1, -1)])
def test_a_part_of_the_areas_that_nobody_has_counted_is_told_without_a_number(counts):
    """QGIS counts below zero what it does not know: a part by an expression, a layer of a service."""
    told = of_selected_areas(*counts)
    assert told.startswith("Only a part of the areas of REGIONS is taken (“Selected features only”, or a filter), and ")
    assert "counts as suppressed" in told and not re.search(r"\d", told)
    assert of_selected_areas(12, 36).startswith("Only 12 of 36 areas of REGIONS are taken (")


@pytest.mark.skipif(
    not hasattr(QgsProcessingFeatureSourceDefinition("x"), "filterExpression"), reason="QGIS 3.32 and later"
)
def test_so_is_a_part_by_an_expression(grid, anonymize):
    areas, _ = grid
    QgsProject.instance().addMapLayer(areas)
    part = QgsProcessingFeatureSourceDefinition(areas.id(), False, -1, filterExpression="$id < 12")
    said = [line for line in anonymize(REGIONS=part, UNMATCHED="suppress", N_SITES=2).log if "of REGIONS" in line]
    assert any(line.startswith("Only a part of the areas of REGIONS is taken") for line in said), said
    QgsProject.instance().removeMapLayer(areas.id())


def test_a_selection_of_areas_is_warned_of_before_everybody_else_counts_as_suppressed(grid, anonymize):
    areas, _ = grid
    selected = [feature.id() for feature in areas.getFeatures()][:12]
    areas.selectByIds(selected)
    QgsProject.instance().addMapLayer(areas)
    done = anonymize(REGIONS=QgsProcessingFeatureSourceDefinition(areas.id(), True), UNMATCHED="suppress", N_SITES=2)
    said = [i for i, line in enumerate(done.log) if "Only 12 of 36 areas" in line and "counts as suppressed" in line]
    read = [i for i, line in enumerate(done.log) if "records in 12 areas" in line or " of 12 areas" in line]
    assert said and read and said[0] < read[0]
    assert done.results["N_SUPPRESSED"] >= 24 * 40
    assert not any("areas of REGIONS are taken" in line for line in anonymize(UNMATCHED="suppress").log)
    QgsProject.instance().removeMapLayer(areas.id())
