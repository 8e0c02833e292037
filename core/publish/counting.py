"""When the files of a run are counted: once written, and again in their place."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType


class Counting:
    """The counts of one run; use as a context manager, within the life of the files."""

    def __init__(self) -> None:
        self._beside = ThreadPoolExecutor(1)
        self._begun: list[Future[None]] = []
        self._of_releases: dict[str, Callable[[Path], None]] = {}

    def __enter__(self) -> Counting:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._beside.shutdown()

    def begin(self, name: str, file: Path, count: Callable[[Path], None], again: bool) -> None:
        """Count what was written of an output; a GeoPackage meanwhile, since SQLite lets go of Python as it reads.

        count : raises VbasError; again : count it once more in its place, as a release is. Raises VbasError, or `wait`
        does.
        """
        if again:
            self._of_releases[name] = count
        if file.suffix.lower() == ".gpkg":
            self._begun.append(self._beside.submit(count, file))
        else:
            count(file)

    def wait(self) -> None:
        """Return once all that was begun has ended. Raises VbasError where a count found something."""
        for counted in self._begun:
            counted.result()

    def in_place(self, name: str, file: Path) -> None:
        """Count a release once more, where it was put. Raises VbasError."""
        if name in self._of_releases:
            self._of_releases[name](file)
