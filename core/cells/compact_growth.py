"""Groups that grow compactly and are then improved: merged, split again, and cells exchanged."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from ..dataclass import dataclass
from ..progress import Progress, part, silent
from .cells import PartitionOptions
from .grouping import FREE, Box, ConnectedCells, Draws, Grouping, diagonal, joined, swap_cells
from .measures import loss_of

START_NOISE = 0.5


def compact_growth(
    area: ConnectedCells, draws: Draws, options: PartitionOptions, progress: Progress = silent
) -> Grouping:
    """Groups grow by what lengthens them least, then neighbouring groups are merged and split again as long as the loss
    gets no worse.

    They grow from the cells that are hardest to place. Then cells are exchanged one for one, neighbouring groups merged
    and split again, cells exchanged again; each step is kept only if it makes the loss (Bjerre-Nielsen & Gandil 2018,
    Eq. 4) no worse. Raises what `progress` raises.
    """
    grouping = Grouping(area)
    built, _ = build(area, range(len(area)), draws, START_NOISE, part(progress, 0.0, 0.1))
    for group in built:
        grouping.add(group.members)
    if options.exchanges:
        swap_cells(grouping, progress=part(progress, 0.1, 0.15))
    regroup(grouping, draws, options.regroupings, part(progress, 0.15, 0.9))
    if options.exchanges:
        swap_cells(grouping, progress=part(progress, 0.9, 1.0))
    return grouping


# A cell that reaches the minimums alone starts last, and joins others only if that saves this much diagonal.
ALONE_LAST = 8.0
ALONE_DEAR = 1.0
# Of two cells that lengthen the diagonal equally, the one with fewer free neighbours is taken: it is harder to place.
CROWDED = 0.1
REPORT_EVERY = 64


@dataclass()
class GrownGroup:
    """A group being built."""

    members: list[int]
    people: int
    weight: float
    box: Box

    @property
    def cost(self) -> float:
        """Its share of the numerator of Eq. 3."""
        return self.weight * diagonal(self.box)


def build(
    area: ConnectedCells, cells: Iterable[int], draws: Draws, noise: float, progress: Progress = silent
) -> tuple[list[GrownGroup], list[int]]:
    """Compact groups of these cells, and the cells that are in none.

    Groups start from the cells that are hardest to place (fewest free neighbours, not enough alone), and take the
    neighbour that lengthens the diagonal least until they reach the minimums. Each cell left over joins the
    neighbouring group that this costs least. noise : how far chance may change the order of preference, in cells of
    diagonal.
    """
    free = dict.fromkeys(cells)
    neighbours, alone, enough = area.neighbours, area.alone, area.minimums.enough
    degree = {cell: sum(other in free for other in neighbours[cell]) for cell in free}
    queue = [(degree[cell] + (ALONE_LAST if alone[cell] else 0.0) + noise * draws.uniform(), cell) for cell in free]
    heapify(queue)
    groups: list[GrownGroup] = []
    left: list[int] = []
    while queue:
        _, start = heappop(queue)
        if start not in free:
            continue
        if len(groups) % REPORT_EVERY == REPORT_EVERY - 1:
            progress(1.0 - len(free) / len(degree))
        group = _grow_compactly(area, start, free, degree, draws, noise)
        if enough(group.people):
            groups.append(group)
        else:
            left += group.members
        for cell in group.members:
            free.pop(cell, None)
        for cell in group.members:
            for other in neighbours[cell]:
                if other in free:
                    degree[other] -= 1
                    heappush(queue, (degree[other] + (ALONE_LAST if alone[other] else 0.0), other))
    return groups, join(area, groups, left)


def _grow_compactly(
    area: ConnectedCells,
    start: int,
    free: dict[int, None],
    degree: dict[int, int],
    draws: Draws,
    noise: float,
) -> GrownGroup:
    """Grow a group from this cell by the neighbour that lengthens the diagonal least until the minimums are reached."""
    neighbours, people, boxes, alone, enough = (
        area.neighbours,
        area.people,
        area.boxes,
        area.alone,
        area.minimums.enough,
    )
    group = GrownGroup([start], people[start], area.weight[start], boxes[start])
    frontier: dict[int, float] = {}
    newest = start
    seen = {start}
    while not enough(group.people):
        for other in neighbours[newest]:
            if other in free and other not in seen:
                seen.add(other)
                dear = ALONE_DEAR if alone[other] else 0.0
                frontier[other] = dear + CROWDED * degree[other] + noise * draws.uniform()
        if not frontier:
            break
        box = group.box
        best, newest = float("inf"), -1
        for other, preference in frontier.items():
            score = diagonal(joined(box, boxes[other])) + preference
            if score < best:
                best, newest = score, other
        del frontier[newest]
        group.members.append(newest)
        group.people += people[newest]
        group.weight += area.weight[newest]
        group.box = joined(box, boxes[newest])
    return group


def join(area: ConnectedCells, groups: list[GrownGroup], left: list[int]) -> list[int]:
    """Let each cell left over join the neighbouring group where it adds least to the cost; returns those still left."""
    owner = {cell: group for group in groups for cell in group.members}
    waiting = left
    while waiting:
        still = []
        for cell in waiting:
            group = _cheapest(area, cell, owner)
            if group is None:
                still.append(cell)
                continue
            group.members.append(cell)
            group.people += area.people[cell]
            group.weight += area.weight[cell]
            group.box = joined(group.box, area.boxes[cell])
            owner[cell] = group
        if len(still) == len(waiting):
            break
        waiting = still
    return waiting


def _cheapest(area: ConnectedCells, cell: int, owner: dict[int, GrownGroup]) -> GrownGroup | None:
    """The neighbouring group that a cell joins at the lowest cost and that keeps its minimums."""
    best, cheapest = float("inf"), None
    for other in area.neighbours[cell]:
        group = owner.get(other)
        if group is None:
            continue
        cost = (group.weight + area.weight[cell]) * diagonal(joined(group.box, area.boxes[cell])) - group.cost
        if cost < best and area.minimums.enough(group.people + area.people[cell]):
            best, cheapest = cost, group
    return cheapest


MOST_MERGED = 6
REGROUPING_NOISE = 2.0


def regroup(grouping: Grouping, draws: Draws, rounds: int, progress: Progress = silent) -> None:
    """Merge some neighbouring groups and the free cells next to them, and split them again, as long as that pays.

    Each try takes a random group of several cells and up to MOST_MERGED - 1 more, each a neighbour of one before it;
    the groups built of their cells, partly at random, are kept if the area's loss does not get worse.
    rounds : tries per group of several cells.
    """
    area = grouping.area
    cost, taken = sum(grouping.cost.values()), sum(grouping.weight.values())
    several = grouping.of_several_cells()
    tries = rounds * len(several)
    for done in range(tries):
        if done % REPORT_EVERY == 0:
            progress(done / tries)
            several = grouping.of_several_cells()
            if not several:
                break
        group = several[draws.below(len(several))]
        if group not in grouping.members:
            continue
        merged = _groups_to_merge(grouping, group, draws)
        cells = [cell for old_group in merged for cell in grouping.members[old_group]]
        cells += dict.fromkeys(
            other for cell in cells for other in area.neighbours[cell] if grouping.group_of[other] == FREE
        )
        if len(cells) <= len(merged):
            continue
        built, _ = build(area, cells, draws, REGROUPING_NOISE * draws.uniform())
        new_cost = (
            cost + sum(new_group.cost for new_group in built) - sum(grouping.cost[old_group] for old_group in merged)
        )
        new_taken = (
            taken
            + sum(new_group.weight for new_group in built)
            - sum(grouping.weight[old_group] for old_group in merged)
        )
        gain = loss_of(new_cost, new_taken, area.everyone, area.beta) - loss_of(cost, taken, area.everyone, area.beta)
        if gain < -1e-12 or not built:
            continue
        for old_group in merged:
            grouping.remove(old_group)
        for fresh in built:
            grouping.add(fresh.members)
        cost, taken = new_cost, new_taken


def _groups_to_merge(grouping: Grouping, group: int, draws: Draws) -> list[int]:
    """A group and up to MOST_MERGED - 1 more, each a random neighbour of one before it."""
    merged = [group]
    for _ in range(draws.below(MOST_MERGED)):
        around = [
            neighbour
            for neighbour in grouping.groups_around(grouping.members[merged[draws.below(len(merged))]])
            if neighbour not in merged
        ]
        if around:
            merged.append(around[draws.below(len(around))])
    return merged
