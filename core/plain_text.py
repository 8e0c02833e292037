"""How a value is written as text: in messages, in reports, and wherever values are compared as text."""

from __future__ import annotations

import unicodedata
from functools import singledispatch

from .language import as_data, tr

# Control characters, marks that turn the direction of writing, halves of characters: nobody sees them.
UNSEEN = ("Cc", "Cf", "Cs")


@singledispatch
def plain_text(value: object) -> str:
    """The value as text. Whoever brings values of other kinds, such as the dates of QGIS, registers how they read."""
    return str(value)


MISSING = as_data("(missing)")
EMPTY = as_data("(no value)")


def value_in_data(value: object) -> str:
    """A value as tables of ours name it, in every language: one that is missing, or an empty text, has a word."""
    text = MISSING if value is None else plain_text(value)
    return text if text.strip() else EMPTY


def value_text(value: object) -> str:
    """A value as people read it, wherever one is printed: none prints as nothing."""
    text = value_in_data(value)
    return tr(text) if text in (MISSING, EMPTY) else text


def visible(text: str) -> str:
    """A text in one line, each character that cannot be seen replaced by “�”: QGIS ends texts at the first NUL."""
    if text.isprintable():
        return text
    return "".join(" " if mark in "\n\r\t" else "�" if unicodedata.category(mark) in UNSEEN else mark for mark in text)
