"""What a record loses when it shows a larger region in place of its area: one number per region."""

from __future__ import annotations

import numpy as np

from ..approach import Approach
from ..areas import Areas
from ..crosswalk import Crosswalk
from ..profile import Profile
from ..voronoi import weighted_centres


def mean_distance(areas: Areas, profile: Profile, crosswalk: Crosswalk) -> np.ndarray:
    """The mean distance in metres of the people of a region from its population-weighted centre (methods: section 12).

    Returns (n_regions,) float. A region without people takes its areas as equal. `profile` is not looked at.
    """
    inside = crosswalk.region_of >= 0
    region_of = crosswalk.region_of[inside]
    people = weights_within(areas, crosswalk)[inside]
    centres = weighted_centres(areas.points[inside], people, region_of, crosswalk.n_regions)
    distances = np.hypot(*(areas.points[inside] - centres[region_of]).T)
    return np.bincount(region_of, people * distances, crosswalk.n_regions) / np.bincount(
        region_of, people, crosswalk.n_regions
    )


def weights_within(areas: Areas, crosswalk: Crosswalk) -> np.ndarray:
    """The population of each area, (n,); 1 in regions where nobody lives."""
    inside = crosswalk.region_of >= 0
    weights = areas.population.copy()
    weights[inside] = np.where(
        crosswalk.totals(areas.population)[crosswalk.region_of[inside]] > 0, areas.population[inside], 1.0
    )
    return weights


def non_uniform_entropy(areas: Areas, profile: Profile, crosswalk: Crosswalk) -> np.ndarray:
    """The bits that name an area among the records of a region: log2 of their number (after Croft et al. 2015, Eqs.
    22, 23).

    Returns (n_regions,) float. Eq. 23 has log2(n_a / n_i) for a record of area i; what belongs to i is the same
    wherever the record is shown.
    """
    return np.log2(np.maximum(crosswalk.totals(profile.area_sizes), 1.0))


LOSSES: dict[str, Approach[np.ndarray]] = {
    "mean distance": Approach(mean_distance),
    "non-uniform entropy": Approach(non_uniform_entropy),
}
