"""Nested releases whose classes are the same in all periods: their levels, and how plans that were moved are mended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ..errors import PrivacyError
from ..levels import Levels
from ..plan import SUPPRESSED, Plan, area_of_cells, cells_by_class, class_stretches, holding, with_levels
from ..privacy.in_each_period import InEachPeriod
from ..privacy.requirement import Requirement
from ..privacy.series import THE_SAME, Series, whole_series
from ..profile import Profile
from ..progress import Progress, silent
from ..release import Release
from ..ties import Ties
from .decoys import Conditions, levels_in_zones
from .flattening import flatten
from .optimum import ProfileCells
from .promoting import promote, whole_classes
from .recount import classes_of
from .series_optimum import SeriesCells, best_levels_of_series
from .tree import tree_of


def levels_of_series(
    profile: Profile,
    levels: Levels,
    losses: Sequence[np.ndarray],
    requirement: Requirement,
    series: Series,
    at_once: int,
    progress: Progress = silent,
    ties: Ties = None,
    conditions: Conditions | None = None,
) -> np.ndarray:
    """The level at which each cell of a profile is shown, (m,) int8, the same for one area and class in all periods.

    losses : of each level, (n_regions,); requirement : of this profile; series : its own; the rest as for `nest`.
    Suppressed are the classes of a region of the coarsest level for which what is asked does not hold there in each
    period in which it has anybody, in all periods; where more is asked of values, more classes may be.
    """
    base, tree = series.base, tree_of(levels.region_of, losses)
    counted, asked = requirement.members_of_cells(profile.counts.data), InEachPeriod(profile, requirement, series)
    by_class, in_order = cells_by_class(base, levels)
    level_of = np.full(base.counts.nnz, SUPPRESSED, np.int8)
    for first, last in class_stretches(by_class.indptr, max(at_once // series.n_periods, 1)):
        start, stop = by_class.indptr[first], by_class.indptr[last]
        area = in_order[by_class.indices[start:stop]]
        class_of = np.repeat(np.arange(last - first, dtype=np.int64), np.diff(by_class.indptr[first : last + 1]))
        there = tree.place[area] >= 0
        cells = by_class.data[start:stop][there]
        if len(cells):
            table = series.by_period(cells, counted, profile.counts.indices)
            if conditions is None:
                own = SeriesCells(area[there], class_of[there], table, base.counts.data[cells].astype(np.int64))
                check = partial(progress, start / base.counts.nnz)
                level_of[cells] = best_levels_of_series(own, tree, requirement.k, ties, check)
            else:
                # A place that has k in no period can show nothing of the class.
                of_cells = ProfileCells(area[there], class_of[there], table.max(axis=1))
                level_of[cells] = levels_in_zones(of_cells, tree, requirement.k, conditions, asked.of_some(cells))
        progress(stop / max(base.counts.nnz, 1))
    if conditions is None and requirement.asks_for_more:
        level_of = promote(base, levels, level_of, asked.holds)
    return whole_classes(base, levels, level_of, requirement)[series.cell]


def together(
    profile: Profile, levels: Levels, level_of: np.ndarray, requirement: Requirement, series: Series
) -> np.ndarray:
    """The levels of cells, (m,) int8, once all of one area and class have the coarsest that one of them has.

    What then fails what is asked in some period goes up, too, or is suppressed in all of them.
    """
    base, last = series.base, len(levels)
    coarsest = np.zeros(base.counts.nnz, np.int8)
    np.maximum.at(coarsest, series.cell, np.where(level_of == SUPPRESSED, last, level_of).astype(np.int8))
    coarsest = whole_classes(
        base, levels, np.where(coarsest == last, SUPPRESSED, coarsest).astype(np.int8), requirement
    )
    asked = InEachPeriod(profile, requirement, series)
    return whole_classes(base, levels, promote(base, levels, coarsest, asked.holds), requirement)[series.cell]


def keep_together(plan: Plan, requirement: Requirement) -> Plan:
    """The plan, in which nothing stands alone that is to be the same in all periods: what was moved takes the same
    classes of other periods with it. The plan itself where nothing is to be moved."""
    series = requirement.series
    if series is None:
        return plan
    if plan.level_of is None:
        released = whole_series(series, plan.region, plan.class_of, plan.released)
        return plan if (released == plan.released).all() else replace(plan, released=released)
    before = plan.levels_of_cells
    level_of = together(plan.profile, plan.levels, before, requirement, series)
    return plan if np.array_equal(level_of, before) else with_levels(plan, level_of, requirement)


def holding_together(plan: Plan, requirement: Requirement) -> Plan:
    """The plan without equivalence classes that fail what is asked beside k rows, nor any of the same class of other
    periods that must not stand alone."""
    return keep_together(holding(plan, requirement), requirement)


def check_series(release: Release, profile: Profile, series: Series, levels: Levels) -> None:
    """Compare a release with the records: of a class that is shown in a region of the coarsest level nobody of that
    region may be missing, in no period. Raises PrivacyError."""
    target = len(levels) - 1
    region = flatten(levels, release.level, release.region, target)
    of_rows, n_classes = classes_of(release, profile), series.base.counts.shape[1]
    lives_in = levels.crosswalks[target].region_of[area_of_cells(profile)]
    inside = lives_in >= 0
    lives = lives_in[inside] * n_classes + series.class_of[profile.counts.indices[inside]]
    shows = region * n_classes + series.class_of[of_rows]
    size = levels.crosswalks[target].n_regions * n_classes
    have, show = np.bincount(lives, profile.counts.data[inside], size), np.bincount(shows, release.counts, size)
    wrong = int(((show > 0) & (show != have)).sum())
    if wrong:
        raise PrivacyError.counting(
            "The release would show {n} class in some periods and hide it in others, which PERIODS “{periods}” rules "
            "out: nothing was written.",
            "The release would show {n} classes in some periods and hide them in others, which PERIODS “{periods}” "
            "rules out: nothing was written.",
            wrong,
            periods=THE_SAME,
        )
