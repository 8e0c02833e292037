"""The one place where what a person reads gets its language: sentences in English are looked up in a catalogue.

A text is marked where it stands, `tr("{n} areas have no people.", n=n)`: the English is the key, and what changes in it
has a name, so that a translator can put it elsewhere. Numbers are written as the language writes them. The catalogues
are in `languages/`; `scripts/translate` keeps them.
"""

from __future__ import annotations

import gettext
import math
import numbers
import re
import string
from collections.abc import Iterable, Mapping
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache
from pathlib import Path

CATALOGUES = Path(__file__).parent / "languages"
ENGLISH = "en"
_DECIMAL = {"fr": ","}  # the decimal sign by language, where it is not the point
# Between groups of three digits. Windows of Qt 5 break lines at a narrow no-break space, so it is the wide one.
_BETWEEN = "\u00a0"
# Spaces of a language at which no line may break, by the sign beside them: a translator's plain ones are made so.
_UNBROKEN = {"fr": re.compile(r" (?=[;:!?»%](?!\w))|(?<=«) ")}
EXACTLY = ".15g"  # how a number reads that nothing else is said of
GROUPED = 10_000  # from here on digits stand in groups of three
# The powers of ten that are written out; beyond them a number reads better as a power.
_WRITTEN_OUT = range(-9, 15)
_FORMATTED = re.compile(r"(?<![\w.])(\d[\d,]*)(\.\d+)?(?:e([+-]\d+))?(?![\w.,]*\d)")
_PER_CENT = re.compile("[ \u00a0]%")  # after a number: it is a share
NOTHING = 1e-9  # less is rounding
_POWERS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+")
_language = ENGLISH
_catalogue: gettext.NullTranslations = gettext.NullTranslations()


def languages() -> tuple[str, ...]:
    """The languages that texts can be read in, by their codes of two letters."""
    return (ENGLISH, *sorted(catalogue.stem for catalogue in CATALOGUES.glob("*.mo")))


def speak(locale: str) -> str:
    """Let texts be in the language of a locale such as `fr_CA`, or in English where there is no catalogue of it.

    Many texts are looked up when the module that holds them is imported, so a program says this before it imports
    others of the package.

    Parameters
    ----------
    locale : str
        A language, with or without a country.

    Returns
    -------
    str
        The language chosen, a code of two letters.

    Examples
    --------
    >>> from vbas.core.language import speak
    >>> speak("fr_CA"), speak("xx"), speak("en")
    ('fr', 'en', 'en')
    """
    global _catalogue, _language
    chosen = locale.replace("-", "_").split("_")[0].lower()
    catalogue = CATALOGUES / f"{chosen}.mo"
    if chosen not in languages() or chosen == ENGLISH:
        chosen, _catalogue = ENGLISH, gettext.NullTranslations()
    else:
        with catalogue.open("rb") as stream:
            _catalogue = gettext.GNUTranslations(stream)
    _language = chosen
    return chosen


def language() -> str:
    """The code of the language that texts are in."""
    return _language


def tr(text: str, /, **values: object) -> str:
    """The text in the language of the user, with these values in its named places, as `str.format` puts them there."""
    return _filled(_unbroken(_catalogue.gettext(text)) if text else text, values)


def plural(singular: str, many: str, n: float, /, **values: object) -> str:
    """The text for one thing or for several, in the language of the user; `n` is the number of things, and a place."""
    return _filled(_unbroken(_catalogue.ngettext(singular, many, math.ceil(n))), {**values, "n": n})


def as_data(text: str, /, **values: object) -> str:
    """The text in English, for data, which are the same in every language; the catalogues hold it for people."""
    return text.format(**values) if values else text


def all_of(texts: Iterable[object]) -> str:
    """Several texts, at least one, as a sentence names them: “one, another and a third”."""
    *first, last = texts
    return tr("{one} and {other}", one=", ".join(map(str, first)), other=last) if first else str(last)


