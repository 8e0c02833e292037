"""A connected set of cells as plain lists, the groups being built in it, and the cells they swap."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

import numpy as np

from ..arrays import to_list
from ..dataclass import dataclass
from ..progress import Progress, silent
from .cells import Cells
from .measures import PackedMinimums, loss_of

FREE = -1
Box = tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class ConnectedCells:
    """Connected cells that are partitioned on their own, numbered 0..n-1.

    neighbours : of each cell; people : packed population of each (see `PackedMinimums`); weight : of each in the
    measures; boxes : bounding box of each; newly_built : cells that turn from empty to inhabited; alone : whether a
    cell reaches the minimums alone; beta : of the loss; everyone : sum of weights
    """

    neighbours: list[list[int]]
    people: list[int]
    weight: list[float]
    boxes: list[Box]
    newly_built: list[int]
    alone: list[bool]
    minimums: PackedMinimums
    beta: float
    everyone: float

    def __len__(self) -> int:
        return len(self.people)


def connect_cells(
    cells: Cells,
    members: np.ndarray,
    packed: list[int],
    weights: np.ndarray,
    newly: np.ndarray,
    minimums: PackedMinimums,
    beta: float,
) -> ConnectedCells:
    """The cells at these ascending positions, which are connected; borders with other cells are left out."""
    position = {cell: i for i, cell in enumerate(to_list(members))}
    starts, others = cells.adjacency.starts, cells.adjacency.others
    neighbours = [
        [position[other] for other in to_list(others[starts[cell] : starts[cell + 1]]) if other in position]
        for cell in to_list(members)
    ]
    boxes = [tuple(box) for box in to_list(cells.boxes[members])]
    weight = to_list(weights[members])
    people = [packed[cell] for cell in to_list(members)]
    return ConnectedCells(
        neighbours,
        people,
        weight,
        boxes,
        to_list(np.flatnonzero(newly[members])),
        [minimums.enough(of_group) for of_group in people],
        minimums,
        beta,
        float(sum(weight)),
    )


def joined(first: Box, second: Box) -> Box:
    """The box around two boxes."""
    a, b, c, d = first
    e, f, g, h = second
    return (a if a < e else e, b if b < f else f, c if c > g else g, d if d > h else h)


def diagonal(box: Box) -> float:
    """Length of the diagonal: Eq. 2 of Bjerre-Nielsen & Gandil 2018."""
    width, height = box[2] - box[0], box[3] - box[1]
    return sqrt(width * width + height * height)


class Grouping:
    """Disjoint groups of an area's cells with their totals, boxes and costs kept up to date.

    group_of : of each cell, FREE where it has none. Of each group: members, people (packed total), weight, box, and
    cost = weight · diagonal, its share of the numerator of Eq. 3.
    """

    def __init__(self, area: ConnectedCells) -> None:
        self.area = area
        self.group_of = [FREE] * len(area)
        self.members: dict[int, list[int]] = {}
        self.people: dict[int, int] = {}
        self.weight: dict[int, float] = {}
        self.box: dict[int, Box] = {}
        self.cost: dict[int, float] = {}
        self._next = 0

    def add(self, cells: list[int]) -> int:
        """Make a group of these cells; returns its number."""
        group = self._next
        self._next += 1
        self.put(group, cells)
        return group

    def put(self, group: int, cells: list[int]) -> None:
        """Replace a group's members. Cells it loses are the caller's to place."""
        area = self.area
        people, weight = 0, 0.0
        for cell in cells:
            self.group_of[cell] = group
            people += area.people[cell]
            weight += area.weight[cell]
        self.members[group] = cells
        self.people[group], self.weight[group] = people, weight
        self.box[group] = box = self.box_of(cells)
        self.cost[group] = weight * diagonal(box)

    def remove(self, group: int) -> list[int]:
        """Dissolve a group; returns its cells, now free."""
        cells = self.members.pop(group)
        for cell in cells:
            self.group_of[cell] = FREE
        del self.people[group], self.weight[group], self.box[group], self.cost[group]
        return cells

    def box_of(self, cells: Iterable[int]) -> Box:
        """The box around the cells."""
        boxes = self.area.boxes
        west, south, east, north = zip(*[boxes[cell] for cell in cells])
        return (min(west), min(south), max(east), max(north))

    def connected(self, cells: list[int]) -> bool:
        """Whether these cells are connected among themselves."""
        inside = set(cells)
        neighbours = self.area.neighbours
        stack = [cells[0]]
        inside.discard(cells[0])
        while stack and inside:
            for other in neighbours[stack.pop()]:
                if other in inside:
                    inside.discard(other)
                    stack.append(other)
        return not inside

    def groups_around(self, cells: Iterable[int], but: int = FREE) -> list[int]:
        """The groups that border on these cells, in order of first meeting, without group `but`."""
        group_of, neighbours = self.group_of, self.area.neighbours
        groups = {group_of[other]: None for cell in cells for other in neighbours[cell]}
        groups.pop(FREE, None)
        groups.pop(but, None)
        return list(groups)

    def of_several_cells(self) -> list[int]:
        """The groups that have more than one cell."""
        return [group for group, cells in self.members.items() if len(cells) > 1]

    def loss(self) -> float:
        """The loss of this area on its own: Eq. 4."""
        return loss_of(sum(self.cost.values()), sum(self.weight.values()), self.area.everyone, self.area.beta)

    def labels(self) -> np.ndarray:
        """Group of each cell, (n,) int64, numbered 0.. in the order of first cells; FREE (-1) without one."""
        numbers: dict[int, int] = {}
        return np.fromiter(
            (FREE if group == FREE else numbers.setdefault(group, len(numbers)) for group in self.group_of),
            np.int64,
            len(self.group_of),
        )


BLOCK = 4096


class Draws:
    """Numbers from one Generator, in a fixed order: the same seed gives the same draws."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._left: list[float] = []

    def uniform(self) -> float:
        """A number in [0, 1)."""
        if not self._left:
            self._left = to_list(self._generator.random(BLOCK))
        return self._left.pop()

    def below(self, n: int) -> int:
        """A whole number in 0..n-1."""
        return int(self.uniform() * n)


# A gain must be more than rounding.
GAIN = 1e-9
REPORT_EVERY = 64
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
        if rounds % REPORT_EVERY == 0:
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
            for cell in coming:
                swap = _swap(grouping, (group, leaving), (other, cell), boxes_without)
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
