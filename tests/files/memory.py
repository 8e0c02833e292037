"""A file system in memory, by the rules of those that people have: real bytes, and a fault at any call.

What is simulated is what each is documented to do, where a delivery depends on it; nothing here was measured on it.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import stat
import tempfile
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vbas.core.publish.files import FileSystem

TEMPORARY, OUT = Path("/temporary"), Path("/out")
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{i}" for port in ("com", "lpt") for i in range(1, 10))}
IN_USE = "The process cannot access the file because it is being used by another process"


@dataclass(frozen=True)
class Rules:
    """What a file system does.

    links : a file can have several names; cased : “A” and “a” are two names; composed : names are compared as composed
    rights : it keeps owners and modes; shares : what is open can be neither renamed nor removed (Windows)
    overwrites : a rename takes the place of a file; locks : “kept”, “unknown” or “refused”
    windows : forbidden and reserved names, and 260 characters of a path; second : times are kept to so many seconds
    """

    title: str
    links: bool = True
    cased: bool = True
    composed: bool = False
    rights: bool = True
    shares: bool = False
    overwrites: bool = True
    locks: str = "kept"
    windows: bool = False
    second: int = 0


EXT4 = Rules("ext4")
NTFS = Rules("NTFS", cased=False, rights=False, shares=True, overwrites=False, windows=True)
SMB = Rules("SMB", False, cased=False, rights=False, shares=True, overwrites=False, windows=True)
SMB_UNLOCKED = Rules("SMB without locks", False, False, False, False, True, False, "unknown", True)
FAT = Rules("exFAT", links=False, cased=False, rights=False, second=2)
APFS = Rules("APFS", cased=False, composed=True)
CLOUD = Rules("cloud folder", cased=False, rights=False, shares=True, overwrites=False, windows=True)
ALL = (EXT4, NTFS, SMB, SMB_UNLOCKED, FAT, APFS, CLOUD)

BEFORE, AFTER, DENIED, GONE, FULL, LOST, CUT_OFF, TAKEN = (
    *("crash before", "crash after", "denied", "drive gone", "disk full", "answer lost", "cut off", "taken away"),
)
FAULTS = (BEFORE, AFTER, DENIED, GONE, FULL, LOST, CUT_OFF, TAKEN)


class Crash(BaseException):
    """The process ends here."""


@dataclass
class Node:
    """What a name leads to; content : None of a folder."""

    number: int
    mode: int
    content: bytes | None = None


class Faults:
    """A fault at the n-th call."""

    def __init__(self) -> None:
        self.fault, self.at, self.calls, self.dead = "", 0, 0, False
        self.said: list[str] = []

    def arm(self, fault: str, at: int) -> None:
        """Have a fault happen at a call."""
        self.fault, self.at, self.calls, self.said = fault, at, 0, []

    def restart(self) -> None:
        """What the process had open is closed, and nothing fails any more."""
        self.fault, self.dead = "", False

    def _call(self, name, path, do, changes=False, writes=False):
        if self.dead:
            raise Crash
        self.calls += 1
        here, since = self.calls == self.at, bool(self.at) and self.calls >= self.at
        if here:
            self.said.append(f"{name} {path}")
        if here and self.fault == BEFORE:
            self.dead = True
            raise Crash
        is_gone = since and (self.fault == GONE or (self.fault == CUT_OFF and not here))
        if (here and self.fault == DENIED) or is_gone:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        if here and self.fault == TAKEN:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(path))
        if since and self.fault == FULL and writes:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        done = do()
        if here and self.fault == AFTER:
            self.dead = True
            raise Crash
        if here and self.fault in (LOST, CUT_OFF) and changes:
            raise OSError(errno.EIO, "Input/output error", str(path))
        return done


class Memory(Faults, FileSystem):
    """A file system by rules; `fault` happens at the n-th call from `arm` on."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self.rules, self.out = rules, OUT
        self.holds_what_is_open, self.ignores_case = rules.shares, not rules.cased
        self.shows_what_is_inherited = not rules.windows
        self.nodes: dict[str, Node] = {}
        self.shown: dict[str, str] = {}
        self.open: list[int] = []
        self.descriptors: dict[int, int] = {}
        self.locked: dict[int, int] = {}
        self.number = 0
        self.databases = Path(tempfile.mkdtemp(prefix="memory-"))
        for folder in (Path("/"), TEMPORARY, OUT):
            self._add(folder, Node(self._next(), stat.S_IFDIR | 0o755))

    def restart(self):
        super().restart()
        self.open, self.descriptors, self.locked = [], {}, {}

    def end(self) -> None:
        """Remove what was made for SQLite."""
        shutil.rmtree(self.databases, ignore_errors=True)

    def contents(self) -> dict[str, bytes]:
        """All files that lie where outputs do, by their names there."""
        start = f"{OUT}/"
        return {
            key[len(start) :]: node.content
            for key, node in self.nodes.items()
            if key.startswith(start) and node.content is not None
        }

    # ---- names

    def _key(self, path) -> str:
        text = str(path)
        if self.rules.composed:
            text = unicodedata.normalize("NFC", text)
        return text if self.rules.cased else text.casefold()

    def _next(self) -> int:
        self.number += 1
        return self.number

    def _add(self, path, node) -> None:
        if self.rules.windows:
            stem = path.name.partition(".")[0].rstrip(" ").lower()
            if set(path.name) & set('<>:"|?*') or stem in RESERVED or path.name.strip(" .") != path.name.lstrip(" ."):
                raise OSError(errno.EINVAL, "The filename, directory name, or volume label syntax is incorrect")
            if len(str(path)) > 259:
                raise OSError(errno.ENAMETOOLONG, "The filename or extension is too long")
        if path != path.parent and self._key(path.parent) not in self.nodes:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(path))
        self.nodes[self._key(path)], self.shown[self._key(path)] = node, path.name

    def _node(self, path) -> Node:
        if self._key(path) not in self.nodes:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(path))
        return self.nodes[self._key(path)]

    def _drop(self, path) -> None:
        del self.nodes[self._key(path)], self.shown[self._key(path)]

    def _below(self, path) -> list[str]:
        return [key for key in self.nodes if key.startswith(self._key(path) + "/")]

    def _refuse_open(self, path) -> None:
        used = {*self.open, *self.descriptors.values()} if self.rules.shares else set()
        if any(self.nodes[key].number in used for key in (self._key(path), *self._below(path)) if key in self.nodes):
            raise PermissionError(errno.EACCES, IN_USE, str(path))

    # ---- looking

    def status(self, path):
        return self._call("status", path, lambda: self._status(self._node(path)))

    def _status(self, node):
        count = sum(1 for other in self.nodes.values() if other is node)
        size, owner = len(node.content or b""), 1000 if self.rules.rights else 0
        return os.stat_result((node.mode, node.number, 1, count, owner, owner, size, 0, 0, 0))

    status_behind = status

    def names(self, folder):
        def listed():
            depth = self._key(folder).rstrip("/") + "/"
            return sorted(
                self.shown[key]
                for key in self.nodes
                if key.startswith(depth) and "/" not in key[len(depth) :] and key != "/"
            )

        return self._call("names", folder, listed)

    def files_below(self, folder):
        return [Path(key) for key in self._below(folder)]

    def real(self, path):
        return path

    def may_write(self, path):
        return True

    def user(self):
        return 1000 if self.rules.rights else None

    def machine(self):
        return "this machine"

    # ---- files

    def read(self, path):
        def opened():
            node = self._node(path)
            if node.content is None:
                raise IsADirectoryError(errno.EISDIR, "Is a directory", str(path))
            return Read(self, node)

        return self._call("read", path, opened)

    def new_file(self, path, mode=0o666):
        def made():
            if self._key(path) in self.nodes:
                raise FileExistsError(errno.EEXIST, "File exists", str(path))
            node = Node(self._next(), stat.S_IFREG | (mode & ~0o022 if self.rules.rights else 0o666), b"")
            self._add(path, node)
            return Write(self, node, path)

        return self._call("new_file", path, made, True, True)

    def staged(self, path):
        with suppress(FileNotFoundError):
            self._drop(path) if self._key(path) in self.nodes else None
        return self.new_file(path)

    def keep(self, file):
        self._call("keep", "", lambda: None, True)

    def keep_written(self, path):
        self._call("keep_written", path, lambda: self._node(path), True)

    def kept_beside(self, path):
        self._call("kept_beside", path, lambda: self._node(path))
        return {}

    def keep_names(self, folder):
        with suppress(OSError):
            self._call("keep_names", folder, lambda: None, True)

    def rename(self, old, new):
        self._call("rename", old, lambda: self._renamed(old, new, self.rules.overwrites), True)

    def replace(self, old, new):
        self._call("replace", old, lambda: self._renamed(old, new, True), True)

    def _renamed(self, old, new, overwrites):
        node, same = self._node(old), self._key(old) == self._key(new)
        self._refuse_open(old)
        if self._key(new) in self.nodes and not same:
            if not overwrites:
                raise FileExistsError(errno.EEXIST, "File exists", str(new))
            self._refuse_open(new)
            if self._below(new) or (self._node(new).content is None) != (node.content is None):
                raise OSError(errno.ENOTEMPTY, "Directory not empty", str(new))
            if self._node(new) is node:  # two names of one file: POSIX does nothing
                return
        below = [(key, self.nodes[key], self.shown[key]) for key in self._below(old)]
        before = self._key(old)
        self._drop(old)
        for key, _, _ in below:
            del self.nodes[key], self.shown[key]
        self._add(new, node)
        for key, one, name in below:
            moved = self._key(new) + key[len(before) :]
            self.nodes[moved], self.shown[moved] = one, name

    def link(self, old, new):
        def linked():
            if not self.rules.links:
                raise OSError(errno.EPERM, "Operation not permitted", str(old))
            if self._key(new) in self.nodes:
                raise FileExistsError(errno.EEXIST, "File exists", str(new))
            self._add(new, self._node(old))

        self._call("link", old, linked, True, True)

    def remove(self, path, missing_ok=False):
        def removed():
            if self._node(path).content is None:
                raise PermissionError(errno.EPERM, "Operation not permitted", str(path))
            self._refuse_open(path)
            self._drop(path)

        try:
            self._call("remove", path, removed, True)
        except FileNotFoundError:
            if not missing_ok:
                raise

    # ---- folders

    def make_folder(self, path, mode=0o777):
        def made():
            if self._key(path) in self.nodes:
                raise FileExistsError(errno.EEXIST, "File exists", str(path))
            self._add(path, Node(self._next(), stat.S_IFDIR | (mode if self.rules.rights else 0o777)))

        self._call("make_folder", path, made, True, True)

    def new_folder(self, parent, prefix):
        path = parent / f"{prefix}{self._next():08x}"
        self.make_folder(path, 0o700)
        return path

    def remove_folder(self, path):
        def removed():
            self._node(path)
            if self._below(path):
                raise OSError(errno.ENOTEMPTY, "Directory not empty", str(path))
            self._drop(path)

        self._call("remove_folder", path, removed, True)

    def remove_tree(self, path, as_far_as_it_goes=False):
        try:
            for name in self.names(path):
                if self._node(path / name).content is None:
                    self.remove_tree(path / name, as_far_as_it_goes)
                else:
                    try:
                        self.remove(path / name)
                    except OSError:
                        if not as_far_as_it_goes:
                            raise
            self.remove_folder(path)
        except OSError:
            if not as_far_as_it_goes:
                raise

    def try_to_write(self, folder):
        path = folder / f"try-{self._next()}"
        self.new_file(path).close()
        self.remove(path)

    def temporary(self):
        return TEMPORARY

    # ---- rights

    def permit(self, path, mode):
        def permitted():
            node = self._node(path)
            if self.rules.rights:
                node.mode = stat.S_IFMT(node.mode) | mode

        self._call("permit", path, permitted, True)

    def give(self, path, user, group):
        self._call("give", path, lambda: self._node(path), True)

    def umask(self):
        return 0o022

    # ---- locks

    def open_to_lock(self, path, new=False):
        def opened():
            if new and self._key(path) in self.nodes:
                raise FileExistsError(errno.EEXIST, "File exists", str(path))
            if self._key(path) not in self.nodes:
                self._add(path, Node(self._next(), stat.S_IFREG | 0o644, b""))
            descriptor = self._next()
            self.descriptors[descriptor] = self._node(path).number
            return descriptor

        return self._call("open_to_lock", path, opened, False, True)

    def open_left_lock(self, path):
        self._node(path)
        return self.open_to_lock(path)

    def lock(self, descriptor):
        def locked():
            if self.rules.locks == "unknown":
                return False
            number = self.descriptors[descriptor]
            if self.locked.setdefault(number, descriptor) != descriptor:
                raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
            return True

        return self._call("lock", "", locked)

    def close(self, descriptor):
        number = self.descriptors.pop(descriptor, None)
        if number is not None and self.locked.get(number) == descriptor:
            del self.locked[number]

    def is_still(self, path, descriptor):
        with suppress(FileNotFoundError):
            return self.status(path).st_ino == self.descriptors[descriptor]
        return False

    # ---- databases

    def for_sqlite(self, path):
        """A real file that stands in for the bytes, with the journals beside it."""
        place = self.databases / str(self._next())
        place.mkdir()
        for ending in ("", "-wal", "-journal"):
            key = self._key(path.with_name(path.name + ending))
            if key in self.nodes:
                (place / f"{path.name}{ending}").write_bytes(self.nodes[key].content or b"")
        return place / path.name

    def lists_locks(self):
        return self.rules is EXT4

    def is_worked_in(self, parts, read_too):
        return False


class Read(io.BytesIO):
    """A file that is read: on Windows nobody removes it meanwhile."""

    def __init__(self, files, node) -> None:
        super().__init__(node.content)
        self._files, self._number = files, node.number
        files.open.append(node.number)

    def close(self) -> None:
        if not self.closed and self._number in self._files.open:
            self._files.open.remove(self._number)
        super().close()


class Write(io.BytesIO):
    """A file that is written: what is not there at a crash is lost."""

    def __init__(self, files, node, path) -> None:
        super().__init__()
        self._files, self._node, self._path = files, node, path
        files.open.append(node.number)

    def write(self, content) -> int:
        def written():
            self._node.content = (self._node.content or b"") + bytes(content)
            return len(content)

        return self._files._call("write", self._path, written, True, True)

    def close(self) -> None:
        if not self.closed and self._node.number in self._files.open:
            self._files.open.remove(self._node.number)
        super().close()
