"""Fields as the layer spells them, and parameters as the dialog names them."""

from __future__ import annotations

import re

from qgis.core import QgsProcessingAlgorithm, QgsProcessingContext

from ...core.errors import InputError, first_values
from .understanding import field_names_of

# A quoted value is somebody's data, whatever it reads like.
_QUOTED_OR_ID = re.compile(r"“[^”]*”|(?<![\w(])[A-Z][A-Z0-9_]*(?![\w)])")


def as_spelled(
    algorithm: QgsProcessingAlgorithm, parameters: dict[str, object], context: QgsProcessingContext
) -> dict[str, object]:
    """The parameters with each field named as its layer spells it: QGIS finds `SEX` for `sex`, and so do we.

    Raises InputError for a field that is named twice in one parameter.
    """
    spelled = dict(parameters)
    for definition in algorithm.parameterDefinitions():
        name = definition.name()
        if definition.type() != "field" or parameters.get(name) in (None, "", []):
            continue
        several = definition.allowMultiple()
        given = field_names_of(algorithm, parameters, name, context) if several else []
        given = given or [algorithm.parameterAsString(parameters, name, context)]
        source = algorithm.parameterAsSource(parameters, definition.parentLayerParameterName(), context)
        if source is None:
            continue
        fields = source.fields()
        found = [fields.lookupField(field) for field in given]
        own = [field if index < 0 else fields[index].name() for field, index in zip(given, found)]
        twice = [field for i, field in enumerate(own) if field in own[:i]]
        if twice:
            raise InputError(
                f"{name} names a field twice ({first_values(dict.fromkeys(twice))}; given: {first_values(given, 12)}): "
                "name each field once."
            )
        if own != given:
            spelled[name] = own if several else own[0]
    return spelled


def with_labels(algorithm: QgsProcessingAlgorithm, message: str) -> str:
    """A message that names parameters by their ids, with the labels of the dialog before the first of each."""
    labels = {one.name(): one.description().partition(":")[0] for one in algorithm.parameterDefinitions()}

    def labelled(match: re.Match[str]) -> str:
        label = labels.pop(match[0], None)
        return match[0] if label in (None, match[0]) else f"{label} ({match[0]})"

    return _QUOTED_OR_ID.sub(labelled, message)
