"""Classes of which a region of the coarsest level shows all people, or none."""

from __future__ import annotations

import numpy as np

from ..levels import Levels
from ..plan import SUPPRESSED, area_of_cells
from ..privacy.requirement import Requirement
from ..profile import Profile


def whole_classes(
    profile: Profile, levels: Levels, level_of: np.ndarray, requirement: Requirement | None = None
) -> np.ndarray:
    """The levels of cells, (m,) int8, once every class of a coarsest region is suppressed of which some cells are.

    level_of : (m,), of the cells of the profile
    Where more is asked of values, what is shown may be a part: then the levels are as they were.
    """
    if requirement is not None and requirement.asks_for_values:
        return level_of
    region = levels.crosswalks[-1].region_of[area_of_cells(profile)]
    key = region * max(profile.counts.shape[1], 1) + profile.counts.indices
    gone = np.unique(key[(level_of == SUPPRESSED) & (region >= 0)])
    return np.where(np.isin(key, gone), SUPPRESSED, level_of).astype(np.int8)
