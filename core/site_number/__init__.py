"""Component 1, how many sites: a file per approach, `APPROACHES` by the words the user sees.

An approach is called as `approach(profile, identifiers, options)` and returns a `SiteNumber`; `settings` are fields of
`SiteNumberOptions`. One that `runs_candidates` is given what a number of sites suppresses, and progress, too.
"""

from __future__ import annotations

from ..approach import Approach
from .entropy import entropy
from .given_number import given_number
from .max_combinations import max_combinations
from .max_combinations_2018 import max_combinations_2018
from .options import SiteNumber, SiteNumberOptions
from .population_cutoff import population_cutoff
from .suppression_budget import suppression_budget

__all__ = ["APPROACHES", "SiteNumber", "SiteNumberOptions"]

MODEL = ("gaps_region", "gaps_coefficient", "gaps_exponent")
APPROACHES: dict[str, Approach[SiteNumber]] = {
    "max combinations": Approach(max_combinations, (*MODEL, "k"), counts_values=True),
    "entropy": Approach(entropy, (*MODEL, "log_base"), uses_attribute_counts=True),
    "population cut-off": Approach(population_cutoff, ("cutoff",)),
    "given number": Approach(given_number, ("n_sites",)),
    "max combinations (2018)": Approach(max_combinations_2018, MODEL, uses_attribute_counts=True),
    "suppression budget": Approach(
        suppression_budget, ("budget", "fair", "k"), uses_attribute_counts=True, runs_candidates=True
    ),
}
