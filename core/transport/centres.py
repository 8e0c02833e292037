"""Where a facility goes among its destinations: to their mean centre or to their geometric median."""

from __future__ import annotations

from typing import Callable

import numpy as np

from .arcs import distances

MEDIAN_ROUNDS = 500
MEDIAN_PRECISION = 1e-9  # of the extent of the points


def mean_centres(points: np.ndarray, facility_of: np.ndarray, facilities: np.ndarray) -> np.ndarray:
    """The facilities, (S, 2), each at the unweighted mean of its destinations; where there are none it stays.

    points : (n, 2); facility_of : (n,). What Croft 2018, section 2.4.1 calls the median; it minimises the sum of the
    squared distances, so that the sum of the distances may rise.
    """
    size = np.bincount(facility_of, minlength=len(facilities))
    used = size > 0
    centres = facilities.copy()
    for axis in (0, 1):
        total = np.bincount(facility_of, points[:, axis], minlength=len(facilities))
        centres[used, axis] = total[used] / size[used]
    return centres


def geometric_medians(points: np.ndarray, facility_of: np.ndarray, facilities: np.ndarray) -> np.ndarray:
    """The facilities, (S, 2), each where the sum of the distances to its destinations is least.

    Weiszfeld's method from the present place of each facility, with the step of Vardi and Zhang (2000) where it meets
    a destination: no step raises the sum. Where there are no destinations the facility stays.
    """
    centres = facilities.copy()
    precision = MEDIAN_PRECISION * max(float(np.ptp(points, axis=0).max()), 1e-300) if len(points) else 0.0
    members = np.arange(len(points))
    for _ in range(MEDIAN_ROUNDS):
        before = centres.copy()
        centres = _weiszfeld_step(points[members], facility_of[members], centres)
        moving = distances(before, centres) > precision
        members = members[moving[facility_of[members]]]
        if not len(members):
            break
    return _at_a_destination(points, facility_of, centres)


def _weiszfeld_step(points: np.ndarray, facility_of: np.ndarray, centres: np.ndarray) -> np.ndarray:
    size = len(centres)
    distance = distances(points, centres[facility_of])
    met = distance == 0
    weight = np.divide(1.0, distance, out=np.zeros_like(distance), where=~met)
    total = np.bincount(facility_of, weight, minlength=size)
    pull = np.column_stack(
        [np.bincount(facility_of, weight * (points - centres[facility_of])[:, axis], minlength=size) for axis in (0, 1)]
    )
    strength = np.hypot(*pull.T)
    n_met = np.bincount(facility_of, met, minlength=size)
    share = np.maximum(1.0 - np.divide(n_met, strength, out=np.ones(size), where=strength > 0), 0.0)
    step = np.divide(pull, total[:, None], out=np.zeros_like(pull), where=total[:, None] > 0)
    return centres + share[:, None] * step


def _at_a_destination(points: np.ndarray, facility_of: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Each centre at its nearest destination where that is better: there the method comes near but slowly."""
    if not len(points):
        return centres
    size = len(centres)
    distance = distances(points, centres[facility_of])
    order = np.lexsort((distance, facility_of))
    used, first = np.unique(facility_of[order], return_index=True)
    there = centres.copy()
    there[used] = points[order[first]]
    here_sum = np.bincount(facility_of, distance, minlength=size)
    there_sum = np.bincount(facility_of, distances(points, there[facility_of]), minlength=size)
    return np.where((there_sum < here_sum)[:, None], there, centres)


MEAN_CENTRE = "mean centre"
GEOMETRIC_MEDIAN = "geometric median"
CENTRES: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    MEAN_CENTRE: mean_centres,
    GEOMETRIC_MEDIAN: geometric_medians,
}