def one_of(texts: Iterable[object]) -> str:
    """Several texts, at least one, of which any will do: “one, another or a third”."""
    *first, last = texts
    return tr("{one} or {other}", one=", ".join(map(str, first)), other=last) if first else str(last)


def in_turn(texts: Iterable[str]) -> str:
    """Several texts one after the other, apart from each other: “one; another; a third”."""
    return tr("; ").join(texts)


def written(number: str) -> str:
    """A number as people write it in their language, of a text in which Python formatted it: the one place that knows
    how thousands and decimals look. “1.4e+03” is 1400, and 12345 has its digits in groups."""
    return _FORMATTED.sub(_for_people, number)


def _for_people(match: re.Match[str]) -> str:
    whole, fraction, power = match[1].replace(",", ""), match[2] or "", match[3]
    if power is not None and int(power) in _WRITTEN_OUT:
        whole, _, rest = f"{Decimal(match[0].replace(',', '')):f}".partition(".")
        fraction = f".{rest}" if rest else ""
    if len(whole) >= len(str(GROUPED)):
        whole = f"{int(whole):,}".replace(",", _BETWEEN)
    digits = whole + fraction.replace(".", _DECIMAL.get(_language, "."))
    if power is None or int(power) in _WRITTEN_OUT:
        return digits
    return f"{digits} × 10{str(int(power)).translate(_POWERS)}"


def _unbroken(text: str) -> str:
    spaces = _UNBROKEN.get(_language)
    return text if spaces is None else spaces.sub(_BETWEEN, text)


def _filled(text: str, values: Mapping[str, object]) -> str:
    if not values:
        return text
    places = _places(text)
    if places is None:
        return _NUMBERS.vformat(text, (), values)
    parts = []
    for (before, name, wanted), (after, *_) in zip(places, (*places[1:], ("",))):
        parts.append(before)
        if name is not None:
            value = values[name]
            shown_as = share_format(value, wanted) if _PER_CENT.match(after or "") else wanted
            parts.append(_NUMBERS.format_field(value, shown_as))
    return "".join(parts)


def share_format(value: object, wanted: str) -> str:
    """A format of per cent that makes no 0 of some and no 100 of less than all: `wanted` where it does not."""
    if not (isinstance(value, float) and NOTHING < value < 100 - NOTHING and wanted):
        return wanted
    formats = (wanted, *(f".{decimals}f" for decimals in range(1, 10)))
    return next(each for each in formats if float(format(value, each).replace(",", "")) not in (0, 100))


@lru_cache(maxsize=10_000)  # a form has hundreds of texts, which are looked up again whenever QGIS asks for it
def _places(text: str) -> tuple[tuple[str, str | None, str], ...] | None:
    """What stands before each place of a text, its name (None after the last) and its format; None where a place is
    more than a name and a format, which `string.Formatter` understands."""
    places = tuple((before, name, wanted or "") for before, name, wanted, _ in _NUMBERS.parse(text))
    plain = all(name is None or (name.isidentifier() and "{" not in wanted) for _, name, wanted in places)
    converted = any(conversion for *_, conversion in _NUMBERS.parse(text))
    return places if plain and not converted else None


def rounded_up(value: float, digits: int = 3) -> float:
    """A positive number to so many digits, and never less than it is: for what is enough, or more than a limit."""
    exact = Decimal(f"{value:.9f}")
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), ROUND_CEILING)) if exact else 0.0


class _Numbers(string.Formatter):
    """Formats numbers as people write them; “:d” leaves those that count nothing, such as a line, as they are."""

    def format_field(self, value: object, format_spec: str) -> str:
        if isinstance(value, float) and not format_spec:
            format_spec = EXACTLY
        shown = str(super().format_field(value, format_spec))
        return written(shown) if isinstance(value, numbers.Number) and format_spec != "d" else shown


_NUMBERS = _Numbers()
