"""Ports of this machine for servers, and a line to one that can be cut."""

from __future__ import annotations

import random
import socket
import threading
from contextlib import suppress


def free_port() -> int:
    """A port that nobody listens at, below those that the system gives out: nobody gets it until the server begins."""
    for port in random.SystemRandom().sample(range(20_000, 32_000), 200):
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port
    raise OSError("no port is free")


class Line:
    """Carries bytes from a port of its own to that of a server; use as a context manager.

    cut_at : what cuts it once, when it is on its way to the server
    arrives : whether that still arrives, so that only the answer is lost; closed : whether nobody can connect again
    """

    def __init__(self, port: int, cut_at: bytes = b"", arrives: bool = True, closed: bool = True) -> None:
        self._server, self._cut_at, self._arrives, self._closed = port, cut_at, arrives, closed
        self._ends: list[socket.socket] = []
        self.was_cut = self._answer_is_lost = False

    def __enter__(self) -> Line:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._connect, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._closed = True
        self.cut()

    def cut(self) -> None:
        """End all connections."""
        self.was_cut, self._answer_is_lost = True, False
        # Who notices that its connection is lost may connect again at once.
        for end in [*([self._listener] if self._closed else []), *self._ends]:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._ends.clear()

    def _connect(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._server))
                self._ends += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(one, other, one is near), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket, to_server: bool) -> None:
        with suppress(OSError):
            while data := one.recv(65536):
                if to_server and self._cut_at and self._cut_at in data and not self.was_cut:
                    self.was_cut = self._answer_is_lost = True
                    if not self._arrives:
                        return self.cut()
                elif self._answer_is_lost and not to_server:
                    return self.cut()
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
