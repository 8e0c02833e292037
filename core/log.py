"""Where long work says what a person should know as it goes: core never prints."""

from __future__ import annotations

from typing import Protocol


class Log(Protocol):
    """Sentences for whoever runs the work, in the order in which they are found."""

    def info(self, *sentences: str) -> None:
        """What was done."""

    def warn(self, *sentences: str) -> None:
        """What a person has to look at."""


class Quiet:
    """A log that nobody reads."""

    def info(self, *sentences: str) -> None:
        """Say nothing."""

    def warn(self, *sentences: str) -> None:
        """Say nothing."""


QUIET = Quiet()
