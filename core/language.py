"""The one place where what a person reads gets its language: sentences in English are looked up in a catalogue.

A text is marked where it stands, `tr("{n} areas have no people.", n=n)`: the English is the key, and what changes in it
has a name, so that a translator can put it elsewhere. Numbers are written as the language writes them.
"""

from __future__ import annotations

import gettext
import numbers
import string

_catalogue = gettext.NullTranslations()


def tr(text: str, /, **values: object) -> str:
    """The text in the language of the user, with these values in its named places, as `str.format` puts them there."""
    return _filled(_catalogue.gettext(text), values)


def plural(one: str, many: str, n: int, /, **values: object) -> str:
    """The text for one thing or for several, in the language of the user; `n` is the number of things, and a place."""
    return _filled(_catalogue.ngettext(one, many, n), {"n": n, **values})


def _filled(text: str, values: dict[str, object]) -> str:
    return _NUMBERS.vformat(text, (), values) if values else text


class _Numbers(string.Formatter):
    """Formats numbers with the decimal sign and the thousands sign of the language."""

    signs: dict[int, str] = {}

    def format_field(self, value: object, format_spec: str) -> str:
        shown = str(super().format_field(value, format_spec))
        return shown.translate(self.signs) if isinstance(value, numbers.Number) else shown


_NUMBERS = _Numbers()
