"""Who else works on a target: another run, known by a lock that ends with its process, or another program that holds a
file of SQLite.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from ....core.errors import InputError, VbasError

# File systems that know no locks: there the unpredictable names alone keep two runs apart.
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)

ATTEMPTS = 100  # to lock a file that other runs remove; a link in its place never becomes it


@contextmanager
def one_run_on(target: Path, name: str) -> Iterator[None]:
    """Hold all files of one stem for the output of that name. Raises VbasError where another run holds them, or where
    the folder cannot be written to.

    The lock is on a hidden file beside the target, which is removed afterwards. A killed run leaves behind an
    empty file that nobody holds.
    """
    # Without case, as the file systems of Windows and macOS compare; hashed, so that its length is always the same.
    stem = hashlib.sha256(target.stem.casefold().encode("utf-8", "surrogateescape")).hexdigest()[:16]
    lock = target.with_name(f".vbas-{stem}.lock")
    descriptor = _taken(lock, target, name)
    try:
        yield
    finally:
        if sys.platform == "win32":  # where an open file cannot be removed
            os.close(descriptor)
        with suppress(OSError):
            lock.unlink()
        if sys.platform != "win32":
            os.close(descriptor)


def _taken(lock: Path, target: Path, name: str) -> int:
    for _ in range(ATTEMPTS):
        try:
            descriptor = _opened(lock)
        except OSError as error:
            raise VbasError(
                f"{name} cannot be written to {target.parent}: {error.strerror}. Choose another folder."
            ) from error
        try:
            _lock(descriptor)
            if _is_still(lock, descriptor):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            raise VbasError(
                f"{name}: another run is writing to {target}: wait until it has ended, or choose another place."
            ) from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # the run before removed it in between
    raise VbasError(f"{name} cannot be written to {target.parent}: {lock.name} is in the way there: remove it.")


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


def _is_still(lock: Path, descriptor: int) -> bool:
    try:
        found = os.lstat(lock)
    except FileNotFoundError:
        return False
    held = os.fstat(descriptor)
    return (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)


def _lock(descriptor: int) -> None:
    """Lock an open file, or raise BlockingIOError where another holds it."""
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


SUFFIXES = (".gpkg", ".sqlite")
JOURNALS = ("-wal", "-journal", "-shm")
LOCKS = Path("/proc/locks")
# What GDAL and QGIS keep for their own use beside the tables of the user.
SYSTEM = {".gpkg": ("gpkg_", "rtree_", "sqlite_"), ".sqlite": ("idx_", "sqlite_")}
SYSTEM_TABLES = frozenset(
    ("layer_styles", "ogr_empty_table", "geometry_columns", "spatial_ref_sys", "spatialite_history")
)


def journals_of(file: Path) -> list[str]:
    """Names of the files that SQLite keeps beside a database; none for other formats."""
    return [file.name + journal for journal in JOURNALS] if file.suffix.lower() in SUFFIXES else []


def refuse_if_held(target: Path, name: str) -> None:
    """Raise InputError where another program (or this QGIS) works in a database that is to be replaced."""
    if target.suffix.lower() not in SUFFIXES or not _open_journals(target):
        return
    if sys.platform.startswith("linux") and LOCKS.is_file():
        if not _locked(target):
            return
        what_to_do = "close it there or remove its layers from the project, or choose another place"
    else:
        what_to_do = "close it there (if nobody has it open: open and close it once), or choose another place"
    raise InputError(f"{name}: another program is working in {target}: {what_to_do}.")


def other_tables(target: Path, own: str) -> list[str]:
    """Names of the tables in a database that would be lost, were it replaced by one with the table `own`."""
    if target.suffix.lower() not in SUFFIXES or not target.is_file():
        return []
    # What a program that ended badly left in a journal belongs to the file. SQLite would mend the file as it reads it:
    # a copy is read, so that nothing is changed.
    if _open_journals(target):
        with tempfile.TemporaryDirectory(prefix="vbas_copy_") as folder:
            for suffix in ("", "-wal", "-journal"):
                part = target.with_name(target.name + suffix)
                if part.is_file():
                    shutil.copyfile(part, Path(folder) / f"copy{suffix}")
            names = _tables((Path(folder) / "copy").as_uri() + "?mode=rw")
    else:
        names = _tables(target.resolve().as_uri() + "?mode=ro&immutable=1")
    return [
        table
        for table in names
        if table.lower() != own.lower()
        and table.lower() not in SYSTEM_TABLES
        and not table.lower().startswith(SYSTEM[target.suffix.lower()])
    ]


def _tables(uri: str) -> list[str]:
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=0)) as connection:
            rows = connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid"
            ).fetchall()
    except sqlite3.DatabaseError:  # no database, whatever its name says: a plain file, which may be replaced
        return []
    return [str(name) for (name,) in rows]


def _open_journals(target: Path) -> bool:
    """Whether a write-ahead log or rollback journal that holds something stands beside a database."""
    for suffix in ("-wal", "-journal"):
        journal = target.with_name(target.name + suffix)
        if journal.is_file() and (suffix == "-wal" or journal.stat().st_size):
            return True
    return False


def _locked(target: Path) -> bool:
    """Whether any process, this one included, holds a lock of SQLite on the file or its index of the log.

    Read from the system: opening and closing the file here would end the locks that this very process holds on it.
    """
    inodes = set()
    for suffix in ("", "-shm"):
        part = target.with_name(target.name + suffix)
        if part.is_file():
            inodes.add(str(part.stat().st_ino))
    for line in LOCKS.read_text(encoding="ascii", errors="replace").splitlines():
        if any(word.count(":") == 2 and word.rsplit(":", 1)[1] in inodes for word in line.split()):
            return True
    return False
