"""R(x) of the papers."""

from __future__ import annotations

import math


def round_half_up(value: float) -> int:
    """The nearest whole number, halves up (Croft 2015, Eq. 7)."""
    return math.floor(value + 0.5)
