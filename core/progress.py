"""How long-running work reports progress: one callable that takes the fraction done and raises to cancel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Callable

Progress = Callable[[float], None]


def silent(fraction: float) -> None:
    """Report to nobody and never cancel."""


def part(progress: Progress, start: float, stop: float) -> Progress:
    """The progress of a step that covers the stretch from `start` to `stop` of the whole."""

    def report(fraction: float) -> None:
        progress(start + (stop - start) * min(max(fraction, 0.0), 1.0))

    return report


def rising(progress: Progress) -> Progress:
    """The same progress, which never goes back: of work that begins anew, nobody knows how often."""
    most = 0.0

    def report(fraction: float) -> None:
        nonlocal most
        most = max(most, fraction)
        progress(most)

    return report


def halves(progress: Progress) -> Iterator[Progress]:
    """The progress of turns of which nobody knows how many come: each covers half of what is left."""
    start = 0.0
    while True:
        stop = (start + 1.0) / 2.0
        yield part(progress, start, stop)
        start = stop
