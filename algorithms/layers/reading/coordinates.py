"""Coordinates that can be what their reference system says."""

from __future__ import annotations

import numpy as np
from qgis.core import QgsCoordinateReferenceSystem

from ....core import shapes


def check_degrees(coordinates: np.ndarray, crs: QgsCoordinateReferenceSystem, layer: str) -> None:
    """Refuse metres that are declared as degrees. Raises InputError.

    coordinates : (n, 2) in `crs`, NaN where there are none; layer : the parameter, for the message
    """
    if crs.isGeographic():
        shapes.check_degrees(coordinates, crs.authid(), layer)
