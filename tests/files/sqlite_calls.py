"""What SQLite asks of the system, call by call: a VFS before the usual one, so that a fault can happen at any.

Python's sqlite3 and GDAL share one library where a distribution has both, so that this VFS serves the two.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

OK, PERM, BUSY, IOERR, FULL, CANTOPEN = 0, 3, 5, 10, 13, 14
SHARED_MEMORY = 2  # the version of the methods that a file has to have for a write-ahead log

KEPT: list[object] = []  # GDAL closes some files when Python has ended
Pointer = ctypes.c_void_p
Calls = Callable[[str, str, Callable[[], int]], int]


class Vfs(ctypes.Structure):
    """sqlite3_vfs, as far as version 1."""

    NAMES = (
        *("open", "delete", "access", "full", "dl1", "dl2", "dl3", "dl4"),
        *("random", "sleep", "time", "last_error", "time64", "set", "get", "next_call"),
    )
    _fields_ = [
        ("version", ctypes.c_int),
        ("size", ctypes.c_int),
        ("longest", ctypes.c_int),
        ("next", Pointer),
        ("name", ctypes.c_char_p),
        ("data", Pointer),
        *((name, Pointer) for name in NAMES),
    ]


class Methods(ctypes.Structure):
    """sqlite3_io_methods."""

    NAMES = (
        *("close", "read", "write", "truncate", "sync", "size", "lock", "unlock", "reserved", "control", "sector"),
        *("device", "map", "shm_lock", "barrier", "unmap", "fetch", "unfetch"),
    )
    _fields_ = [("version", ctypes.c_int), *((name, Pointer) for name in NAMES)]


def function(*kinds: Any) -> Any:
    """The type of a function that gives a code."""
    return ctypes.CFUNCTYPE(ctypes.c_int, *kinds)


OPEN = function(Pointer, Pointer, Pointer, ctypes.c_int, Pointer)
DELETE = function(Pointer, ctypes.c_char_p, ctypes.c_int)
ACCESS = function(Pointer, ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_int))
PLAIN = function(Pointer)
BYTES = function(Pointer, Pointer, ctypes.c_int, ctypes.c_int64)
TRUNCATE = function(Pointer, ctypes.c_int64)
FLAGS = function(Pointer, ctypes.c_int)
KINDS = {"close": PLAIN, "read": BYTES, "write": BYTES, "truncate": TRUNCATE, "sync": FLAGS, "lock": FLAGS}


class SqliteCalls:
    """The calls of SQLite, each of which is handed to whoever asks for them: name, file, and how it is carried out.

    calls : gives the code that SQLite gets; what it raises is not seen by anybody
    shared : whether files can have a write-ahead log
    """

    def __init__(self, calls: Calls, shared: bool = True) -> None:
        self.calls, self.shared = calls, shared
        self.open: dict[int, tuple[str, Methods]] = {}
        self._library = ctypes.CDLL(ctypes.util.find_library("sqlite3") or "")
        self._library.sqlite3_vfs_find.restype = ctypes.POINTER(Vfs)
        self._usual = self._library.sqlite3_vfs_find(None)
        self._own = Vfs.from_buffer_copy(self._usual.contents)
        self._own.name = b"faults"
        self._methods: dict[int, Methods] = {}
        self._kept: list[object] = []
        KEPT.append(self)
        for name, kind, do in (("open", OPEN, self._open), ("delete", DELETE, self._delete)):
            setattr(self._own, name, self._pointer(kind(do)))
        self._own.access = self._pointer(ACCESS(self._access))

    def names(self) -> set[str]:
        """The files that SQLite has open."""
        return {name for name, _ in self.open.values()}

    @contextmanager
    def before(self) -> Iterator[SqliteCalls]:
        """Be the way that every connection goes which is opened meanwhile."""
        self._library.sqlite3_vfs_register(ctypes.byref(self._own), 1)
        try:
            yield self
        finally:
            self._library.sqlite3_vfs_register(self._usual, 1)
            self._library.sqlite3_vfs_unregister(ctypes.byref(self._own))

    def _pointer(self, callback: Any) -> Any:
        self._kept.append(callback)
        return ctypes.cast(callback, Pointer).value

    def _call(self, name: str, file: str, do: Callable[[], int]) -> int:
        try:
            return self.calls(name, file, do)
        except BaseException:  # SQLite knows of no exceptions: whoever raised it remembers
            return IOERR

    def _open(self, _: int, name: int, file: int, flags: int, out: int) -> int:
        path = os.fsdecode(ctypes.string_at(name)) if name else ""

        def opened() -> int:
            code = int(OPEN(self._usual.contents.open)(ctypes.addressof(self._usual.contents), name, file, flags, out))
            place = ctypes.cast(file, ctypes.POINTER(Pointer))
            if place[0]:
                usual = Methods.from_address(place[0])
                self.open[file] = path, usual
                place[0] = ctypes.addressof(self._methods_before(place[0], usual))
            return code

        ctypes.cast(file, ctypes.POINTER(Pointer))[0] = None  # SQLite closes what has methods, opened or not
        return self._call("open", path, opened)

    def _methods_before(self, place: int, usual: Methods) -> Methods:
        if place not in self._methods:
            own = Methods.from_buffer_copy(usual)
            for name, kind in KINDS.items():
                setattr(own, name, self._pointer(kind(getattr(self, f"_{name}"))))
            own.version = SHARED_MEMORY if self.shared else 1
            self._methods[place] = own
        return self._methods[place]

    def _usually(self, name: str, file: int, *words: object) -> int:
        path, usual = self.open[file]
        return self._call(name, path, lambda: int(KINDS[name](getattr(usual, name))(file, *words)))

    def _close(self, file: int) -> int:
        _, usual = self.open.pop(file)
        return int(PLAIN(usual.close)(file))

    def _read(self, file: int, *words: int) -> int:
        return self._usually("read", file, *words)

    def _write(self, file: int, *words: int) -> int:
        return self._usually("write", file, *words)

    def _truncate(self, file: int, *words: int) -> int:
        return self._usually("truncate", file, *words)

    def _sync(self, file: int, _: int) -> int:
        return self._call("sync", self.open[file][0], lambda: OK)  # no power is cut here

    def _lock(self, file: int, *words: int) -> int:
        return self._usually("lock", file, *words)

    def _delete(self, _: int, name: bytes, sync: int) -> int:
        usual, place = self._usual.contents, ctypes.addressof(self._usual.contents)
        return self._call("delete", os.fsdecode(name), lambda: int(DELETE(usual.delete)(place, name, 0 * sync)))

    def _access(self, _: int, name: bytes, flags: int, out: Any) -> int:
        usual, place = self._usual.contents, ctypes.addressof(self._usual.contents)
        out[0] = 0
        return self._call("access", os.fsdecode(name), lambda: int(ACCESS(usual.access)(place, name, flags, out)))


def serves(folder: Path) -> bool:
    """Whether Python's sqlite3 goes this way here: not where it has a library of its own."""
    said: list[str] = []

    def noted(name: str, _: str, do: Callable[[], int]) -> int:
        said.append(name)
        return do()

    try:
        with SqliteCalls(noted).before(), closing(sqlite3.connect(folder / "tried")) as connection:
            connection.execute("CREATE TABLE a (a)")
    except OSError:  # no such library
        return False
    (folder / "tried").unlink(missing_ok=True)
    return bool(said)
