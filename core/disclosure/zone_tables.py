"""What the counts of a release and the people of each area prove together, of all classes at once.

A region shows so many records of a class: they live in those of its areas that no smaller region shows the class of,
its zone. Whoever knows how many people live in each area knows that all classes together are no more, so that what is
shown by others may leave little room. A count of 1 to k - 1 follows where no table of records by zone and area that
fits has nobody there, and none has k or more. Most counts are free in one of few tables, or as people enough are not
in the records; for each of the others a table is looked for among few areas, and, where there is none, among all.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ..dataclass import dataclass
from ..levels import Levels
from ..plan import SUPPRESSED, Plan, area_of_cells
from ..progress import Progress, silent
from ..scientific import sparse
from .zone_flows import MOST_PEOPLE, Tables

CLASSES_AT_ONCE = 4_000_000  # areas x classes
PAIRS_AT_ONCE = 500_000  # of a zone and an area, whose parts are listed together
MOST_PAIRS = 10_000_000  # of a zone and an area, in a flow of all areas
MOST_LISTED = 20_000_000  # pairs of a zone and an area that are held in memory, some hundred bytes each
MOST_TABLES, MOST_NEAR, MOST_PROGRAMS = 30, 20_000, 1_000
BESIDE, FAR = 30, 200  # areas of a zone among which a question is asked before it is asked of all
FEW = 60  # counts that are decided one by one rather than by further tables


@dataclass(frozen=True, eq=False)
class ReleasedClasses:
    """What a release shows: arrays (s,) of level, region, class and records.

    in_zones : whether a region shows all records of a class that no region within shows
    """

    levels: Levels
    level: np.ndarray
    region: np.ndarray
    class_of: np.ndarray
    records: np.ndarray
    in_zones: bool


def released_classes(plan: Plan, classes: np.ndarray | None = None) -> tuple[ReleasedClasses, np.ndarray]:
    """What a plan shows, and the position of each among its equivalence classes; classes : (C,) bool, those that are
    meant, None for all."""
    at = np.flatnonzero(plan.released if classes is None else plan.released & classes[plan.class_of])
    columns = (plan.level[at], plan.region[at], plan.class_of[at], plan.records[at])
    return ReleasedClasses(plan.levels, *columns, plan.in_zones), at


def records_of(plan: Plan, classes: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The table that a plan is made from: of each cell that is shown, which of what is shown, its area and records.

    classes : as for `released_classes`, of which these are the positions
    """
    position = np.full(len(plan.records) + 1, SUPPRESSED, np.int64)
    at = released_classes(plan, classes)[1]
    position[at] = np.arange(len(at), dtype=np.int64)
    cells = np.flatnonzero(position[plan.equivalence_class_of] != SUPPRESSED)
    of = position[plan.equivalence_class_of[cells]]
    return of, area_of_cells(plan.profile)[cells], plan.profile.counts.data[cells].astype(np.int64)


