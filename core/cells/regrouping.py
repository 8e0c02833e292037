"""Merging neighbouring groups and splitting them anew, kept where the loss gets better."""

from __future__ import annotations

from ..progress import Progress, silent
from .building import Built, build
from .draws import Draws
from .exchanges import GAIN
from .grouping import FREE, Grouping
from .measures import loss_of

TELL_EVERY = 64
MOST_MERGED = 6
NOISE = 2.0


def regroup(grouping: Grouping, draws: Draws, rounds: int, progress: Progress = silent) -> int:
    """Merge some neighbouring groups, and the free cells beside them, and split them anew; how often that was kept.

    Each try takes a random group of several cells with up to MOST_MERGED - 1 more, each a neighbour of one before; what
    is built of their cells, with some chance, is kept if the area's loss does not get worse.
    rounds : tries per group of several cells.
    """
    area = grouping.area
    cost, taken = sum(grouping.cost.values()), sum(grouping.weight.values())
    kept = 0
    several = _of_several_cells(grouping)
    tries = rounds * len(several)
    for done in range(tries):
        if done % TELL_EVERY == 0:
            progress(done / tries)
            several = _of_several_cells(grouping)
            if not several:
                break
        group = several[draws.below(len(several))]
        if group not in grouping.members:
            continue
        merged = _neighbourhood(grouping, group, draws)
        cells = [cell for one in merged for cell in grouping.members[one]]
        cells += dict.fromkeys(
            other for cell in cells for other in area.neighbours[cell] if grouping.group_of[other] == FREE
        )
        if len(cells) <= len(merged):
            continue
        built, _ = build(area, cells, draws, NOISE * draws.uniform())
        new_cost = cost + sum(one.cost for one in built) - sum(grouping.cost[one] for one in merged)
        new_taken = taken + sum(one.weight for one in built) - sum(grouping.weight[one] for one in merged)
        gain = loss_of(new_cost, new_taken, area.everyone, area.beta) - loss_of(cost, taken, area.everyone, area.beta)
        if gain < -1e-12 or not built:
            continue
        _replace(grouping, merged, built)
        cost, taken = new_cost, new_taken
        kept += gain > GAIN
    return kept


def _of_several_cells(grouping: Grouping) -> list[int]:
    return [group for group, cells in grouping.members.items() if len(cells) > 1]


def _neighbourhood(grouping: Grouping, group: int, draws: Draws) -> list[int]:
    """A group and up to MOST_MERGED - 1 more, each a random neighbour of one before."""
    merged = [group]
    for _ in range(draws.below(MOST_MERGED)):
        around = [
            one
            for one in grouping.groups_around(grouping.members[merged[draws.below(len(merged))]])
            if one not in merged
        ]
        if around:
            merged.append(around[draws.below(len(around))])
    return merged


def _replace(grouping: Grouping, merged: list[int], built: list[Built]) -> None:
    for group in merged:
        grouping.remove(group)
    for one in built:
        grouping.add(one.members)
