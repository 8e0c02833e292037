"""Split and merge: the sites that are missed least go where a region is best split in two."""

from __future__ import annotations

import numpy as np

from ..areas import Areas
from ..dataclass import dataclass
from ..elementary import norms
from ..profile import Profile
from ..progress import Progress, part, silent
from ..scientific import spatial
from ..voronoi import halves
from .balanced_density import balanced_density
from .options import DEFAULTS, LocationOptions, SiteLocation

SHARE = 0.25  # of the sites that may change place at once, at first
HALVING_ROUNDS = 8


def split_and_merge(
    areas: Areas,
    profile: Profile | None,
    n_sites: int,
    options: LocationOptions = DEFAULTS,
    progress: Progress = silent,
) -> SiteLocation:
    """The sites stand in the middle of compact regions: from those of balanced density, the sites that are missed least
    go where a region is best split in two, as long as areas come nearer to the middle of their region.

    areas : n areas with points (metres) and population; 1 <= n_sites <= n, exactly so many sites are placed, two in one
    place only where the areas have no more places. What is made less is the sum of the distances from the areas to the
    mean centre of their region, by Lloyd's k-means after each change; nothing is drawn by chance. The profile is not
    used. (The idea is that of iterative split-and-merge for codebooks, Kaukoranta, Fränti & Nevalainen 1998.)
    """
    begun = _settled(areas.points, balanced_density(areas, profile, n_sites).sites, progress, 0.0)
    best = _complete(begun, n_sites, progress)
    share, turn = SHARE, 0
    while share * len(best.sites) >= 0.5:
        turn += 1
        sites = _rearranged(best, max(1, int(share * len(best.sites))))
        if sites is None:
            break
        tried = _settled(areas.points, sites, progress, 1.0 - 0.5 ** (turn / 4))
        if len(tried.sites) == len(best.sites) and tried.length < best.length * (1 - LEAST_GAIN):
            best = tried
        else:
            share /= 2
    progress(1.0)
    far = np.argsort(-best.distances, kind="stable")[: n_sites - len(best.sites)]
    return SiteLocation(np.concatenate([best.sites, areas.points[far]]))


# A gain must be more than rounding: so the search ends.
LEAST_GAIN = 1e-9


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Sites in the middle of the areas that are nearest to them.

    points : (n, 2); sites : (S, 2), each with members; site_of : (n,); distances : (n,) to the own site
    """

    points: np.ndarray
    sites: np.ndarray
    site_of: np.ndarray
    distances: np.ndarray

    @property
    def length(self) -> float:
        """The sum of the distances."""
        return float(self.distances.sum())


def _settled(points: np.ndarray, sites: np.ndarray, progress: Progress, done: float) -> Arrangement:
    """Sites moved to the middle of their areas until all rest; those without areas are gone. done : how far all is."""
    from ..aggregation.iterative_voronoi import relocate  # which is loaded after the site locations

    site_of, sites, _ = relocate(points, sites, part(progress, done, done))
    return Arrangement(points, sites, site_of, norms(points - sites[site_of]))


def _complete(arrangement: Arrangement, n_sites: int, progress: Progress) -> Arrangement:
    """The same with sites in place of those that were lost, where a region is best split; fewer if none can be."""
    while len(arrangement.sites) < n_sites:
        halves, gain = _halves(arrangement)
        split = np.argsort(-gain, kind="stable")[: n_sites - len(arrangement.sites)]
        split = split[gain[split] > 0]
        sites = np.concatenate([np.delete(arrangement.sites, split, axis=0), halves[split].reshape(-1, 2)])
        more = _settled(arrangement.points, sites, progress, 0.0)
        if len(more.sites) <= len(arrangement.sites):
            break
        arrangement = more
    return arrangement


def _rearranged(arrangement: Arrangement, most: int) -> np.ndarray | None:
    """The sites after up to `most` of them went into regions that are split, those of most gain first; None for none.

    A region that takes areas of a site that goes is neither split nor given up in the same turn.
    """
    n_sites = len(arrangement.sites)
    if n_sites < 3:
        return None
    halves, gain = _halves(arrangement)
    second, cost = _without(arrangement)
    leaving = iter(np.argsort(cost, kind="stable").tolist())
    heirs = [np.unique(second[members]) for members in _members(arrangement)]
    sites, busy, n_moved = arrangement.sites.copy(), np.zeros(n_sites, bool), 0
    gone = next(leaving)
    for split in np.argsort(-gain, kind="stable").tolist():
        if busy[split]:
            continue
        gone = next((site for site in (gone, *leaving) if not busy[site] and site != split), None)
        if gone is None or n_moved == most or gain[split] <= cost[gone]:
            break
        busy[[split, gone]] = True
        busy[heirs[gone]] = True
        sites[split], sites[gone] = halves[split]
        n_moved += 1
    return sites if n_moved else None


def _halves(arrangement: Arrangement) -> tuple[np.ndarray, np.ndarray]:
    """The middles of the two halves of each region, (S, 2, 2), and by how much the split shortens distances, (S,)."""
    points, site_of, n_sites = arrangement.points, arrangement.site_of, len(arrangement.sites)
    half_of, middles = halves(points, site_of, arrangement.sites, HALVING_ROUNDS, np.zeros(n_sites))
    shorter = arrangement.distances - norms(points - middles[half_of])
    whole = np.bincount(half_of, minlength=2 * n_sites).reshape(-1, 2).min(axis=1) > 0
    return middles.reshape(-1, 2, 2), np.where(whole, np.bincount(site_of, shorter, n_sites), 0.0)


def _without(arrangement: Arrangement) -> tuple[np.ndarray, np.ndarray]:
    """The second nearest site of each area, (n,), and by how much distances grow if a site goes, (S,)."""
    distance, site = spatial.cKDTree(arrangement.sites).query(arrangement.points, k=2)
    own_first = site[:, 0] == arrangement.site_of
    second = np.where(own_first, site[:, 1], site[:, 0])
    longer = np.where(own_first, distance[:, 1], distance[:, 0]) - arrangement.distances
    return second, np.bincount(arrangement.site_of, longer, len(arrangement.sites))


def _members(arrangement: Arrangement) -> list[np.ndarray]:
    order = np.argsort(arrangement.site_of, kind="stable")
    return np.split(order, np.cumsum(np.bincount(arrangement.site_of, minlength=len(arrangement.sites)))[:-1])
