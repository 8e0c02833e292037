"""Small counts that no table of people pins down, found by exchanges of a few people.

Who is in truth where is one table of people that fits all that is known. Another one differs from it by an exchange:
some people of one area and class for as many of another class; and in another area the same the other way round. Where
an exchange leaves nobody in a count, or puts k and more there, and fits all that is known, the count is free.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..dataclass import dataclass
from .block import Block, Family, Joined
from .overlay import NONE

AT_ONCE = 1_000_000


@dataclass(frozen=True, eq=False)
class Places:
    """Counts of 1 to k - 1 people of one class in some areas: of an area, a region, what is left of it, or a zone.

    part_of : (n, u) int64 the part in which each area and class counts, NONE for none
    part, class_of, people : (q,) int64 of each count; area : (q,) the area that has most of its people
    level : beyond whose regions people must be exchanged for that
    within : a level in whose regions the parts lie, NONE where each is one area, None where they may lie in several
    group_of : (u,) where levels show coarser values, the class there of each class, all of which count as one then;
    class_of is that of which the area has most people
    """

    part_of: np.ndarray
    part: np.ndarray
    class_of: np.ndarray
    people: np.ndarray
    area: np.ndarray
    level: int
    within: int | None = None
    group_of: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.part)

    def some(self, at: np.ndarray) -> Places:
        """Some of them."""
        return replace(self, part=self.part[at], class_of=self.class_of[at], people=self.people[at], area=self.area[at])

    def joined(self, by: Joined) -> Places | None:
        """The same counts of joined areas, None where a count has only some of a kind."""
        if len(by.first) == len(by.kind):
            return None
        of = np.arange(self.part_of.shape[1], dtype=np.int64) if self.group_of is None else self.group_of
        asked = self.part_of[:, np.isin(of, of[self.class_of])]
        if not np.array_equal(asked, asked[by.first][by.kind]):
            return None
        return replace(self, part_of=self.part_of[by.first], area=by.kind[self.area])

    def areas(self, number: int) -> np.ndarray:
        """The areas of a count."""
        return np.flatnonzero(self.inside(number).any(axis=1))

    def classes(self, number: int) -> np.ndarray:
        """The classes of a count, positions in the block, ascending."""
        if self.group_of is None:
            return self.class_of[[number]]
        return np.flatnonzero(self.group_of == self.group_of[self.class_of[number]])

    def inside(self, number: int) -> np.ndarray:
        """Of each area and class of `classes`, whether its people are in a count, bool."""
        return self.part_of[:, self.classes(number)] == self.part[number]


def places_of(block: Block) -> Iterator[Places]:
    """All counts of 1 to k - 1 people that are asked about: of each class in each area, in each region of each level
    that shows classes as they are, in what smaller regions leave of it that show the class, and in each zone of a
    table; and of each class of a level that shows coarser values in the same areas, regions and zones.
    """
    areas_first = block.storeys.areas_first
    n_areas = int(block.storeys.region_of[0].max(initial=NONE)) + 1 if areas_first else block.n
    for table in block.tables:
        if table.n_regions < n_areas:
            yield _small(block, np.where(table.region[:-1] < table.n_regions, table.region[:-1], NONE), 0)
    for level in reversed(block.as_they_are):
        yield _small(block, block.storeys.region_of[level], level, level)
    if not areas_first and (not block.as_they_are or block.families[0].n_regions < block.n):
        yield _small(block, np.arange(block.n, dtype=np.int64), NONE, NONE)
    yield from left_places_of(block, np.ones(block.u, bool))
    for group_of in _coarser(block):
        for table in block.tables:
            of_table = np.where(table.region[:-1] < table.n_regions, table.region[:-1], NONE)
            yield _small(block, of_table, 0, group_of=group_of)
        for level in reversed(block.as_they_are):
            yield _small(block, block.storeys.region_of[level], level, level, group_of=group_of)
        yield _small(block, np.arange(block.n, dtype=np.int64), NONE, NONE, group_of=group_of)


def _coarser(block: Block) -> list[np.ndarray]:
    """Of the levels that show coarser values the class there of each class, (u,), each once."""
    every = [of for of, as_it_is in zip(block.group_of, block.storeys.class_of) if as_it_is is not None]
    return list({of.tobytes(): of for of in every}.values())


def left_places_of(block: Block, classes: np.ndarray) -> Iterator[Places]:
    """The counts of some classes, (u,) bool, in what is left of regions without smaller ones that show the class."""
    covered = np.zeros((block.n, block.u), bool)
    for level in block.as_they_are:
        region, released = block.storeys.region_of[level], block.released[level]
        left = np.zeros(released.shape, bool)
        at, of = np.nonzero(covered & (region[:, None] >= 0))
        left[region[at], of] = True
        if left.any():
            small = _small(block, np.where(covered, NONE, region[:, None]), level - 1, level, classes)
            yield small.some(np.flatnonzero(left[small.part, small.class_of]))
        inside = np.flatnonzero(region >= 0)
        covered[inside] |= released[region[inside]] > 0


def _small(
    block: Block,
    part_of: np.ndarray,
    level: int,
    within: int | None = None,
    classes: np.ndarray | None = None,
    group_of: np.ndarray | None = None,
) -> Places:
    """The counts of 1 to k - 1 people of parts.

    part_of : (n,) or (n, u); level, within, group_of : as in Places; classes : (u,) bool, all where None
    """
    people = block.people[:-1, :-1]
    part_of = np.broadcast_to(part_of if part_of.ndim == 2 else part_of[:, None], people.shape)
    area, class_of = np.nonzero(people if classes is None else people * classes)
    part = part_of[area, class_of]
    there = part >= 0
    part, area, class_of = part[there], area[there], class_of[there]
    people = block.people[area, class_of]
    counted_as = class_of if group_of is None else group_of[class_of]
    keys, at = np.unique(part * block.u + counted_as, return_inverse=True)
    at = at.reshape(-1)
    total = np.bincount(at, people, len(keys)).astype(np.int64)
    order = np.lexsort((-people, at))
    first = order[np.flatnonzero(np.diff(at[order], prepend=-1))]
    few = total < block.k
    if group_of is not None:  # a class by itself is asked about as it is
        few &= (np.bincount(group_of) > 1)[keys % block.u]
    own = class_of[first][few]
    return Places(part_of, keys[few] // block.u, own, total[few], area[first][few], level, within, group_of)


def freed_by_exchange(block: Block, places: Places) -> np.ndarray:
    """Which counts an exchange frees, (q,) bool, with whichever area."""
    free = np.zeros(len(places), bool)
    if places.group_of is not None:
        return free  # exchanges are of one class: others of its group may take what it gives
    part_of = np.pad(places.part_of, ((0, 1), (0, 1)), constant_values=-2)
    # Only who is there can be exchanged: most areas have nobody of most classes.
    others, companies = np.nonzero(block.people)
    there = block.people[others, companies]
    step = max(1, AT_ONCE // max(len(others), 1))
    known = block.known
    for first in range(0, len(places), step):
        at = slice(first, first + step)
        area, class_of, people = places.area[at], places.class_of[at], places.people[at]
        elsewhere = places.part[at][:, None] != part_of[:, class_of].T
        alone = block.people[area, class_of] == people
        for fewer in (False, True):
            number = people if fewer else block.k - people
            asked = np.flatnonzero(~free[at] & alone if fewer else ~free[at])
            wanted = zip(*(column.tolist() for column in (asked, area[asked], class_of[asked], number[asked])))
            exchanges = [
                _of_many(there, others, companies, elsewhere[count], n)
                if fewer
                else _of_one_class(block.people, own, of, elsewhere[count], n)
                for count, own, of, n in wanted
            ]
            if not exchanges:
                continue
            who = np.repeat(asked, [len(where) for where, _ in exchanges])
            where, company = (np.concatenate(arrays) for arrays in zip(*exchanges))
            i, c, some = area[who], class_of[who], number[who]
            if fewer:
                fits = exchange_fits(known, block.people, i, c, where, company, some)
            else:
                fits = exchange_fits(known, block.people, i, company, where, c, some)
            free[first + who[fits & (company != c)]] = True
    return free


def _of_many(
    there: np.ndarray, others: np.ndarray, companies: np.ndarray, elsewhere: np.ndarray, number: int
) -> tuple[np.ndarray, np.ndarray]:
    """Areas elsewhere and classes of which they have so many people, pair by pair."""
    at = np.flatnonzero((there >= number) & elsewhere[others])
    return others[at], companies[at]


def _of_one_class(
    people: np.ndarray, area: int, class_of: int, elsewhere: np.ndarray, number: int
) -> tuple[np.ndarray, np.ndarray]:
    """Areas elsewhere with so many people of a class, and classes of which an area has so many, pair by pair."""
    others = np.flatnonzero(elsewhere & (people[:, class_of] >= number))
    companies = np.flatnonzero(people[area] >= number)
    return np.repeat(others, len(companies)), np.tile(companies, len(others))


def exchange_fits(
    known: Sequence[Family],
    people: np.ndarray,
    area: np.ndarray,
    class_of: np.ndarray,
    other: np.ndarray,
    company: np.ndarray,
    number: np.ndarray,
) -> np.ndarray:
    """Whether so many people of an area may be of the class `company` in place of `class_of`, and as many of another
    area of `class_of` in place of `company`; (q,) bool of (q,) arrays.
    """
    at = np.flatnonzero((people[area, class_of] >= number) & (people[other, company] >= number))
    for family in known:
        here, there = family.region[area[at]], family.region[other[at]]
        own, its = family.group[class_of[at]], family.group[company[at]]
        moved = (here != there) & (own != its)
        few = number[at]
        fits = (
            (family.down[here, own] >= few)
            & (family.up[here, its] >= few)
            & (family.down[there, its] >= few)
            & (family.up[there, own] >= few)
        )
        at = at[~moved | fits]
    possible = np.zeros(len(area), bool)
    possible[at] = True
    return possible
