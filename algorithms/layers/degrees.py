"""Whether coordinates can be the degrees that a layer's CRS says they are."""

from __future__ import annotations

import numpy as np
from qgis.core import QgsCoordinateReferenceSystem

from ...core.errors import InputError

# Layers around the Pacific count longitudes on to 360.
MOST_LONGITUDE, MOST_LATITUDE = 360.0, 90.0
ROUNDING = 1e-6


def check_degrees(coordinates: np.ndarray, crs: QgsCoordinateReferenceSystem, layer: str) -> None:
    """Refuse metres that are declared as degrees: everything measured from them would be wrong without a word.

    coordinates : (n, 2) in `crs`, NaN where there are none; layer : the parameter, for the message. Raises InputError.
    """
    there = coordinates[np.isfinite(coordinates).all(axis=1)]
    if not crs.isGeographic() or not len(there):
        return
    (west, south), (east, north) = there.min(axis=0), there.max(axis=0)
    if (
        max(-west, east) > MOST_LONGITUDE + ROUNDING
        or max(-south, north) > MOST_LATITUDE + ROUNDING
        or east - west > MOST_LONGITUDE + ROUNDING
    ):
        raise InputError(
            f"{layer} is said to be in {crs.authid() or 'a geographic CRS'}, in degrees, but reaches from {west:.10g} "
            f"to {east:.10g} and from {south:.10g} to {north:.10g}, which no degrees do: assign the layer the "
            "coordinate reference system that it was made in."
        )
