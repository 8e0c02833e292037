"""Basic Voronoi: each area belongs to its nearest site."""

from __future__ import annotations

import numpy as np

from ..progress import Progress, silent
from ..regions import Regions
from ..voronoi import nearest_site
from .options import Aggregation, AggregationOptions, aggregation_by_site

DEFAULTS = AggregationOptions()


def basic_voronoi(
    regions: Regions, sites: np.ndarray, options: AggregationOptions = DEFAULTS, progress: Progress = silent
) -> Aggregation:
    """Allocate each area to the nearest site: the Voronoi diagram of the sites decides (Croft 2015, section 3.3).

    regions : n areas; sites : (S, 2), metres. A site that is nearest to no area is dropped.
    """
    return aggregation_by_site(nearest_site(regions.points, sites), sites)
