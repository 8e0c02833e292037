"""k, the size of the smallest class that is released: its default and its smallest useful value."""

from __future__ import annotations

from .errors import InputError
from .language import tr

DEFAULT_K = 5
SMALLEST_K = 2  # with k = 1 every record could be released as it is


def check_k(k: int) -> None:
    """Refuse a k that hides nobody. Raises InputError unless k is a whole number of at least 2."""
    if not k >= SMALLEST_K or k != int(k):
        raise InputError(
            tr(
                "K is {k}: choose a whole number of at least {smallest_k}; with K = 1 nobody would be hidden.",
                k=k,
                smallest_k=SMALLEST_K,
            )
        )
