"""How many people live in each area, as somebody may know it: of all classes together, in each period by itself.

Where records are of several periods, such as years, the people of an area are there again in each of them: all records
of an area may be more than its people, and those of a year are not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..dataclass import dataclass
from ..profile import Profile


@dataclass(frozen=True, eq=False)
class Inhabitants:
    """The most people that the classes of a period have together in each area.

    number : (n, T) of each area in each period, infinite where that is not known
    period_of : (C,) the period of each class

    Examples
    --------
    >>> import numpy as np
    >>> from vbas.core.disclosure.inhabitants import Inhabitants
    >>> [people.tolist() for _, people in Inhabitants(np.array([[3, 4], [5, 5]]), np.array([0, 0, 1])).each()]
    [[3, 5], [4, 5]]
    """

    number: np.ndarray
    period_of: np.ndarray

    def each(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Of each period the classes, (C,) bool, and the people of each area, (n,)."""
        for period, people in enumerate(self.number.T):
            yield self.period_of == period, people


def inhabitants_of(profile: Profile, people: np.ndarray, period: str = "") -> Inhabitants:
    """The people of each area as they are known beside a profile.

    people : (n,) of each area; where they are the records, those of a period are its people. period : the
    quasi-identifier that is the period of a record; empty for none. All periods together are held against `people`
    where no area has more records in them: these may be other people in each. Of an area that has more records than
    people nothing is known: what the people of others prove follows all the same.
    """
    sizes = profile.area_sizes
    are_records = bool(np.array_equal(people, sizes))
    if not period or ((sizes <= people).all() and not are_records):
        period_of, records = np.zeros(len(profile.classes), np.int64), sizes[:, None]
    else:
        at = profile.quasi_identifiers.index(period)
        period_of, n_periods = profile.classes[:, at].astype(np.int64), len(profile.categories[at])
        records = profile.counts @ np.eye(n_periods, dtype=np.int64)[period_of]
    number = records.astype(float) if are_records else np.where(people[:, None] >= records, people[:, None], np.inf)
    return Inhabitants(number, period_of)
