"""Fields by name, numbers in them, and whether coordinates can be the degrees they are said to be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from qgis.core import QgsCoordinateReferenceSystem, QgsFields

from ....core.errors import InputError, first_values
from ....core.language import tr

# Layers around the Pacific count longitudes on to 360.
MOST_LONGITUDE, MOST_LATITUDE = 360.0, 90.0
ROUNDING = 1e-6


def field_index(fields: QgsFields, name: str, parameter: str, layer: str) -> int:
    """Position of a field. Raises InputError that lists the fields there are."""
    index = fields.lookupField(name) if name else -1
    if index < 0:
        there = first_values(fields.names(), 12) or tr("none at all")
        wrong = (
            tr("there is no field “{name}” in {layer}, which", name=name, layer=layer)
            if name
            else tr("no field was chosen; {layer}", layer=layer)
        )
        raise InputError(
            tr(
                "{parameter}: {wrong} has the fields {there}: choose one of them.",
                parameter=parameter,
                wrong=wrong,
                there=there,
            )
        )
    return index


def number_or_missing(values: Sequence[object], field: str, parameter: str, identifiers: np.ndarray) -> np.ndarray:
    """Numbers from a numeric or text field, NaN where missing, (n,) float.

    Raises InputError for text that is no number, naming the first values.
    """
    numbers = np.full(len(values), np.nan)
    wrong = []
    for i, value in enumerate(values):
        if value is None or value == "":
            continue
        try:
            numbers[i] = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            wrong.append(value)
    if wrong:
        raise InputError(
            tr(
                "{parameter} field “{field}” is not a number in {n_wrong} rows (first: {first}): "
                "choose a numeric field or correct it.",
                parameter=parameter,
                field=field,
                n_wrong=len(wrong),
                first=first_values(wrong),
            )
        )
    return numbers


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
            tr(
                "{layer} is declared to be in {authid}, in degrees, but reaches from "
                "{west:.10g} to {east:.10g} and from {south:.10g} to {north:.10g}, which degrees never do: assign "
                "the layer the coordinate reference system that it was made in.",
                layer=layer,
                authid=crs.authid() or tr("a geographic CRS"),
                west=west,
                east=east,
                south=south,
                north=north,
            )
        )
