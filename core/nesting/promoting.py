"""Equivalence classes for which what is asked does not hold: joined by others of their class, or a level up."""

from __future__ import annotations

import numpy as np

from ..arrays import turns
from ..levels import Levels
from ..plan import SUPPRESSED, area_of_cells, equivalence_class_keys
from ..privacy.requirement import Requirement
from ..profile import Profile
from .decoys import Holds


def promote(profile: Profile, levels: Levels, level_of: np.ndarray, holds: Holds) -> np.ndarray:
    """The level of each cell, (m,), once every equivalence class for which `holds` is false has been mended.

    From the finest level up: an equivalence class that fails is joined by the smallest equivalence classes of its class
    within its region, until it holds. Where all of them together do not, it goes up a level; from the coarsest, it is
    suppressed. What is joined is looked at again, as equivalence classes that hold need not hold together.
    """
    area, class_of = area_of_cells(profile), profile.counts.indices.astype(np.int64)
    n_classes = int(class_of.max(initial=0)) + 1
    level_of = level_of.copy()
    for level in range(len(levels)):
        failing = _failing(levels, area, class_of, level_of, level, holds)
        place = levels.crosswalks[level].region_of[area] * n_classes + class_of
        joined, batch = level_of.copy(), 1
        fails = failing
        while len(fails):
            pulled = _smallest_within(levels, area, class_of, profile.counts.data, joined, level, place, fails, batch)
            if not len(pulled):
                break
            joined[pulled] = level
            fails = _failing(levels, area, class_of, joined, level, holds)
            batch *= 2
        hopeless = np.isin(place, place[fails])
        level_of = np.where(hopeless, level_of, joined)
        stuck = failing[hopeless[failing]]
        level_of[stuck] = level + 1 if level + 1 < len(levels) else SUPPRESSED
    return level_of


def _smallest_within(
    levels: Levels,
    area: np.ndarray,
    class_of: np.ndarray,
    records: np.ndarray,
    level_of: np.ndarray,
    level: int,
    place: np.ndarray,
    failing: np.ndarray,
    batch: int,
) -> np.ndarray:
    """The cells of the smallest equivalence classes of finer levels, up to `batch` within each that fails.

    place : (m,) the region of this level and the class of each cell; failing : cells of the failing equivalence classes
    """
    cells = np.flatnonzero((level_of >= 0) & (level_of < level) & np.isin(place, place[failing]))
    equivalence_classes, equivalence_class = np.unique(
        equivalence_class_keys(levels, area, class_of, level_of)[cells], return_inverse=True
    )
    equivalence_class = equivalence_class.reshape(-1)
    if not len(cells):
        return cells
    within = np.zeros(len(equivalence_classes), np.int64)
    within[equivalence_class] = place[cells]
    order = np.lexsort((equivalence_classes, np.bincount(equivalence_class, records[cells]), within))
    rank = np.empty(len(equivalence_classes), np.int64)
    rank[order] = turns(within[order])
    return cells[rank[equivalence_class] < batch]


def _failing(
    levels: Levels, area: np.ndarray, class_of: np.ndarray, level_of: np.ndarray, level: int, holds: Holds
) -> np.ndarray:
    """The cells shown at a level by equivalence classes for which `holds` is false."""
    cells = np.flatnonzero(level_of == level)
    if not len(cells):
        return cells
    keys = levels.crosswalks[level].region_of[area[cells]] * (int(class_of.max()) + 1) + class_of[cells]
    equivalence_classes, equivalence_class = np.unique(keys, return_inverse=True)
    return cells[~holds(cells, equivalence_class.reshape(-1), len(equivalence_classes))[equivalence_class.reshape(-1)]]


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
