"""What is asked of several releases: all people of a place and of some values, and what is left of them.

A place is an overlay cell, a region of any level of any release, what two regions have in common, or one has and the
other has not, all but a region, all regions of a level that a region of another release touches, or a few of them that
hang together by such regions. The values are those of a joint class, or of the quasi-identifiers that some of the
releases show, or have in common. What a release shows of people wholly within a place and its values anybody can take
away: left are those whom the release does not show there, and they are asked about too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import combinations, combinations_with_replacement

import numpy as np

from ..arrays import to_list
from ..dataclass import dataclass
from ..errors import InputError
from ..language import tr
from ..records.columns import combine_codes
from ..scientific import sparse
from .chunk import Chunk
from .class_rests import left_of_classes
from .counts import CELL, DIFFERENCE, HIDDEN, KINDS, REST, SUM
from .overlay import NONE, Overlay
from .programs import Table
from .small_counts import SmallCounts, memberships, pairs_by_row, within_of

AT_ONCE = 2_000_000  # places x groups
CELLS_AT_ONCE = 20_000_000  # of regions that are held against others
MOST_CELLS = 1_000_000_000  # of all regions that touch others, with each of these
MOST_UNIONS = 300  # of the regions of a level
MOST_NAMES = 5  # quasi-identifiers of which all choices are asked about
MOST_MEMBERS = 20_000_000  # of all counts that are asked about
MOST_NAMED = 1_000  # of those that are more than that
KEY_OF_TAKEN = 0x9E3779B97F4A7C15 - 2**64  # odd, and as irregular as the keys


def asked_of(chunk: Chunk, tables: Sequence[Table] | None) -> SmallCounts:
    """Everything that is asked of a chunk and ruled out neither by its bounds nor by a table of people who fit it.

    tables : see `Table`; where None, only what the bounds pin is given, and the rest counted
    Of counts of the same unknowns, but for those that nobody is in, the first kind and the smallest place is taken.
    Those that are too large are counted only.
    """
    places, groups = _places_of(chunk), _Groups(chunk)
    known = [_Known(chunk, number, groups) for number in range(len(chunk.families))]
    at_once = max(AT_ONCE // max(groups.members.shape[0], 1), 1)
    parts = [part for rows in places.slices(at_once) for part in _open_at(chunk, places, rows, groups, known, tables)]
    arrays = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("place", "group", "low", "high", "taken", "kind", "release", "key")
    }
    place, group, key = (arrays.pop(name) for name in ("place", "group", "key"))
    sizes = places.sizes[place] * np.diff(groups.members.indptr)[group]
    order = np.lexsort((sizes, [KINDS.index(kind) for kind in arrays["kind"]]))
    order = order[np.unique(key[order], return_index=True)[1]]
    order = order[np.argsort(sizes[order], kind="stable")]
    few = order[np.cumsum(sizes[order], dtype=np.int64) <= MOST_MEMBERS]
    by_class = list(left_of_classes(chunk))
    members = pairs_by_row(places.members_of(place[few]), groups.members[group[few]], chunk.n_joint)
    return SmallCounts(
        sparse.vstack([members, *(part.members for part in by_class)]).tocsr(),
        **{
            name: np.concatenate([values[few], *(getattr(part, name) for part in by_class)])
            for name, values in arrays.items()
        },
        n_left_out=sum(part.n_left_out for part in parts) + len(order) - len(few),
        left_out=() if tables is None else tuple(_left_out(places, groups, place, group, order[len(few) :])),
        n_tried=sum(part.n_tried for part in parts) + sum(len(part.low) for part in by_class),
    )


def _left_out(
    places: _Places, groups: _Groups, place: np.ndarray, group: np.ndarray, which: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The cells and the joint classes of counts that are too large to be decided, the first MOST_NAMED of them."""
    for row in to_list(which[:MOST_NAMED]):
        yield places.members_of(place[[row]]).indices, groups.members[group[row]].indices


@dataclass(frozen=True, eq=False)
class _Open:
    """Counts that may hold 1 to k-1 people, (q,) arrays: place and group, the fields of SmallCounts, and a key.

    key : the same for counts of the same unknowns, less what is taken away; n_tried : so many were looked at
    """

    place: np.ndarray
    group: np.ndarray
    low: np.ndarray
    high: np.ndarray
    taken: np.ndarray
    kind: np.ndarray
    release: np.ndarray
    key: np.ndarray
    n_left_out: int
    n_tried: int


