"""Population vectors as single numbers: one addition adds all years, one comparison checks all minimums.

Each column has a lane of 64 bits in a Python integer. Totals stay far below a lane's top bit, so lanes never run
into each other, and the top bits are free to tell which lanes reach their minimum.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .cells import PARTS, Cells, Minimum

LANE = 64


class Lanes:
    """The minimums of a partition, ready to be checked against packed totals.

    empty_years : whether a group may have nobody in a year (a year without people hides nobody's identity).
    """

    def __init__(self, minimums: Sequence[Minimum], empty_years: bool = False) -> None:
        self.columns = [column for minimum in minimums for column in minimum.columns]
        needed = [int(np.ceil(minimum.k * PARTS)) for minimum in minimums for _ in minimum.columns]
        lanes = range(len(self.columns))
        self._top = sum(1 << (LANE * lane + LANE - 1) for lane in lanes)
        self._ones = sum(1 << (LANE * lane) for lane in lanes)
        self._needed = sum(k << (LANE * lane) for lane, k in zip(lanes, needed))
        self.empty_years = empty_years

    def pack(self, cells: Cells) -> list[int]:
        """Each cell's population as one integer, n values."""
        units = np.ascontiguousarray(cells.population[:, self.columns] * PARTS).astype("<i8")
        return [int.from_bytes(row.tobytes(), "little") for row in units]

    def enough(self, total: int) -> bool:
        """Whether a total reaches every minimum in every year (but the empty ones, where those are allowed)."""
        top = self._top
        reached = ((total | top) - self._needed) & top
        if reached == top:
            return True
        return self.empty_years and total > 0 and not ((total | top) - self._ones) & top & ~reached

    def may_hold_group(self, total: int) -> bool:
        """Whether some of the cells of this total might reach the minimums: False only where none can."""
        reached = ((total | self._top) - self._needed) & self._top
        return reached != 0 if self.empty_years else reached == self._top
