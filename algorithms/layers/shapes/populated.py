"""Layers of cells, and of areas that points are masked in: surfaces with people in several fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsField,
    QgsProcessingContext,
    QgsProcessingFeatureSource,
    QgsProcessingFeedback,
)

from ....core.areas import identifier_text
from ....core.errors import InputError
from .projection import planar_crs
from .surfaces import FieldOf, read_surfaces


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
        return np.array([str(value) for value in self.identifiers], dtype=object)


def read_populated(
    source: QgsProcessingFeatureSource,
    layer: str,
    noun: str,
    id_field: FieldOf | None,
    populations: Sequence[FieldOf],
    context: QgsProcessingContext,
    feedback: QgsProcessingFeedback,
    further: Sequence[FieldOf] = (),
    planar: QgsCoordinateReferenceSystem | None = None,
    as_text: Callable[[object], str] = identifier_text,
    points: bool = True,
) -> PopulatedLayer:
    """Read a layer as `read_surfaces` does, and project it.

    planar : the CRS to measure in, where another layer has chosen it already. Raises InputError.
    """
    read = read_surfaces(source, layer, noun, id_field, [*populations, *further], feedback, as_text, points)
    if not read.identifiers:
        raise InputError(f"{layer} is empty: give a layer with at least one {noun}.")
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
