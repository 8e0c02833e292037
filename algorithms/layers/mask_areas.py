"""The areas that points are masked in: polygons with the people in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsField,
    QgsProcessingContext,
    QgsProcessingFeatureSource,
    QgsProcessingFeedback,
)

from ...core.errors import InputError
from ..compat import field
from .fields import field_index
from .projection import planar_crs
from .shapes import read_shapes


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
    wanted = [field_index(fields, name, parameter, layer) for name, parameter in population_fields]
    id_index = field_index(fields, id_field, "AREA_ID", layer) if id_field else None
    read = read_shapes(source, id_index, wanted, layer, "area", feedback, str, points=False)
    if not read.identifiers:
        raise InputError(f"{layer} is empty: give a layer with at least one area.")
    planar = planar or planar_crs(read.crs, read.shapes, feedback, layer)
    measured = read.in_plane(planar, layer, context, feedback)
    return MaskAreas(
        read.identifiers,
        field("area", "integer") if id_index is None else fields[id_index],
        read.shapes,
        measured,
        read.numbers(population_fields),
        read.crs,
        planar,
    )
