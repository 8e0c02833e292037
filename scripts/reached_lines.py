"""A plugin of pytest: which tests run which lines of some rooms, so that a break of a line is held against those alone.

Wants two environment variables: REACHED_LINES_OF, the folders whose lines count, and REACHED_LINES_TO, the file that is
written, {"whole": whether the run came to its end, "tests": [[id, seconds], …], "lines": {file: {line: [places in
tests]}}}. What a fixture of a module runs belongs to the test that asked for it first. With REACHED_LINES_SECONDS a
test that takes more of the processor is ended, and left out: a break is to be held against tests that cost little.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Callable

import pytest

ROOT = Path(__file__).resolve().parents[1]
EVERY = 50  # tests, after which is written what is known: a run may be ended before its end

SECONDS = float(os.environ.get("REACHED_LINES_SECONDS", "0"))

Tracer = Callable[[FrameType, str, Any], Any]


class TooDear(BaseException):
    """A test takes longer than it may; no test may take this for an error that it waits for."""


def _end_it(signal_number: int, frame: FrameType | None) -> None:
    raise TooDear


class Reached:
    """The lines that the test which runs now has reached, and those of all tests before."""

    def __init__(self, folders: list[str], to: Path) -> None:
        self.folders = tuple(f"{os.sep}{folder}{os.sep}" for folder in folders)
        self.to = to
        self.tests: list[tuple[str, float]] = []
        self.lines: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._now: set[tuple[str, int]] = set()
        self._file_of: dict[CodeType, str] = {}
        self._lines_of: dict[CodeType, frozenset[int]] = {}
        self._left_of: dict[CodeType, set[int]] = {}  # what of a function the test that runs now has not reached yet

    def traced(self, frame: FrameType, event: str, argument: Any) -> Tracer | None:
        """What Python calls as a function begins: lines are noted in the rooms alone."""
        file = self._file(frame.f_code)
        if not file:
            return None
        left = self._left(frame.f_code)
        if not left:
            return None
        self._now.add((file, frame.f_lineno))
        left.discard(frame.f_lineno)

        def note(inner: FrameType, what: str, value: Any) -> Tracer:
            if what == "line":
                self._now.add((file, inner.f_lineno))
                left.discard(inner.f_lineno)
            return note

        return note

    def _left(self, code: CodeType) -> set[int]:
        if code not in self._left_of:
            if code not in self._lines_of:
                self._lines_of[code] = frozenset(line for _, _, line in code.co_lines() if line)
            self._left_of[code] = set(self._lines_of[code])
        return self._left_of[code]

    def _file(self, code: CodeType) -> str:
        known = self._file_of.get(code)
        if known is None:
            path = code.co_filename
            here = next((path.index(folder) + 1 for folder in self.folders if folder in path), None)
            known = self._file_of[code] = "" if here is None else path[here:]
        return known

    def ended(self, test: str, seconds: float) -> None:
        """Keep what the test reached."""
        if not SECONDS or seconds < SECONDS:
            self.tests.append((test, round(seconds, 3)))
            for file, line in self._now:
                self.lines[file][line].append(len(self.tests) - 1)
        self._now.clear()
        self._left_of.clear()
        if len(self.tests) % EVERY == 0:
            self.write()

    def write(self, whole: bool = False) -> None:
        """Write what is known."""
        known = {"whole": whole, "tests": self.tests, "lines": self.lines}
        self.to.write_text(json.dumps(known), encoding="utf-8")


REACHED = Reached(os.environ.get("REACHED_LINES_OF", "").split(), Path(os.environ.get("REACHED_LINES_TO", os.devnull)))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, None, None]:
    """Trace one test with its fixtures."""
    began = time.process_time()
    if SECONDS:
        signal.signal(signal.SIGPROF, _end_it)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
    threading.settrace(REACHED.traced)
    sys.settrace(REACHED.traced)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    sys.settrace(None)
    threading.settrace(None)
    REACHED.ended(item.nodeid, time.process_time() - began)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Write all of it, and whether that is all: a run may be ended by hand, or after a test that failed."""
    to_its_end = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    REACHED.write(whole=to_its_end and not (session.shouldstop or session.shouldfail))
