"""When the files of a run are counted: once written, and again in their place."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

from ..gdal_errors import without_journals
from ..tables import SecondCount, Table
from .second_count import check_file
from .writing import in_one_sentence


class Counting:
    """The counts of one run; use as a context manager, within the life of the files."""

    def __init__(self) -> None:
        self._beside = ThreadPoolExecutor(1)
        self._begun: list[Future[None]] = []
        self._of_releases: dict[str, tuple[Table, SecondCount]] = {}

    def __enter__(self) -> Counting:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._beside.shutdown()

    def begin(self, name: str, file: Path, table: Table, check: SecondCount | None) -> None:
        """Count what was written of an output; a GeoPackage meanwhile, since SQLite lets go of Python as it reads.

        Raises VbasError, or `wait` does.
        """
        if check is not None:
            self._of_releases[name] = table, check
        if file.suffix.lower() == ".gpkg":
            self._begun.append(self._beside.submit(_count, name, file, table, check))
        else:
            _count(name, file, table, check)

    def wait(self) -> None:
        """Return once all that was begun has ended. Raises VbasError where a count found something."""
        for counted in self._begun:
            counted.result()

    def in_place(self, name: str, file: Path) -> None:
        """Count a release once more, where it was put. Raises VbasError."""
        if name in self._of_releases:
            with without_journals():
                _count(name, file, *self._of_releases[name])


def _count(name: str, file: Path, table: Table, check: SecondCount | None) -> None:
    with in_one_sentence(name):
        check_file(name, file, table, check)
