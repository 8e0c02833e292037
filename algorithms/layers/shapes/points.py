"""Layers of points: positions, and the fields that are asked for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsCsException,
    QgsFeatureRequest,
    QgsFields,
    QgsGeometry,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsWkbTypes,
)

from ....core.dataclass import dataclass
from ....core.errors import InputError
from ....core.language import tr
from ....core.records.columns import Column, ColumnBuilder, column_numbers
from ....core.shapes import check_finite
from ...compat import python_value
from ..feedback import check_cancelled
from ..reading.checked_source import CheckedSource, field_index
from ..reading.unreadable import refuse_undecoded
from .projection import check_degrees, moved


@dataclass(frozen=True, eq=False)
class Points:
    """N points as the layer has them.

    coordinates : (N, 2) in `crs`, NaN where a feature has no position; ids : (N,) int64 feature ids
    columns : the fields that were asked for
    """

    coordinates: np.ndarray
    ids: np.ndarray
    columns: dict[str, Column]
    fields: QgsFields
    crs: QgsCoordinateReferenceSystem

    def __len__(self) -> int:
        return len(self.ids)

    def numbers(self, name: str, parameter: str) -> np.ndarray:
        """A column as numbers, NaN where missing, (N,) float. Raises InputError for text that is no number."""
        return column_numbers(self.columns[name], name, parameter)


def read_points(
    source: CheckedSource,
    names: Sequence[tuple[str, str]],
    layer: str,
    feedback: QgsProcessingFeedback,
) -> Points:
    """Read a layer of points; names : (field, parameter that names it). Raises InputError."""
    fields = source.fields()
    indexes = {name: field_index(fields, name, parameter, layer) for name, parameter in names}
    crs = source.sourceCrs()
    if not crs.isValid():
        raise InputError.saying(
            "{layer} has no coordinate reference system: assign the layer its CRS first.", layer=layer
        )
    if QgsWkbTypes.geometryType(source.wkbType()) != QgsWkbTypes.GeometryType.PointGeometry:
        raise InputError.saying("{layer} has no points: give a layer of points.", layer=layer)
    builders = {name: ColumnBuilder() for name in indexes}
    request = QgsFeatureRequest().setSubsetOfAttributes(list(indexes.values()))
    coordinates: list[np.ndarray] = [np.empty((0, 2))]
    ids: list[np.ndarray] = [np.empty(0, np.int64)]
    several = 0
    for chunk in source.chunks(request):
        check_cancelled(feedback)
        for name, index in indexes.items():
            builders[name].add_values([python_value(feature[index]) for feature in chunk])
        ids.append(np.array([feature.id() for feature in chunk], np.int64))
        positions, several_here = _positions([feature.geometry() for feature in chunk])
        coordinates.append(positions)
        several += several_here
    if several:
        raise InputError.counting(
            "{n} feature of {layer} holds several points: split it first (“Multipart to singleparts”).",
            "{n} features of {layer} hold several points: split them first (“Multipart to singleparts”).",
            several,
            layer=layer,
        )
    points = np.concatenate(coordinates)
    numbers = np.concatenate(ids)
    placed = np.isfinite(points).all(axis=1)
    check_finite(points[placed], numbers[placed], layer)
    check_degrees(points, crs, layer)
    columns = {name: builder.column() for name, builder in builders.items()}
    for name, column in columns.items():
        refuse_undecoded(source.name, fields[indexes[name]].name(), column.categories.tolist())
    return Points(points, numbers, columns, fields, crs)


_NOWHERE = (np.nan, np.nan)
# A point of two dimensions as WKB, on a processor that stores the lowest byte first.
_POINT = np.dtype([("order", "u1"), ("kind", "<u4"), ("x", "<f8"), ("y", "<f8")])


def _positions(geometries: Sequence[QgsGeometry]) -> tuple[np.ndarray, int]:
    """The points' coordinates (n, 2), and how many of the geometries are several points."""
    wkbs = [bytes(geometry.asWkb()) for geometry in geometries]
    if all(len(wkb) == _POINT.itemsize for wkb in wkbs):
        points = np.frombuffer(b"".join(wkbs), _POINT)
        if ((points["order"] == 1) & (points["kind"] == 1)).all():
            return np.column_stack([points["x"], points["y"]]), 0
    # Some without a place, or with heights, or in collections.
    positions = [_position(geometry) for geometry in geometries]
    return np.array([position or _NOWHERE for position in positions]), sum(position is None for position in positions)


def _position(geometry: QgsGeometry) -> tuple[float, float] | None:
    """The point's coordinates; None where there are several points."""
    if geometry.isNull() or geometry.isEmpty():
        return _NOWHERE
    if geometry.isMultipart():
        if geometry.constGet().numGeometries() > 1:
            return None
        point = geometry.asMultiPoint()[0]
    else:
        point = geometry.constGet()
    return point.x(), point.y()


def moved_coordinates(
    coordinates: np.ndarray,
    source: QgsCoordinateReferenceSystem,
    target: QgsCoordinateReferenceSystem,
    context: QgsProcessingContext,
) -> np.ndarray:
    """Coordinates (N, 2) in another CRS, NaN staying NaN. Raises InputError for those the CRS cannot hold."""
    there = np.isfinite(coordinates).all(axis=1)
    if source == target or not there.any():
        return coordinates.copy()
    result = np.full(coordinates.shape, np.nan)
    try:
        result[there] = moved(coordinates[there], QgsCoordinateTransform(source, target, context.transformContext()))
        failed = not np.isfinite(result[there]).all()
    except QgsCsException:
        failed = True
    if failed:
        raise InputError.saying(
            "Coordinates cannot be converted from {before} to {after}: check that each layer has the right coordinate "
            "reference system.",
            before=source.authid(),
            after=target.authid() or tr("the areas’ projection"),
        )
    return result
