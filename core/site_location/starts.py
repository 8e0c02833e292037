"""Where a clustering starts: the sites of another approach of the room."""

from __future__ import annotations

from typing import Callable

from ..errors import InputError
from ..profile import Profile
from ..progress import Progress
from ..regions import Regions
from .options import LocationOptions, SiteLocation

# The door of the room puts its approaches in here, so that no clustering has to know the door.
STARTS: dict[str, Callable[..., SiteLocation]] = {}


def starting_sites(
    own_name: str,
    regions: Regions,
    profile: Profile,
    n_sites: int,
    options: LocationOptions,
    progress: Progress,
) -> SiteLocation:
    """The sites of the approach `options.start`. Raises InputError where it is unknown or `own_name` itself.

    A clustering that another one starts from starts, for its part, from the default.
    """
    others = ", ".join(f"“{name}”" for name in STARTS if name != own_name)
    if options.start == own_name:
        raise InputError(f"START is “{own_name}”, which cannot start from itself: choose one of {others}.")
    if options.start not in STARTS:
        raise InputError(f"START “{options.start}” is unknown: choose one of {others}.")
    own_options = LocationOptions(k=options.k, seed=options.seed)
    return STARTS[options.start](regions, profile, n_sites, own_options, progress)
