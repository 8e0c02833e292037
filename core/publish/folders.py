"""Folders that a run works in: nobody else's, locked as long as it lives, and cleared by a later run if it was killed.

The name says on which machine, the lock whether it still runs: what another machine has left in a folder that both
share is never touched, nor what stands where no locks are known.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ..errors import VbasError
from ..language import tr
from .locks import ATTEMPTS, is_still, lock_file

LOCK = ".lock"
MACHINE_ID = Path("/etc/machine-id")
TEMPORARY, BESIDE = "vbas-", ".vbas-"  # in a temporary folder; beside a target, where it is hidden


@contextmanager
def own_folder(parent: Path, prefix: str = TEMPORARY) -> Iterator[Path]:
    """A new folder that only this user may enter, removed at the end. Raises OSError where there can be none."""
    folder, descriptor = _locked_folder(parent, prefix)
    try:
        yield folder
    finally:
        _remove(folder, descriptor)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder of its own in the system's folder for temporary files. Raises VbasError where there can be none."""
    with ExitStack() as stack:
        try:
            parent = Path(tempfile.gettempdir())
            clear_dead(parent)
            folder = stack.enter_context(own_folder(parent))
        except OSError as error:
            raise VbasError(no_temporary_folder(error)) from error
        yield folder


def no_temporary_folder(error: OSError) -> str:
    """The sentence where nothing can be written into the temporary folder."""
    # Python says only that no folder will do, by an error of its own.
    if error.errno == errno.ENOENT:
        return tr("There is no temporary folder to write to. Make room there, or set TMPDIR to another folder.")
    return tr(
        "The temporary folder {folder} cannot be written to: {reason}. Make room there, or set TMPDIR to another "
        "folder.",
        folder=tempfile.gettempdir(),
        reason=error.strerror,
    )


def clear_dead(parent: Path) -> None:
    """Remove the folders that killed runs of this user on this machine have left in a folder."""
    ours = tuple(_beginning(prefix) for prefix in (TEMPORARY, BESIDE))
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(ours) and _is_own_folder(Path(entry.path)):
                _clear(Path(entry.path))


def _locked_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    for _ in range(ATTEMPTS):
        folder = Path(tempfile.mkdtemp(prefix=_beginning(prefix), dir=parent))
        try:
            descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileNotFoundError:
            continue
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        with suppress(BlockingIOError):
            lock_file(descriptor)
            if is_still(folder / LOCK, descriptor):
                return folder, descriptor
        os.close(descriptor)  # another run has taken the new folder for a dead one, and clears it
    raise FileExistsError(17, "other runs keep removing its folders")


def _clear(folder: Path) -> None:
    # A link in the place of the lock is not followed; a folder without a lock is not known to be anybody's.
    with suppress(OSError):
        descriptor = os.open(folder / LOCK, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        try:
            dead = lock_file(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        if dead:
            _remove(folder, descriptor)
        else:
            os.close(descriptor)


def _remove(folder: Path, descriptor: int) -> None:
    """Links in the folder are removed, not followed. The lock goes last: without it nobody would remove the rest."""
    if sys.platform == "win32":  # where an open file cannot be removed
        os.close(descriptor)
    with suppress(OSError):
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name != LOCK:
                path.unlink()
        if [path.name for path in folder.iterdir()] == [LOCK]:
            shutil.rmtree(folder, ignore_errors=True)
    if sys.platform != "win32":
        os.close(descriptor)


def _is_own_folder(path: Path) -> bool:
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and (not hasattr(os, "geteuid") or status.st_uid == os.geteuid())


def _beginning(prefix: str) -> str:
    """How the names of this machine's folders begin."""
    machine = platform.node()
    with suppress(OSError):
        machine += MACHINE_ID.read_text(encoding="ascii", errors="replace")
    return f"{prefix}{hashlib.sha256(machine.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}-"
