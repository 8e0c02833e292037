"""Points that draw regions."""

from __future__ import annotations

import numpy as np
import shapely
from qgis.core import QgsProcessingFeatureSource, QgsProcessingFeedback

from ...core.areas import identifier_text
from ...core.crosswalk import Crosswalk
from ...core.errors import InputError, first_values
from ..compat import python_value
from .areas import AreaLayer
from .crosswalks import NUMBER
from .degrees import check_degrees
from .feedback import check_cancelled


def read_sites(source: QgsProcessingFeatureSource, layer: AreaLayer, feedback: QgsProcessingFeedback) -> np.ndarray:
    """SITES in the areas' planar coordinates, (S, 2). Raises InputError for none, too many, or none near the areas."""
    sites, _ = _read(source, layer, feedback)
    n = len(layer.areas)
    if len(sites) > n:
        raise InputError(f"SITES has {len(sites)} points for {n} areas: give at most one site per area.")
    low, high = layer.areas.points.min(axis=0), layer.areas.points.max(axis=0)
    around = np.maximum(high - low, 1.0)
    outside = ((sites < low - around) | (sites > high + around)).any(axis=1)
    if outside.all():
        raise InputError(
            "All SITES lie far outside the areas: check the coordinate reference systems of SITES and REGIONS."
        )
    if outside.any():
        feedback.pushWarning(f"{int(outside.sum())} of {len(sites)} sites lie far outside the areas.")
    return sites


def read_numbered_sites(
    source: QgsProcessingFeatureSource, layer: AreaLayer, crosswalk: Crosswalk, feedback: QgsProcessingFeedback
) -> np.ndarray:
    """The site of each region of a crosswalk, (n_regions, 2), by the field vbas_region. Raises InputError."""
    if source.fields().lookupField(NUMBER) < 0:
        raise InputError(f"SITES has no field “{NUMBER}” that says which region each belongs to: leave SITES empty.")
    sites, numbers = _read(source, layer, feedback)
    position = {number: i for i, number in enumerate(numbers)}
    wanted = [str(number) for number in crosswalk.numbers.tolist()]
    lost = [number for number in wanted if number not in position]
    if lost:
        raise InputError(
            f"SITES has no point for {len(lost)} regions of the crosswalk (first: {first_values(lost)}): use the sites "
            "that were made with it, or leave SITES empty."
        )
    return sites[[position[number] for number in wanted]]


def _read(
    source: QgsProcessingFeatureSource, layer: AreaLayer, feedback: QgsProcessingFeedback
) -> tuple[np.ndarray, list[str | None]]:
    index = source.fields().lookupField(NUMBER)
    wkbs, numbers = [], []
    for feature in source.getFeatures():
        check_cancelled(feedback)
        if feature.geometry().isNull() or feature.geometry().isEmpty():
            raise InputError("SITES has a row without a point: remove it.")
        wkbs.append(bytes(feature.geometry().asWkb()))
        numbers.append(identifier_text(python_value(feature[index])) if index >= 0 else None)
    if not wkbs:
        raise InputError("SITES is empty: give at least one point.")
    if not source.sourceCrs().isValid():
        raise InputError("SITES has no coordinate reference system: assign the layer its CRS first.")
    shapes = shapely.centroid(shapely.force_2d(shapely.from_wkb(np.array(wkbs, dtype=object))))
    check_degrees(shapely.get_coordinates(shapes), source.sourceCrs(), "SITES")
    return shapely.get_coordinates(layer.to_planar(shapes, source.sourceCrs())), numbers
