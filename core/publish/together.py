"""Several new files that get their names together: all or none, also where the run is killed in between.

No system names several files at once. So the run lists them first in a folder of its own (`folders`), and whoever
clears that folder after a run that was killed takes the names back, unless the last one was given: then all are there.
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


def give_free_names(named: Sequence[tuple[Path, Path]], folder: Path, files: FileSystem = DISK) -> Path | None:
    """Give files their names, one after the other, or none of them; the name that is taken, None where all have theirs.

    named : each file, and its name to be, beside `folder`, which is this run's own. The last is the one by which others
    know that all are there. Raises OSError where a name cannot be had, and VbasError where one that was given cannot be
    taken back.
    """
    listed = folder / LIST
    states = [[final.name, *_state(staged, files)] for staged, final in named]
    taken: Path | None = None
    try:
        with files.new_file(listed, 0o600) as file:
            file.write(json.dumps(states).encode())
            files.keep(file)
        files.keep_names(folder)
        for staged, final in named:
            if not give_free_name(staged, final, files):
                taken = final
                break
    except BaseException:
        _take_back(_ours(folder, files), files)
        raise
    if taken is not None:
        _take_back(_ours(folder, files), files)
    with suppress(OSError):  # what is left of it is of no use any more: the last name is given, or none
        files.remove(listed)
    return taken


def finish(folder: Path, files: FileSystem = DISK) -> None:
    """Take back the names that a killed run was giving, unless it had given the last; folder : its own.

    Only what is as that run wrote it is removed. Raises OSError where something cannot be.
    """
    ours = _ours(folder, files)
    if not (ours and ours[-1][1]):
        for final, _ in ours:
            files.remove(final, missing_ok=True)


def _ours(folder: Path, files: FileSystem) -> list[tuple[Path, bool]]:
    """What stands under the names that a run was giving, as it wrote it; whether that is the last of them."""
    try:
        listed = json.loads(files.read_bytes(folder / LIST))
    except (FileNotFoundError, ValueError):  # cut short: then no name was given yet
        return []
    ours = []
    for number, (name, *state) in enumerate(listed, 1):
        final = folder.parent / Path(name).name
        with suppress(FileNotFoundError):
            if _state(final, files) == state:
                ours.append((final, number == len(listed)))
    return ours


def _take_back(given: Sequence[tuple[Path, bool]], files: FileSystem) -> None:
    # First the one by which others know that all are there.
    lost = [sentence for final, _ in reversed(given) for sentence in removed(final, files)]
    if lost:
        raise VbasError(" ".join(lost))


def _state(path: Path, files: FileSystem) -> list[int]:
    """Which file this is, whatever its name; a link is not followed."""
    status = files.status(path)
    return [status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns]
