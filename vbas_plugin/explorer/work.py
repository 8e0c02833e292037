"""Work behind the window: one job at a time, which can be cancelled, and which says how far it is."""

from __future__ import annotations

import threading
from typing import Any, Callable, TypeVar

from qgis.core import (
    Qgis,
    QgsApplication,
    QgsMessageLog,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsTask,
)
from qgis.PyQt.QtCore import QObject, pyqtSignal

from ...algorithms.form.refusals import fault_of_the_program
from ...algorithms.layers.leaving import LONGEST_WAIT
from ...core.errors import Cancelled, VbasError
from ...core.language import tr
from ...core.secrecy import without_secrets

Work = Callable[["Job"], object]
Result = TypeVar("Result")


class Said(QgsProcessingFeedback):
    """Keeps what a job says."""

    def __init__(self) -> None:
        super().__init__(False)
        self.warnings: list[str] = []
        self.lines: list[str] = []

    def pushWarning(self, warning: str) -> None:
        """Called by whatever reads."""
        self.warnings.append(without_secrets(warning))

    def pushInfo(self, info: str) -> None:
        """Called by whatever reads."""
        self.lines.append(without_secrets(info))


class Job(QgsTask):
    """One piece of work. `work(job)` runs in a thread of its own; it may `tell` what it finds meanwhile.

    after : the job before, which has to have ended: both may use the same things
    """

    reported = pyqtSignal(object)

    def __init__(self, title: str, work: Work, after: Job | None) -> None:
        super().__init__(title, QgsTask.Flag.CanCancel)
        self.feedback = Said()
        self.feedback.progressChanged.connect(self.setProgress)
        self.ended = threading.Event()
        self.finished_by: Callable[[Job], None] = lambda job: None
        self.result: Any = None  # what its work gives
        self.error: Exception | None = None
        self._work: Work | None = work
        self._after, self._started = after, False

    def progress(self, fraction: float) -> None:
        """What the methods report to; raises Cancelled once the job is cancelled."""
        if self.isCanceled():
            raise Cancelled(tr("Cancelled."))
        self.feedback.setProgress(100.0 * fraction)

    def run(self) -> bool:
        """Called by QGIS in another thread."""
        self._started = True
        try:
            if self._after is not None:
                self._after.ended.wait()
            self.progress(0.0)
            self.result = None if self._work is None else self._work(self)
        except (VbasError, QgsProcessingException, MemoryError) as error:
            # The frames of an exception hold the records, and who keeps it keeps them.
            error.__context__ = error.__cause__ = None
            self.error = error.with_traceback(None)
            return False
        except Exception as error:
            self.error = VbasError(fault_of_the_program(error, False, self.feedback))
            QgsMessageLog.logMessage("\n".join(self.feedback.lines), "VBAS", Qgis.MessageLevel.Warning)
            return False
        finally:
            self.ended.set()
        return True

    def cancel(self) -> None:
        """Called by the dock, and by the list of tasks of QGIS."""
        self.feedback.cancel()
        super().cancel()
        if not self._started:
            self.ended.set()

    def finished(self, successful: bool) -> None:
        """Called by QGIS in the thread of the window, where everything that QGIS owns has to be let go of."""
        self.ended.set()
        self.finished_by(self)
        self._after = self._work = self.result = self.error = None


class Worker(QObject):
    """Runs jobs, the last one asked for. progressed : per cent of it; changed : whether one is running."""

    changed = pyqtSignal()
    progressed = pyqtSignal(float)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._job: Job | None = None
        self._kept: list[Job] = []  # QGIS owns them, Python must not forget them before they end

    @property
    def busy(self) -> bool:
        """Whether a job is running."""
        return self._job is not None

    def start(
        self,
        title: str,
        work: Callable[[Job], Result],
        done: Callable[[Result, list[str]], None],
        failed: Callable[[Exception], None],
        reported: Callable[[Any], None] | None = None,
    ) -> None:
        """Start a job in place of the one that runs, of which nothing is heard any more.

        done : called with the result and the warnings; failed : with the error, also where the user cancelled;
        reported : with each thing that the work tells meanwhile
        """
        before = self._let_go()
        job = Job(title, work, before)

        def end(ended: Job) -> None:
            if ended in self._kept:
                self._kept.remove(ended)
            if ended is not self._job:
                return
            self._job = None
            self.changed.emit()
            if ended.isCanceled():
                failed(Cancelled(tr("Cancelled.")))
            elif ended.error is not None:
                failed(ended.error)
            else:
                done(ended.result, ended.feedback.warnings)

        job.finished_by = end
        job.progressChanged.connect(lambda percent: self.progressed.emit(percent) if job is self._job else None)
        if reported is not None:
            job.reported.connect(lambda result: reported(result) if job is self._job else None)
        self._job = job
        self._kept.append(job)
        self.changed.emit()
        QgsApplication.taskManager().addTask(job)

    def cancel(self) -> None:
        """Stop the job that runs; `failed` hears of it."""
        if self._job is not None:
            self._job.cancel()

    def stop(self) -> None:
        """Stop whatever runs and wait until it has, so that what it reads may go away; nobody hears of it."""
        self._let_go()
        for job in list(self._kept):
            job.ended.wait(LONGEST_WAIT)
        self.changed.emit()

    def _let_go(self) -> Job | None:
        before, self._job = self._job, None
        if before is not None:
            before.cancel()
        return self._kept[-1] if self._kept else None
