"""People who are counted together, each by themselves: where something is drawn of each of them."""

from __future__ import annotations

import numpy as np

from ..errors import InputError

MOST = 500_000_000  # people: few machines hold more, and a system may end QGIS without a word where memory is short


def each_person(counts: np.ndarray) -> np.ndarray:
    """The position of each person in `counts`, (N,) int64 in rising order; counts : (n,) people of each position.

    Raises InputError for more than `MOST` people.
    """
    n_people = int(counts.sum())
    if n_people > MOST:
        raise InputError.saying(
            "The records are of {n} people, and this work draws each of them, of {most} at most: look for counts that "
            "are too large.",
            n=n_people,
            most=MOST,
        )
    return np.repeat(np.arange(len(counts), dtype=np.int64), counts)
