"""Work behind the window: one job at a time, which can be cancelled, and which says how far it is."""

from __future__ import annotations

import threading
from typing import Any, Callable, TypeVar

from qgis.core import Qgis, QgsApplication, QgsMessageLog, QgsProcessingException, QgsProcessingFeedback, QgsTask
from qgis.PyQt.QtCore import QObject, pyqtSignal

from ...algorithms.form.refusals import fault_of_the_program
from ...algorithms.layers.leaving import LONGEST_WAIT
from ...core.dataclass import dataclass
from ...core.errors import Cancelled, VbasError
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


@dataclass(frozen=True, eq=False)
class Asked:
    """What a worker is asked for.

    done : called with the result and the warnings; failed : with the error, also where the user cancelled; reported :
    with each thing that the work tells meanwhile
    """

    title: str
    work: Work
    done: Callable[[Any, list[str]], None]
    failed: Callable[[Exception], None]
    reported: Callable[[Any], None] | None = None


class Job(QgsTask):
    """One piece of work. `work(job)` runs in a thread of its own; it may `tell` what it finds meanwhile.

    QGIS deletes a task that is cancelled before it begins, though a thread may be just about to begin it: that would be
    the end of QGIS. So one that has not begun is marked alone, and ends as soon as it begins.
    """

    reported = pyqtSignal(object)

    def __init__(self, asked: Asked, finished_by: Callable[[Job], None]) -> None:
        super().__init__(asked.title, QgsTask.Flag.CanCancel)
        self.feedback = Said()
        self.feedback.progressChanged.connect(self.setProgress)
        self.asked: Asked | None = asked
        self.begun, self.ended = False, threading.Event()
        self.result: Any = None  # what its work gives
        self.error: Exception | None = None
        self._finished_by = finished_by

    @property
    def cancelled(self) -> bool:
        """Whether it was, at whatever time."""
        return self.feedback.isCanceled()

    def progress(self, fraction: float) -> None:
        """What the methods report to; raises Cancelled once the job is cancelled."""
        if self.cancelled:
            raise Cancelled.saying("Cancelled.")
        self.feedback.setProgress(100.0 * fraction)

    def run(self) -> bool:
        """Called by QGIS in another thread."""
        self.begun = True
        try:
            self.progress(0.0)
            self.result = None if self.asked is None else self.asked.work(self)
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
        if self.begun:
            super().cancel()
        else:
            self.ended.set()

    def finished(self, successful: bool) -> None:
        """Called by QGIS in the thread of the window, where everything that QGIS owns has to be let go of."""
        self.ended.set()
        self._finished_by(self)
        self.asked = self.result = self.error = None


class Worker(QObject):
    """Runs what it was asked for last. progressed : per cent of it; changed : whether anything is asked for.

    QGIS has one job of it at a time: of many that wait at once it forgets some.
    """

    changed = pyqtSignal()
    progressed = pyqtSignal(float)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._asked: Asked | None = None
        self._job: Job | None = None  # QGIS owns it, Python must not forget it before it ends

    @property
    def busy(self) -> bool:
        """Whether anything is asked for that has not ended."""
        return self._asked is not None

    def start(
        self,
        title: str,
        work: Callable[[Job], Result],
        done: Callable[[Result, list[str]], None],
        failed: Callable[[Exception], None],
        reported: Callable[[Any], None] | None = None,
    ) -> None:
        """Ask for something in place of what runs, of which nothing is heard any more; see `Asked`."""
        self._let_go()
        self._asked = Asked(title, work, done, failed, reported)
        self.changed.emit()
        self._begin()

    def cancel(self) -> None:
        """Stop what runs; `failed` hears of it."""
        asked, job = self._asked, self._job
        if asked is None:
            return
        if job is not None:
            job.cancel()
        if job is None or job.asked is not asked or not job.begun:
            self._answer(lambda: asked.failed(Cancelled.saying("Cancelled.")))

    def stop(self) -> None:
        """Stop whatever runs and wait until it has, so that what it reads may go away; nobody hears of it."""
        self._let_go()
        if self._job is not None:
            self._job.ended.wait(LONGEST_WAIT)
        self.changed.emit()

    def _let_go(self) -> None:
        self._asked = None
        if self._job is not None:
            self._job.cancel()

    def _begin(self) -> None:
        """Have QGIS run what is asked for, once the job before has ended."""
        asked = self._asked
        if self._job is not None or asked is None:
            return
        job = Job(asked, self._end)
        job.progressChanged.connect(lambda percent: self.progressed.emit(percent) if asked is self._asked else None)
        if (reported := asked.reported) is not None:
            job.reported.connect(lambda result: reported(result) if asked is self._asked else None)
        self._job = job
        QgsApplication.taskManager().addTask(job)

    def _end(self, job: Job) -> None:
        self._job, asked = None, job.asked
        if asked is not None and asked is self._asked:
            if job.cancelled:
                self._answer(lambda: asked.failed(Cancelled.saying("Cancelled.")))
            elif (error := job.error) is not None:
                self._answer(lambda: asked.failed(error))
            else:
                self._answer(lambda: asked.done(job.result, job.feedback.warnings))
        self._begin()

    def _answer(self, callback: Callable[[], None]) -> None:
        self._asked = None
        self.changed.emit()
        callback()
