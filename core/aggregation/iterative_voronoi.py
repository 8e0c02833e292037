"""Iterative Voronoi: nearest site, then each site to the mean centre of its members, until nothing moves."""

from __future__ import annotations

import numpy as np

from ..areas import Areas
from ..convergence import convergence
from ..elementary import norms
from ..errors import VbasError
from ..language import plural, tr
from ..profile import Profile
from ..progress import Progress, silent
from ..scientific import spatial
from .options import DEFAULTS, Aggregation, AggregationOptions, aggregation_by_site

ROUND_LIMIT = 10_000
# So many sites are compared with all others directly, which is faster than a tree for so few.
FEW = 64


def iterative_voronoi(
    areas: Areas,
    profile: Profile | None,
    sites: np.ndarray,
    options: AggregationOptions = DEFAULTS,
    progress: Progress = silent,
) -> Aggregation:
    """Each area joins the nearest site and each site moves to the middle of its areas, until all rest; in the paper
    more compact than basic Voronoi (Croft 2018, section 2.3.2).

    areas : n areas; sites : (S, 2), metres. A site that ends without members is dropped.
    """
    changes: list[int] = []
    site_of, sites, rounds = relocate(areas.points, sites, progress, changes)
    series = convergence(tr("Iterative Voronoi"), tr("rounds before"), tr("areas that change their region"), changes)
    return aggregation_by_site(
        site_of,
        sites,
        (
            plural(
                "Iterative Voronoi settled after {n} round.",
                "Iterative Voronoi settled after {n} rounds.",
                rounds,
            ),
        ),
        series,
    )


def relocate(
    points: np.ndarray, sites: np.ndarray, progress: Progress = silent, changes: list[int] | None = None
) -> tuple[np.ndarray, np.ndarray, int]:
    """Lloyd's loop: (membership (n,), sites that have members, rounds). Every returned site is its members' mean.

    points : (n, 2); sites : (S, 2); changes : a list that gets the number of areas that change their site, by round.
    The sum of squared distances falls in each round, so that the loop ends; the members of the last round are nearest
    to the returned sites. A round asks only for the areas whose nearest site can have changed (the triangle inequality
    of Hamerly 2010, between sites), and gives what asking for all would.
    """
    distance, site_of = spatial.cKDTree(sites).query(points)
    # An area changes only for a nearer site: ties and rounding must not keep the loop turning.
    tolerance = 1e-12 * max(float(np.abs(points).max()), 1.0)
    columns = np.ascontiguousarray(points.T)
    for rounds in range(1, ROUND_LIMIT + 1):
        sizes = np.bincount(site_of, minlength=len(sites))
        if not sizes.all():
            site_of, sites, sizes = (
                (np.cumsum(sizes > 0, dtype=np.int64) - 1)[site_of],
                sites[sizes > 0],
                sizes[sizes > 0],
            )
        means = np.column_stack([np.bincount(site_of, column) / sizes for column in columns])
        moved, sites = (means != sites).any(axis=1), means
        changed = np.flatnonzero(moved[site_of])
        offsets = points[changed] - sites[site_of[changed]]
        distance[changed] = norms(offsets)
        tree = spatial.cKDTree(sites)
        # The half of the way to another site is nearer to the own one; a little less, for rounding.
        safe = (0.5 - 1e-9) * _way_to_rivals(sites, moved, tree)
        asked = np.flatnonzero(distance >= safe[site_of])
        near, nearest = tree.query(points[asked])
        moves = distance[asked] - near > tolerance
        if changes is not None:
            changes.append(int(moves.sum()))
        if not moves.any():
            return site_of, sites, rounds
        site_of[asked[moves]], distance[asked[moves]] = nearest[moves], near[moves]
        progress(1.0 - 0.5 ** (rounds / 20))
    raise VbasError.saying(
        "Iterative Voronoi did not settle within {round_limit} rounds: please report these areas.",
        round_limit=ROUND_LIMIT,
    )


def _way_to_rivals(sites: np.ndarray, moved: np.ndarray, tree: spatial.cKDTree) -> np.ndarray:
    """From each site to the nearest other one that can take its members: of a site that stayed, only one that moved."""
    way = np.full(len(sites), np.inf)
    movers, stay = sites[moved], ~moved
    if len(sites) > 1:
        way[moved] = tree.query(movers, k=2)[0][:, 1]
    if len(movers) <= FEW:
        way[stay] = spatial.distance.cdist(sites[stay], movers).min(axis=1, initial=np.inf)
    else:
        way[stay] = spatial.cKDTree(movers).query(sites[stay])[0]
    return way
