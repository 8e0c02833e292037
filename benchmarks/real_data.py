"""Open statistics kept next to the project (never in it), read for tests and benchmarks."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from vbas.core.areas import Areas, make_areas

DATA = Path(os.environ.get("VBAS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))

# Leading digits of DAUID: Croft 2015, section 4.1 cuts Canada into these.
PARTS_OF_CANADA = {
    "East": ("10", "11", "12", "13"),
    "Centre": ("24", "35"),
    "West": ("46", "47", "48", "59"),
}


def available() -> bool:
    """Whether the folder of real data is there."""
    return (DATA / "canada_da_points.gpkg").is_file()


def problem_with(parts: list[str]) -> str:
    """A sentence where a named part of Canada is unknown or the data are absent; empty where all is well."""
    unknown = [part for part in parts if part not in PARTS_OF_CANADA]
    if unknown:
        return f"Unknown part of Canada: {', '.join(unknown)}. Choose among {', '.join(PARTS_OF_CANADA)}."
    return "" if available() else f"The folder of real data is not at {DATA}: set VBAS_DATA to where it is."


def canada(part: str) -> Areas:
    """The DAs of a part of Canada as points in EPSG:3347, population 1 each (Statistics Canada)."""
    from osgeo import ogr, osr  # where there is no GDAL, it is still known where the data are

    source = ogr.Open(str(DATA / "canada_da_points.gpkg"))
    layer = source.GetLayer(0)
    lambert = osr.SpatialReference()
    lambert.ImportFromEPSG(3347)
    lambert.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    to_lambert = osr.CoordinateTransformation(layer.GetSpatialRef(), lambert)
    identifiers, points = [], []
    for feature in layer:
        identifier = str(feature.GetField("DAUID"))
        if identifier[:2] in PARTS_OF_CANADA[part]:
            geometry = feature.GetGeometryRef()
            geometry.Transform(to_lambert)
            identifiers.append(identifier)
            points.append(geometry.GetPoint_2D(0))
    return make_areas(identifiers, np.array(points))
