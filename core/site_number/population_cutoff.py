"""Population cut-off: a fixed population per region."""

from __future__ import annotations

from collections.abc import Sequence

from ..parameters import CUTOFF
from ..profile import Profile
from .cutoff import sites_for_cutoff
from .options import DEFAULTS, SiteNumber, SiteNumberOptions

# Croft 2015, section 2.2.
PUBLISHED_CUTOFFS = {
    "US Census Bureau": 100_000,
    "British census": 120_000,
    "Statistics Canada, Canadian Community Health Survey": 70_000,
}


def population_cutoff(
    profile: Profile, identifiers: Sequence[object], options: SiteNumberOptions = DEFAULTS
) -> SiteNumber:
    """The number of records divided by the people each region should have (Croft 2015, section 2.2).

    Sites = N / cutoff. Raises InputError unless the cut-off is above 0.
    """
    CUTOFF.check(options.cutoff)
    return sites_for_cutoff(profile, len(identifiers), options.cutoff, options, ())
