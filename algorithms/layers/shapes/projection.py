"""The plane that distances are measured in, for layers whose own coordinates are not metres on the ground."""

from __future__ import annotations

import struct

import numpy as np
import shapely
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsCsException,
    QgsGeometry,
    QgsPointXY,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsUnitTypes,
)

from ....core.drawing import split_at_antimeridian
from ....core.errors import InputError
from ....core.language import tr

# Statistics Canada's own projection: conformal, so that which site is nearest holds over the width of the country.
CANADA = "EPSG:3347"
# From here on more than one area in a hundred has another nearest site than on the globe (benchmarks/plane_width.py).
WIDE_KM = 6_000.0
EARTH_KM = 6_371.0
# Projections that count in metres which are not metres on the ground, by PROJ's name.
WARPED = {"merc": "Mercator's", "eqc": tr("a plate carrée")}

_LINE = struct.Struct("<BII")  # byte order, type of geometry, number of points
_LINE_STRING = 2


def planar_crs(
    crs: QgsCoordinateReferenceSystem, shapes: np.ndarray, feedback: QgsProcessingFeedback, layer: str = "REGIONS"
) -> QgsCoordinateReferenceSystem:
    """The CRS distances are measured in: the layer's own if it is planar in metres, else one for where the layer lies.

    That is EPSG:3347 where all shapes lie in Canada, and elsewhere the Lambert azimuthal equal-area projection around
    the mean of the unit vectors that point to the shapes. Logs which and why; warns of extents that no plane can hold.
    """
    warped = WARPED.get(crs.projectionAcronym(), "")
    metres = crs.mapUnits() == QgsUnitTypes.DistanceUnit.DistanceMeters
    if (not crs.isGeographic() and not warped and metres) or not len(shapes):
        return crs
    vectors = unit_vectors(shapes, crs)
    centre = _mean_direction(vectors)
    reason = "geographic" if crs.isGeographic() else warped or tr("not in metres")
    why = tr(
        "{layer} is in {crs}, which is {reason}",
        layer=layer,
        crs=crs.authid() or tr("a CRS of its own"),
        reason=reason,
    )
    if in_canada(_degrees(vectors)):
        planar = QgsCoordinateReferenceSystem(CANADA)
        per_cent = _longer(planar, centre)
        sentence = (
            tr(
                "{why}: distances are measured in Statistics Canada's Lambert projection ({canada}), in which they are "
                "{per_cent:.1f} % longer than on the ground in the middle of the layer; areas in an equal-area "
                "projection.",
                why=why,
                canada=CANADA,
                per_cent=per_cent,
            )
            if per_cent > 0
            else tr(
                "{why}: distances are measured in Statistics Canada's Lambert projection ({canada}), in which they are "
                "{per_cent:.1f} % shorter than on the ground in the middle of the layer; areas in an equal-area "
                "projection.",
                why=why,
                canada=CANADA,
                per_cent=-per_cent,
            )
        )
    else:
        planar = _equal_area(centre)
        sentence = tr(
            "{why}: distances and areas are measured in the Lambert azimuthal equal-area projection centred on the "
            "layer ({projection}).",
            why=why,
            projection=planar.toProj(),
        )
    if warped:
        feedback.pushWarning(tr("{sentence} Its own metres are not metres on the ground.", sentence=sentence))
    else:
        feedback.pushInfo(sentence)
    width = 2 * EARTH_KM * float(np.arccos(np.clip(vectors @ centre, -1, 1)).max())
    if width > WIDE_KM:
        feedback.pushWarning(
            tr(
                "{layer} is about {width:,.0f} km wide: over more than {most:,.0f} km no plane keeps distances well "
                "enough, and more than one area in a hundred may join a region that is not its nearest. Anonymise its "
                "parts one by one.",
                layer=layer,
                width=width,
                most=WIDE_KM,
            )
        )
    return planar


def north_of(planar: QgsCoordinateReferenceSystem, shapes: np.ndarray, context: QgsProcessingContext) -> float | None:
    """Where north is in the middle of planar shapes, degrees clockwise from the top; None where that is not known."""
    if not planar.isValid():
        return None
    west, south, east, north = shapely.total_bounds(shapes).tolist()
    point = np.array([(west + east) / 2, (south + north) / 2])
    globe, transforms = QgsCoordinateReferenceSystem("EPSG:4326"), context.transformContext()
    try:
        here = QgsCoordinateTransform(planar, globe, transforms).transform(QgsPointXY(*map(float, point)))
        step = 0.01 if here.y() < 89 else -0.01
        other = QgsCoordinateTransform(globe, planar, transforms).transform(QgsPointXY(here.x(), here.y() + step))
    except QgsCsException:
        return None
    right, up = (np.array([other.x(), other.y()]) - point) * np.sign(step)
    return float(np.degrees(np.arctan2(right, up)))


