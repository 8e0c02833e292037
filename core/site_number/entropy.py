"""Entropy: the cut-off model applied to the entropy of the classes."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InputError
from ..profile import Profile
from .cutoff import class_entropy, gaps_model, model_note, sites_for_cutoff
from .options import DEFAULTS, SiteNumber, SiteNumberOptions


def entropy(profile: Profile, identifiers: Sequence[object], options: SiteNumberOptions = DEFAULTS) -> SiteNumber:
    """A published model says how many people a region needs for the entropy of the classes; it gives more and finer
    regions than max combinations, which suppresses less, in the paper and in our benchmarks (Croft 2018, Eqs. 1 to 3).

    Sites = N / Cutoff(Entropy). Raises InputError where the entropy is 0.
    """
    name, model = gaps_model(identifiers, options)
    value = class_entropy(profile, options.log_base)
    if value <= 0:
        raise InputError.saying(
            "All records have the same quasi-identifier values, so their entropy is 0 and gives no cut-off: choose "
            "“max combinations”, give a number of your own, or further QUASI_IDENTIFIERS."
        )
    notes = (model_note(name, "entropy"),)
    return sites_for_cutoff(profile, len(identifiers), model.cutoff(value), options, notes)
