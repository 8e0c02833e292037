"""What a release tells whose classes are the same in all periods: that a number which is missing is nobody.

Such a release shows a class at a place in every period in which anybody of it is there. So where it shows the class in
some period, and not in another, nobody of it is there in that one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..plan import SUPPRESSED, Plan, area_of_cells
from ..privacy.series import Series
from ..records.columns import combine_codes
from .published import Published


def holds_in_plan(plan: Plan, series: Series) -> bool:
    """Whether the cells of one area and one class are all shown at one level, or none of them, in all periods; and, of
    several levels, whether all or nothing of a class is shown in a region of the coarsest."""
    equivalence_class = plan.equivalence_class_of
    level = np.where(equivalence_class == SUPPRESSED, SUPPRESSED, np.append(plan.level, 0)[equivalence_class])
    n = series.base.counts.nnz
    least, largest = np.full(n, len(plan.levels), np.int64), np.full(n, SUPPRESSED, np.int64)
    np.minimum.at(least, series.cell, level)
    np.maximum.at(largest, series.cell, level)
    if (least < largest).any():
        return False
    if len(plan.levels) == 1:
        return True
    base, region_of = series.base, plan.levels.crosswalks[-1].region_of.astype(np.int64)
    region = region_of[area_of_cells(base)]
    inside = region >= 0
    _, of = np.unique(region[inside] * base.counts.shape[1] + base.counts.indices[inside], return_inverse=True)
    n_shown = np.bincount(of.reshape(-1), largest[inside] >= 0)
    return bool(((n_shown == 0) | (n_shown == np.bincount(of.reshape(-1)))).all())


def in_all_periods(release: Published, period: str) -> Published:
    """A release as one whose classes are the same in all periods; with every class that it shows in some period in all
    of them. period : the name of a quasi-identifier, none where it is empty"""
    if not period or period not in release.quasi_identifiers or not len(release.classes):
        return release
    column = release.quasi_identifiers.index(period)
    others = np.delete(release.classes, column, axis=1)
    periods = np.arange(len(release.categories[column]), dtype=np.int64)
    bases = np.unique(others, axis=0)
    every = np.insert(np.repeat(bases, len(periods), axis=0), column, np.tile(periods, len(bases)), axis=1)
    both = np.concatenate([release.classes, every])
    _, first = np.unique(both, axis=0, return_index=True)
    added = both[np.sort(first[first >= len(release.classes)])]
    return replace(release, period=period, classes=np.concatenate([release.classes, added]))


def as_series(release: Published, plan: Plan, series: Series | None) -> Published:
    """What a plan publishes, as a release whose classes are the same in all periods where the plan's are.

    Its classes are the same where they are not, so that those of several plans of the same cells can be compared.
    """
    if series is None:
        return release
    with_classes = in_all_periods(release, series.period)
    return with_classes if holds_in_plan(plan, series) else replace(with_classes, period="")


def nobody(release: Published) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Level, region and class of what is known to be nobody of those whom a region shows a class for, (z,) int64 each:
    none of a release that is no series."""
    width = max(crosswalk.n_regions for crosswalk in release.levels.crosswalks)
    place, class_of = _lacking(release, release.level * width + release.region)
    level, region = np.divmod(place, width)
    return level, region, class_of


def nobody_in_coarsest(release: Published) -> tuple[np.ndarray, np.ndarray]:
    """Region of the coarsest level and class of which nobody is there at all, (z,) int64 each: it or a region within
    shows the class in another period, and all or nothing of a class is shown in it; none of a release that is no
    series."""
    return _lacking(release, release.coarsest_region)


def _lacking(release: Published, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places that show a class in some period, and the class of each period in which they do not, (z,) int64 each.

    place : (L,) of each equivalence class
    """
    none = np.empty(0, np.int64)
    if not release.period or not len(release.records):
        return none, none
    column = release.quasi_identifiers.index(release.period)
    own = [at for at, name in enumerate(release.quasi_identifiers) if not name.startswith(f"{release.period} (level ")]
    others = [at for at in own if at != column]
    sizes = [len(release.categories[at]) for at in others]
    base = np.zeros(len(release.classes), np.int64)
    if others:
        base, _ = combine_codes([release.classes[:, at] for at in others], sizes)
    order = np.argsort(base, kind="stable")
    starts = np.searchsorted(base[order], np.arange(int(base.max(initial=0)) + 2, dtype=np.int64))
    n_classes, n_bases = len(release.classes), len(starts) - 1
    released = np.unique(place * n_classes + release.class_of)
    of_base = np.unique(place * n_bases + base[release.class_of])
    at_place, at_base = np.divmod(of_base, n_bases)
    number = starts[at_base + 1] - starts[at_base]
    ends = np.cumsum(number)
    within = np.arange(int(number.sum()), dtype=np.int64) - np.repeat(ends - number, number)
    class_of = order[np.repeat(starts[at_base], number) + within]
    every = np.repeat(at_place, number)
    lacking = ~np.isin(every * n_classes + class_of, released)
    return every[lacking], class_of[lacking].astype(np.int64)
