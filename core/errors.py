"""The one small family of errors: each message is a sentence a custodian can act on."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice


class VbasError(Exception):
    """Anything this library refuses to do; the message says what is wrong and what to do about it."""


class InputError(VbasError):
    """The data or a parameter cannot be used as given."""


class PrivacyError(VbasError):
    """A release would not be k-anonymous; nothing may be published."""


class Cancelled(VbasError):
    """The user stopped the work."""


def first_values(values: Iterable[object], limit: int = 5) -> str:
    """The first few values, quoted and joined, for the end of a message; an ellipsis where there are more."""
    shown = [f"“{value}”" for value in islice(values, limit + 1)]
    return ", ".join(shown[:limit]) + (", …" if len(shown) > limit else "")
