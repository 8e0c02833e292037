"""When the files of a run are counted, what is looked for in them, and that nothing changed what was counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

from ..dataclass import dataclass
from ..errors import VbasError
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
            raise VbasError.saying("another program has just changed {target}", target=file)

    def _state(self, file: Path) -> State:
        """Which files there are of an output, how large, and when written."""
        statuses = {name: DISK.status(file.with_name(name)) for name in DISK.names(file.parent)}
        return {name: (status.st_ino, status.st_size, status.st_mtime_ns) for name, status in statuses.items()}


@dataclass(frozen=True)
class SecondCount:
    """What a release is counted by once more: its first n_class_fields fields make a class of at least k records.

    count_field : position of the field that says how many records a row stands for, None where each is one.
    """

    k: int
    n_class_fields: int
    count_field: int | None = None


@dataclass()
class ReadBack:
    """What a file or layer holds.

    names : its fields, in the order of the table's, None for one that is not there
    n_rows; n_shapes : rows with a shape, None for a table without
    smallest : records in the smallest class, None where that was not asked for or there are no rows
    values : the different values of each field, None where they need not be compared
    """

    names: Sequence[str | None]
    n_rows: int
    n_shapes: int | None = None
    smallest: int | None = None
    values: Sequence[Iterable[object]] | None = None


def names_there(wanted: Sequence[str], there: Sequence[str]) -> list[str | None]:
    """The name of each wanted field among those of a file; None for one that is not there under its name.

    Some databases know no capitals.
    """
    lower = {name.lower(): name for name in there}
    return [name if name in there else lower.get(name.lower()) for name in wanted]
