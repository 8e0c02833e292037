"""Hierarchies by rule: “bands 5, 10, 20”, “leading characters 3, 2, 1”, “other below 1000”, each with “, *” at its end.

“other below n” looks at how many records have a value, over the whole table: which values a release names, and which
hide behind “other”, then says whether a value has n records. One record more or less can change it. Where that must
not be told, or where several releases are to be compared, write the same groups as a table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ..areas import identifier_text
from ..dataclass import dataclass
from ..errors import InputError
from ..language import tr
from .bands import bands, check_widths
from .hierarchies import SUPPRESSED_VALUE, Hierarchy, make_hierarchy

BANDS, LEADING, OTHER_BELOW = "bands", "leading characters", "other below"
OTHER = "other"
LARGEST = 10**12


@dataclass(frozen=True)
class HierarchyRule:
    """A rule for one attribute.

    kind : BANDS, LEADING or OTHER_BELOW, empty for none; numbers : one for each level, from level 1
    suppressed : whether a last level shows SUPPRESSED_VALUE for all
    """

    attribute: str
    kind: str
    numbers: tuple[int, ...]
    suppressed: bool

    @property
    def data_dependent(self) -> bool:
        """Whether the groups depend on how many records have a value, not on the values alone."""
        return self.kind == OTHER_BELOW

    def hierarchy(self, values: np.ndarray, records: np.ndarray) -> Hierarchy:
        """The hierarchy of these values.

        values : (n,) object, the categories of a column; records : (n,) how many records of the table have each.
        A missing value stays missing, save where all are suppressed. Raises InputError where the rule does not fit.
        """
        texts = [identifier_text(value) for value in values]
        levels = [self.at_level(texts, records, level) for level in range(1, self.n_levels + 1)]
        return make_hierarchy(self.attribute, values, levels)

    @property
    def n_levels(self) -> int:
        """Levels above the values themselves."""
        return len(self.numbers) + self.suppressed

    def at_level(self, texts: Sequence[str | None], records: np.ndarray, level: int) -> list[str | None]:
        """What each value, as text, becomes at a level, from 1; records as for `hierarchy`."""
        if level > len(self.numbers):
            return [SUPPRESSED_VALUE] * len(texts)
        number = self.numbers[level - 1]
        if self.kind == BANDS:
            return bands(self.attribute, texts, number)
        if self.kind == LEADING:
            return [text if text is None or len(text) < number else f"{text[:number]}*" for text in texts]
        return _with_other(texts, records, number)


def hierarchy_rule(attribute: str, words: str) -> HierarchyRule:
    """A rule as it is written; its numbers are separated by commas, semicolons or blanks.

    Raises InputError where it is none, and where its levels would not nest.
    """
    text = " ".join(re.sub("[,;:]", " ", words.lower()).split())
    match = re.fullmatch(rf"(?:({BANDS}|{LEADING}|{OTHER_BELOW}) ([0-9]+(?: [0-9]+)*))?( ?\*)?", text)
    if not text or match is None:
        problem = (
            tr("HIERARCHY_RULES: “{words}” for “{attribute}” is no rule:", words=words, attribute=attribute)
            if text
            else tr("HIERARCHY_RULES: “{attribute}” has no rule:", attribute=attribute)
        )
        written = tr(
            "write “{bands} 5, 10, 20”, “{leading} 3, 2, 1” or “{other_below} 1000”; a “{suppressed}” at the end adds "
            "a level that shows nothing.",
            bands=BANDS,
            leading=LEADING,
            other_below=OTHER_BELOW,
            suppressed=SUPPRESSED_VALUE,
        )
        raise InputError(f"{problem} {written}")
    kind = match[1] or ""
    numbers = tuple(int(number) for number in (match[2] or "").split())
    if any(not 1 <= number <= LARGEST for number in numbers):
        raise InputError.saying(
            "HIERARCHY_RULES: “{words}” for “{attribute}” needs whole numbers from 1 to {largest}.",
            words=words,
            attribute=attribute,
            largest=LARGEST,
        )
    if kind == BANDS:
        check_widths(attribute, numbers)
    pairs = list(zip(numbers, numbers[1:]))
    if kind == LEADING and any(coarse >= fine for fine, coarse in pairs):
        raise InputError.saying(
            "HIERARCHY_RULES: “{words}” for “{attribute}” must become fewer characters from level to level, such as 3, "
            "2, 1.",
            words=words,
            attribute=attribute,
        )
    if kind == OTHER_BELOW and any(coarse <= fine for fine, coarse in pairs):
        raise InputError.saying(
            "HIERARCHY_RULES: “{words}” for “{attribute}” must become more records from level to level, such as 100, "
            "1000.",
            words=words,
            attribute=attribute,
        )
    return HierarchyRule(attribute, kind, numbers, bool(match[3]))


def _with_other(texts: Sequence[str | None], records: np.ndarray, least: int) -> list[str | None]:
    """Values that fewer records have become “other”; a value of that name is one of them. Missing stays missing."""
    total: dict[str | None, int] = {}
    for text, number in zip(texts, records.tolist()):
        total[text] = total.get(text, 0) + int(number)
    return [text if text is None or total[text] >= least else OTHER for text in texts]
