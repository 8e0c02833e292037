"""A quasi-identifier that is shown coarser than it was read."""

from __future__ import annotations

from ..dataclass import dataclass
from ..language import plural
from .columns import Column


@dataclass(frozen=True, eq=False)
class Coarsened:
    """What became of one quasi-identifier.

    attribute : its name; level : at which it is shown, from 1; highest : the last level there is
    original : the column as it was read, for checks; never released
    n_values : different values that are shown; bits, bits_left : the attribute's entropy over all records of the table,
    bits per record, as it was read and as it is shown
    """

    attribute: str
    level: int
    highest: int
    original: Column
    n_values: int
    bits: float
    bits_left: float

    @property
    def given_up(self) -> float:
        """The share of the entropy that is given up, 0 to 1; 0 where there was none."""
        return min(max((self.bits - self.bits_left) / self.bits, 0.0), 1.0) if self.bits else 0.0

    @property
    def sentence(self) -> str:
        """What is shown in place of what, for the log and the report; it names no value."""
        return plural(
            "“{attribute}” is shown at level {level} of {highest}: {n} value in place of "
            "{n_categories}. That gives up {given_up:.1f} % of its entropy ({bits:.2f} of "
            "{bits_before:.2f} bits per record).",
            "“{attribute}” is shown at level {level} of {highest}: {n} values in place of "
            "{n_categories}. That gives up {given_up:.1f} % of its entropy ({bits:.2f} of "
            "{bits_before:.2f} bits per record).",
            self.n_values,
            attribute=self.attribute,
            level=self.level,
            highest=self.highest,
            n_categories=len(self.original.categories),
            given_up=100 * self.given_up,
            bits=self.bits - self.bits_left,
            bits_before=self.bits,
        )
