"""How QGIS is told of the outputs of a run: what it loads, under which names, how that looks and what it says."""

from __future__ import annotations

from collections.abc import Container
from datetime import datetime
from functools import cached_property
from pathlib import Path

from qgis.core import QgsProcessingOutputLayerDefinition, QgsProperty, QgsVectorLayer

from ....core.secrecy import holds_secret
from ..database_tables.address import table_layer
from ..database_tables.swapping import TablePlace
from ..inputs import Inputs
from .destinations import with_destination
from .groups import LayerGroup, group_of_run, title_of_run
from .loaded_layers import Dress, dress_when_loaded
from .styles import describe, store_look, style
from .telling_apart import details_of_run


class Announcing:
    """Tells QGIS of the outputs of one run.

    inputs : with the places that tables are written to; wanted : names of outputs; group_title : the title of the run's
    layers in the layer tree; history : a sentence for their metadata

    titles : of the outputs by name, noted before anything is told of them
    """

    def __init__(self, inputs: Inputs, wanted: Container[str], group_title: str, history: str) -> None:
        self._inputs, self._wanted = inputs, wanted
        attributes = inputs.field_names("QUASI_IDENTIFIERS") if inputs.has("QUASI_IDENTIFIERS") else []
        title = group_title or inputs.algorithm.displayName()
        self._when = datetime.now().astimezone()
        self._group_title, self._history = title_of_run(title, attributes, self._when), history
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
    def _group(self) -> LayerGroup:
        """Of the layers that are loaded."""
        return group_of_run(self._group_title)

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

    def store_look(self, file: Path, name: str, drawn: bool) -> None:
        """Keep with a file what its layer is to look like and to say; drawn : whether it has shapes, without which only
        a GeoPackage has a place for it."""
        if not drawn and file.suffix.lower() != ".gpkg":
            return
        told = self.titles[name], self._labelled(name), self._inputs.definition(name).help(), self._history
        store_look(file, name, *told)

    def _labelled(self, name: str) -> bool:
        """Whether the regions of an output are numbered: of two layers over each other only one is."""
        return name != "REGION_AUDIT" or "RELEASED_REGIONS" not in self._wanted
