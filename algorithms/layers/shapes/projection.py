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

from ....core import shapes
from ....core.drawing import split_at_antimeridian
from ....core.errors import InputError
from ....core.language import tr
from ....core.plane import CANADA, WARPED, Extent, extent_of, nowhere_on_the_globe

_LINE = struct.Struct("<BII")  # byte order, type of geometry, number of points
_LINE_STRING = 2


def planar_crs(
    crs: QgsCoordinateReferenceSystem, shapes: np.ndarray, feedback: QgsProcessingFeedback, layer: str = "REGIONS"
) -> QgsCoordinateReferenceSystem:
    """The CRS distances are measured in: the layer's own if it is planar in metres, else one for where the layer lies.

    That is EPSG:3347 where all shapes lie in Canada, and elsewhere the Lambert azimuthal equal-area projection around
    the mean of the unit vectors that point to the shapes. Logs which and why; warns of extents that no plane can hold.
    Raises InputError for a CRS that is not in metres and not tied to the globe.
    """
    warped = WARPED.get(crs.projectionAcronym(), "")
    metres = crs.mapUnits() == QgsUnitTypes.DistanceUnit.DistanceMeters
    if (not crs.isGeographic() and not warped and metres) or not len(shapes):
        return crs
    if not QgsCoordinateTransform(
        crs, QgsCoordinateReferenceSystem("EPSG:4326"), QgsProcessingContext().transformContext()
    ).isValid():
        raise nowhere_on_the_globe(layer, _name_of(crs))
    extent = extent_in(crs, shapes)
    reason = tr("geographic") if crs.isGeographic() else warped or tr("not in metres")
    why = tr(
        "{layer} is in {crs}, which is {reason}",
        layer=layer,
        crs=_name_of(crs),
        reason=reason,
    )
    if extent.projection == CANADA:
        planar = QgsCoordinateReferenceSystem(CANADA)
        per_cent = _longer(planar, extent)
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
        planar = _equal_area(extent)
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
    warning = extent.too_wide(layer)
    if warning:
        feedback.pushWarning(warning)
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


def _name_of(crs: QgsCoordinateReferenceSystem) -> str:
    """What a CRS is called in a sentence: many have no number."""
    return crs.authid() or crs.description() or tr("a CRS of its own")


def equal_area_crs(
    crs: QgsCoordinateReferenceSystem, planar: QgsCoordinateReferenceSystem, shapes: np.ndarray
) -> QgsCoordinateReferenceSystem:
    """The CRS that surfaces are measured in: `planar`, unless that was chosen for its distances and distorts areas."""
    if planar == crs or planar.authid() != CANADA or not len(shapes):
        return planar
    return _equal_area(extent_in(crs, shapes))


def extent_in(crs: QgsCoordinateReferenceSystem, shapes: np.ndarray) -> Extent:
    """Where shapes with coordinates of a CRS, (n,), lie on the globe."""
    coordinates, owner = shapely.get_coordinates(shapes, return_index=True)
    if crs.authid() != "EPSG:4326":
        coordinates = _to_degrees(coordinates, crs)
    return extent_of(coordinates, owner, len(shapes))


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
    name = _name_of(transform.sourceCrs())
    try:
        there = moved(coordinates, transform)
    except QgsCsException as error:
        raise InputError.saying(
            "Coordinates cannot be converted from {name}: check that the layer has the right coordinate reference "
            "system.",
            name=name,
        ) from error
    if not np.isfinite(there).all():
        raise InputError.saying(
            "Coordinates are outside what {name} can hold: check that the layer has the right coordinate reference "
            "system.",
            name=name,
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


def _equal_area(extent: Extent) -> QgsCoordinateReferenceSystem:
    """Lambert's azimuthal equal-area projection around the middle of an extent."""
    planar = QgsCoordinateReferenceSystem()
    planar.createFromProj(extent.equal_area)
    return planar


def _longer(planar: QgsCoordinateReferenceSystem, extent: Extent) -> float:
    """By how many per cent a kilometre in the middle of an extent is longer in a plane than it is on the ground."""
    turn = QgsCoordinateTransform(
        QgsCoordinateReferenceSystem("EPSG:4326"), planar, QgsProcessingContext().transformContext()
    )
    square = transformed(np.array([shapely.box(*extent.square_kilometre)]), turn)
    return 100 * (float(np.sqrt(shapely.area(square)[0])) / 1000 - 1)


def check_degrees(coordinates: np.ndarray, crs: QgsCoordinateReferenceSystem, layer: str) -> None:
    """Refuse metres that are declared as degrees. Raises InputError.

    coordinates : (n, 2) in `crs`, NaN where there are none; layer : the parameter, for the message
    """
    if crs.isGeographic():
        shapes.check_degrees(coordinates, crs.authid(), layer)
