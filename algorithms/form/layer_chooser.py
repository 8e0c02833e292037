"""QGIS's own widget of a layer, which proposes what fits when the form opens: see `usual_layers`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from qgis.core import QgsProcessing, QgsProcessingParameterDefinition, QgsVectorLayer

from ..compat import geometry_kind
from .usual_layers import (
    area_layer,
    choose_layer,
    chosen_layer,
    first_that,
    is_crosswalk,
    is_own_output,
    is_released_table,
    record_layer,
    vector_layers,
)
from .widgets import linked_widget

ROLE = "vbas_role"
AREAS, RECORDS, CROSSWALK, RELEASED = "areas", "records", "crosswalk", "released"
ROLES = {"REGIONS": AREAS, "AREAS": AREAS, "CELLS": AREAS, "RECORDS": RECORDS, "CROSSWALK": CROSSWALK}
OPTIONAL = QgsProcessingParameterDefinition.Flag.FlagOptional


def propose_layer(parameter: QgsProcessingParameterDefinition, role: str = "") -> QgsProcessingParameterDefinition:
    """Have the form propose a layer for a parameter that must have one; role : what it is, by its name if empty."""
    role = role or ROLES.get(parameter.name(), "")
    if role and not parameter.flags() & OPTIONAL:
        parameter.setMetadata({"widget_wrapper": {"class": f"{__name__}.{LayerChooser.__name__}"}, ROLE: role})
    return parameter


class LayerChooser:
    """QGIS makes it from the parameter's metadata; what it gets is its own wrapper."""

    def __new__(cls, parameter: QgsProcessingParameterDefinition, dialog: Any, row: int = 0, col: int = 0) -> Any:
        points = QgsProcessing.SourceType.TypeVectorPoint in parameter.dataTypes()
        link = partial(_propose, parameter.metadata().get(ROLE, ""), points)
        return linked_widget(parameter, dialog, row, col, link)


def _propose(role: str, points: bool, wrapper: Any, wrappers: Mapping[str, Any]) -> None:
    layer = _fitting(role, points, wrappers)
    if layer is not None and layer is not chosen_layer(wrapper):
        choose_layer(wrapper, layer)


def _fitting(role: str, points: bool, wrappers: Mapping[str, Any]) -> QgsVectorLayer | None:
    """The layer to propose; None where nothing fits better than what QGIS chose. points : whether it may have points"""
    from qgis.utils import iface

    active = iface.activeLayer() if iface is not None else None
    layers = vector_layers()
    if role == CROSSWALK:
        return first_that(is_crosswalk, layers)
    if role == RELEASED:
        return first_that(is_released_table, layers) or first_that(
            lambda layer: not layer.isSpatial() and not is_own_output(layer), layers
        )
    if role == AREAS:
        return area_layer([layer for layer in layers if points or geometry_kind(layer) != "point"], active)
    region_id = wrappers["REGION_ID"].parameterValue() if "REGION_ID" in wrappers else ""
    areas = chosen_layer(wrappers.get("REGIONS"))
    if "CROSSWALK" in wrappers and areas is None:  # which has the areas, too
        areas = first_that(is_crosswalk, layers)
    return record_layer(layers, active, areas, str(region_id or ""))
