"""Every parameter with its value, as reports list them."""

from __future__ import annotations

from qgis.core import QgsProcessingContext

from .base import VbasAlgorithm


def parameter_rows(
    algorithm: VbasAlgorithm, parameters: dict[str, object], context: QgsProcessingContext
) -> list[tuple[str, object]]:
    """(label, value) of all inputs, those left at their default included."""
    rows: list[tuple[str, object]] = []
    for definition in algorithm.parameterDefinitions():
        if definition.isDestination():
            continue
        name, kind = definition.name(), definition.type()
        if parameters.get(name) is None and definition.defaultValue() is None:
            value: object = ""
        elif kind in ("source", "vector"):
            layer = algorithm.parameterAsLayer(parameters, name, context)
            value = layer.name() if layer is not None else ""
        elif kind == "field":
            value = ", ".join(algorithm.field_names(parameters, name, context))
        elif kind == "enum" and not definition.allowMultiple():
            value = algorithm.parameterAsEnumString(parameters, name, context)
        elif kind == "number":
            value = algorithm.parameterAsDouble(parameters, name, context)
        else:
            value = algorithm.parameterAsString(parameters, name, context)
        rows.append((f"{definition.description()} ({name})", value))
    return rows
