"""Ottawa: dissemination areas (Statistics Canada 2021, open licence) and pseudo-households, in metres."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import shapely
from osgeo import ogr, osr

from vbas.benchmarks.real_data import DATA

# What the toolbox measures in: equal areas, centred on the city.
PLANAR = "+proj=laea +lat_0=45.2496 +lon_0=-75.8 +datum=WGS84 +units=m +no_defs"


class Ottawa(NamedTuple):
    """shapes : (m,) polygons; households : (h, 2) pseudo-households; persons : (h,) that each stands for."""

    shapes: np.ndarray
    households: np.ndarray
    persons: np.ndarray


def available() -> bool:
    """Whether the files are there."""
    return all((DATA / name).is_file() for name in ("ottawa_da2021.gpkg", "ottawa_households.gpkg"))


def ottawa() -> Ottawa:
    """1 392 dissemination areas and 38 461 pseudo-households."""
    shapes, _ = _read("ottawa_da2021.gpkg", None)
    points, persons = _read("ottawa_households.gpkg", "dbpop")
    return Ottawa(shapes, shapely.get_coordinates(points), np.array(persons))


def _read(name: str, field: str | None) -> tuple[np.ndarray, list[float]]:
    source = ogr.Open(str(DATA / name))
    layer = source.GetLayer(0)
    target = osr.SpatialReference()
    target.ImportFromProj4(PLANAR)
    own = layer.GetSpatialRef()
    for crs in (own, target):
        crs.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    transform = osr.CoordinateTransformation(own, target)
    wkbs, values = [], []
    for feature in layer:
        geometry = feature.GetGeometryRef()
        geometry.Transform(transform)
        wkbs.append(bytes(geometry.ExportToWkb()))
        values.append(0.0 if field is None else feature.GetField(field))
    shapes = shapely.force_2d(shapely.from_wkb(np.array(wkbs, dtype=object)))
    return shapely.make_valid(shapes), values
