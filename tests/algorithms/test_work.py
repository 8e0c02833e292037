"""Work behind the window: the last that was asked for is done, whatever threads there are, and QGIS outlives it."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import pytest
from qgis.core import QgsApplication, QgsTask
from qgis.PyQt.QtCore import QCoreApplication, QEvent, QRunnable, QThreadPool

from vbas.core.errors import Cancelled
from vbas.vbas_plugin.explorer.work import Worker

from .explorer_window import wait_for


class Waiting(QRunnable):
    def __init__(self, until):
        super().__init__()
        self.until, self.begun = until, threading.Event()

    def run(self):
        self.begun.set()
        self.until.wait()


def threads():
    """Those that QGIS has for tasks: all that there are, or since 3.40 some of its own."""
    manager = QgsApplication.taskManager()
    return manager.threadPool() if hasattr(manager, "threadPool") else QThreadPool.globalInstance()


@contextmanager
def no_thread_free():
    """All of them wait."""
    pool, until = threads(), threading.Event()
    waiting = [Waiting(until) for _ in range(pool.maxThreadCount())]
    for each in waiting:
        each.setAutoDelete(False)
        pool.start(each, 1_000)
    for each in waiting:
        assert each.begun.wait(10)
    try:
        yield
    finally:
        until.set()
        pool.waitForDone(10_000)


def tasks():
    return [task for task in QgsApplication.taskManager().tasks() if task.description().startswith("work ")]


@pytest.fixture
def worker(provider):
    made = Worker()
    yield made
    made.stop()
    wait_for(lambda: not tasks())


def asked(worker, name, work=lambda job: None):
    """Ask for some work; what is heard of it."""
    heard = []
    worker.start(f"work {name}", work, lambda result, _: heard.append(result), heard.append)
    return heard


def noting(order, name):
    """Work that notes that it was done."""

    def work(job):
        order.append(name)
        return "done"

    return work


def test_what_is_cancelled_before_it_begins_stays_with_qgis_until_it_has_begun(worker):
    ran: list[str] = []
    with no_thread_free():
        first = asked(worker, "first", noting(ran, "first"))
        second = asked(worker, "second", noting(ran, "second"))
        third = asked(worker, "third", noting(ran, "third"))
        (task,) = (
            tasks()
        )  # QGIS forgets some of many that wait, and ends where it lets go of one that is about to begin
        assert task.status() == QgsTask.TaskStatus.Queued and task.description() == "work first"
    wait_for(lambda: third)
    assert (ran, first, second, third) == (["third"], [], [], ["done"])


def test_who_cancels_what_has_not_begun_hears_of_it_at_once(worker):
    ran: list[str] = []
    with no_thread_free():
        first = asked(worker, "first", noting(ran, "first"))
        worker.cancel()
        assert not worker.busy and [type(error) for error in first] == [Cancelled]
        second = asked(worker, "second")
        worker.cancel()
        assert not worker.busy and [type(error) for error in second] == [Cancelled]
        worker.cancel()
    wait_for(lambda: not tasks())
    assert not ran and len(first) == len(second) == 1


def test_who_stops_what_has_not_begun_does_not_wait(worker):
    with no_thread_free():
        heard = asked(worker, "first")
        worker.stop()
        assert not worker.busy
    wait_for(lambda: not tasks())
    assert not heard


def test_what_runs_is_waited_for_before_the_next_begins(worker):
    begun, order = threading.Event(), []

    def long(job):
        begun.set()
        try:
            while True:
                job.progress(0.5)
        finally:
            order.append("first ends")

    first = asked(worker, "first", long)
    assert begun.wait(10)
    second = asked(worker, "second", noting(order, "second"))
    wait_for(lambda: second)
    assert (order, first, second) == (["first ends", "second"], [], ["done"])


def test_what_is_asked_again_and_again_is_done_in_the_end(worker):
    """With a new thread for each task, which takes a while to begin, and all that is left for later deleted at once."""
    pool = threads()
    before = pool.expiryTimeout()
    pool.setExpiryTimeout(0)
    try:
        for turn in range(300):
            for _ in range(turn % 5):
                asked(worker, "in vain", lambda job: [job.progress(0.1) for _ in range(3)])
            if turn % 3:
                QCoreApplication.processEvents()
                QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            if turn % 7 == 0:
                heard = asked(worker, "last", lambda job, turn=turn: turn)
                wait_for(lambda heard=heard: heard)
                assert heard == [turn]
    finally:
        pool.setExpiryTimeout(before)


def test_what_fails_is_told_and_the_next_begins(worker):
    def fails(job):
        raise ValueError("no sentence of ours")

    failed = asked(worker, "first", fails)
    wait_for(lambda: failed)
    assert "fault of VBAS" in str(failed[0])
    done = asked(worker, "second", lambda job: 2)
    wait_for(lambda: done)
    assert done == [2]
