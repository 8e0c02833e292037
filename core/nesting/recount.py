"""A recount of a nested release from its rows: it knows the records and the crosswalk, and nothing of the optimum."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..crosswalk import Crosswalk
from ..errors import PrivacyError
from ..language import plural, tr
from ..levels import Levels
from ..plan import CELLS_AT_ONCE
from ..profile import Profile
from ..records.columns import combine_codes
from ..release import Release
from ..scientific import sparse
from .flattening import flatten


class HasProfile(Protocol):
    """Records, wherever they are."""

    @property
    def profile(self) -> Profile:
        """Their counts by area and class."""


def check_where_released(release: Release, records: HasProfile, levels: Levels, whole: bool = True) -> None:
    """Compare a release with the records region by region, at every level.

    No region may show more records of a class, itself and in the smaller regions within, than live there. whole : every
    class must be shown within its coarsest region with all its records, or with none.
    Raises PrivacyError where that is not so.
    """
    profile = records.profile
    released_class = classes_of(release, profile)
    if (released_class < 0).any():
        raise PrivacyError(
            tr("The release would show a combination of values that no record has: nothing was written.")
        )
    by_class = profile.counts.tocsc()
    for target, crosswalk in enumerate(levels.crosswalks):
        region = flatten(levels, release.level, release.region, target)
        there = region >= 0
        rows = release.counts[there], (region[there], released_class[there])
        released = sparse.csc_matrix(rows, shape=(crosswalk.n_regions, len(profile.classes)))
        n_wrong = _wrong(released, by_class, crosswalk, whole and target == len(levels) - 1)
        if n_wrong:
            raise PrivacyError(
                plural(
                    "The release would show {n} class of level {target} in regions where not as many "
                    "records live: nothing was written.",
                    "The release would show {n} classes of level {target} in regions where not as many "
                    "records live: nothing was written.",
                    n_wrong,
                    target=target + 1,
                )
            )


def _wrong(released: sparse.csc_matrix, by_class: sparse.csc_matrix, crosswalk: Crosswalk, whole: bool) -> int:
    """The regions and classes that show more records than live there; if whole, those that show some of them too.

    released : (n_regions, C); by_class : (n, C), the records of each area
    """
    membership, wrong, first = crosswalk.membership(), 0, 0
    while first < released.shape[1]:
        last = int(np.searchsorted(by_class.indptr, by_class.indptr[first] + CELLS_AT_ONCE, side="right")) - 1
        last = min(max(last, first + 1), released.shape[1])
        show = released[:, first:last]
        left = (membership @ by_class[:, first:last]).astype(np.int64) - show
        wrong += int((left.data < 0).sum())
        if whole:
            wrong += int((left.multiply(show > 0).data > 0).sum())
        first = last
    return wrong


def classes_of(release: Release, profile: Profile) -> np.ndarray:
    """The class of each row by its values, not by way of the plan, (N,) int64; -1 where no record has these values."""
    sizes = [len(categories) for categories in profile.categories]
    codes = [release.fields[name].codes for name in profile.quasi_identifiers]
    both, _ = combine_codes([np.concatenate([a, b]) for a, b in zip(profile.classes.T, codes)], sizes)
    class_of = np.full(int(both.max(initial=0)) + 1, -1)
    class_of[both[: len(profile.classes)]] = np.arange(len(profile.classes))
    return class_of[both[len(profile.classes) :]]
