"""Every parameter that counts with its value, as reports list them."""

from __future__ import annotations

from qgis.core import QgsProcessingContext

from .base import VbasAlgorithm


def parameter_rows(
    algorithm: VbasAlgorithm, parameters: dict[str, object], context: QgsProcessingContext
) -> list[tuple[str, object]]:
    """(label, value) of all inputs that count in this run, those left at their default included.

    What counts for nothing is left out, and what the form chooses itself (the parts of a combination) stands in the
    place of what was typed.
    """
    return [
        (f"{algorithm.parameterDefinition(name).description()} ({name})", value)
        for name, value in algorithm.effective(parameters, context).values().items()
    ]
