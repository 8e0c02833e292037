"""Drawing places in a ring: the two laws of the distance, and the first of a point's draws that is inside."""

from __future__ import annotations

from typing import Callable

import numpy as np

Inside = Callable[[np.ndarray], np.ndarray]
DistanceLaw = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def uniform_in_distance(draws: np.ndarray, inner: np.ndarray, outer: np.ndarray) -> np.ndarray:
    """Each distance between the radii is equally likely (Allshouse 2010, section 2.2), metres.

    draws : numbers in [0, 1); inner, outer : radii in metres, of shapes that broadcast.
    """
    return inner + draws * (outer - inner)


def uniform_in_area(draws: np.ndarray, inner: np.ndarray, outer: np.ndarray) -> np.ndarray:
    """Each place on the ring's surface is equally likely, metres; arguments as in `uniform_in_distance`."""
    return np.sqrt(inner**2 + draws * (outer**2 - inner**2))


def first_inside(
    points: np.ndarray,
    direction: np.ndarray,
    distance: np.ndarray,
    inner: np.ndarray,
    outer: np.ndarray,
    inside: Inside,
) -> np.ndarray:
    """The place of the first draw that lies in the ring and inside the area, (n, 2); NaN where none does.

    points : (n, 2); direction, distance : (n, d) radians and metres; inner, outer : (n,) metres; inside : takes places
    (n * d, 2), those of one point adjacent, and returns which are inside. The distance is measured between the
    coordinates, so that their rounding counts.
    """
    places = points[:, None] + distance[:, :, None] * np.stack([np.cos(direction), np.sin(direction)], axis=2)
    moved = np.hypot(*np.moveaxis(places - points[:, None], 2, 0))
    good = (moved > inner[:, None]) & (moved < outer[:, None])
    good &= inside(places.reshape(-1, 2)).reshape(good.shape)
    first = good.argmax(axis=1)
    rows = np.arange(len(points))
    return np.where(good[rows, first, None], places[rows, first], np.nan)
