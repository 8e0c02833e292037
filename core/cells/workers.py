"""Restarts in processes of their own, without harm to the program that asks for them.

Inside QGIS, Python's multiprocessing would start a second QGIS on Windows and macOS, and copy a running one on Linux.
So a plain Python is looked for and given the work over pipes; where there is none, the work is done here.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess  # nosec B404
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

from ..progress import Progress
from .solving import Problem, Solved, Task
from .worker import packed_problem, solved_from

ASK_SECONDS = 0.1
PATIENCE_SECONDS = 30.0
# Importing by name needs nothing of how this package is installed.
START = "import importlib, sys; importlib.import_module(sys.argv[1]).main()"


def python_program() -> str | None:
    """A Python that is not QGIS itself: the one this runs in, or the one that came with QGIS; None if not found."""
    candidates = [Path(sys.executable)] if sys.executable else []
    for prefix in dict.fromkeys((sys.exec_prefix, sys.base_exec_prefix)):
        candidates += [Path(prefix) / "python.exe"] if sys.platform == "win32" else [Path(prefix) / "bin" / "python3"]
    for candidate in candidates:
        if candidate.name.lower().startswith("python") and candidate.is_file():
            return str(candidate)
    return None


class Workers:
    """Processes that solve tasks of one problem; use as a context manager, which ends them whatever happens."""

    def __init__(self, problem: Problem, tasks: list[Task], count: int, program: str) -> None:
        self.left: deque[Task] = deque(tasks)
        self._answers: Queue[tuple[Task, Solved] | None] = Queue()
        self._problem = packed_problem(problem)
        self._all = sum(task.size for task in tasks)
        self._running: dict[int, float] = {}
        self._ready: set[int] = set()
        self._processes = [_start(program) for _ in range(count)]
        self._drivers = [
            Thread(target=self._drive, args=(number, process), daemon=True)
            for number, process in enumerate(self._processes)
        ]
        for driver in self._drivers:
            driver.start()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            _end(process)
        for process, driver in zip(self._processes, self._drivers):
            process.wait()
            driver.join(timeout=1.0)
            for pipe in () if driver.is_alive() else (process.stdin, process.stdout):
                with suppress(OSError):  # what was still to be written finds nobody
                    if pipe is not None:
                        pipe.close()

    def results(self, progress: Progress) -> Iterator[tuple[Task, Solved]]:
        """What is solved, as it comes. Tasks still in `left` at the end are those no process could solve."""
        solved = waited = 0.0
        driving = len(self._processes)
        while driving:
            try:
                answer = self._answers.get(timeout=ASK_SECONDS)
            except Empty:
                waited += ASK_SECONDS
                progress(min(1.0, (solved + sum(list(self._running.values()))) / self._all))
                if waited > PATIENCE_SECONDS and len(self._ready) < len(self._processes):
                    self._give_up_silent()
                continue
            if answer is None:
                driving -= 1
                continue
            solved += answer[0].size
            yield answer

    def _give_up_silent(self) -> None:
        """End the processes that never said they were ready."""
        for number, process in enumerate(self._processes):
            if number not in self._ready:
                _end(process)

    def _drive(self, number: int, process: subprocess.Popen[bytes]) -> None:
        """Give one process tasks until none is left or it is gone; a task it did not finish goes back."""
        reader, writer = process.stdout, process.stdin
        task: Task | None = None
        try:
            if reader is None or writer is None or not json.loads(reader.readline()).get("ready"):
                return
            self._ready.add(number)
            writer.write(self._problem)
            while self.left:
                task = self.left.popleft()
                writer.write(json.dumps(asdict(task)).encode() + b"\n")
                writer.flush()
                answer = json.loads(reader.readline())
                while "done" in answer:
                    self._running[number] = answer["done"] * task.size
                    answer = json.loads(reader.readline())
                self._running.pop(number, None)
                self._answers.put((task, solved_from(answer)))
                task = None
        except (OSError, ValueError, IndexError):
            if task is not None:
                self.left.appendleft(task)
        finally:
            self._answers.put(None)


def _start(program: str) -> subprocess.Popen[bytes]:
    """A worker process, with this one's import path and no window."""
    home = str(Path(__file__).parents[3])
    path = os.pathsep.join([home, *(entry for entry in sys.path if entry)])
    # The program is this Python's own, the arguments are fixed: nothing of the user's reaches a command line.
    return subprocess.Popen(  # noqa: S603  # nosec B603
        [program, "-c", START, f"{__package__}.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a worker, and what a launcher in its place may have started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
