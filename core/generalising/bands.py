"""Bands: numbers, and groups of numbers such as 15-19 and 65+, joined to wider groups of the same width."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ..dataclass import dataclass
from ..errors import InputError, first_values

NO_BAND = None


@dataclass(frozen=True)
class Bands:
    """The bands of one width, which begin at its multiples.

    low_end, high_end : all below the first is one band, and all from the second on: multiples of the width, or infinite
    joint, below, above : how the values write groups; whole : whether all single numbers are whole
    """

    width: int
    low_end: float
    high_end: float
    joint: str
    below: str
    above: str
    whole: bool

    def band_of(self, group: Group) -> str | None:
        """The name of the band that holds a group, NO_BAND where that lies in several."""
        if group.low < self.low_end:
            return f"{self.below}{self.low_end:.0f}" if group.high <= self.low_end else NO_BAND
        if group.low >= self.high_end:
            return f"{self.high_end:.0f}{self.above}"
        first = int(group.low // self.width) * self.width
        if group.high > min(first + self.width, self.high_end):
            return NO_BAND
        if not self.whole:
            return f"{first} to <{first + self.width}"
        return f"{first}{' to ' if first < 0 and self.joint == '-' else self.joint}{first + self.width - 1}"


def bands(attribute: str, texts: Sequence[str | None], width: int) -> list[str | None]:
    """The band of each value: bands begin at the multiples of their width. A missing value stays missing.

    texts : values as text; width : a whole number from 1. An open group, such as 65+, opens its whole band: with a
    width of 20 it is 60+, and takes in all that is higher; likewise below.
    Raises InputError for values that are neither a number nor a group, and for a group that lies in several bands.
    """
    groups = [None if text is None else group_of(text) for text in texts]
    strange = [text for text, group in zip(texts, groups) if text is not None and group is None]
    if strange:
        raise InputError.counting(
            "HIERARCHY_RULES: bands of “{attribute}” need numbers, or groups such as 15-19 and 65+; {n} value is "
            "neither ({first}): give a table in HIERARCHIES.",
            "HIERARCHY_RULES: bands of “{attribute}” need numbers, or groups such as 15-19 and 65+; {n} values are "
            "neither ({first}): give a table in HIERARCHIES.",
            len(strange),
            attribute=attribute,
            first=first_values(strange),
        )
    made = _bands([group for group in groups if group is not None], width)
    own_bands = [None if group is None else made.band_of(group) for group in groups]
    across = [text for text, band in zip(texts, own_bands) if text is not None and band is NO_BAND]
    if across or made.low_end > made.high_end:
        raise InputError.saying(
            "HIERARCHY_RULES: bands of {width} cut through groups of “{attribute}” ({first}): choose widths at whose "
            "multiples the groups begin and end, or give a table in HIERARCHIES.",
            width=width,
            attribute=attribute,
            first=first_values(across or texts),
        )
    return own_bands


def check_widths(attribute: str, widths: Sequence[int]) -> None:
    """Refuse widths that do not nest. Raises InputError."""
    for fine, coarse in zip(widths, widths[1:]):
        if coarse <= fine or coarse % fine:
            raise InputError.saying(
                "HIERARCHY_RULES: bands of “{attribute}” of {fine} and then {coarse} do not nest: each width must be a "
                "multiple of the one before, such as 5, 10, 20.",
                attribute=attribute,
                fine=fine,
                coarse=coarse,
            )


def _bands(groups: Sequence[Group], width: int) -> Bands:
    """The bands of this width over these groups, written as they are."""
    low = max((group.high for group in groups if group.low == -math.inf), default=-math.inf)
    high = min((group.low for group in groups if group.high == math.inf), default=math.inf)
    singles = [group.low for group in groups if group.low == group.high]
    return Bands(
        width,
        math.ceil(low / width) * width if math.isfinite(low) else low,
        math.floor(high / width) * width if math.isfinite(high) else high,
        next((group.joint for group in groups if group.joint and math.isfinite(group.high - group.low)), "-"),
        next((group.joint for group in groups if group.low == -math.inf), "<"),
        next((group.joint for group in groups if group.high == math.inf), "+"),
        all(number.is_integer() for number in singles),
    )


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
