"""The rows of a nested release, read."""

from __future__ import annotations

import numpy as np

from ...core.analysis.released import whole_numbers
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
