"""What somebody who knows the method proves of updates: every small town, every release of it, month by month.

    PYTHONPATH=build/package .venv/bin/python benchmarks/updates_by_method.py [--draws 60] [--slow]

Of one class and a few areas all numbers of people up to a total are gone through. The first release is the nested one
of each; each further month is released by `core.releases.keeping` for every number of people again, many times over, as
it draws. Whoever sees the releases takes all people from whom they may come. A change of 1 to k - 1 is proven of some
areas, one or any several, between two months, if it is one in the same direction for all of them. Releases of
nearly as many people as were tried are left out: those of more people, which may come too, were not. In no month do the
people bear on what other months' may be, so pairs of months say what triples do. “Update alone” is somebody who knows
the method of updates, and of the first release only what it shows; “first alone” are first releases from which a small
count follows before there is any update. Without holding back, `core.releases.holding_back` is left out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from scipy import sparse

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.levels import Levels
from vbas.core.nesting.planning import nest
from vbas.core.profile import Profile
from vbas.core.releases.holding_back import Chances, held_back
from vbas.core.releases.keeping import Places, kept

TREES: dict[str, list[list[int]]] = {
    "two areas": [[0, 1], [0, 0]],
    "three areas": [[0, 1, 2], [0, 0, 0]],
    "three areas, two of them in a region": [[0, 1, 2], [0, 0, 1], [0, 0, 0]],
    "four areas in two regions": [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]],
}
CASES = (("two areas", 2, 10, 3), ("two areas", 3, 14, 2), ("three areas", 2, 9, 2))  # tree, k, most people, months
SLOW = (
    ("two areas", 3, 13, 3),
    ("three areas", 3, 11, 2),
    ("three areas, two of them in a region", 2, 9, 2),
    ("four areas in two regions", 2, 8, 2),
)
EVENLY = Chances(0.5, 0.5, 0.5)  # what may come of it is the same for all chances above 0
POINTS = np.array([[0, 0], [1, 0], [10, 0], [11, 0]], float)


@dataclass(frozen=True)
class Proven:
    """Of how many series of releases a change of a few is proven.

    series : releases month by month; by_method : those that prove one to who knows all; by_update : to who knows of the
    first release what it shows; first : first releases, and first_small, those from which a small count follows alone
    """

    series: int
    by_method: int
    by_update: int
    first: int
    first_small: int


@dataclass(frozen=True, eq=False)
class Town:
    """Areas under levels, and every number of people of one class in them, (W, n), up to a total."""

    levels: Sequence[Sequence[int]]
    k: int
    most: int
    people: np.ndarray

    @property
    def sizes(self) -> list[int]:
        return [max(regions) + 1 for regions in self.levels]

    def in_regions(self, people: np.ndarray) -> np.ndarray:
        """(N, n) people of areas -> (N, K) of the regions of all levels."""
        parts = []
        for regions, size in zip(self.levels, self.sizes):
            member = (np.array(regions)[:, None] == np.arange(size)).astype(np.int64)
            parts.append(people @ member)
        return np.column_stack(parts)

    def within(self, released: np.ndarray) -> np.ndarray:
        """(N, K) shown with labels -> (N, K) with labels and those within."""
        sums, first = released.copy(), np.cumsum([0, *self.sizes])
        for level in range(len(self.levels) - 1):
            for region, parent in enumerate(self.parents(level)):
                sums[:, first[level + 1] + parent] += sums[:, first[level] + region]
        return sums

    def parents(self, level: int) -> list[int]:
        return [self.levels[level + 1][self.levels[level].index(region)] for region in range(self.sizes[level])]

    def first_release(self) -> np.ndarray:
        """What the nested release of each number of people shows, (W, K)."""
        n_areas, number = self.people.shape[1], len(self.people)
        areas = make_areas([f"a{i}" for i in range(n_areas)], POINTS[:n_areas], np.ones(n_areas))
        names = np.array([f"c{i}" for i in range(number)], dtype=object)
        profile = Profile(sparse.csr_matrix(self.people.T), np.arange(number)[:, None], (names,), ("q",))
        crosswalks = (Crosswalk(np.array(regions), size) for regions, size in zip(self.levels, self.sizes))
        plan = nest(areas, profile, Levels(tuple(crosswalks)), self.k, "mean distance")
        released, first = np.zeros((number, sum(self.sizes)), np.int64), np.cumsum([0, *self.sizes])
        in_use = plan.released
        at = first[plan.level[in_use]] + plan.region[in_use]
        released[plan.class_of[in_use], at] = plan.records[in_use]
        return released

    def update(
        self, people: np.ndarray, earlier: Sequence[np.ndarray], chances: Chances | None, rng: np.random.Generator
    ) -> np.ndarray:
        """What the next month shows of each number of people, (N, K), after what earlier ones show, (N, K) each."""
        number, first = len(people), np.cumsum([0, *self.sizes])
        there, sums = self.in_regions(people), [self.within(released) for released in earlier]
        levels = []
        for level, size in enumerate(self.sizes):
            here = slice(first[level], first[level + 1])
            parent = np.full(number * size, -1)
            if level + 1 < len(self.sizes):
                around = np.array(self.parents(level))
                parent = (np.arange(number)[:, None] * self.sizes[level + 1] + around).reshape(-1)
            columns = [
                np.column_stack([numbers_there[:, here].reshape(-1) for numbers_there in of]) for of in (earlier, sums)
            ]
            levels.append(Places(np.arange(number * size), there[:, here].reshape(-1), parent, *columns))
        fewer = levels if chances is None else held_back(levels, rng, chances)
        return np.column_stack([released.reshape(number, -1) for released in kept(fewer, self.k, rng).released])


def proven(
    levels: Sequence[Sequence[int]], k: int, most: int, months: int, chances: Chances | None, draws: int
) -> Proven:
    """Over all people up to `most`, and so many months; chances : of holding back, None for not at all."""
    people = np.array([counts for counts in product(range(most + 1), repeat=len(levels[0])) if sum(counts) <= most])
    town, rng = Town(levels, k, most, people), np.random.default_rng(0)
    releases = town.first_release()
    firsts, of_first = np.unique(releases, axis=0, return_inverse=True)
    by_method = _Ranges.of(people, of_first.reshape(-1), len(firsts))
    by_reading = _read(town, firsts, by_method)
    tried = by_method.fewest <= most - 2 * k
    series = firsts[:, None, :]
    ranges = [(by_method, by_reading)]
    for _ in range(1, months):
        series, before, now = _next_month(town, series, chances, draws, rng)
        ranges = [*((method.at(before), read.at(before)) for method, read in ranges), (now, now)]
        tried = tried[before] & (now.fewest <= most - 2 * k)
    few = [np.zeros(len(series), bool), np.zeros(len(series), bool)]
    for (old, new), which in product(combinations(ranges, 2), (0, 1)):
        few[which] |= old[which].few_between(new[which], k)
    small = by_method.small(k) & (by_method.fewest <= most - 2 * k)
    counted = (few[0] & tried, few[1] & tried, by_method.fewest <= most - 2 * k, small)
    return Proven(int(tried.sum()), *(int(of.sum()) for of in counted))


def _next_month(
    town: Town, series: np.ndarray, chances: Chances | None, draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, _Ranges]:
    """All series with one month more, (S', m + 1, K); which of the series (S, m, K) each goes on; and its people."""
    before = np.repeat(np.arange(len(series)), len(town.people))
    of_people = np.tile(np.arange(len(town.people)), len(series))
    earlier = [series[before, month] for month in range(series.shape[1])]
    histories = np.empty((0, 2 + series.shape[2]), np.int64)
    for _ in range(draws):
        released = town.update(town.people[of_people], earlier, chances, rng)
        histories = np.unique(np.vstack([histories, np.column_stack([before, of_people, released])]), axis=0)
    pairs, seen = np.unique(np.delete(histories, 1, axis=1), axis=0, return_inverse=True)
    longer = np.concatenate([series[pairs[:, 0]], pairs[:, None, 1:]], axis=1)
    return longer, pairs[:, 0], _Ranges.of(town.people[histories[:, 1]], seen.reshape(-1), len(pairs))


@dataclass(frozen=True, eq=False)
class _Ranges:
    """The fewest and most people in any areas, (S, subsets), from whom each of S series may come; `fewest` in all."""

    least: np.ndarray
    largest: np.ndarray

    @classmethod
    def of(cls, people: np.ndarray, seen: np.ndarray, number: int) -> _Ranges:
        sums = np.column_stack([people[:, list(some)].sum(axis=1) for some in _subsets(people.shape[1])])
        least = np.full((number, sums.shape[1]), np.iinfo(np.int64).max)
        largest = np.full((number, sums.shape[1]), -1)
        np.minimum.at(least, seen, sums)
        np.maximum.at(largest, seen, sums)
        return cls(least, largest)

    @property
    def fewest(self) -> np.ndarray:
        return self.least[:, -1]

    def at(self, some: np.ndarray) -> _Ranges:
        return _Ranges(self.least[some], self.largest[some])

    def few_between(self, later: _Ranges, k: int) -> np.ndarray:
        low, high = later.least - self.largest, later.largest - self.least
        return np.any(((low >= 1) & (high < k)) | ((high <= -1) & (low > -k)), axis=1)

    def small(self, k: int) -> np.ndarray:
        return np.any((self.least >= 1) & (self.largest < k), axis=1)


def _subsets(n: int) -> Iterator[tuple[int, ...]]:
    """All areas last."""
    for size in range(1, n + 1):
        yield from combinations(range(n), size)


def _read(town: Town, firsts: np.ndarray, by_method: _Ranges) -> _Ranges:
    """The people from whom first releases may come, for all that they show: as many as that in each region, and no more
    in all, but for a few of a class that is not shown."""
    there, sums = town.in_regions(town.people), town.within(firsts)
    fits = (there[None] >= sums[:, None]).all(axis=2)
    total, released = town.people.sum(axis=1), sums[:, -1:]
    fits &= np.where(released > 0, total == released, total < town.k)
    which, people = np.nonzero(fits)
    return _Ranges.of(town.people[people], which, len(firsts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=60)
    parser.add_argument("--slow", action="store_true")
    asked = parser.parse_args()
    print("| areas | k | people | months | held back | series | proven | update alone | first alone | CPU s |")
    print("|---" * 10 + "|")
    for (tree, k, most, months), chances in product(CASES + (SLOW if asked.slow else ()), (None, EVENLY)):
        started = time.process_time()
        counted = proven(TREES[tree], k, most, months, chances, asked.draws)
        print(
            f"| {tree} | {k} | {most} | {months} | {'no' if chances is None else 'yes'} | {counted.series} | "
            f"{counted.by_method} | {counted.by_update} | {counted.first_small} of {counted.first} | "
            f"{time.process_time() - started:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
