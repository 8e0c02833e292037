"""Folders that a run works in, locked as long as it lives and cleared by a later run; one run on a target at a time."""

from __future__ import annotations

import errno
import hashlib
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ..errors import VbasError
from ..language import tr
from .files import DISK, FileSystem
from .together import finish

LOCK = ".lock"
TEMPORARY, BESIDE = "vbas-", ".vbas-"  # in a temporary folder; beside a target, where it is hidden


@contextmanager
def own_folder(parent: Path, prefix: str = TEMPORARY, files: FileSystem = DISK) -> Iterator[Path]:
    """A new folder that only this user may enter, removed at the end. Raises OSError where there can be none."""
    folder, descriptor = _locked_folder(parent, prefix, files)
    try:
        yield folder
    finally:
        _remove(folder, descriptor, files)


@contextmanager
def temporary_folder(files: FileSystem = DISK) -> Iterator[Path]:
    """A folder of its own in the system's folder for temporary files. Raises VbasError where there can be none."""
    with ExitStack() as stack:
        try:
            parent = files.temporary()
            clear_dead(parent, files)
            folder = stack.enter_context(own_folder(parent, files=files))
        except OSError as error:
            raise VbasError(no_temporary_folder(error, files)) from error
        yield folder


def no_temporary_folder(error: OSError, files: FileSystem = DISK) -> str:
    """The sentence where nothing can be written into the temporary folder."""
    # Python says only that no folder will do, by an error of its own.
    if error.errno == errno.ENOENT:
        return tr("There is no temporary folder to write to. Make room there, or set TMPDIR to another folder.")
    return tr(
        "The temporary folder {folder} cannot be written to: {reason}. Make room there, or set TMPDIR to another "
        "folder.",
        folder=files.temporary(),
        reason=error.strerror,
    )


def clear_dead(parent: Path, files: FileSystem = DISK) -> None:
    """Remove the folders that killed runs of this user on this machine have left in a folder, and what those had put
    beside them in part, see `together`."""
    ours = tuple(_beginning(prefix, files.machine()) for prefix in (TEMPORARY, BESIDE))
    with suppress(OSError):
        for name in files.names(parent):
            if name.startswith(ours):
                _clear(parent / name, files)


def _locked_folder(parent: Path, prefix: str, files: FileSystem) -> tuple[Path, int]:
    for _ in range(ATTEMPTS):
        folder = files.new_folder(parent, _beginning(prefix, files.machine()))
        try:
            descriptor = files.open_to_lock(folder / LOCK, new=True)
        except FileNotFoundError:
            continue
        except OSError:
            files.remove_tree(folder, as_far_as_it_goes=True)
            raise
        with suppress(BlockingIOError):
            files.lock(descriptor)
            if files.is_still(folder / LOCK, descriptor):
                return folder, descriptor
        files.close(descriptor)  # another run has taken the new folder for a dead one, and clears it
    raise FileExistsError(17, "other runs keep removing its folders")


def _clear(folder: Path, files: FileSystem) -> None:
    # A link in the place of the lock is not followed; a folder without a lock is not known to be anybody's.
    with suppress(OSError):
        status = files.status(folder)
        if not stat.S_ISDIR(status.st_mode) or files.user() not in (None, status.st_uid):
            return
        try:
            descriptor = files.open_left_lock(folder / LOCK)
        except FileNotFoundError:  # killed before it had one, or when the lock alone was left: then it is empty
            files.remove_folder(folder)
            return
        try:
            dead = files.lock(descriptor)
        except BaseException:
            files.close(descriptor)
            raise
        if dead:
            try:
                finish(folder, files)
            except OSError:
                files.close(descriptor)
                raise
            _remove(folder, descriptor, files)
        else:
            files.close(descriptor)


def _remove(folder: Path, descriptor: int, files: FileSystem) -> None:
    """Links in the folder are removed, not followed. The lock goes last: without it nobody would remove the rest."""
    if files.holds_what_is_open:
        files.close(descriptor)
    with suppress(OSError):
        for path in [folder / name for name in files.names(folder)]:
            if stat.S_ISDIR(files.status(path).st_mode):
                files.remove_tree(path, as_far_as_it_goes=True)
            elif path.name != LOCK:
                files.remove(path)
        if files.names(folder) == [LOCK]:
            files.remove_tree(folder, as_far_as_it_goes=True)
    if not files.holds_what_is_open:
        files.close(descriptor)


def _beginning(prefix: str, machine: str) -> str:
    """How the names of this machine's folders begin."""
    return f"{prefix}{hashlib.sha256(machine.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}-"


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
            raise VbasError.saying(
                "{name} cannot be written to {parent}: {reason}. Choose another folder.",
                name=name,
                parent=target.parent,
                reason=error.strerror,
            ) from error
        try:
            sure = files.lock(descriptor)
            if files.is_still(lock, descriptor):
                return descriptor, sure
        except BlockingIOError:
            files.close(descriptor)
            raise VbasError.saying(
                "{name}: another run is writing to {target}: wait until it has ended, or choose another place.",
                name=name,
                target=target,
            ) from None
        except BaseException:
            files.close(descriptor)
            raise
        files.close(descriptor)  # the run before removed it in between
    raise VbasError.saying(
        "{name} cannot be written to {parent}: {lock} is in the way there: remove it.",
        name=name,
        parent=target.parent,
        lock=lock.name,
    )
