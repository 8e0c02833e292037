"""All coordinates of a layer go through QGIS in one call: to the last bit what each shape gives by itself."""

import numpy as np
import pytest
import shapely
from qgis.core import QgsCoordinateReferenceSystem, QgsCoordinateTransform, QgsGeometry, QgsProject, QgsVectorLayer

from vbas.algorithms.layers.shapes.projection import transformed

LAYERS = ("winnipeg_da2016.gpkg", "ottawa_da2021.gpkg", "california_tracts2000.gpkg", "denver_blocks2020.gpkg")
PLANES = (
    "EPSG:3347",
    "EPSG:4326",
    "EPSG:3857",
    "PROJ:+proj=laea +lat_0=49.9 +lon_0=-97 +datum=WGS84 +units=m +no_defs",
)


def one_by_one(shapes, transform):
    found = []
    for wkb in shapely.to_wkb(shapes):
        geometry = QgsGeometry()
        geometry.fromWkb(wkb)
        geometry.transform(transform)
        found.append(bytes(geometry.asWkb()))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYERS)
def test_real_areas(qgis_app, real_data, name):
    layer = QgsVectorLayer(str(real_data / name), name, "ogr")
    wkbs = [bytes(feature.geometry().asWkb()) for feature in layer.getFeatures()]
    shapes = shapely.force_2d(shapely.from_wkb(wkbs))
    for plane in PLANES:
        transform = QgsCoordinateTransform(layer.crs(), QgsCoordinateReferenceSystem(plane), QgsProject.instance())
        assert shapely.to_wkb(transformed(shapes, transform)).tolist() == one_by_one(shapes, transform)


def test_shapes_of_many_kinds(qgis_app):
    transform = QgsCoordinateTransform(
        QgsCoordinateReferenceSystem("EPSG:4326"), QgsCoordinateReferenceSystem("EPSG:3347"), QgsProject.instance()
    )
    square, hole = shapely.box(-97, 49, -96, 50), shapely.box(-96.7, 49.3, -96.4, 49.6)
    shapes = [
        shapely.Point(-97, 50),
        shapely.LineString([(-97, 50), (-96, 50)]),
        square - hole,
        shapely.MultiPolygon([hole, shapely.box(-95, 49, -94, 50)]),
        shapely.MultiPoint([(-97, 50), (-96, 51)]),
    ]
    assert shapely.to_wkb(transformed(np.array(shapes), transform)).tolist() == one_by_one(shapes, transform)
    assert len(transformed(np.array([], dtype=object), transform)) == 0
