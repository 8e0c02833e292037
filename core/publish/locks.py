"""One run at a time on a target: known by a lock that ends with its process."""

from __future__ import annotations

import errno
import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import VbasError
from ..language import tr

# File systems that know no locks: there the unpredictable names alone keep two runs apart.
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)

ATTEMPTS = 100  # to lock a file that other runs remove; a link in its place never becomes it


@contextmanager
def one_run_on(target: Path, name: str) -> Iterator[bool]:
    """Hold all files of one stem for the output of that name. Raises VbasError where another run holds them, or where
    the folder cannot be written to. Gives whether that is sure: not so on file systems that know no locks.

    The lock is on a hidden file beside the target, which is removed afterwards. A killed run leaves behind an
    empty file that nobody holds.
    """
    # Without case, as the file systems of Windows and macOS compare; hashed, so that its length is always the same.
    stem = hashlib.sha256(target.stem.casefold().encode("utf-8", "surrogateescape")).hexdigest()[:16]
    lock = target.with_name(f".vbas-{stem}.lock")
    descriptor, sure = _taken(lock, target, name)
    try:
        yield sure
    finally:
        if sys.platform == "win32":  # where an open file cannot be removed
            os.close(descriptor)
        with suppress(OSError):
            lock.unlink()
        if sys.platform != "win32":
            os.close(descriptor)


def _taken(lock: Path, target: Path, name: str) -> tuple[int, bool]:
    for _ in range(ATTEMPTS):
        try:
            descriptor = _opened(lock)
        except OSError as error:
            raise VbasError(
                tr(
                    "{name} cannot be written to {parent}: {reason}. Choose another folder.",
                    name=name,
                    parent=target.parent,
                    reason=error.strerror,
                )
            ) from error
        try:
            sure = lock_file(descriptor)
            if is_still(lock, descriptor):
                return descriptor, sure
        except BlockingIOError:
            os.close(descriptor)
            raise VbasError(
                tr(
                    "{name}: another run is writing to {target}: wait until it has ended, or choose another place.",
                    name=name,
                    target=target,
                )
            ) from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # the run before removed it in between
    raise VbasError(
        tr(
            "{name} cannot be written to {parent}: {lock} is in the way there: remove it.",
            name=name,
            parent=target.parent,
            lock=lock.name,
        )
    )


def _opened(lock: Path) -> int:
    # A link planted under this name is not followed, and nothing is ever written into the file.
    unfollowed = getattr(os, "O_NOFOLLOW", 0)
    try:
        return os.open(lock, os.O_RDWR | os.O_CREAT | unfollowed, 0o644)
    except PermissionError:
        try:
            # What a killed run of another user has left can be read, and so be locked.
            return os.open(lock, os.O_RDONLY | unfollowed)
        except FileNotFoundError:
            pass  # it is the folder that is closed
        raise


def is_still(file: Path, descriptor: int) -> bool:
    """Whether an open file still stands under its name."""
    try:
        status = os.lstat(file)
    except FileNotFoundError:
        return False
    held = os.fstat(descriptor)
    return (status.st_dev, status.st_ino) == (held.st_dev, held.st_ino)


def lock_file(descriptor: int) -> bool:
    """Lock an open file; False where its file system knows no locks. Raises BlockingIOError where another holds it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except PermissionError as error:
                raise BlockingIOError from error
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if isinstance(error, BlockingIOError) or error.errno not in NO_LOCKS:
            raise
        return False
    return True
