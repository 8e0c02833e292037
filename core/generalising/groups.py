"""Numbers and groups of numbers, read from the values of an attribute: 17, “15-19”, “15 to 19”, “65+”, “under 5”."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

NUMBER = r"(-?\d+(?:\.\d+)?)"
WHOLE = r"(-?\d+)"
FROM_TO = re.compile(rf"^{WHOLE}\s*(-|–|to)\s*{WHOLE}$")
FROM = re.compile(rf"^(?:{WHOLE}(\+|\s*\+| and over| and older| and more| or more)|(≥|>=)\s*{WHOLE})$")
BELOW = re.compile(rf"^(under|below|<)\s*{WHOLE}$")
LARGEST = 2.0**53


@dataclass(frozen=True)
class Group:
    """The numbers from `low` up to, but without, `high`; of a single number both are the same. Either may be infinite.

    joint : how the values write a group, such as “-” or “ to ”, “+” or “ and over”; empty for a single number
    """

    low: float
    high: float
    joint: str = ""


def group_of(text: str) -> Group | None:
    """The number or the group of whole numbers that a text stands for, None where it is neither."""
    text = text.strip()
    match = FROM_TO.match(text)
    if match:
        low, high = float(match[1]), float(match[3]) + 1
        spaced = " to " if match[2] == "to" else match[2]
        return Group(low, high, spaced) if low < high and _exact(low, high) else None
    match = FROM.match(text)
    if match:
        low = float(match[1] or match[4])
        return Group(low, math.inf, match[2] or "+") if _exact(low) else None
    match = BELOW.match(text)
    if match:
        high = float(match[2])
        return Group(-math.inf, high, "<" if match[1] == "<" else f"{match[1]} ") if _exact(high) else None
    try:
        number = float(text) if "_" not in text else math.nan
    except ValueError:
        return None
    return Group(number, number) if _exact(number) else None


def _exact(*numbers: float) -> bool:
    return all(math.isfinite(number) and abs(number) < LARGEST for number in numbers)
