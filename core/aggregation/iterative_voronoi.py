"""Iterative Voronoi: nearest site, then each site to the mean centre of its members, until nothing moves."""

from __future__ import annotations

import numpy as np

from ..errors import VbasError
from ..progress import Progress, silent
from ..regions import Regions
from ..voronoi import nearest_site
from .options import Aggregation, AggregationOptions, aggregation_by_site

DEFAULTS = AggregationOptions()
ROUND_LIMIT = 10_000


def iterative_voronoi(
    regions: Regions, sites: np.ndarray, options: AggregationOptions = DEFAULTS, progress: Progress = silent
) -> Aggregation:
    """Alternate nearest-site membership and mean centres to the fixed point (Croft 2018, section 2.3.2).

    regions : n areas; sites : (S, 2), metres. A site that ends without members is dropped.
    """
    site_of, sites, rounds = relocate(regions.points, sites, progress)
    return aggregation_by_site(site_of, sites, (f"Iterative Voronoi settled after {rounds} rounds.",))


def relocate(points: np.ndarray, sites: np.ndarray, progress: Progress = silent) -> tuple[np.ndarray, np.ndarray, int]:
    """Lloyd's loop: (membership (n,), sites that have members, rounds). Every returned site is its members' mean.

    points : (n, 2); sites : (S, 2). The sum of squared distances falls in each round, so that the loop ends;
    the members of the last round are nearest to the returned sites.
    """
    site_of = nearest_site(points, sites)
    for rounds in range(1, ROUND_LIMIT + 1):
        labels, site_of = np.unique(site_of, return_inverse=True)
        site_of = site_of.reshape(-1)
        sizes = np.bincount(site_of, minlength=len(labels))
        sites = np.column_stack([np.bincount(site_of, points[:, axis]) / sizes for axis in (0, 1)])
        nearest = nearest_site(points, sites)
        # An area changes only for a nearer site: ties and rounding must not keep the loop turning.
        gain = np.hypot(*(points - sites[site_of]).T) - np.hypot(*(points - sites[nearest]).T)
        moves = gain > 1e-12 * np.maximum(np.abs(points).max(), 1.0)
        if not moves.any():
            return site_of, sites, rounds
        site_of = np.where(moves, nearest, site_of)
        progress(1.0 - 0.5 ** (rounds / 20))
    raise VbasError(f"Iterative Voronoi did not settle within {ROUND_LIMIT} rounds: please report these areas.")
