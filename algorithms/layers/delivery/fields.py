"""What the fields of an output are called for a reader, and what a map tip says of a feature.

The fields' own names are a promise to scripts and stay as they are; this is what QGIS shows in their place.
"""

from __future__ import annotations

import re
from html import escape

from qgis.core import QgsExpression, QgsField, QgsVectorLayer

from ....core.language import tr
from ....core.tables import alias_of, tables_of
from ...compat import kind_of
from .renderers import DBF_NAME, field_of

# A column of the attribute table in pixels: as QGIS has it, and what a letter of its heading and its edges take.
USUAL_WIDTH, OF_A_LETTER, OF_EDGES = 100, 7, 24
NAMED_BY = ("vbas_region", "area", "cell", "point", "DAUID", "id")


def name_fields(layer: QgsVectorLayer, output: str) -> None:
    """Give the computed fields of an output their aliases, in whatever case or length the format keeps names."""
    names = [name for table in tables_of(output) for name in table.names]
    known = {name[:DBF_NAME].lower(): name for name in reversed(names)}
    known.update((name.lower(), name) for name in names)
    for position, there in enumerate(layer.fields().names()):
        alias = alias_of(output, known.get(there.lower(), there))
        if alias:
            layer.setFieldAlias(position, alias)
    _show_headings(layer)


def _show_headings(layer: QgsVectorLayer) -> None:
    """Have columns of the attribute table as wide as what they are called: else a heading is cut at both ends."""
    config = layer.attributeTableConfig()
    config.update(layer.fields())
    for column, field in enumerate(layer.fields()):
        width = OF_EDGES + OF_A_LETTER * len(field.alias())
        if width > USUAL_WIDTH:
            config.setColumnWidth(column, width)
    layer.setAttributeTableConfig(config)


def tell_features(layer: QgsVectorLayer, output: str) -> None:
    """Have a click and a map tip show the figures of a feature, by their aliases."""
    kind = next((table.feature for table in tables_of(output) if table.feature), "")
    if not kind:
        return
    key = next((there for name in NAMED_BY if (there := field_of(layer, name)) is not None), None)
    level = field_of(layer, "vbas_level")
    title = _title(kind, key, level)
    rows = [
        f"<tr><td>{escape(field.alias() or field.name())}&nbsp;</td><td><b>[% {_shown(field)} %]</b></td></tr>"
        for field in layer.fields()
        if field.name() not in (key, level, "fid")
    ]
    layer.setDisplayExpression(title)
    layer.setMapTipTemplate(f"<p><b>[% {title} %]</b></p><table>{''.join(rows)}</table>")


def _title(kind: str, key: str | None, level: str | None) -> str:
    """The expression of what a feature is called; key, level : the fields with its name and its level, if any."""
    if key is None:
        return QgsExpression.quotedString(kind)
    if level is None:
        words = tr("{kind} {name}", kind=kind, name=_NAME)
    else:
        words = tr("{kind} {name}, level {level}", kind=kind, name=_NAME, level=_LEVEL)
    fields = {_NAME: f'"{key}"', _LEVEL: f'"{level}"'}
    parts = [part for part in re.split(f"({_NAME}|{_LEVEL})", words) if part]
    return f"concat({', '.join(fields.get(part) or QgsExpression.quotedString(part) for part in parts)})"


# Where the values of these fields stand in a sentence: no translation holds such characters.
_NAME, _LEVEL = "\x01", "\x02"


def _shown(field: QgsField) -> str:
    """The expression of a value in a map tip: with separators, and a dash for no value."""
    name = f'"{field.name()}"'
    kind = kind_of(field)
    value = {"real": f"format_number({name}, 1)", "long": f"format_number({name}, 0)"}.get(str(kind), name)
    return f"if({name} IS NULL, '–', {value})"
