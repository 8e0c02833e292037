"""Ways to nest levels that stand in a comparison: a function of areas, profile, settings and progress for each."""

from __future__ import annotations

from dataclasses import replace

from ..approach import Approach
from ..areas import Areas
from ..configuration import RECOMMENDED, Configuration, aggregate
from ..levels import Levels, make_levels, own_regions
from ..profile import Profile
from ..progress import Progress, silent
from .making import build_levels

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
