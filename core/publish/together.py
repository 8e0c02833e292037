"""Several new files that get their names together: all or none, also where the run is killed in between.

No system names several files at once. So the run lists them first in a folder of its own (`folders`). What decides is
one rename, the last: it takes the file by which others know that all are there out of that folder, and gives it its
name. Whoever clears the folder after a run that was killed takes the names back as long as that file is in it; once it
has left, all was delivered, and nothing is touched, whatever its owner has done with any of it since.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..errors import VbasError
from .files import DISK, FileSystem
from .free_names import give_free_name
from .leftovers import removed

LIST = "names"  # in the run's own folder, while names are given
EMPTY = "empty"  # beside it; it holds the last name until the rename that decides


def give_free_names(named: Sequence[tuple[Path, Path]], folder: Path, files: FileSystem = DISK) -> Path | None:
    """Give files their names, one after the other, or none of them; the name that is taken, None where all have theirs.

    named : each file, and its name to be, beside `folder`, which is this run's own. The last is the one by which others
    know that all are there; it is in `folder`. Raises OSError where a name cannot be had, and VbasError where one that
    was given cannot be taken back.
    """
    listed, empty, (last, decides) = folder / LIST, folder / EMPTY, named[-1]
    others, decided, taken = named[:-1], _state(last, files), None
    try:
        files.new_file(empty, 0o600).close()
        states = [[final.name, *_state(staged, files)] for staged, final in [*others, (empty, decides)]]
        with files.new_file(listed, 0o600) as file:
            file.write(json.dumps({"last": last.name, "names": states}).encode())
            files.keep(file)
        files.keep_names(folder)
        for staged, final in others:
            if not give_free_name(staged, final, files):
                taken = final
                break
        else:
            files.keep_names(folder.parent)
            if not _decided(last, decides, empty, files):
                taken = decides
    except BaseException:
        with suppress(FileNotFoundError):  # an interrupt may come once all is decided: then that is undone first
            if _state(decides, files) == decided:
                files.rename(decides, last)
        _take_back(folder, files)
        raise
    if taken is not None:
        _take_back(folder, files)
    for left in (listed, empty):
        with suppress(OSError):  # of no use any more: the last name is given, or none
            files.remove(left)
    return taken


def finish(folder: Path, files: FileSystem = DISK) -> None:
    """Take back the names that a killed run was giving, unless all were given; folder : its own.

    Only what is as that run wrote it is removed. Raises OSError where something cannot be.
    """
    for final in _ours(folder, files):
        files.remove(final, missing_ok=True)


def _decided(staged: Path, final: Path, empty: Path, files: FileSystem) -> bool:
    """The last name, given by a rename; False where it is taken.

    A rename replaces what stands there, so an empty file of ours has the name first, by a link, which never does.
    """
    try:
        files.link(empty, final)
    except (OSError, NotImplementedError):  # a file system without links, or an answer that is lost
        if files.is_there(final) and _state(final, files) != _state(empty, files):
            return False
    try:
        files.replace(staged, final)
    except OSError:
        with suppress(FileNotFoundError):
            files.status(staged)
            raise
    return True


def _ours(folder: Path, files: FileSystem) -> list[Path]:
    """What stands under the names that a run was giving, as it wrote it; nothing where it had given all of them."""
    try:
        listed = json.loads(files.read_bytes(folder / LIST))
        files.status(folder / listed["last"])
    except (FileNotFoundError, ValueError):  # delivered; or cut short, and then no name was given yet
        return []
    ours = []
    for name, *state in listed["names"]:
        final = folder.parent / Path(name).name
        with suppress(FileNotFoundError):
            if _state(final, files) == state:
                ours.append(final)
    return ours


def _take_back(folder: Path, files: FileSystem) -> None:
    # First the one by which others know that all are there.
    lost = [sentence for final in reversed(_ours(folder, files)) for sentence in removed(final, files)]
    if lost:
        raise VbasError(" ".join(lost))


def _state(path: Path, files: FileSystem) -> list[int]:
    """Which file this is, whatever its name; a link is not followed."""
    status = files.status(path)
    return [status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns]
