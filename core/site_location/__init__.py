"""Component 2, where the sites go: a file per approach, `APPROACHES` by the words the user sees.

An approach is called as `approach(regions, profile, n_sites, options, progress)` and returns a `SiteLocation`.
"""

from __future__ import annotations

from typing import Callable

from .balanced_density import balanced_density
from .clustering.anonymity_driven_clustering import anonymity_driven_clustering
from .clustering.anonymity_driven_clustering_2015 import anonymity_driven_clustering_2015
from .options import LocationOptions, SiteLocation
from .random_sites import random_sites

__all__ = ["APPROACHES", "DRAWN", "LocationOptions", "SiteLocation"]

APPROACHES: dict[str, Callable[..., SiteLocation]] = {
    "balanced density": balanced_density,
    "anonymity-driven clustering": anonymity_driven_clustering,
    "anonymity-driven clustering (2015)": anonymity_driven_clustering_2015,
    "random": random_sites,
}
DRAWN = {"random"}  # these put sites where the seed says
