"""Fields by name."""

from __future__ import annotations

from qgis.core import QgsFields

from ....core.errors import InputError, first_values
from ....core.job.values import no_field


def field_index(fields: QgsFields, name: str, parameter: str, layer: str) -> int:
    """Position of a field. Raises InputError that lists the fields there are."""
    index = fields.lookupField(name) if name else -1
    if index < 0:
        raise InputError(no_field(name, parameter, layer, first_values(fields.names(), 12)))
    return index
