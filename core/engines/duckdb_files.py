"""Files that DuckDB works with: those that records are read from, and the one that a release becomes."""

from __future__ import annotations

import glob
from contextlib import suppress
from pathlib import Path

from ..errors import InputError
from ..language import one_of, tr
from ..publish.files import DISK
from ..publish.names import check_file_name

WRITTEN = (".parquet", ".csv")


def files_named(place: str) -> dict[Path, tuple[int, int, int]]:
    """The files that a path, a folder or a pattern names, and what each is like now. Raises InputError."""
    pattern = place if "*" in place else glob.escape(place)
    if Path(place).is_dir():
        pattern += "/**/*.parquet"
    # Hidden ones are left out, and a folder that is removed meanwhile is not missed.
    states = {}
    for path in sorted(Path(name) for name in glob.glob(pattern, recursive=True)):  # noqa: PTH207
        with suppress(OSError):
            if path.is_file():
                states[path] = file_state(path)
    if not states:
        raise InputError(
            tr(
                "CONNECTION: there is no file “{place}”, or no Parquet file in that folder: correct the path. CSV "
                "files of a folder are named by a pattern, such as folder/*.csv.",
                place=place,
            )
        )
    endings = {ending(file) for file in states}
    if len(endings) > 1:
        raise InputError(
            tr(
                "CONNECTION: “{place}” names files of several kinds ({endings}): name one.",
                place=place,
                endings=", ".join(sorted(endings)),
            )
        )
    return states


def ending(path: Path) -> str:
    """How the name of a file ends, in small letters; with what comes before .gz."""
    return path.suffix.lower() if path.suffix.lower() != ".gz" else "".join(path.suffixes[-2:]).lower()


def file_state(path: Path) -> tuple[int, int, int]:
    """Which file this is, how large (bytes) and when written (ns). Raises OSError where it is gone."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def free_place(destination: str) -> Path:
    """The place of a release that is not there yet. Raises InputError."""
    final = Path(destination).absolute()
    check_file_name("DESTINATION", final.name, destination)
    if final.suffix.lower() not in WRITTEN:
        raise InputError(
            tr(
                "DESTINATION “{destination}” does not end in {written}, which is what is written.",
                destination=destination,
                written=one_of(WRITTEN),
            )
        )
    if _is_there(final):
        raise InputError(
            tr("DESTINATION: “{final}” is there already: choose a new name, or remove it first.", final=final)
        )
    if not final.parent.is_dir():
        raise InputError(
            tr(
                "DESTINATION: there is no folder “{parent}”: make it first or choose another place.",
                parent=final.parent,
            )
        )
    try:
        DISK.try_to_write(final.parent)
    except OSError as error:
        raise nothing_written_into(final.parent, error) from None
    return final


def _is_there(final: Path) -> bool:
    """Whether a place is taken. Raises InputError where nobody can tell, such as for a path that is too long."""
    try:
        final.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise nothing_written_into(final.parent, error) from None
    return True


def nothing_written_into(folder: Path, error: OSError) -> InputError:
    """That a folder takes no file."""
    return InputError(
        tr(
            "DESTINATION: nothing can be written into the folder “{parent}” ({reason}): choose another place.",
            parent=folder,
            reason=error.strerror,
        )
    )
