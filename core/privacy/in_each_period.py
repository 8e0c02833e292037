"""What is asked of classes that are to be the same in all periods: that it holds in each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..dataclass import dataclass
from ..profile import Profile
from .requirement import Requirement
from .series import Series, series_of


@dataclass(frozen=True, eq=False)
class InEachPeriod:
    """What is asked of the cells of a series: that it holds in each period in which there is anybody.

    profile : that of the series; requirement : what is asked of its classes
    """

    profile: Profile
    requirement: Requirement
    series: Series

    def holds(self, cells: np.ndarray, equivalence_class: np.ndarray, n_equivalence_classes: int) -> np.ndarray:
        """Whether each equivalence class holds, (n_equivalence_classes,) bool.

        cells : (c,) positions in the profile without periods; equivalence_class : (c,) that each shows
        """
        series, n_periods = self.series, self.series.n_periods
        own, at = series.cells_of(cells)
        period = series.period_of[self.profile.counts.indices[own]]
        number = equivalence_class[at] * n_periods + period
        size = n_equivalence_classes * n_periods
        records = np.bincount(number, self.profile.counts.data[own], size)
        fulfilled = records >= self.requirement.k
        if self.requirement.asks_for_more:
            fulfilled &= self.requirement.holds(own, number, size)
        return (fulfilled | (records == 0)).reshape(n_equivalence_classes, n_periods).all(axis=1)

    def of_some(self, cells: np.ndarray) -> Callable[[np.ndarray, np.ndarray, int], np.ndarray]:
        """`holds` for some cells alone; cells : their positions in the profile without periods."""
        return lambda some, equivalence_class, number: self.holds(cells[some], equivalence_class, number)


def with_series(requirement: Requirement, profile: Profile, period: str) -> Requirement:
    """What is asked of the classes of a profile, and that they are the same in all periods."""
    return replace(requirement, series=series_of(profile, period))
