"""The layer of areas: identifiers, planar points, populations and shapes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import shapely
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsFeatureRequest,
    QgsField,
    QgsProcessingContext,
    QgsProcessingFeatureSource,
    QgsProcessingFeedback,
    QgsWkbTypes,
)

from ...core.antimeridian import joined_at_antimeridian
from ...core.areas import Areas, identifier_text, make_areas
from ...core.errors import InputError, first_values
from ...core.neighbours import polygon_neighbours
from ...core.progress import Progress, silent
from ..compat import python_value
from .degrees import check_degrees
from .feedback import check_cancelled
from .fields import field_index, number_or_missing
from .projection import drawn, equal_area_crs, planar_crs, transformed

CENTROID, POINT_ON_SURFACE = "centroid", "point on surface"
AREA_POINTS = (CENTROID, POINT_ON_SURFACE)


@dataclass(frozen=True, eq=False)
class AreaLayer:
    """The areas as core sees them, and what is needed to draw them again.

    areas : points in metres in `planar`; population as the user's field has it, ones without a field
    shapes : (n,) shapely polygons or points in the layer's own CRS, repaired
    square_metres : (n,) area, 0 for points
    identifiers : n values as the layer has them, for the crosswalk
    """

    areas: Areas
    has_population: bool
    shapes: np.ndarray
    square_metres: np.ndarray
    identifiers: list[object]
    id_field: QgsField
    are_points: bool
    crs: QgsCoordinateReferenceSystem
    planar: QgsCoordinateReferenceSystem
    context: QgsProcessingContext

    def to_layer(self, shapes: np.ndarray) -> np.ndarray:
        """Shapes from planar coordinates to the layer's CRS, (m,) array."""
        if self.planar == self.crs:
            return shapes
        return drawn(shapes, QgsCoordinateTransform(self.planar, self.crs, self.context.transformContext()))

    def to_planar(self, shapes: np.ndarray, crs: QgsCoordinateReferenceSystem) -> np.ndarray:
        """Shapes of any CRS in planar coordinates, (m,) array."""
        if crs == self.planar:
            return shapes
        return transformed(shapes, QgsCoordinateTransform(crs, self.planar, self.context.transformContext()))

    def square_metres_of(self, shapes: np.ndarray) -> np.ndarray:
        """Areas of shapes in the layer's own CRS, (m,) square metres."""
        return surfaces(shapes, self.crs, equal_area_crs(self.crs, self.planar, self.shapes), self.context)

    def with_neighbours(self, progress: Progress = silent) -> AreaLayer:
        """The same areas, whose regions know which polygons share a border; core asks points itself."""
        if self.are_points:
            return self
        shapes = joined_at_antimeridian(self.shapes) if self.crs.isGeographic() else self.shapes
        found = polygon_neighbours(shapes, lambda borders: self.to_planar(borders, self.crs), progress)
        return replace(self, areas=replace(self.areas, neighbours=found))


def read_areas(
    source: QgsProcessingFeatureSource,
    id_field: str,
    population_field: str,
    area_point: str,
    context: QgsProcessingContext,
    feedback: QgsProcessingFeedback,
) -> AreaLayer:
    """Read REGIONS. Raises InputError for all that makes areas unusable, naming field and values."""
    fields = source.fields()
    id_index = field_index(fields, id_field, "REGION_ID", "REGIONS")
    population_index = field_index(fields, population_field, "POPULATION", "REGIONS") if population_field else None
    crs = source.sourceCrs()
    if not crs.isValid():
        raise InputError("REGIONS has no coordinate reference system: assign the layer its CRS first.")
    geometry_type = QgsWkbTypes.geometryType(source.wkbType())
    if geometry_type not in (QgsWkbTypes.GeometryType.PolygonGeometry, QgsWkbTypes.GeometryType.PointGeometry):
        raise InputError("REGIONS has neither polygons nor points: give a layer of areas, or of one point per area.")
    identifiers, populations, wkbs = _read_features(source, id_index, population_index, feedback)
    texts = np.array([identifier_text(value) for value in identifiers], dtype=object)
    shapes = shapely.force_2d(shapely.from_wkb(np.array(wkbs, dtype=object)))
    are_points = geometry_type == QgsWkbTypes.GeometryType.PointGeometry
    # A point may be missing a coordinate as well as a whole geometry.
    absent = shapely.is_missing(shapes) | shapely.is_empty(shapes)
    if absent.any():
        raise InputError(
            f"{int(absent.sum())} areas of REGIONS have an empty geometry ({first_values(texts[absent])}): "
            "repair or remove them."
        )
    check_degrees(shapely.get_coordinates(shapes), crs, "REGIONS")
    if not are_points:
        shapes = repaired(shapes, texts, feedback)
    planar = planar_crs(crs, shapes, feedback)
    measured = shapes
    if planar != crs:
        measured = transformed(shapes, QgsCoordinateTransform(crs, planar, context.transformContext()))
    points = shapely.point_on_surface(measured) if area_point == POINT_ON_SURFACE else shapely.centroid(measured)
    areas = make_areas(
        identifiers, shapely.get_coordinates(points) if len(points) else np.empty((0, 2)), None, id_field
    )
    if population_index is not None:
        areas = areas.with_population(number_or_missing(populations, population_field, "POPULATION", areas.identifiers))
    return AreaLayer(
        areas,
        population_index is not None,
        shapes,
        shapely.area(measured)
        if (equal_area := equal_area_crs(crs, planar, shapes)) == planar
        else surfaces(shapes, crs, equal_area, context),
        identifiers,
        fields[id_index],
        are_points,
        crs,
        planar,
        context,
    )


