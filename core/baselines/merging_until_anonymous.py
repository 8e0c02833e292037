"""Merging until k-anonymous: regions with classes below k are merged until little is left to suppress."""

from __future__ import annotations

import numpy as np

from ..aggregation import Aggregation
from ..areas import Areas
from ..errors import InputError
from ..language import tr
from ..neighbours import neighbours_of
from ..parameters import K
from ..profile import Profile
from ..progress import Progress, silent
from ..scientific import sparse
from .merging import Merger
from .options import DEFAULTS, BaselineOptions, aggregation_of_labels


def merging_until_anonymous(
    areas: Areas, profile: Profile | None, options: BaselineOptions = DEFAULTS, progress: Progress = silent
) -> Aggregation:
    """The smallest region with classes below k is merged with a neighbour, until no more records than the budget would
    be suppressed.

    areas : n areas with their neighbours; profile : of the same areas
    options : `k`, `budget`, `neighbour`, `islands`, `boundary`, `most`.
    A region that no neighbour may be merged with stays as it is. Raises InputError without a profile, for a budget that
    is not a percentage and for a k below 2.
    """
    if profile is None:
        raise InputError.saying("Merging until k-anonymous needs RECORDS: give them with their quasi-identifiers.")
    if not 0 <= options.budget <= 100:
        raise InputError.saying(
            "BUDGET is {budget:g}: give the records that may be suppressed, from 0 to 100 %.", budget=options.budget
        )
    K.check(options.k)
    merger = Merger(areas, neighbours_of(areas), options)
    classes = RegionClasses(profile.counts, options.k)
    allowed = options.budget / 100 * profile.n_records
    first = max(classes.n_suppressed - allowed, 1.0)

    def has_small(region: int) -> bool:
        return bool(classes.suppressed[region] > 0)

    for kept, gone, _ in merger.merge_smallest(lambda region: classes.n_suppressed > allowed and has_small(region)):
        classes.merge(kept, gone)
        progress(min(1.0, max(0.0, 1.0 - (classes.n_suppressed - allowed) / first)))
    share = 100 * classes.n_suppressed / max(profile.n_records, 1)
    cost = tr(
        "{share:.3g} % of the records are in classes below k, {budget:g} % were allowed.",
        share=share,
        budget=options.budget,
    )
    notes = (*merger.notes(has_small, tr("left with classes below k")), cost)
    return aggregation_of_labels(areas, merger.labels(), notes)


class RegionClasses:
    """The classes of each region while regions are merged.

    suppressed : (n,) int64, records in classes below k, 0 for a region that was taken in; n_suppressed : their sum
    """

    def __init__(self, counts: sparse.csr_matrix, k: int) -> None:
        self._k = k
        self._classes = np.split(counts.indices, counts.indptr[1:-1])
        self._counts = np.split(counts.data, counts.indptr[1:-1])
        small = np.where(counts.data < k, counts.data, 0)
        owners = np.repeat(np.arange(counts.shape[0], dtype=np.int64), np.diff(counts.indptr))
        self.suppressed = np.bincount(owners, small, counts.shape[0]).astype(np.int64)
        self.n_suppressed = int(self.suppressed.sum())

    def merge(self, kept: int, gone: int) -> None:
        """Add the classes of one region to another's."""
        both = np.concatenate([self._classes[kept], self._classes[gone]])
        classes, position = np.unique(both, return_inverse=True)
        weights = np.concatenate([self._counts[kept], self._counts[gone]])
        counts = np.bincount(position.reshape(-1), weights, len(classes)).astype(np.int64)
        self._classes[kept], self._counts[kept] = classes, counts
        self._classes[gone] = self._counts[gone] = np.empty(0, np.int64)
        now = int(counts[counts < self._k].sum())
        self.n_suppressed += now - int(self.suppressed[kept] + self.suppressed[gone])
        self.suppressed[kept], self.suppressed[gone] = now, 0
