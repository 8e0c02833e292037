"""Groups that grow at random: the published algorithm."""

from __future__ import annotations

from ..progress import Progress, part, silent
from .cells import PartitionOptions
from .grouping import FREE, ConnectedCells, Draws, Grouping, swap_cells

REPORT_EVERY = 256


def random_growth(
    area: ConnectedCells, draws: Draws, options: PartitionOptions, progress: Progress = silent
) -> Grouping:
    """The published algorithm: groups grow from random cells by random neighbours, then exchange cells (Bjerre-Nielsen
    & Gandil 2018, 3.2, 3.3).

    Newly built cells are partitioned first, among themselves, if together they reach the minimums; then all cells
    still free (Algorithm 1); then cells are exchanged one for one between neighbouring groups. Raises what `progress`
    raises.
    """
    grouping = Grouping(area)
    if options.newly_built_first and area.minimums.may_hold_group(sum(area.people[cell] for cell in area.newly_built)):
        grow(grouping, area.newly_built, draws, options.attempts, part(progress, 0, 0.1))
    free = [cell for cell in range(len(area)) if grouping.group_of[cell] == FREE]
    grow(grouping, free, draws, options.attempts, part(progress, 0.1, 0.4))
    if options.exchanges:
        swap_cells(grouping, progress=part(progress, 0.4, 1))
    return grouping


def grow(grouping: Grouping, cells: list[int], draws: Draws, attempts: int, progress: Progress = silent) -> None:
    """Algorithm 1 among these free cells: add groups until too few people are left or `attempts` growths failed.

    A failed growth has taken all it could reach. Where more cells can only raise a total, no part of what it took will
    ever make a group: those cells are not tried again, which saves attempts and changes nothing else.
    """
    area, minimums = grouping.area, grouping.area.minimums
    unassigned = _Pool(cells, len(area))
    left = sum(area.people[cell] for cell in cells)
    failed = rounds = 0
    while failed < attempts and len(unassigned) and minimums.may_hold_group(left):
        members, people = _grow_randomly(grouping, unassigned, draws)
        if minimums.enough(people):
            grouping.add(members)
        else:
            failed += 1
            if minimums.empty_years:
                continue
        left -= people
        for cell in members:
            unassigned.discard(cell)
        rounds += 1
        if rounds % REPORT_EVERY == 0:
            progress(1.0 - len(unassigned) / len(cells))


def _grow_randomly(grouping: Grouping, unassigned: _Pool, draws: Draws) -> tuple[list[int], int]:
    """A random cell and random neighbours until the minimums are reached or no neighbour is free; and their total."""
    area, minimums, where = grouping.area, grouping.area.minimums, unassigned.where
    start = unassigned.cells[draws.below(len(unassigned))]
    members, seen, frontier = [start], {start}, []
    people = area.people[start]
    newest = start
    while not minimums.enough(people):
        for other in area.neighbours[newest]:
            if where[other] >= 0 and other not in seen:
                seen.add(other)
                frontier.append(other)
        if not frontier:
            break
        place = draws.below(len(frontier))
        newest, frontier[place] = frontier[place], frontier[-1]
        frontier.pop()
        members.append(newest)
        people += area.people[newest]
    return members, people


class _Pool:
    """Cells that can be picked at random and taken out, each in constant time."""

    def __init__(self, cells: list[int], n: int) -> None:
        self.cells = list(cells)
        self.where = [-1] * n
        for place, cell in enumerate(self.cells):
            self.where[cell] = place

    def __len__(self) -> int:
        return len(self.cells)

    def discard(self, cell: int) -> None:
        place, last = self.where[cell], self.cells[-1]
        self.cells[place], self.where[last] = last, place
        self.cells.pop()
        self.where[cell] = -1