def equal_area_crs(
    crs: QgsCoordinateReferenceSystem, planar: QgsCoordinateReferenceSystem, shapes: np.ndarray
) -> QgsCoordinateReferenceSystem:
    """The CRS that surfaces are measured in: `planar`, unless that was chosen for its distances and distorts areas."""
    if planar == crs or planar.authid() != CANADA or not len(shapes):
        return planar
    return _equal_area(_mean_direction(unit_vectors(shapes, crs)))


def unit_vectors(shapes: np.ndarray, crs: QgsCoordinateReferenceSystem) -> np.ndarray:
    """For each shape, (n, 3), the direction from the middle of a globe to its middle: the mean over its vertices.

    Directions, and not longitudes, so that a shape in two pieces beside the antimeridian has its middle there.
    """
    coordinates, owner = shapely.get_coordinates(shapes, return_index=True)
    if crs.authid() != "EPSG:4326":
        coordinates = _to_degrees(coordinates, crs)
    longitude, latitude = np.radians(coordinates).T
    each = (np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude))
    sums = np.column_stack([np.bincount(owner, part, len(shapes)) for part in each])
    return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)


def in_crs(
    shapes: np.ndarray,
    source: QgsCoordinateReferenceSystem,
    target: QgsCoordinateReferenceSystem,
    context: QgsProcessingContext,
) -> np.ndarray:
    """Shapes of one CRS in another, (m,) array. Raises InputError for coordinates that it cannot hold."""
    if source == target:
        return shapes
    return transformed(shapes, QgsCoordinateTransform(source, target, context.transformContext()))


def transformed(shapes: np.ndarray, transform: QgsCoordinateTransform) -> np.ndarray:
    """The shapes in the other CRS. Raises InputError for coordinates that it cannot hold."""
    return shapely.transform(shapes, lambda coordinates: _checked_move(coordinates, transform))


def moved(coordinates: np.ndarray, transform: QgsCoordinateTransform) -> np.ndarray:
    """Coordinates, (m, 2), in the other CRS; raises QgsCsException, or gives infinite ones, where it cannot hold them.

    All go through as the vertices of one line, which QGIS converts in one call: a hundred times as fast as one by one.
    """
    if not len(coordinates):
        return coordinates
    # A line needs two vertices.
    vertices = np.vstack([coordinates, coordinates[:1]]).astype("<f8")
    line = QgsGeometry()
    line.fromWkb(_LINE.pack(1, _LINE_STRING, len(vertices)) + vertices.tobytes())
    line.transform(transform)
    return np.frombuffer(bytes(line.asWkb()), "<f8", offset=_LINE.size).reshape(-1, 2)[:-1]


def _checked_move(coordinates: np.ndarray, transform: QgsCoordinateTransform) -> np.ndarray:
    name = transform.sourceCrs().authid()
    try:
        there = moved(coordinates, transform)
    except QgsCsException as error:
        raise InputError(
            tr(
                "Coordinates cannot be converted from {name}: check that the layer has the right coordinate reference "
                "system.",
                name=name,
            )
        ) from error
    if not np.isfinite(there).all():
        raise InputError(
            tr(
                "Coordinates are outside what {name} can hold: check that the layer has the right coordinate reference "
                "system.",
                name=name,
            )
        )
    return there


def drawn(shapes: np.ndarray, transform: QgsCoordinateTransform) -> np.ndarray:
    """Shapes of a plane in the other CRS, to be drawn: in degrees they are cut where they cross the antimeridian."""
    moved = transformed(shapes, transform)
    return split_at_antimeridian(moved) if transform.destinationCrs().isGeographic() else moved


def _to_degrees(coordinates: np.ndarray, crs: QgsCoordinateReferenceSystem) -> np.ndarray:
    """Coordinates, (m, 2), as longitudes and latitudes."""
    turn = QgsCoordinateTransform(
        crs, QgsCoordinateReferenceSystem("EPSG:4326"), QgsProcessingContext().transformContext()
    )
    return _checked_move(coordinates, turn)


