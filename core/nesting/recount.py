"""A recount of a nested release from its rows: it knows the records and the crosswalk, and nothing of the optimum."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..errors import PrivacyError
from ..language import tr
from ..levels import Levels
from ..profile import Profile
from ..records.columns import combine_codes
from ..release import Release
from .flattening import flatten


class HasProfile(Protocol):
    """Records, wherever they are."""

    @property
    def profile(self) -> Profile:
        """Their counts by area and class."""


def check_where_shown(release: Release, records: HasProfile, levels: Levels, whole: bool = True) -> None:
    """Compare a release with the records region by region, at every level.

    No region may show more records of a class, itself and in the smaller regions within, than live there. whole : every
    class must be shown within its coarsest region with all its records, or with none.
    Raises PrivacyError where that is not so.
    """
    profile, n_classes = records.profile, max(len(records.profile.classes), 1)
    sizes = [len(categories) for categories in profile.categories]
    codes = [release.fields[name].codes for name in profile.quasi_identifiers]
    # A row's class is found by its values, not by way of the plan.
    both, _ = combine_codes([np.concatenate([a, b]) for a, b in zip(profile.classes.T, codes)], sizes)
    class_of = np.full(int(both.max(initial=0)) + 1, -1)
    class_of[both[: len(profile.classes)]] = np.arange(len(profile.classes))
    shown_class = class_of[both[len(profile.classes) :]]
    if (shown_class < 0).any():
        raise PrivacyError(
            tr("The release would show a combination of values that no record has: nothing was written.")
        )
    for target, crosswalk in enumerate(levels.crosswalks):
        live = (crosswalk.membership() @ profile.counts).tocoo()
        region = flatten(levels, release.level, release.region, target)
        there = region >= 0
        weights = None if release.counts is None else release.counts[there]
        keys = np.concatenate(
            [live.row.astype(np.int64) * n_classes + live.col, region[there] * n_classes + shown_class[there]]
        )
        places, position = np.unique(keys, return_inverse=True)
        position = position.reshape(-1)
        have = np.bincount(position[: live.nnz], live.data, len(places))
        show = np.bincount(position[live.nnz :], weights, len(places))
        part = (show > 0) & (show < have) if whole and target == len(levels) - 1 else np.zeros(len(places), bool)
        if (show > have).any() or part.any():
            raise PrivacyError(
                tr(
                    "The release would show {n_part} classes of level {target} in regions "
                    "where not as many records live: nothing was written.",
                    n_part=int(((show > have) | part).sum()),
                    target=target + 1,
                )
            )
