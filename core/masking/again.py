"""Whether points may have been masked and released before: a masked point never leaves its area."""

from __future__ import annotations

import numpy as np

from .placing import NO_AREA

NEARLY_ALL = 0.8


def share_in_common(area_of: np.ndarray, earlier_area_of: np.ndarray) -> float:
    """The share of the points of the smaller set that can be points of the other, 0 to 1; 0 where a set is empty.

    area_of, earlier_area_of : (n,) and (m,) the area of each point, true or masked, NO_AREA for none
    In every area as many points can be the same as the set with fewer there has. Sets of different people come near 1
    too where each area has many points of both.
    """
    sets = [areas[areas != NO_AREA] for areas in (area_of, earlier_area_of)]
    n_areas = max((int(areas.max(initial=-1)) + 1 for areas in sets), default=0)
    now, before = (np.bincount(areas, minlength=n_areas) for areas in sets)
    fewer = min(len(areas) for areas in sets)
    return float(np.minimum(now, before).sum() / fewer) if fewer else 0.0
