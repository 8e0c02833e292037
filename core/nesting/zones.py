"""Zones: where each class takes all that arrives, the territory falls into zones, class by class.

A place (a region of some level) that shows a class shows all records of it that no place within shows. So every area
belongs, for each class, to one zone: the lowest place around it that shows the class. What a release tells is the count
of each zone; where in it they live is what somebody may try to find out (methods: section 13).

Records go up the levels. Cells of places with fewer than k records have no choice; a `Storey` keeps the places of a
level that have one, class by class, and how many records arrive at each anyway.
"""

from __future__ import annotations

import numpy as np

from ..dataclass import dataclass
from .optimum import ProfileCells
from .tree import Tree


@dataclass(frozen=True, eq=False)
class Storey:
    """The places of one level that have k records or more of a class, ascending by class and place: arrays (rows,).

    class_of, place : which; alone : records that come from parts with fewer than k, which cannot be shown in them
    first, number : the first of the rows of the level below that lie in each, and how many do; the others follow it
    cell, row : (c,), the cells that have had no choice up to here, and the row that they come to
    """

    class_of: np.ndarray
    place: np.ndarray
    alone: np.ndarray
    first: np.ndarray
    number: np.ndarray
    cell: np.ndarray
    row: np.ndarray

    def __len__(self) -> int:
        return len(self.place)

    @property
    def above(self) -> np.ndarray:
        """The row of this level in which each row of the level below lies."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.number)

    def of_classes(self, chosen: np.ndarray) -> Storey:
        """The rows of some classes; chosen : (C,) bool."""
        rows = chosen[self.class_of]
        number, cells = self.number[rows], rows[self.row]
        first = np.cumsum(number) - number
        renumbered = np.cumsum(rows, dtype=np.int64) - 1
        return Storey(
            self.class_of[rows],
            self.place[rows],
            self.alone[rows],
            first,
            number,
            self.cell[cells],
            renumbered[self.row[cells]],
        )


def storeys_of(cells: ProfileCells, tree: Tree, k: int) -> list[Storey]:
    """The places that have a choice, level by level, the finest first."""
    place, class_of, records = tree.place[cells.area], cells.class_of, cells.records
    order = np.argsort(class_of * len(tree.loss[0]) + place, kind="stable")
    number, place, class_of, records = order, place[order], class_of[order], records[order]
    nodes = (np.empty(0, np.int64),) * 3  # class, place, records of the rows of the level below
    storeys = []
    for level, loss in enumerate(tree.loss):
        keys, of_cells = class_of * len(loss) + place, nodes[0] * len(loss) + nodes[1]
        every = np.union1d(keys, of_cells)
        at = np.searchsorted(every, keys)
        alone = np.bincount(at, records, len(every)).astype(np.int64)
        n_nodes = np.bincount(np.searchsorted(every, of_cells), minlength=len(every))
        total = alone + np.bincount(np.searchsorted(every, of_cells), nodes[2], len(every)).astype(np.int64)
        rows = total >= k
        renumbered = np.cumsum(rows, dtype=np.int64) - 1
        here = rows[at]
        of_class, of_place = np.divmod(every[rows], len(loss))
        storeys.append(
            Storey(
                of_class,
                of_place,
                alone[rows],
                (np.cumsum(n_nodes) - n_nodes)[rows],
                n_nodes[rows],
                number[here],
                renumbered[at[here]],
            )
        )
        number, place, class_of, records = number[~here], place[~here], class_of[~here], records[~here]
        if level + 1 < len(tree):
            place = tree.within[level][place]
            nodes = (of_class, tree.within[level][of_place], total[rows])
    return storeys


@dataclass(frozen=True, eq=False)
class Zones:
    """What the zones of some classes are once it is known where each is shown; lists by level, arrays by row.

    released : bool, whether the class is shown there, by which all else is given
    arrived : records that no place within shows, the count of the zone where it is shown
    from_part : the most of them that come from one row of the level below
    left : what is left of a quantity of the place (its areas, its people) without the zones within, the zone's own
    """

    released: list[np.ndarray]
    arrived: list[np.ndarray]
    from_part: list[np.ndarray]
    left: list[np.ndarray]


def zones_of(storeys: list[Storey], released: list[np.ndarray], size: list[np.ndarray]) -> Zones:
    """The zones; size : of each level, (n_places,) the quantity of each place that `left` is about."""
    arrived: list[np.ndarray] = []
    from_part, left = [], []
    passed, taken = np.empty(0, np.int64), np.empty(0)
    for storey, here, of_places in zip(storeys, released, size):
        above = storey.above
        most = np.zeros(len(storey), np.int64)
        np.maximum.at(most, above, passed)
        come = storey.alone + np.bincount(above, passed, len(storey)).astype(np.int64)
        within, whole = np.bincount(above, taken, len(storey)), of_places[storey.place]
        arrived.append(come)
        from_part.append(most)
        left.append(whole - within)
        passed, taken = np.where(here, 0, come), np.where(here, whole, within)
    return Zones(released, arrived, from_part, left)


def zone_of_cells(storeys: list[Storey], released: list[np.ndarray], n_cells: int) -> np.ndarray:
    """The zone of each cell, (n_cells,): the lowest row that shows its class, counted through all levels; -1 for none.

    `level_of_zones` says of which level a zone is.
    """
    zone = np.full(n_cells, -1, np.int64)
    first = _first_rows(storeys)
    around: np.ndarray = np.full(len(storeys[-1]), -1, np.int64)
    for level in range(len(storeys) - 1, -1, -1):
        storey = storeys[level]
        lowest = np.where(released[level], first[level] + np.arange(len(storey), dtype=np.int64), around)
        zone[storey.cell] = lowest[storey.row]
        around = np.repeat(lowest, storey.number)
    return zone


def level_of_zones(storeys: list[Storey], zone: np.ndarray) -> np.ndarray:
    """The level of each of some zones, -1 for none."""
    return np.where(zone >= 0, np.searchsorted(_first_rows(storeys), zone, side="right") - 1, -1)


def _first_rows(storeys: list[Storey]) -> np.ndarray:
    return np.cumsum([0, *(len(storey) for storey in storeys)], dtype=np.int64)[:-1]


def size_by_level(tree: Tree, size: np.ndarray) -> list[np.ndarray]:
    """Of each level, the sum of a quantity of the areas over each place; size : (n,)."""
    inside = tree.place >= 0
    sizes = [np.bincount(tree.place[inside], size[inside], len(tree.loss[0]))]
    for within, loss in zip(tree.within, tree.loss[1:]):
        sizes.append(np.bincount(within, sizes[-1], len(loss)))
    return sizes


def without_falls(tree: Tree) -> list[np.ndarray]:
    """The losses, nowhere less than in a place within, so that a smaller place is never the dearer one."""
    losses = [tree.loss[0]]
    for within, loss in zip(tree.within, tree.loss[1:]):
        most = loss.astype(float).copy()
        np.maximum.at(most, within, losses[-1])
        losses.append(most)
    return losses


def of_classes(storeys: list[Storey], chosen: np.ndarray) -> list[Storey]:
    """The storeys of some classes; chosen : (C,) bool."""
    return [storey.of_classes(chosen) for storey in storeys]


class ProofByPeople:
    """Which zones prove that 1 to k - 1 records are in some of their areas, by the people of these.

    people : (n,) of each area. Where a zone shows more records than it has people, the records are of other people, or
    several of one person: then nothing follows.
    """

    def __init__(self, tree: Tree, people: np.ndarray, k: int) -> None:
        self.k, self.people = k, np.floor(people).astype(np.int64)
        small = np.where(self.people < k, self.people, 0)
        self.all_people, self.small_people = (size_by_level(tree, of.astype(float)) for of in (self.people, small))
        self.place = [tree.place]
        for within in tree.within:
            self.place.append(np.append(within, -1)[self.place[-1]])

    def small_counts(self, storeys: list[Storey], released: list[np.ndarray]) -> list[np.ndarray]:
        """Of each level, (rows,) bool: whether a row shows its class and proves such a count."""
        zones, small = zones_of(storeys, released, self.all_people), zones_of(storeys, released, self.small_people).left
        proven = []
        for level, here in enumerate(released):
            others = zones.left[level] - zones.arrived[level]  # people of other classes
            may = here & (others >= 0) & (others < self.k - 1) & (small[level] > others)
            for row in np.flatnonzero(may).tolist():
                may[row] = self._proven(self._areas(storeys, released, level, row), int(others[row]))
            proven.append(may)
        return proven

    def _areas(self, storeys: list[Storey], released: list[np.ndarray], level: int, row: int) -> np.ndarray:
        """The areas of the zone of a row."""
        class_of, inside = storeys[level].class_of[row], self.place[level] == storeys[level].place[row]
        for place, storey, here in zip(self.place[:level], storeys, released):
            inside &= ~np.isin(place, storey.place[here & (storey.class_of == class_of)])
        return np.flatnonzero(inside)

    def _proven(self, areas: np.ndarray, others: int) -> bool:
        """Whether some of the areas together have fewer than k people, and more than there are of other classes."""
        sums = 1  # the numbers of people that some areas have together, as bits
        for people in self.people[areas][self.people[areas] < self.k].tolist():
            sums |= sums << people & (1 << self.k) - 1
        return sums >> others + 1 != 0
