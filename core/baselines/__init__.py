"""The alternatives that VBAS is measured against: a file per baseline, `BASELINES` by the words the user sees.

A baseline is called as `baseline(areas, profile, options, progress)` and returns an `Aggregation`; `settings` are
fields of `BaselineOptions`. The profile may be None for all but `merging until k-anonymous`.
"""

from __future__ import annotations

from ..aggregation import Aggregation
from ..approach import Approach
from .adjacent_merging import adjacent_merging
from .cropping import cropping
from .hierarchy import hierarchy
from .merging_until_anonymous import merging_until_anonymous
from .options import ISLAND_CHOICES, NEIGHBOUR_CHOICES, BaselineOptions
from .static_cutoff import static_cutoff

__all__ = ["BASELINES", "ISLAND_CHOICES", "NEIGHBOUR_CHOICES", "BaselineOptions"]

MERGING = ("neighbour", "islands", "boundary", "most")
BASELINES: dict[str, Approach[Aggregation]] = {
    "static cut-off": Approach(static_cutoff, ("cutoff",)),
    "cropping": Approach(cropping, ("characters", "leave_out")),
    "hierarchy": Approach(hierarchy, ("hierarchy",)),
    "adjacent merging": Approach(adjacent_merging, ("cutoff", *MERGING), neighbours=True),
    "merging until k-anonymous": Approach(
        merging_until_anonymous, ("k", "budget", *MERGING), neighbours=True, uses_attribute_counts=True
    ),
}
