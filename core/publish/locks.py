"""One run at a time on a target: known by a lock that ends with its process."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import VbasError
from ..language import tr
from .files import DISK, FileSystem

ATTEMPTS = 100  # to lock a file that other runs remove; a link in its place never becomes it


@contextmanager
def one_run_on(target: Path, name: str, files: FileSystem = DISK, said: Path | None = None) -> Iterator[bool]:
    """Hold all files of one stem for the output of that name. Raises VbasError where another run holds them, or where
    the folder cannot be written to. Gives whether that is sure: not so on file systems that know no locks,
    where the unpredictable names alone keep two runs apart.

    said : the file that a sentence names, where that is not the target

    The lock is on a hidden file beside the target, which is removed afterwards. A killed run leaves behind an
    empty file that nobody holds.
    """
    lock = lock_on(target)
    descriptor, sure = _taken(lock, said or target, name, files)
    try:
        yield sure
    finally:
        if files.holds_what_is_open:
            files.close(descriptor)
        with suppress(OSError):
            files.remove(lock)
        if not files.holds_what_is_open:
            files.close(descriptor)


def lock_on(target: Path) -> Path:
    """The file that is locked by whoever holds a target."""
    # Without case, as the file systems of Windows and macOS compare; hashed, so that its length is always the same.
    stem = hashlib.sha256(target.stem.casefold().encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return target.with_name(f".vbas-{stem}.lock")


def _taken(lock: Path, target: Path, name: str, files: FileSystem) -> tuple[int, bool]:
    for _ in range(ATTEMPTS):
        try:
            descriptor = files.open_to_lock(lock)
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
            sure = files.lock(descriptor)
            if files.is_still(lock, descriptor):
                return descriptor, sure
        except BlockingIOError:
            files.close(descriptor)
            raise VbasError(
                tr(
                    "{name}: another run is writing to {target}: wait until it has ended, or choose another place.",
                    name=name,
                    target=target,
                )
            ) from None
        except BaseException:
            files.close(descriptor)
            raise
        files.close(descriptor)  # the run before removed it in between
    raise VbasError(
        tr(
            "{name} cannot be written to {parent}: {lock} is in the way there: remove it.",
            name=name,
            parent=target.parent,
            lock=lock.name,
        )
    )
