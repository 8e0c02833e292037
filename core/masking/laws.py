"""The two laws of the distance within a ring."""

from __future__ import annotations

from typing import Callable

import numpy as np

Law = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def uniform_in_distance(draws: np.ndarray, inner: np.ndarray, outer: np.ndarray) -> np.ndarray:
    """Each distance between the radii is equally likely (Allshouse 2010, section 2.2), metres.

    draws : numbers in [0, 1); inner, outer : radii in metres, of shapes that go together.
    """
    return inner + draws * (outer - inner)


def uniform_in_area(draws: np.ndarray, inner: np.ndarray, outer: np.ndarray) -> np.ndarray:
    """Each spot of the ring's surface is equally likely, metres; arguments as in `uniform_in_distance`."""
    return np.sqrt(inner**2 + draws * (outer**2 - inner**2))
