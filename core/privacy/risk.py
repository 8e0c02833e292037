"""The risk that a released record is recognised: one over the people it hides among."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Risk(NamedTuple):
    """For somebody known to be among the records. largest : of any record; mean : over all of them."""

    largest: float
    mean: float


def risk_of(records: np.ndarray, people: np.ndarray) -> Risk:
    """The risk over classes. records : (C,) rows of each class; people : (C,) who they are. 0 where there are none."""
    if not len(records):
        return Risk(0.0, 0.0)
    fewest = int(people.min())
    mean = float((records / np.maximum(people, 1)).sum() / max(int(records.sum()), 1))
    return Risk(1.0 / fewest if fewest else 1.0, mean)
