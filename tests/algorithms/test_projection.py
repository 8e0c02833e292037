"""The plane that geographic layers are measured in: across the antimeridian, at the poles, in Canada, too wide."""

from __future__ import annotations

import re

import numpy as np
import pytest
import shapely
from osgeo import ogr, osr
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProject,
    QgsVectorLayer,
)

from vbas.algorithms.layers.shapes.projection import drawn, extent_in, planar_crs, transformed
from vbas.core.plane import CANADA, WIDE_KM, in_canada

from .conftest import make_layer

WGS84 = QgsCoordinateReferenceSystem("EPSG:4326")
# About 20 km: Fiji's islands lie as far apart.
SIDE = 20_000.0


class Heard(QgsProcessingFeedback):
    """What the user is told."""

    def __init__(self):
        super().__init__()
        self.info, self.warnings = [], []

    def pushInfo(self, info):
        self.info.append(info)

    def pushWarning(self, warning):
        self.warnings.append(warning)


def plane_at(latitude, longitude):
    crs = QgsCoordinateReferenceSystem()
    crs.createFromProj(f"+proj=laea +lat_0={latitude} +lon_0={longitude} +datum=WGS84 +units=m +no_defs")
    return crs


def rectangles(side=SIDE):
    """6 x 6 rectangles around the middle of a plane, uneven and turned, so that no distances are equal."""
    x, y = side * np.array([[-3, -1.93, -0.98, 0.09, 1.07, 2.11, 3], [-3, -2.06, -0.91, 0.11, 0.97, 1.89, 3]])
    turn = np.array([[np.cos(0.2), -np.sin(0.2)], [np.sin(0.2), np.cos(0.2)]])
    boxes = [shapely.box(x[i], y[j], x[i + 1], y[j + 1]) for j in range(6) for i in range(6)]
    return shapely.transform(np.array(boxes), lambda c: c @ turn)


def in_degrees(shapes, plane, crs=WGS84):
    """The shapes as such a layer comes: in degrees, in two pieces where they cross the antimeridian."""
    return drawn(shapes, QgsCoordinateTransform(plane, crs, QgsProject.instance()))


def layer_of(grid, shapes, crs):
    return make_layer({"da": [f["da"] for f in grid[0].getFeatures()]}, [s.wkt for s in shapes], crs)


