"""What a record loses when it shows a larger region in place of its area: one number per region."""

from __future__ import annotations

import numpy as np

from ..approach import Approach
from ..areas import Areas
from ..crosswalk import Crosswalk
from ..elementary import log2
from ..evaluation import mean_distances
from ..profile import Profile


def mean_distance(areas: Areas, profile: Profile, crosswalk: Crosswalk) -> np.ndarray:
    """The mean distance in metres of the people of a region from its population-weighted centre (methods: section 12).

    Returns (n_regions,) float; `profile` is not looked at.
    """
    return mean_distances(areas, crosswalk)


def non_uniform_entropy(areas: Areas, profile: Profile, crosswalk: Crosswalk) -> np.ndarray:
    """The bits that name an area among the records of a region: log2 of their number (after Croft et al. 2015, Eqs.
    22, 23).

    Returns (n_regions,) float. Eq. 23 has log2(n_a / n_i) for a record of area i; what belongs to i is the same
    wherever the record is shown.
    """
    return log2(np.maximum(crosswalk.totals(profile.area_sizes), 1.0))


MEAN_DISTANCE, NON_UNIFORM_ENTROPY = "mean distance", "non-uniform entropy"
LOSSES: dict[str, Approach[np.ndarray]] = {
    MEAN_DISTANCE: Approach(mean_distance),
    NON_UNIFORM_ENTROPY: Approach(non_uniform_entropy),
}
