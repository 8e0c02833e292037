"""What differs between the QGIS versions from 3.22 to 4.x."""

from __future__ import annotations

from typing import Any

from qgis.core import (
    Qgis,
    QgsField,
    QgsMapLayerProxyModel,
    QgsPalLayerSettings,
    QgsProcessingAlgorithm,
    QgsVectorLayer,
    QgsWkbTypes,
)
from qgis.PyQt.QtCore import QDate, QDateTime, Qt, QTime, QVariant

from ..core.plain_text import plain_text

try:  # QGIS 3.38 and later
    if Qgis.QGIS_VERSION_INT < 33800:
        raise ImportError
    from qgis.PyQt.QtCore import QMetaType

    _TYPES = {
        "integer": QMetaType.Type.Int,
        "long": QMetaType.Type.LongLong,
        "real": QMetaType.Type.Double,
        "text": QMetaType.Type.QString,
        "boolean": QMetaType.Type.Bool,
        "date": QMetaType.Type.QDate,
        "time": QMetaType.Type.QTime,
        "datetime": QMetaType.Type.QDateTime,
    }
    _UNSIGNED = (QMetaType.Type.UInt, QMetaType.Type.ULongLong)
except ImportError:
    _TYPES = {
        "integer": QVariant.Type.Int,
        "long": QVariant.Type.LongLong,
        "real": QVariant.Type.Double,
        "text": QVariant.Type.String,
        "boolean": QVariant.Type.Bool,
        "date": QVariant.Type.Date,
        "time": QVariant.Type.Time,
        "datetime": QVariant.Type.DateTime,
    }
    _UNSIGNED = (QVariant.Type.UInt, QVariant.Type.ULongLong)

_KINDS = {**{kind: name for name, kind in _TYPES.items()}, **dict.fromkeys(_UNSIGNED, "long")}

_SIMPLE = frozenset((int, float, str, bool))


@plain_text.register(QDate)
@plain_text.register(QTime)
@plain_text.register(QDateTime)
def _in_iso_format(value: QDate | QTime | QDateTime) -> str:
    """Days and times as everybody reads them, with as many digits as Python writes; Qt's own text names its version and
    its class."""
    if isinstance(value, QDateTime) and value.timeSpec() != Qt.TimeSpec.LocalTime:
        value = value.toUTC()
    text = str(value.toString(Qt.DateFormat.ISODate))
    milliseconds = value.toString(".zzz") if not isinstance(value, QDate) else ".000"
    if milliseconds != ".000":
        text = text.removesuffix("Z") + f"{milliseconds}000" + "Z" * text.endswith("Z")
    return text.removesuffix("Z") + "+00:00" if text.endswith("Z") else text


def field(name: str, kind: str) -> QgsField:
    """A field of kind integer, long, real, text, boolean, date or time."""
    return QgsField(name, _TYPES[kind])


def kind_of(field: QgsField) -> str | None:
    """integer, long, real, text, boolean, date, time or datetime; None for all else: lists, maps, binary data."""
    return _KINDS.get(field.type())


def is_text(field: QgsField) -> bool:
    """Whether a field holds text."""
    return field.type() == _TYPES["text"]


def python_value(value: object) -> object:
    """An attribute as a hashable Python value; None where it is NULL, however this version says NULL."""
    if value is None or type(value) in _SIMPLE:
        return None if value != value else value  # NaN is no value either
    if isinstance(value, QVariant):
        return None if value.isNull() else python_value(value.value())
    try:
        hash(value)
    except TypeError:
        return str(value)
    return value


def geometry_kind(layer: QgsVectorLayer) -> str:
    """What a layer draws: point, line, polygon, or other."""
    kinds = QgsWkbTypes.GeometryType
    known = (("point", "PointGeometry"), ("line", "LineGeometry"), ("polygon", "PolygonGeometry"))
    return next((kind for kind, name in known if layer.geometryType() == getattr(kinds, name)), "other")


def offer_layers(box: Any, *kinds: str) -> None:
    """Have a QgsMapLayerComboBox offer layers of these kinds alone; QGIS 3.34 moved the names, and its log shows a
    traceback for each use of the former ones."""
    if Qgis.QGIS_VERSION_INT >= 33400:
        names, filters = Qgis.LayerFilter, Qgis.LayerFilters
    else:
        names, filters = QgsMapLayerProxyModel.Filter, QgsMapLayerProxyModel.Filters
    wanted = filters(getattr(names, kinds[0]))
    for kind in kinds[1:]:
        wanted = wanted | getattr(names, kind)
    box.setFilters(filters(wanted))


def label_placement(name: str) -> object:
    """Where labels go; QGIS 3.26 moved the names."""
    return getattr(getattr(Qgis, "LabelPlacement", QgsPalLayerSettings), name)


def save_style(layer: QgsVectorLayer, name: str, title: str) -> None:
    """Keep a layer's style in its database, as the one it is shown with; QGIS 3.44 deprecated the former name."""
    keep = getattr(layer, "saveStyleToDatabaseV2", None) or layer.saveStyleToDatabase
    keep(name, title, True, "")


def hidden_flags() -> Any:
    """The flags of an algorithm that neither toolbox nor model designer shows; QGIS 3.36 moved the names."""
    if Qgis.QGIS_VERSION_INT >= 33600:
        return Qgis.ProcessingAlgorithmFlag.HideFromToolbox | Qgis.ProcessingAlgorithmFlag.HideFromModeler
    return QgsProcessingAlgorithm.Flag.FlagHideFromToolbox | QgsProcessingAlgorithm.Flag.FlagHideFromModeler
