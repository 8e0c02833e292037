"""What a file or layer holds, as the second count finds it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..tables import Table


@dataclass
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


def names_there(table: Table, there: Sequence[str]) -> list[str | None]:
    """The name of each of the table's fields in the file; None for one that is not there under its name.

    Some databases know no capitals.
    """
    lower = {name.lower(): name for name in there}
    wanted = [one.name() for one in table.fields]
    return [name if name in there else lower.get(name.lower()) for name in wanted]