Known = tuple[np.ndarray, np.ndarray, np.ndarray]  # of `records_of`


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of zones: areas, and larger parts that a region of a finer level holds.

    pairs : (q, p) matrix of 0 and 1, the pairs of a zone and an area that make up each; zone : (q,) of each
    level, region : (q,) the smallest region that holds a larger part; -1 and the area itself for an area
    n_areas, n_larger, n_rests : how many areas and larger parts there are to ask about, and parts beside which there
    are several areas, whether listed or not
    """

    pairs: sparse.csr_matrix
    zone: np.ndarray
    level: np.ndarray
    region: np.ndarray
    n_areas: int
    n_larger: int
    n_rests: int

    def __len__(self) -> int:
        return len(self.zone)


@dataclass(frozen=True, eq=False)
class Zones:
    """The zones of several areas with people, and what they have to share.

    released : (z,) which of what is shown each is; count : (z,) its records
    zone, area : (p,) int64 the areas of each zone, ascending
    room : (n,) people of each area who are in no zone of one area
    """

    released: np.ndarray
    count: np.ndarray
    zone: np.ndarray
    area: np.ndarray
    room: np.ndarray

    @property
    def contradicted(self) -> bool:
        """Whether some area shows more records than people for sure."""
        return bool((self.room < 0).any())


def zones_of(released: ReleasedClasses, people: np.ndarray) -> Zones:
    """The zones of what is shown; people : (n,) of each area."""
    position, area = (np.concatenate(parts) for parts in zip((np.empty(0, np.int64),) * 2, *_pairs_of(released)))
    inhabited = people[area] >= 1
    position, area = position[inhabited], area[inhabited]
    # Sorted by what is shown, then by area: a matrix counts them into their places.
    shape = len(released.records), len(people)
    by_position = sparse.csr_matrix((np.ones(len(area), bool), (position, area)), shape=shape)
    by_position.sort_indices()
    sizes, area = np.diff(by_position.indptr).astype(np.int64), by_position.indices.astype(np.int64)
    used = np.flatnonzero(sizes)
    size = sizes[used]
    zone = np.repeat(np.arange(len(used), dtype=np.int64), size)
    single = size[zone] == 1
    room = np.minimum(np.floor(people), MOST_PEOPLE).astype(np.int64)
    np.subtract.at(room, area[single], released.records[used[zone[single]]])
    renumbered = np.cumsum(size > 1, dtype=np.int64) - 1
    several = used[size > 1]
    return Zones(
        several,
        released.records[several].astype(np.int64),
        renumbered[zone[~single]],
        area[~single],
        room,
    )


def _pairs_of(released: ReleasedClasses) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """What is shown, by position, and its areas."""
    levels, n_areas = released.levels, len(released.levels.crosswalks[0].region_of)
    n_classes = int(released.class_of.max(initial=-1)) + 1
    step = max(CLASSES_AT_ONCE // max(n_areas, 1), 1)
    areas_of_finest = np.bincount(
        levels.crosswalks[0].region_of[levels.crosswalks[0].region_of >= 0], minlength=levels.crosswalks[0].n_regions
    )
    order = np.argsort(released.class_of, kind="stable")
    starts = np.searchsorted(released.class_of[order], np.arange(0, n_classes + step, step, dtype=np.int64))
    for first, start, stop in zip(range(0, n_classes, step), starts, starts[1:]):
        rows = order[start:stop]
        lowest = np.full((n_areas, min(step, n_classes - first)), -1, np.int64)
        by_itself = np.zeros(lowest.shape, bool)
        for level in range(len(levels) - 1, -1, -1) if released.in_zones else range(len(levels)):
            own = rows[released.level[rows] == level]
            crosswalk = levels.crosswalks[level]
            grid = np.full((crosswalk.n_regions + 1, lowest.shape[1]), -1, np.int64)  # the last for no region
            grid[released.region[own], released.class_of[own] - first] = own
            here = grid[crosswalk.region_of]
            if released.in_zones:
                lowest = np.where(here >= 0, here, lowest)
                continue
            here[by_itself] = -1
            if level == 0:
                alone = (crosswalk.region_of >= 0) & (areas_of_finest[crosswalk.region_of] == 1)
                by_itself = (here >= 0) & alone[:, None]
            area, column = np.nonzero(here >= 0)
            yield here[area, column], area
        if released.in_zones:
            area, column = np.nonzero(lowest >= 0)
            yield lowest[area, column], area


def too_many_pairs(released: ReleasedClasses, most: int = MOST_LISTED) -> int:
    """The number of areas that all zones together have, where that is too large for them to be looked at; else 0."""
    sizes = [np.bincount(of.region_of[of.region_of >= 0], minlength=of.n_regions) for of in released.levels.crosswalks]
    n_areas_of = np.empty(len(released.level), np.int64)
    for level, size in enumerate(sizes):
        here = released.level == level
        n_areas_of[here] = size[released.region[here]]
    if n_areas_of.sum() <= most:
        return 0
    if released.in_zones:
        n_pairs = int(n_areas_of[_n_around(released, np.arange(len(n_areas_of), dtype=np.int64), 1) == 0].sum())
    else:
        alone = np.flatnonzero((released.level == 0) & (n_areas_of == 1))
        n_pairs = int(n_areas_of.sum() - _n_around(released, alone, len(sizes)).sum())
    return n_pairs if n_pairs > most else 0


def _n_around(released: ReleasedClasses, some: np.ndarray, most: int) -> np.ndarray:
    """How many regions around some of what is released show the same class, (len(some),), counted up to `most`."""
    n_classes, number = int(released.class_of.max(initial=-1)) + 1, np.zeros(len(some), np.int64)
    region = released.region[some].astype(np.int64)
    for level in range(1, len(released.levels)):
        within = np.flatnonzero((released.level[some] < level) & (region >= 0) & (number < most))
        region[within] = released.levels.parents(level - 1)[region[within]]
        own = released.level == level
        keys = np.sort(released.region[own].astype(np.int64) * n_classes + released.class_of[own])
        key = region[within] * n_classes + released.class_of[some[within]]
        at = np.searchsorted(keys, key)
        number[within] += (np.append(keys, -1)[at] == key) & (key >= 0)
    return number


def parts_of(
    zones: Zones,
    released: ReleasedClasses,
    asked: np.ndarray | None = None,
    table: np.ndarray | None = None,
    k: int = 0,
) -> Parts:
    """The parts of zones that some geography names: each area, and what a region of a finer level holds of it where
    that is several areas and not all.

    asked : (s,) bool, of what is shown, whose parts are meant; table : (p,) records of each pair: then those parts
    alone that have 1 to k - 1, or beside which there are so many
    """
    place = np.empty(len(zones.room), np.int64)
    place[np.lexsort(released.levels.region_of)] = np.arange(len(place), dtype=np.int64)
    some = [_listed(zones, released, pairs, place, table, k) for pairs in _pairs_at_a_time(zones, asked)]
    pair = np.concatenate([of.pair for of in some])
    sizes = np.concatenate([np.bincount(of.part, minlength=len(of.zone)) for of in some])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    matrix = sparse.csr_matrix((np.ones(len(pair), np.int64), pair, starts), shape=(len(sizes), len(zones.zone)))
    matrix.sort_indices()
    zone, level, region = (np.concatenate(columns) for columns in zip(*((of.zone, of.level, of.region) for of in some)))
    n_areas, n_larger, n_rests = (
        sum(column) for column in zip(*((of.n_areas, of.n_larger, of.n_rests) for of in some))
    )
    return Parts(matrix, zone, level, region, n_areas, n_larger, n_rests)


def _pairs_at_a_time(zones: Zones, asked: np.ndarray | None) -> Iterator[np.ndarray]:
    """Pairs of whole zones, some at a time, so that what is worked out of them stays small; asked : as `parts_of`."""
    starts = np.searchsorted(zones.zone, np.arange(len(zones.count) + 1, dtype=np.int64))
    inner = np.arange(PAIRS_AT_ONCE, len(zones.zone), PAIRS_AT_ONCE, dtype=np.int64)
    ends = starts[np.searchsorted(starts, [0, *inner.tolist(), len(zones.zone)])]
    for first, last in zip(ends, ends[1:]):
        pairs = np.arange(first, last, dtype=np.int64)
        yield pairs if asked is None else pairs[asked[zones.released[zones.zone[pairs]]]]


@dataclass(frozen=True, eq=False)
class _Listed:
    """Parts of some zones, as `Parts`; part, pair : the pairs of each, those of a part after each other."""

    part: np.ndarray
    pair: np.ndarray
    zone: np.ndarray
    level: np.ndarray
    region: np.ndarray
    n_areas: int
    n_larger: int
    n_rests: int


def _listed(
    zones: Zones,
    released: ReleasedClasses,
    pairs: np.ndarray,
    place: np.ndarray,
    table: np.ndarray | None,
    k: int,
) -> _Listed:
    """The parts of the zones of some pairs; place : (n,) of each area, where areas of a region follow each other."""
    of_zone, of_area = zones.zone[pairs], zones.area[pairs]
    held = None if table is None else table[pairs]

    def may_follow(zone: np.ndarray, records: np.ndarray) -> np.ndarray:
        rest = zones.count[zone] - records
        return ((records >= 1) & (records < k)) | ((rest >= 1) & (rest < k))

    some = np.arange(len(pairs), dtype=np.int64) if held is None else np.flatnonzero(may_follow(of_zone, held))
    columns, rows = [some], [np.arange(len(some), dtype=np.int64)]
    zone, level, region = [of_zone[some]], [np.full(len(some), -1, np.int64)], [of_area[some]]
    first_zone = int(of_zone[0]) if len(pairs) else 0
    size_of_zone = np.bincount(of_zone - first_zone)
    size_around = size_of_zone[of_zone - first_zone]
    n_larger, n_rests = 0, int(size_of_zone[size_of_zone > 2].sum())
    level_of_zone, n_parts = released.level[zones.released[of_zone]], len(some)
    in_order = np.argsort(of_zone * len(place) + place[of_area])
    for at in range(len(released.levels) - 2, -1, -1):
        inside = in_order[level_of_zone[in_order] > at]
        own = released.levels.crosswalks[at].region_of[of_area[inside]]
        starts = np.flatnonzero((np.diff(of_zone[inside], prepend=-1) != 0) | (np.diff(own, prepend=-2) != 0))
        first, size = inside[starts], np.diff(starts, append=len(inside))
        named = (size > 1) & (size < size_around[first])
        n_larger += int(named.sum())
        n_rests += int((named & (size_of_zone[of_zone[first] - first_zone] - size > 1)).sum())
        if held is not None and len(starts):
            named &= may_follow(of_zone[first], np.add.reduceat(held[inside], starts))
        part = np.repeat(np.where(named, np.cumsum(named, dtype=np.int64) - 1, -1), size)
        columns.append(inside[part >= 0])
        rows.append(n_parts + part[part >= 0])
        zone.append(of_zone[first[named]])
        level.append(np.full(int(named.sum()), at, np.int64))
        region.append(own[starts[named]])
        size_around[inside] = np.repeat(size, size)
        n_parts += int(named.sum())
    part, pair = np.concatenate(rows), pairs[np.concatenate(columns)]
    of = np.concatenate(zone), np.concatenate(level), np.concatenate(region)
    return _Listed(part, pair, of[0], of[1], of[2], len(pairs), n_larger, n_rests)


@dataclass(frozen=True, eq=False)
class ProvenSmall:
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


def proven_small(
    released: ReleasedClasses,
    people: np.ndarray,
    k: int,
    known: Known | None = None,
    asked: np.ndarray | None = None,
    every: bool = True,
    progress: Progress = silent,
) -> ProvenSmall:
    """Which parts of zones must hold 1 to k - 1 of its records; people : (n,) of each area.

    known : the table that the release was made from (`records_of`), by which most counts are seen to be free at once
    asked : (s,) bool, of what is shown, whose parts alone are asked about; every : whether those that `known` frees are
    listed, too; progress : called with the fraction that is done, raises to cancel
    """
    zones = zones_of(released, people)
    tables = _tables_of(zones, released, known)
    of = parts_of(zones, released, asked, None if every else tables.table, k)
    size = np.diff(of.pairs.indptr)
    asked_rest = np.bincount(zones.zone, minlength=len(zones.count))[of.zone] - size > 1
    none = np.empty(0, np.int64)
    if zones.contradicted or not len(of):
        return ProvenSmall(zones, of, none, none, none, none, asked_rest, zones.contradicted, 0, 0)
    if tables.table is None and len(zones.zone) > MOST_PAIRS:
        undecided = np.arange(len(of), dtype=np.int64)
        return ProvenSmall(zones, of, none, none, undecided, undecided[asked_rest], asked_rest, False, 0, 0)
    if not tables.find():
        return ProvenSmall(zones, of, none, none, none, none, asked_rest, True, 0, 0)
    open_ = _Open(of, zones.count[of.zone], asked_rest, k)
    open_.free(tables.held)
    open_.free_by_room(tables.held, tables.spare[zones.area], zones)
    n_tables, before = 1, 2 * open_.number
    while n_tables < MOST_TABLES and FEW < open_.number < before * 0.9:
        before = open_.number
        check = partial(progress, n_tables / MOST_TABLES)
        open_.free(tables.drawn(open_.zones(len(zones.count)), n_tables % 2 == 1, check))
        n_tables += 1
    return _decided(zones, tables, of, open_, n_tables, progress)


def _tables_of(zones: Zones, released: ReleasedClasses, known: Known | None) -> Tables:
    order = np.lexsort(released.levels.region_of)
    table = None
    if known is not None:
        n_areas, position = len(zones.room), np.full(len(released.records), -1, np.int64)
        position[zones.released] = np.arange(len(zones.released), dtype=np.int64)
        of, area, records = known
        inside = position[of] >= 0
        keys, key = zones.zone * n_areas + zones.area, position[of[inside]] * n_areas + area[inside]
        at = np.minimum(np.searchsorted(keys, key), max(len(keys) - 1, 0))
        if len(keys) and (keys[at] == key).all():
            table = np.zeros(len(keys), np.int64)
            table[at] = records[inside]
    return Tables(zones.zone, zones.area, zones.count, zones.room, order, table)


class _Open:
    """Which parts, and which rests beside them, had 1 to k - 1 records in all tables so far, (q,) bool."""

    def __init__(self, of: Parts, whole: np.ndarray, asked_rest: np.ndarray, k: int) -> None:
        self._of, self._whole, self.k, self.asked_rest = of, whole, k, asked_rest
        self.parts, self.rests = np.ones(len(of), bool), asked_rest.copy()

    @property
    def number(self) -> int:
        """How many are open."""
        return int(self.parts.sum() + self.rests.sum())

    def _rows(self) -> tuple[np.ndarray, sparse.csr_matrix]:
        rows = np.flatnonzero(self.parts | self.rests)
        return rows, self._of.pairs if len(rows) == len(self._of) else self._of.pairs[rows]

    def free(self, table: np.ndarray) -> None:
        """Take out what a table frees."""
        rows, pairs = self._rows()
        records = pairs @ table
        rest = self._whole[rows] - records
        self.parts[rows] &= (records >= 1) & (records < self.k)
        self.rests[rows] &= (rest >= 1) & (rest < self.k)

    def free_by_room(self, table: np.ndarray, spare: np.ndarray, zones: Zones) -> None:
        """Take out what can be nobody, or k and more, as records may just move to people who are in none.

        spare : (p,) of the area of each pair, people who are not in the table
        """
        if not spare.any():
            return
        rows, pairs = self._rows()
        records, inside = pairs @ table, pairs @ spare
        around = np.bincount(zones.zone, spare, len(zones.count)).astype(np.int64)[self._of.zone[rows]]
        rest = self._whole[rows] - records
        to_part, to_rest = np.minimum(rest, inside), np.minimum(records, around - inside)
        self.parts[rows] &= (to_rest < records) & (records + to_part < self.k)
        self.rests[rows] &= (to_part < rest) & (rest + to_rest < self.k)

    def zones(self, number: int) -> np.ndarray:
        """The zones of open parts and rests, (number,) bool."""
        of = np.zeros(number, bool)
        of[self._of.zone[self.parts | self.rests]] = True
        return of


def _decided(zones: Zones, tables: Tables, of: Parts, open_: _Open, n_tables: int, progress: Progress) -> ProvenSmall:
    """What tables left open, decided one by one: each table that is found frees others, too."""
    questions = _Questions(tables, of, open_)
    small: tuple[list[int], list[int]] = ([], [])
    for rest, still in enumerate((open_.parts, open_.rests)):
        for part in np.flatnonzero(still).tolist():
            progress(1.0)
            if still[part] and questions.pins(part, bool(rest)):
                small[rest].append(part)
                still[part] = False
    parts, rests = (np.array(some, np.int64) for some in small)
    open_parts, open_rests = (np.flatnonzero(some) for some in (open_.parts, open_.rests))
    numbers = parts, rests, open_parts, open_rests
    return ProvenSmall(zones, of, *numbers, open_.asked_rest, False, n_tables, questions.n_asked)


class _Questions:
    """Whether there is a table with so many records in some areas of a zone.

    n_asked : questions that took a flow; those of all areas are asked once, and no more than MOST_PROGRAMS of them
    """

    def __init__(self, tables: Tables, of: Parts, open_: _Open) -> None:
        self._tables, self._of, self._open, self.n_asked = tables, of, open_, 0
        self._n_of_all = self._n_near = 0
        self._impossible: set[tuple[int, bytes, int]] = set()

    def pins(self, part: int, rest: bool) -> bool | None:
        """Whether a part, or the rest beside it, can neither be nobody nor k; None where that was not decided."""
        tables, zone = self._tables, int(self._of.zone[part])
        whole = int(tables.count[zone])
        pairs = self._of.pairs.indices[self._of.pairs.indptr[part] : self._of.pairs.indptr[part + 1]]
        every = np.arange(tables.starts[zone], tables.starts[zone + 1], dtype=np.int64)
        other_side = pairs[0] != every[0]  # asked of the other areas it is the same question as theirs
        asked = np.setdiff1d(every, pairs) if other_side else pairs
        possible = (0, self._open.k) if other_side == rest else (whole, whole - self._open.k)
        numbers = [number for number in possible if 0 <= number <= whole]
        if any(self._has_near(zone, asked, number) for number in numbers):
            return False
        answers = [self._has_table(zone, asked, number) for number in numbers]
        return False if True in answers else None if None in answers else True

    def _has_near(self, zone: int, pairs: np.ndarray, number: int) -> bool:
        """Whether there is one among few areas."""
        if self._n_near >= MOST_NEAR or (zone, pairs.tobytes(), number) in self._impossible:
            return False
        self._n_near += 1
        self.n_asked += 1
        return self._frees(self._tables.with_number_near(zone, pairs, number, BESIDE))

    def _has_table(self, zone: int, pairs: np.ndarray, number: int) -> bool | None:
        """Whether there is one at all; None where that would take too long."""
        question = zone, pairs.tobytes(), number
        if question in self._impossible:
            return False
        if self._n_of_all >= MOST_PROGRAMS:
            return None
        self._n_of_all += 1
        if not self._tables.stuck(zone, pairs, fewer=number < int(self._tables.held[pairs].sum())):
            self.n_asked += 1
            if self._frees(self._tables.with_number_near(zone, pairs, number, FAR)):
                return True
            if len(self._tables.zone) > MOST_PAIRS:
                return None
            self.n_asked += 1
            if self._frees(self._tables.with_number(zone, pairs, number)):
                return True
        self._impossible.add(question)
        return False

    def _frees(self, table: np.ndarray | None) -> bool:
        if table is not None:
            self._open.free(table)
        return table is not None
