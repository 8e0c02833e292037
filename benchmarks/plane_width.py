"""How wide an extent one plane can hold: areas whose nearest site differs between the plane and the globe.

    PYTHONPATH=build/package .venv/bin/python benchmarks/plane_width.py

Areas and sites are drawn uniformly over a round extent on the globe (or are the dissemination areas of Canada, where
the data are there), projected as VBAS projects geographic layers, and each area's nearest site in the plane is compared
with its nearest one on the ellipsoid. The distances there are chords in three dimensions: the order of chords is that
of great circles. "further" is how much further, in per cent of the distances of all areas, the sites of the plane
are; "scale" is the smallest and the largest length in the plane of one metre on the ground.
"""

from __future__ import annotations

import sys

import numpy as np
from osgeo import osr
from scipy.spatial import cKDTree

from vbas.benchmarks import real_data

EXTENTS_KM = (500, 1000, 2000, 3000, 4000, 5000, 6000, 8000, 10_000, 15_000, 20_000)
AREAS, SITES, DRAWS = 20_000, 200, 10
# Where the extents lie: mid-latitudes, the equator, a pole.
CENTRES = ((50.0, 10.0), (0.0, 178.0), (90.0, 0.0))
EARTH_KM = 6371.0
OTHERS = {"Lambert conformal of Statistics Canada": "EPSG:3347", "plate carrée": "EPSG:4087", "Mercator": "EPSG:3857"}


def laea(centre: tuple[float, float]) -> str:
    """The equal-area plane that VBAS centres on a layer; centre : latitude, longitude."""
    return f"+proj=laea +lat_0={centre[0]:.4f} +lon_0={centre[1]:.4f} +datum=WGS84 +units=m +no_defs"


def in_plane(degrees: np.ndarray, definition: str) -> np.ndarray:
    """Longitudes and latitudes, (n, 2), in the plane."""
    wgs, plane = osr.SpatialReference(), osr.SpatialReference()
    wgs.ImportFromEPSG(4326)
    plane.SetFromUserInput(definition)
    for system in (wgs, plane):
        system.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return np.array(osr.CoordinateTransformation(wgs, plane).TransformPoints(degrees.tolist()))[:, :2]


def in_space(degrees: np.ndarray) -> np.ndarray:
    """The same points on the ellipsoid, (n, 3), metres from the middle of the Earth."""
    return np.array(_to_space().TransformPoints(np.column_stack([degrees, np.zeros(len(degrees))]).tolist()))


def _to_space() -> osr.CoordinateTransformation:
    wgs, space = osr.SpatialReference(), osr.SpatialReference()
    wgs.ImportFromEPSG(4979)
    space.ImportFromEPSG(4978)
    wgs.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return osr.CoordinateTransformation(wgs, space)


