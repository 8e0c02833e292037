"""What a run reads and writes, so that no two of its inputs and outputs are in one place.

Files and tables are compared by what they are, not by how they are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError
from .files import DISK
from .side_files import read_with

Key = tuple[object, ...]


class Occupied:
    """The files and tables that inputs are read from and other outputs go to."""

    def __init__(self) -> None:
        # By what a file is: whose it is, and whether it is the file itself or one beside it.
        self._read: dict[Key, tuple[str, Path]] = {}
        self._written: dict[Key, tuple[str, Path]] = {}
        self._tables: dict[Key, str] = {}
        self._read_tables: dict[Key, str] = {}

    def read_file(self, name: str, path: Path) -> None:
        """Note a file that an input is read from, or a folder of them, with what is read with it."""
        path = path.absolute()
        files = DISK.files_below(path) if DISK.is_folder(path) else _with_what_is_beside(path)
        for file in files:
            for key in _identities(file):
                self._read.setdefault(key, (name, path))

    def read_table(self, name: str, keys: Sequence[Key]) -> None:
        """Note a table that an input is read from; keys : what it is, in all ways that it may be written."""
        for key in keys:
            self._read_tables.setdefault(key, name)

    def add_file(self, name: str, path: Path, written: list[Path]) -> None:
        """Note an output file. Raises InputError where it is, or would overwrite a part of, something else."""
        for file in written:
            for key in _identities(file):
                for others in (self._read, self._written):
                    if key in others:
                        _refuse(name, path, file, *others[key])
        for file in written:
            for key in _identities(file):
                self._written.setdefault(key, (name, path))

    def add_table(self, name: str, table: str, keys: Sequence[Key], file: Path | None) -> None:
        """Note an output table. Raises InputError where it is something else's.

        keys : what it is, in all ways that it may be written; file : the database, where it is one
        """
        if file is not None:
            for key in _identities(file):
                if key in self._written and self._written[key][0] not in self._tables.values():
                    _refuse(name, file, file, *self._written[key])
        for key in keys:
            if key in self._read_tables or key in self._tables:
                other = self._read_tables.get(key) or self._tables[key]
                raise InputError.saying(
                    "{name} and {other} are the same table, “{table}”: choose another place for one.",
                    name=name,
                    other=other,
                    table=table,
                )
        self._tables.update(dict.fromkeys(keys, name))
        if file is not None:
            for beside in _with_what_is_beside(file):
                for key in _identities(beside):
                    self._written.setdefault(key, (name, file))


def _with_what_is_beside(path: Path) -> list[Path]:
    """A link is read with what lies beside it, and with what lies beside the file that it leads to."""
    places = dict.fromkeys((path, DISK.real(path)))
    return [place.with_name(other) for place in places for other in read_with(place)]


def tables_of_file(file: Path, table: object) -> list[Key]:
    """What the table of that name in a file is."""
    return [(*key, str(table).lower()) for key in _identities(file)]


def _identities(path: Path) -> list[Key]:
    """What a file is, by name and by what the file system calls it: two files are the same if they share one."""
    names = {DISK.compared(DISK.real(path)), DISK.compared(DISK.real(path.parent) / path.name)}
    keys: list[Key] = [("name", name) for name in sorted(names)]
    try:
        status = DISK.status_behind(path)
        keys.append(("file", status.st_dev, status.st_ino))
    except OSError:  # not there yet
        pass
    return keys


def _refuse(name: str, path: Path, file: Path, other: str, other_path: Path) -> None:
    if file == path and set(_identities(file)) & set(_identities(other_path)):
        raise InputError.saying(
            "{name} and {other} are the same file, {path}: choose another place for one.",
            name=name,
            other=other,
            path=path,
        )
    raise InputError.saying(
        "{name} would write {one}, which belongs to {other} ({other_path}): choose another name for one of them.",
        name=name,
        one=file,
        other=other,
        other_path=other_path,
    )
