"""The one door to the file system: what is made, renamed, replaced, locked or removed passes here, and nowhere else.

Whoever delivers takes a `FileSystem` and uses no other way, so that every call can be refused, lost or cut short in a
test. `tests/core/test_one_door.py` looks for other ways.
"""

from __future__ import annotations

import errno
import os
import platform
import shutil
import stat
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from ..records.sqlite_uri import sqlite_uri

# File systems that know no locks.
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)
LOCKS = Path("/proc/locks")
MACHINE_ID = Path("/etc/machine-id")
AT_ONCE = 1 << 20  # bytes that are copied at once


class FileSystem:
    """What may be asked of a file system, and what its answers mean.

    Errors. Every method raises OSError and nothing else, with its `strerror` for a sentence, where it does not say
    otherwise. FileNotFoundError: nothing stands under that name, or a folder above it has gone. FileExistsError: the
    name is taken. PermissionError: the rights are lacking, or, on Windows, another program has the file open. A call
    that has raised may have been carried out all the same, since a network loses answers: whoever must know looks.

    All at once. `new_file`, `new_folder`, `make_folder`, `link`, `rename` and `replace` of one file are seen as done
    or as not done, by every program and after a power cut. `copy`, `write` and `remove_tree` are not: what they leave
    when they are cut short is a part.

    Never lost. `new_file`, `link` and `make_folder` never take the place of what stands there, nor follow a link that
    does. `replace` always takes it. `rename` takes it everywhere but on Windows: `link` is for what must not be lost.

    Names. Whether “A” and “a” are one name, and which names may be had, is the file system's affair; nothing here
    changes a name.

    Rights. A file system without the rights of POSIX takes `permit` and `give` and keeps nothing of them.

    Another program may do any of this between two calls.
    """

    # Whether a file that is open can be neither renamed nor removed, by this process or another.
    holds_what_is_open = sys.platform == "win32"
    # Whether “A” and “a” are one name even where neither is there.
    ignores_case = sys.platform == "darwin"
    # Whether all that a new file inherits from its folder can be seen on it: elsewhere access lists cannot.
    shows_what_is_inherited = sys.platform == "linux"

    # ---- looking

    def status(self, path: Path) -> os.stat_result:
        """What stands under a name; of a link, the link."""
        return os.lstat(path)

    def status_behind(self, path: Path) -> os.stat_result:
        """What a name leads to; of a link, what it links to."""
        return path.stat()

    def is_there(self, path: Path) -> bool:
        """Whether anything stands under a name, a link that leads nowhere included; False where it cannot be seen."""
        with suppress(OSError, ValueError):
            self.status(path)
            return True
        return False

    def is_file(self, path: Path) -> bool:
        """Whether a name leads to a plain file; False where it cannot be seen."""
        with suppress(OSError, ValueError):
            return stat.S_ISREG(self.status_behind(path).st_mode)
        return False

    def is_folder(self, path: Path) -> bool:
        """Whether a name leads to a folder; False where it cannot be seen, such as for a name that is too long."""
        with suppress(OSError, ValueError):
            return stat.S_ISDIR(self.status_behind(path).st_mode)
        return False

    def are_same(self, path: Path, other: Path) -> bool:
        """Whether two names lead to one file."""
        return os.path.samestat(self.status_behind(path), self.status_behind(other))

    def is_as_made_there(self, path: Path, made: Path) -> bool:
        """Whether a file is, but for its mode, as one that was just made in another folder: on the same file system,
        with its owner, its group, and all that the system keeps beside the mode, and without a second name."""
        if not self.shows_what_is_inherited:
            return False
        own, there = self.status(path), self.status(made)
        same = (own.st_dev, own.st_uid, own.st_gid, own.st_nlink) == (there.st_dev, there.st_uid, there.st_gid, 1)
        return same and self.kept_beside(path) == self.kept_beside(made)

    def kept_beside(self, path: Path) -> dict[str, bytes]:
        """What the system keeps of a file beside its mode, by name, such as access lists and labels."""
        if sys.platform != "linux":
            return {}
        try:
            return {name: os.getxattr(path, name) for name in os.listxattr(path)}
        except OSError as error:
            if error.errno == errno.ENOTSUP:
                return {}
            raise

    def names(self, folder: Path) -> list[str]:
        """The names in a folder, in order."""
        return sorted(os.listdir(folder))  # noqa: PTH208

    def files_below(self, folder: Path) -> list[Path]:
        """All files in a folder and the folders in it; links to folders are not followed. Raises nothing."""
        return [Path(where, name) for where, _, names in os.walk(folder) for name in names]

    def real(self, path: Path) -> Path:
        """The absolute path without links; of what is not there, as far as it can be told. Raises nothing."""
        return Path(os.path.realpath(path))

    def compared(self, path: Path) -> str:
        """A path such that two names which this system takes for one are equal."""
        text = str(path)
        return os.path.normcase(text.casefold() if self.ignores_case else text)

    def longest_path(self) -> int | None:
        """The most characters of a path, where a longer one is only said not to be there; None elsewhere. Raises
        nothing."""
        if sys.platform == "win32":
            import ctypes

            with suppress(OSError, AttributeError):  # of Windows before 2016
                if ctypes.WinDLL("ntdll").RtlAreLongPathsEnabled() & 0xFF:
                    return None
            return 259
        return None

    def may_write(self, path: Path) -> bool:
        """Whether a file is not write-protected for this user. Raises nothing."""
        return os.access(path, os.W_OK)

    def refuse_to_replace(self, path: Path) -> None:
        """Raise where a file cannot be replaced now; it is neither opened nor changed."""
        status = self.status(path)
        # A rename onto itself changes nothing; Windows refuses it for a file that is open elsewhere, as it would later.
        self.rename(path, path)
        folder = self.status(path.parent)
        user = self.user()
        if user is None or not folder.st_mode & stat.S_ISVTX:
            return
        if user not in (0, status.st_uid, folder.st_uid):  # where only owners remove and rename files
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    def user(self) -> int | None:
        """Whose files this process makes; None where files have no such owner. Raises nothing."""
        if sys.platform == "win32":
            return None
        return os.geteuid()

    def machine(self) -> str:
        """What tells this machine from others that work in the same folder. Raises nothing."""
        with suppress(OSError):
            return platform.node() + MACHINE_ID.read_text(encoding="ascii", errors="replace")
        return platform.node()

    # ---- files

    def read(self, path: Path) -> BinaryIO:
        """A file, open to be read."""
        return path.open("rb")

    def read_bytes(self, path: Path) -> bytes:
        """What a file holds."""
        with self.read(path) as file:
            return file.read()

    def new_file(self, path: Path, mode: int = 0o666) -> BinaryIO:
        """A new file, open to be written; mode : as far as the umask lets it. Raises FileExistsError."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        return os.fdopen(os.open(path, flags, mode), "wb")

    def staged(self, path: Path) -> BinaryIO:
        """A file in a folder of this run's own, open to be written; what it held is lost, and links are followed."""
        return path.open("wb")

    def written_into(self, path: Path) -> BinaryIO:
        """A file in a folder of this run's own, open to be read and written, with what it holds."""
        return path.open("r+b")

    def write(self, path: Path, content: bytes) -> None:
        """Write a file in a folder of this run's own, as `staged`."""
        with self.staged(path) as file:
            file.write(content)

    def copy(self, source: Path, target: Path, mode: int = 0o666) -> None:
        """Copy the bytes of a file into a new one, which are on the disk in the end. Raises FileExistsError."""
        with self.read(source) as read, self.new_file(target, mode) as write:
            shutil.copyfileobj(read, write, AT_ONCE)
            self.keep(write)

    def keep(self, file: BinaryIO) -> None:
        """Have the disk keep what was written into a file, even if the power fails."""
        file.flush()
        os.fsync(file.fileno())

    def keep_written(self, path: Path) -> None:
        """`keep` of a file that somebody else has written."""
        # Windows wants it open to be written; others flush it either way.
        with path.open("r+b" if sys.platform == "win32" else "rb") as file:
            os.fsync(file.fileno())

    def keep_names(self, folder: Path) -> None:
        """Have the disk keep the names in a folder, where the system has a way to say so. Raises nothing."""
        if sys.platform != "win32":
            with suppress(OSError):
                descriptor = os.open(folder, os.O_RDONLY)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)

    def rename(self, old: Path, new: Path) -> None:
        """Give a file or folder another name in the same folder; whether what stands there is lost, see above."""
        os.rename(old, new)  # noqa: PTH104

    def replace(self, old: Path, new: Path) -> None:
        """Give a file another name in the same folder, in place of what stands there."""
        os.replace(old, new)  # noqa: PTH105

    def link(self, old: Path, new: Path) -> None:
        """Give a file a second name. Raises OSError or NotImplementedError where files have but one."""
        os.link(old, new)

    def remove(self, path: Path, missing_ok: bool = False) -> None:
        """Remove a file, or a link and not what it leads to; missing_ok : nothing is said where none stands there."""
        path.unlink(missing_ok=missing_ok)

    # ---- folders

    def make_folder(self, path: Path, mode: int = 0o777) -> None:
        """Make a folder; mode : as far as the umask lets it. Raises FileExistsError."""
        path.mkdir(mode=mode)

    def new_folder(self, parent: Path, prefix: str) -> Path:
        """A new folder that only this user may enter, under a name that nobody can predict."""
        return Path(tempfile.mkdtemp(prefix=prefix, dir=parent))

    def remove_folder(self, path: Path) -> None:
        """Remove an empty folder; raises where it is not empty."""
        path.rmdir()

    def remove_tree(self, path: Path, as_far_as_it_goes: bool = False) -> None:
        """Remove a folder with all that is in it; links in it are removed, not followed. What has gone, has gone.

        as_far_as_it_goes : leave what cannot be removed, and say nothing
        """
        shutil.rmtree(path, ignore_errors=as_far_as_it_goes)

    def try_to_write(self, folder: Path) -> None:
        """Raise where no file can be made in a folder; nothing is left in it."""
        with tempfile.TemporaryFile(dir=folder):
            return

    def temporary(self) -> Path:
        """The folder for temporary files, of the system or of TMPDIR."""
        return Path(tempfile.gettempdir())

    # ---- rights

    def permit(self, path: Path, mode: int) -> None:
        """Set who may do what with a file or folder, whatever the umask."""
        path.chmod(mode)

    def give(self, path: Path, user: int, group: int) -> None:
        """Set whose a file is; -1 for a user that it keeps."""
        if sys.platform != "win32":
            os.chown(path, user, group)

    def umask(self) -> int:
        """The rights that new files of this process lack. Raises nothing."""
        mask = os.umask(0o077)
        os.umask(mask)
        return mask

    # ---- locks

    def open_to_lock(self, path: Path, new: bool = False) -> int:
        """A descriptor of a file that is made if there is none; new : that must be made. A link is not followed.

        Nothing is ever written into it. Whoever opens it closes it by `close`.
        """
        # A link planted under this name is not followed.
        unfollowed = getattr(os, "O_NOFOLLOW", 0)
        if new:
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            return os.open(path, os.O_RDWR | os.O_CREAT | unfollowed, 0o644)
        except PermissionError:
            try:
                # What a killed run of another user has left can be read, and so be locked.
                return os.open(path, os.O_RDONLY | unfollowed)
            except FileNotFoundError:
                pass  # it is the folder that is closed
            raise

    def open_left_lock(self, path: Path) -> int:
        """`open_to_lock` of a file that is there. Raises FileNotFoundError."""
        return os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))

    def lock(self, descriptor: int) -> bool:
        """Lock an open file until it is closed or the process ends; False where no locks are known.

        Raises BlockingIOError where another holds it.
        """
        try:
            if sys.platform == "win32":
                import msvcrt

                try:
                    msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
                except OSError as error:  # Wine gives no reason
                    if error.errno in NO_LOCKS:
                        raise
                    raise BlockingIOError from error
            else:
                import fcntl

                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if isinstance(error, BlockingIOError) or error.errno not in NO_LOCKS:
                raise
            return False
        return True

    def close(self, descriptor: int) -> None:
        """Close what was opened to be locked, which ends its lock."""
        os.close(descriptor)

    def is_still(self, path: Path, descriptor: int) -> bool:
        """Whether an open file still stands under its name."""
        try:
            status = self.status(path)
        except FileNotFoundError:
            return False
        held = os.fstat(descriptor)
        return (status.st_dev, status.st_ino) == (held.st_dev, held.st_ino)

    # ---- databases

    def for_sqlite(self, path: Path) -> Path:
        """Where SQLite, which opens its files itself, finds one and the journals beside it."""
        return path

    def with_journals(self, path: Path) -> Path:
        """The name beside which SQLite keeps the journals of a file: it follows links, though not on Windows."""
        return path if sys.platform == "win32" else self.real(path)

    def uri(self, path: Path, mode: str) -> str:
        """The address by which SQLite opens a file; path : absolute; mode : such as mode=ro. Raises ValueError."""
        return sqlite_uri(self.for_sqlite(path), mode)

    def lists_locks(self) -> bool:
        """Whether the system says who locks what. Raises nothing."""
        return sys.platform.startswith("linux") and LOCKS.is_file()

    def is_worked_in(self, parts: Sequence[Path], read_too: bool) -> bool:
        """Whether another program writes into one of these files, or this process does; only where `lists_locks`.

        read_too : also whether any program, this one included, holds a lock to read it. Read from the system: opening
        and closing a file here would end the locks that this very process holds on it.
        """
        if sys.platform == "win32":  # which has no such list
            return False
        states = [self.status_behind(part) for part in parts]
        inodes = {str(state.st_ino) for state in states}
        files = {f"{os.major(state.st_dev):02x}:{os.minor(state.st_dev):02x}:{state.st_ino}" for state in states}
        for line in LOCKS.read_text(encoding="ascii", errors="replace").splitlines():
            words = line.split()
            if read_too and any(word.count(":") == 2 and word.rsplit(":", 1)[1] in inodes for word in words):
                return True
            if files & set(words) and "WRITE" in words and str(os.getpid()) not in words:
                return True
        # The system does not list the locks of processes outside of a container; those of this process it does.
        return read_too and any(self._is_locked(part) for part in parts)

    def _is_locked(self, part: Path) -> bool:
        """Whether a lock can be had on a file on which this process holds none."""
        if sys.platform != "win32":
            import fcntl

            with suppress(OSError), part.open("r+b", buffering=0) as file:
                try:
                    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except (BlockingIOError, PermissionError):
                    return True
        return False


DISK = FileSystem()
