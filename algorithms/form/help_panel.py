"""The help beside a form: short enough to be read; what each field does is said where one points at it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from qgis.core import QgsProcessingParameterDefinition

from ...core.language import tr
from .parameters import ADVANCED, OPTIONAL
from .understanding import is_blank

_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-zà-ÿ]|[“«])")


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
