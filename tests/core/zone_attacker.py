"""An attacker of nested releases who uses nothing of the program: plain arithmetic over the files that are published.

The attacker has the rows of a release, its crosswalk and the people of each area, and knows that the release is *in
zones*: a region that shows a class shows all records of it that no region within shows. So the count of each zone is
known exactly, and of a part of it that it holds at most its people, and at least what the others cannot hold; people
count for all classes together. Whoever lays the plain method in place of the zones uses `proven_by_the_method`: there a
class is shown as finely as it can be, at the least loss.

Asked about is every area, what every region of every level holds of a zone, and the rest of the zone beside each.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.csgraph import maximum_flow

TOLERANCE = 1e-6
Values = tuple[str, ...]


@dataclass(frozen=True)
class Written:
    """A release as it is read from its files.

    areas : their identifiers; regions : (levels, areas) of the region of each area, -1 for none; people : (areas,)
    counts : of each class, by level and region, the records that are shown
    """

    areas: tuple[str, ...]
    regions: np.ndarray
    people: np.ndarray
    counts: dict[Values, dict[tuple[int, int], int]]


@dataclass(frozen=True)
class Zone:
    """The areas, by position, for which a class is shown in one region, and how many records that shows."""

    values: Values
    level: int
    region: int
    areas: tuple[int, ...]
    count: int


@dataclass(frozen=True)
class Claim:
    """People of a class in some areas of a zone: at least `low`, at most `high`."""

    zone: Zone
    areas: tuple[int, ...]
    low: int
    high: int


def read(folder: Path) -> Written:
    """rows.csv (vbas_level, vbas_region, quasi-identifiers, records), crosswalk.csv (area, vbas_region_1, …) and
    people.csv (area, people)."""
    with (folder / "crosswalk.csv").open(encoding="utf-8", newline="") as file:
        crosswalk = list(csv.DictReader(file))
    with (folder / "people.csv").open(encoding="utf-8", newline="") as file:
        people = {row["area"]: float(row["people"]) for row in csv.DictReader(file)}
    areas = tuple(row["area"] for row in crosswalk)
    levels = sorted((name for name in crosswalk[0] if name != "area"), key=lambda name: int(name.rsplit("_", 1)[1]))
    regions = np.array([[int(row[name] or -1) for row in crosswalk] for name in levels])
    counts: dict[Values, dict[tuple[int, int], int]] = defaultdict(lambda: defaultdict(int))
    with (folder / "rows.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            level, region, records = (int(row.pop(name)) for name in ("vbas_level", "vbas_region", "records"))
            counts[tuple(row.values())][level - 1, region] += records
    return Written(areas, regions, np.array([people[area] for area in areas]), counts)


def zones_of(release: Written) -> list[Zone]:
    """The zones of all classes: each area belongs to the lowest region around it that shows the class."""
    zones = []
    for values, shown in release.counts.items():
        lowest = np.full(len(release.areas), -1)
        for level in range(len(release.regions) - 1, -1, -1):
            here = [region for at, region in shown if at == level]
            lowest[np.isin(release.regions[level], here)] = level
        for (level, region), count in shown.items():
            areas = np.flatnonzero((release.regions[level] == region) & (lowest == level))
            zones.append(Zone(values, level, region, tuple(areas.tolist()), count))
    return zones


def parts_of(release: Written, zone: Zone) -> list[tuple[int, ...]]:
    """The parts of a zone that some geography names: areas, and what regions of every level hold of it."""
    parts: dict[tuple[int, ...], None] = {(area,): None for area in zone.areas}
    for regions in release.regions[: zone.level]:
        of_region: dict[int, list[int]] = {}
        for area in zone.areas:
            of_region.setdefault(int(regions[area]), []).append(area)
        parts.update((tuple(part), None) for part in of_region.values())
    return [part for part in parts if len(part) < len(zone.areas)]


def rest_of(zone: Zone, part: tuple[int, ...]) -> tuple[int, ...]:
    """The other areas of a zone."""
    return tuple(area for area in zone.areas if area not in part)


def proven_by_people(release: Written, k: int) -> list[Claim]:
    """What each zone by itself proves to be 1 to k - 1, by its count and the people of its areas.

    Where a zone shows more than its people, they are other people, and nothing follows.
    """
    claims = []
    for zone in zones_of(release):
        people = release.people[list(zone.areas)]
        # Nothing is small but what is of few people, and only where hardly anybody of the zone is of another class.
        if people.sum() - zone.count >= k - 1 or people.sum() < zone.count:
            continue
        named = parts_of(release, zone)
        for part in [*named, *(rest_of(zone, part) for part in named)]:
            inside = float(release.people[list(part)].sum())
            low, high = max(0, zone.count - int(people.sum() - inside)), int(min(zone.count, inside))
            if low >= 1 and high < k:
                claims.append(Claim(zone, part, low, high))
    return claims


class AllClasses:
    """The records of each zone by area, as a flow: from zones to their areas, and on to the people who live there."""

    def __init__(self, release: Written, seed: int = 0) -> None:
        self.release, self.zones = release, zones_of(release)
        self._rng = np.random.default_rng(seed)
        pairs = [(number, area) for number, zone in enumerate(self.zones) for area in zone.areas]
        self.zone, self.area = (np.array(part, np.int64) for part in zip(*pairs))
        self.count = np.array([zone.count for zone in self.zones])

    def contradicted(self) -> bool:
        """Whether no table fits: the people are not those whom the records are of."""
        return self.table() is None

    def table(self) -> np.ndarray | None:
        """The records of each pair of zone and area in some table that fits, drawn anew each time; None where none."""
        n_zones, n_areas = len(self.zones), len(self.release.areas)
        zone_at, area_at = self._rng.permutation(n_zones), self._rng.permutation(n_areas)
        source, sink, areas = n_zones + n_areas, n_zones + n_areas + 1, np.arange(n_areas)
        start = np.concatenate([np.full(n_zones, source), zone_at[self.zone], n_zones + area_at])
        end = np.concatenate([zone_at, n_zones + area_at[self.area], np.full(n_areas, sink)])
        most = np.concatenate([self.count, self.count[self.zone], self.release.people[areas].astype(np.int64)])
        graph = sparse.csr_matrix((most.astype(np.int32), (start, end)), shape=(sink + 1, sink + 1))
        found = maximum_flow(graph, source, sink)
        if found.flow_value < self.count.sum():
            return None
        return np.asarray(found.flow[zone_at[self.zone], n_zones + area_at[self.area]]).reshape(-1)

    def parts(self) -> tuple[sparse.csr_matrix, list[tuple[Zone, tuple[int, ...]]]]:
        """Which pairs each named part of a zone sums up, and the parts."""
        first = np.flatnonzero(np.diff(self.zone, prepend=-1))
        rows, columns = [], []
        named: list[tuple[Zone, tuple[int, ...]]] = []
        for number, zone in enumerate(self.zones):
            at = {area: first[number] + i for i, area in enumerate(zone.areas)}
            for part in parts_of(self.release, zone):
                rows += [len(named)] * len(part)
                columns += [at[area] for area in part]
                named.append((zone, part))
        shape = (len(named), len(self.zone))
        return sparse.csr_matrix((np.ones(len(rows), np.int64), (rows, columns)), shape=shape), named

    def proven(self, k: int, tables: int = 20) -> list[Claim]:
        """What must lie within 1 to k - 1: of all parts that no table shows to be nobody, or k and more, a program
        says between which whole numbers they lie."""
        if self.contradicted():
            return []
        sums, named = self.parts()
        whole = np.array([zone.count for zone, _ in named], np.int64)
        part_open, rest_open = np.ones((2, len(named)), bool)
        for _ in range(tables):
            people = sums @ self.table()
            part_open &= (people >= 1) & (people < k)
            rest_open &= (whole - people >= 1) & (whole - people < k)
        claims = []
        for row in np.flatnonzero(part_open | rest_open).tolist():
            zone, part = named[row]
            weights = np.asarray(sums[row].todense()).ravel()
            low, high = self._least(weights), -self._least(-weights)
            both = ((part, low, high), (rest_of(zone, part), zone.count - high, zone.count - low))
            claims += [Claim(zone, areas, least, most) for areas, least, most in both if least >= 1 and most < k]
        return claims

    def _least(self, weights: np.ndarray) -> int:
        """The least that a weighted sum may be; a flow of whole numbers has a best one in whole numbers."""
        ones, pairs = np.ones(len(self.zone)), np.arange(len(self.zone))
        of_zones = sparse.csr_matrix((ones, (self.zone, pairs)))
        of_areas = sparse.csr_matrix((ones, (self.area, pairs)), shape=(len(self.release.areas), len(pairs)))
        found = linprog(weights, A_eq=of_zones, b_eq=self.count, A_ub=of_areas, b_ub=self.release.people)
        assert found.status == 0, found.message
        return round(found.fun)


# ---- the plain method: each class as finely as it can be, at the least loss


def losses_of(release: Written, points: np.ndarray) -> list[np.ndarray]:
    """Of each region of each level, the mean distance of its people from where they live on average."""
    losses = []
    for regions in release.regions:
        people = [release.people * (regions == region) for region in range(1, regions.max() + 1)]
        total = [max(of.sum(), 1.0) for of in people]
        centres = [of @ points / n for of, n in zip(people, total)]
        distances = [of @ np.hypot(*(points - at).T) / n for of, at, n in zip(people, centres, total)]
        losses.append(np.array(distances))
    return losses


def proven_by_the_method(release: Written, points: np.ndarray, k: int) -> list[Claim]:
    """What follows for somebody who takes it that every class is shown as finely as k allows.

    A part that does not show the class has fewer than k, or so many that the others would have had nowhere to go but
    at a higher price.
    """
    losses, claims = losses_of(release, points), []
    for zone in zones_of(release):
        if zone.level == 0:
            continue
        inside, shown = np.array(zone.areas), release.counts[zone.values]
        here = losses[zone.level][zone.region - 1]
        around = next(
            (losses[level][region - 1] for level, region in _around(release, zone) if (level, region) in shown),
            None,
        )
        whole = np.flatnonzero(release.regions[zone.level] == zone.region)
        parts, most = [], []
        for region in np.unique(release.regions[zone.level - 1][whole]).tolist():
            part = inside[release.regions[zone.level - 1][inside] == region]
            shows = (zone.level - 1, region) in shown
            numbers = _possible(zone.count, k, shows, bool(len(part)), losses[zone.level - 1][region - 1], here, around)
            parts.append(tuple(part.tolist()))
            most.append(numbers)
        for part, (low, high) in zip(parts, _bounds(zone.count, tuple(most))):
            if low >= 1 and high < k:
                claims.append(Claim(zone, part, low, high))
    return claims


def _around(release: Written, zone: Zone) -> Iterator[tuple[int, int]]:
    area = np.flatnonzero(release.regions[zone.level] == zone.region)[0]
    for level in range(zone.level + 1, len(release.regions)):
        yield level, int(release.regions[level][area])


def _possible(
    count: int, k: int, shows: bool, has_areas: bool, own: float, here: float, around: float | None
) -> frozenset[int]:
    """The numbers of records that a part may hold."""
    if not has_areas:
        return frozenset({0})
    if own >= here:
        return frozenset(range(count + 1))
    few = {0} if shows else set(range(min(k, count + 1)))
    for rest in range(1, min(k, count)):
        held = count - rest
        if held >= (1 if shows else k) and (around is None or held * own + rest * around >= count * here):
            few.add(held)
    return frozenset(few)


@lru_cache(maxsize=100_000)
def _bounds(count: int, numbers: tuple[frozenset[int], ...]) -> list[tuple[int, int]]:
    """The least and the most of each part, where all together hold the count; (0, count) where nothing fits."""
    bounds = []
    for part, own in enumerate(numbers):
        others = _sums(count, [other for i, other in enumerate(numbers) if i != part])
        fits = [held for held in own if count - held in others]
        bounds.append((min(fits, default=0), max(fits, default=count)))
    return bounds


def _sums(most: int, numbers: Sequence[frozenset[int]]) -> set[int]:
    sums = {0}
    for some in numbers:
        sums = {total + one for total in sums for one in some if total + one <= most}
    return sums
