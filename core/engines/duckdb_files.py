"""Files that DuckDB works with: those that records are read from, and the one that a release becomes."""

from __future__ import annotations

import glob
import re
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
        raise InputError.saying(
            "CONNECTION: there is no file “{place}”, or no Parquet file in that folder: correct the path. CSV files of "
            "a folder are named by a pattern, such as folder/*.csv.",
            place=place,
        )
    endings = {ending(file) for file in states}
    if len(endings) > 1:
        raise InputError.saying(
            "CONNECTION: “{place}” names files of several kinds ({endings}): name one.",
            place=place,
            endings=", ".join(sorted(endings)),
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
        raise InputError.saying(
            "DESTINATION “{destination}” does not end in {written}, which is what is written.",
            destination=destination,
            written=one_of(WRITTEN),
        )
    if _is_there(final):
        raise InputError.saying(
            "DESTINATION: “{final}” is there already: choose a new name, or remove it first.", final=final
        )
    if not final.parent.is_dir():
        raise InputError.saying(
            "DESTINATION: there is no folder “{parent}”: make it first or choose another place.", parent=final.parent
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
    return InputError.saying(
        "DESTINATION: nothing can be written into the folder “{parent}” ({reason}): choose another place.",
        parent=folder,
        reason=error.strerror,
    )


SAID_AS_IT_IS = ("IO Error", "Out of Memory Error", "Catalog Error")
OF_VALUES = ("Conversion Error", "Invalid Input Error")
KEPT_BACK = ("out of memory", "no space left", "no files found", "does not exist", "permission denied", "cannot open")


def without_values(error: Exception) -> str:
    """What DuckDB says, where that holds no values; else the kind of error."""
    first = str(error).strip().split("\n")[0]
    inner = re.search(r'"exception_message":"((?:[^"\\]|\\.)*)"', first)
    first = f"IO Error: {inner[1]}".replace('\\"', '"') if inner else first
    if sentence := _of_a_file(str(error)):
        return sentence
    kind = first.partition(":")[0] if ":" in first[:40] else type(error).__name__
    said = any(word in first.lower() for word in KEPT_BACK)
    if kind in SAID_AS_IT_IS or (said and kind not in OF_VALUES):
        return tr("DuckDB: {first}: nothing was written.", first=first.rstrip(". "))
    return tr(
        "CONNECTION: DuckDB cannot work with the table ({kind}): nothing was written. Look for values that are not of "
        "their field's kind, and in a CSV file for line breaks in the names of fields.",
        kind=kind.removesuffix(" Error"),
    )


def _of_a_file(text: str) -> str | None:
    """What is wrong with a file that cannot be read, without its lines; None where the message is of something else."""
    lower = text.lower()
    line = re.search(r"csv\serror\son\sline:\s(\d+)", lower)
    if "not utf-8" in lower or "invalid unicode" in lower:
        return tr("CONNECTION: a CSV file is not in the encoding UTF-8: nothing was written. Save it in that.")
    if line:
        return tr(
            "CONNECTION: line {line} of a CSV file cannot be read: nothing was written. Look there for more or fewer "
            "values than the first line has names, and for a quote that does not end.",
            line=line[1],
        )
    if "when sniffing" in lower:
        return tr(
            "CONNECTION: DuckDB cannot tell the fields of a CSV file: nothing was written. Its first line must be the "
            "names of the fields, none with a line break in it, and every line must have as many values, separated "
            "alike."
        )
    if "magic bytes" in lower or "too small" in lower:
        return tr(
            "CONNECTION: a file that ends in .parquet is none, or was not written to its end: nothing was written. "
            "Write it anew."
        )
    return None
