"""A column as its roles are judged by: its name in plain letters, and what its values are like."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime

import numpy as np

from ..dataclass import dataclass
from ..language import as_data
from ..plain_text import plain_text

WHOLE, NUMBER, DATE = as_data("whole numbers"), as_data("numbers"), as_data("dates")
TEXT, YES_NO, EMPTY = as_data("text"), as_data("yes or no"), as_data("empty")

OF_A_SAMPLE, LOOKED_THROUGH = 2_000, 500  # categories by which a kind is told, and in which patterns are looked for
_ACCENTS = str.maketrans("éèêëàâäîïôöûüùç", "eeeeaaaiioouuuc")
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}"
    r"|\d{1,2}(er|st|nd|rd|th)?[ -]?[^\W\d]{3,9}\.?,?[ -]\d{4}|[^\W\d]{3,9}\.? \d{1,2}(st|nd|rd|th)?,? \d{4}"
)


@dataclass(frozen=True)
class ColumnValues:
    """A column.

    name : in plain letters; kind : WHOLE, NUMBER, DATE, TEXT, YES_NO; texts : some of its values, from first to last
    filled : records with a value; n_values : distinct ones; alone : of a single record
    known : whether its name is that of something which others know of a person, or which nobody should learn
    """

    name: str
    kind: str
    texts: tuple[str, ...]
    filled: int
    n_values: int
    alone: int
    known: bool

    @classmethod
    def of(
        cls, name: str, kind: str, filled: int, values: Sequence[object], held: np.ndarray, known: bool
    ) -> ColumnValues:
        """held : how many records have each of the values."""
        texts = tuple(plain_text(value).strip() for value in values[:: len(values) // LOOKED_THROUGH + 1])
        return cls(plain_name(name), kind, texts, filled, int((held > 0).sum()), int((held == 1).sum()), known)

    @property
    def few(self) -> bool:
        """Whether there are so few values that most could name nobody."""
        return self.n_values <= 12 and self.n_values * 5 <= self.filled

    @property
    def words(self) -> tuple[str, ...]:
        """Of the name."""
        return tuple(self.name.split("_"))

    def mostly(self, pattern: re.Pattern[str]) -> bool:
        """Whether nearly all values have a shape."""
        fitting = sum(pattern.fullmatch(text) is not None for text in self.texts)
        return bool(self.texts) and fitting > 0.8 * len(self.texts)


def plain_name(name: str) -> str:
    """A name in lower case, its words parted by underscores: `DateOfBirth`, `date of birth`."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", plain_letters(parted)).strip("_")


def plain_letters(text: str) -> str:
    """In lower case and without accents."""
    return text.lower().translate(_ACCENTS)


def kind_of(values: Sequence[object]) -> str:
    """What values are, missing ones aside."""
    if not values:
        return EMPTY
    first = values[:OF_A_SAMPLE]
    if all(isinstance(value, (bool, np.bool_)) for value in first):
        return YES_NO
    if all(isinstance(value, (date, datetime)) or _is_date(value) for value in first):
        return DATE
    numbers = [_number(value) for value in first]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return TEXT
    return WHOLE if all(number.is_integer() for number in known) else NUMBER


def _is_date(value: object) -> bool:
    # A number is none, whatever it looks like; what is neither, such as a date of QGIS, is what it reads as.
    return not isinstance(value, (bool, int, float)) and _DATE.fullmatch(plain_text(value).strip()) is not None


def _number(value: object) -> float | None:
    try:
        number = float(value) if not isinstance(value, str) or "_" not in value else np.nan  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return number if np.isfinite(number) else None
