"""The alternatives that VBAS is measured against: a file per baseline, `BASELINES` by the words the user sees.

A baseline is called as `baseline(regions, profile, options, progress)` and returns an `Aggregation`. The profile may be
None for all but those in NEED_RECORDS; those in MERGING look at the regions' neighbours.
"""

from __future__ import annotations

from typing import Callable

from ..aggregation import Aggregation
from .adjacent_merging import adjacent_merging
from .cropping import cropping
from .hierarchy import hierarchy
from .merging_until_anonymous import merging_until_anonymous
from .options import ISLAND_CHOICES, NEIGHBOUR_CHOICES, BaselineOptions
from .static_cutoff import static_cutoff

__all__ = ["BASELINES", "ISLAND_CHOICES", "MERGING", "NEED_RECORDS", "NEIGHBOUR_CHOICES", "BaselineOptions"]

BASELINES: dict[str, Callable[..., Aggregation]] = {
    "static cut-off": static_cutoff,
    "cropping": cropping,
    "hierarchy": hierarchy,
    "adjacent merging": adjacent_merging,
    "merging until k-anonymous": merging_until_anonymous,
}
NEED_RECORDS = {"merging until k-anonymous"}
MERGING = {"adjacent merging", "merging until k-anonymous"}
