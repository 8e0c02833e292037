"""How names, values and identifiers are written: what differs in writing alone is the same.

Files and programs change letters: a shapefile cuts names to ten characters, a database folds their case, a spreadsheet
makes 1 of 01. What is left when that is taken away is compared.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable

from ..disclosure.values import MISSING
from ..plain_text import without_writing

CUT = 10
"""Characters, or bytes, that a shapefile keeps of a name."""
WORDS_FOR_MISSING = frozenset(("nan", "NaN", "NaT", "NULL", "null", "None", "NA", "<NA>", "#N/A", r"\N"))
"""What programs write into tables of text for a missing value."""


def same_but_for_case(name: str, other: str) -> bool:
    """Whether two names differ in the case of letters, or blanks around them, at most."""
    return _folded(name) == _folded(other)


def one_is_cut(name: str, other: str) -> bool:
    """Whether one of two names is the beginning of the other, as much as a shapefile keeps; case does not matter."""
    short, long = sorted((_folded(name), _folded(other)), key=len)
    return short != long and short in (long[:CUT], long.encode()[:CUT].decode(errors="ignore"))


def written_otherwise(texts: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Of texts that are not known, those that a known one is in other writing: text -> the known one.

    Nothing is said of texts that several known ones could be, or that several texts of the same kind could be.
    """
    own, there = set(texts), set(known)
    plain_known, plain_own = Counter(map(without_writing, there)), Counter(map(without_writing, own))
    known_of = {without_writing(text): text for text in sorted(there)}
    return {
        text: known_of[key]
        for text in sorted(own - there)
        if (key := without_writing(text)) and plain_known[key] == 1 == plain_own[key]
    }


def words_for_missing(texts: Collection[str], others: Collection[str]) -> list[str]:
    """Where some of the texts are missing and none of the others: of the others alone, what may stand for these."""
    if MISSING not in texts or MISSING in others:
        return []
    return sorted(WORDS_FOR_MISSING & set(others) - set(texts))


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().casefold()
