"""How QGIS is told of the outputs of a run: what it loads, under which names, how that looks and what it says."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path

from qgis.core import (
    QgsLayerTreeLayer,
    QgsMapLayer,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsProcessingLayerPostProcessorInterface,
    QgsProcessingOutputLayerDefinition,
    QgsProject,
    QgsProperty,
    QgsVectorLayer,
)
from qgis.PyQt import sip

from ....core.dataclass import dataclass
from ....core.language import tr
from ....core.secrecy import holds_secret
from ....core.tables.schema import kind_of_output, named
from ..database_tables.address import table_layer
from ..database_tables.swapping import TablePlace
from ..inputs import Inputs
from .destinations import with_destination
from .groups import LayerGroup, group_of_run, title_of_run
from .styles import describe, legend_title, store_style, style


class Announcing:
    """Tells QGIS of the outputs of one run.

    inputs : with the places that tables are written to; wanted : names of outputs; group_title : the title of the run's
    layers in the layer tree; history : gives a sentence for their metadata

    titles : of the outputs by name, noted before anything is told of them
    """

    def __init__(self, inputs: Inputs, wanted: Container[str], group_title: str, history: Callable[[], str]) -> None:
        self._inputs, self._wanted = inputs, wanted
        self._when = datetime.now().astimezone()
        self._group_title, self._made_by = group_title or inputs.algorithm.displayName(), history
        self.titles: dict[str, str] = {}

    def file(self, name: str, destination: Path) -> str:
        """Tell of a finished file, so that it is loaded if the user wanted that; the result of the algorithm."""
        if self._inputs.definition(name).type() in ("fileDestination", "folderDestination"):
            return str(destination)
        announced = dict(self._inputs.parameters)
        value = announced.get(name)
        if isinstance(value, QgsProcessingOutputLayerDefinition):
            value.sink = QgsProperty.fromValue(str(destination))
        self._inputs.algorithm.parameterAsOutputLayer(announced, name, self._inputs.context)
        self.dress(name, str(destination))
        return str(destination)

    def temporary(self, name: str, file: Path) -> str:
        """Tell of a file as a layer that ends with the run's context, as one in memory does; the result."""
        layer = QgsVectorLayer(str(file), self.titles[name], "ogr")
        context = self._inputs.context
        context.temporaryLayerStore().addMapLayer(layer)
        announced = {**self._inputs.parameters, name: with_destination(self._inputs.parameters.get(name), str(file))}
        self._inputs.algorithm.parameterAsOutputLayer(announced, name, context)
        self._load_instead(str(file), layer.id())
        self.show(layer, name)
        self.dress(name, layer.id())
        return layer.id()

    def table(self, place: TablePlace, identifier: str) -> str:
        """Tell of a table under its final name; the result. Results are printed: where its address holds a password, it
        is a layer that ends with the run's context."""
        final = place.final(identifier)
        if holds_secret(final):
            layer = table_layer(final)
            self._inputs.context.temporaryLayerStore().addMapLayer(layer)
            final = layer.id()
        self._load_instead(identifier, final)
        return final

    def _load_instead(self, before: str, now: str) -> None:
        loaded = self._inputs.context.layersToLoadOnCompletion().items()
        self._inputs.context.setLayersToLoadOnCompletion(
            {now if layer_id == before else layer_id: how for layer_id, how in loaded}
        )

    @cached_property
    def _history(self) -> str:
        return self._made_by()

    @cached_property
    def _group(self) -> LayerGroup:
        """Of the layers that are loaded."""
        inputs = self._inputs
        attributes = inputs.field_names("QUASI_IDENTIFIERS") if inputs.has("QUASI_IDENTIFIERS") else []
        return group_of_run(title_of_run(self._group_title, attributes, self._when))

    @cached_property
    def _details(self) -> tuple[str, ...]:
        """What may tell the outputs of this run from those of another."""
        return details_of_run(self._inputs, self._when)

    def dress(self, name: str, identifier: str) -> None:
        """Have an output look like itself once it is loaded; nothing to do where it will not be."""
        if self._inputs.context.willLoadLayerOnCompletion(identifier):
            dress = Dress(name, self.titles[name], self._group, self._history, self._details)
            dress_when_loaded(self._inputs, identifier, dress)

    def show(self, layer: QgsVectorLayer, name: str) -> None:
        """Let a layer that is in no file of the user's say what it is, and look like it."""
        style(layer, name, self._labelled(name))
        describe(layer, self.titles[name], None, self._inputs.definition(name).help(), self._history)

    def store_style(self, file: Path, name: str, drawn: bool) -> None:
        """Keep with a file what its layer is to look like and to say; drawn : whether it has shapes, without which only
        a GeoPackage has a place for it."""
        if not drawn and file.suffix.lower() != ".gpkg":
            return
        described = self.titles[name], self._labelled(name), self._inputs.definition(name).help(), self._history
        store_style(file, name, *described)

    def _labelled(self, name: str) -> bool:
        """Whether the regions of an output are numbered: of two layers over each other only one is."""
        return name != "REGION_AUDIT" or "RELEASED_REGIONS" not in self._wanted


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
    properties = layer.serverProperties()
    (properties if hasattr(properties, "setTitle") else layer).setTitle(whole)  # QGIS 3.40 and later, or before


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


