"""What the counts of a release and the people of each area prove together, of all classes at once.

A region shows so many records of a class: they live in those of its areas that no smaller region shows the class of,
its zone. Whoever knows how many people live in each area knows that all classes together are no more, so that what is
shown by others may leave little room. A table of records by zone and area that fits is a flow, from zones to their
areas and on to the people who live there. A count of 1 to k - 1 follows where no table has
nobody there, and none has k or more; which of the two there are is decided by a flow each, in whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow

from ..levels import Levels
from ..plan import Plan

CLASSES_AT_ONCE = 4_000_000  # areas x classes
MOST_PAIRS = 10_000_000  # of a zone and an area
MOST_PEOPLE = 2**31 - 1  # of an area, what a flow can hold
LEAST_TABLES, MOST_TABLES, MOST_PROGRAMS = 3, 30, 1_000


@dataclass(frozen=True, eq=False)
class Shown:
    """What a release shows: arrays (s,) of level, region, class and records.

    in_zones : whether a region shows all records of a class that no region within shows
    """

    levels: Levels
    level: np.ndarray
    region: np.ndarray
    class_of: np.ndarray
    records: np.ndarray
    in_zones: bool


def shown_by(plan: Plan) -> tuple[Shown, np.ndarray]:
    """What a plan shows, and the position of each among its equivalence classes."""
    at = np.flatnonzero(plan.released)
    columns = (plan.level[at], plan.region[at], plan.class_of[at], plan.records[at])
    return Shown(plan.levels, *columns, plan.in_zones), at


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of zones: areas, and larger parts that a region of a finer level holds.

    pairs : (q, p) matrix of 0 and 1, the pairs of a zone and an area that make up each; zone : (q,) of each
    level, region : (q,) the smallest region that holds a larger part; -1 and the area itself for an area
    """

    pairs: sparse.csr_matrix
    zone: np.ndarray
    level: np.ndarray
    region: np.ndarray

    def __len__(self) -> int:
        return len(self.zone)


@dataclass(frozen=True, eq=False)
class Zones:
    """The zones of several areas with people, and what they have to share.

    shown : (z,) which of what is shown each is; count : (z,) its records
    zone, area : (p,) int64 the areas of each zone, ascending
    room : (n,) people of each area who are in no zone of one area; n_single : so many zones have one area
    """

    shown: np.ndarray
    count: np.ndarray
    zone: np.ndarray
    area: np.ndarray
    room: np.ndarray
    n_single: int

    @property
    def contradicted(self) -> bool:
        """Whether some area shows more records than people for sure."""
        return bool((self.room < 0).any())


def zones_of(shown: Shown, people: np.ndarray) -> Zones:
    """The zones of what is shown; people : (n,) of each area."""
    pairs = [np.concatenate(parts) for parts in zip((np.empty(0, np.int64),) * 2, *_pairs_of(shown))]
    position, area = pairs
    inhabited = people[area] >= 1
    position, area = position[inhabited], area[inhabited]
    order = np.lexsort((area, position))
    position, area = position[order], area[order]
    used, zone, size = np.unique(position, return_inverse=True, return_counts=True)
    zone = zone.reshape(-1)
    single = size[zone] == 1
    room = np.minimum(np.floor(people), MOST_PEOPLE).astype(np.int64)
    np.subtract.at(room, area[single], shown.records[used[zone[single]]])
    renumbered = np.cumsum(size > 1) - 1
    several = used[size > 1]
    return Zones(
        several,
        shown.records[several].astype(np.int64),
        renumbered[zone[~single]],
        area[~single],
        room,
        int((size == 1).sum()),
    )


