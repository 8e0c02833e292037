"""What is done to an output when QGIS has loaded it: its look, its name, what it says of itself, its place in the tree.

QGIS loads files without the style that they hold, and names layers by the label of the output.
"""

from __future__ import annotations

from dataclasses import dataclass

from qgis.core import (
    QgsLayerTreeLayer,
    QgsMapLayer,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsProcessingLayerPostProcessorInterface,
    QgsProject,
    QgsVectorLayer,
)
from qgis.PyQt import sip

from ....core.language import tr
from ..inputs import Inputs
from .groups import LayerGroup
from .styles import describe, legend_title, style
from .telling_apart import name_apart


@dataclass(frozen=True)
class Dress:
    """How one output is to be shown.

    name : of the output; title : of the layer; group : of its run; history : a sentence on what made it; details : what
    may tell it from the same output of another run
    """

    name: str
    title: str
    group: LayerGroup
    history: str
    details: tuple[str, ...]


class Dressing(QgsProcessingLayerPostProcessorInterface):
    """Dresses one output."""

    def __init__(self, inputs: Inputs, dress: Dress) -> None:
        super().__init__()
        definition = inputs.definition(dress.name)
        self._algorithm, self._dress = inputs.algorithm.id(), dress
        self._label, self._help = definition.description(), definition.help()

    def postProcessLayer(
        self, layer: QgsMapLayer, context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> None:
        """Called by QGIS in its main thread."""
        if not isinstance(layer, QgsVectorLayer):
            return
        dress = self._dress
        if not _chosen_by_user(self._algorithm, dress.name):
            style(layer, dress.name, not dress.group.numbers_regions_below(dress.name))
            layer.triggerRepaint()
        # QGIS names layers by the output's label, or its name in a model, unless its user chose another.
        known_as = None if layer.name() in (dress.name, self._label) else layer.name()
        describe(layer, dress.title, known_as, self._help, dress.history)
        project = context.project() or QgsProject.instance()
        if known_as is None:
            layer.setName(name_apart(layer, dress.title, dress.details, project))
        dress.group.take(layer, dress.name, project)
        node = project.layerTreeRoot().findLayer(layer.id())
        if node is not None and legend_title(dress.name):
            _tell_legend(layer, node, legend_title(dress.name))


def _tell_legend(layer: QgsVectorLayer, node: QgsLayerTreeLayer, title: str) -> None:
    """What the legend shows: over it in printed maps, and in the layer tree, whose legends have no title, where the
    mouse points at the layer. The classes themselves say their unit."""
    whole = tr("{name}: {value}", name=layer.name(), value=title)
    node.setCustomProperty("legend/title-label", whole)
    shown_at_mouse = layer if hasattr(layer, "setTitle") else layer.serverProperties()
    shown_at_mouse.setTitle(whole)


# QGIS takes them over and deletes them with the run's context, but Python would forget them long before.
_KEPT: list[Dressing] = []


def dress_when_loaded(inputs: Inputs, identifier: str, dress: Dress) -> None:
    """Have an output that will be loaded dressed then."""
    dress.group.expect(dress.name)
    _KEPT[:] = [dressing for dressing in _KEPT if not sip.isdeleted(dressing)]
    _KEPT.append(Dressing(inputs, dress))
    inputs.context.layerToLoadOnCompletionDetails(identifier).setPostProcessor(_KEPT[-1])


def _chosen_by_user(algorithm: str, name: str) -> bool:
    """Whether the user told QGIS what this output is to look like (“Edit Rendering Styles for Outputs”)."""
    try:
        from processing.gui.RenderingStyles import RenderingStyles
    except ImportError:  # QGIS without its Processing plugin
        return False
    return bool(RenderingStyles.getStyle(algorithm, name))
