"""What happens to an output when QGIS loads it into a project."""

from __future__ import annotations

from qgis.core import (
    QgsMapLayer,
    QgsProcessingAlgorithm,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsProcessingLayerPostProcessorInterface,
    QgsVectorLayer,
)
from qgis.PyQt import sip

from .styles import describe, style


class Dressing(QgsProcessingLayerPostProcessorInterface):
    """Gives a loaded layer its look, its name and its metadata: QGIS loads files without the style they hold."""

    def __init__(self, algorithm: QgsProcessingAlgorithm, name: str, title: str) -> None:
        super().__init__()
        self._algorithm, self._name, self._title = algorithm.id(), name, title
        self._label = algorithm.parameterDefinition(name).description()

    def postProcessLayer(
        self, layer: QgsMapLayer, context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> None:
        """Called by QGIS in its main thread."""
        if isinstance(layer, QgsVectorLayer):
            if not _chosen_by_user(self._algorithm, self._name):
                style(layer, self._name)
                layer.triggerRepaint()
            # QGIS names layers by the output's label, or its name in a model, unless its user chose another.
            describe(layer, self._title, None if layer.name() in (self._name, self._label) else layer.name())


# QGIS takes them over and deletes them with the run's context, but Python would forget them long before.
_KEPT: list[Dressing] = []


def dress_when_loaded(
    context: QgsProcessingContext, identifier: str, algorithm: QgsProcessingAlgorithm, name: str, title: str
) -> None:
    """Have an output styled, named and described once it is loaded; nothing to do where it will not be."""
    if context.willLoadLayerOnCompletion(identifier):
        _KEPT[:] = [one for one in _KEPT if not sip.isdeleted(one)]
        _KEPT.append(Dressing(algorithm, name, title))
        context.layerToLoadOnCompletionDetails(identifier).setPostProcessor(_KEPT[-1])


def _chosen_by_user(algorithm: str, name: str) -> bool:
    """Whether the user told QGIS what this output is to look like (“Edit Rendering Styles for Outputs”)."""
    try:
        from processing.gui.RenderingStyles import RenderingStyles
    except ImportError:  # QGIS without its Processing plugin
        return False
    return bool(RenderingStyles.getStyle(algorithm, name))
