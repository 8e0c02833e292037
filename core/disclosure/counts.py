"""What several releases give away: counts of people in some areas, and what is known of their sensitive values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import numpy as np

from ..arrays import to_list
from ..dataclass import dataclass
from ..language import as_data

CELL, HIDDEN = as_data("overlay cell"), as_data("suppressed class")
DIFFERENCE, REST = as_data("difference of two regions"), as_data("rest of a count")
SUM = as_data("sum of counts")
DISCLOSED_BY_VALUES, HOMOGENEOUS = as_data("told by sensitive values"), as_data("one sensitive value")
KINDS = (CELL, HIDDEN, DIFFERENCE, REST, SUM, DISCLOSED_BY_VALUES, HOMOGENEOUS)


@dataclass(frozen=True, eq=False)
class Count:
    """A count of people between low and high: both within 1..k-1, or of any size where they all have one value.

    kind : one of KINDS; cells : the overlay cells in which they live; joint : their joint classes
    values : (sensitive field, value, people who have it at least), where the values of all of them are known
    taken : (t,) int64, equivalence classes of the first release, whole within these cells and classes, whose people are
    not counted
    less : how many these are
    """

    kind: str
    cells: np.ndarray
    joint: np.ndarray
    low: int
    high: int
    releases: tuple[int, ...]
    values: tuple[tuple[str, str, int], ...] = ()
    taken: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    less: int = 0

    @property
    def key(self) -> tuple[bytes, bytes, int]:
        """What tells it from counts of other people of the same overlay."""
        return self.cells.tobytes(), self.joint.tobytes(), self.less


def persons_in(counts: Sequence[Count]) -> int:
    """The people that are in counts at least: a person in several of them is counted once."""
    used: set[tuple[int, int]] = set()
    persons = 0
    for count in counts:
        own = {(cell, joint_class) for cell in to_list(count.cells) for joint_class in to_list(count.joint)}
        if used.isdisjoint(own):
            used |= own
            persons += count.low
    return persons