def _degrees(vectors: np.ndarray) -> np.ndarray:
    """Longitudes and latitudes of directions, (n, 3) to (n, 2)."""
    x, y, z = vectors.T
    return np.degrees(np.column_stack([np.arctan2(y, x), np.arctan2(z, np.hypot(x, y))]))


def _mean_direction(vectors: np.ndarray) -> np.ndarray:
    """The unit vector in the middle of them, (3,); of directions that cancel out the first."""
    mean = vectors.mean(axis=0)
    length = float(np.linalg.norm(mean))
    return mean / length if length > 1e-9 else vectors[0]


def _equal_area(centre: np.ndarray) -> QgsCoordinateReferenceSystem:
    """Lambert's azimuthal equal-area projection around a direction."""
    ((longitude, latitude),) = _degrees(centre[None, :])
    planar = QgsCoordinateReferenceSystem()
    planar.createFromProj(
        f"+proj=laea +lat_0={latitude:.4f} +lon_0={longitude:.4f} +x_0=0 +y_0=0 +datum=WGS84 +units=m +no_defs"
    )
    return planar


def _longer(planar: QgsCoordinateReferenceSystem, centre: np.ndarray) -> float:
    """By how many per cent a short line at a direction is longer in a plane than it is on the ground."""
    true = _equal_area(centre)
    turn = QgsCoordinateTransform(true, planar, QgsProcessingContext().transformContext())
    square = transformed(np.array([shapely.box(-500, -500, 500, 500)]), turn)
    return 100 * (float(np.sqrt(shapely.area(square)[0])) / 1000 - 1)


def in_canada(degrees: np.ndarray) -> bool:
    """Whether all points, (n, 2) longitudes and latitudes, lie in Canada or hardly beyond its border."""
    country = shapely.buffer(shapely.Polygon(_OUTLINE), _TOLERANCE)
    shapely.prepare(country)
    return bool(shapely.contains_xy(country, degrees).all())


# Longitudes and latitudes along the border, from Alaska down the Pacific, along the United States, up the Atlantic.
_OUTLINE = (
    (-141.1, 84.0), (-141.1, 60.2), (-139.1, 60.0), (-137.5, 58.9), (-135.5, 59.7), (-133.5, 58.4), (-131.9, 56.7),
    (-130.1, 56.0), (-130.2, 54.9), (-133.8, 54.6), (-133.8, 51.5), (-129.2, 50.3), (-125.5, 48.3), (-124.7, 48.4),
    (-123.5, 48.25), (-123.15, 48.4), (-123.0, 48.8), (-123.3, 49.0), (-95.15, 49.0), (-94.6, 48.7), (-93.4, 48.55),
    (-92.3, 48.25), (-90.8, 48.15), (-89.5, 48.0), (-88.4, 48.2), (-86.5, 47.5), (-84.9, 46.8), (-84.4, 46.5),
    (-84.1, 46.2), (-83.6, 46.0), (-83.5, 45.8), (-82.5, 45.3), (-82.15, 43.6), (-82.43, 43.0), (-82.5, 42.6),
    (-82.85, 42.4), (-83.1, 42.31), (-83.12, 42.2), (-83.1, 41.9), (-82.7, 41.65), (-81.2, 42.2), (-79.0, 42.8),
    (-78.92, 42.95), (-79.05, 43.1), (-79.06, 43.3), (-79.2, 43.45), (-78.7, 43.63), (-76.8, 43.63), (-76.3, 44.15),
    (-75.3, 44.8), (-74.7, 45.0), (-71.5, 45.0), (-71.0, 45.3), (-70.4, 45.8), (-70.0, 46.7), (-69.2, 47.45),
    (-68.9, 47.2), (-68.3, 47.35), (-67.8, 47.07), (-67.8, 45.7), (-67.45, 45.3), (-67.0, 44.85), (-67.0, 44.2),
    (-66.5, 43.0), (-60.0, 43.3), (-52.0, 46.0), (-52.0, 52.0), (-60.0, 61.0), (-61.0, 67.0), (-65.0, 74.0),
    (-75.0, 77.0), (-73.5, 78.5), (-67.0, 80.7), (-60.5, 82.2), (-58.0, 84.0),
)  # fmt: skip
# Degrees: towns on a river that is the border are not to be lost for a coarse outline.
_TOLERANCE = 0.05
