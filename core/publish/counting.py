"""When the files of a run are counted: once, when they are written; and that nothing changed what was counted."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

from ..errors import VbasError
from ..language import tr
from .files import DISK

State = dict[str, tuple[int, int, int]]


class Counting:
    """The counts of one run; use as a context manager, within the life of the files."""

    def __init__(self) -> None:
        self._beside = ThreadPoolExecutor(1)
        self._begun: list[Future[None]] = []
        self._counted: dict[Path, State] = {}

    def __enter__(self) -> Counting:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._beside.shutdown()

    def begin(self, file: Path, count: Callable[[Path], None]) -> None:
        """Count what was written of an output; a GeoPackage meanwhile, since SQLite lets go of Python as it reads.

        file : in a folder that is closed to others; count : raises VbasError. Raises VbasError, or `wait` does.
        """
        self.note(file)
        if file.suffix.lower() == ".gpkg":
            self._begun.append(self._beside.submit(count, file))
        else:
            count(file)

    def note(self, file: Path) -> None:
        """Remember how a file stands that is counted already, or is none to be counted."""
        self._counted[file] = self._state(file)

    def wait(self) -> None:
        """Return once all that was begun has ended. Raises VbasError where a count found something."""
        for counted in self._begun:
            counted.result()

    def refuse_if_changed(self, file: Path) -> None:
        """Raise VbasError where a file, or one beside it, is not the one any more that was counted. Raises OSError."""
        if file in self._counted and self._state(file) != self._counted[file]:
            raise VbasError(tr("another program has just changed {target}", target=file))

    def _state(self, file: Path) -> State:
        """Which files there are of an output, how large, and when written."""
        statuses = {name: DISK.status(file.with_name(name)) for name in DISK.names(file.parent)}
        return {name: (status.st_ino, status.st_size, status.st_mtime_ns) for name, status in statuses.items()}
