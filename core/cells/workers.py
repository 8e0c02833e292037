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
from tempfile import TemporaryFile
from threading import Thread
from typing import IO

from ..progress import Progress
from .solving import Problem, Solved, Task
from .worker import packed_problem, solved_from

ASK_SECONDS = 0.1
PATIENCE_SECONDS = 30.0
REASON_LENGTH = 200
# What a worker runs. Python starts it isolated (-I): neither the current folder, where anybody may have put a numpy.py,
# nor PYTHONPATH is on its path. So it is told where modules are, and where this package is without the folder around.
START = """
import importlib.util, json, sys
told = json.loads(sys.argv[1])
sys.path[:] = told["path"] + [entry for entry in sys.path if entry not in told["path"]]
spec = importlib.util.spec_from_file_location(
    told["package"], told["folder"] + "/__init__.py", submodule_search_locations=[told["folder"]]
)
package = importlib.util.module_from_spec(spec)
sys.modules[told["package"]] = package
spec.loader.exec_module(package)
importlib.import_module(told["worker"]).main()
"""


def python_program() -> str | None:
    """A Python that is not QGIS itself: the one this runs in, or the one that came with QGIS; None if not found."""
    candidates = [Path(sys.executable)] if sys.executable else []
    for prefix in dict.fromkeys((sys.exec_prefix, sys.base_exec_prefix)):
        candidates += [Path(prefix) / "python.exe"] if sys.platform == "win32" else [Path(prefix) / "bin" / "python3"]
    for candidate in candidates:
        if candidate.name.lower().startswith("python") and candidate.is_file():
            return str(candidate)
    return None


def module_path() -> list[str]:
    """Where this process finds modules, without the current folder: in it anybody may have put a numpy.py."""
    try:
        here = Path.cwd().resolve()
    except OSError:  # it was deleted
        here = None
    entries = [entry for entry in sys.path if isinstance(entry, str) and Path(entry).is_absolute()]
    return [entry for entry in entries if Path(entry).resolve() != here]


class Workers:
    """Processes that solve tasks of one problem; use as a context manager, which ends them whatever happens.

    left : tasks no process has solved yet; failures : why processes failed, a line for each that did
    """

    def __init__(self, problem: Problem, tasks: list[Task], count: int, program: str) -> None:
        self.left: deque[Task] = deque(tasks)
        self.failures: list[str] = []
        self._answers: Queue[tuple[Task, Solved] | None] = Queue()
        self._problem = packed_problem(problem)
        self._all = sum(task.size for task in tasks)
        self._running: dict[int, float] = {}
        self._ready: set[int] = set()
        self._complaints = [TemporaryFile() for _ in range(count)]  # noqa: SIM115  # closed on leaving
        self._processes = [_start(program, complaints) for complaints in self._complaints]
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
        for complaints in self._complaints:
            complaints.close()

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
                self.failures.append("it did not say that it is ready")
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
        except IndexError:  # another process took the last task
            return
        except (OSError, ValueError):
            if task is not None:
                self.left.appendleft(task)
            self.failures.append(self._complaint(number, process))
        finally:
            self._answers.put(None)

    def _complaint(self, number: int, process: subprocess.Popen[bytes]) -> str:
        """The last line of what a process that failed had to say, or how it ended."""
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1.0)
        complaints = self._complaints[number]
        try:
            complaints.seek(0)
            lines = complaints.read().decode(errors="replace").strip().splitlines()
        except (OSError, ValueError):
            lines = []
        return lines[-1][:REASON_LENGTH] if lines else f"it ended with code {process.poll()}"


def _start(program: str, complaints: IO[bytes]) -> subprocess.Popen[bytes]:
    """A worker process that finds the modules this one finds, and opens no window. complaints : where errors go."""
    folder = Path(__file__).resolve().parents[2]
    package = __package__.split(".")[0]
    told = {"path": module_path(), "package": package, "folder": str(folder), "worker": f"{__package__}.worker"}
    # The program is this Python's own, the arguments are fixed: nothing of the user's reaches a command line.
    return subprocess.Popen(  # noqa: S603  # nosec B603
        [program, "-I", "-c", START, json.dumps(told)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=complaints,
        cwd=folder,  # on Windows libraries are looked for in the current folder too
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a worker, and what a launcher in its place may have started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
