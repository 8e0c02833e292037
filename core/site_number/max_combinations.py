"""Max combinations: the cut-off model applied to the number of possible classes."""

from __future__ import annotations

from collections.abc import Sequence

from ..profile import Profile
from .cutoff import gaps_model, model_note, releasable_combinations, sites_for_cutoff
from .options import DEFAULTS, SiteNumber, SiteNumberOptions


def max_combinations(
    profile: Profile, identifiers: Sequence[object], options: SiteNumberOptions = DEFAULTS
) -> SiteNumber:
    """A published model says how many people a region needs for the possible combinations of the quasi-identifiers'
    values. Unlike in the paper, values of fewer than k records, never released, do not count; “max combinations (2018)”
    is the paper's (Croft 2018, Eqs. 2, 3).

    Sites = N / Cutoff(MaxCombs), MaxCombs of the categories that at least k records have. The paper counts every
    category (Eq. 4), as `max_combinations_2018` does. A category of fewer than k records is never released, and must
    not show in the number of regions either.
    """
    return sites_for_combinations(
        profile, identifiers, options, releasable_combinations(profile, options.k), "max combinations"
    )


def sites_for_combinations(
    profile: Profile, identifiers: Sequence[object], options: SiteNumberOptions, combinations: float, approach: str
) -> SiteNumber:
    """Sites = N / Cutoff(combinations); approach : what it is called."""
    name, gaps = gaps_model(identifiers, options)
    notes = (model_note(name, approach),)
    return sites_for_cutoff(profile, len(identifiers), gaps.cutoff(combinations), options, notes, combinations)
