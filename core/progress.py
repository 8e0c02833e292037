"""How long-running work reports progress: one callable that takes the fraction done and raises to cancel."""

from __future__ import annotations

from typing import Callable

Progress = Callable[[float], None]


def silent(fraction: float) -> None:
    """Report to nobody and never cancel."""


def part(progress: Progress, start: float, stop: float) -> Progress:
    """The progress of a step that covers the stretch from `start` to `stop` of the whole."""

    def report(fraction: float) -> None:
        progress(start + (stop - start) * min(max(fraction, 0.0), 1.0))

    return report
