"""A release's folder put in its place: staged beside it, one rename, and a way back from every step."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..errors import InputError
from ..language import tr
from .folder import files_of

# Hidden beside a folder: `.vbas-<which folder>-<chance>.folder-new` is to become it, `….folder-old` is what stood there
# before; while a run has an empty file `….folder-begun` there, not all that it delivers stands in its place.
NEW, OLD, BEGUN = "folder-new", "folder-old", "folder-begun"


def refuse_other_folders(name: str, folder: Path) -> None:
    """Raise InputError where something stands in the place of a release's folder that it may not replace.

    name : of the output, for the message. What may stand there is nothing, an empty folder, or an earlier release with
    no other files beside it.
    """
    try:
        mode = os.lstat(folder).st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise InputError(
            tr(
                "{name} cannot be written to {path}: {reason}. Choose another name.",
                name=name,
                path=folder,
                reason=getattr(error, "strerror", error),
            )
        ) from None
    if not stat.S_ISDIR(mode):
        raise InputError(
            tr("{name}: {path} is a file or a link: give the name of a new folder.", name=name, path=folder)
        )
    there = {entry.name for entry in folder.iterdir()}
    if not there:
        return
    try:
        known = files_of(folder)
    except InputError as error:
        raise InputError(
            tr(
                "{name}: {path} holds files and is no folder of an earlier release: choose a new or an empty folder.",
                name=name,
                path=folder,
            )
        ) from error
    others = sorted(there - known) + sorted(one for one in there & known if not _is_plain(folder / one))
    if others:
        raise InputError(
            tr(
                "{name}: {path} holds an earlier release, and “{other}”, which is none of its files: move that "
                "elsewhere, or choose another folder.",
                name=name,
                path=folder,
                other=others[0],
            )
        )


class FolderPlace:
    """The folder of a release.

    name : of the output; staged : a folder with its files; target : where it goes, beside which nobody else may work;
    count : looks at every claim of the folder in its place once more, and raises VbasError
    """

    def __init__(self, name: str, staged: Path, target: Path, count: Callable[[Path], None] = lambda _: None) -> None:
        self._name, self._staged, self._target, self._count = name, staged, target, count
        self._new, self._old = _hidden(target, NEW), _hidden(target, OLD)
        self._begun = _hidden(target, BEGUN)
        self._files = sorted(file.name for file in staged.iterdir())

    def prepare(self) -> None:
        """Copy the folder beside its place, under a name that nobody can predict. Raises InputError, OSError."""
        refuse_other_folders(self._name, self._target)
        os.close(os.open(self._begun, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        self._new.mkdir(mode=0o700)
        for file in self._files:
            shutil.copyfile(self._staged / file, self._new / file)
        mode = _mode(self._target)
        self._new.chmod(0o777 & ~_umask() if mode is None else mode)

    def put(self) -> None:
        """Give it its name, and what was there another."""
        refuse_other_folders(self._name, self._target)
        if _mode(self._target) is not None:
            os.rename(self._target, self._old)  # noqa: PTH104
        os.rename(self._new, self._target)  # noqa: PTH104

    def check(self) -> None:
        """Compare each file with what was staged, and look at every claim. Raises OSError or VbasError."""
        for look in (lambda: None, lambda: self._count(self._target)):
            look()
            there = sorted(entry.name for entry in self._target.iterdir())
            if there != self._files or not all(self._is_same(file) for file in there):
                raise OSError(errno.EBUSY, tr("another program has just changed {target}", target=self._target))

    def undo(self) -> list[str]:
        """Put back what was there; sentences on what could not be put back."""
        came = _mode(self._new) is None and not self._is_before()
        try:
            if came and _mode(self._target) is not None:
                self._take_away(self._target)
            if _mode(self._old) is not None:
                os.rename(self._old, self._target)  # noqa: PTH104
        except OSError as error:
            if _mode(self._old) is None:
                return [_stays(self._target, error)]
            return [
                tr(
                    "{target} could not be put back ({reason}): what it held is in {kept}, rename it.",
                    target=self._target,
                    reason=error.strerror,
                    kept=self._old,
                )
            ]
        return []

    def forget(self) -> list[str]:
        """Remove what was kept; sentences on what could not be removed."""
        ended = _removed(self._begun)  # from here on what was kept is only in the way
        if _mode(self._old) is None:
            return ended
        try:
            shutil.rmtree(self._old)
        except OSError as error:
            return [
                *ended,
                tr(
                    "What {target} held before is still in {kept} ({reason}): remove it.",
                    target=self._target,
                    kept=self._old,
                    reason=error.strerror,
                ),
            ]
        return ended

    def discard(self) -> list[str]:
        """Remove what was copied; sentences on what could not be removed."""
        sentences = []
        if _mode(self._new) is not None:
            try:
                shutil.rmtree(self._new)
            except OSError as error:
                sentences.append(_stays(self._new, error))
        return sentences + _removed(self._begun)

    def _is_before(self) -> bool:
        """Whether nothing was prepared yet."""
        return not os.path.lexists(self._begun)

    def _is_same(self, file: str) -> bool:
        place = self._target / file
        return _is_plain(place) and place.read_bytes() == (self._staged / file).read_bytes()

    def _take_away(self, folder: Path) -> None:
        """Remove the files that came with this run, and the folder; what others put there meanwhile stays."""
        for file in self._files:
            (folder / file).unlink(missing_ok=True)
        folder.rmdir()


def tidy_up_folder(target: Path) -> None:
    """Put back the folder that a killed run was replacing, if it had not delivered all; else remove what it kept.

    The target must be held, see `one_run_on`. A folder that is new, where none was before, is left: it was counted
    before it was put there.
    """
    form = re.compile(re.escape(_named_for(target)) + rf"[0-9a-f]{{16}}\.({NEW}|{OLD}|{BEGUN})")
    with suppress(OSError), os.scandir(target.parent) as entries:
        left = [(Path(entry.path), match[1]) for entry in entries if (match := form.fullmatch(entry.name))]
        left = [(path, role) for path, role in left if _is_own(path)]
        unfinished = any(role == BEGUN for _, role in left)
        for path, role in left:
            with suppress(OSError, InputError):
                if role == OLD and (unfinished or not os.path.lexists(target)):
                    refuse_other_folders("", target)
                    if os.path.lexists(target):
                        shutil.rmtree(target)
                    os.rename(path, target)  # noqa: PTH104
                elif role != BEGUN:
                    shutil.rmtree(path)
        # Last: as long as it is there, a run that is killed here is tidied up after in the same way.
        for path, role in left:
            if role == BEGUN:
                with suppress(OSError):
                    path.unlink()


def _hidden(target: Path, role: str) -> Path:
    return target.with_name(f"{_named_for(target)}{secrets.token_hex(8)}.{role}")


def _named_for(target: Path) -> str:
    return f".vbas-{hashlib.sha256(target.name.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}-"


def _is_own(path: Path) -> bool:
    """Whether it is this user's, and no link."""
    status = os.lstat(path)
    return not stat.S_ISLNK(status.st_mode) and (not hasattr(os, "geteuid") or status.st_uid == os.geteuid())


def _is_plain(file: Path) -> bool:
    try:
        return stat.S_ISREG(os.lstat(file).st_mode)
    except FileNotFoundError:
        return False


def _mode(path: Path) -> int | None:
    """The permissions of a folder or file, None where there is none."""
    try:
        return stat.S_IMODE(os.lstat(path).st_mode)
    except FileNotFoundError:
        return None


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _removed(file: Path) -> list[str]:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        return [_stays(file, error)]
    return []


def _stays(path: Path, error: OSError) -> str:
    return tr(
        "{target} was already written and could not be removed ({reason}): remove it.",
        target=path,
        reason=error.strerror,
    )
