"""Numbers in one style: as the language writes them, with as many digits as are meaningful."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..language import NOTHING, share_format, tr, written
from ..plain_text import plain_text

DECIMALS = 2


def formatted(value: object, whole: bool = True) -> str:
    """A value as readers like it; None is empty.

    whole : whether a fraction that is a whole number goes without decimals; in a column it goes like the others
    """
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return tr("yes") if value else tr("no")
    if isinstance(value, (int, np.integer)):
        return written(str(int(value)))
    if isinstance(value, (float, np.floating)):
        return _fraction(float(value), whole)
    return plain_text(value)


def formatted_rows(rows: Sequence[Sequence[object]]) -> list[list[str]]:
    """The cells of a table; the fractions of a column have the same decimals."""
    n_columns = max((len(row) for row in rows), default=0)
    wholes = [all(_is_whole(row[i]) for row in rows if i < len(row)) for i in range(n_columns)]
    return [[formatted(cell, whole) for cell, whole in zip(row, wholes)] for row in rows]


def exactly(value: object) -> str:
    """A setting to the last digit, as it can be typed."""
    if not isinstance(value, float):
        return str(value)
    # Powers of ten as computers write them only where there would be rows of zeros.
    return f"{value:.0f}" if 1e15 <= abs(value) < 1e22 else f"{value:.15g}"


def _is_whole(value: object) -> bool:
    return not isinstance(value, (float, np.floating)) or not np.isfinite(value) or value == int(value)


def _fraction(value: float, whole: bool) -> str:
    if not np.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else ""
    if abs(value) < NOTHING:
        value = 0.0
    if abs(value) >= 1e15:
        return written(f"{value:.3e}")
    if abs(value) >= 1000 or (whole and value == int(value)):
        return written(str(round(value)))
    if 0 < abs(value) < 10**-DECIMALS:
        return written(np.format_float_positional(value, precision=3, fractional=False, trim="-"))
    # What lies below 100 may be a share: less than all is never 100.
    return written(format(value, share_format(value, f".{DECIMALS}f")))
