"""The command that does a run again in a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from qgis.core import (
    QgsProcessingFeatureSourceDefinition,
    QgsProcessingOutputLayerDefinition,
    QgsProcessingUtils,
    QgsProperty,
    QgsVectorLayer,
)

from ...core.language import plural, tr
from ...core.secrecy import without_secrets
from ..layers.inputs import Inputs
from ..layers.reading.layer_file import layer_file
from .understanding import LAYERS, is_blank


def command_of(inputs: Inputs, names: Sequence[str]) -> tuple[str, list[str]]:
    """The command as bash takes it, and sentences on what it cannot do by itself.

    names : of the inputs that were given and count.
    """
    caveats: list[str] = []
    words = [f"run {inputs.algorithm.id()} --"]
    for definition in inputs.algorithm.parameterDefinitions():
        name = definition.name()
        if not definition.isDestination() and name not in names:
            continue
        value = inputs.parameters.get(name)
        if definition.isDestination() and is_blank(_destination(value)):
            continue
        for text in texts_of(inputs, name, value, caveats):
            words.append(shlex.quote(f"{name}={without_password(text, name, caveats)}"))
    return " \\\n  ".join([f"qgis_process {words[0]}", *words[1:]]), list(dict.fromkeys(caveats))


def without_password(text: str, name: str, caveats: list[str]) -> str:
    """The text of a parameter without the password it may hold, which a report must not show."""
    hidden = without_secrets(text, text)
    if hidden != text:
        caveats.append(tr("The password in {name} is left out: write it in before you run the command.", name=name))
    return hidden


def source_of(layer: QgsVectorLayer) -> str:
    """What QGIS finds a layer by, with the whole path of its file; empty for one that is only in memory."""
    provider, source = layer.providerType(), layer.source()
    if provider == "memory":
        return ""
    file = layer_file(layer)
    if provider == "ogr":
        if file is not None and source.startswith(str(file.path)):
            return f"{Path(file.path).resolve()}{source[len(str(file.path)) :]}"
        return source
    return QgsProcessingUtils.encodeProviderKeyAndUri(provider, source)


def texts_of(inputs: Inputs, name: str, value: object, caveats: list[str]) -> list[str]:
    """The value of a parameter as it is typed, several times where it takes several values."""
    definition = inputs.definition(name)
    kind = definition.type()
    if definition.isDestination():
        return [str(_destination(value))]
    if kind in LAYERS:
        if isinstance(value, QgsProcessingFeatureSourceDefinition):
            _note_restrictions(value, name, caveats)
            value = value.source.valueAsString(inputs.context.expressionContext())[0]
            inputs = inputs.with_parameters(**{name: value})
        return [
            _layer(
                inputs.algorithm.parameterAsVectorLayer(inputs.parameters, name, inputs.context), name, value, caveats
            )
        ]
    if kind == "multilayer":
        layers = inputs.algorithm.parameterAsLayerList(inputs.parameters, name, inputs.context)
        return [_layer(layer, name, layer.name(), caveats) for layer in layers]
    if isinstance(value, (list, tuple)):
        return [str(item) for item in value]
    if isinstance(value, bool):
        return ["true" if value else "false"]
    return [repr(value) if isinstance(value, float) else str(value)]


def _layer(layer: QgsVectorLayer | None, name: str, value: object, caveats: list[str]) -> str:
    if layer is None:
        return str(value)
    if layer.isModified():
        caveats.append(
            tr("{name} was read with edits that were not saved: save them before you run the command.", name=name)
        )
    source = source_of(layer)
    if not source:
        caveats.append(
            tr(
                "{name} was held in memory: save it, and write its path in place of “{layer}”.",
                name=name,
                layer=layer.name(),
            )
        )
    return source or layer.name()


def _note_restrictions(value: QgsProcessingFeatureSourceDefinition, name: str, caveats: list[str]) -> None:
    """Say what a command cannot restrict a layer to."""
    if value.selectedFeaturesOnly:
        caveats.append(
            tr("Only the selected features of {name} were read: save them to a file and give that.", name=name)
        )
    if value.featureLimit >= 0:
        caveats.append(
            plural(
                "Only {n} feature of {name} was read: save it to a file and give that.",
                "Only {n} features of {name} were read: save them to a file and give that.",
                value.featureLimit,
                name=name,
            )
        )
    if getattr(value, "filterExpression", ""):
        caveats.append(
            tr(
                "{name} was filtered ({filter}): save what is left to a file and give that.",
                name=name,
                filter=value.filterExpression,
            )
        )


def _destination(value: object) -> object:
    """Where an output goes."""
    if isinstance(value, QgsProcessingOutputLayerDefinition):
        value = value.sink
    return value.staticValue() if isinstance(value, QgsProperty) else value
