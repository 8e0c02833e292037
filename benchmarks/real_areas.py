"""Real areas with neighbours and populations, read for tests and benchmarks (open statistics next to the project)."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import shapely
from osgeo import ogr, osr

from vbas.benchmarks.real_data import DATA, PARTS_OF_CANADA
from vbas.core.areas import Areas, make_areas
from vbas.core.neighbours import point_neighbours, polygon_neighbours

# File, layer, identifier, population, and the EPSG code of the projection in metres to measure in.
LAYERS = {
    "Winnipeg": ("winnipeg_da2016.gpkg", "da", "DAUID", "population", 26914),
    "Ottawa": ("ottawa_da2021.gpkg", "da", "DAUID", "pop2021", 32189),
    "California": ("california_tracts2000.gpkg", "tracts", "GEOID", "pop2000", 3310),
    "East of Canada": ("canada_da_points.gpkg", "da_points", "DAUID", "pop2021", 3347),
}


@lru_cache(maxsize=4)
def areas(name: str) -> Areas:
    """The areas of that name, with their neighbours: by shared border, points by that of their Voronoi cells.

    Areas of East of Canada whose population is not known are left out.
    """
    file, table, id_field, population_field, code = LAYERS[name]
    source = ogr.Open(str(DATA / file))
    layer = source.GetLayerByName(table)
    to_metres = osr.CoordinateTransformation(layer.GetSpatialRef(), _crs(code))
    identifiers, populations, wkbs, projected = [], [], [], []
    for feature in layer:
        identifier = str(feature.GetField(id_field))
        population = feature.GetField(population_field)
        if population is None or (name == "East of Canada" and identifier[:2] not in PARTS_OF_CANADA["East"]):
            continue
        geometry = feature.GetGeometryRef()
        wkbs.append(bytes(geometry.ExportToWkb()))
        geometry.Transform(to_metres)
        projected.append(bytes(geometry.ExportToWkb()))
        identifiers.append(identifier)
        populations.append(float(population))
    shapes = shapely.force_2d(shapely.from_wkb(wkbs))
    metres = shapely.force_2d(shapely.from_wkb(projected))
    points = shapely.get_coordinates(shapely.centroid(shapely.make_valid(metres)))
    regions = make_areas(identifiers, points, np.array(populations))
    if shapely.get_dimensions(shapes).max() == 0:
        return replace(regions, neighbours=point_neighbours(points))
    return replace(regions, neighbours=polygon_neighbours(shapely.make_valid(shapes)))


def polygons(name: str) -> np.ndarray:
    """The polygons of the areas of that name, in metres, in the order of `areas`."""
    file, table, _, population_field, code = LAYERS[name]
    source = ogr.Open(str(DATA / file))
    layer = source.GetLayerByName(table)
    to_metres = osr.CoordinateTransformation(layer.GetSpatialRef(), _crs(code))
    wkbs = []
    for feature in layer:
        if feature.GetField(population_field) is not None:
            geometry = feature.GetGeometryRef()
            geometry.Transform(to_metres)
            wkbs.append(bytes(geometry.ExportToWkb()))
    return shapely.make_valid(shapely.force_2d(shapely.from_wkb(wkbs)))


def _crs(code: int) -> osr.SpatialReference:
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(code)
    crs.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return crs
