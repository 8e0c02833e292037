"""A recount of a nested release from its rows: it knows the records and the levels, and nothing of the optimum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..crosswalk import Crosswalk
from ..errors import PrivacyError
from ..generalising.collapsing import generalise_profile
from ..generalising.hierarchies import Hierarchy
from ..levels import Levels
from ..plan import CELLS_AT_ONCE
from ..profile import Profile
from ..records.columns import Column, combine_codes, typed
from ..release import Release
from ..scientific import sparse
from .flattening import flatten

AS_COUNTED: Mapping[str, Hierarchy] = {}


def check_where_released(
    release: Release,
    profile: Profile,
    levels: Levels,
    whole: bool = True,
    hierarchies: Mapping[str, Hierarchy] = AS_COUNTED,
) -> None:
    """Compare a release with the profile of the records region by region, at every level.

    At each level the rows shown there or finer are brought to its regions and values. No region may show more records
    of a class, itself and in the smaller regions within, than live there. whole : every class must be shown within its
    coarsest region with all its records, or with none; hierarchies : of values that levels show coarser.
    Raises PrivacyError where that is not so.
    """
    nodes = levels.nodes(profile.quasi_identifiers)
    for target, (crosswalk, node) in enumerate(zip(levels.crosswalks, nodes)):
        if not target or node != nodes[target - 1]:
            at_level, _ = generalise_profile(profile, hierarchies, node)
            by_class = at_level.counts.tocsc()
            last = len(nodes) - 1 - nodes[::-1].index(node)
            released_class = _classes_at(release, at_level, levels, hierarchies, last)
        region = flatten(levels, release.level, release.region, target)
        there = region >= 0
        rows = release.counts[there], (region[there], released_class[there])
        released = sparse.csc_matrix(rows, shape=(crosswalk.n_regions, by_class.shape[1]))
        n_wrong = _wrong(released, by_class, crosswalk, whole and target == len(levels) - 1)
        if n_wrong:
            raise PrivacyError.counting(
                "The release would show {n} class of level {target} in regions where not as many records live: nothing "
                "was written.",
                "The release would show {n} classes of level {target} in regions where not as many records live: "
                "nothing was written.",
                n_wrong,
                target=target + 1,
            )


def _classes_at(
    release: Release, profile: Profile, levels: Levels, hierarchies: Mapping[str, Hierarchy], target: int
) -> np.ndarray:
    """The class of each row that shows a level or a finer one, by the values of that level, (R,) int64; of others -1.

    profile : at that level. Raises PrivacyError for values that a level or the records do not have.
    """
    shown = dict(release.fields)
    # Where levels differ in what they show, a column has the values of all.
    for name, categories in zip(profile.quasi_identifiers, profile.categories) if levels.coarser else ():
        as_it_is = Hierarchy(name, (np.arange(len(categories), dtype=np.int64),), (categories,))
        hierarchy = hierarchies[name] if name in levels.coarser else as_it_is
        heights = [here.get(name, 0) for here in levels.heights[: target + 1]]
        shown[name] = _brought_to(hierarchy, shown[name], release.level, heights)
    released_class = classes_of(replace(release, fields=shown), profile)
    if (released_class[release.level <= target] < 0).any():
        raise PrivacyError.saying(
            "The release would show a combination of values that no record has: nothing was written."
        )
    return released_class


def _brought_to(hierarchy: Hierarchy, column: Column, level: np.ndarray, heights: Sequence[int]) -> Column:
    """What rows of some levels show, as the values of the last of these; of other rows it is the first value.

    heights : of each of these levels, that of its values. Raises PrivacyError for a value that its level does not have.
    """
    codes = np.zeros(len(level), np.int64)
    for shown_at, own in enumerate(heights):
        here, above = np.flatnonzero(level == shown_at), hierarchy.above(own)
        fine = {typed(value): code for code, value in enumerate(above.values)}
        used = np.unique(column.codes[here]).tolist()
        if any(typed(column.categories[code]) not in fine for code in used):
            raise PrivacyError.saying(
                "The release would show a value that its level does not have: nothing was written."
            )
        coarser = np.zeros(len(column.categories), np.int64)
        coarser[used] = [above.codes[heights[-1] - own][fine[typed(column.categories[code])]] for code in used]
        codes[here] = coarser[column.codes[here]]
    return Column(codes, hierarchy.categories[heights[-1]])


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
    class_of = np.full(int(both.max(initial=0)) + 1, -1, np.int64)
    class_of[both[: len(profile.classes)]] = np.arange(len(profile.classes), dtype=np.int64)
    return class_of[both[len(profile.classes) :]]