def surfaces(
    shapes: np.ndarray,
    crs: QgsCoordinateReferenceSystem,
    equal_area: QgsCoordinateReferenceSystem,
    context: QgsProcessingContext,
) -> np.ndarray:
    """Square metres of shapes, (m,), measured in another CRS."""
    if equal_area == crs:
        return shapely.area(shapes)
    return shapely.area(transformed(shapes, QgsCoordinateTransform(crs, equal_area, context.transformContext())))


def _read_features(
    source: QgsProcessingFeatureSource, id_index: int, population_index: int | None, feedback: QgsProcessingFeedback
) -> tuple[list[object], list[object], list[bytes | None]]:
    request = QgsFeatureRequest()
    request.setSubsetOfAttributes([id_index] if population_index is None else [id_index, population_index])
    # Invalid polygons are repaired here; QGIS's own check would stop at the first of them.
    skip_check = QgsProcessingFeatureSource.Flag.FlagSkipGeometryValidityChecks
    identifiers: list[object] = []
    populations: list[object] = []
    wkbs: list[bytes | None] = []
    for feature in source.getFeatures(request, skip_check):
        check_cancelled(feedback)
        identifiers.append(python_value(feature[id_index]))
        if population_index is not None:
            populations.append(python_value(feature[population_index]))
        wkbs.append(wkb_of(feature.geometry()))
    return identifiers, populations, wkbs


def wkb_of(geometry: Any) -> bytes | None:
    """A geometry as WKB with straight edges, None where it is empty."""
    if geometry.isNull() or geometry.isEmpty():
        return None
    if QgsWkbTypes.isCurvedType(geometry.wkbType()):
        geometry.convertToStraightSegment()
    return bytes(geometry.asWkb())


def repaired(
    shapes: np.ndarray, texts: np.ndarray, feedback: QgsProcessingFeedback, layer: str = "REGIONS"
) -> np.ndarray:
    """Invalid polygons made valid; what is left of one must still be a surface."""
    invalid = ~shapely.is_valid(shapes)
    if not invalid.any():
        return shapes
    feedback.pushInfo(
        f"{int(invalid.sum())} areas have an invalid polygon ({first_values(texts[invalid])}) and were repaired for "
        f"measuring and drawing; {layer} itself is unchanged."
    )
    shapes = shapes.copy()
    shapes[invalid] = [_surface(shape) for shape in shapely.make_valid(shapes[invalid])]
    flat = shapely.area(shapes) == 0
    if flat.any():
        raise InputError(
            f"{int(flat.sum())} areas of {layer} have no surface ({first_values(texts[flat])}): repair or remove them."
        )
    return shapes


def _surface(shape: shapely.Geometry) -> shapely.Geometry:
    """The polygons in what make_valid gives, without the lines and points it may leave."""
    parts = shapely.get_parts(shapely.get_parts(shape))
    return shapely.union_all(parts[shapely.get_dimensions(parts) == 2])
