"""Cells swapped one for one between neighbouring groups: the exchanges of Bjerre-Nielsen & Gandil 2018, 3.3."""

from __future__ import annotations

from ..progress import Progress, silent
from .grouping import Box, Grouping, diagonal, joined

# A gain must be more than rounding.
GAIN = 1e-9
TELL_EVERY = 64
Swap = tuple[float, int, int, int]


def swap_cells(grouping: Grouping, progress: Progress = silent) -> int:
    """Exchange cells of neighbouring groups while that lowers their cost; returns how many exchanges were made.

    (Bjerre-Nielsen & Gandil 2018, 3.3.) An exchange must lower the sum of weight · diagonal of the two groups (the
    numerator of Eq. 3, on which the loss depends), leave both connected, and keep both at their minimums. Each group
    makes its best exchange, again and again, until no group has one.
    """
    waiting = dict.fromkeys(grouping.members)
    made = rounds = 0
    many = max(len(waiting), 1)
    while waiting:
        rounds += 1
        if rounds % TELL_EVERY == 0:
            progress(min(1.0, rounds / (3 * many)))
        group = next(iter(waiting))
        del waiting[group]
        swap = _best_swap(grouping, group)
        if swap is None:
            continue
        _, leaving, other, coming = swap
        grouping.put(group, [cell for cell in grouping.members[group] if cell != leaving] + [coming])
        grouping.put(other, [cell for cell in grouping.members[other] if cell != coming] + [leaving])
        made += 1
        touched = [*grouping.members[group], *grouping.members[other]]
        waiting.update(dict.fromkeys((group, other, *grouping.groups_around(touched))))
    return made


def _best_swap(grouping: Grouping, group: int) -> Swap | None:
    """(change of cost, own cell, other group, its cell) of the exchange that lowers the cost most."""
    members = grouping.members[group]
    best: Swap | None = None
    boxes_without: dict[int, Box | None] = {}
    for other in grouping.groups_around(members, group):
        theirs = grouping.members[other]
        if len(members) == 1 == len(theirs):
            continue
        # A cell can only go where it borders on what stays of the other group; a group of one leaves nothing.
        going = members if len(theirs) == 1 else _bordering(grouping, members, other)
        coming = theirs if len(members) == 1 else _bordering(grouping, theirs, group)
        for leaving in going:
            for one in coming:
                swap = _swap(grouping, (group, leaving), (other, one), boxes_without)
                if swap is not None and (best is None or swap[0] < best[0]) and _legal(grouping, group, swap):
                    best = swap
    return best


def _bordering(grouping: Grouping, members: list[int], group: int) -> list[int]:
    """Those of the members that border on the group."""
    neighbours, group_of = grouping.area.neighbours, grouping.group_of
    return [cell for cell in members if any(group_of[other] == group for other in neighbours[cell])]


def _swap(
    grouping: Grouping, own: tuple[int, int], theirs: tuple[int, int], boxes_without: dict[int, Box | None]
) -> Swap | None:
    """The exchange of two cells, (group, cell) each, if it lowers the cost and keeps the minimums."""
    area = grouping.area
    (group, leaving), (other, coming) = own, theirs
    weight = area.weight[leaving] - area.weight[coming]
    change = (
        (grouping.weight[group] - weight) * _diagonal_with(grouping, own, coming, boxes_without)
        + (grouping.weight[other] + weight) * _diagonal_with(grouping, theirs, leaving, boxes_without)
        - grouping.cost[group]
        - grouping.cost[other]
    )
    if change >= -GAIN * area.everyone:
        return None
    moved = area.people[leaving] - area.people[coming]
    if not area.minimums.enough(grouping.people[group] - moved) or not area.minimums.enough(
        grouping.people[other] + moved
    ):
        return None
    return change, leaving, other, coming


def _diagonal_with(grouping: Grouping, own: tuple[int, int], new: int, boxes_without: dict[int, Box | None]) -> float:
    """Diagonal of the group with the new cell in place of its own."""
    group, cell = own
    if cell not in boxes_without:
        boxes_without[cell] = _box_without(grouping, group, cell)
    rest, box = boxes_without[cell], grouping.area.boxes[new]
    return diagonal(box if rest is None else joined(rest, box))


def _box_without(grouping: Grouping, group: int, cell: int) -> Box | None:
    """The group's box without one of its cells, None where it is the only one."""
    box, (west, south, east, north) = grouping.box[group], grouping.area.boxes[cell]
    if west > box[0] and south > box[1] and east < box[2] and north < box[3]:
        return box
    rest = [member for member in grouping.members[group] if member != cell]
    return grouping.box_of(rest) if rest else None


def _legal(grouping: Grouping, group: int, swap: Swap) -> bool:
    """Whether both groups stay connected."""
    _, leaving, other, coming = swap
    own = [cell for cell in grouping.members[group] if cell != leaving]
    theirs = [cell for cell in grouping.members[other] if cell != coming]
    return grouping.connected([*own, coming]) and grouping.connected([*theirs, leaving])
