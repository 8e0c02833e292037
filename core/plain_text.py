"""How a value is written as text: in messages, in reports, and wherever values are compared as text."""

from __future__ import annotations

from functools import singledispatch


@singledispatch
def plain_text(value: object) -> str:
    """The value as text. Whoever brings values of other kinds, such as the dates of QGIS, registers how they read."""
    return str(value)
