"""Whether a file may be replaced, asked before any work is done for what would take its place."""

from __future__ import annotations

import stat
from pathlib import Path

from ..errors import InputError
from ..language import tr
from .files import DISK, FileSystem
from .leftovers import NEW, hidden_beside
from .sqlite_targets import SUFFIXES, refuse_if_held, refuse_if_others_would_be_lost


def refuse_if_not_replaceable(file: Path, name: str, files: FileSystem = DISK) -> None:
    """Raise InputError where a file is there and cannot be replaced, such as one that is open elsewhere on Windows.

    name : of the output, for the message. The file is neither opened nor changed.
    """
    try:
        files.refuse_to_replace(file)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError.saying(
            "{name}: {file} cannot be replaced now ({reason}): close it in other programs and take its layer out of "
            "the project, or choose another place.",
            name=name,
            file=file,
            reason=error.strerror,
        ) from error


def refuse_long_path(name: str, path: Path, longest: Path, files: FileSystem = DISK) -> None:
    """Raise InputError where a path is longer than Windows takes, which then says that nothing is there.

    name : of the output, for the message; path : where it goes; longest : of all files that are made for it
    """
    most, text = files.longest_path(), str(longest)
    if most is not None and len(text) > most and not text.startswith("\\\\?\\"):
        raise InputError.saying(
            "{name} cannot be written to {path}: with what is made beside it the path is {length} long, and this "
            "Windows takes {most}. Choose a shorter name or another folder.",
            name=name,
            path=path,
            length=len(text),
            most=most,
        )


def check_nameable(name: str, path: Path, written: list[Path], files: FileSystem = DISK) -> None:
    """Raise InputError where the names of an output's files cannot be had in its folder, such as too long ones.

    name : of the output, for the message; path : its file; written : all files of it, this one included
    """
    journal = [path.with_name(path.name + "-journal")] if path.suffix.lower() in SUFFIXES else []
    for file in [*written, *journal]:
        refuse_long_path(name, path, max(file, hidden_beside(file, path, NEW), key=lambda name: len(str(name))), files)
        try:
            files.status(file)
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            raise not_nameable(name, path, error) from None


def not_nameable(name: str, path: Path, error: OSError | ValueError) -> InputError:
    """What is said of an output that cannot have its name."""
    return InputError.saying(
        "{name} cannot be written to {path}: {reason}. Choose another name.",
        name=name,
        path=path,
        reason=getattr(error, "strerror", error),
    )


def check_what_is_there(name: str, path: Path, written: list[Path], files: FileSystem = DISK) -> None:
    """Raise InputError where something is in the place of an output that may not be replaced by it.

    Arguments as for `check_nameable`.
    """
    for file in written:
        try:
            mode = files.status(file).st_mode
        except FileNotFoundError:
            continue
        if stat.S_ISLNK(mode):
            raise InputError.saying(
                "{name}: {one} is a symbolic link to {path}: give the name of the file itself.",
                name=name,
                one=file,
                path=files.real(file),
            )
        if not stat.S_ISREG(mode):
            kind = tr("a folder") if stat.S_ISDIR(mode) else tr("not a plain file")
            raise InputError.saying(
                "{name} would be written to {one}, which is {kind}: choose another name.",
                name=name,
                one=file,
                kind=kind,
            )
        if not files.may_write(file):
            raise InputError.saying(
                "{name}: {one} is write-protected: lift that or choose another name.", name=name, one=file
            )
        refuse_if_not_replaceable(file, name, files)
    map_file = path.with_suffix(".shp")
    if path.suffix.lower() == ".dbf" and files.is_there(map_file):
        raise InputError.saying(
            "{name} is a table, and {path} holds the attributes of {map_file}: choose another name.",
            name=name,
            path=path,
            map_file=map_file,
        )
    if path.suffix.lower() in SUFFIXES:
        refuse_if_held(path, name, files)
        refuse_if_others_would_be_lost(path, name, files)
