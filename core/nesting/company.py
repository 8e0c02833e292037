"""Zones of which the people of the areas, all classes together, prove too much: they get company.

Where all people are in the records, those of a region are the zones within it and what larger zones have there. If that
is a part of one larger zone alone, its count is what the people of the region leave: exact, and perhaps below k. To
give up that zone would change nothing. But once another class that the region shows is shown around it, the people of
the region leave the sum of two parts, and either may be nobody, or k and more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..disclosure.zone_tables import Shown, proven_small
from ..plan import SUPPRESSED, Plan, area_of_cells, around, plan_by_levels
from ..privacy.requirement import Requirement

MOST_ROUNDS = 40


def shown_by(plan: Plan) -> tuple[Shown, np.ndarray]:
    """What a plan shows, and the position of each among its equivalence classes."""
    at = np.flatnonzero(plan.released)
    columns = (plan.level[at], plan.region[at], plan.class_of[at], plan.records[at])
    return Shown(plan.levels, *columns, plan.in_zones), at


def in_company(plan: Plan, people: np.ndarray, requirement: Requirement | None = None) -> Plan:
    """The plan in zones, with a few equivalence classes moved up, so that people prove no small count of any zone.

    people : (n,) of each area. What is not decided counts as proven. Where nothing can keep a zone company it is given
    up itself; at the coarsest level its class is suppressed in that region.
    """
    for turn in range(MOST_ROUNDS):
        shown, at = shown_by(plan)
        found = proven_small(shown, people, plan.k)
        telling = np.concatenate([found.parts, found.rests, found.open_parts, found.open_rests])
        if not len(telling):
            break
        zones, first = np.unique(found.of.zone[telling], return_index=True)
        of = at[found.zones.shown[zones]]
        columns = (plan.level[of], plan.region[of], plan.class_of[of])
        for part, level, region, class_of in zip(telling[first].tolist(), *(column.tolist() for column in columns)):
            within = int(found.of.level[part]), int(found.of.region[part])
            joined = None if turn > MOST_ROUNDS // 2 else _joined(plan, *within, (level, region, class_of), requirement)
            plan = _given_up(plan, level, region, class_of) if joined is None else joined
    return plan


def _joined(
    plan: Plan, level: int, region: int, zone: tuple[int, int, int], requirement: Requirement | None
) -> Plan | None:
    """The plan in which another class has a zone of areas in a region and beside it; None where none can have one.

    level, region : -1 and the area for an area; zone : level, region and class of the one that needs company. An
    equivalence class within the region joins one around it; where that has no areas beside it, together with one from
    there. The fewest records are moved.
    """
    if level < 0:
        level, region = 0, int(plan.levels.crosswalks[0].region_of[region])
    inside = _within(plan, level, region, zone[2])
    beside = np.setdiff1d(_within(plan, *zone), inside)
    alone = inside[np.argsort(plan.records[inside], kind="stable")]
    smallest = {}  # of each class beside the region
    for other in beside[np.argsort(-plan.records[beside], kind="stable")].tolist():
        smallest[int(plan.class_of[other])] = other
    pairs = [(own, smallest[of]) for own in alone.tolist() if (of := int(plan.class_of[own])) in smallest]
    pairs.sort(key=lambda pair: int(plan.records[list(pair)].sum()))
    outside = plan.levels.crosswalks[level].region_of != region
    for some in [*((own,) for own in alone.tolist()), *pairs]:
        moved = _moved(plan, some)
        if _areas_of(moved, plan, some[0])[outside].any() and _holds(moved, plan, some, requirement):
            return moved
    return None


def _within(plan: Plan, level: int, region: int, but: int) -> np.ndarray:
    """The equivalence classes of other classes than one that a region and those within it show."""
    some = np.flatnonzero(plan.released & (plan.level <= level) & (plan.class_of != but))
    around_it = plan.region[some].copy()
    for below in range(level):
        lower = plan.level[some] <= below
        around_it[lower] = plan.levels.parents(below)[around_it[lower]]
    return some[around_it == region]


def _areas_of(moved: Plan, before: Plan, equivalence_class: int) -> np.ndarray:
    """The areas, (n,) bool, of the zone in which an equivalence class of the plan before is now."""
    (now,) = np.unique(moved.equivalence_class_of[before.equivalence_class_of == equivalence_class]).tolist()
    level, class_of = int(moved.level[now]), int(moved.class_of[now])
    inside = moved.levels.crosswalks[level].region_of == moved.region[now]
    for finer in range(level):
        region_of = moved.levels.crosswalks[finer].region_of
        at = moved.equivalence_classes_of_places(finer, region_of, np.full(len(region_of), class_of))
        inside &= ~np.append(moved.released, False)[at]
    return np.asarray(inside)


def _given_up(plan: Plan, level: int, region: int, class_of: int) -> Plan:
    """The plan without this equivalence class, if it is there still."""
    (at,) = plan.equivalence_classes_of_places(level, np.array([region]), np.array([class_of])).tolist()
    if at == SUPPRESSED or not plan.released[at]:
        return plan
    if level + 1 < len(plan.levels):
        return _moved(plan, (at,))
    level_of = np.append(plan.level, SUPPRESSED)[plan.equivalence_class_of].astype(np.int8)
    coarsest = plan.levels.crosswalks[-1].region_of[area_of_cells(plan.profile)]
    level_of[(coarsest == region) & (plan.profile.counts.indices == class_of)] = SUPPRESSED
    return _with_levels(plan, level_of)


def _moved(plan: Plan, equivalence_classes: Sequence[int]) -> Plan:
    """The plan in which some equivalence classes have joined the next one around, those of the coarsest level not."""
    chosen = np.isin(np.arange(len(plan.records)), equivalence_classes) & (plan.level + 1 < len(plan.levels))
    return _with_levels(plan, around(plan, chosen))


def _with_levels(plan: Plan, level_of: np.ndarray) -> Plan:
    return replace(plan_by_levels(plan.profile, plan.levels, plan.k, level_of), in_zones=True)


def _holds(moved: Plan, before: Plan, equivalence_classes: Sequence[int], requirement: Requirement | None) -> bool:
    """Whether what is asked beside k records holds of those in which some equivalence classes are now."""
    if requirement is None or not requirement.asks_for_more:
        return True
    now = np.unique(moved.equivalence_class_of[np.isin(before.equivalence_class_of, equivalence_classes)])
    cells = np.flatnonzero(np.isin(moved.equivalence_class_of, now))
    of = np.searchsorted(now, moved.equivalence_class_of[cells])
    return bool(requirement.holds(cells, of, len(now)).all())
