"""What the two transport heuristics share: where they start, what they say of the loads."""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from ..progress import Progress
from ..transport.seeding import alternate_location_allocation


def start_sites(points: np.ndarray, n_sites: int, progress: Progress) -> np.ndarray:
    """The sites of Cooper's alternate location-allocation, (n_sites, 2). Raises InputError unless 1 <= n_sites <= n."""
    if not 1 <= n_sites <= len(points):
        raise InputError(f"There are {n_sites} sites, but must be between 1 and the number of areas, {len(points)}.")
    return alternate_location_allocation(points, n_sites, progress)[0]


def load_note(loads: np.ndarray, capacity: int) -> str:
    """A sentence on the largest load against the limit."""
    unlimited = capacity >= loads.sum()
    limit = "without a limit" if unlimited else f"at most {capacity} were allowed"
    return f"The largest region has {int(loads.max())} areas, {limit}."
