"""Areas and points, as custodians have them and as nobody should: tables of shapes."""

from __future__ import annotations

import math
import struct
from dataclasses import replace

from .given import Table

# By CRS: where a town is, and how large an area of it.
TOWNS = {
    "EPSG:26914": (630_000.0, 5_520_000.0, 500.0),
    "EPSG:4326": (-97.2, 49.8, 0.01),
    "EPSG:4269": (-97.2, 49.8, 0.01),
    "EPSG:3347": (6_600_000.0, 1_600_000.0, 700.0),
    "EPSG:3857": (-10_820_000.0, 6_400_000.0, 800.0),
    "EPSG:2232": (3_100_000.0, 1_700_000.0, 1_500.0),
    "EPSG:4087": (-10_820_000.0, 5_540_000.0, 800.0),
}
ODD_TOWNS = {
    "antimeridian": ("EPSG:4326", (179.98, -17.0, 0.01)),
    "pole": ("EPSG:4326", (10.0, 89.97, 0.01)),
    "south pole": ("EPSG:3031", (-1_000.0, -1_000.0, 700.0)),
    "null island": ("EPSG:4326", (-0.02, -0.02, 0.01)),
    "world": ("EPSG:4326", (-170.0, -80.0, 50.0)),
    "metres as degrees": ("EPSG:4326", (630_000.0, 5_520_000.0, 500.0)),
    "degrees as metres": ("EPSG:26914", (-97.2, 49.8, 0.01)),
    "tiny": ("EPSG:26914", (630_000.0, 5_520_000.0, 1e-9)),
    "huge": ("EPSG:26914", (1e15, 1e15, 1e12)),
    "without limits": ("EPSG:26914", (1e300, 1e300, 1e298)),
    "far": ("EPSG:26914", (1e9, -1e9, 500.0)),
    "no CRS": ("", (630_000.0, 5_520_000.0, 500.0)),
    "a CRS that nobody knows": ("EPSG:99999999", (0.0, 0.0, 1.0)),
}
GEOMETRIES = ("Polygon", "Polygon", "Polygon", "Polygon", "MultiPolygon", "Point")
ODD_GEOMETRIES = ("PolygonZ", "CurvePolygon", "MultiPoint", "LineString", "PointZ", "PolygonZM", "MultiSurface", "None")
# What can be wrong with a shape.
FAULTS = (
    *("null", "empty", "bow tie", "flat", "unclosed", "nan", "infinite", "huge", "tiny", "same", "overlap"),
    *("hole outside", "spike", "nan z", "two points", "far away", "collection"),
)


def ring_of(x, y, side):
    return [(x, y), (x + side, y), (x + side, y + side), (x, y + side), (x, y)]


def polygon(*rings):
    return f"Polygon({', '.join('(' + ', '.join(f'{x!r} {y!r}' for x, y in ring) + ')' for ring in rings)})"


def polygon_wkb(ring, z=None):
    """A polygon of one ring as it is, closed or not, of whatever coordinates."""
    kind = 3 if z is None else 1003
    points = [(*point, *(() if z is None else (z,))) for point in ring]
    flat = [one for point in points for one in point]
    return struct.pack(f"<BIII{len(flat)}d", 1, kind, 1, len(ring), *flat)


def point_wkb(x, y):
    return struct.pack("<BIdd", 1, 1, x, y)


