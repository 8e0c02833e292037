"""Making levels from the areas up: the regions of a level are the areas of the next."""

from __future__ import annotations

from dataclasses import field, replace

import numpy as np

from .. import counted
from ..adjacency import Adjacency, adjacency_of_pairs
from ..aggregation import APPROACHES as AGGREGATIONS
from ..aggregation import AggregationOptions
from ..aggregation.population_floor import population_floor
from ..approach import Approach, choosing_sites
from ..areas import Areas, make_areas
from ..configuration import RECOMMENDED, Configuration, aggregate, chosen
from ..crosswalk import Crosswalk
from ..dataclass import dataclass
from ..errors import InputError
from ..evaluation import people_within
from ..levels import Levels, make_levels, own_regions, some_have_fewer
from ..parameters import COARSEST, RATIO
from ..profile import Profile
from ..progress import Progress, part, silent
from ..site_location import APPROACHES as SITE_LOCATIONS
from ..site_location import LocationOptions
from ..voronoi import weighted_centres


@dataclass(frozen=True)
class LevelOptions:
    """How levels are made.

    coarsest : regions of the last level; ratio : regions of a level per region of the next; least_population : people
    that every region of the finest level needs, 0 for any number
    site_location, aggregation : approaches of components 2 and 3, for each level, with their options
    """

    coarsest: int = 1
    ratio: float = 2.0
    least_population: float = 0.0
    site_location: str = "balanced density"
    aggregation: str = "iterative Voronoi"
    location_options: LocationOptions = field(default_factory=LocationOptions)
    aggregation_options: AggregationOptions = field(default_factory=AggregationOptions)


DEFAULTS = LevelOptions()


def build_levels(
    areas: Areas,
    profile: Profile,
    finest: Crosswalk | None = None,
    options: LevelOptions = DEFAULTS,
    progress: Progress = silent,
) -> Levels:
    """Levels from the areas up (methods: section 12).

    Parameters
    ----------
    areas : Areas
        n areas with the population to balance, and their neighbours where an approach needs them, or where a least
        population is asked for.
    profile : Profile
        Of the same areas.
    finest : Crosswalk, optional
        The crosswalk of the first level, each area its own region where None. Regions of the finest level below the
        least population are joined by `population floor`.
    options : LevelOptions
        How many regions the levels have, and which approaches join them.
    progress : callable
        Called with the fraction that is done; raises to cancel.

    Returns
    -------
    Levels
        The finest first, down to `options.coarsest` regions.

    Raises
    ------
    InputError
        For settings outside their range, for an unknown approach, and where the areas together have fewer people than
        the least population.

    Examples
    --------
    >>> from vbas.core.synthetic.hamlet import hamlet
    >>> areas, records, crosswalk = hamlet()
    >>> from vbas.core.nesting.making import LevelOptions, build_levels
    >>> levels = build_levels(areas, records.profile, options=LevelOptions(coarsest=1, ratio=2))
    >>> [crosswalk.n_regions for crosswalk in levels.crosswalks]
    [4, 2, 1]
    """
    RATIO.check(options.ratio)
    COARSEST.check(options.coarsest)
    crosswalk = own_regions(len(areas)) if finest is None else finest
    crosswalk = _with_least_population(areas, crosswalk, options.least_population, progress)
    crosswalks = [crosswalk]
    total = np.log(max(crosswalk.n_regions / options.coarsest, 2))
    while crosswalk.n_regions > options.coarsest:
        done = 1.0 - min(1.0, np.log(crosswalk.n_regions / options.coarsest) / total)
        progress(done)
        wanted = max(options.coarsest, min(round(crosswalk.n_regions / options.ratio), crosswalk.n_regions - 1))
        crosswalk = _next_level(areas, profile, crosswalk, wanted, options, part(progress, done, done))
        crosswalks.append(crosswalk)
    return make_levels(areas, crosswalks)


def _with_least_population(areas: Areas, crosswalk: Crosswalk, least: float, progress: Progress) -> Crosswalk:
    """The crosswalk, its regions joined until each has the least population."""
    if not some_have_fewer(areas, [crosswalk], least):
        return crosswalk
    regions = regions_as_areas(areas, crosswalk)
    joined = population_floor(regions, None, 1, AggregationOptions(floor=least), part(progress, 0.0, 0.5)).crosswalk
    return joined_by(crosswalk, joined)


