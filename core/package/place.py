"""A release's folder put in its place: staged beside it, one rename, and a way back from every step."""

from __future__ import annotations

import errno
import hashlib
import re
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..errors import InputError
from ..language import tr
from ..publish.files import DISK, FileSystem
from ..publish.leftovers import not_put_back, removed, stays, still_kept
from ..publish.replacing import not_nameable, refuse_if_not_replaceable, refuse_long_path
from .descriptor import FILE
from .folder import files_of

# Hidden beside a folder: `.vbas-<which folder>-<chance>.folder-new` is to become it, `….folder-old` is what stood there
# before; while a run has an empty file `….folder-begun` there, not all that it delivers stands in its place.
NEW, OLD, BEGUN = "folder-new", "folder-old", "folder-begun"


def refuse_other_folders(name: str, folder: Path, files: FileSystem = DISK) -> None:
    """Raise InputError where something stands in the place of a release's folder that it may not replace.

    name : of the output, for the message. What may stand there is nothing, an empty folder, or an earlier release with
    no other files beside it, none of which is open elsewhere on Windows.
    """
    refuse_long_path(name, folder, max(folder, _hidden(folder, BEGUN), key=lambda path: len(str(path))) / FILE, files)
    try:
        mode = files.status(folder).st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise not_nameable(name, folder, error) from None
    if not stat.S_ISDIR(mode):
        raise InputError.saying(
            "{name}: {path} is a file or a link: give the name of a new folder.", name=name, path=folder
        )
    there = set(files.names(folder))
    if not there:
        return
    try:
        known = files_of(folder, files)
    except InputError as error:
        raise InputError.saying(
            "{name}: {path} holds files and is no folder of an earlier release: choose a new or an empty folder.",
            name=name,
            path=folder,
        ) from error
    others = sorted(there - known) + sorted(
        name_there for name_there in there & known if not _is_plain(folder / name_there, files)
    )
    if others:
        raise InputError.saying(
            "{name}: {path} holds an earlier release, and “{other}”, which is none of its files: move that elsewhere, "
            "or choose another folder.",
            name=name,
            path=folder,
            other=others[0],
        )
    for file in [folder / name_there for name_there in sorted(there)]:
        # What is write-protected can be moved on Windows, and then not be removed.
        if files.holds_what_is_open and not files.may_write(file):
            raise InputError.saying(
                "{name}: {one} is write-protected: lift that or choose another name.", name=name, one=file
            )
        refuse_if_not_replaceable(file, name, files)  # Windows moves none that another program has open
    refuse_if_not_replaceable(folder, name, files)  # nor the folder that one works in


