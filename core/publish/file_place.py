"""Files put in their place: beside what is there, then under its name, with a way back from every step."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from ..errors import VbasError
from ..language import tr
from .files import DISK, FileSystem
from .leftovers import NEW, OLD, hidden_beside, not_put_back, removed, stays, still_kept
from .replacing import refuse_if_not_replaceable
from .sqlite_targets import SUFFIXES, journals_of, refuse_if_held, refuse_if_others_would_be_lost


class FilePlace:
    """The files of one output, side files included, in the folder of its target.

    name : of the output
    staged : the file in a folder of its own, with its side files
    target : where it goes; the side files go beside it
    stale : names of files beside the target that belong to what is replaced, such as an index of the old shapes
    look : looks whether what is staged is still what was counted, and raises VbasError
    files : the file system
    """

    def __init__(
        self,
        name: str,
        staged: Path,
        target: Path,
        stale: Iterable[str] = (),
        look: Callable[[Path], None] = lambda _: None,
        files: FileSystem = DISK,
    ) -> None:
        self._name, self._staged, self._target, self._look, self._files = name, staged, target, look, files
        self._is_database = target.suffix.lower() in SUFFIXES
        staged_files = [staged.with_name(file_name) for file_name in files.names(staged.parent)]
        new = {beside(target, staged, file): file for file in staged_files}
        old = {target.with_name(file_name): None for file_name in stale}
        self._moves = [_Move(where, file, target, files) for where, file in {**old, **new}.items()]
        self._begun = hidden_beside(target, target, NEW)

    def prepare(self) -> None:
        """Bring the files beside their places, under names that nobody can predict."""
        self._ask()
        if self._is_database:
            refuse_if_others_would_be_lost(self._target, self._name, self._files)  # what came since the run began
        # A side file that is new is as open to others as the file that it belongs to.
        like = _status(self._target, self._files)
        try:
            self._files.new_file(self._begun, 0o600).close()
            for move in self._moves:
                move.prepare(like, self._begun)
        except OSError as error:
            raise VbasError.saying(
                "{name} cannot be written to {parent}: {reason}",
                name=self._name,
                parent=self._target.parent,
                reason=error.strerror,
            ) from error

    def put(self) -> None:
        """Give each its name, and what was there another."""
        self._ask()
        for move in self._moves:
            move.put()
        self._files.keep_names(self._target.parent)

    def _ask(self) -> None:
        """Whether everything may be replaced, before anything is: what is open elsewhere cannot be moved on Windows."""
        if self._is_database:
            refuse_if_held(self._target, self._name, self._files)
        for move in self._moves:
            refuse_if_not_replaceable(move.target, self._name, self._files)

    def check(self) -> None:
        """Compare what was staged with what was counted, and each with that. Raises OSError or VbasError."""
        self._look(self._staged)
        for move in self._moves:
            move.check()
        # What stands beside a database belongs to it as soon as it is opened.
        names = journals_of(self._target) if self._is_database else []
        journals = [self._target.with_name(journal) for journal in names]
        if any(_status(journal, self._files) is not None for journal in journals):
            raise VbasError.saying("another program has just written beside {target}", target=self._target)

    def undo(self) -> list[str]:
        """Put back what was there, the last file first; sentences on what could not be put back."""
        return [sentence for move in reversed(self._moves) for sentence in move.undo()]

    def forget(self) -> list[str]:
        """Remove what was kept; sentences on what could not be removed."""
        ended = removed(self._begun, self._files)  # from here on what was kept is only in the way
        return ended + [sentence for move in self._moves for sentence in move.forget()]

    def discard(self) -> list[str]:
        """Remove what was brought; sentences on what could not be removed."""
        return [sentence for move in self._moves for sentence in move.discard()] + removed(self._begun, self._files)


class _Move:
    """One file into its place. How far it came is read from the folder, so that it can be undone from any point."""

    def __init__(self, target: Path, source: Path | None, of: Path, files: FileSystem) -> None:
        self.target, self._source, self._files = target, source, files
        self._part, self._kept = hidden_beside(target, of, NEW), hidden_beside(target, of, OLD)
        self._replaces = self._cleared = False

    def prepare(self, like: os.stat_result | None, made: Path) -> None:
        """like : whose rights a new file gets; made : a file that was just made in the folder of the target"""
        before = _status(self.target, self._files)
        self._replaces = before is not None
        if self._source is not None:
            _bring(self._source, self._part, before or like, made, self._files)

    def put(self) -> None:
        before = _status(self.target, self._files)
        if (before is not None) != self._replaces:
            raise OSError(errno.EBUSY, tr("another program has just changed {target}", target=self.target))
        if before is not None:
            if not stat.S_ISREG(before.st_mode):
                raise OSError(errno.EEXIST, tr("{target} is no longer a plain file", target=self.target))
            self._keep()
        if self._source is not None:
            self._files.replace(self._part, self.target)
        self._cleared = self._source is None

    def _keep(self) -> None:
        if self._source is not None:
            # A second name for what is there: so its place is never empty.
            with suppress(OSError, NotImplementedError):
                self._files.link(self.target, self._kept)
                return
        self._files.replace(self.target, self._kept)

    def check(self) -> None:
        there = _status(self.target, self._files) is not None
        if there if self._source is None else not (there and _is_same(self._source, self.target, self._files)):
            raise OSError(errno.EBUSY, tr("another program has just changed {target}", target=self.target))

    def undo(self) -> list[str]:
        try:
            if _status(self._kept, self._files) is not None:
                if _status(self.target, self._files) is not None and self._files.are_same(self._kept, self.target):
                    return self._drop_second_name()
                else:
                    self._files.replace(self._kept, self.target)
            # What has come since where nothing is to be belongs to the file that is taken away again.
            elif self._cleared or (self._source is not None and not self._replaces and self._has_moved()):
                self._files.remove(self.target, missing_ok=True)
        except OSError as error:
            return [not_put_back(self.target, self._kept, error) if self._replaces else stays(self.target, error)]
        return []

    def _has_moved(self) -> bool:
        return _status(self._part, self._files) is None

    def _drop_second_name(self) -> list[str]:
        try:
            self._files.remove(self._kept)
        except OSError as error:  # on Windows while it is open elsewhere
            return [
                tr(
                    "{target} is as it was, but {kept}, a second name of it, could not be removed ({reason}): "
                    "remove it.",
                    target=self.target,
                    kept=self._kept,
                    reason=error.strerror,
                )
            ]
        return []

    def forget(self) -> list[str]:
        try:
            self._files.remove(self._kept, missing_ok=True)
        except OSError as error:
            return [still_kept(self.target, self._kept, error)]
        return []

    def discard(self) -> list[str]:
        return removed(self._part, self._files)


def beside(target: Path, staged: Path, file: Path) -> Path:
    """Where a file goes that was written beside the staged one: the same, beside the target."""
    return target.with_name(target.stem + file.name[len(staged.stem) :])


def _is_same(file: Path, other: Path, files: FileSystem) -> bool:
    """Whether two names have one file, or two of the same bytes."""
    if files.are_same(file, other):
        return True
    with files.read(file) as read, files.read(other) as again:
        while True:
            chunk = read.read(1 << 20)
            if chunk != again.read(1 << 20):
                return False
            if not chunk:
                return True


def _status(path: Path, files: FileSystem) -> os.stat_result | None:
    try:
        return files.status(path)
    except FileNotFoundError:
        return None


def _bring(source: Path, part: Path, like: os.stat_result | None, made: Path, files: FileSystem) -> None:
    """Give a staged file a second name where it can be had and is as a file that was `made` there; else copy it. It is
    closed to others from the start where the file that it replaces is."""
    linked = files.is_as_made_there(source, made)
    if linked:
        files.permit(source, 0o600)
        try:
            files.link(source, part)
        except (OSError, NotImplementedError):  # such as a folder that is mounted twice
            linked = False
    if linked:
        files.keep_written(part)
    else:
        files.copy(source, part, 0o666 if like is None else 0o600)
    if like is not None:
        _take_over(part, like, files)
    elif linked:
        files.permit(part, 0o666 & ~files.umask())


def _take_over(part: Path, like: os.stat_result, files: FileSystem) -> None:
    """Owner, group and mode of the file that is replaced; where the group cannot be had, its rights are others'."""
    mode = stat.S_IMODE(like.st_mode)
    if files.user() is not None:
        now = files.status(part)
        if (now.st_uid, now.st_gid) != (like.st_uid, like.st_gid):
            try:
                files.give(part, like.st_uid, like.st_gid)
            except OSError:
                try:
                    files.give(part, -1, like.st_gid)
                except OSError:
                    mode = (mode & ~0o070) | (mode & 0o007) << 3
    files.permit(part, mode)
