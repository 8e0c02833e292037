"""Basic Voronoi: each area belongs to its nearest site."""

from __future__ import annotations

import numpy as np

from ..areas import Areas
from ..profile import Profile
from ..progress import Progress, silent
from ..voronoi import nearest_site
from .options import DEFAULTS, Aggregation, AggregationOptions, aggregation_by_site


def basic_voronoi(
    areas: Areas,
    profile: Profile | None,
    sites: np.ndarray,
    options: AggregationOptions = DEFAULTS,
    progress: Progress = silent,
) -> Aggregation:
    """Each area joins the nearest site (Croft 2015, section 3.3).

    The Voronoi diagram of the sites decides. areas : n areas; sites : (S, 2), metres. A site that is nearest to no area
    is dropped.
    """
    return aggregation_by_site(nearest_site(areas.points, sites), sites)