def town(dice, least=1, most=25):
    """(geometry, crs, shapes, corners, side) of some areas."""
    n = dice.pick(dice.randint(least, most), dice.randint(max(least, min(9, most)), most))
    crs = dice.pick("EPSG:26914", "EPSG:26914", *TOWNS)
    west, south, side = TOWNS[crs]
    if dice.odd(3):
        crs, (west, south, side) = ODD_TOWNS[dice.choice(list(ODD_TOWNS))]
    geometry = dice.choice(ODD_GEOMETRIES) if dice.odd(2) else dice.choice(GEOMETRIES)
    columns = max(1, math.ceil(math.sqrt(n)))
    jitter = dice.pick(0.0, 0.0, 0.3)
    corners = [
        (west + side * (i % columns + jitter * dice.random()), south + side * (i // columns + jitter * dice.random()))
        for i in range(n)
    ]
    shapes = [shape_of(geometry, x, y, side) for x, y in corners]
    if dice.odd(5):
        fault = dice.choice(FAULTS)
        everywhere = dice.chance(0.3)
        for i in range(n):
            if everywhere or i == 0 or dice.chance(0.1):
                shapes[i] = faulty(fault, shapes, corners, i, side)
    if geometry == "None":
        return geometry, crs, None, corners, side
    return geometry, crs, tuple(shapes), corners, side


def shape_of(geometry, x, y, side):
    """One area as it should be, in a kind of geometry."""
    ring = ring_of(x, y, side)
    if geometry in ("Point", "MultiPoint", "PointZ"):
        return f"Point({x + side / 2!r} {y + side / 2!r})"
    if geometry == "LineString":
        return f"LineString({x!r} {y!r}, {x + side!r} {y + side!r})"
    if geometry in ("CurvePolygon", "MultiSurface"):
        middle = f"{x + side / 2!r} {y - side / 4!r}"
        arc = f"CircularString({x!r} {y!r}, {middle}, {x + side!r} {y!r})"
        back = f"({x + side!r} {y!r}, {x + side!r} {y + side!r}, {x!r} {y + side!r}, {x!r} {y!r})"
        curve = f"CurvePolygon(CompoundCurve({arc}, {back}))"
        return curve if geometry == "CurvePolygon" else f"MultiSurface({curve})"
    if geometry == "MultiPolygon":
        return f"Multi{polygon(ring).replace('((', '(((').replace('))', ')))')}"
    if geometry in ("PolygonZ", "PolygonZM"):
        return polygon_wkb(ring, 12.5)
    return polygon(ring)


def faulty(fault, shapes, corners, i, side):
    """The shape of an area with something wrong."""
    x, y = corners[i]
    ring = ring_of(x, y, side)
    far = 10_000_000 * side
    return {
        "null": None,
        "empty": "Polygon EMPTY",
        "bow tie": polygon([(x, y), (x + side, y + side), (x + side, y), (x, y + side), (x, y)]),
        "flat": polygon([(x, y), (x + side, y), (x, y)]),
        "unclosed": polygon_wkb(ring[:-1]),
        "nan": polygon_wkb([(math.nan, math.nan), *ring[1:]]),
        "infinite": polygon_wkb([(math.inf, y), *ring[1:-1], (math.inf, y)]),
        "huge": polygon([(a * 1e300, b * 1e300) for a, b in ring_of(1.0, 1.0, 1.0)]),
        "tiny": polygon(ring_of(x, y, 1e-12 * max(abs(x), 1.0))),
        "same": shapes[0],
        "overlap": polygon(ring_of(x, y, 3 * side)),
        "hole outside": polygon(ring, ring_of(x + 5 * side, y, side)),
        "spike": polygon([*ring[:2], (x + 9 * side, y), *ring[1:]]),
        "nan z": polygon_wkb(ring, math.nan),
        "two points": polygon_wkb([(x, y), (x, y)]),
        "far away": polygon(ring_of(x + far, y + far, side)),
        "collection": f"GeometryCollection(Point({x!r} {y!r}), {polygon(ring)})",
    }[fault]


def points_in(dice, corners, side, crs, n):
    """n points in these areas, a few of them odd, as a table without columns."""
    shapes = []
    home = None
    for _ in range(n):
        x, y = dice.choice(corners)
        if home is None or not dice.chance(0.2):
            home = (x + side * (0.1 + 0.8 * dice.random()), y + side * (0.1 + 0.8 * dice.random()))
        shape = f"Point({home[0]!r} {home[1]!r})"
        if dice.odd():
            shape = dice.pick(None, "Point EMPTY", point_wkb(math.nan, 1.0), point_wkb(1e300, 1e300), "Point(0 0)")
        shapes.append(shape)
    return Table((), tuple(shapes), "Point", crs)


def moved(table, crs):
    """The same points said to be in another CRS."""
    return replace(table, crs=crs)
