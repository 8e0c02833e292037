"""Facilities: how many destinations each may serve, where the first ones stand, how they move."""

from __future__ import annotations

import math

import numpy as np

from ..errors import InputError, VbasError
from ..language import plural, tr
from ..progress import Progress, silent
from ..voronoi import mean_centres, nearest_site
from .loads import distances

UNLIMITED = 0.0
ROUND_LIMIT = 10_000


def check_capacity_factor(factor: float, parameter: str = "CAPACITY_FACTOR") -> None:
    """Raises InputError, which names the parameter, for a factor that is neither 0 nor at least 1."""
    if factor != UNLIMITED and not (math.isfinite(factor) and factor >= 1):
        raise InputError.saying(
            "{parameter} is {factor:g}, but must be at least 1, the even share of the areas, or 0 for no limit.",
            parameter=parameter,
            factor=factor,
        )


def facility_capacity(n_destinations: int, n_facilities: int, factor: float) -> int:
    """U = ceil(ceil(n/S) f), at most n; n where the factor is 0, unlimited (Croft 2018, section 2.4).

    A product that is whole but for rounding counts as whole: 1.2 x 5 is 6. Raises InputError for a factor that is
    neither 0 nor at least 1: below 1 there is not room for all.
    """
    check_capacity_factor(factor)
    if factor == UNLIMITED:
        return n_destinations
    product = math.ceil(n_destinations / n_facilities) * factor
    nearest = round(product)
    whole = abs(product - nearest) <= 1e-9 * nearest
    return min(nearest if whole else math.ceil(product), n_destinations)


def first_facilities(
    points: np.ndarray, n_facilities: int, start_sites: tuple[tuple[float, float], ...], progress: Progress = silent
) -> np.ndarray:
    """Where the transport heuristics start, (S, 2): at the sites given, else as Cooper does (Croft 2018, 2.4.1: other
    methods of seeding may be used).

    points : (n, 2); start_sites : S places in the units of the points, or none. Raises InputError for another number
    of them, and what `alternate_location_allocation` raises.
    """
    if not start_sites:
        return alternate_location_allocation(points, n_facilities, progress)
    if len(start_sites) != n_facilities:
        raise InputError.counting(
            "SITES has {n} point, but the number of sites is {n_sites}: give as many.",
            "SITES has {n} points, but the number of sites is {n_sites}: give as many.",
            len(start_sites),
            n_sites=n_facilities,
        )
    return np.array(start_sites, float)


def alternate_location_allocation(points: np.ndarray, n_facilities: int, progress: Progress = silent) -> np.ndarray:
    """The facilities that the transport heuristics start from, (S, 2) (Cooper, after Croft 2018, section 2.4).

    points : (n, 2). The destinations are split into S groups of equal size, or nearly, by
    halving along the longer side; then, in turn, each facility goes to the mean centre of its destinations and each
    destination to the nearest facility, until none changes. A facility that loses all its destinations stays.
    Raises InputError unless 1 <= n_facilities <= n.
    """
    if not 1 <= n_facilities <= len(points):
        raise InputError.saying(
            "The number of sites is {n_sites}, but must be between 1 and the number of areas, {n_points}.",
            n_sites=n_facilities,
            n_points=len(points),
        )
    facility_of = equal_groups(points, n_facilities)
    facilities = mean_centres(points, facility_of, n_facilities)
    smallest_gain = 1e-12 * float(np.abs(points).max())
    for rounds in range(1, ROUND_LIMIT + 1):
        nearest = nearest_site(points, facilities)
        gain = distances(points, facilities[facility_of]) - distances(points, facilities[nearest])
        moves = gain > smallest_gain
        if not moves.any():
            return facilities
        facility_of = np.where(moves, nearest, facility_of)
        facilities = recentred(points, facility_of, facilities)
        progress(1.0 - 0.5 ** (rounds / 20))
    raise VbasError.saying(
        "The seeding did not settle within {round_limit} rounds: please report these points.", round_limit=ROUND_LIMIT
    )


def equal_groups(points: np.ndarray, n_groups: int) -> np.ndarray:
    """A first split into groups of points that lie together, (n,) int64: their sizes differ by one at most."""
    group_of = np.empty(len(points), np.int64)
    sizes = np.diff(np.arange(n_groups + 1, dtype=np.int64) * len(points) // n_groups)
    before = np.concatenate([[0], np.cumsum(sizes)])
    waiting = [(np.arange(len(points), dtype=np.int64), 0, n_groups)]
    while waiting:
        members, first, last = waiting.pop()
        if last - first == 1:
            group_of[members] = first
            continue
        axis = int(np.argmax(np.ptp(points[members], axis=0)))
        members = members[np.lexsort((points[members, 1 - axis], points[members, axis]))]
        middle = (first + last) // 2
        cut = before[middle] - before[first]
        waiting += [(members[:cut], first, middle), (members[cut:], middle, last)]
    return group_of


def recentred(points: np.ndarray, facility_of: np.ndarray, facilities: np.ndarray) -> np.ndarray:
    """The facilities, (S, 2), each moved to the unweighted mean of its destinations; one without any stays.

    points : (n, 2); facility_of : (n,). What Croft 2018, section 2.4.1 calls the median; it minimises the sum of the
    squared distances, so that the sum of the distances may rise.
    """
    used = np.bincount(facility_of, minlength=len(facilities)) > 0
    return np.where(used[:, None], mean_centres(points, facility_of, len(facilities)), facilities)


def load_note(loads: np.ndarray, capacity: int) -> str:
    """A sentence on the largest load against the limit."""
    unlimited = capacity >= loads.sum()
    limit = tr("without a limit") if unlimited else tr("at most {capacity} were allowed", capacity=capacity)
    return plural(
        "The largest region has {n} area, {limit}.",
        "The largest region has {n} areas, {limit}.",
        int(loads.max()),
        limit=limit,
    )
