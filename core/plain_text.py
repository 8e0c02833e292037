"""How a value is written as text: in messages, in reports, and wherever values are compared as text."""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Sequence
from functools import singledispatch

import numpy as np

from .arrays import to_list
from .language import as_data, tr

# Control characters, marks that turn the direction of writing, halves of characters: nobody sees them.
UNSEEN = ("Cc", "Cf", "Cs")
_WHOLE = re.compile(r"\+?(-?)0*([0-9]+?)(\.0+)?")
_MOMENT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[t ]([0-9]{2}:[0-9]{2})(:[0-9]{2})?(\.[0-9]+)?(z|\+00(:?00)?)?")


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


def without_writing(text: str) -> str:
    """A value without what is only writing: letters' case, blanks around and between, zeros in front of a number, and
    of a moment the T before its hour, seconds that are 0 and how UTC is named."""
    words = " ".join(unicodedata.normalize("NFKC", text).split()).casefold()
    number, moment = _WHOLE.fullmatch(words), _MOMENT.fullmatch(words)
    if moment is not None:
        day, minute, second, fraction, zone, _ = moment.groups()
        return f"{day} {minute}{second or ':00'}{(fraction or '').rstrip('.0')}{'+00:00' if zone else ''}"
    return words if number is None else number[1] + number[2]


def in_one_line(text: str) -> str:
    """What somebody wrote, as it is kept and shown: visible, without blanks at its ends or several together."""
    return visible(" ".join(text.split()))


NEVER_MISSING = {str, bytes, bool, int}


def is_missing(value: object) -> bool:
    """Whether a value is none: None, or one that does not equal itself, as NaN and NaT, or says that nobody knows, as
    pandas' NA."""
    if value is None:
        return True
    if type(value) in NEVER_MISSING:
        return False
    if isinstance(value, np.bool_):  # False is what NA is, too: the answer itself
        return False
    unequal: object = value != value
    return unequal is value or unequal is True or (isinstance(unequal, np.bool_) and bool(unequal))


def names_nobody(value: object) -> bool:
    """Whether a value is no identifier: missing, or of blanks alone, as a CSV file has it where one is missing."""
    return not value.strip() if isinstance(value, str) else is_missing(value)


def with_none(values: Sequence[object] | np.ndarray) -> list[object]:
    """The values as a list, None in place of whatever is missing."""
    listed: list[object] = list(values)
    if set(map(type, listed)) <= {*NEVER_MISSING, type(None)}:
        return listed
    array = np.fromiter(listed, dtype=object, count=len(listed))
    unequal = np.not_equal(array, array, dtype=object)
    # pandas' NA says NA of whatever it is compared with, which is neither true nor false.
    itself = np.fromiter(map(operator.is_, unequal.tolist(), listed), bool, len(listed))
    truth = np.fromiter((isinstance(value, (bool, np.bool_)) for value in listed), bool, len(listed))
    unknown = itself & ~truth  # that False does not equal itself is False, too
    unequal[unknown] = True
    array[unequal.astype(bool)] = None
    return to_list(array)