class FolderPlace:
    """The folder of a release.

    name : of the output; staged : a folder with its files; target : where it goes, beside which nobody else may work;
    count : looks at every claim of the folder in its place once more, and raises VbasError
    """

    def __init__(
        self,
        name: str,
        staged: Path,
        target: Path,
        count: Callable[[Path], None] = lambda _: None,
        files: FileSystem = DISK,
    ) -> None:
        self._name, self._staged, self._target, self._count, self._at = name, staged, target, count, files
        self._new, self._old = _hidden(target, NEW), _hidden(target, OLD)
        self._begun = _hidden(target, BEGUN)
        self._replaces = False
        self._files = files.names(staged)

    def prepare(self) -> None:
        """Copy the folder beside its place, under a name that nobody can predict. Raises InputError, OSError."""
        refuse_other_folders(self._name, self._target, self._at)
        self._at.new_file(self._begun, 0o600).close()
        self._at.make_folder(self._new, 0o700)
        for file in self._files:
            self._at.copy(self._staged / file, self._new / file)
        mode = _mode(self._target, self._at)
        self._at.permit(self._new, 0o777 & ~self._at.umask() if mode is None else mode)

    def put(self) -> None:
        """Give it its name, and what was there another."""
        refuse_other_folders(self._name, self._target, self._at)
        self._replaces = _mode(self._target, self._at) is not None
        if self._replaces:
            self._at.rename(self._target, self._old)
        self._at.rename(self._new, self._target)
        self._at.keep_names(self._target.parent)

    def check(self) -> None:
        """Compare each file with what was staged, and look at every claim. Raises OSError or VbasError."""
        for look in (lambda: None, lambda: self._count(self._target)):
            look()
            there = self._at.names(self._target)
            if there != self._files or not all(self._is_same(file) for file in there):
                raise OSError(errno.EBUSY, tr("another program has just changed {target}", target=self._target))

    def undo(self) -> list[str]:
        """Put back what was there; sentences on what could not be put back."""
        try:
            came = _mode(self._new, self._at) is None and _mode(self._begun, self._at) is not None
            if came and _mode(self._target, self._at) is not None:
                self._take_away(self._target)
            if _mode(self._old, self._at) is not None:
                self._at.rename(self._old, self._target)
        except OSError as error:
            return [not_put_back(self._target, self._old, error) if self._replaces else stays(self._target, error)]
        return []

    def forget(self) -> list[str]:
        """Remove what was kept; sentences on what could not be removed."""
        ended = removed(self._begun, self._at)  # from here on what was kept is only in the way
        try:
            if _mode(self._old, self._at) is not None:
                self._at.remove_tree(self._old)
        except OSError as error:
            return [*ended, still_kept(self._target, self._old, error)]
        return ended

    def discard(self) -> list[str]:
        """Remove what was copied; sentences on what could not be removed."""
        sentences = []
        try:
            if _mode(self._new, self._at) is not None:
                self._at.remove_tree(self._new)
        except OSError as error:
            sentences.append(stays(self._new, error))
        return sentences + removed(self._begun, self._at)

    def _is_same(self, file: str) -> bool:
        place = self._target / file
        return _is_plain(place, self._at) and self._at.read_bytes(place) == self._at.read_bytes(self._staged / file)

    def _take_away(self, folder: Path) -> None:
        """Remove the files that came with this run, and the folder; what others put there meanwhile stays."""
        for file in self._files:
            self._at.remove(folder / file, missing_ok=True)
        self._at.remove_folder(folder)


def tidy_up_folder(target: Path, files: FileSystem = DISK) -> None:
    """Put back the folder that a killed run was replacing, if it had not delivered all; else remove what it kept.

    The target must be held, see `one_run_on`. A folder that is new, where none was before, is left: it was counted
    before it was put there.
    """
    form = re.compile(re.escape(_named_for(target)) + rf"[0-9a-f]{{16}}\.({NEW}|{OLD}|{BEGUN})")
    with suppress(OSError):
        names = files.names(target.parent)
        left = [(target.with_name(name), match[1]) for name in names if (match := form.fullmatch(name))]
        left = [(path, role) for path, role in left if _is_own(path, files)]
        unfinished = any(role == BEGUN for _, role in left)
        for path, role in left:
            with suppress(OSError, InputError):
                if role == OLD and (unfinished or not files.is_there(target)):
                    refuse_other_folders("", target, files)
                    if files.is_there(target):
                        files.remove_tree(target)
                    files.rename(path, target)
                elif role != BEGUN:
                    files.remove_tree(path)
        # Last: as long as it is there, a run that is killed here is tidied up after in the same way.
        for path, role in left:
            if role == BEGUN:
                with suppress(OSError):
                    files.remove(path)


def _hidden(target: Path, role: str) -> Path:
    return target.with_name(f"{_named_for(target)}{secrets.token_hex(8)}.{role}")


def _named_for(target: Path) -> str:
    return f".vbas-{hashlib.sha256(target.name.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}-"


def _is_own(path: Path, files: FileSystem) -> bool:
    """Whether it is this user's, and no link."""
    status = files.status(path)
    return not stat.S_ISLNK(status.st_mode) and files.user() in (None, status.st_uid)


def _is_plain(file: Path, files: FileSystem) -> bool:
    try:
        return stat.S_ISREG(files.status(file).st_mode)
    except FileNotFoundError:
        return False


def _mode(path: Path, files: FileSystem) -> int | None:
    """The permissions of a folder or file, None where there is none."""
    try:
        return stat.S_IMODE(files.status(path).st_mode)
    except FileNotFoundError:
        return None
