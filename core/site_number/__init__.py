"""Component 1, how many sites: a file per approach, `APPROACHES` by the words the user sees.

An approach is called as `approach(profile, identifiers, options)` and returns a `SiteNumber`.
"""

from __future__ import annotations

from typing import Callable

from .entropy import entropy
from .given_number import given_number
from .max_combinations import max_combinations
from .max_combinations_2018 import max_combinations_2018
from .options import SiteNumber, SiteNumberOptions
from .population_cutoff import population_cutoff

__all__ = ["APPROACHES", "MODELLED", "SiteNumber", "SiteNumberOptions"]

APPROACHES: dict[str, Callable[..., SiteNumber]] = {
    "max combinations": max_combinations,
    "entropy": entropy,
    "population cut-off": population_cutoff,
    "given number": given_number,
    "max combinations (2018)": max_combinations_2018,
}
# Those that ask a published model, by region, how many people a region needs.
MODELLED = ("max combinations", "entropy")
