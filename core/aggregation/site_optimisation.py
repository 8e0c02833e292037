"""Site optimisation: sites with few people are removed, sites with many split, as long as the regions get denser."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice

import numpy as np

from .. import counted
from ..areas import Areas
from ..convergence import convergence
from ..dataclass import dataclass
from ..elementary import axes, norms
from ..language import plural, tr
from ..profile import Profile
from ..progress import Progress, part, silent
from ..voronoi import mean_centres, nearest_site
from .iterative_voronoi import relocate
from .options import DEFAULTS, Aggregation, AggregationOptions, aggregation_by_site

TOO_FEW, TOO_MANY = 0.5, 1.25  # of the ideal population
ROUND_LIMIT = 1_000  # some ten rounds are needed


def site_optimisation(
    areas: Areas,
    profile: Profile | None,
    sites: np.ndarray,
    options: AggregationOptions = DEFAULTS,
    progress: Progress = silent,
) -> Aggregation:
    """As iterative Voronoi, and sites are also removed and split to even out the population; in the paper the most
    compact (Croft 2018, section 2.3.3).

    areas : n areas with points (metres) and population; sites : (S, 2), the number that sets the ideal population.
    The result may have more or fewer sites. Compactness is the sum of the areas' distances to their sites.

    First the sites are relocated as in iterative Voronoi. Then those below half the ideal population are removed and
    the others relocated, until none is removed. Then, round by round, those below half are removed, those above 1.25 of
    the ideal are split across the principal axis of their areas, and all are relocated; the first round that does not
    improve compactness is taken back. Where many sites are removed and few split, the regions can end less compact than
    iterative Voronoi leaves them, as the paper found too (section 4.3): that is the result all the same, and a note
    says so.
    """
    steps = list(islice(improvements(areas, sites, progress), ROUND_LIMIT + 2))
    first, best, rounds = steps[0], steps[-1], len(steps) - 2
    progress(1.0)
    note = plural(
        "Site optimisation went from {sites} to {n_after} in {n} round of removing and splitting that made the "
        "regions more compact.",
        "Site optimisation went from {sites} to {n_after} in {n} rounds of removing and splitting "
        "that made the regions more compact.",
        rounds,
        sites=counted.sites(len(sites)),
        n_after=len(best.sites),
    )
    if rounds >= ROUND_LIMIT:
        note += " " + tr(
            "Warning: it was cut short after {round_limit} rounds; further ones might be better.",
            round_limit=ROUND_LIMIT,
        )
    if best.compactness > first.compactness * (1 + 1e-9):
        note += " " + tr(
            "Because sites with few people were removed, the regions are less compact than iterative Voronoi leaves "
            "them: {compactness:.0f} metres in all against {before:.0f}.",
            compactness=best.compactness,
            before=first.compactness,
        )
    distances = [step.compactness for step in steps]
    series = convergence(tr("Site optimisation"), tr("steps"), tr("sum of the distances, m"), distances)
    return aggregation_by_site(best.site_of, best.sites, (note,), series)


@dataclass(frozen=True, eq=False)
class SettledSites:
    """Sites (S', 2) that are the mean centres of their areas, the site of each area (n,), the sum of distances."""

    site_of: np.ndarray
    sites: np.ndarray
    compactness: float


def improvements(areas: Areas, sites: np.ndarray, progress: Progress = silent) -> Iterator[SettledSites]:
    """The first relocation, what is left when no site has too few people, then every round that improves on that."""
    ideal = areas.population.sum() / len(sites)
    stages = _stages(progress)
    settled = _relocated(areas, sites, next(stages))
    yield settled
    while (few := _populations(areas, settled) < TOO_FEW * ideal).any():
        settled = _relocated(areas, settled.sites[~few], next(stages))
    yield settled
    while True:
        population = _populations(areas, settled)
        few, many = population < TOO_FEW * ideal, population > TOO_MANY * ideal
        if not (few | many).any():
            return
        changed = _removed_and_split(areas.points, settled, few, many)
        following = _relocated(areas, changed, next(stages))
        if following.compactness >= settled.compactness:
            return
        settled = following
        yield settled


def _stages(progress: Progress) -> Iterator[Progress]:
    """The progress of one relocation after another, of which nobody knows how many there will be."""
    for i in count():
        yield part(progress, 1.0 - 0.5 ** (i / 4), 1.0 - 0.5 ** ((i + 1) / 4))


def _relocated(areas: Areas, sites: np.ndarray, progress: Progress) -> SettledSites:
    """Iterative Voronoi from these sites."""
    site_of, sites, _ = relocate(areas.points, sites, progress)
    return SettledSites(site_of, sites, float(norms(areas.points - sites[site_of]).sum()))


def _populations(areas: Areas, settled: SettledSites) -> np.ndarray:
    """The population of each site, (S',)."""
    return np.bincount(settled.site_of, weights=areas.population, minlength=len(settled.sites))


def _removed_and_split(points: np.ndarray, settled: SettledSites, few: np.ndarray, many: np.ndarray) -> np.ndarray:
    """The mean centres after sites were removed (`few`, (S',) bool) and split (`many`).

    A site is split into two infinitesimally close to it, either side of it on its areas' principal axis. That gives
    each of them the areas on its side, at whatever distance the two stand; they are placed at the mean centres of
    these areas at once, which is the first step of their relocation.
    """
    axes = _principal_axes(points, settled)
    kept = np.flatnonzero(~few)
    site_of = kept[nearest_site(points, settled.sites[kept])]
    beyond = ((points - settled.sites[site_of]) * axes[site_of]).sum(axis=1) > 0
    label = 2 * site_of + (many[site_of] & beyond)
    used, half = np.unique(label, return_inverse=True)
    return mean_centres(points, half.reshape(-1), len(used))


def _principal_axes(points: np.ndarray, settled: SettledSites) -> np.ndarray:
    """The direction, (S', 2) unit vectors, in which the areas of each site spread most."""
    x, y = (points - settled.sites[settled.site_of]).T
    n_sites = len(settled.sites)
    xx, xy, yy = (np.bincount(settled.site_of, weights=w, minlength=n_sites) for w in (x * x, x * y, y * y))
    return axes(xx, xy, yy)
