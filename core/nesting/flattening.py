"""A nested release brought to one level, for whoever wants one region per record."""

from __future__ import annotations

import numpy as np

from ..crosswalk import LEFT_OUT
from ..levels import Levels


def flatten(levels: Levels, level: np.ndarray, region: np.ndarray, target: int) -> np.ndarray:
    """The region of the target level that holds each row's region, (R,) int64; LEFT_OUT for rows shown only coarser.

    level, region : (R,) what each row shows; target : a level; all 0-based. Every class of the result joins whole
    classes of the release, so none has fewer records than the smallest of these.
    """
    regions = np.where(level <= target, region, LEFT_OUT).astype(np.int64)
    for lower in range(target):
        here = level <= lower
        regions[here] = levels.parents(lower)[regions[here]]
    return regions
