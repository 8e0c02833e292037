"""The layer of cells: identifiers, shapes, and people in several fields."""

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

from ...core.areas import identifier_text
from ...core.errors import InputError, first_values
from ..compat import python_value
from .areas import repaired, wkb_of
from .degrees import check_degrees
from .feedback import check_cancelled
from .fields import field_index, number_or_missing
from .projection import planar_crs, transformed


@dataclass(frozen=True, eq=False)
class CellLayer:
    """n cells as the layer has them.

    identifiers : n values of `id_field`; shapes : (n,) polygons or points in `crs`; planar_shapes : (n,) in metres
    people : (n, m) float, a column per population field, NaN where missing
    official : n values of the field of areas in use, None where no field was named
    """

    identifiers: list[object]
    id_field: QgsField
    shapes: np.ndarray
    planar_shapes: np.ndarray
    people: np.ndarray
    official: list[object] | None
    are_points: bool
    crs: QgsCoordinateReferenceSystem


def read_cells(
    source: QgsProcessingFeatureSource,
    id_field: str,
    population_fields: Sequence[tuple[str, str]],
    official_field: str,
    context: QgsProcessingContext,
    feedback: QgsProcessingFeedback,
) -> CellLayer:
    """Read CELLS; population_fields : (field, parameter that names it). Raises InputError."""
    fields = source.fields()
    id_index = field_index(fields, id_field, "CELL_ID", "CELLS")
    wanted = [field_index(fields, name, parameter, "CELLS") for name, parameter in population_fields]
    official_index = field_index(fields, official_field, "OFFICIAL_AREA", "CELLS") if official_field else None
    crs = source.sourceCrs()
    if not crs.isValid():
        raise InputError("CELLS has no coordinate reference system: assign the layer its CRS first.")
    kind = QgsWkbTypes.geometryType(source.wkbType())
    if kind not in (QgsWkbTypes.GeometryType.PolygonGeometry, QgsWkbTypes.GeometryType.PointGeometry):
        raise InputError("CELLS has neither polygons nor points: give a layer of cells, or of one point per cell.")
    indexes = [id_index, *wanted, *([] if official_index is None else [official_index])]
    rows, wkbs = _read_features(source, indexes, feedback)
    if not rows:
        raise InputError("CELLS is empty: give a layer with at least one cell.")
    columns = [list(column) for column in zip(*rows)]
    texts = np.array([identifier_text(value) for value in columns[0]], dtype=object)
    shapes = shapely.force_2d(shapely.from_wkb(np.array(wkbs, dtype=object)))
    absent = shapely.is_missing(shapes) | shapely.is_empty(shapes)
    if absent.any():
        raise InputError(
            f"{int(absent.sum())} cells of CELLS have an empty geometry ({first_values(texts[absent])}): "
            "repair or remove them."
        )
    check_degrees(shapely.get_coordinates(shapes), crs, "CELLS")
    are_points = kind == QgsWkbTypes.GeometryType.PointGeometry
    planar = shapes if are_points else None
    if planar is None:
        shapes = repaired(shapes, texts, feedback, "CELLS")
        planar = _measurable(shapes, texts, crs, context, feedback)
    elif planar_crs(crs, shapes, feedback, "CELLS") != crs:
        raise InputError(
            "CELLS are points in a CRS that is not in metres on the ground: reproject them to the CRS of their grid."
        )
    people = [
        number_or_missing(column, name, parameter, texts)
        for (name, parameter), column in zip(population_fields, columns[1:])
    ]
    return CellLayer(
        columns[0],
        fields[id_index],
        shapes,
        planar,
        np.column_stack(people),
        None if official_index is None else columns[-1],
        are_points,
        crs,
    )


def _read_features(
    source: QgsProcessingFeatureSource, indexes: list[int], feedback: QgsProcessingFeedback
) -> tuple[list[tuple[object, ...]], list[bytes | None]]:
    request = QgsFeatureRequest().setSubsetOfAttributes(indexes)
    skip_check = QgsProcessingFeatureSource.Flag.FlagSkipGeometryValidityChecks
    rows: list[tuple[object, ...]] = []
    wkbs: list[bytes | None] = []
    for feature in source.getFeatures(request, skip_check):
        check_cancelled(feedback)
        attributes = feature.attributes()
        rows.append(tuple(python_value(attributes[index]) for index in indexes))
        wkbs.append(wkb_of(feature.geometry()))
    return rows, wkbs


def _measurable(
    shapes: np.ndarray,
    texts: np.ndarray,
    crs: QgsCoordinateReferenceSystem,
    context: QgsProcessingContext,
    feedback: QgsProcessingFeedback,
) -> np.ndarray:
    """The polygons in planar metres."""
    planar = planar_crs(crs, shapes, feedback, "CELLS")
    if planar == crs:
        return shapes
    moved = transformed(shapes, QgsCoordinateTransform(crs, planar, context.transformContext()))
    # A border may cross itself once it is projected.
    return repaired(moved, texts, feedback, "CELLS")
