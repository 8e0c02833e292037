"""Outcomes of moves: what the objectives of the clusterings are made of, for many proposed moves at once.

A table of regions has four rows, int64: the level of anonymity of each region (methods: alpha_a; 0 where no record
lives), the number of its classes with that few records, the number of its classes, the number of its areas.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NO_LEVEL = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Outcome:
    """What the objectives are made of, an entry per proposed move (or one, for the sites as they are), int64.

    Regions in which no record lives have no level and count nowhere.

    lowest : alpha, the least level of a region; NO_LEVEL where no record lives anywhere
    lowest_touched : the least level among those regions that any of the proposals changes
    levels : sum of the levels of the regions
    classes, classes_at_lowest : |E| and |E_alpha|, equivalence classes in all and those of alpha records
    regions, regions_at_lowest : |R| and |R_alpha|
    changes_regions : 1 where a region that has areas, or records, would be left without, or the other way round
    """

    lowest: np.ndarray
    lowest_touched: np.ndarray
    levels: np.ndarray
    classes: np.ndarray
    classes_at_lowest: np.ndarray
    regions: np.ndarray
    regions_at_lowest: np.ndarray
    changes_regions: np.ndarray

    def of(self, cases: np.ndarray) -> Outcome:
        """The outcomes of proposals that come to these cases."""
        return Outcome(*(entries[cases] for entries in vars(self).values()))


def as_they_are(regions: np.ndarray) -> Outcome:
    """The outcome of no move; regions : (4, S) table."""
    nothing = np.zeros(0, np.int64)
    return outcomes(regions, nothing, nothing, nothing, np.zeros((4, 0), np.int64), 1)


def outcomes(
    regions: np.ndarray,
    touched: np.ndarray,
    slot: np.ndarray,
    pair_case: np.ndarray,
    pair_state: np.ndarray,
    n_cases: int,
) -> Outcome:
    """The outcomes of K cases, each of which changes a few regions.

    regions : (4, S) table as it is; touched : (t,) the regions that change in any case; pair_case, slot : (P,) the case
    and the position in `touched` of a region that the case changes; pair_state : (4, P) its column of the table then.
    """
    before = regions[:, touched]
    after = np.empty((n_cases, *before.shape), np.int64)
    after[:] = before
    after[pair_case, :, slot] = pair_state.T
    levels, at_level, classes, areas = after[:, 0], after[:, 1], after[:, 2], after[:, 3]
    rest = _Rest(regions, touched)
    occurs = classes > 0
    lowest_touched = np.where(occurs, levels, NO_LEVEL).min(axis=1, initial=NO_LEVEL)
    lowest = np.minimum(lowest_touched, rest.lowest)
    at_lowest = occurs & (levels == lowest[:, None])
    rest_is_lowest = lowest == rest.lowest
    other = (occurs != (before[2] > 0)) | ((areas > 0) != (before[3] > 0))
    return Outcome(
        lowest=lowest,
        lowest_touched=lowest_touched,
        levels=levels.sum(axis=1) + rest.levels,
        classes=classes.sum(axis=1) + rest.classes,
        classes_at_lowest=(at_level * at_lowest).sum(axis=1) + rest_is_lowest * rest.classes_at_lowest,
        regions=occurs.sum(axis=1) + rest.regions,
        regions_at_lowest=at_lowest.sum(axis=1) + rest_is_lowest * rest.regions_at_lowest,
        changes_regions=other.any(axis=1).astype(np.int64),
    )


class _Rest:
    """The regions that no case touches, summed up."""

    def __init__(self, regions: np.ndarray, touched: np.ndarray) -> None:
        untouched = regions[2] > 0
        untouched[touched] = False
        levels = regions[0, untouched]
        self.lowest = int(levels.min(initial=NO_LEVEL))
        at_lowest = levels == self.lowest
        self.levels = int(levels.sum())
        self.classes = int(regions[2, untouched].sum())
        self.classes_at_lowest = int(regions[1, untouched][at_lowest].sum())
        self.regions = len(levels)
        self.regions_at_lowest = int(np.count_nonzero(at_lowest))
