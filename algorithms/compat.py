"""What differs between the QGIS versions from 3.22 to 4.x."""

from __future__ import annotations

from qgis.core import Qgis, QgsField
from qgis.PyQt.QtCore import QVariant

try:  # QGIS 3.38 and later
    if Qgis.QGIS_VERSION_INT < 33800:
        raise ImportError
    from qgis.PyQt.QtCore import QMetaType

    _TYPES = {
        "integer": QMetaType.Type.Int,
        "long": QMetaType.Type.LongLong,
        "real": QMetaType.Type.Double,
        "text": QMetaType.Type.QString,
    }
    _OTHERS = {
        QMetaType.Type.UInt: "long",
        QMetaType.Type.ULongLong: "long",
        QMetaType.Type.Bool: "bool",
        QMetaType.Type.QDate: "date",
        QMetaType.Type.QTime: "time",
        QMetaType.Type.QDateTime: "datetime",
    }
except ImportError:
    _TYPES = {
        "integer": QVariant.Type.Int,
        "long": QVariant.Type.LongLong,
        "real": QVariant.Type.Double,
        "text": QVariant.Type.String,
    }
    _OTHERS = {
        QVariant.Type.UInt: "long",
        QVariant.Type.ULongLong: "long",
        QVariant.Type.Bool: "bool",
        QVariant.Type.Date: "date",
        QVariant.Type.Time: "time",
        QVariant.Type.DateTime: "datetime",
    }

_KINDS = {**{kind: name for name, kind in _TYPES.items()}, **_OTHERS}

_SIMPLE = frozenset((int, float, str, bool))


def field(name: str, kind: str) -> QgsField:
    """A field of kind integer, long, real or text."""
    return QgsField(name, _TYPES[kind])


def kind_of(one: QgsField) -> str | None:
    """integer, long, real, text, bool, date, time or datetime; None for all else: lists, maps, binary data."""
    return _KINDS.get(one.type())


def is_text(one: QgsField) -> bool:
    """Whether a field holds text."""
    return one.type() == _TYPES["text"]


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