PLACES = {
    "Fiji": (-17.0, 180.0),
    "the Aleutians": (52.0, 179.0),
    "the north pole": (90.0, 0.0),
    "the south pole": (-89.5, 70.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("points", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_areas_across_the_antimeridian_and_at_the_poles_are_measured_where_they_are(anonymize, grid, place, points):
    plane = plane_at(*PLACES[place])
    shapes = shapely.centroid(rectangles()) if points else rectangles()
    # Sites on areas drawn by chance: they do not ask which way is up in a plane.
    truth = anonymize(REGIONS=layer_of(grid, shapes, plane.toWkt()), SITE_LOCATION="random")
    done = anonymize(REGIONS=layer_of(grid, in_degrees(shapes, plane), "EPSG:4326"), SITE_LOCATION="random")
    assert done.rows("CROSSWALK") == truth.rows("CROSSWALK")
    assert done.results["COMPACTNESS"] == pytest.approx(truth.results["COMPACTNESS"], rel=5e-3)
    assert not any("km wide" in line for line in done.log)
    # Drawn in degrees again, no piece goes around the globe, and the surface is all there.
    regions = done.layer("RELEASED_REGIONS")
    assert regions.crs() == WGS84
    km2 = [row["area_km2"] for row in done.rows("RELEASED_REGIONS")]
    # Straight borders on the ground are no straight lines in degrees, least of all at a pole.
    close = 0.1 if "pole" in place else 2e-3
    assert np.allclose(km2, [row["area_km2"] for row in truth.rows("RELEASED_REGIONS")], rtol=close)
    if "pole" in place:
        return
    for name in ("RELEASED_REGIONS", "VORONOI"):
        for feature in done.layer(name).getFeatures():
            for part in feature.geometry().asGeometryCollection():
                assert part.boundingBox().width() < 5
    for feature in done.layer("SITE_POINTS").getFeatures():
        assert abs(feature.geometry().asPoint().x()) > 175


def test_a_shape_in_two_pieces_beside_the_antimeridian_has_its_middle_there():
    shape = shapely.MultiPolygon([shapely.box(179, -18, 180, -16), shapely.box(-180, -18, -179, -16)])
    ((x, y, z),) = extent_in(WGS84, np.array([shape], dtype=object)).vectors
    assert np.isclose(np.degrees(np.arctan2(y, x)) % 360, 180, atol=0.2)
    assert np.isclose(np.degrees(np.arcsin(z)), -17, atol=0.3)


def test_areas_that_touch_across_the_antimeridian_are_neighbours(run):
    # Two areas either side of it, 30 people each, and islands to the west of them with neighbours of their own.
    boxes = [(179, -17, 180, -16), (-180, -17, -179, -16), (170, -17, 171, -16), (171, -17, 172, -16)]
    layer = make_layer(
        {"da": list("abcd"), "people": [30, 30, 60, 60]}, [shapely.box(*box).wkt for box in boxes], "EPSG:4326"
    )
    merged = run(
        "mergeadjacent",
        REGIONS=layer,
        REGION_ID="da",
        POPULATION="people",
        CUTOFF=50,
        ISLANDS="leave alone",
        CROSSWALK="memory:",
        RELEASED_REGIONS="memory:",
    )
    region_of = {row["da"]: row["vbas_region"] for row in merged.rows("CROSSWALK")}
    assert region_of["a"] == region_of["b"] and len(set(region_of.values())) == 3


def asked(degrees, crs="EPSG:4326"):
    heard = Heard()
    crs = QgsCoordinateReferenceSystem(crs)
    shapes = shapely.points(np.array(degrees, float))
    if crs != WGS84:
        shapes = transformed(shapes, QgsCoordinateTransform(WGS84, crs, QgsProject.instance()))
    return planar_crs(crs, shapes, heard), heard


def test_the_united_states_with_the_aleutians_are_centred_in_america():
    planar, heard = asked([(-70, 44), (-80, 26), (-118, 34), (-150, 61), (-160, 21), (173, 52.8)])
    middle = float(planar.toProj().split("+lon_0=")[1].split()[0])
    assert -140 < middle < -110
    assert any("km wide" in line for line in heard.warnings)


def test_an_extent_too_wide_for_one_plane_is_warned_of():
    one_side = np.degrees((WIDE_KM / 2) / 6371)
    for reach, warned in ((0.98, False), (1.02, True)):
        _, heard = asked([(20 - reach * one_side, 0), (20 + reach * one_side, 0)])
        assert [("REGIONS is about 6" in line) for line in heard.warnings] == [True] * warned
    planar, heard = asked([(lon, 0) for lon in range(-180, 180, 20)])  # directions that cancel out
    assert planar.isValid() and "km wide" in heard.warnings[0]


@pytest.mark.parametrize(
    ("degrees", "crs", "expected"),
    [
        ([(-75.7, 45.4), (-52.7, 47.6), (-123.1, 49.25), (-62.3, 82.5)], "EPSG:4326", CANADA),
        ([(-83.04, 42.31), (-97.1, 49.9)], "EPSG:4269", CANADA),
        ([(-75.7, 45.4), (-73.6, 45.5)], "EPSG:3857", CANADA),
        ([(-83.3, 42.4), (-97.1, 49.9)], "EPSG:4326", "laea"),  # Detroit
        ([(-122.3, 47.6), (-71.06, 42.36)], "EPSG:4326", "laea"),  # Seattle and Boston lie in Canada's box
        ([(10.75, 59.9), (10.4, 63.4)], "EPSG:4326", "laea"),
    ],
)
def test_canada_has_the_projection_of_its_statistical_office(degrees, crs, expected):
    planar, heard = asked(degrees, crs)
    assert (planar.authid() == CANADA) == (expected == CANADA)
    assert any(expected in line for line in heard.info + heard.warnings)
    # How much the conformal projection lengthens is told where it is chosen.
    assert any("than on the ground in the middle of the layer" in line for line in heard.info + heard.warnings) == (
        expected == CANADA
    )


@pytest.mark.slow
def test_canadian_areas_are_measured_in_square_kilometres_of_the_ground(anonymize, grid):
    plane = plane_at(45.4, -75.7)
    done = anonymize(REGIONS=layer_of(grid, in_degrees(rectangles(500), plane), "EPSG:4326"))
    told = next(line for line in done.log if CANADA in line)
    longer = re.search(r"they are ([0-9.]+) % longer", told)
    assert longer
    per_cent = float(longer[1])
    assert sum(row["area_km2"] for row in done.rows("RELEASED_REGIONS")) == pytest.approx(9.0, rel=1e-4)
    truth = anonymize(REGIONS=layer_of(grid, rectangles(500), plane.toWkt()))
    assert done.results["COMPACTNESS"] / truth.results["COMPACTNESS"] == pytest.approx(1 + per_cent / 100, abs=1e-3)
    points = anonymize(REGIONS=layer_of(grid, in_degrees(shapely.centroid(rectangles(500)), plane), "EPSG:4326"))
    true_points = anonymize(REGIONS=layer_of(grid, shapely.centroid(rectangles(500)), plane.toWkt()))
    cells, true_cells = (sum(row["area_km2"] for row in one.rows("RELEASED_REGIONS")) for one in (points, true_points))
    assert cells == pytest.approx(true_cells, rel=1e-3)
    drawn = true_points.layer("RELEASED_REGIONS").getFeatures()
    assert true_cells == pytest.approx(sum(feature.geometry().area() for feature in drawn) / 1e6, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("crs", ["EPSG:4087", "EPSG:3857", "EPSG:32662"])
def test_metres_that_are_no_metres_on_the_ground_are_warned_of_and_not_used(anonymize, grid, crs):
    plane = plane_at(60.0, 25.0)
    target = QgsCoordinateReferenceSystem(crs)
    truth = anonymize(REGIONS=layer_of(grid, rectangles(500), plane.toWkt()))
    done = anonymize(REGIONS=layer_of(grid, in_degrees(rectangles(500), plane, target), crs))
    assert done.results["COMPACTNESS"] == pytest.approx(truth.results["COMPACTNESS"], rel=1e-3)
    assert done.rows("CROSSWALK") == truth.rows("CROSSWALK")
    assert any("not metres on the ground" in line for line in done.log)
    assert done.layer("RELEASED_REGIONS").crs() == target


def test_a_layer_in_metres_is_measured_as_it_is():
    planar, heard = asked([(9, 50), (9.1, 50.1)], "EPSG:32632")
    assert planar.authid() == "EPSG:32632" and not heard.info and not heard.warnings


NOT_CANADA = {
    "Seattle": (-122.3, 47.6),
    "Bellingham": (-122.48, 48.75),
    "Grand Forks": (-97.03, 47.9),
    "Duluth": (-92.1, 46.8),
    "Isle Royale": (-88.8, 48.0),
    "Detroit": (-83.2, 42.35),
    "Buffalo": (-78.8, 42.9),
    "Watertown": (-75.9, 43.97),
    "Burlington": (-73.2, 44.5),
    "Bangor": (-68.8, 44.8),
    "Boston": (-71.0, 42.3),
    "Anchorage": (-149.9, 61.2),
    "Juneau": (-134.4, 58.3),
    "Nuuk": (-51.7, 64.2),
    "Thule": (-69.0, 77.5),
}


@pytest.mark.parametrize("town", NOT_CANADA)
def test_canadas_neighbours_are_not_canada(town):
    assert not in_canada(np.array([NOT_CANADA[town]]))


def test_every_dissemination_area_of_canada_is_in_canada(real_data):
    points = [
        feature.geometry().asPoint()
        for feature in QgsVectorLayer(str(real_data / "canada_da_points.gpkg"), "areas", "ogr").getFeatures()
    ]
    assert len(points) > 50_000
    assert in_canada(np.array([(point.x(), point.y()) for point in points]))


def test_a_system_without_a_number_is_named_where_coordinates_do_not_fit(tmp_path, run):
    """A GeoPackage without a system says “Undefined geographic SRS”, or nothing at all with GDAL 3.9 and later."""
    source = ogr.GetDriverByName("GPKG").CreateDataSource(str(tmp_path / "areas.gpkg"))
    table = source.CreateLayer("areas", None, ogr.wkbPolygon)
    table.CreateField(ogr.FieldDefn("da", ogr.OFTString))
    for number, x in enumerate((500_000, 501_000)):
        feature = ogr.Feature(table.GetLayerDefn())
        feature.SetField("da", str(number))
        feature.SetGeometry(ogr.CreateGeometryFromWkb(shapely.to_wkb(shapely.box(x, 5e6, x + 1000, 5.001e6))))
        table.CreateFeature(feature)
    del feature, table, source
    layer = QgsVectorLayer(str(tmp_path / "areas.gpkg"), "areas", "ogr")
    with pytest.raises(QgsProcessingException, match=r"(“?Undefined .*|system): (check that|assign)"):
        run("aggregate", REGIONS=layer, REGION_ID="da", SITES=layer, CROSSWALK="memory:")


@pytest.mark.parametrize(("unit", "metres"), [('"foot",0.3048', False), ('"metre",1', True)])
def test_feet_of_nowhere_are_not_taken_for_degrees(run, unit, metres):
    """Of an engineer's own system QGIS converts nothing, and says nothing of it."""
    layer = make_layer({"da": ["1", "2"]}, ["Point(0 0)", "Point(90 40)"], "EPSG:26914")
    layer.setCrs(QgsCoordinateReferenceSystem.fromWkt(f'LOCAL_CS["the mine",UNIT[{unit}]]'))
    given = {"REGIONS": layer, "REGION_ID": "da", "SITES": layer, "CROSSWALK": "memory:"}
    if metres:
        assert run("aggregate", **given).rows("CROSSWALK")
    else:
        with pytest.raises(QgsProcessingException, match="REGIONS is in the mine, which is not in metres and not tied"):
            run("aggregate", **given)


def test_an_area_without_a_surface_is_refused_and_of_a_collection_its_polygons_are_taken(tmp_path, run):
    source = ogr.GetDriverByName("GPKG").CreateDataSource(str(tmp_path / "areas.gpkg"))
    west, south = 630_000, 5_520_000
    box, side = (shapely.box(x, south, x + 500, south + 500).wkt for x in (west, west + 500))
    line = shapely.LineString([(west + 500, south), (west + 900, south + 500)]).wkt
    with_line = f"GEOMETRYCOLLECTION({side},{line})"
    for table, other in (("line", line), ("collection", with_line)):
        utm = osr.SpatialReference()
        utm.ImportFromEPSG(26914)
        areas = source.CreateLayer(table, srs=utm, geom_type=ogr.wkbUnknown)
        areas.CreateField(ogr.FieldDefn("da", ogr.OFTString))
        for number, wkt in enumerate((box, other)):
            feature = ogr.Feature(areas.GetLayerDefn())
            feature.SetField("da", str(number))
            feature.SetGeometry(ogr.CreateGeometryFromWkt(wkt))
            areas.CreateFeature(feature)
    del feature, areas, source
    sites = make_layer({"n": [1]}, [f"Point({west + 9} {south + 9})"], "EPSG:26914")
    given = {"REGION_ID": "da", "SITES": sites, "CROSSWALK": "memory:", "RELEASED_REGIONS": "memory:"}
    layers = {}
    for table in ("line", "collection"):
        layers[table] = QgsVectorLayer(f"{tmp_path / 'areas.gpkg'}|layername={table}", table, "ogr")
    done = run("aggregate", REGIONS=layers["collection"], **given)
    (region,) = done.layer("RELEASED_REGIONS").getFeatures()
    assert region.geometry().area() == pytest.approx(1000 * 500)
    # QGIS shows the line in a layer of polygons, or leaves it out; the kind of the first shape is that of the layer.
    with pytest.raises(QgsProcessingException, match=r"1 area of REGIONS has no surface \(“1”\)|has only one area"):
        run("aggregate", REGIONS=layers["line"], **given)
