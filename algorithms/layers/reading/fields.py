"""Fields by name, and numbers in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from qgis.core import QgsFields

from ....core.errors import InputError, first_values
from ....core.language import plural, tr


def field_index(fields: QgsFields, name: str, parameter: str, layer: str) -> int:
    """Position of a field. Raises InputError that lists the fields there are."""
    index = fields.lookupField(name) if name else -1
    if index < 0:
        raise InputError(_no_field(name, parameter, layer, first_values(fields.names(), 12)))
    return index


def _no_field(name: str, parameter: str, layer: str, there: str) -> str:
    """What is wrong with a field that is not there, or was not chosen; there : the fields there are."""
    if not there:
        return tr("{parameter}: {layer} has no fields: choose another layer.", parameter=parameter, layer=layer)
    if not name:
        return tr(
            "{parameter}: no field was chosen; {layer} has the fields {there}: choose one of them.",
            parameter=parameter,
            layer=layer,
            there=there,
        )
    return tr(
        "{parameter}: there is no field “{name}” in {layer}, which has the fields {there}: choose one of them.",
        parameter=parameter,
        name=name,
        layer=layer,
        there=there,
    )


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
            plural(
                "{parameter} field “{field}” is not a number in {n} row (first: {first}): choose a "
                "numeric field or correct it.",
                "{parameter} field “{field}” is not a number in {n} rows (first: {first}): choose a "
                "numeric field or correct it.",
                len(wrong),
                parameter=parameter,
                field=field,
                first=first_values(wrong),
            )
        )
    return numbers
