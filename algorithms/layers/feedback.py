"""QGIS's feedback as core's progress, and a log that does not tell the passwords and tokens that a run was given."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from qgis.core import (
    QgsMapLayer,
    QgsProcessingContext,
    QgsProcessingFeatureSourceDefinition,
    QgsProcessingFeedback,
    QgsProcessingOutputLayerDefinition,
    QgsProject,
    QgsProperty,
)

from ...core.dataclass import dataclass
from ...core.errors import Cancelled
from ...core.progress import Progress
from ...core.secrecy import holds_secret, without_secrets

# Where reading the records ends on the bar, in per cent; the methods go on from there.
READ = 20.0


def check_cancelled(feedback: QgsProcessingFeedback) -> None:
    """Raise Cancelled once the user has pressed Cancel."""
    if feedback.isCanceled():
        raise Cancelled.saying("Cancelled: nothing was written.")


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


def addresses_in(parameters: Mapping[str, object], context: QgsProcessingContext) -> tuple[str, ...]:
    """The addresses with a secret among the values of parameters, and of the layers that these name."""
    project = context.project() or QgsProject.instance()
    texts = []
    for value in parameters.values():
        for text in texts_in(value):
            layers = [project.mapLayer(text), *project.mapLayersByName(text)]
            texts += [text, *(layer.source() for layer in layers if layer is not None)]
    return tuple(address for address in dict.fromkeys(texts) if holds_secret(address))


def texts_in(value: object) -> Iterator[str]:
    """What stands in the value of a parameter; the source of a layer."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, QgsMapLayer):
        yield value.source()
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, QgsProcessingFeatureSourceDefinition):
        yield from texts_in(value.source)
    elif isinstance(value, QgsProcessingOutputLayerDefinition):
        yield from texts_in(value.sink)
    elif isinstance(value, QgsProperty):
        yield from texts_in(value.staticValue())


@dataclass(frozen=True)
class FeedbackLog:
    """QGIS's feedback as core's log (`core.log.Log`)."""

    feedback: QgsProcessingFeedback

    def info(self, *sentences: str) -> None:
        """Lines for the log."""
        for sentence in sentences:
            self.feedback.pushInfo(sentence)

    def warn(self, *sentences: str) -> None:
        """Warnings for the log."""
        for sentence in sentences:
            self.feedback.pushWarning(sentence)


class DiscreetFeedback(QgsProcessingFeedback):
    """QGIS's feedback of a run, through which no secret of these addresses gets into a log."""

    def __init__(self, feedback: QgsProcessingFeedback, addresses: tuple[str, ...]) -> None:
        super().__init__(False)
        self._feedback, self._addresses = feedback, addresses

    def _discreet(self, text: str) -> str:
        return without_secrets(text, *self._addresses)

    def pushInfo(self, info: str) -> None:
        self._feedback.pushInfo(self._discreet(info))

    def pushWarning(self, warning: str) -> None:
        self._feedback.pushWarning(self._discreet(warning))

    def reportError(self, error: str, fatalError: bool = False) -> None:
        self._feedback.reportError(self._discreet(error), fatalError)

    def pushCommandInfo(self, info: str) -> None:
        self._feedback.pushCommandInfo(self._discreet(info))

    def pushDebugInfo(self, info: str) -> None:
        self._feedback.pushDebugInfo(self._discreet(info))

    def pushConsoleInfo(self, info: str) -> None:
        self._feedback.pushConsoleInfo(self._discreet(info))

    def setProgressText(self, text: str) -> None:
        self._feedback.setProgressText(self._discreet(text))

    def setProgress(self, progress: float) -> None:
        self._feedback.setProgress(progress)

    def progress(self) -> float:
        return self._feedback.progress()

    def isCanceled(self) -> bool:
        return self._feedback.isCanceled()

    def cancel(self) -> None:
        self._feedback.cancel()


class GoingOn(DiscreetFeedback):
    """The feedback of a run that writes what there is though its user has cancelled: the log still hears where."""

    def isCanceled(self) -> bool:
        return False
