"""Where anonymity-driven clustering starts: from another site location, or from sites that are given."""

from __future__ import annotations

import numpy as np

from ...approach import Approach
from ...areas import Areas
from ...errors import InputError
from ...language import plural, tr
from ...profile import Profile
from ...progress import Progress
from ...voronoi import nearest_site
from ..options import LocationOptions, SiteLocation

# What a clustering may start from: the room puts in all its approaches, these ones too, once it has them.
STARTS: dict[str, Approach[SiteLocation]] = {}


def start_of(
    name: str, areas: Areas, profile: Profile, n_sites: int, options: LocationOptions, progress: Progress
) -> SiteLocation:
    """The sites that the clustering called `name` moves (Croft 2015, section 3.2.2: “more an augmentation to a site
    location approach”): those given in the options, else those of the approach that the options name.

    Of sites that are given, those that no area is nearest to are dropped, as basic Voronoi does. Another clustering
    that is started from starts from balanced density itself. Raises InputError for an approach that is not there, for
    the clustering itself, and for more sites than areas.
    """
    if options.start_sites:
        return _given(areas, np.array(options.start_sites, float))
    if options.start not in STARTS or options.start == name:
        raise InputError.saying(
            "START is “{start}”: “{name}” starts from {choices}.",
            start=options.start,
            name=name,
            choices=", ".join(tr("“{name}”", name=other) for other in STARTS if other != name),
        )
    approach = STARTS[options.start]
    asked = {setting: getattr(options, setting) for setting in approach.settings if setting in ("k", "seed")}
    return approach(areas, profile, n_sites, LocationOptions(**asked), progress)


def _given(areas: Areas, sites: np.ndarray) -> SiteLocation:
    if len(sites) > len(areas):
        raise InputError.saying(
            "SITES has {n_sites} points for {n_areas} areas: give at most one site per area.",
            n_sites=len(sites),
            n_areas=len(areas),
        )
    used = np.unique(nearest_site(areas.points, sites))
    n_dropped = len(sites) - len(used)
    if not n_dropped:
        return SiteLocation(sites)
    note = plural(
        "{n} of {n_sites} sites given has no area that it is nearest to, and is dropped.",
        "{n} of {n_sites} sites given have no area that they are nearest to, and are dropped.",
        n_dropped,
        n_sites=len(sites),
    )
    return SiteLocation(sites[used], (note,))


def started_from(options: LocationOptions) -> str:
    """Where that is, in words."""
    return tr("the sites given") if options.start_sites else tr("“{name}”", name=options.start)
