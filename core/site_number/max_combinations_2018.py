"""Max combinations (2018): as published, with every category counted, however few records have it."""

from __future__ import annotations

from collections.abc import Sequence

from ..profile import Profile
from .cutoff import possible_classes
from .max_combinations import sites_for_combinations
from .options import DEFAULTS, SiteNumber, SiteNumberOptions


def max_combinations_2018(
    profile: Profile, identifiers: Sequence[object], options: SiteNumberOptions = DEFAULTS
) -> SiteNumber:
    """The paper's max combinations: every value counts, however few records have it, so that one suppressed record
    with a value of its own can change the number of regions, which a release shows (Croft 2018, Eqs. 2 to 4).

    Sites = N / Cutoff(MaxCombs).
    """
    return sites_for_combinations(profile, identifiers, options, possible_classes(profile), "max combinations (2018)")
