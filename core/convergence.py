"""How a method came to rest: what it made better, step by step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .dataclass import dataclass

MOST = 400  # steps that are kept of a long run


@dataclass(frozen=True)
class Convergence:
    """A series of a method. name : of the method; step, measure : what the steps are and what is measured after each;
    steps, values : one each"""

    name: str
    step: str
    measure: str
    steps: tuple[int, ...]
    values: tuple[float, ...]


def convergence(name: str, step: str, measure: str, values: Sequence[float]) -> tuple[Convergence, ...]:
    """The series of these values, thinned evenly where there are many, its ends kept; none for fewer than two."""
    if len(values) < 2:
        return ()
    kept = np.unique(np.rint(np.linspace(0, len(values) - 1, min(len(values), MOST))).astype(np.int64)).tolist()
    return (Convergence(name, step, measure, tuple(kept), tuple(float(values[i]) for i in kept)),)
