"""What follows from a nested release for somebody who takes it that each class is shown as finely as it can be.

The release shows m records of a class in a region. How many of them live in a part of it (a region of the level below,
or an area)? Had the part k of them or more, they would be shown there, unless too few were left to go anywhere for
less. So the part has fewer than k, or so many that the rest could not do without them; where the class is shown in a
larger region around this one, the rest could have joined that, at a cost that is known. All parts together hold m. What
is left is a bound of each part (methods: section 13). A bound errs where a release is not quite the optimum, or where
regions were drawn to show less than they could, as under DISCLOSURE.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from ..dataclass import dataclass
from .zone_tables import ReleasedClasses


@dataclass(frozen=True, eq=False)
class MethodBounds:
    """Bounds of the parts of the regions that show a class above level 1, arrays (p,).

    released : the position of what is shown, as it was given; part : the region of the level below; areas : inhabited
    areas of the part that do not show the class at level 1; low, high : of the records that are shown and live there
    """

    released: np.ndarray
    part: np.ndarray
    areas: np.ndarray
    low: np.ndarray
    high: np.ndarray
    k: int

    @property
    def small(self) -> np.ndarray:
        """Which parts are bounded within 1 to k - 1, (p,) bool."""
        return (self.low >= 1) & (self.high < self.k)

    @property
    def n_areas(self) -> int:
        """Single areas that are bounded within 1 to k - 1."""
        return int((self.small & (self.areas == 1)).sum())

    @property
    def n_parts(self) -> int:
        """Parts of several areas that are."""
        return int((self.small & (self.areas > 1)).sum())


def method_bounds(released: ReleasedClasses, people: np.ndarray, losses: Sequence[np.ndarray], k: int) -> MethodBounds:
    """The bounds; people : (n,) of each area; losses : of each level, (n_regions,) what a record loses in each."""
    index = _Index(released, people)
    parts = [_parts_of(index, level, losses, k) for level in range(1, len(released.levels))]
    columns = [np.concatenate(column) for column in zip(*parts)] if parts else [np.empty(0, np.int64)] * 6
    at, part, areas, few, least, most = columns
    starts = np.flatnonzero(np.diff(at, prepend=-1))
    low, high = np.zeros_like(at), np.zeros_like(at)
    numbers = np.column_stack([few, least, most])
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(at)]):
        order = np.lexsort(numbers[start:stop].T)
        own = start + order
        held = tuple(map(tuple, numbers[own].tolist()))
        low[own], high[own] = _bounds(int(released.records[at[start]]), held)
    return MethodBounds(at, part, areas, low, high, k)


class _Index:
    """What is shown, to be looked up by level, region and class, and the areas that do not show a class themselves."""

    def __init__(self, released: ReleasedClasses, people: np.ndarray) -> None:
        self.released, self.levels = released, released.levels
        self._first = released.levels.first_regions()
        self._n_classes = int(released.class_of.max(initial=-1)) + 1
        keys = self._key(released.level, released.region, released.class_of)
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]
        inhabited = people > 0
        self.inhabited = [
            np.bincount(region_of[inhabited & (region_of >= 0)], minlength=crosswalk.n_regions)
            for region_of, crosswalk in zip(released.levels.region_of, released.levels.crosswalks)
        ]

    def _key(self, level: np.ndarray | int, region: np.ndarray, class_of: np.ndarray) -> np.ndarray:
        return (self._first[level] + region) * self._n_classes + class_of

    def position(self, level: int, region: np.ndarray, class_of: np.ndarray) -> np.ndarray:
        """Where a class is shown in a region of a level, -1 for nowhere."""
        key = self._key(level, region, class_of)
        at = np.searchsorted(self._keys, key)
        known = np.append(self._keys, -1)[at] == key
        return np.where(known, np.append(self._order, -1)[at], -1)

    def free_areas(self, level: int, region: np.ndarray, class_of: np.ndarray) -> np.ndarray:
        """Inhabited areas of regions that do not show a class at level 1, counted."""
        released = self.released
        finest = np.flatnonzero(released.level == 0)
        around = released.region[finest]
        for below in range(level):
            around = self.levels.parents(below)[around]
        keys, at = np.unique(around * self._n_classes + released.class_of[finest], return_inverse=True)
        showing = np.bincount(at.reshape(-1), self.inhabited[0][released.region[finest]], len(keys)).astype(np.int64)
        key = region * self._n_classes + class_of
        where = np.searchsorted(keys, key)
        there = np.append(keys, -1)[where] == key
        return self.inhabited[level][region] - np.where(there, np.append(showing, 0)[where], 0)


def _parts_of(index: _Index, level: int, losses: Sequence[np.ndarray], k: int) -> tuple[np.ndarray, ...]:
    """The parts of what is shown at a level: its position, the part, its free areas, and the numbers that it may hold:
    0 to the first, or from the second to the third."""
    released, levels = index.released, index.levels
    here = np.flatnonzero(released.level == level)
    parents = levels.parents(level - 1)
    children = np.argsort(parents, kind="stable")
    starts = np.searchsorted(parents[children], np.arange(levels.crosswalks[level].n_regions + 1, dtype=np.int64))
    number = np.diff(starts)[released.region[here]]
    at = np.repeat(here, number)
    ends = np.cumsum(number)
    part = children[np.arange(len(at), dtype=np.int64) - np.repeat(ends - number, number) + starts[released.region[at]]]
    class_of, records = released.class_of[at], released.records[at]
    areas = index.free_areas(level - 1, part, class_of)
    shows = index.position(level - 1, part, class_of) >= 0
    own, around = losses[level - 1][part], _loss_around(index, level, at, losses)
    dearer, loss = own < losses[level][released.region[at]], losses[level][released.region[at]]
    few = np.where(shows, 0, np.minimum(k - 1, records))
    # So many that the rest, fewer than k, would have to go elsewhere: for nothing less than what all cost here.
    most_rest = np.minimum(k - 1, records - np.where(shows, 1, k))
    least_rest = np.ones(len(at), np.int64)
    for rest in range(1, k):
        least_rest += (records - rest) * own + rest * around < records * loss
    least, most = records - most_rest, records - least_rest
    least, most = np.where(least <= most, least, 0), np.where(least <= most, most, -1)
    any_number = ~dearer
    few = np.where(areas == 0, 0, np.where(any_number, records, few))
    none = (areas == 0) | any_number
    return at, part, areas, few, np.where(none, 0, least), np.where(none, -1, most)


def _loss_around(index: _Index, level: int, at: np.ndarray, losses: Sequence[np.ndarray]) -> np.ndarray:
    """The loss of the smallest region around that shows the class, infinite for none."""
    released = index.released
    region, loss = released.region[at], np.full(len(at), np.inf)
    for higher in range(level + 1, len(index.levels)):
        region = index.levels.parents(higher - 1)[region]
        known = index.position(higher, region, released.class_of[at]) >= 0
        loss = np.where(np.isinf(loss) & known, losses[higher][region], loss)
    return loss


Held = tuple[int, int, int]


@lru_cache(maxsize=200_000)
def _bounds(records: int, held: tuple[Held, ...]) -> tuple[list[int], list[int]]:
    """The least and the most of each part, all parts together holding so many; 0 and all where nothing fits."""
    whole = (1 << records + 1) - 1
    before, after = [1], [1]
    for own in held[:-1]:
        before.append(_plus(before[-1], own) & whole)
    for own in held[:0:-1]:
        after.append(_plus(after[-1], own) & whole)
    low, high = [], []
    for own, left, right in zip(held, before, reversed(after)):
        others = _sums(left, right) & whole
        fits = [number for number in _numbers(own) if number <= records and others >> records - number & 1]
        low.append(min(fits, default=0))
        high.append(max(fits, default=records))
    return low, high


def _numbers(held: Held) -> Iterator[int]:
    few, least, most = held
    yield from range(few + 1)
    yield from range(max(least, few + 1), most + 1)


def _plus(sums: int, held: Held) -> int:
    """The sums of a number of a set, as bits, and one that a part may hold."""
    few, least, most = held
    both = smeared(sums, few)
    return both | (smeared(sums, most - least) << least) if most >= least else both


def smeared(bits: int, steps: int) -> int:
    """All sums of a number of a set and one of 0 to `steps`."""
    reach = 0
    while reach < steps:
        step = min(reach + 1, steps - reach)
        bits |= bits << step
        reach += step
    return bits


def _sums(some: int, others: int) -> int:
    """All sums of a number of either set."""
    sums, shift = 0, 0
    while others >> shift:
        zeros = (others >> shift & -(others >> shift)).bit_length() - 1
        run = (~(others >> shift + zeros) & (others >> shift + zeros) + 1).bit_length() - 1
        sums |= smeared(some, run - 1) << shift + zeros
        shift += zeros + run
    return sums
