"""The layer of areas: identifiers, planar points, populations and shapes."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
import shapely
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsField,
    QgsProcessingContext,
    QgsProcessingFeatureSource,
    QgsProcessingFeedback,
)

from ....core.areas import Areas, make_areas
from ....core.dataclass import dataclass
from ....core.drawing import joined_at_antimeridian, voronoi_cells_of
from ....core.elongation import Outlines, outlines_of
from ....core.job.values import POINT_ON_SURFACE
from ....core.neighbours import polygon_neighbours
from ....core.progress import Progress, silent
from .projection import drawn, equal_area_crs, in_crs, north_of, planar_crs
from .surfaces import AREA, read_surfaces


@dataclass(frozen=True, eq=False)
class AreaLayer:
    """The areas as core sees them, and what is needed to draw them again.

    areas : points in metres in `planar`; population as the user's field has it, ones without a field
    shapes : (n,) shapely polygons or points in the layer's own CRS, repaired; in_plane : the same in `planar`
    square_metres : (n,) area, 0 for points
    identifiers : n values as the layer has them, for the crosswalk
    """

    areas: Areas
    has_population: bool
    shapes: np.ndarray
    in_plane: np.ndarray
    square_metres: np.ndarray
    identifiers: list[object]
    id_field: QgsField
    are_points: bool
    crs: QgsCoordinateReferenceSystem
    planar: QgsCoordinateReferenceSystem
    context: QgsProcessingContext

    @cached_property
    def outlines(self) -> Outlines | None:
        """The outlines of the areas; None for points, which have none."""
        return None if self.are_points else outlines_of(self.in_plane)

    @cached_property
    def drawn_as(self) -> np.ndarray:
        """The polygons that regions are made of, (n,): areas in their own CRS, or cells of points in the plane."""
        return voronoi_cells_of(self.areas.points) if self.are_points else self.shapes

    @cached_property
    def surfaces(self) -> np.ndarray:
        """The same polygons in the layer's own CRS, (n,)."""
        return self.to_layer(self.drawn_as) if self.are_points else self.shapes

    @cached_property
    def surfaces_square_metres(self) -> np.ndarray:
        """Their areas, (n,) square metres."""
        if not self.are_points:
            return self.square_metres
        equal_area = equal_area_crs(self.crs, self.planar, self.shapes)
        return shapely.area(in_crs(self.drawn_as, self.planar, equal_area, self.context))

    def to_layer(self, shapes: np.ndarray) -> np.ndarray:
        """Shapes from planar coordinates to the layer's CRS, (m,) array."""
        if self.planar == self.crs:
            return shapes
        return drawn(shapes, QgsCoordinateTransform(self.planar, self.crs, self.context.transformContext()))

    def to_planar(self, shapes: np.ndarray, crs: QgsCoordinateReferenceSystem) -> np.ndarray:
        """Shapes of any CRS in planar coordinates, (m,) array."""
        return in_crs(shapes, crs, self.planar, self.context)

    def north(self) -> float | None:
        """Where north is in the middle of the areas, in degrees clockwise from the top of the plane."""
        return north_of(self.planar, shapely.points(self.areas.points), self.context)

    def with_neighbours(self, progress: Progress = silent) -> AreaLayer:
        """The same areas, knowing which polygons share a border; core asks points itself."""
        if self.are_points:
            return self
        shapes = joined_at_antimeridian(self.shapes) if self.crs.isGeographic() else self.shapes
        neighbours = polygon_neighbours(shapes, lambda borders: self.to_planar(borders, self.crs), progress)
        return replace(self, areas=replace(self.areas, neighbours=neighbours))


@dataclass(frozen=True, eq=False)
class DrawnRegions:
    """The regions of each level, the finest first.

    drawn : of each level (n_regions,) shapes, of what the areas are drawn as
    """

    layer: AreaLayer
    drawn: list[np.ndarray]

    @cached_property
    def in_layer(self) -> list[np.ndarray]:
        """Of each level the shapes in the CRS of the layer."""
        return [self.layer.to_layer(shapes) for shapes in self.drawn] if self.layer.are_points else self.drawn

    @cached_property
    def in_plane(self) -> list[np.ndarray]:
        """Of each level the shapes in planar coordinates."""
        if self.layer.are_points:
            return self.drawn
        return [self.layer.to_planar(shapes, self.layer.crs) for shapes in self.drawn]


def read_areas(
    source: QgsProcessingFeatureSource,
    id_field: str,
    population_field: str,
    area_point: str,
    context: QgsProcessingContext,
    feedback: QgsProcessingFeedback,
) -> AreaLayer:
    """Read REGIONS. Raises InputError for all that makes areas unusable, naming field and values."""
    population = [(population_field, "POPULATION")] if population_field else []
    read = read_surfaces(source, "REGIONS", AREA, (id_field, "REGION_ID"), population, feedback)
    shapes, crs = read.shapes, read.crs
    planar = planar_crs(crs, shapes, feedback)
    measured = in_crs(shapes, crs, planar, context)
    points = shapely.point_on_surface(measured) if area_point == POINT_ON_SURFACE else shapely.centroid(measured)
    coordinates = shapely.get_coordinates(points) if len(points) else np.empty((0, 2))
    people = read.numbers(population)[:, 0] if population else None
    areas = make_areas(read.identifiers, coordinates, people, id_field, in_metres=True)
    equal_area = equal_area_crs(crs, planar, shapes)
    return AreaLayer(
        areas,
        bool(population),
        shapes,
        measured,
        shapely.area(measured if read.are_points or equal_area == planar else in_crs(shapes, crs, equal_area, context)),
        read.identifiers,
        read.id_field,
        read.are_points,
        crs,
        planar,
        context,
    )