RUN = "vbas/details"  # a property of a layer: title and details of what made it


def details_of_run(inputs: Inputs, when: datetime) -> tuple[str, ...]:
    """What may tell the outputs of one run from those of another, the most telling first: the records, the attributes,
    k, how many sizes of regions, the method, the time."""
    details = [_source_name(inputs, "RECORDS")]
    if inputs.has("QUASI_IDENTIFIERS"):
        details.append(", ".join(inputs.field_names("QUASI_IDENTIFIERS")))
    if inputs.has("K") and inputs.definition("K").type() == "number":
        details.append(tr("k = {k}", k=inputs.whole("K")))
    details += [tr(inputs.text(name)) for name in ("RELEASE", "COMBINATION") if _is_choice(inputs, name)]
    return *(detail for detail in details if detail), f"{when:%H:%M}"


def name_apart(layer: QgsVectorLayer, title: str, details: Sequence[str], project: QgsProject) -> str:
    """The title, or, where the project has another output of it, the title with the first detail that no other has; a
    number where all are the same.

    layer : the output, which keeps what tells it apart
    """
    layer.setCustomProperty(RUN, json.dumps([title, *details]))
    others = [other for other in project.mapLayers().values() if other.id() != layer.id()]
    of_title = [kept[1:] for other in others if (kept := _kept(other))[:1] == [title]]
    taken = {other.name() for other in others}
    if title not in taken and not of_title:
        return title
    known = {detail for kept in of_title for detail in kept}
    detail = next((detail for detail in details if detail not in known), details[-1])
    numbered = (f"{detail} ({n})" for n in range(2, len(taken) + 3))
    return next(name for part in (detail, *numbered) if (name := _with(title, part)) not in taken)


def _with(title: str, detail: str) -> str:
    """A detail in the title, before what says whether it may be published."""
    kind = kind_of_output(title)
    return f"{named(title)} · {detail} ({kind})" if kind else f"{title} · {detail}"


def _kept(layer: object) -> list[str]:
    try:
        kept = json.loads(layer.customProperty(RUN, "[]"))  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        return []
    return [str(part) for part in kept] if isinstance(kept, list) else []


def _source_name(inputs: Inputs, name: str) -> str:
    """What the user calls the layer that was given; empty for none."""
    if not inputs.has(name) or inputs.definition(name).type() != "source":
        return ""
    source = inputs.source(name)
    return "" if source is None else str(source.sourceName())


def _is_choice(inputs: Inputs, name: str) -> bool:
    return inputs.has(name) and inputs.definition(name).type() == "enum"