def _next_level(
    areas: Areas, profile: Profile, crosswalk: Crosswalk, wanted: int, options: LevelOptions, progress: Progress
) -> Crosswalk:
    """The regions of a crosswalk joined to about `wanted` regions, fewer than before."""
    if wanted == 1:
        return joined_by(crosswalk, Crosswalk(np.zeros(crosswalk.n_regions, np.int64), 1))
    regions = regions_as_areas(areas, crosswalk)
    aggregation = chosen(AGGREGATIONS, options.aggregation, "AGGREGATION")
    # An exchange is free in the number of regions, which levels are not.
    aggregation = AGGREGATIONS.get(aggregation.starts_from, aggregation)
    sites: object = wanted
    locate = None
    if options.aggregation not in choosing_sites(AGGREGATIONS):
        locate = chosen(SITE_LOCATIONS, options.site_location, "SITE_LOCATION")
    merged = None  # of a large profile, adding up classes takes longer than all the rest
    if aggregation.uses_attribute_counts or (locate is not None and locate.uses_attribute_counts):
        merged = replace(profile, counts=(crosswalk.membership() @ profile.counts).tocsr())
    if locate is not None:
        sites = locate(regions, merged, wanted, options.location_options, silent).sites
    # A floor of its own would be the same at every level: regions share the population evenly.
    settings = replace(options.aggregation_options, floor=0.0)
    joined = aggregation(regions, merged, sites, settings, progress).crosswalk
    if joined.n_regions >= crosswalk.n_regions:
        raise InputError.saying(
            "“{aggregation}” cannot make fewer than {regions} of these areas, so that no coarser level comes about: "
            "choose another AGGREGATION, or COARSEST at that number.",
            aggregation=options.aggregation,
            regions=counted.regions(crosswalk.n_regions),
        )
    return joined_by(crosswalk, joined)


def joined_by(crosswalk: Crosswalk, joined: Crosswalk) -> Crosswalk:
    """The crosswalk of the areas whose regions are joined by a crosswalk of the regions."""
    inside = crosswalk.region_of >= 0
    region_of = crosswalk.region_of.copy()
    region_of[inside] = joined.region_of[crosswalk.region_of[inside]]
    return Crosswalk(region_of, joined.n_regions)


def regions_as_areas(areas: Areas, crosswalk: Crosswalk) -> Areas:
    """The regions as areas: population-weighted mean centres, whole populations, and neighbours where areas have them.

    At least two regions are needed.
    """
    if np.array_equal(crosswalk.region_of, np.arange(len(areas), dtype=np.int64)):
        return areas
    inside = crosswalk.region_of >= 0
    region_of = crosswalk.region_of[inside]
    points = weighted_centres(
        areas.points[inside], people_within(areas, crosswalk)[inside], region_of, crosswalk.n_regions
    )
    regions = make_areas([str(number) for number in crosswalk.numbers], points, in_metres=True)
    population = crosswalk.totals(areas.population)
    neighbours = None if areas.neighbours is None else _neighbours(areas.neighbours, crosswalk)
    return replace(regions, population=population, neighbours=neighbours)


def _neighbours(adjacency: Adjacency, crosswalk: Crosswalk) -> Adjacency:
    """Regions are neighbours where areas of both are; their borders add up."""
    first, second = adjacency.pairs()
    borders = adjacency.borders[adjacency.owners < adjacency.others]
    pair = np.sort(crosswalk.region_of[np.column_stack([first, second])], axis=1)
    apart = (pair[:, 0] >= 0) & (pair[:, 0] != pair[:, 1])
    key, position = np.unique(pair[apart] @ np.array([crosswalk.n_regions, 1], np.int64), return_inverse=True)
    first, second = np.divmod(key, crosswalk.n_regions)
    return adjacency_of_pairs(
        first, second, np.bincount(position.reshape(-1), borders[apart], len(key)), crosswalk.n_regions
    )


ALL_ROUNDER = RECOMMENDED["all-rounder"]


def from_the_areas_up(areas: Areas, profile: Profile, settings: Configuration, progress: Progress = silent) -> Levels:
    """Each level has half as many regions as the one before, from the areas themselves to a single region.

    Raises what `build_levels` raises; `settings` are not looked at.
    """
    return build_levels(areas, profile, progress=progress)


def areas_and_all_rounder(
    areas: Areas, profile: Profile, settings: Configuration, progress: Progress = silent
) -> Levels:
    """Two levels: the areas themselves, and the regions of the combination “all-rounder”.

    settings : for its number of regions. Raises what `aggregate` raises.
    """
    number, location, aggregation = ALL_ROUNDER.site_number, ALL_ROUNDER.site_location, ALL_ROUNDER.aggregation
    all_rounder = replace(settings, site_number=number, site_location=location, aggregation=aggregation)
    run = aggregate(areas, profile, all_rounder, progress)
    return make_levels(areas, [own_regions(len(areas)), run.aggregation.crosswalk])


RECIPES: dict[str, Approach[Levels]] = {
    "from the areas up": Approach(from_the_areas_up),
    "areas and all-rounder": Approach(areas_and_all_rounder),
}
