"""Layers of areas, cells and other surfaces: their fields and shapes, checked, repaired and projected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import shapely
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsFeatureRequest,
    QgsField,
    QgsGeometry,
    QgsProcessingContext,
    QgsProcessingFeatureSource,
    QgsProcessingFeedback,
    QgsWkbTypes,
)

from ....core import counted
from ....core.areas import identifier_text
from ....core.dataclass import dataclass
from ....core.errors import Counted, InputError
from ....core.language import tr
from ....core.plain_text import plain_text
from ....core.records.columns import number_or_missing
from ....core.shapes import refuse_empty, repaired, shapes_of
from ...compat import field, python_value
from ..feedback import check_cancelled
from ..reading.checked_source import field_index
from .projection import check_degrees, in_crs, planar_crs

POINTS = (shapely.GeometryType.POINT, shapely.GeometryType.MULTIPOINT)
FieldOf = tuple[str, str]  # a field, and the parameter that names it


class Noun(NamedTuple):
    """What a shape is, for messages: one, and several."""

    singular: str
    plural: str
    counted: Counted


AREA, CELL = Noun(tr("area"), tr("areas"), counted.areas), Noun(tr("cell"), tr("cells"), counted.cells)


@dataclass(frozen=True, eq=False)
class SurfaceLayer:
    """n features.

    identifiers : n values of `id_field`, 1..n where no field names them; texts : (n,) the same for messages
    columns : for each other field that was asked for its n values
    shapes : (n,) polygons, repaired, or points, in `crs`
    """

    identifiers: list[object]
    id_field: QgsField
    columns: list[list[object]]
    texts: np.ndarray
    shapes: np.ndarray
    are_points: bool
    crs: QgsCoordinateReferenceSystem

    def numbers(self, fields: Sequence[FieldOf]) -> np.ndarray:
        """The first columns as numbers, NaN where missing, (n, m) float.

        Raises InputError for text that is no number.
        """
        numbers = np.empty((len(self.shapes), len(fields)))
        for j, (name, parameter) in enumerate(fields):
            numbers[:, j] = number_or_missing(self.columns[j], name, parameter)
        return numbers

    def in_plane(
        self,
        planar: QgsCoordinateReferenceSystem,
        layer: str,
        context: QgsProcessingContext,
        feedback: QgsProcessingFeedback,
    ) -> np.ndarray:
        """The shapes in another CRS, (n,), polygons repaired there too; layer : the parameter, for messages."""
        if planar == self.crs:
            return self.shapes
        moved = in_crs(self.shapes, self.crs, planar, context)
        # A border may cross itself once it is projected.
        return moved if self.are_points else repaired(moved, self.texts, feedback.pushInfo, layer)


def read_surfaces(
    source: QgsProcessingFeatureSource,
    layer: str,
    noun: Noun,
    id_field: FieldOf | None,
    others: Sequence[FieldOf],
    feedback: QgsProcessingFeedback,
    as_text: Callable[[object], str | None] = identifier_text,
    points: bool = True,
) -> SurfaceLayer:
    """Read the identifiers, other fields, and shapes.

    layer : the parameter; id_field : None to number them; noun : what a shape is; as_text : an
    identifier for messages; points : whether one point for each will do. Raises InputError for a field that is not
    there, a layer without a CRS or of another kind of geometry, an empty geometry, metres said to be degrees, and
    polygons without a surface.
    """
    fields = source.fields()
    id_index = None if id_field is None else field_index(fields, *id_field, layer)
    indexes = [field_index(fields, name, parameter, layer) for name, parameter in others]
    _check_kind(source, layer, noun, points)
    request = QgsFeatureRequest().setSubsetOfAttributes([*indexes, *([] if id_index is None else [id_index])])
    # Invalid polygons are repaired here; QGIS's own check would stop at the first of them.
    skip_check = QgsProcessingFeatureSource.Flag.FlagSkipGeometryValidityChecks
    identifiers: list[object] = []
    columns: list[list[object]] = [[] for _ in indexes]
    wkbs: list[bytes | None] = []
    for feature in source.getFeatures(request, skip_check):
        check_cancelled(feedback)
        identifiers.append(len(identifiers) + 1 if id_index is None else python_value(feature[id_index]))
        for column, index in zip(columns, indexes):
            column.append(python_value(feature[index]))
        wkbs.append(_wkb_of(feature.geometry()))
    texts = np.array([as_text(value) for value in identifiers], dtype=object)
    shapes = shapes_of(wkbs, texts, layer)
    refuse_empty(shapes, texts, layer, noun.counted)
    crs = source.sourceCrs()
    check_degrees(shapely.get_coordinates(shapes), crs, layer)
    # A layer that says nothing of its kind may hold several; QGIS goes by the first shapes.
    are_points = bool(np.isin(shapely.get_type_id(shapes), POINTS).all())
    if not are_points:
        shapes = repaired(shapes, texts, feedback.pushInfo, layer)
    return SurfaceLayer(
        identifiers,
        field("area", "integer") if id_index is None else fields[id_index],
        columns,
        texts,
        shapes,
        are_points,
        crs,
    )


def _check_kind(source: QgsProcessingFeatureSource, layer: str, noun: Noun, points: bool) -> None:
    """Refuse a layer without a CRS, or of another kind of geometry."""
    if not source.sourceCrs().isValid():
        raise InputError.saying(
            "{layer} has no coordinate reference system: assign the layer its CRS first.", layer=layer
        )
    kind = QgsWkbTypes.geometryType(source.wkbType())
    if kind == QgsWkbTypes.GeometryType.PolygonGeometry or (points and kind == QgsWkbTypes.GeometryType.PointGeometry):
        return
    if points:
        raise InputError.saying(
            "{layer} has neither polygons nor points: give a layer of {many}, or of one point per {noun}.",
            layer=layer,
            many=noun.plural,
            noun=noun.singular,
        )
    raise InputError.saying("{layer} has no polygons: give a layer of {many}.", layer=layer, many=noun.plural)


def _wkb_of(geometry: QgsGeometry) -> bytes | None:
    """A geometry as WKB with straight edges, None where it is empty."""
    if geometry.isNull() or geometry.isEmpty():
        return None
    if QgsWkbTypes.isCurvedType(geometry.wkbType()):
        geometry.convertToStraightSegment()
    return bytes(geometry.asWkb())


@dataclass(frozen=True, eq=False)
class PopulatedLayer:
    """n surfaces as the layer has them.

    identifiers : n values of `id_field`, 1..n where no field names them
    shapes : (n,) polygons or points in `crs`; planar_shapes : (n,) in `planar`, metres; both repaired
    people : (n, m) float, a column per population field, NaN where missing
    further : for each other field that was asked for its n values
    """

    identifiers: list[object]
    id_field: QgsField
    shapes: np.ndarray
    planar_shapes: np.ndarray
    people: np.ndarray
    further: list[list[object]]
    are_points: bool
    crs: QgsCoordinateReferenceSystem
    planar: QgsCoordinateReferenceSystem

    @property
    def names(self) -> np.ndarray:
        """The identifiers as text, (n,) object array, for messages and maps."""
        return np.array([plain_text(value) for value in self.identifiers], dtype=object)


def read_populated(
    source: QgsProcessingFeatureSource,
    layer: str,
    noun: Noun,
    id_field: FieldOf | None,
    populations: Sequence[FieldOf],
    context: QgsProcessingContext,
    feedback: QgsProcessingFeedback,
    further: Sequence[FieldOf] = (),
    planar: QgsCoordinateReferenceSystem | None = None,
    as_text: Callable[[object], str | None] = identifier_text,
    points: bool = True,
) -> PopulatedLayer:
    """Read a layer as `read_surfaces` does, and project it.

    planar : the CRS to measure in, where another layer has chosen it already. Raises InputError.
    """
    read = read_surfaces(source, layer, noun, id_field, [*populations, *further], feedback, as_text, points)
    if not read.identifiers:
        raise InputError.saying("{layer} is empty: give a layer with at least one feature.", layer=layer)
    planar = planar or planar_crs(read.crs, read.shapes, feedback, layer)
    return PopulatedLayer(
        read.identifiers,
        read.id_field,
        read.shapes,
        read.in_plane(planar, layer, context, feedback),
        read.numbers(populations),
        read.columns[len(populations) :],
        read.are_points,
        read.crs,
        planar,
    )
