"""What of a layer an input takes: all its rows as they are saved, or something else, which is said."""

from __future__ import annotations

from qgis.core import QgsProcessingFeatureSourceDefinition, QgsVectorLayer

from ....core.language import plural, tr


def unsaved_or_filtered(parameter: str, layer: QgsVectorLayer | None) -> list[str]:
    """A sentence for a filter on the layer, and one for edits in it that were not saved: nobody chose these here."""
    if layer is None:
        return []
    said = []
    if layer.subsetString():
        said.append(
            tr(
                "{parameter} is filtered: {filter}. What the filter leaves out is not there for this run.",
                parameter=parameter,
                filter=layer.subsetString(),
            )
        )
    if layer.isModified():
        said.append(
            tr(
                "{parameter} has edits that were not saved: it is read with them, as QGIS shows it.",
                parameter=parameter,
            )
        )
    return said


def chosen(
    parameter: str, layer: QgsVectorLayer | None, value: QgsProcessingFeatureSourceDefinition | None
) -> list[str]:
    """A sentence for each way in which the form takes a part of the layer: selection, number, expression."""
    if value is None:
        return []
    said = []
    if value.selectedFeaturesOnly:
        said.append(
            plural(
                "Of {parameter} only the selected feature is read.",
                "Of {parameter} only the {n} selected features are read.",
                0 if layer is None else layer.selectedFeatureCount(),
                parameter=parameter,
            )
        )
    if value.featureLimit >= 0:
        said.append(
            plural(
                "Of {parameter} at most {n} feature is read.",
                "Of {parameter} at most {n} features are read.",
                value.featureLimit,
                parameter=parameter,
            )
        )
    expression = getattr(value, "filterExpression", "")  # since QGIS 3.32
    if expression:
        said.append(
            tr(
                "Of {parameter} only the features for which this holds are read: {expression}.",
                parameter=parameter,
                expression=expression,
            )
        )
    return said
