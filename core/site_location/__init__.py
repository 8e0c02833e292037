"""Component 2, where the sites go: a file per approach, `APPROACHES` by the words the user sees.

An approach is called as `approach(areas, profile, n_sites, options, progress)` and returns a `SiteLocation`;
`settings` are fields of `LocationOptions`.
"""

from __future__ import annotations

from ..approach import Approach
from .balanced_density import balanced_density
from .clustering.anonymity_driven_clustering import anonymity_driven_clustering
from .clustering.anonymity_driven_clustering_2015 import anonymity_driven_clustering_2015
from .clustering.starting import STARTS
from .options import LocationOptions, SiteLocation
from .random_sites import random_sites
from .split_and_merge import split_and_merge

__all__ = ["APPROACHES", "LocationOptions", "SiteLocation"]

CLUSTERING = ("k", "start", "start_sites")
APPROACHES: dict[str, Approach[SiteLocation]] = {
    "balanced density": Approach(balanced_density),
    "anonymity-driven clustering": Approach(anonymity_driven_clustering, CLUSTERING, uses_attribute_counts=True),
    "anonymity-driven clustering (2015)": Approach(
        anonymity_driven_clustering_2015, CLUSTERING, uses_attribute_counts=True
    ),
    "random": Approach(random_sites, ("seed",)),
    "split and merge": Approach(split_and_merge),
}
STARTS.update(APPROACHES)
