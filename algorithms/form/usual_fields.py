"""Fields by their usual names: what a form proposes when a layer is chosen, in place of the layer's first field.

QGIS proposes the first field, which in a GeoPackage numbers the rows (`fid`): it identifies no area, and both tables
have one, so that they would even seem to match. Here the field is proposed that has a usual name; where none has, the
user is asked. Nothing of this touches models or headless runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from qgis.core import QgsProcessingParameterDefinition

from ...core.preparing.usual_names import USUAL_FIELDS, usual_field
from .usual_layers import area_field_of, chosen_layer, id_field_of
from .widgets import linked_widget


def propose_usual_field(parameter: QgsProcessingParameterDefinition) -> None:
    """Have the form propose the field of a usual name for a parameter of one field, where there are usual names."""
    if parameter.name() in USUAL_FIELDS:
        parameter.setMetadata({"widget_wrapper": {"class": f"{__name__}.{FieldChooser.__name__}"}})


class FieldChooser:
    """QGIS's own widget of a field, which proposes the field of a usual name each time the layer changes.

    QGIS makes it from the parameter's metadata; what it gets is its own wrapper.
    """

    def __new__(cls, parameter: QgsProcessingParameterDefinition, dialog: Any, row: int = 0, col: int = 0) -> Any:
        link = partial(_propose, parameter.name(), parameter.parentLayerParameterName())
        return linked_widget(parameter, dialog, row, col, link)


def _propose(parameter: str, of_layer: str, wrapper: Any, wrappers: Mapping[str, Any]) -> None:
    """Have a usual field chosen now, and whenever the layer changes; where the widget is not a list of fields, nothing.

    of_layer : the parameter of the layer that has the field; wrappers : of all parameters of the form, by name
    """
    chooser = _combo_box(wrapper)
    layer = wrappers.get(of_layer)
    if chooser is None or layer is None:
        return
    names = USUAL_FIELDS[parameter]
    like = next((wrappers[name] for name in names if name in wrappers), None)
    # What is connected to a widget must not hold it: it would outlive its form, and hear of layers that go.
    known = WeakValueDictionary(wrappers)

    def propose(*_: object) -> None:
        shared = _combo_box(like) if like is not None else None
        wanted = [shared.currentField() if shared is not None and name.isupper() else name for name in names]
        named = usual_field(chooser.fields().names(), wanted)
        chooser.setField(by_values(parameter, known, wanted) or named)

    def fill() -> None:
        if not chooser.currentField():
            propose()

    layer.widgetValueHasChanged.connect(propose)
    if like is not None:
        like.widgetValueHasChanged.connect(lambda *_: fill())
    propose()


def by_values(parameter: str, wrappers: Mapping[str, Any], usual: Iterable[str]) -> str:
    """The field whose values join areas and records; empty where that is not asked, or not known."""
    areas, records = (chosen_layer(wrappers.get(name)) for name in ("REGIONS", "RECORDS"))
    if parameter == "REGION_ID":
        return id_field_of(areas, usual)
    if parameter == "RECORD_REGION" and "REGION_ID" in wrappers:
        return area_field_of(areas, str(wrappers["REGION_ID"].parameterValue() or ""), records, usual)
    return ""


def _combo_box(wrapper: Any) -> Any:
    """The list of fields in a parameter's widget, None where it has none; QGIS shows it to Python as any list."""
    from qgis.gui import QgsFieldComboBox
    from qgis.PyQt import sip
    from qgis.PyQt.QtWidgets import QComboBox

    widget = wrapper.wrappedWidget()
    lists = [] if widget is None else [widget, *widget.findChildren(QComboBox)]
    combo_box = next((box for box in lists if box.metaObject().className() == "QgsFieldComboBox"), None)
    return None if combo_box is None else sip.cast(combo_box, QgsFieldComboBox)
