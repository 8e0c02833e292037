"""QGIS's feedback as core's progress."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from qgis.core import QgsProcessingFeedback

from ...core.errors import Cancelled
from ...core.language import tr
from ...core.progress import Progress

# Where reading the records ends on the bar, in per cent; the methods go on from there.
READ = 20.0


def check_cancelled(feedback: QgsProcessingFeedback) -> None:
    """Raise Cancelled once the user has pressed Cancel."""
    if feedback.isCanceled():
        raise Cancelled(tr("Cancelled: nothing was written."))


def progress_of(feedback: QgsProcessingFeedback, start: float = READ, stop: float = 100.0) -> Progress:
    """A progress callable that covers the stretch from start to stop (per cent) of the bar, and raises to cancel."""

    def report(fraction: float) -> None:
        check_cancelled(feedback)
        feedback.setProgress(start + (stop - start) * fraction)

    return report


@contextmanager
def cancelled_by_signals(feedback: QgsProcessingFeedback) -> Iterator[None]:
    """Let Ctrl-C and a polite kill cancel a headless run, as the Cancel button does in a window.

    Python would raise KeyboardInterrupt wherever it stands, often in a callback of Qt that swallows it; a kill would
    leave the staging folder behind. In a window the algorithm runs in a thread of its own, where signals do not arrive.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, lambda *_: feedback.cancel())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
