"""Small counts that one exchange of people of two areas and two classes frees, found for all counts of a block at once.

Levels are nested: what two areas exchange changes the sums of the regions around each of them, up to the smallest one
around both. So how many people of each area and class can move as far as a level is handed up from level to level, and
of every region only the best part that is not the area's own is asked.
"""

from __future__ import annotations

import numpy as np

from .block import Block
from .count_tables import NONE
from .exchanges import Places


class Exchanges:
    """How many people every area can give away of a class, and take of it, by exchanges beyond each level.

    given, taken : (levels + 1, n, u) int32 of exchanges with areas beyond the regions of a level, or of people whom no
    level counts; single areas come first; no more than k
    """

    def __init__(self, block: Block, classes: np.ndarray | None = None) -> None:
        """classes : (c,) positions of those that are asked about, all where None."""
        self._order = block.order
        asked = np.arange(block.u) if classes is None else classes
        steps = _steps(block)
        self.given = np.zeros((len(steps), block.n, block.u), np.int32)
        self.taken = np.zeros_like(self.given)
        alike = [np.flatnonzero(like) for like in _alike(block, asked)]
        # What an area can lose and gain without a change of any sum of the levels so far, in the order of the block.
        down = np.minimum(block.people[:-1, :-1], block.k).astype(np.int32)[block.order]
        up = np.full(down.shape, block.k, np.int32)
        outside = block.storeys.region_of[0][block.order] < 0
        down[outside], up[outside] = 0, 0
        for number, (part, around) in enumerate(steps):
            if number:
                family = block.families[number - 1]
                at = np.ix_(family.region[block.order], family.group[:-1])
                np.minimum(down, np.minimum(family.down[at], block.k), out=down, casting="unsafe")
                np.minimum(up, np.minimum(family.up[at], block.k), out=up, casting="unsafe")
            starts = np.flatnonzero(np.diff(part, prepend=-2))
            group = np.cumsum(np.diff(around[starts], prepend=-2) != 0) - 1
            if len(starts) < 2 or not (np.bincount(group) > 1).any():
                continue
            own = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(part)))
            for class_of, company in zip(asked.tolist(), alike):
                if len(company):
                    self._exchange(number, down, up, class_of, company, starts, group, own)
        for class_of, company in zip(asked.tolist(), alike):
            if len(company):  # what no level knows of can change alone
                for mine, other, found in ((down, up, self.given), (up, down, self.taken)):
                    alone = np.minimum(mine[:, class_of], other[:, company].max(axis=1))
                    found[-1, block.order, class_of] = np.maximum(found[-1, block.order, class_of], alone)
        for found in (self.given, self.taken):
            np.maximum.accumulate(found[::-1], axis=0, out=found[::-1])

    def _exchange(
        self,
        number: int,
        down: np.ndarray,
        up: np.ndarray,
        class_of: int,
        company: np.ndarray,
        starts: np.ndarray,
        group: np.ndarray,
        own: np.ndarray,
    ) -> None:
        """People of a class for people of others, between parts of the same region."""
        less, more = down[:, [class_of]], up[:, [class_of]]
        gives = np.minimum(less, up[:, company])  # of the class, and takes company
        takes = np.minimum(more, down[:, company])
        for best, mine, found in ((takes, gives, self.given), (gives, takes, self.taken)):
            others = _best_of_others(np.maximum.reduceat(best, starts, axis=0), group)
            found[number, self._order, class_of] = np.minimum(mine, others[own]).max(axis=1)


def _best_of_others(best: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Of each part (p, c) the best among the others of its group; group : (p,) numbers that grow."""
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    first = np.maximum.reduceat(best, starts, axis=0)[group]
    is_first = best == first
    tied = np.add.reduceat(is_first, starts, axis=0, dtype=np.int32)[group] > 1
    second = np.maximum.reduceat(np.where(is_first, 0, best), starts, axis=0)[group]
    return np.where(is_first & ~tied, second, first)


def _steps(block: Block) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of areas in the order of the block, the parts that exchange people and the regions around them: first areas in
    regions of the first level, in the end regions of the last level in the whole."""
    regions = [region[block.order] for region in block.storeys.region_of]
    parts = [np.arange(block.n), *regions]
    return list(zip(parts, [*regions, np.zeros(block.n, np.int64)]))


def _alike(block: Block, asked: np.ndarray) -> np.ndarray:
    """For classes, which others count in the very same totals of all tables, (c, u) bool."""
    alike = np.arange(block.u) != asked[:, None]
    for table in block.tables:
        group = table.group[:-1]
        alike &= group == group[asked][:, None]
    return alike


def freed_beyond(exchanges: Exchanges, block: Block, places: Places) -> np.ndarray:
    """Which counts an exchange with areas beyond the regions around them frees, (q,) bool."""
    if places.within is None or not len(places):
        return np.zeros(len(places), bool)
    step = places.within + 1
    given, taken = exchanges.given[step], exchanges.taken[step]
    alone = block.people[places.area, places.class_of] == places.people
    free = alone & (given[places.area, places.class_of] >= places.people)
    best = np.zeros((int(places.part_of.max(initial=NONE)) + 1, block.u), np.int32)
    area, class_of = np.nonzero((places.part_of >= 0) & (taken > 0))
    np.maximum.at(best, (places.part_of[area, class_of], class_of), taken[area, class_of])
    return free | (best[places.part, places.class_of] >= block.k - places.people)
