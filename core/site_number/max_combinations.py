"""Max combinations: the cut-off model applied to the number of possible classes."""

from __future__ import annotations

from collections.abc import Sequence

from ..profile import Profile
from .cutoff import possible_classes, sites_for_cutoff
from .gaps import gaps_model
from .options import SiteNumber, SiteNumberOptions

DEFAULTS = SiteNumberOptions()


def max_combinations(
    profile: Profile, identifiers: Sequence[object], options: SiteNumberOptions = DEFAULTS
) -> SiteNumber:
    """Sites = N / Cutoff(MaxCombs) (Croft 2018, Eqs. 2 to 4)."""
    name, model = gaps_model(identifiers, options)
    cutoff = model.cutoff(possible_classes(profile))
    note = f"Cut-off from the max combinations model of {name}."
    return sites_for_cutoff(profile, len(identifiers), cutoff, options, (note,))
