"""QGIS with the toolbox, loaded once: each run is a copy of the process, by fork, and prints as `qgis_process` does.

To start QGIS takes more than most runs do. What `qgis_process` itself reads of its arguments, and how it starts, is
seen by the tests that start it. Started with the number of a socket: a run is told by a message with its arguments,
variables and the limits of the system that it is to have, and with what are to be its own output and errors; told back
are the number of the process, and how that ended.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

MOST = 2**20  # bytes of a message


class LoadedQgis:
    """The other side of the socket."""

    def __init__(self, told: socket.socket) -> None:
        self._told = told

    def start(
        self, *arguments: str, variables: Mapping[str, str] | None = None, limit: int | None = None
    ) -> ForkedProcess:
        """Begin a run, as `subprocess.Popen` does; limit : the most bytes that its files may have."""
        (output, its_output), (errors, its_errors) = os.pipe(), os.pipe()
        limits = {} if limit is None else {resource.RLIMIT_FSIZE: limit}
        return self._begun(arguments, variables or {}, limits, its_output, its_errors, [output, errors])

    def start_into(
        self, log: Path, *arguments: str, variables: Mapping[str, str], limits: Mapping[int, int]
    ) -> ForkedProcess:
        """The same, with all that it says in a file; limits : of the system, such as {resource.RLIMIT_AS: 10**9}."""
        with log.open("wb") as file:
            its_output, its_errors = os.dup(file.fileno()), os.dup(file.fileno())
        return self._begun(arguments, variables, limits, its_output, its_errors, [])

    def _begun(
        self,
        arguments: Sequence[str],
        variables: Mapping[str, str],
        limits: Mapping[int, int],
        output: int,
        errors: int,
        read: Sequence[int],
    ) -> ForkedProcess:
        """output, errors : of the run, which are closed here; read : the other ends, where they are pipes"""
        ended, its_end = os.pipe()
        message = json.dumps([arguments, dict(variables), list(limits.items())]).encode()
        socket.send_fds(self._told, [message], [output, errors, its_end])
        for one in (output, errors, its_end):
            os.close(one)
        return ForkedProcess(int(self._told.recv(64)), read, ended)


class ForkedProcess:
    """One run: what of `subprocess.Popen` the tests need."""

    def __init__(self, pid: int, read: Sequence[int], ended: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = ended
        self._said: list[list[str]] = [[], []]
        self._readers = [threading.Thread(target=_read, args=(file, said)) for file, said in zip(read, self._said)]
        for reader in self._readers:
            reader.start()

    def send_signal(self, number: int) -> None:
        """A process that has ended stays until its end was told, so that no other has its number."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it as nothing can prevent."""
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """How it ended, once it has. Raises TimeoutExpired."""
        if self.returncode is None:
            if not select.select([self._ended], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(["a copy of QGIS"], timeout or 0.0)
            self._take(os.read(self._ended, 64))
        assert self.returncode is not None
        return self.returncode

    def poll(self) -> int | None:
        """How it ended; None while it runs."""
        if self.returncode is None:
            os.set_blocking(self._ended, False)
            try:
                self._take(os.read(self._ended, 64))
            except BlockingIOError:
                return None
        return self.returncode

    def communicate(self, timeout: float) -> tuple[str, str]:
        """What it printed, once it has ended. Raises TimeoutExpired."""
        for reader in self._readers:
            reader.join(timeout)
            if reader.is_alive():
                os.kill(self.pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(["a copy of QGIS"], timeout)
        self.wait()
        return "".join(self._said[0]), "".join(self._said[1])

    def _take(self, told: bytes) -> None:
        self.returncode = int(told)
        os.close(self._ended)


def _read(file: int, said: list[str]) -> None:
    with os.fdopen(file, encoding="utf-8", errors="replace") as text:
        said.append(text.read())


@contextmanager
def loaded_qgis(home: Path) -> Iterator[LoadedQgis]:
    """The process, in a profile of its own."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with here, there:
        process = subprocess.Popen(
            [sys.executable, "-m", "vbas.tests.headless.loaded", str(there.fileno())],
            stdin=subprocess.DEVNULL,
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "QGIS_CUSTOM_CONFIG_PATH": str(home)},
            pass_fds=[there.fileno()],
        )
        there.close()
        yield LoadedQgis(here)
    assert process.wait(60) == 0


def _serve(told: socket.socket) -> None:
    """Starts copies, several at a time, and tells how each ended; without threads, which a copy would not have."""
    ends: dict[int, int] = {}
    while True:
        if select.select([told], [], [], 0.02 if ends else None)[0]:
            message, files, _, _ = socket.recv_fds(told, MOST, 3)
            if not message:
                os._exit(0)
            output, errors, end = files
            process = os.fork()
            if not process:
                for one in (told.detach(), end, *ends.values()):
                    os.close(one)
                os.dup2(output, 1)
                os.dup2(errors, 2)
                _run_as_told(message)
            ends[process] = end
            os.close(output)
            os.close(errors)
            told.send(str(process).encode())
        process, how = os.waitpid(-1, os.WNOHANG) if ends else (0, 0)
        if process:
            end = ends.pop(process)
            os.write(end, str(os.waitstatus_to_exitcode(how)).encode())
            os.close(end)


def _run_as_told(message: bytes) -> None:
    arguments, variables, limits = json.loads(message)
    os.environ.update(variables)
    tempfile.tempdir = None
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    for kind, most in limits:
        resource.setrlimit(kind, (most, most))
    code = 1
    try:
        code = _run(arguments)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _run(arguments: list[str]) -> int:
    """`run ALGORITHM [--json] -- NAME=VALUE …`."""
    from qgis.core import (
        QgsApplication,
        QgsProcessingContext,
        QgsProcessingException,
        QgsProcessingFeedback,
        QgsProject,
    )

    as_json = "--json" in arguments[: arguments.index("--")]
    algorithm, given = arguments[arguments.index("run") + 1], arguments[arguments.index("--") + 1 :]

    class Feedback(QgsProcessingFeedback):
        def pushInfo(self, text: str) -> None:
            print(text, file=sys.stderr if as_json else sys.stdout, flush=True)

        def pushWarning(self, text: str) -> None:
            self.pushInfo(text)

        def reportError(self, text: str, fatal: bool = False) -> None:
            print(f"ERROR:\t{text}", file=sys.stderr, flush=True)

    parameters: dict[str, object] = {}
    for one in given:
        name, _, value = one.partition("=")
        before = parameters.get(name)
        if before is None:
            parameters[name] = value
        else:
            parameters[name] = [*before, value] if isinstance(before, list) else [before, value]
    context, feedback = QgsProcessingContext(), Feedback(False)
    context.setProject(QgsProject.instance())
    found = QgsApplication.processingRegistry().algorithmById(algorithm).create()
    taken, problem = found.checkParameterValues(parameters, context)
    if not taken:
        feedback.reportError(problem)
        return 1
    if not as_json:
        print("Inputs", flush=True)
    try:
        results, well = found.run(parameters, context, feedback, {}, False)
    except QgsProcessingException as error:
        feedback.reportError(str(error))
        return 1
    if as_json:
        print(json.dumps({"results": results}, default=str))
    else:
        print("\n".join(["Results", *(f"{name}:\t{value}" for name, value in results.items())]))
    return 0 if well else 1


if __name__ == "__main__":
    from qgis.core import QgsApplication

    application = QgsApplication([], False)
    application.initQgis()
    from vbas.vbas_plugin.provider import VbasProvider

    provider = VbasProvider()
    QgsApplication.processingRegistry().addProvider(provider)
    gc.collect()
    gc.freeze()  # what is loaded stays: no copy searches it for garbage, which would copy its memory, too
    _serve(socket.socket(fileno=int(sys.argv[1])))
