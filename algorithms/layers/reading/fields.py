"""Fields by name."""

from __future__ import annotations

from qgis.core import QgsFields

from ....core.errors import InputError, first_values
from ....core.language import tr


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
