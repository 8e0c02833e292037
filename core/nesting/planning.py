"""The plan of a nested release: each class of records on the finest level that hides it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..areas import Areas
from ..configuration import chosen
from ..disclosure.inhabitants import inhabitants_of
from ..errors import InputError
from ..levels import Levels
from ..parameters import K
from ..plan import SUPPRESSED, Plan, cells_by_class, class_stretches, plan_by_levels
from ..privacy.requirement import Requirement
from ..profile import Profile
from ..progress import Progress, part, silent
from ..records.table import PERSONS
from ..ties import Ties, ranks
from .company import in_company
from .decoys import Conditions, Holds, levels_in_zones
from .losses import LOSSES
from .optimum import LARGEST_K_IN_PARTS, ProfileCells, best_levels, patterns_for
from .patterns import Patterns
from .promoting import promote, whole_classes
from .series import levels_of_series
from .tree import tree_of

CELLS_AT_ONCE = 200_000  # up to 200 MB at k = 5; classes are taken whole
LARGEST_K = 1_000
BYTES_A_CELL, BYTES_A_STATE = 500, 15  # of a cell, and of what its region may release and pass on: the most measured


def cells_within(megabytes: int, k: int) -> int:
    """How many cells may be worked out at a time in so much memory, no more than CELLS_AT_ONCE; at least 1."""
    states = (k + 1) * ((k if k <= LARGEST_K_IN_PARTS else 0) + 1)
    return max(min(CELLS_AT_ONCE, megabytes * 1_000_000 // (BYTES_A_CELL + BYTES_A_STATE * states)), 1)


def nest(
    areas: Areas,
    profile: Profile,
    levels: Levels,
    k: int,
    loss: str = "mean distance",
    requirement: Requirement | None = None,
    progress: Progress = silent,
    ties: Ties = None,
    at_once: int = CELLS_AT_ONCE,
    conditions: Conditions | None = None,
) -> Plan:
    """The plan that suppresses the fewest records and then loses the least geography (methods: section 12).

    Suppressed are the records of classes that fewer than k records of a region of the coarsest level have, and, where
    more is asked, those for which it does not even hold there. Memory is bounded by working class by class.

    Parameters
    ----------
    areas : Areas
        n areas.
    profile : Profile
        Of the same areas, in the same order.
    levels : Levels
        Of the same areas, the finest first.
    k : int
        From 2 to LARGEST_K.
    loss : str
        A key of LOSSES.
    requirement : Requirement, optional
        What more is asked of an equivalence class, for the cells of this profile.
    progress : callable
        Called with the fraction that is done; raises to cancel.
    ties : Ties, optional
        The source of a secret order among choices that lose the same; the first is taken where None.
    at_once : int
        Cells that are worked out at a time, by which memory is bounded.
    conditions : Conditions, optional
        What must hold of the zones in which classes are shown, see `decoys`: then a region shows all records of a class
        that no region within shows. `ties` play no part.

    Returns
    -------
    Plan
        With the level of each cell.

    Raises
    ------
    InputError
        For a k below 2 or above LARGEST_K, and an unknown loss.

    Examples
    --------
    >>> from vbas.core.synthetic.hamlet import hamlet
    >>> areas, records, crosswalk = hamlet()
    >>> from vbas.core.crosswalk import crosswalk_from_table
    >>> from vbas.core.levels import make_levels, own_regions
    >>> from vbas.core.nesting.planning import nest
    >>> whole = crosswalk_from_table(areas, list("abcd"), [1, 1, 1, 1])
    >>> plan = nest(areas, records.profile, make_levels(areas, [own_regions(4), crosswalk, whole]), k=2)
    >>> # Women at the second level, and the three men at the third: at the second one man would be alone.
    >>> list(zip(plan.level.tolist(), plan.region.tolist(), plan.class_of.tolist(), plan.records.tolist()))
    [(1, 0, 0, 2), (1, 1, 0, 3), (2, 0, 1, 3)]
    """
    losses = [chosen(LOSSES, loss, "LOSS")(areas, profile, crosswalk) for crosswalk in levels.crosswalks]
    plan = nest_by_losses(profile, levels, losses, k, requirement, progress, ties, at_once, conditions)
    if conditions is None or conditions.secrets is None or (requirement is not None and requirement.has(PERSONS)):
        return plan
    # Of many areas this takes longer than all before, nobody knows how long: progress begins anew.
    return in_company(plan, inhabitants_of(profile, conditions.people, conditions.period), requirement, progress)


def nest_by_losses(
    profile: Profile,
    levels: Levels,
    losses: Sequence[np.ndarray],
    k: int,
    requirement: Requirement | None = None,
    progress: Progress = silent,
    ties: Ties = None,
    at_once: int = CELLS_AT_ONCE,
    conditions: Conditions | None = None,
) -> Plan:
    """The same, by losses of one's own: of each level, (n_regions,) what a record loses in each of its regions."""
    K.check(k)
    if k > LARGEST_K:
        raise InputError.saying(
            "K is {k}: nested levels take a K up to {largest_k}; release one level, or choose a smaller K.",
            k=k,
            largest_k=LARGEST_K,
        )
    plan = replace(
        plan_by_levels(
            profile,
            levels,
            k,
            _levels(profile, levels, losses, k, requirement, progress, ties, at_once, conditions),
        ),
        in_zones=conditions is not None,
    )
    if requirement is None or not requirement.members:
        return plan
    return replace(plan, people=requirement.people(plan.equivalence_class_of, plan.records))