def _pairs_of(shown: Shown) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """What is shown, by position, and its areas."""
    levels, n_areas = shown.levels, len(shown.levels.crosswalks[0].region_of)
    n_classes = int(shown.class_of.max(initial=-1)) + 1
    step = max(CLASSES_AT_ONCE // max(n_areas, 1), 1)
    areas_of_finest = np.bincount(
        levels.crosswalks[0].region_of[levels.crosswalks[0].region_of >= 0], minlength=levels.crosswalks[0].n_regions
    )
    order = np.argsort(shown.class_of, kind="stable")
    starts = np.searchsorted(shown.class_of[order], np.arange(0, n_classes + step, step))
    for first, start, stop in zip(range(0, n_classes, step), starts, starts[1:]):
        rows = order[start:stop]
        lowest = np.full((n_areas, min(step, n_classes - first)), -1)
        by_itself = np.zeros(lowest.shape, bool)
        for level in range(len(levels) - 1, -1, -1) if shown.in_zones else range(len(levels)):
            own = rows[shown.level[rows] == level]
            crosswalk = levels.crosswalks[level]
            grid = np.full((crosswalk.n_regions + 1, lowest.shape[1]), -1)  # the last for no region
            grid[shown.region[own], shown.class_of[own] - first] = own
            here = grid[crosswalk.region_of]
            if shown.in_zones:
                lowest = np.where(here >= 0, here, lowest)
                continue
            here[by_itself] = -1
            if level == 0:
                alone = (crosswalk.region_of >= 0) & (areas_of_finest[crosswalk.region_of] == 1)
                by_itself = (here >= 0) & alone[:, None]
            area, column = np.nonzero(here >= 0)
            yield here[area, column], area
        if shown.in_zones:
            area, column = np.nonzero(lowest >= 0)
            yield lowest[area, column], area


def parts_of(zones: Zones, shown: Shown) -> Parts:
    """The parts of zones that some geography names: each area, and what a region of a finer level holds of it where
    that is several areas and not all."""
    n_pairs, every = len(zones.zone), np.arange(len(zones.zone))
    columns, rows = [every], [every]
    zone, level, region = [zones.zone], [np.full(n_pairs, -1)], [zones.area]
    size_around = np.bincount(zones.zone, minlength=len(zones.count))[zones.zone]
    level_of_zone = shown.level[zones.shown[zones.zone]]
    n_parts = n_pairs
    for at in range(len(shown.levels) - 2, -1, -1):
        crosswalk = shown.levels.crosswalks[at]
        below = np.flatnonzero(level_of_zone > at)
        own = crosswalk.region_of[zones.area[below]]
        _, first, part, size = np.unique(
            zones.zone[below] * (crosswalk.n_regions + 1) + own,
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        part = part.reshape(-1)
        named = (size > 1) & (size < size_around[below[first]])
        number = np.cumsum(named) - 1
        inside = named[part]
        columns.append(below[inside])
        rows.append(n_parts + number[part[inside]])
        zone.append(zones.zone[below[first[named]]])
        level.append(np.full(int(named.sum()), at))
        region.append(own[first[named]])
        size_around[below] = size[part]
        n_parts += int(named.sum())
    row, column = np.concatenate(rows), np.concatenate(columns)
    pairs = sparse.csr_matrix((np.ones(len(row), np.int64), (row, column)), shape=(n_parts, n_pairs))
    return Parts(pairs, np.concatenate(zone), np.concatenate(level), np.concatenate(region))


class Tables:
    """Tables of records that fit the zones and their people."""

    def __init__(self, zones: Zones, seed: int = 0) -> None:
        self.zones = zones
        self._rng = np.random.default_rng(seed)

    def drawn(self) -> np.ndarray | None:
        """The records of each pair of some table, another one each time; None where there is none."""
        return self._flow(np.full(len(self.zones.zone), -1), 0, 0)

    def with_number(self, zone: int, pairs: np.ndarray, number: int) -> np.ndarray | None:
        """A table with so many records of a zone in some of its areas; pairs : their positions; None where none is."""
        if not 0 <= number <= self.zones.count[zone]:
            return None
        apart = np.where(self.zones.zone == zone, 0, -1)
        apart[pairs] = 1
        return self._flow(apart, zone, number)

    def _flow(self, apart: np.ndarray, zone: int, number: int) -> np.ndarray | None:
        """A table; apart : (p,) 1 for the pairs of the zone that are to have this number, -1 for those of others."""
        zones = self.zones
        n_zones, n_areas = len(zones.count) + 1, len(zones.room)  # the last zone stands for what is set apart
        zone_at, area_at = self._rng.permutation(n_zones), self._rng.permutation(n_areas)
        source, sink = n_zones + n_areas, n_zones + n_areas + 1
        count = np.append(zones.count, 0)
        if number:
            count[[zone, -1]] = zones.count[zone] - number, number
        from_zone = np.where(apart == 1, n_zones - 1, zones.zone)
        at = np.flatnonzero(count > 0)
        start = np.concatenate([np.full(len(at), source), zone_at[from_zone], n_zones + area_at])
        end = np.concatenate([zone_at[at], n_zones + area_at[zones.area], np.full(n_areas, sink)])
        most = np.concatenate([count[at], np.minimum(count[from_zone], zones.room[zones.area]), zones.room])
        there = most > 0
        graph = sparse.csr_matrix(
            (most[there].astype(np.int32), (start[there], end[there])), shape=(sink + 1, sink + 1)
        )
        found = maximum_flow(graph, source, sink)
        if found.flow_value < count.sum():
            return None
        return np.asarray(found.flow[zone_at[from_zone], n_zones + area_at[zones.area]]).reshape(-1)


@dataclass(frozen=True, eq=False)
class Found:
    """What follows of parts of zones, and of the rest of the zone beside each.

    parts, rests : positions of the parts that must hold 1 to k - 1, and of those whose rest must
    open_parts, open_rests : of those that were not decided
    asked_rest : (q,) bool, of which parts the rest is asked about: those beside which there are several areas
    contradicted : whether no table fits: the people are not those whom records are of, and nothing follows from them
    n_tables, n_programs : tables drawn, and flows that decided a count
    """

    zones: Zones
    of: Parts
    parts: np.ndarray
    rests: np.ndarray
    open_parts: np.ndarray
    open_rests: np.ndarray
    asked_rest: np.ndarray
    contradicted: bool
    n_tables: int
    n_programs: int


def proven_small(shown: Shown, people: np.ndarray, k: int) -> Found:
    """Which parts of zones must hold 1 to k - 1 of its records; people : (n,) of each area."""
    zones = zones_of(shown, people)
    of = parts_of(zones, shown)
    size = np.diff(of.pairs.indptr)
    asked_rest = np.bincount(zones.zone, minlength=len(zones.count))[of.zone] - size > 1
    none = np.empty(0, np.int64)
    if zones.contradicted or not len(of):
        return Found(zones, of, none, none, none, none, asked_rest, zones.contradicted, 0, 0)
    if len(zones.zone) > MOST_PAIRS:
        every = np.arange(len(of))
        return Found(zones, of, none, none, every, every[asked_rest], asked_rest, False, 0, 0)
    tables = Tables(zones)
    open_ = _Open(of, zones.count[of.zone], asked_rest, k)
    n_tables, freed = 0, True
    while n_tables < LEAST_TABLES or (n_tables < MOST_TABLES and freed):
        table = tables.drawn()
        if table is None:
            return Found(zones, of, none, none, none, none, asked_rest, True, n_tables, 0)
        n_tables, freed = n_tables + 1, open_.free(table)
    return _decided(tables, of, open_, n_tables)


class _Open:
    """Which parts, and which rests beside them, had 1 to k - 1 records in all tables so far, (q,) bool."""

    def __init__(self, of: Parts, whole: np.ndarray, asked_rest: np.ndarray, k: int) -> None:
        self._of, self._whole, self.k, self.asked_rest = of, whole, k, asked_rest
        self.parts, self.rests = np.ones(len(of), bool), asked_rest.copy()

    def free(self, table: np.ndarray) -> bool:
        """Take out what another table frees; whether that is anything, and something is left."""
        before = int(self.parts.sum() + self.rests.sum())
        records = self._of.pairs @ table
        rest = self._whole - records
        self.parts &= (records >= 1) & (records < self.k)
        self.rests &= (rest >= 1) & (rest < self.k)
        return 0 < int(self.parts.sum() + self.rests.sum()) < before


def _decided(tables: Tables, of: Parts, open_: _Open, n_tables: int) -> Found:
    """What tables left open, decided one by one: each table that is found frees others, too."""
    questions = _Questions(tables, of, open_)
    small: tuple[list[int], list[int]] = ([], [])
    for rest, still in enumerate((open_.parts, open_.rests)):
        for part in np.flatnonzero(still).tolist():
            if still[part] and questions.n_asked < MOST_PROGRAMS and questions.pins(part, bool(rest)):
                small[rest].append(part)
                still[part] = False
    parts, rests = (np.array(some, np.int64) for some in small)
    open_parts, open_rests = (np.flatnonzero(some) for some in (open_.parts, open_.rests))
    found = parts, rests, open_parts, open_rests
    return Found(tables.zones, of, *found, open_.asked_rest, False, n_tables, questions.n_asked)


class _Questions:
    """Whether there is a table with so many records in some areas of a zone, each asked once.

    n_asked : questions that took a flow
    """

    def __init__(self, tables: Tables, of: Parts, open_: _Open) -> None:
        self._tables, self._of, self._open, self.n_asked = tables, of, open_, 0
        self._impossible: set[tuple[int, bytes, int]] = set()

    def pins(self, part: int, rest: bool) -> bool:
        """Whether a part, or the rest beside it, can neither be nobody nor k."""
        zones, zone = self._tables.zones, int(self._of.zone[part])
        whole = int(zones.count[zone])
        pairs = self._of.pairs.indices[self._of.pairs.indptr[part] : self._of.pairs.indptr[part + 1]]
        every = np.flatnonzero(zones.zone == zone)
        other_side = pairs[0] != every[0]  # asked of the other areas it is the same question as theirs
        asked = np.setdiff1d(every, pairs) if other_side else pairs
        numbers = (0, self._open.k) if other_side == rest else (whole, whole - self._open.k)
        return not any(self._has_table(zone, asked, number) for number in numbers)

    def _has_table(self, zone: int, pairs: np.ndarray, number: int) -> bool:
        question = zone, pairs.tobytes(), number
        if question in self._impossible:
            return False
        self.n_asked += 1
        table = self._tables.with_number(zone, pairs, number)
        if table is None:
            self._impossible.add(question)
            return False
        self._open.free(table)
        return True
