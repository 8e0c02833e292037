"""The one small family of errors: each message is a sentence a custodian can act on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Callable, TypeVar

import numpy as np

from .language import plural, tr
from .plain_text import EMPTY, MISSING, value_in_data, value_text

Shown = Callable[[np.ndarray], str]
Counted = Callable[[int], str]  # so many things, as a sentence names them: those of `counted`
Refusal = TypeVar("Refusal", bound="VbasError")


class VbasError(Exception):
    """Anything this library refuses to do; the message says what is wrong and what to do about it."""

    @classmethod
    def saying(cls: type[Refusal], text: str, /, **values: object) -> Refusal:
        """One with this text in the language of the user, as `tr` has it."""
        return cls(tr(text, **values))

    @classmethod
    def counting(cls: type[Refusal], singular: str, many: str, n: float, /, **values: object) -> Refusal:
        """One with the text for so many things, as `plural` has it."""
        return cls(plural(singular, many, n, **values))


class InputError(VbasError):
    """The data or a parameter cannot be used as given."""


class PrivacyError(VbasError):
    """A release would not be k-anonymous; nothing may be published."""


class OutcomeUnknown(VbasError):
    """Whether the last step was carried out cannot be told; the message says where to look."""


class Cancelled(VbasError):
    """The user stopped the work."""


def refuse_where(wrongs: Mapping[str, np.ndarray], field: str, things: Counted, first: Shown, advice: str) -> None:
    """Refuse the values of a field that are wrong in one way or another. Raises InputError for the first such way.

    wrongs : by the word for what is wrong, such as “missing”, (n,) bool; things : what the n are;
    first : the first few of the wrong ones, in words, given which are wrong; advice : what to do
    """
    for word, wrong in wrongs.items():
        if wrong.any():
            raise InputError.saying(
                "{field} is {word} in {things} (first: {first}): {advice}",
                field=field,
                word=word,
                things=things(int(wrong.sum())),
                first=first(wrong),
                advice=advice,
            )


LONGEST_VALUE = 100  # characters of a value that messages show


def first_values(values: Iterable[object], limit: int = 5) -> str:
    """The first few values, quoted and joined, for the end of a message; an ellipsis where there are more."""
    shown = [_quoted(value) for value in islice(values, limit + 1)]
    return ", ".join(shown[:limit]) + (", …" if len(shown) > limit else "")


def _quoted(value: object) -> str:
    """A value in quotation marks, its beginning where it is long; the words for none stand without."""
    text = value_text(value)
    if value_in_data(value) in (EMPTY, MISSING):
        return text
    return in_quotes(text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…")


def in_quotes(text: str) -> str:
    """A text between the quotation marks of the language."""
    return tr("“{value}”", value=text)