def _levels(
    profile: Profile,
    levels: Levels,
    losses: Sequence[np.ndarray],
    k: int,
    requirement: Requirement | None,
    progress: Progress,
    ties: Ties,
    at_once: int,
    conditions: Conditions | None,
) -> np.ndarray:
    """The level at which each cell is shown, (m,)."""
    if requirement is not None and requirement.series is not None:
        return levels_of_series(
            profile, levels, losses, requirement, requirement.series, at_once, progress, ties, conditions
        )
    counts = profile.counts
    records = counts.data if requirement is None else requirement.members_of_cells(counts.data)
    tree, patterns = tree_of(levels.region_of, losses), patterns_for(k)
    by_class, in_order = cells_by_class(profile, levels)
    level_of = np.full(counts.nnz, SUPPRESSED, np.int8)
    for first, last in class_stretches(by_class.indptr, at_once):
        start, stop = by_class.indptr[first], by_class.indptr[last]
        area = in_order[by_class.indices[start:stop]]
        class_of = np.repeat(np.arange(last - first, dtype=np.int64), np.diff(by_class.indptr[first : last + 1]))
        there = tree.place[area] >= 0
        cells = by_class.data[start:stop][there]
        if len(cells):
            of_cells = ProfileCells(area[there], class_of[there], records[cells].astype(np.int64))
            if conditions is not None:
                level_of[cells] = levels_in_zones(of_cells, tree, k, conditions, _holding(requirement, cells))
            elif ties is None:
                level_of[cells] = best_levels(of_cells, tree, k, of_cells.area, patterns)
            else:
                level_of[cells] = levels_by_chance(of_cells, levels.region_of, losses, k, ties, patterns)
        part(progress, 0.0, 0.9)(stop / max(counts.nnz, 1))
    del by_class
    if requirement is not None and requirement.asks_for_more and conditions is None:
        level_of = promote(profile, levels, level_of, requirement.holds)
    progress(1.0)
    return level_of if conditions is None else whole_classes(profile, levels, level_of, requirement)


def _holding(requirement: Requirement | None, cells: np.ndarray) -> Holds | None:
    """What is asked of equivalence classes beside k records, of some cells in place of all; cells : their positions."""
    if requirement is None or not requirement.asks_for_more:
        return None
    asked = requirement
    return lambda some, equivalence_class, number: asked.holds(cells[some], equivalence_class, number)


def levels_by_chance(
    cells: ProfileCells,
    region_of: Sequence[np.ndarray],
    losses: Sequence[np.ndarray],
    k: int,
    ties: Ties = None,
    patterns: Patterns | None = None,
) -> np.ndarray:
    """`best_levels`, which takes the first of equal choices, of cells and regions in the order of `ties`.

    region_of, losses : of each level, as `tree_of` takes them
    """
    if ties is None:
        return best_levels(cells, tree_of(region_of, losses), k, patterns=patterns)
    turn = np.argsort(ranks(len(cells.area), ties))
    regions, renumbered = [], []
    for of_area, loss in zip(region_of, losses):
        rank = ranks(len(loss), ties)
        regions.append(np.where(of_area >= 0, rank[of_area], -1))
        renumbered.append(loss[np.argsort(rank)])
    return best_levels(cells, tree_of(regions, renumbered), k, turn, patterns)
