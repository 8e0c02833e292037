"""The layer of cells: identifiers, shapes, and people in several fields."""

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
from .fields import field_index
from .projection import planar_crs
from .shapes import read_shapes


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
    indexes = [*wanted, *([] if official_index is None else [official_index])]
    read = read_shapes(source, id_index, indexes, "CELLS", "cell", feedback)
    if not read.identifiers:
        raise InputError("CELLS is empty: give a layer with at least one cell.")
    planar = planar_crs(read.crs, read.shapes, feedback, "CELLS")
    if read.are_points and planar != read.crs:
        raise InputError(
            "CELLS are points in a CRS that is not in metres on the ground: reproject them to the CRS of their grid."
        )
    return CellLayer(
        read.identifiers,
        fields[id_index],
        read.shapes,
        read.in_plane(planar, "CELLS", context, feedback),
        read.numbers(population_fields),
        None if official_index is None else read.columns[-1],
        read.are_points,
        read.crs,
    )
