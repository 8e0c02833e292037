"""What every engine can do, and how long work in one is cancelled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from threading import Thread
from types import MappingProxyType
from typing import Any, Callable, Protocol, TypeVar

import numpy as np

from ..errors import VbasError
from ..progress import Progress

Expression = Any  # of Ibis
Arrow = Any  # a table or a batch of Arrow
Result = TypeVar("Result")
POLL = 0.2  # seconds
NOTHING: Mapping[str, np.ndarray] = MappingProxyType({})


class EngineError(VbasError):
    """What an engine could not do, in one sentence without values of records and without secrets."""


def left_behind(problem: str, final: object, staged: object) -> EngineError:
    """What is said of a staged release that could not be removed; problem : what ended the work."""
    return EngineError.saying(
        "{problem}. “{final}” was not made, but what was written for it may still be there as “{staged}”, which has "
        "passed no second count: remove it.",
        problem=problem.rstrip(". "),
        final=str(final),
        staged=str(staged),
    )


def changed_meanwhile() -> EngineError:
    """What is said of a table that was written to while a run worked on it."""
    return EngineError.saying(
        "The records were changed while they were being worked on: nothing was written. Start again when nobody writes "
        "to them."
    )


class Engine(Protocol):
    """An open engine over one table; leaving its context undoes what was not published.

    title : what the user knows it as; decodes : whether it writes values in place of codes
    packs : whether rows that are to be released are kept as whole numbers, their kept fields of few values too
    rows_here : so many rows, and no more, may come here as a whole number each to be counted; 0 where rows stay
    fields : the fields of the table and their types, as Ibis names them
    """

    title: str
    decodes: bool
    packs: bool
    rows_here: int
    fields: Mapping[str, str]

    def __enter__(self) -> Engine: ...

    def __exit__(self, *error: object) -> None: ...

    def check_free(self, destination: str) -> None:
        """Raise InputError where a destination is taken, or nothing can be written there; no work is done for it."""

    def place_beside(self, destination: str, table: str) -> str:
        """Where the rows of a linked table go: beside the persons, under their name and that of the table. Raises
        InputError where linked tables are not released."""

    def source(self, names: Mapping[str, str]) -> Expression:
        """The fields of the table under new names (field by new name).

        What an engine takes as equal is shown alike: text is compared byte by byte, and values that could be equal yet
        written differently become text first.
        """

    def fields_beside(self, table: str) -> Mapping[str, str]:
        """The fields of another table of the same place, and their types. Raises InputError where there is none.

        table : its name, with its schema where it has another; where the records are files, the path of files
        """

    def beside(self, table: str, names: Mapping[str, str], called: str) -> Expression:
        """The fields of another table under new names, as `source`; called : a name that is gone with the engine."""

    def dictionaries(self, source: Expression, columns: Sequence[str]) -> dict[str, tuple[Expression, np.ndarray]]:
        """The values of fields that are there with their codes, as `steps.dictionary`, and the values by code."""

    def keep(self, name: str, expression: Expression) -> Expression:
        """Work an expression out once, under a name that is gone with the engine."""

    def again(self, name: str, expression: Expression) -> Expression:
        """Rows that are read several times: kept where that costs less than working them out anew, else as they are."""

    def upload(self, name: str, columns: Mapping[str, Any]) -> Expression:
        """A table of numbers, or of text as objects, from arrays by name, under a name that is gone with the engine."""

    def fetch(self, expression: Expression) -> Iterator[Arrow]:
        """The rows of an expression, as batches of Arrow."""

    def stage(
        self,
        expression: Expression,
        destination: str,
        dictionaries: Mapping[str, Expression],
        occurring: Mapping[str, np.ndarray] = NOTHING,
    ) -> Expression:
        """Write an expression next to its destination, which must be free; and what reads it back. Several may be
        staged, the records themselves first.

        dictionaries : of the fields that hold codes, which are values where they are written; none without `decodes`
        occurring : the codes that the rows have, of those of these fields of text whose values may be listed in what is
        written: a value that no row has is nowhere in it; none without `packs`
        """

    def unchanged(self) -> None:
        """Raise EngineError where the table is seen to have changed since the engine was opened."""

    def publish(self) -> str:
        """Put all that was staged in its place, which must be free; the place of the first."""


def arrow_table(columns: Mapping[str, Any]) -> Arrow:
    """Numpy arrays by name as a table of Arrow; objects are text, None is missing."""
    import pyarrow as pa

    return pa.table({name: _arrow_array(values) for name, values in columns.items()})


def _arrow_array(values: np.ndarray) -> Arrow:
    """An array of Arrow; of whole numbers without a copy, and without pandas, which Arrow loads where it converts."""
    import pyarrow as pa

    if values.dtype == object:
        return pa.array(values, pa.string())
    if values.dtype.kind != "i":
        return pa.array(values)
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def whole_numbers_of(array: Arrow) -> np.ndarray:
    """Whole numbers of Arrow as an array; without a copy, and without pandas, where none is missing."""
    import pyarrow as pa

    if not len(array) or array.null_count or not pa.types.is_integer(array.type):
        return array.to_numpy(zero_copy_only=False)
    kind = np.dtype(str(array.type))
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def in_background(
    call: Callable[[], Result], progress: Progress, interrupt: Callable[[], None], lasting: bool = False
) -> Result:
    """The result of a call that takes long, made in another thread; progress is called meanwhile and may cancel.

    interrupt : makes the call end early; it is waited for, so that nothing goes on behind the user's back.
    lasting : what the call has done cannot be undone: once it has begun, its own end counts and no cancel.
    """
    results: list[Result] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            results.append(call())
        except BaseException as error:
            failed.append(error)

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(POLL)
            progress(0.0)
    except BaseException:
        while thread.is_alive():  # again and again: the first may come before there is anything to end
            interrupt()
            thread.join(POLL)
        if not lasting:
            raise
    if failed:
        raise failed[0]
    return results[0]
