"""The rows of a nested release, read."""

from __future__ import annotations

import numpy as np

from ...core.errors import InputError
from ...core.language import plural, tr
from ...core.levels import Levels
from ...core.records.columns import Column
from ...core.records.table import counts_of
from ..form.form import Form
from ..layers.reading.crosswalks import LEVEL, NUMBER
from ..layers.reading.fields import field_index
from ..layers.reading.records import read_columns


def rows_of(form: Form) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, dict[str, Column]]:
    """Level (0-based), number of the region, and count of each row; its other fields, the quasi-identifiers first."""
    source = form.source("RECORDS")
    for name in (LEVEL, NUMBER):
        field_index(source.fields(), name, "RECORDS", "RECORDS")
    quasi, count = form.field_names("QUASI_IDENTIFIERS"), form.text("RECORD_COUNT")
    own = (LEVEL, NUMBER, "fid", "ogc_fid", count.lower())
    others = [name for name in source.fields().names() if name.lower() not in own and name not in quasi]
    columns = read_columns(source, [LEVEL, NUMBER, *quasi, *others, *([count] if count else [])], form.feedback)
    level, number = (whole_numbers(columns[name], name) for name in (LEVEL, NUMBER))
    counts = counts_of(columns, count)
    return level - 1, number, counts, {name: columns[name] for name in (*quasi, *others)}


def whole_numbers(column: Column, name: str) -> np.ndarray:
    """The whole number of each row, (R,) int64. Raises InputError."""
    try:
        values = np.array([_whole(value) for value in column.categories.tolist()], np.int64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            tr("Field “{name}” of RECORDS is not a whole number in all rows: give the nested release.", name=name)
        ) from error
    return values[column.codes] if len(values) else np.empty(0, np.int64)


def _whole(value: object) -> int:
    """A number without a fraction, of any type or as text; raises where it is none."""
    number = int(value)  # type: ignore[call-overload]
    if isinstance(value, float) and number != value:
        raise ValueError(value)
    return number


def positions(levels: Levels, level: np.ndarray, number: np.ndarray) -> np.ndarray:
    """The position of each row's region among those of its level."""
    position = np.full(len(level), -1)
    for own_level, crosswalk in enumerate(levels.crosswalks):
        here = level == own_level
        order = np.argsort(crosswalk.numbers)
        at = np.searchsorted(crosswalk.numbers[order], number[here]).clip(max=crosswalk.n_regions - 1)
        known = crosswalk.numbers[order][at] == number[here]
        position[np.flatnonzero(here)[known]] = order[at[known]]
    lost = position < 0
    if lost.any():
        raise InputError(
            plural(
                "{n} row shows a region that CROSSWALK does not have (first: level {level}, region "
                "{number}): use the crosswalk that came with the release.",
                "{n} rows show a region that CROSSWALK does not have (first: level {level}, region "
                "{number}): use the crosswalk that came with the release.",
                int(lost.sum()),
                level=int(level[lost][0]) + 1,
                number=int(number[lost][0]),
            )
        )
    return position
