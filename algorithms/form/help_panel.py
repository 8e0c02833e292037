"""The help of a form. Beside it: short enough to be read; what each field does is said where one points at it. Of
qgis_process, which prints it and tells the parameters itself: as plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape, unescape

from qgis.core import QgsApplication, QgsProcessingParameterDefinition

from ...core.language import tr
from .parameters import ADVANCED, OPTIONAL
from .understanding import is_blank

_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-zà-ÿ]|[“«])")


COMMAND_LINE = "qgis_process"  # what QGIS calls itself where nobody looks at a window
_BLOCKS = re.compile(r"</?(?:p|h\d|ul|ol|table|pre|div)\b[^>]*>", re.IGNORECASE)
_ITEMS = re.compile(r"<(li|tr)\b[^>]*>", re.IGNORECASE)
_BREAKS = re.compile(r"<br\s*/?>|</(?:td|th)>", re.IGNORECASE)
_TAGS = re.compile(r"</?[a-z][^>]*>", re.IGNORECASE)


def help_of(text: str, definitions: Sequence[QgsProcessingParameterDefinition]) -> str:
    """The help as it is shown here. text : of the form, HTML; definitions : of its parameters"""
    return help_text(text) if QgsApplication.platform() == COMMAND_LINE else help_panel(text, definitions)


def help_text(text: str) -> str:
    """HTML as plain text: a line for each paragraph, row and item, with nothing between them."""
    marked = _BLOCKS.sub("\n", _ITEMS.sub(r"\n- ", text))
    lines = unescape(_TAGS.sub("", _BREAKS.sub(" ", marked))).splitlines()
    return "\n".join(" ".join(line.split()) for line in lines if line.strip())


def help_panel(text: str, definitions: Sequence[QgsProcessingParameterDefinition]) -> str:
    """The text of a form as HTML, what it must be given, what it makes, and where all else is said."""
    inputs = [definition for definition in definitions if _must_be_given(definition)]
    outputs = [definition for definition in definitions if definition.isDestination()]
    rows = [text]
    if inputs:
        rows.append(f"<h3>{tr('Needed')}</h3>")
        rows += [f"<p><b>{escape(p.description())}</b><br>{escape(_first_sentence(p.help()))}</p>" for p in inputs]
    if outputs:
        rows.append(f"<h3>{tr('Outputs')}</h3>")
        rows.append("<ul>" + "".join(f"<li>{escape(p.description())}</li>" for p in outputs) + "</ul>")
    more = tr("Point at a field to read what it does. The button “Help” opens a page with all of them.")
    return "".join([*rows, f"<p>{more}</p>"])


def _must_be_given(definition: QgsProcessingParameterDefinition) -> bool:
    return not (
        definition.isDestination()
        or definition.flags() & (ADVANCED | OPTIONAL)
        or not is_blank(definition.defaultValue())
    )


def _first_sentence(text: str) -> str:
    """What stands before the first full stop that a capital letter follows."""
    return _BETWEEN_SENTENCES.split(text, maxsplit=1)[0]
