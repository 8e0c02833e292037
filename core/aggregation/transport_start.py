"""What the two transport heuristics share: where they start, how sites move, what they say of the loads."""

from __future__ import annotations

from typing import Callable

import numpy as np

from ..errors import InputError
from ..progress import Progress
from ..transport.centres import CENTRES
from ..transport.seeding import alternate_location_allocation


def start_sites(points: np.ndarray, n_sites: int, given: np.ndarray | None, progress: Progress) -> np.ndarray:
    """The sites given, or those of Cooper's alternate location-allocation, (n_sites, 2).

    Raises InputError unless 1 <= n_sites <= n, and where other than n_sites sites are given.
    """
    if not 1 <= n_sites <= len(points):
        raise InputError(f"There are {n_sites} sites, but must be between 1 and the number of areas, {len(points)}.")
    if given is None:
        return alternate_location_allocation(points, n_sites, progress)[0]
    given = np.asarray(given, dtype=float).reshape(-1, 2)
    if len(given) != n_sites:
        raise InputError(f"START_SITES has {len(given)} sites, but {n_sites} are wanted: give as many as that.")
    return given


def site_mover(centre: str) -> Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    """The function that moves sites to that kind of centre. Raises InputError for a kind there is not."""
    if centre not in CENTRES:
        raise InputError(f"CENTRE “{centre}” is unknown: choose one of {', '.join(CENTRES)}.")
    return CENTRES[centre]


def load_note(loads: np.ndarray, capacity: int) -> str:
    """A sentence on the largest load against the limit."""
    unlimited = capacity >= loads.sum()
    limit = "without a limit" if unlimited else f"at most {capacity} were allowed"
    return f"The largest region has {int(loads.max())} areas, {limit}."