def _open_at(
    chunk: Chunk,
    places: _Places,
    rows: slice,
    groups: _Groups,
    known: Sequence[_Known],
    tables: Sequence[Table] | None,
) -> Iterator[_Open]:
    """What is asked of some places: first their people, then what is left of them for each release."""
    joint = groups.members.T.tocsr()
    here = places.some(rows)

    def total(values: np.ndarray) -> np.ndarray:
        return here.total(np.asarray((joint.T @ values.T).T))

    bounds = chunk.bounds
    low, high = total(bounds.low), total(bounds.high)
    within = [family.within(here) for family in known]
    low += _most([family.over(family.more, here, inside) for family, inside in zip(known, within)], low)
    high -= _most([family.over(family.less, here, inside) for family, inside in zip(known, within)], low)
    draws = np.random.default_rng(0).integers(1, 2**62, bounds.high.shape)
    key = total(np.where(bounds.high > 0, draws, 0))  # modulo 2 to the 64
    sums = [
        (total(table.people), total(table.open.astype(np.int64)) > 0 if table.open.any() else None)
        for table in tables or ()
    ]
    before: list[np.ndarray] = []
    for release in range(NONE, len(chunk.over.releases)):
        taken = np.zeros_like(low)
        for family, inside in zip(known, within):
            if family.release == release:
                of_released = family.over(family.released, here, inside)
                taken = taken if of_released is None else taken + of_released
        new = np.logical_and.reduce([np.ones(low.shape, bool), *(taken != other for other in before)])
        before.append(taken)
        n_tried = int((new & groups.fits).sum())
        place, group = np.nonzero(new & (low - taken < chunk.k) & (high - taken >= 1) & groups.fits)
        for people, unknown in sums:
            value = people[place, group] - taken[place, group]
            kept = (value >= 1) & (value < chunk.k)
            if unknown is not None:
                kept |= unknown[place, group]
            place, group = place[kept], group[kept]
        at = (place, group)
        disclosed = (low[at] - taken[at] >= 1) & (high[at] - taken[at] < chunk.k)
        n_open = len(place)
        if tables is None:
            place, group = place[disclosed], group[disclosed]
        kind, of = np.full(len(place), REST, dtype=object), np.full(len(place), release, np.int64)
        if release == NONE:
            kind, of = _kinds(places, place + rows.start, groups, group)
        at = (place, group)
        yield _Open(
            place + rows.start,
            group,
            (low - taken)[at],
            (high - taken)[at],
            taken[at],
            kind,
            of,
            key[at] + taken[at] * KEY_OF_TAKEN,
            n_open - int(disclosed.sum()) if tables is None else 0,
            n_tried,
        )


def _most(values: Sequence[np.ndarray | None], like: np.ndarray) -> np.ndarray:
    """The largest of all, which are at least 0; None stands for 0 everywhere."""
    there = [of for of in values if of is not None]
    return np.max(there, axis=0) if there else np.zeros_like(like)


