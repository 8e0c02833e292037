"""The same classes in all periods: what stands together, so that a number that is missing in a series is nobody.

The period is a quasi-identifier, so that k and all else hold in each period by itself. Where classes are to be the same
in all periods, the cells of one area and one class stand together over the periods: they are shown at one level, and
none of them unless what shows them holds in every period in which it occurs.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..arrays import runs
from ..dataclass import dataclass
from ..language import as_data
from ..profile import Profile
from ..records.columns import combine_codes
from ..scientific import sparse

EACH_BY_ITSELF, THE_SAME = as_data("each period by itself"), as_data("the same in all periods")
PERIODS = (THE_SAME, EACH_BY_ITSELF)


@dataclass(frozen=True, eq=False)
class Series:
    """The m cells of a profile of C classes, of T periods, by what they are without the period.

    period : the quasi-identifier; base : the profile without it, of M cells
    cell : (m,), the cell of `base` that each cell is counted in; class_of, period_of : (C,), the class of `base`, and
    the period, of each class
    """

    period: str
    base: Profile
    cell: np.ndarray
    class_of: np.ndarray
    period_of: np.ndarray
    n_periods: int

    @cached_property
    def _cells(self) -> tuple[np.ndarray, np.ndarray]:
        """The cells ordered by that of `base`, and where those of each begin, (M + 1,)."""
        order = np.argsort(self.cell, kind="stable")
        return order, np.searchsorted(self.cell[order], np.arange(self.base.counts.nnz + 1, dtype=np.int64))

    def cells_of(self, base_cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The cells that some cells of `base` are made of, and for each the position of that in `base_cells`."""
        order, starts = self._cells
        number = starts[base_cells + 1] - starts[base_cells]
        at = runs(starts[base_cells], number)
        return order[at], np.repeat(np.arange(len(base_cells), dtype=np.int64), number)

    def by_period(self, base_cells: np.ndarray, values: np.ndarray, class_of: np.ndarray) -> np.ndarray:
        """What some cells of `base` hold in each period, (cells, T); values, class_of : (m,), of each cell of the
        profile."""
        cells, at = self.cells_of(base_cells)
        table = np.zeros((len(base_cells), self.n_periods), np.int64)
        table[at, self.period_of[class_of[cells]]] = values[cells]
        return table


def series_of(profile: Profile, period: str) -> Series:
    """The cells of a profile over the periods that one of its quasi-identifiers names."""
    position = profile.quasi_identifiers.index(period)
    others = [i for i in range(len(profile.quasi_identifiers)) if i != position]
    class_of, classes = np.zeros(len(profile.classes), np.int64), np.zeros((min(len(profile.classes), 1), 0), np.int64)
    if others:
        codes = [profile.classes[:, i] for i in others]
        class_of, classes = combine_codes(codes, [len(profile.categories[i]) for i in others])
    counts, n_classes = profile.counts, max(len(classes), 1)
    area = np.repeat(np.arange(counts.shape[0], dtype=np.int64), np.diff(counts.indptr))
    keys, cell = np.unique(area * n_classes + class_of[counts.indices], return_inverse=True)
    cell = cell.reshape(-1)
    records = np.bincount(cell, counts.data, len(keys)).astype(counts.dtype)
    together = sparse.csr_matrix((records, np.divmod(keys, n_classes)), shape=(counts.shape[0], n_classes))
    names = tuple(profile.quasi_identifiers[i] for i in others)
    base = Profile(together, classes, tuple(profile.categories[i] for i in others), names)
    of_class = profile.classes[:, position].astype(np.int64)
    return Series(period, base, cell, class_of, of_class, len(profile.categories[position]))


def whole_series(series: Series, place: np.ndarray, class_of: np.ndarray, released: np.ndarray) -> np.ndarray:
    """What of a place is released if its classes are to be the same in all periods, (e,) bool.

    place, class_of, released : (e,), of each class of a place that has records, by itself
    """
    n_classes = int(series.class_of.max(initial=0)) + 1
    return _all_of_each(place.astype(np.int64) * n_classes + series.class_of[class_of], released)


def whole_coarser_series(
    series: Series, coarser: np.ndarray, place: np.ndarray, class_of: np.ndarray, released: np.ndarray
) -> np.ndarray:
    """The same of coarser classes; coarser : (C,) the coarser class of each, place, class_of, released : as before.

    Classes that differ in the period, or in what is coarser, belong together; of one that no others link to them it is
    not known.
    """
    n = len(coarser)
    first, second = int(coarser.max(initial=0)) + 1, int(series.class_of.max(initial=0)) + 1
    links = sparse.csr_matrix((np.ones(n), (coarser, first + series.class_of)), shape=(first + second,) * 2)
    group = sparse.csgraph.connected_components(links, directed=False)[1][coarser]
    return _all_of_each(place.astype(np.int64) * (first + second) + group[class_of], released)


def _all_of_each(key: np.ndarray, released: np.ndarray) -> np.ndarray:
    _, group = np.unique(key, return_inverse=True)
    group = group.reshape(-1)
    return released & (np.bincount(group, ~released)[group] == 0) if len(group) else released
