"""Forms and the dock begin with the layers that fit, never with outputs of ours that are no inputs."""

from __future__ import annotations

import pytest
from qgis.core import QgsProject, QgsVectorLayer

from vbas.algorithms.form.usual_layers import Joins, Offered, area_layer, is_own_output, record_layer

from .conftest import make_layer
from .test_explorer import entry  # a fixture  # noqa: F401
from .test_window import form_of  # a fixture  # noqa: F401

OUTPUTS = ("RELEASED_RECORDS", "RELEASED_REGIONS", "CROSSWALK", "REGION_AUDIT")


@pytest.fixture
def project(anonymize, grid, tmp_path):
    """A project with areas, people, another table, and all that a run made; what sorts first is of ours."""
    QgsProject.instance().removeAllMapLayers()  # what tests of another file left
    files = {name: str(tmp_path / f"a_{name.lower()}.gpkg") for name in OUTPUTS}
    anonymize(**files, SITE_POINTS=None, VORONOI=None)
    layers = {name: QgsVectorLayer(file, f"a {name.lower()}", "ogr") for name, file in files.items()}
    for layer, name in zip(grid, ("small areas", "people")):
        layers[name] = layer.clone()
        layers[name].setName(name)
    layers["codes"] = make_layer({"code": ["x", "y"], "meaning": ["one", "two"]})
    layers["codes"].setName("codes")
    for layer in layers.values():
        assert layer.isValid()
        QgsProject.instance().addMapLayer(layer)
    yield layers
    QgsProject.instance().removeAllMapLayers()


def names_in(values):
    return [QgsProject.instance().mapLayer(value).name() for value in values]


@pytest.mark.slow
@pytest.mark.parametrize("active", ["people", "REGION_AUDIT", "codes", "small areas"])
def test_a_form_begins_with_the_areas_and_the_records_that_join_them(form_of, project, qgis_iface, active):  # noqa: F811
    qgis_iface.setActiveLayer(project[active])
    _, values = form_of("anonymize", {})
    assert names_in(values("REGIONS", "RECORDS")) == ["small areas", "people"]
    assert values("REGION_ID", "RECORD_REGION") == ["da", "home"]


@pytest.mark.slow
def test_a_model_does_so_too(form_of, project, qgis_iface):  # noqa: F811
    qgis_iface.setActiveLayer(project["people"])
    _, values = form_of("anonymizestepbystep", {})
    assert names_in(values("REGIONS", "RECORDS")) == ["small areas", "people"]


@pytest.mark.slow
def test_a_release_is_proposed_where_one_is_checked(form_of, project, qgis_iface):  # noqa: F811
    qgis_iface.setActiveLayer(project["REGION_AUDIT"])
    _, values = form_of("checkrelease", {})
    assert names_in(values("RECORDS")) == ["a released_records"]


@pytest.mark.slow
def test_a_crosswalk_is_proposed_where_one_is_asked_for(form_of, project, qgis_iface):  # noqa: F811
    qgis_iface.setActiveLayer(project["small areas"])
    _, values = form_of("releaserecords", {})
    assert names_in(values("CROSSWALK", "RECORDS")) == ["a crosswalk", "people"]


@pytest.mark.slow
def test_what_a_script_gives_stays(form_of, project):  # noqa: F811
    choose, values = form_of("anonymize", {})
    choose(RECORDS=project["codes"].id())
    assert names_in(values("RECORDS")) == ["codes"]


@pytest.mark.slow
def test_the_explorer_begins_so_too(entry, project):  # noqa: F811
    entry.show()
    data = entry.dock.data
    assert [one.currentLayer().name() for one in (data.regions, data.records)] == ["small areas", "people"]
    assert (data.region_id.currentField(), data.record_region.currentField()) == ("da", "home")


@pytest.mark.slow
def test_areas_that_come_after_outputs_are_taken_in_the_explorer(entry, project):  # noqa: F811
    kept = [project[name].clone() for name in ("small areas", "people")]
    for name in ("small areas", "people"):
        QgsProject.instance().removeMapLayer(project[name].id())
    entry.show()
    for one in kept:
        QgsProject.instance().addMapLayer(one)
    data = entry.dock.data
    assert [one.currentLayer().name() for one in (data.regions, data.records)] == ["small areas", "people"]


def test_values_join_and_small_numbers_do_not_mislead(grid):
    numbers = [str(i) for i in range(36)]
    squares = [feature.geometry().asWkt() for feature in grid[0].getFeatures()]
    areas = make_layer({"nr": numbers, "kind": ["a"] * 36}, squares)
    people = make_layer({"age": [i % 6 for i in range(72)], "where": [i // 2 for i in range(72)]})

    def join_of(areas, records):
        return Joins().best(Offered.of(areas), Offered.of(records))

    join = join_of(areas, people)
    assert join is not None
    assert (join.region_id, join.record_region, join.share) == ("nr", "where", 1.0)
    assert join_of(areas, make_layer({"where": ["x"] * 9})) is None
    assert join_of(areas, areas) is None


@pytest.mark.slow
def test_points_do_where_there_are_no_polygons_and_nothing_where_nothing_fits(grid, project):
    points = make_layer({"da": ["460000", "460001"]}, ["Point(0 0)", "Point(1 1)"])
    assert area_layer([points, project["REGION_AUDIT"], project["people"]], None) is points
    assert area_layer([project["REGION_AUDIT"]], None) is None
    assert record_layer([project["small areas"], project["CROSSWALK"]], None, project["small areas"]) is None
    assert all(is_own_output(project[name]) for name in OUTPUTS)
    assert not any(is_own_output(project[name]) for name in ("small areas", "people", "codes"))
