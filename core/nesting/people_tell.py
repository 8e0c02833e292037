"""What the count of a zone and the people of its areas prove together.

Of m records in a zone of S people the others than some of its areas hold at most their people: those areas, with p
people, hold at least m - (S - p) records. Where p is below k, that is a count of 1 to k - 1 as soon as fewer than p
people of the whole zone are not in the class.
"""

from __future__ import annotations

import numpy as np

from .tree import Tree
from .zones import Storey, size_by_level, zones_of


class PeopleTell:
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

    def small_counts(self, storeys: list[Storey], shown: list[np.ndarray]) -> list[np.ndarray]:
        """Of each level, (rows,) bool: whether a row shows its class and proves such a count."""
        zones, small = zones_of(storeys, shown, self.all_people), zones_of(storeys, shown, self.small_people).left
        told = []
        for level, here in enumerate(shown):
            others = zones.left[level] - zones.arrived[level]  # people of other classes
            may = here & (others >= 0) & (others < self.k - 1) & (small[level] > others)
            for row in np.flatnonzero(may).tolist():
                may[row] = self._proven(self._areas(storeys, shown, level, row), int(others[row]))
            told.append(may)
        return told

    def _areas(self, storeys: list[Storey], shown: list[np.ndarray], level: int, row: int) -> np.ndarray:
        """The areas of the zone of a row."""
        class_of, inside = storeys[level].class_of[row], self.place[level] == storeys[level].place[row]
        for place, storey, here in zip(self.place[:level], storeys, shown):
            inside &= ~np.isin(place, storey.place[here & (storey.class_of == class_of)])
        return np.flatnonzero(inside)

    def _proven(self, areas: np.ndarray, others: int) -> bool:
        """Whether some of the areas together have fewer than k people, and more than there are of other classes."""
        sums = 1  # the numbers of people that some areas have together, as bits
        for people in self.people[areas][self.people[areas] < self.k].tolist():
            sums |= sums << people & (1 << self.k) - 1
        return sums >> others + 1 != 0
