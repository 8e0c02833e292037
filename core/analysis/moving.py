"""Donut masking of people whose area is known and whose address is not: for holding releases against masked points.

Each person lives somewhere in the area, and moves in a random direction to a distance within which `k` to ten times as
many of their own class live (Allshouse et al. 2010, with people as near as they are in place of a density). Who reads
the masked points takes each for one of the area that is nearest.
"""

from __future__ import annotations

import numpy as np

from ..areas import Areas
from ..dataclass import dataclass
from ..masking.placing import uniform_in_area
from ..plan import SUPPRESSED
from ..profile import Profile
from ..progress import Progress, silent
from ..records.each_person import each_person
from ..scientific import spatial
from ..synthetic.distributions import stream

OUTER = 10  # how many times the people of the inner ring are within the outer


@dataclass(frozen=True, eq=False)
class Moved:
    """U units of people of one cell who were moved to the same area.

    cell : (U,) int64, of the profile; people : (U,) int64; to : (U,) int64, the area, SUPPRESSED where so few are of
    the class that nobody hides among them
    """

    cell: np.ndarray
    people: np.ndarray
    to: np.ndarray


def move_by_donut(areas: Areas, profile: Profile, k: int, seed: int = 0, progress: Progress = silent) -> Moved:
    """Move each person to where `k` to OUTER times `k` of their own class live nearer to their home.

    areas, profile : of the same n areas; k : people of the own class. Those of a class with no more than k are not
    released.
    """
    cell, to = moved_people(areas, profile, k, seed, OUTER, progress)
    keys, people = np.unique(cell * (len(areas) + 1) + to + 1, return_counts=True)
    cell, to = np.divmod(keys, len(areas) + 1)
    return Moved(cell, people.astype(np.int64), to - 1)


def moved_people(
    areas: Areas, profile: Profile, k: int, seed: int = 0, outer: float = OUTER, progress: Progress = silent
) -> tuple[np.ndarray, np.ndarray]:
    """The cell of each person, in the order of the profile, and the area that they are moved to, (N,) int64 each.

    k, outer : `k` to `outer` times as many of the own class live nearer; SUPPRESSED for a class with no more than k.
    """
    inner, farthest = rings(areas, profile, k, outer, progress)
    counts = profile.counts
    cell = each_person(counts.data)
    home = np.repeat(np.arange(len(areas), dtype=np.int64), np.diff(counts.indptr))[cell]
    rng = stream(seed, "donut")
    tree = spatial.cKDTree(areas.points)
    near, _ = tree.query(areas.points, k=2)
    own = near[:, 1] / 2  # of an area as a circle
    at = areas.points[home] + _moves(rng, own[home] * np.sqrt(rng.random(len(home))))
    distance = uniform_in_area(rng.random(len(home)), np.nan_to_num(inner[cell]), np.nan_to_num(farthest[cell]))
    _, to = tree.query(at + _moves(rng, distance))
    return cell, np.where(np.isfinite(inner[cell]), to, SUPPRESSED)


def _moves(rng: np.random.Generator, distance: np.ndarray) -> np.ndarray:
    """Moves by distances, (m,), in random directions, (m, 2)."""
    direction = rng.uniform(0.0, 2 * np.pi, len(distance))
    return np.asarray(distance[:, None] * np.column_stack([np.cos(direction), np.sin(direction)]))


def rings(
    areas: Areas, profile: Profile, k: int, outer: float = OUTER, progress: Progress = silent
) -> tuple[np.ndarray, np.ndarray]:
    """The radii within which k and `outer` times k people of the class of each cell live, metres, (m,) each.

    The people of an area are spread evenly between the circles half-way to the areas before and after it. The largest
    circle where there are fewer; NaN for a class with no more than k people.
    """
    counts = profile.counts
    near, farthest = np.full(counts.nnz, np.nan), np.full(counts.nnz, np.nan)
    by_area = counts.tocsr()
    for area in range(len(areas)):
        start, stop = counts.indptr[area], counts.indptr[area + 1]
        if start == stop:
            continue
        far = np.hypot(*(areas.points - areas.points[area]).T)
        order = np.argsort(far, kind="stable")
        far = far[order]
        # Squares of the radii between which each area's people live.
        edges = np.concatenate([[0.0], (far[:-1] + far[1:]) / 2, far[-1:]]) ** 2
        people = by_area[order][:, counts.indices[start:stop]].toarray()
        within = np.vstack([np.zeros(stop - start), np.cumsum(people, axis=0)])
        for position in range(stop - start):
            of_class = within[:, position]
            if of_class[-1] > k:
                near[start + position] = np.sqrt(np.interp(k, of_class, edges))
                farthest[start + position] = np.sqrt(np.interp(outer * k, of_class, edges))
        if area % 50 == 0:
            progress(area / len(areas))
    return near, farthest
