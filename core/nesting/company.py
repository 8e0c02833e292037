"""Zones of which the people of the areas, all classes together, prove too much: they get company.

Where all people are in the records, those of a region are the zones within it and what larger zones have there. If that
is a part of one larger zone alone, its count is what the people of the region leave: exact, and perhaps below k. To
give up that zone would change nothing. But once another class that the region shows is shown around it, the people of
the region leave the sum of two parts, and either may be nobody, or k and more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..dataclass import dataclass
from ..disclosure.inhabitants import Inhabitants
from ..disclosure.zone_tables import ProvenSmall, proven_small, records_of, released_classes
from ..errors import PrivacyError
from ..plan import SUPPRESSED, Plan, area_of_cells, around, holding, plan_by_levels
from ..privacy.requirement import Requirement
from ..progress import Progress, silent
from .flattening import flatten

MOST_ROUNDS, MOST_TRIED = 40, 10


def in_company(
    plan: Plan, people: Inhabitants, requirement: Requirement | None = None, progress: Progress = silent
) -> Plan:
    """The plan in zones, with a few equivalence classes moved up, so that people prove no small count of any zone.

    people : of each area. What is not decided counts as proven. Where nothing can keep a zone company it is given
    up itself; at the coarsest level its class is suppressed in that region, once regions within show nothing that could
    be given up instead. Where what else is asked does not hold of
    what that joins, it is suppressed, and the plan is no longer one in zones. Raises PrivacyError where that does not
    come to an end. progress : called with the fraction of a round that is done; raises to cancel

    Once a zone joins a larger one, each table that fitted before fits still: what others could be, they can be. So
    after the first round only those are looked at that changed or told something.
    """
    asked: np.ndarray | None = None
    for turn in range(MOST_ROUNDS):
        chosen, disclosing = np.zeros(len(plan.records), bool), np.zeros(len(plan.records), bool)
        for proven in _proven(plan, people, asked, progress):
            proof, at, telling = proven.proof, proven.at, proven.telling
            zones, first = np.unique(proof.of.zone[telling], return_index=True)
            for zone, part in zip(zones.tolist(), telling[first].tolist()):
                company: tuple[int, ...] = ()
                if turn <= MOST_ROUNDS // 2:
                    company = _company(plan, proven, zone, part, requirement)
                    company = company or _beneath(plan, proven, int(at[proof.zones.released[zone]]), requirement)
                chosen[list(company) if company else at[proof.zones.released[zone]]] = True
            disclosing[at[proof.zones.released[zones]]] = True
        if not disclosing.any():
            return plan if not turn or requirement is None else holding(plan, requirement)
        new = _given_up(plan, chosen)
        asked = _changed(plan, new, disclosing)
        plan = new
    raise PrivacyError.saying(
        "It was not found how to show these classes so that no small count follows from the people of all areas. "
        "Nothing is released: choose a larger K, fewer or coarser quasi-identifiers, or another DISCLOSURE."
    )


@dataclass(frozen=True, eq=False)
class _Proven:
    """What the people prove of the zones of some classes, which no other classes share them with.

    classes : (C,) bool; at : the equivalence class of each of what these show, as it is numbered in the proof
    """

    classes: np.ndarray
    proof: ProvenSmall
    at: np.ndarray

    @property
    def telling(self) -> np.ndarray:
        """The parts that are known too well, or whose rest is, or of which that was not decided."""
        proof = self.proof
        return np.concatenate([proof.parts, proof.rests, proof.open_parts, proof.open_rests])


def _proven(plan: Plan, people: Inhabitants, asked: np.ndarray | None, progress: Progress) -> Iterator[_Proven]:
    """What is proven, period by period; asked : (s,) bool, of all that the plan shows, None for all."""
    class_of = plan.class_of[plan.released]
    for classes, number in people.each():
        released, at = released_classes(plan, classes)
        due = None if asked is None else asked[classes[class_of]]
        proof = proven_small(released, number, plan.k, records_of(plan, classes), due, False, progress)
        yield _Proven(classes, proof, at)


def _changed(before: Plan, after: Plan, disclosing: np.ndarray) -> np.ndarray:
    """Which of what a plan shows was not shown so before, or told something; disclosing : (L,) bool, before."""
    at = np.flatnonzero(after.released)
    same = np.full(len(at), SUPPRESSED, np.int64)
    for level in range(len(after.levels)):
        here = np.flatnonzero(after.level[at] == level)
        same[here] = before.equivalence_classes_of_places(level, after.region[at[here]], after.class_of[at[here]])
    stays = np.append(before.released & ~disclosing, False)[same]
    return ~(stays & (np.append(before.records, SUPPRESSED)[same] == after.records[at]))


def _company(plan: Plan, proven: _Proven, zone: int, part: int, requirement: Requirement | None) -> tuple[int, ...]:
    """The equivalence classes of another class that are to be given up to keep a zone company; none where none can.

    zone, part : of what was found, the part being known too well.
    One in the region of the part, so that it joins a larger zone with areas beside the part; or that and one beside it,
    so that both join the same; first those of the fewest records. Where there is none of these and the zone would be
    suppressed: one beside the part, which is then shown around both.
    """
    proof, at = proven.proof, proven.at
    level, region = int(proof.of.level[part]), int(proof.of.region[part])
    if level < 0:
        level, region = 0, int(plan.levels.crosswalks[0].region_of[region])
    own = int(at[proof.zones.released[zone]])
    areas = np.zeros(len(proof.zones.room), bool)
    areas[proof.zones.area[proof.zones.zone == zone]] = True
    beside_part = areas & (plan.levels.crosswalks[level].region_of != region)
    others = proven.classes & (np.arange(len(proven.classes), dtype=np.int64) != plan.class_of[own])
    inside = _within(plan, level, region, others)
    beside = np.setdiff1d(_within(plan, int(plan.level[own]), int(plan.region[own]), others), inside)
    inside, beside = _touching(plan, inside, areas & ~beside_part), _touching(plan, beside, beside_part)
    joins, others_join = _around_each(plan, inside), _around_each(plan, beside)
    reach = np.unique(at[proof.zones.released[proof.zones.zone[beside_part[proof.zones.area]]]])
    choices: list[tuple[int, ...]] = [(cell,) for cell in inside[np.isin(joins, reach)].tolist()]
    smallest: dict[tuple[int, int], int] = {}  # of each class beside the part, by what it would join
    for of in np.argsort(-plan.records[beside], kind="stable").tolist():
        smallest[int(plan.class_of[beside[of]]), int(others_join[of])] = int(beside[of])
    for cell, target in zip(inside.tolist(), joins.tolist()):
        other = smallest.get((int(plan.class_of[cell]), target))
        choices += [] if other is None else [(cell, other)]
    if not choices and plan.level[own] == len(plan.levels) - 1:  # or else the class would be suppressed there
        finer = plan.level[beside] < plan.level[own]
        choices = [
            (cell,) for cell in beside[finer & (others_join < 0)].tolist()
        ]  # which goes to all areas of that region
    choices.sort(key=lambda some: int(plan.records[list(some)].sum()))
    return next((some for some in choices[:MOST_TRIED] if _holds(plan, some, requirement)), ())


def _beneath(plan: Plan, proven: _Proven, own: int, requirement: Requirement | None) -> tuple[int, ...]:
    """What regions within the coarsest one show, before a class is suppressed there: of that class, or of all that
    share the people; none where there is nothing of it."""
    if plan.level[own] < len(plan.levels) - 1:
        return ()
    finer = _within(plan, int(plan.level[own]), int(plan.region[own]), proven.classes)
    finer = finer[plan.level[finer] < plan.level[own]]
    choices = [tuple(some.tolist()) for some in (finer[plan.class_of[finer] == plan.class_of[own]], finer) if len(some)]
    return next((some for some in choices if _holds(plan, some, requirement)), ())


def _around_each(plan: Plan, equivalence_classes: np.ndarray) -> np.ndarray:
    """The equivalence class that each would join if it were given up; -1 for none, so that it goes to the coarsest."""
    level, region = plan.level[equivalence_classes], plan.region[equivalence_classes].copy()
    joins = np.full(len(level), -1, np.int64)
    for above in range(1, len(plan.levels)):
        below = level < above
        region[below] = plan.levels.parents(above - 1)[region[below]]
        there = plan.equivalence_classes_of_places(above, region, plan.class_of[equivalence_classes])
        joins = np.where(below & (joins < 0) & np.append(plan.released, False)[there], there, joins)
    return joins


def _touching(plan: Plan, equivalence_classes: np.ndarray, areas: np.ndarray) -> np.ndarray:
    """Those of some equivalence classes in whose region some areas are; areas : (n,) bool."""
    touches = np.zeros(len(equivalence_classes), bool)
    for level, region_of in enumerate(plan.levels.region_of):
        inside = np.isin(plan.region[equivalence_classes], region_of[areas])
        touches |= (plan.level[equivalence_classes] == level) & inside
    return equivalence_classes[touches]


def _within(plan: Plan, level: int, region: int, classes: np.ndarray) -> np.ndarray:
    """The equivalence classes of some classes that a region and those within it show; classes : (C,) bool."""
    some = np.flatnonzero(plan.released & (plan.level <= level) & classes[plan.class_of])
    return some[flatten(plan.levels, plan.level[some], plan.region[some], level) == region]


def _given_up(plan: Plan, equivalence_classes: np.ndarray) -> Plan:
    """The plan without some equivalence classes, (L,) bool: they join the next ones around; of those of the coarsest
    level the class is suppressed in that region."""
    last = len(plan.levels) - 1
    level_of = around(plan, equivalence_classes & (plan.level < last))
    coarsest = plan.levels.crosswalks[-1].region_of[area_of_cells(plan.profile)]
    for at in np.flatnonzero(equivalence_classes & (plan.level == last)).tolist():
        level_of[(coarsest == plan.region[at]) & (plan.profile.counts.indices == plan.class_of[at])] = SUPPRESSED
    return replace(plan_by_levels(plan.profile, plan.levels, plan.k, level_of), in_zones=True)


def _holds(plan: Plan, equivalence_classes: Sequence[int], requirement: Requirement | None) -> bool:
    """Whether what is asked beside k records holds of what some equivalence classes join once they are given up."""
    if requirement is None or not requirement.asks_for_more:
        return True
    moved = _given_up(plan, np.isin(np.arange(len(plan.records), dtype=np.int64), equivalence_classes))
    now = np.unique(moved.equivalence_class_of[np.isin(plan.equivalence_class_of, equivalence_classes)])
    cells = np.flatnonzero(np.isin(moved.equivalence_class_of, now))
    of = np.searchsorted(now, moved.equivalence_class_of[cells])
    return bool(requirement.holds(cells, of, len(now)).all())
