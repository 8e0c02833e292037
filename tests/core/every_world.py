"""Whoever goes through every table of people, in whole numbers, that fits what is published: what is so in all of them.

It reads releases by what they publish, and uses none of the rooms that look for small counts: neither their sums nor
their programs. People are those of each area and class; a class is its values by the names that releases use.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product

import numpy as np

from vbas.core.areas import make_areas
from vbas.core.crosswalk import number_compactly
from vbas.core.disclosure.count_tables import own_totals, published_table
from vbas.core.disclosure.published import Published
from vbas.core.generalising.table import HierarchyTable
from vbas.core.levels import Levels, make_levels, own_regions
from vbas.core.nesting.decoys import Conditions, Secrets
from vbas.core.nesting.planning import nest
from vbas.core.plan import Plan, suppress
from vbas.core.profile import Profile
from vbas.core.releases.relating import Relating

from .release_cases import profile_over

MOST = 200_000  # tables that are gone through
Class = Mapping[str, str]
Sum = tuple[Sequence[int], int, int]  # positions among areas x classes, the least and the most of their people
ANY = 10**6


class TooMany(Exception):
    """There are more tables than anybody goes through."""


def every_table(n: int, sums: Sequence[Sum], most: int) -> np.ndarray:
    """All whole numbers from 0 to most, (tables, n), whose sums are within bounds."""
    matrix = np.zeros((len(sums), n), np.int64)
    for row, (members, _, _) in enumerate(sums):
        matrix[row, list(members)] = 1
    low, high = (np.array([one[side] for one in sums], np.int64) for side in (1, 2))
    limit = np.full(n, most)
    for row, own in zip(matrix, high):
        limit = np.where(row > 0, np.minimum(limit, own), limit)
    tables, so_far = np.zeros((1, 0), np.int16), np.zeros((1, len(sums)), np.int64)
    order: list[int] = []
    while len(order) < n:  # next the unknown whose sums have the fewest others left
        left = [at for at in range(n) if at not in order]
        lacking = matrix[:, left].sum(axis=1)
        fewest = [min(lacking[(matrix[:, at] > 0) & (high < ANY)], default=n) for at in left]
        at = left[int(np.argmin(fewest))]
        order.append(at)
        still = matrix[:, [other for other in left if other != at]] @ limit[[other for other in left if other != at]]
        value = np.tile(np.arange(limit[at] + 1), len(tables))
        now = np.repeat(so_far, limit[at] + 1, axis=0) + value[:, None] * matrix[:, at]
        kept = ((now <= high) & (now + still >= low)).all(axis=1)
        tables = np.column_stack([np.repeat(tables, limit[at] + 1, axis=0)[kept], value[kept].astype(np.int16)])
        so_far = now[kept]
        if len(tables) > MOST:
            raise TooMany
    return tables[:, np.argsort(order)]


class Reader:
    """What somebody knows who reads a release; a table of counts is one, too."""

    def __init__(self, release: Published) -> None:
        self.release, self.names = release, release.quasi_identifiers
        self.regions = [np.asarray(of) for of in release.levels.region_of]
        columns = [of[codes] for of, codes in zip(release.categories, release.classes.T)]
        values = [tuple(column[row] for column in columns) for row in range(len(release.classes))]
        shown = zip(*(of.tolist() for of in (release.level, release.region, release.class_of, release.records)))
        self.shown = {(level, region, values[of]): records for level, region, of, records in shown}
        self.values = [set(of.tolist()) for of in columns]

    def of(self, person: Class) -> tuple[str, ...]:
        """The values by which it shows somebody of a class."""
        return tuple(person[name] for name in self.names)

    def without_period(self, values: tuple[str, ...]) -> tuple[str, ...]:
        """The same, but for the period of a release whose classes are the same in all."""
        return tuple(value for name, value in zip(self.names, values) if name != self.release.period)

    def groups(self, classes: Sequence[Class]) -> dict[tuple[str, ...], list[int]]:
        """The classes that it shows as one."""
        groups: dict[tuple[str, ...], list[int]] = {}
        for number, person in enumerate(classes):
            groups.setdefault(self.of(person), []).append(number)
        return groups

    def sums(self, classes: Sequence[Class]) -> Iterable[Sum]:
        """What it says of the people."""
        last, release = len(self.regions) - 1, self.release
        if release.counts_from is not None:
            low = dict(zip(self.shown, release.counts_from.tolist()))
        for values, members in self.groups(classes).items():
            base = self.without_period(values)
            for region in sorted(set(self.regions[last].tolist()) - {-1}):
                around = self.regions[last] == region
                if release.counts_from is not None:
                    if (0, region, values) in self.shown:
                        yield _of(around, members, classes), low[0, region, values], self.shown[0, region, values]
                    continue
                within = {
                    (level, part): self.shown.get((level, part, values), 0)
                    for level, part, other in self.shown
                    if self.without_period(other) == base and around[self.regions[level] == part].any()
                }
                if within:
                    yield _of(around, members, classes), sum(within.values()), sum(within.values())
                elif release.bounded:
                    yield _of(around, members, classes), 0, release.k - 1
                for level, part in within:
                    inside = self.regions[level] == part
                    fine = [at for at in within if at[0] <= level and inside[self.regions[at[0]] == at[1]].all()]
                    least = sum(within[at] for at in fine)
                    whole = release.in_zones or inside.sum() == 1
                    yield _of(inside, members, classes), least, least if whole else ANY

    def within(self, areas: np.ndarray, classes: Sequence[Class], some: Sequence[int]) -> int:
        """How many people it shows wholly within some areas and classes; of a table of counts nobody takes any away."""
        if self.release.counts_from is not None:
            return 0
        groups = self.groups(classes)
        return sum(
            records
            for (level, region, values), records in self.shown.items()
            if set(groups[values]) <= set(some) and areas[self.regions[level] == region].all()
        )


def _of(areas: np.ndarray, members: Sequence[int], classes: Sequence[Class]) -> list[int]:
    return [area * len(classes) + one for area in np.flatnonzero(areas).tolist() for one in members]


def tables_of(readers: Sequence[Reader], classes: Sequence[Class], n: int, more: Iterable[Sum] = ()) -> np.ndarray:
    """All people, (tables, n, C), who fit what is read, and more sums."""
    sums = [one for reader in readers for one in reader.sums(classes)] + list(more)
    known = [low for _, low, _ in sums] + [high for _, _, high in sums if high < ANY]
    tables = every_table(n * len(classes), sums, max(known, default=0) + 1)
    return tables.reshape(len(tables), n, len(classes))


def places_of(readers: Sequence[Reader]) -> list[np.ndarray]:
    """Areas that lie in the same regions of all, regions, and what two of them have in common, or one has alone."""
    columns = [of for reader in readers for of in reader.regions]
    regions = {tuple((of == region).tolist()) for of in columns for region in set(of.tolist()) - {-1}}
    places = set(regions)
    for row in np.column_stack(columns):
        if (row >= 0).any():
            places.add(tuple(np.logical_and.reduce([of == region for of, region in zip(columns, row)]).tolist()))
    for one, other in combinations([np.array(region) for region in sorted(regions)], 2):
        places |= {tuple(some.tolist()) for some in (one & other, one & ~other, other & ~one)}
    return [np.array(place) for place in sorted(places) if any(place)]


def groups_of(readers: Sequence[Reader], classes: Sequence[Class]) -> list[tuple[int, ...]]:
    """Classes by themselves, those that some release shows as one, and all."""
    groups = {(one,) for one in range(len(classes))} | {tuple(range(len(classes)))}
    return sorted(groups | {tuple(own) for reader in readers for own in reader.groups(classes).values()})


def pinned(
    tables: np.ndarray,
    asked: Iterable[tuple[np.ndarray, Sequence[int]]],
    k: int,
    readers: Sequence[Reader] = (),
    classes: Sequence[Class] = (),
) -> dict[tuple[tuple[int, ...], tuple[int, ...], int], tuple[int, int]]:
    """What is 1 to k - 1 in all tables, by areas, classes and how many are taken away: between which numbers it lies.

    asked : (n,) bool of areas, and classes; readers : of what they show there people are taken away, too
    """
    told = {}
    for areas, some in asked:
        people = tables[:, areas][:, :, list(some)].sum(axis=(1, 2))
        for taken in {0, *(reader.within(areas, classes, some) for reader in readers)}:
            low, high = int(people.min()) - taken, int(people.max()) - taken
            if low >= 1 and high < k:
                told[tuple(np.flatnonzero(areas).tolist()), tuple(some), taken] = low, high
    return told


COARSE = {"0": "A", "1": "A", "2": "B"}
Q = HierarchyTable("q", {value: (coarse,) for value, coarse in COARSE.items()})


class Town:
    """A few people of a few areas by p and q, and releases of them."""

    def __init__(self, rng: np.random.Generator, most: int = 14) -> None:
        self.rng, self.n = rng, int(rng.integers(2, 5))
        n_p, n_q = 3, 3
        while n_p * n_q * self.n > most:
            n_p, n_q = int(rng.integers(1, 3)), int(rng.integers(1, 4))
        self.values = [(p, q) for p in "xy"[:n_p] for q in "012"[:n_q]]
        shares = rng.dirichlet(np.full(self.n * len(self.values), 0.8))
        self.people = rng.multinomial(int(rng.integers(6, 28)), shares).reshape(self.n, -1)
        identifiers = [f"a{area}" for area in range(self.n)]
        self.areas = make_areas(identifiers, rng.integers(0, 100, (self.n, 2)) * 10.0, np.ones(self.n), in_metres=True)

    def profile(self, names: tuple[str, ...], coarse: bool) -> Profile:
        """Those who are there by some of the fields, q as it is or coarser."""
        of = [tuple({"p": p, "q": COARSE[q] if coarse else q}[name] for name in names) for p, q in self.values]
        used = sorted({one for one, number in zip(of, self.people.sum(axis=0)) if number})
        counts = np.column_stack([self.people[:, [one == own for own in of]].sum(axis=1) for one in used])
        return profile_over(counts, used, names)

    def levels(self, nested: bool) -> Levels:
        """Regions of one level, in which an area may be missing, or of several."""
        if not nested:
            region_of = self.rng.integers(-1 if self.rng.random() < 0.15 else 0, max(2, self.n - 1), self.n)
            region_of[0] = max(region_of[0], 0)
            return Levels((number_compactly(region_of)[0],))
        crosswalks = [own_regions(self.n)]
        if self.rng.random() < 0.3:
            crosswalks = [number_compactly(self.rng.integers(0, self.n, self.n))[0]]
        for _ in range(int(self.rng.integers(1, 3))):
            below = crosswalks[-1]
            joined = self.rng.integers(0, below.n_regions // 2 + 1, below.n_regions)
            crosswalks.append(number_compactly(joined[below.region_of])[0])
        return make_levels(self.areas, crosswalks)

    def plan(self, k: int) -> tuple[Plan, dict[str, int]]:
        """What one release shows, and at which levels."""
        names = [("p", "q"), ("p", "q"), ("p",), ("q",)][int(self.rng.integers(4))]
        coarse, nested = "q" in names and self.rng.random() < 0.3, self.rng.random() < 0.45
        profile, levels = self.profile(names, coarse), self.levels(nested)
        if not nested:
            return suppress(profile, levels.crosswalks[0], k), {"q": 1} if coarse else {}
        conditions = None
        if self.rng.random() < 0.4:
            secrets = Secrets(np.random.default_rng(int(self.rng.integers(1000))))
            conditions = Conditions(self.people.sum(axis=1).astype(float), secrets)
        return nest(self.areas, profile, levels, k, conditions=conditions), {"q": 1} if coarse else {}

    def table(self, k: int) -> Published:
        """Counts of everybody by p, or of all together, in groups of areas; or of a few more people."""
        names = ["p"] if self.rng.random() < 0.5 else []
        zones = number_compactly(self.rng.integers(0, self.n, self.n))[0]
        table = own_totals(self.profile(("p", "q"), False), zones, names, "a table")
        if self.rng.random() < 0.5:
            table = replace(
                table, low=np.zeros_like(table.low), high=table.high + self.rng.integers(0, 3, table.high.shape)
            )
        return published_table(table, self.areas, k)

    def classes(self, releases: list[Published]) -> list[Class] | None:
        """The classes of all values that somebody shows; None where somebody is of others."""
        names = {name for release in releases for name in release.quasi_identifiers}
        seen = {
            name: {text for release in releases for text in _values(release, name)}
            for name in ("p", "q", "q (level 1)")
        }
        classes: list[Class] = []
        for p, q in product(sorted(seen["p"]) or ["-"], sorted(seen["q"]) or ["-"]):
            classes.append({"p": p, "q": q, "q (level 1)": COARSE.get(q, "-")})
        if "q (level 1)" in names and not seen["q (level 1)"] <= {one["q (level 1)"] for one in classes}:
            return None
        self.by_class = np.zeros((self.n, len(classes)), np.int64)
        for (p, q), people in zip(self.values, self.people.T):
            shown_as = q if not seen["q"] or q in seen["q"] else COARSE[q]
            own = [("-" if not seen["p"] else p), ("-" if not seen["q"] else shown_as)]
            at = [number for number, one in enumerate(classes) if [one["p"], one["q"]] == own]
            if people.any() and not at:
                return None
            if at:
                self.by_class[:, at[0]] += people
        return classes


def _values(release: Published, name: str) -> list[str]:
    names = release.quasi_identifiers
    return release.categories[names.index(name)].tolist() if name in names else []


def comparable(releases: list[Published]) -> list[Published]:
    """Without what only somebody inside knows, and with the coarser values that others show."""
    relate = Relating(releases, {"q": Q})
    return [replace(relate(release), held_back=None) for release in releases]