def _kinds(places: _Places, place: np.ndarray, groups: _Groups, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What counts are called, and the release whose region and class each is, NONE where it is of none."""
    kind = np.full(len(place), SUM, dtype=object)
    kind[places.is_difference[place]] = DIFFERENCE
    of = np.full(len(place), NONE, np.int64)
    for release, (regions, classes) in enumerate(zip(places.of_release, groups.of_release)):
        own = regions[place] & classes[group] & (of < 0)
        kind[own], of[own] = HIDDEN, release
    kind[places.is_cell[place] & groups.is_joint[group]] = CELL
    return kind, of


@dataclass(frozen=True, eq=False)
class _Some:
    """Some places, made up of others, to add up what lies in them: those are fewer, or smaller.

    parts : (p, b) matrix of -1, 0 and 1; base : (b, cells) matrix of 0 and 1. Their product tells where places are
    """

    parts: sparse.csr_matrix
    base: sparse.csr_matrix

    def total(self, values: np.ndarray) -> np.ndarray:
        """Values by cell, (cells, g), added up by place."""
        return np.asarray(self.parts @ np.asarray(self.base @ values))

    def holding(self, regions: sparse.csr_matrix) -> sparse.csr_matrix:
        """(p, regions) matrix of 0 and 1: which regions, (regions, cells), lie whole in each place."""
        sizes = np.diff(regions.indptr)
        overlaps = (self.parts @ (self.base @ regions.T)).tocoo()
        whole = overlaps.data == sizes[overlaps.col]
        ones = np.ones(int(whole.sum()), np.int64)
        return sparse.csr_matrix((ones, (overlaps.row[whole], overlaps.col[whole])), shape=overlaps.shape)


@dataclass(frozen=True)
class _Level:
    """The regions of one level of one release. region_of : bytes of the region of each cell, as in Sums."""

    release: int
    exact: bool
    n_regions: int
    region_of: bytes

    @cached_property
    def regions(self) -> sparse.csr_matrix:
        """(n_regions, cells) matrix of 0 and 1: which cells each region holds."""
        return _rows(np.frombuffer(self.region_of, np.int64), self.n_regions)


def _places_of(chunk: Chunk) -> _Places:
    """The places of a chunk: those of its overlay, whatever classes it has."""
    levels = (
        _Level(family.release, family.exact, family.n_regions, family.region.astype(np.int64).tobytes())
        for family in chunk.families
    )
    return _places(len(chunk.over.releases), chunk.over.n_cells, tuple(levels))


@lru_cache(maxsize=1)  # of other classes, and by every round of a repair, the same places are asked about again
def _places(n_releases: int, n_cells: int, levels: tuple[_Level, ...]) -> _Places:
    return _Places(n_releases, n_cells, levels)


class _Places:
    """The different places. sizes : (p,) how many cells each has.

    is_cell, is_difference : (p,) bool; of_release : of each release, (p,) bool, its regions of the coarsest level
    """

    def __init__(self, n_releases: int, n_cells: int, levels: Sequence[_Level]) -> None:
        base = [sparse.identity(n_cells, np.int64, format="csr"), *(level.regions for level in levels)]
        base.append(sparse.csr_matrix(np.ones((1, n_cells), np.int64)))
        starts = np.cumsum([0, *(matrix.shape[0] for matrix in base)], dtype=np.int64)
        of_level = [np.arange(start, stop, dtype=np.int64) for start, stop in zip(starts[1:], starts[2:-1])]
        of_release = [
            np.concatenate([rows for level, rows in zip(levels, of_level) if level.release == release])
            for release in range(n_releases)
        ]
        every = sparse.vstack(base).tocsr()
        pairs = [
            *combinations_with_replacement(of_release, 2),
            (starts[-2:-1], np.concatenate(of_release)),
        ]
        touching, n_both = [], int(starts[-1])
        both: list[sparse.csr_matrix] = []
        sizes_of_base, n_cells_of_pairs = np.diff(every.indptr).astype(np.int64), 0
        for own, other in pairs:
            first, second = (every[own] @ every[other].T).nonzero()
            n_cells_of_pairs += int((sizes_of_base[own[first]] + sizes_of_base[other[second]]).sum())
            if n_cells_of_pairs > MOST_CELLS:
                raise InputError(_too_many(n_cells, len(levels)))
            both += _common(every, own[first], other[second])
            touching.append((own[first], other[second], np.arange(n_both, n_both + len(first), dtype=np.int64)))
            n_both += len(first)
        every = sparse.vstack([every, *both]).tocsr()
        n = every.shape[0]
        parts = {
            _CELL: [_picked(np.arange(n_cells, dtype=np.int64), n)],
            _OTHER: [_picked(np.concatenate(of_release), n), *(_picked(common, n) for *_, common in touching)],
            _BESIDE: [_picked(around, n) - _picked(common, n) for *sides, common in touching for around in sides],
        }
        parts[_OTHER] += _unions(levels, [every[own] for own in of_release], of_level, n)
        rows = sparse.vstack([matrix for some in parts.values() for matrix in some]).tocsr()
        kinds = np.repeat(list(parts), [sum(matrix.shape[0] for matrix in some) for some in parts.values()])
        # Places of the same cells are one.
        keys_of_base = _keys(every)
        _, first, same = np.unique(keys_of_base, return_index=True, return_inverse=True)
        self._base = every[first]
        rows = (rows @ _picked(same.reshape(-1), len(first))).tocsr()
        sizes, keys = rows @ np.diff(self._base.indptr), rows.astype(np.uint64) @ keys_of_base[first]
        some = np.flatnonzero(sizes)
        kept = some[np.sort(np.unique(keys[some], return_index=True)[1])]
        self._parts, keys, kinds = rows[kept], keys[kept], kinds[kept]
        self.sizes = sizes[kept]
        self._cells = np.append(0, np.cumsum(np.diff(self._base.indptr).astype(np.int64)[self._parts.indices]))
        self.is_cell, self.is_difference = kinds == _CELL, kinds == _BESIDE
        coarsest = [np.unique(_keys(level.regions)) for level in levels if level.exact]
        self.of_release = [np.isin(keys, coarsest[release]) & ~self.is_cell for release in range(n_releases)]

    def members_of(self, rows: np.ndarray) -> sparse.csr_matrix:
        """(len(rows), cells) matrix of 0 and 1: which cells some of them have; of all at once it would be too large."""
        members = (self._parts[rows] @ self._base).tocsr()
        members.eliminate_zeros()
        members.sort_indices()
        return members

    def some(self, rows: slice) -> _Some:
        """Some of them, to add up what lies in them."""
        parts = self._parts[rows]
        used, column = np.unique(parts.indices, return_inverse=True)
        shape = (parts.shape[0], len(used))
        return _Some(sparse.csr_matrix((parts.data, column.reshape(-1), parts.indptr), shape=shape), self._base[used])

    def slices(self, most: int) -> Iterator[slice]:
        """All of them, at most so many at a time, and no more than have CELLS_AT_ONCE cells in what makes them up."""
        first, n = 0, len(self.sizes)
        cells = self._cells[self._parts.indptr]
        while first < n:
            last = int(np.searchsorted(cells, cells[first] + CELLS_AT_ONCE, side="right")) - 1
            last = min(max(last, first + 1), first + most, n)
            yield slice(first, last)
            first = last


_CELL, _OTHER, _BESIDE = range(3)


def _too_many(n_cells: int, n_levels: int) -> str:
    """What is said where so many regions lie within others that nobody could wait for what follows from all of them."""
    return tr(
        "These releases cannot be held against each other here: their regions, of {levels:,} levels, divide the "
        "areas into {cells:,} parts, and too many of them lie within others. Release fewer levels (a larger RATIO), or "
        "parts of the territory, each with a register of its own.",
        cells=n_cells,
        levels=n_levels,
    )


def _common(every: sparse.csr_matrix, first: np.ndarray, second: np.ndarray) -> Iterator[sparse.csr_matrix]:
    """What some rows have in common with others, (r, cells), some at a time: a whole territory, as often as it has
    regions, would not fit into memory."""
    sizes = np.diff(every.indptr).astype(np.int64)
    cells = np.cumsum(sizes[first] + sizes[second])
    ends = np.searchsorted(
        cells, np.arange(CELLS_AT_ONCE, int(cells[-1]) if len(cells) else 0, CELLS_AT_ONCE, dtype=np.int64)
    )
    for start, end in zip([0, *ends.tolist()], [*ends.tolist(), len(first)]):
        yield every[first[start:end]].multiply(every[second[start:end]]).tocsr()


def _picked(rows: np.ndarray, n: int) -> sparse.csr_matrix:
    """(r, n) matrix that picks these rows."""
    ends = np.arange(len(rows) + 1, dtype=np.int32)
    return sparse.csr_matrix((np.ones(len(rows), np.int64), rows.astype(np.int32), ends), shape=(len(rows), n))


def _unions(
    levels: Sequence[_Level], regions: Sequence[sparse.csr_matrix], rows: Sequence[np.ndarray], n: int
) -> Iterator[sparse.csr_matrix]:
    """Regions of a level that a region of another release lies across: all that it touches; and, of coarsest levels,
    every few that hang together by such regions, as what those show can be taken away from all of them only.

    rows : of each level, those of its regions; yields (r, n) matrices of 0 and 1, which rows make up each union
    """
    for level, own_rows in zip(levels, rows):
        own, pick = level.regions, _picked(own_rows, n)
        for other, theirs in enumerate(regions):
            if other != level.release:
                yield (theirs @ own.T).astype(bool).astype(np.int64) @ pick
        if level.exact:
            others = [theirs for other, theirs in enumerate(regions) if other != level.release]
            touched = (sparse.vstack(others).tocsr() @ own.T).astype(bool).astype(np.int64)
            hang = (touched.T @ touched).tolil().rows
            together = _hanging_together([set(row) for row in hang])
            if together:
                row = np.repeat(np.arange(len(together), dtype=np.int64), [len(some) for some in together])
                column = np.concatenate(together)
                shape = (len(together), own.shape[0])
                yield sparse.csr_matrix((np.ones(len(row), np.int64), (row, column)), shape=shape) @ pick


def _hanging_together(neighbours: Sequence[set[int]]) -> list[list[int]]:
    """All that hang together, two and more, up to MOST_UNIONS of them, the smallest first."""
    unions: list[list[int]] = []
    last = {frozenset([position]) for position in range(len(neighbours))}
    while last and len(unions) < MOST_UNIONS:
        last = {some | {neighbour} for some in last for member in some for neighbour in neighbours[member] - some}
        unions += sorted(sorted(some) for some in last)[: MOST_UNIONS - len(unions)]
    return unions


class _Groups:
    """The different groups of joint classes. members : (g, u) matrix of 0 and 1.

    fits : (g,) bool, those in which nothing is contradicted; is_joint : (g,) bool, joint classes by themselves;
    of_release : of each release, (g,) bool, its classes
    """

    def __init__(self, chunk: Chunk) -> None:
        over, joint = chunk.over, chunk.joint
        parts = [sparse.identity(len(joint), np.int64, format="csr"), *map(_rows, _divisions(over, joint))]
        kinds = np.repeat([_CELL, *[_OTHER] * (len(parts) - 1)], [part.shape[0] for part in parts])
        self.members, kinds = _different(sparse.vstack(parts).tocsr(), kinds)
        self.fits = ~(self.members @ chunk.contradicted > 0)
        self.is_joint = kinds == _CELL
        keys = _keys(self.members)
        own = [_keys(_rows(over.entries[joint, schema])) for schema in range(len(over.schemas))]
        self.of_release = [np.isin(keys, own[schema]) for schema in over.schema_of]


class _Known:
    """What a family of sums tells beyond its unknowns one by one, and the records that its equivalence classes show.

    more, less : by region and class, how many more people than the sum of the least there are at least, and how many
    fewer than the sum of the most; released : the records of its equivalence classes
    """

    def __init__(self, chunk: Chunk, number: int, groups: _Groups) -> None:
        family, bounds = chunk.families[number], chunk.bounds
        self.release = family.release
        self._regions, classes = family.members[:-1], _rows(family.class_of, family.low.shape[1] - 1)
        self._groups = within_of(groups.members, classes)
        least, most = ((self._regions @ values) @ classes.T for values in (bounds.low, bounds.high))
        self.more = np.maximum(bounds.sum_low[number][:-1, :-1] - least, 0)
        self.less = np.maximum(most - bounds.sum_high[number][:-1, :-1], 0)
        self.released = np.zeros_like(self.more)
        equivalence_class, region, joint = chunk.equivalence_classes_of(family)
        self.released[region, family.class_of[joint]] = chunk.over.releases[family.release].records[equivalence_class]
        sizes = np.diff(self._regions.indptr)
        self._alone, self._larger = np.flatnonzero(sizes == 1), np.flatnonzero(sizes != 1)

    def within(self, places: _Some) -> sparse.csr_matrix:
        """(p, regions) matrix of 0 and 1: which regions of several cells lie whole in each place."""
        return places.holding(self._regions[self._larger])

    def over(self, values: np.ndarray, places: _Some, within: sparse.csr_matrix) -> np.ndarray | None:
        """Values by region and class, added up by place and group over those that lie whole in them, (p, g).

        None where all are 0; within : as above. Of a region of one cell the values are those of the cell.
        """
        if not values.any():
            return None
        by_group = np.asarray((self._groups @ values.T).T)
        total = np.asarray(within @ by_group[self._larger])
        if values[self._alone].any():
            by_cell = self._regions[self._alone].T @ by_group[self._alone]
            total += places.total(np.asarray(by_cell))
        return total


def _divisions(over: Overlay, joint: np.ndarray) -> Iterator[np.ndarray]:
    """Joint classes by the values of one set of quasi-identifiers or several, and by those in common: (u,) arrays.

    Releases that have none in common still have all people in common.
    """
    entries = over.entries[joint].T
    for n in range(1, len(entries)):
        for some in combinations(entries, n):
            yield _combined(some)
    known = {frozenset(schema.names) for schema in over.schemas}
    for names in _shared_names(over, joint):
        if names not in known:
            yield _by_values(over, joint, sorted(names))


def _shared_names(over: Overlay, joint: np.ndarray) -> list[frozenset[str]]:
    """Sets of quasi-identifiers that some release shows together: those that several have in common, and with few of
    them all others that tell no more apart than what shares sums.

    Of sums that have nothing in common one must be disclosed where all together are.
    """
    schemas = [frozenset(schema.names) for schema in over.schemas]
    shared, more = set(schemas), set(schemas)
    while more:
        more = {names & other for names in more for other in shared} - shared
        shared |= more
    if len(schemas) > 1 and max(map(len, schemas)) <= MOST_NAMES:
        group = over.group_of[joint]
        same = frozenset(name for name in frozenset.union(*schemas) if _one_value(over, joint, name, group))
        for schema in schemas:
            free = sorted(schema - same)
            shared |= {same & schema | set(some) for n in range(len(free)) for some in combinations(free, n)}
    return sorted(shared, key=sorted)


def _one_value(over: Overlay, joint: np.ndarray, name: str, group: np.ndarray) -> bool:
    """Whether all joint classes that share sums have one value of a quasi-identifier."""
    values = _by_values(over, joint, [name])
    pairs = np.unique(np.column_stack([group, values])[values >= 0], axis=0)
    return len(pairs) == len(np.unique(pairs[:, 0]))


def _by_values(over: Overlay, joint: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Joint classes by the values of quasi-identifiers that several sets of them have in common."""
    number: dict[tuple[str, ...], int] = {}
    of_each: np.ndarray = np.full(len(joint), NONE, np.int64)
    for schema, entry in zip(over.schemas, over.entries[joint].T):
        if set(names) <= set(schema.names):
            at = [schema.names.index(name) for name in names]
            of_class = [number.setdefault(tuple(values[i] for i in at), len(number)) for values in schema.classes]
            of_each = np.where(of_each < 0, np.array([*of_class, NONE], np.int64)[entry], of_each)
    return of_each


def _combined(divisions: Sequence[np.ndarray]) -> np.ndarray:
    """The division by several at once; NONE where any is."""
    inside = np.logical_and.reduce([division >= 0 for division in divisions])
    combined = np.full(len(inside), NONE, np.int64)
    if inside.any():
        codes = [division[inside] for division in divisions]
        combined[inside] = combine_codes(codes, [int(column.max()) + 1 for column in codes])[0]
    return combined


def _rows(part_of: np.ndarray, n: int | None = None) -> sparse.csr_matrix:
    """(n, things) matrix of 0 and 1: which things are in each part; part_of : NONE for those in none."""
    return memberships(part_of, int(part_of.max(initial=NONE)) + 1 if n is None else n)


def _different(rows: sparse.csr_matrix, kinds: np.ndarray) -> tuple[sparse.csr_matrix, np.ndarray]:
    """The rows that are not empty, each once, and the kind of the first of those that are the same."""
    some = np.flatnonzero(np.diff(rows.indptr))
    first = some[np.sort(np.unique(_keys(rows[some]), return_index=True)[1])]
    return rows[first], kinds[first]


def _keys(rows: sparse.csr_matrix) -> np.ndarray:
    """A number for each row that tells it from others, by random numbers of its columns: 62 bits."""
    draws = np.random.default_rng(0).integers(0, 2**62, rows.shape[1], dtype=np.uint64)
    return np.asarray(rows.astype(np.uint64) @ draws)
