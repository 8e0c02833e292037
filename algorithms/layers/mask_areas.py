"""The areas that points are masked in: polygons with the people in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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

from ...core.errors import InputError, first_values
from ..compat import field, python_value
from .areas import repaired, wkb_of
from .degrees import check_degrees
from .feedback import check_cancelled
from .fields import field_index, number_or_missing
from .projection import planar_crs, transformed


@dataclass(frozen=True, eq=False)
class MaskAreas:
    """m polygons.

    identifiers : m values of `id_field`, 1..m where no field names the areas
    shapes : (m,) in the layer's own CRS; planar_shapes : (m,) in `planar`, metres; both repaired
    people : (m, c) float, a column per population field, NaN where missing
    """

    identifiers: list[object]
    id_field: QgsField
    shapes: np.ndarray
    planar_shapes: np.ndarray
    people: np.ndarray
    crs: QgsCoordinateReferenceSystem
    planar: QgsCoordinateReferenceSystem

    @property
    def names(self) -> np.ndarray:
        """The identifiers as text, (m,) object array, for messages and maps."""
        return np.array([str(value) for value in self.identifiers], dtype=object)


def read_mask_areas(
    source: QgsProcessingFeatureSource,
    id_field: str,
    population_fields: Sequence[tuple[str, str]],
    layer: str,
    planar: QgsCoordinateReferenceSystem | None,
    context: QgsProcessingContext,
    feedback: QgsProcessingFeedback,
) -> MaskAreas:
    """Read a layer of polygons; population_fields : (field, parameter that names it).

    planar : the CRS to measure in, where another layer has chosen it already. Raises InputError.
    """
    fields = source.fields()
    wanted = [(name, field_index(fields, name, parameter, layer)) for name, parameter in population_fields]
    id_index = field_index(fields, id_field, "AREA_ID", layer) if id_field else None
    crs = source.sourceCrs()
    if not crs.isValid():
        raise InputError(f"{layer} has no coordinate reference system: assign the layer its CRS first.")
    if QgsWkbTypes.geometryType(source.wkbType()) != QgsWkbTypes.GeometryType.PolygonGeometry:
        raise InputError(f"{layer} has no polygons: give a layer of areas.")
    request = QgsFeatureRequest()
    request.setSubsetOfAttributes([index for _, index in wanted] + ([] if id_index is None else [id_index]))
    skip_check = QgsProcessingFeatureSource.Flag.FlagSkipGeometryValidityChecks
    identifiers: list[object] = []
    values: list[list[object]] = [[] for _ in wanted]
    wkbs: list[bytes | None] = []
    for feature in source.getFeatures(request, skip_check):
        check_cancelled(feedback)
        identifiers.append(len(identifiers) + 1 if id_index is None else python_value(feature[id_index]))
        for column, (_, index) in zip(values, wanted):
            column.append(python_value(feature[index]))
        wkbs.append(wkb_of(feature.geometry()))
    if not identifiers:
        raise InputError(f"{layer} is empty: give a layer with at least one area.")
    texts = np.array([str(value) for value in identifiers], dtype=object)
    shapes = shapely.force_2d(shapely.from_wkb(np.array(wkbs, dtype=object)))
    absent = shapely.is_missing(shapes) | shapely.is_empty(shapes)
    if absent.any():
        raise InputError(
            f"{int(absent.sum())} areas of {layer} have an empty geometry ({first_values(texts[absent])}): "
            "repair or remove them."
        )
    check_degrees(shapely.get_coordinates(shapes), crs, layer)
    shapes = repaired(shapes, texts, feedback, layer)
    planar = planar or planar_crs(crs, shapes, feedback, layer)
    measured = shapes
    if planar != crs:
        # A border may cross itself once it is projected.
        measured = repaired(
            transformed(shapes, QgsCoordinateTransform(crs, planar, context.transformContext())), texts, feedback, layer
        )
    people = [
        number_or_missing(column, name, parameter, texts)
        for (name, parameter), column in zip(population_fields, values)
    ]
    return MaskAreas(
        identifiers,
        field("area", "integer") if id_index is None else fields[id_index],
        shapes,
        measured,
        np.column_stack(people) if people else np.empty((len(shapes), 0)),
        crs,
        planar,
    )