def cap(centre: tuple[float, float], diameter_km: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """Points drawn uniformly over a round extent of the globe, (n, 2) longitudes and latitudes."""
    height = rng.uniform(np.cos(diameter_km / 2 / EARTH_KM), 1.0, n)
    turn, across = rng.uniform(0, 2 * np.pi, n), np.sqrt(1 - height**2)
    lat, lon = np.radians(centre)
    up = np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    east = np.array([-np.sin(lon), np.cos(lon), 0.0])
    north = np.cross(up, east)
    points = height[:, None] * up + across[:, None] * (np.cos(turn)[:, None] * east + np.sin(turn)[:, None] * north)
    return np.degrees(
        np.column_stack([np.arctan2(points[:, 1], points[:, 0]), np.arcsin(np.clip(points[:, 2], -1, 1))])
    )


def compared(degrees: np.ndarray, sites: np.ndarray, definition: str) -> tuple[float, float]:
    """Areas whose nearest site differs, %, and how much further the sites of the plane are, %; sites : positions."""
    plane, space = in_plane(degrees, definition), in_space(degrees)
    here = cKDTree(plane[sites]).query(plane)[1]
    distance, there = cKDTree(space[sites]).query(space)
    chosen = np.linalg.norm(space - space[sites][here], axis=1)
    return 100 * float((here != there).mean()), 100 * float(chosen.sum() / distance.sum() - 1)


def scale(degrees: np.ndarray, definition: str) -> tuple[float, float]:
    """The smallest and the largest length in the plane of one metre on the ground, over the points and directions."""
    factors = []
    start, start_space = in_plane(degrees, definition), in_space(degrees)
    for turn in np.arange(0, np.pi, np.pi / 12):
        step = 1e-3 * np.array([np.cos(turn), np.sin(turn)])
        moved = degrees + step / np.column_stack([np.cos(np.radians(degrees[:, 1])), np.ones(len(degrees))])
        length = np.linalg.norm(in_plane(moved, definition) - start, axis=1)
        factors.append(length / np.linalg.norm(in_space(moved) - start_space, axis=1))
    return float(np.min(factors)), float(np.max(factors))


def print_row(title: str, degrees: list[np.ndarray], definition: str, rng: np.random.Generator) -> None:
    """One line of the table: the means over the draws."""
    shares = [compared(points, rng.choice(len(points), SITES, replace=False), definition) for points in degrees]
    smallest, largest = scale(degrees[0][np.abs(degrees[0][:, 1]) < 89.9][:2000], definition)
    differ, further = np.mean(shares, axis=0)
    print(f"{title:58} {differ:8.2f} {further:9.4f}   {smallest:.3f} to {largest:.3f}", flush=True)


def main() -> int:
    """Print the table."""
    print(f"{SITES} sites, {DRAWS} draws of {AREAS} areas")
    print(f"{'extent, plane':58} {'differ %':>8} {'further %':>9}   scale")
    rng = np.random.default_rng(0)
    for centre in CENTRES:
        for extent in EXTENTS_KM:
            draws = [cap(centre, extent, AREAS, rng) for _ in range(DRAWS)]
            print_row(f"{extent:6} km around {centre[0]:g} N {centre[1]:g} E, equal area", draws, laea(centre), rng)
    draws = [cap(CENTRES[0], 500, AREAS, rng) for _ in range(DRAWS)]
    for name in ("plate carrée", "Mercator"):
        print_row(f"   500 km around 50 N 10 E, {name} ({OTHERS[name]})", draws, OTHERS[name], rng)
    if not real_data.available():
        print(f"The dissemination areas of Canada are not in {real_data.DATA}.")
        return 0
    points = canada()
    vectors = np.column_stack([np.cos(np.radians(points[:, 1])), np.sin(np.radians(points[:, 1]))])
    turn = np.radians(points[:, 0])
    mean = np.column_stack([vectors[:, 0] * np.cos(turn), vectors[:, 0] * np.sin(turn), vectors[:, 1]]).mean(axis=0)
    centre = (np.degrees(np.arctan2(mean[2], np.hypot(*mean[:2]))), np.degrees(np.arctan2(mean[1], mean[0])))
    ottawa = points[np.hypot(*(points - (-75.7, 45.4)).T) < 0.3]
    for place, there, at in (("Canada", points, centre), ("Ottawa", ottawa, (45.4, -75.7))):
        title = f"{place}, {len(there)} dissemination areas, "
        print_row(title + "equal area", [there] * DRAWS, laea(at), rng)
        print_row(title + "EPSG:3347", [there] * DRAWS, "EPSG:3347", rng)
    return 0


def canada() -> np.ndarray:
    """Longitudes and latitudes of the dissemination areas of the whole country, (n, 2)."""
    from osgeo import ogr

    source = ogr.Open(str(real_data.DATA / "canada_da_points.gpkg"))
    return np.array([feature.GetGeometryRef().GetPoint_2D(0) for feature in source.GetLayer(0)])


if __name__ == "__main__":
    sys.exit(main())
