"""What every site number is called with, and what it gives back."""

from __future__ import annotations

from ..dataclass import dataclass
from ..parameters import DEFAULT_K

LARGEST_CUTOFF = 1e15  # far above mankind: what is larger is a slip, and overflows


@dataclass(frozen=True)
class SiteNumberOptions:
    """Settings of the site numbers; each approach reads those it needs.

    gaps_region : a key of `gaps.GAPS_MODELS`, "from the identifiers" or "custom"; gaps_coefficient, gaps_exponent :
    e^B0 and B1 of the custom model; log_base : of the entropy's logarithm, 0 is the natural logarithm;
    cutoff : population per region; n_sites : the given number; k : of the release, for max combinations and the budget;
    budget : per cent of the records that may be suppressed; fair : quasi-identifiers of which no group may lose more
    than `suppression.FAIR_FACTOR` times as much.
    """

    gaps_region: str = "from the identifiers"
    gaps_coefficient: float = 1588.0
    gaps_exponent: float = 0.42
    log_base: float = 0.0
    cutoff: float = 70_000.0
    n_sites: int = 1
    budget: float = 1.0
    fair: tuple[str, ...] = ()
    k: int = DEFAULT_K


DEFAULTS = SiteNumberOptions()


@dataclass(frozen=True)
class SiteNumber:
    """How many sites, and what that rests on: the population cut-off, the entropy, the number of combinations.

    asked : the sites that the cut-off asks for, which may be more than there are areas
    max_combinations : as the approach counts them; of categories that at least k records have where it counts none
    """

    n_sites: int
    asked: int
    cutoff: float
    entropy: float
    max_combinations: float
    notes: tuple[str, ...] = ()
