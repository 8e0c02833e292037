"""What the second count looks for in a file or layer, and what it finds there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class SecondCount:
    """What a release is counted by once more: its first n_class_fields fields make a class of at least k records.

    count_field : position of the field that says how many records a row stands for, None where each is one.
    """

    k: int
    n_class_fields: int
    count_field: int | None = None


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


def names_there(wanted: Sequence[str], there: Sequence[str]) -> list[str | None]:
    """The name of each wanted field among those of a file; None for one that is not there under its name.

    Some databases know no capitals.
    """
    lower = {name.lower(): name for name in there}
    return [name if name in there else lower.get(name.lower()) for name in wanted]
