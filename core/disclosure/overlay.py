"""What several releases say of the same people: unknowns, and what is known of their sums.

The unknowns are the people of each overlay cell and joint class. Areas that lie in the same region of every level of
every release are one overlay cell; a joint class is one of the classes that releases show, or for quasi-identifiers
that differ, a pair of them (more for more releases) that agree where both have a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import permutations, product
from math import prod

import numpy as np

from ..adjacency import connected_parts
from ..arrays import to_list
from ..dataclass import dataclass
from ..errors import InputError
from ..language import tr
from ..records.columns import combine_codes
from ..scientific import sparse
from .in_series import nobody, nobody_in_coarsest
from .published import Published, check_areas
from .small_counts import memberships

UNBOUNDED = np.int64(2**40)
"""Stands for any number of people; sums of a hundred thousand of them are still exact."""
NONE = -1
MOST_JOINT_CLASSES = 200_000
MOST_CLASSES_OF_ALL_VALUES = 1_000


@dataclass(frozen=True, eq=False)
class Sums:
    """What is known of sums of unknowns: one family of rows, of all regions of one level of one release.

    release, level : whose; region : (cells,) the region of each cell, NONE outside; n_regions
    class_of : (U,) the release's class of each joint class, NONE where that is not among those shown
    low, high : (n_regions + 1, n_classes + 1) int64 bounds of the people of a region and class; the last row and column
    are for NONE, of which nothing is known
    exact : whether regions are those of the coarsest level, whose counts are of all people where anything is shown
    """

    release: int
    level: int
    region: np.ndarray
    n_regions: int
    class_of: np.ndarray
    low: np.ndarray
    high: np.ndarray
    exact: bool

    @cached_property
    def members(self) -> sparse.csr_matrix:
        """(n_regions + 1, cells) matrix of 0 and 1: which cells each region holds."""
        return memberships(np.where(self.region >= 0, self.region, self.n_regions), self.n_regions + 1)


@dataclass(frozen=True, eq=False)
class Schema:
    """Quasi-identifiers of one release or several, with all their classes.

    names : in alphabetical order; classes : list of value tuples
    """

    names: tuple[str, ...]
    classes: list[tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Overlay:
    """The overlay of several releases.

    areas : (n,) object array of all identifiers; cell_of : (n,) the overlay cell of each
    regions : (cells, M) region of each cell in each level of each release, M levels in all, NONE outside
    schemas : the sets of quasi-identifiers; schema_of : the schema of each release
    entries : (U, schemas) the class of each joint class in each schema, NONE where that is none of those shown
    group_of : (U,) joint classes with a sum in common have the same number, 0.. in ascending order of U
    nobody : (U, schemas) bool, joint classes that nobody is in if the values that some release shows are all there are:
    they stand for classes that a schema does not show, and it shows all there can be
    own_class : of each release, (classes of its schema,) its own number of each, NONE where it does not show the class
    """

    releases: tuple[Published, ...]
    areas: np.ndarray
    cell_of: np.ndarray
    regions: np.ndarray
    schemas: tuple[Schema, ...]
    schema_of: tuple[int, ...]
    entries: np.ndarray
    group_of: np.ndarray
    nobody: np.ndarray
    own_class: tuple[np.ndarray, ...]

    @property
    def n_cells(self) -> int:
        """Number of overlay cells."""
        return len(self.regions)

    def quasi_identifiers(self) -> list[str]:
        """All quasi-identifiers, in alphabetical order."""
        return sorted({name for schema in self.schemas for name in schema.names})

    def values_of(self, joint: int) -> dict[str, str | None]:
        """The values of a joint class; None where it stands for all values that no release shows with the rest."""
        values: dict[str, str | None] = dict.fromkeys(self.quasi_identifiers())
        for schema, entry in zip(self.schemas, self.entries[joint].tolist()):
            if entry >= 0:
                values.update(zip(schema.names, schema.classes[entry]))
        return values

    def sums(self, joint: np.ndarray) -> list[Sums]:
        """What is known of the sums of these joint classes, (u,), whole groups of them."""
        families = []
        column = 0
        for position, release in enumerate(self.releases):
            schema_classes = self.entries[joint, self.schema_of[position]]
            used, class_of = np.unique(schema_classes, return_inverse=True)
            class_of = class_of.reshape(-1) - int(len(used) > 0 and used[0] == NONE)
            used = used[used >= 0]
            for level in range(len(release.levels)):
                region = self.regions[:, column]
                n_regions = release.levels.crosswalks[level].n_regions
                low, high, exact = _known(release, level, self.own_class[position][used])
                families.append(Sums(position, level, region, n_regions, class_of, low, high, exact))
                column += 1
        return families


def overlay(releases: Sequence[Published]) -> Overlay:
    """The overlay of releases whose areas have the same identifiers.

    Raises InputError where releases have no area in common, and where quasi-identifiers differ so much that there
    would be more than MOST_JOINT_CLASSES joint classes.
    """
    check_areas(releases)
    areas = np.array(sorted({area for release in releases for area in release.areas.tolist()}), dtype=object)
    position = {identifier: i for i, identifier in enumerate(areas.tolist())}
    columns = []
    for release in releases:
        at = np.fromiter((position[area] for area in release.areas.tolist()), np.int64, len(release.areas))
        for crosswalk in release.levels.crosswalks:
            column = np.full(len(areas), NONE, np.int64)
            column[at] = crosswalk.region_of
            columns.append(column)
    cell_of, regions = combine_codes([codes + 1 for codes in columns], [int(codes.max()) + 2 for codes in columns])
    schemas, schema_of = _schemas(releases)
    entries, group_of = _grouped(_joint_classes(schemas))
    own_class = tuple(_own_classes(release, schemas[of]) for release, of in zip(releases, schema_of))
    return Overlay(
        tuple(releases),
        areas,
        cell_of,
        regions - 1,
        schemas,
        schema_of,
        entries,
        group_of,
        _nobody(schemas, entries),
        own_class,
    )


def differences(outer: Sums, inner: Sums) -> Iterator[tuple[int, int, np.ndarray]]:
    """Regions of one family, smaller ones of another within them, and the two or more overlay cells between them."""
    sizes = [np.bincount(family.region[family.region >= 0], minlength=family.n_regions) for family in (outer, inner)]
    around = region_around(outer, inner)
    for a in to_list(np.flatnonzero(around >= 0)):
        b = int(around[a])
        if sizes[0][b] > sizes[1][a] + 1:
            yield b, a, np.flatnonzero((outer.region == b) & (inner.region != a))


def region_around(outer: Sums, inner: Sums) -> np.ndarray:
    """The region of one family that holds each region of another as a whole, (n_regions,), NONE for none."""
    least = np.full(inner.n_regions + 1, np.iinfo(np.int64).max, np.int64)
    most = np.full(inner.n_regions + 1, NONE, np.int64)
    np.minimum.at(least, inner.region, outer.region)
    np.maximum.at(most, inner.region, outer.region)
    return np.where(least == most, most, NONE)[:-1]


def _known(release: Published, level: int, own: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """`low`, `high` and `exact` of Sums for a level; own : the release's own number of each class, NONE for none."""
    crosswalks = release.levels.crosswalks
    n_regions, last = crosswalks[level].n_regions, len(crosswalks) - 1
    column_of = np.full(len(release.classes) + 1, NONE, np.int64)
    column_of[own[own >= 0]] = np.flatnonzero(own >= 0)
    low = np.zeros((n_regions + 1, len(own) + 1), np.int64)
    if release.counts_from is not None:
        return (*_counted(release, low, column_of), True)
    single = np.zeros_like(low)
    for finer in range(level + 1):
        here = np.flatnonzero((release.level == finer) & (column_of[release.class_of] >= 0))
        region = release.region[here]
        for lower in range(finer, level):
            region = release.levels.parents(lower)[region]
        np.add.at(low, (region, column_of[release.class_of[here]]), release.records[here])
        if finer == level:
            single[region, column_of[release.class_of[here]]] = release.records[here]
    high = np.full_like(low, UNBOUNDED)
    empty = np.zeros(low.shape, bool)
    at_level, region, class_of = nobody(release)
    here = (at_level == level) & (column_of[class_of] >= 0)
    empty[region[here], column_of[class_of[here]]] = True
    if level == last:
        released = low > 0
        if release.whole:
            high[released] = low[released]
        if release.bounded or release.held_back is not None:
            high[~released] = release.k - 1
        if release.held_back is not None and len(release.held_back):
            at, column = release.held_back[:, 0], column_of[release.held_back[:, 1]]
            high[at[column >= 0], column[column >= 0]] = UNBOUNDED
    if last and level == last:
        # Of a series all or nothing is shown there, so that whoever is missing is nobody.
        region, class_of = nobody_in_coarsest(release)
        here = column_of[class_of] >= 0
        high[region[here], column_of[class_of[here]]] = 0
    if last:
        # All records that one area has of a class show the same equivalence class: one that shows a single area shows
        # all of them. In zones, so does one of any region, but for those that regions within show.
        inside = crosswalks[level].region_of >= 0
        alone = np.append(np.bincount(crosswalks[level].region_of[inside], minlength=n_regions) == 1, False)
        known = ((single > 0) | empty) & (alone[:, None] | release.in_zones)
        high[known] = low[known]
    else:
        high[empty] = 0
    low[-1], high[-1], low[:, -1], high[:, -1] = 0, UNBOUNDED, 0, UNBOUNDED
    return low, high, level == last


def _counted(release: Published, low: np.ndarray, column_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`low` and `high` of Sums for a table of counts; column_of : of its classes, NONE for none."""
    high = np.full_like(low, UNBOUNDED)
    here = np.flatnonzero(column_of[release.class_of] >= 0)
    at = (release.region[here], column_of[release.class_of[here]])
    low[at] = 0 if release.counts_from is None else release.counts_from[here]
    high[at] = release.records[here]
    return low, high


def _schemas(releases: Sequence[Published]) -> tuple[tuple[Schema, ...], tuple[int, ...]]:
    """The different sets of quasi-identifiers, the largest first, with the classes of all their releases.

    The classes of a set are also those that follow from a larger set; and all that there can be of the values that are
    shown, where those are few and there are several sets. Of others, which no release shows, nothing is told apart.
    """
    known: dict[str, set[str]] = {}
    for release in releases:
        for name, values in zip(release.quasi_identifiers, release.categories):
            known.setdefault(name, set()).update(values.tolist())
    names = sorted(
        {tuple(sorted(release.quasi_identifiers)) for release in releases},
        key=lambda schema_names: (-len(schema_names), schema_names),
    )
    schemas: list[Schema] = []
    for own in names:
        classes: set[tuple[str, ...]] = set()
        for release in releases:
            if tuple(sorted(release.quasi_identifiers)) == own:
                classes.update(_in_order(release, own))
        for larger in schemas:
            if set(own) < set(larger.names):
                at = [larger.names.index(name) for name in own]
                classes.update(tuple(values[i] for i in at) for values in larger.classes)
        if len(names) > 1 and prod(len(known[name]) for name in own) <= MOST_CLASSES_OF_ALL_VALUES:
            classes.update(_possible(own, known, classes))
        schemas.append(Schema(own, sorted(classes)))
    of = tuple(names.index(tuple(sorted(release.quasi_identifiers))) for release in releases)
    return tuple(schemas), of


def _possible(
    names: Sequence[str], known: Mapping[str, set[str]], classes: set[tuple[str, ...]]
) -> Iterator[tuple[str, ...]]:
    """All classes that the values make, but for those in which a coarser value is not that of the finer one."""
    above = []
    for fine, coarse in permutations(range(len(names)), 2):
        if _is_finer(names[fine], len(known[names[fine]]), names[coarse], len(known[names[coarse]])):
            pairs = {(values[fine], values[coarse]) for values in classes}
            if len(pairs) == len(dict(pairs)):  # else these values are the coarser ones
                above.append((fine, coarse, dict(pairs)))
    for values in product(*(sorted(known[name]) for name in names)):
        if all(coarser.get(values[fine], values[coarse]) == values[coarse] for fine, coarse, coarser in above):
            yield values


def is_level_of(coarse: str, fine: str) -> bool:
    """Whether a name is that of a coarser level of a quasi-identifier, as `Relating` gives them: “age (level 1)”."""
    base, _, level = coarse.rpartition(" (")
    return bool(base) and bool(level) and coarse != fine and base in (fine, fine.rpartition(" (")[0])


def _is_finer(fine: str, n_fine: int, coarse: str, n_coarse: int) -> bool:
    """Whether one of two names is that of the finer level of a quasi-identifier: of two coarser levels the one with
    more values; n_fine, n_coarse : how many values are known of each."""
    if not is_level_of(coarse, fine):
        return False
    return fine == coarse.rpartition(" (")[0] or (n_fine, coarse) > (n_coarse, fine)


def _in_order(release: Published, names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The values of each class of a release, in the order of these names."""
    at = [release.quasi_identifiers.index(name) for name in names]
    return [tuple(values[i] for i in at) for values in release.values_of_classes()]


def _own_classes(release: Published, schema: Schema) -> np.ndarray:
    """The release's own number of each class of the schema, NONE where it does not show the class."""
    number = {values: i for i, values in enumerate(_in_order(release, schema.names))}
    return np.array([number.get(values, NONE) for values in schema.classes], np.int64)


def _joint_classes(schemas: Sequence[Schema]) -> np.ndarray:
    """`entries` of Overlay: every choice of one class of each schema, or none of those shown, that agrees."""
    rows: list[tuple[int, ...]] = [()]
    for position, schema in enumerate(schemas):
        index: Index = {}
        rows = [(*row, entry) for row in rows for entry in _agreeing(row, schemas[:position], schema, index)]
        if len(rows) > MOST_JOINT_CLASSES:
            raise InputError(
                tr(
                    "The quasi-identifiers of the releases combine to more than {most_joint_classes} classes, "
                    "too many to check together: check fewer releases at a time, those with the same "
                    "quasi-identifiers first.",
                    most_joint_classes=MOST_JOINT_CLASSES,
                )
            )
    entries = np.array(rows, np.int64).reshape(len(rows), len(schemas))
    return entries[(entries >= 0).any(axis=1) & ~_of_no_values(schemas, entries)]


def _of_no_values(schemas: Sequence[Schema], entries: np.ndarray) -> np.ndarray:
    """Which choices, (rows,) bool, have none of the classes of a schema although the others say which one it is: nobody
    is of these, whatever other values there may be."""
    impossible = np.zeros(len(entries), bool)
    for position, schema in enumerate(schemas):
        classes = set(schema.classes)
        lacking = np.flatnonzero(entries[:, position] == NONE)
        there = entries[lacking] >= 0
        for pattern in np.unique(there, axis=0):
            said_by = {name: other for other in to_list(np.flatnonzero(pattern)) for name in schemas[other].names}
            if not set(schema.names) <= said_by.keys():
                continue
            at = [(said_by[name], schemas[said_by[name]].names.index(name)) for name in schema.names]
            for row in to_list(lacking[(there == pattern).all(axis=1)]):
                values = tuple(schemas[other].classes[entries[row, other]][column] for other, column in at)
                impossible[row] = values in classes
    return impossible


# Of the names shared with what was chosen before: the classes by their values.
Index = dict[tuple[str, ...], dict[tuple[str, ...], list[int]]]


def _agreeing(row: tuple[int, ...], before: Sequence[Schema], schema: Schema, index: Index) -> list[int]:
    """The classes of a schema that agree with those chosen before; NONE too, where that can be."""
    values: dict[str, str] = {}
    for other, entry in zip(before, row):
        if entry >= 0:
            values.update(zip(other.names, other.classes[entry]))
    shared = tuple(name for name in schema.names if name in values)
    if shared not in index:
        at = [schema.names.index(name) for name in shared]
        index[shared] = {}
        for number, of_class in enumerate(schema.classes):
            index[shared].setdefault(tuple(of_class[i] for i in at), []).append(number)
    numbers = index[shared].get(tuple(values[name] for name in shared), [])
    determined = len(shared) == len(schema.names) and numbers
    return numbers if determined else [*numbers, NONE]


def _nobody(schemas: Sequence[Schema], entries: np.ndarray) -> np.ndarray:
    """`nobody` of Overlay: where a release shows every class that agrees with the rest, none is left for NONE."""
    released_values = _ReleasedValues(schemas)
    nobody = np.zeros(entries.shape, bool)
    for position, schema in enumerate(schemas):
        lacking = np.flatnonzero(entries[:, position] == NONE)
        there = entries[lacking] >= 0
        for pattern in np.unique(there, axis=0):
            others = [
                number for number in to_list(np.flatnonzero(pattern)) if set(schemas[number].names) & set(schema.names)
            ]
            rows = lacking[(there == pattern).all(axis=1)]
            if not others:
                nobody[rows, position] = len(schema.classes) >= released_values.n_classes(schema, {})
                continue
            shared = sorted({name for other in others for name in schemas[other].names} & set(schema.names))
            column = {name: next(other for other in others if name in schemas[other].names) for name in shared}
            codes = [released_values.codes(schemas[column[name]], name)[entries[rows, column[name]]] for name in shared]
            own = [released_values.codes(schema, name) for name in shared]
            sizes = [len(released_values.values[name]) for name in shared]
            both, known = combine_codes([np.concatenate(parts) for parts in zip(codes, own)], sizes)
            n_released = np.bincount(both[len(rows) :], minlength=len(known))
            there_can_be = np.array(
                [released_values.n_classes(schema, dict(zip(shared, code))) for code in to_list(known)], np.int64
            )
            nobody[rows, position] = (n_released >= there_can_be)[both[: len(rows)]]
    return nobody


class _ReleasedValues:
    """The values of each quasi-identifier that some release shows, and which of them go together.

    A quasi-identifier determines its coarser levels, as ages their age groups.
    """

    def __init__(self, schemas: Sequence[Schema]) -> None:
        names = sorted({name for schema in schemas for name in schema.names})
        self.values = {name: sorted(_values_of(schemas, name)) for name in names}
        self._number = {name: {value: i for i, value in enumerate(self.values[name])} for name in names}
        self._above: dict[tuple[str, str], np.ndarray] = {}
        for fine in names:
            for coarse in names:
                if _is_finer(fine, len(self.values[fine]), coarse, len(self.values[coarse])):
                    above = self._determined(schemas, fine, coarse)
                    if above is not None:
                        self._above[fine, coarse] = above

    def codes(self, schema: Schema, name: str) -> np.ndarray:
        """The value of each class of a schema, as a number."""
        at = schema.names.index(name)
        return np.array([self._number[name][of_class[at]] for of_class in schema.classes], np.int64)

    def n_classes(self, schema: Schema, known: dict[str, int]) -> int:
        """How many classes there can be with these values, if those that are seen are all there are."""
        number = 1
        for name in set(schema.names) - set(known):
            if any((other, name) in self._above for other in schema.names):
                continue  # it follows from a finer one
            possible = np.ones(len(self.values[name]), bool)
            for coarse, value in known.items():
                above = self._above.get((name, coarse))
                if above is not None and (above == value).any():  # else nobody knows what the coarser one is made of
                    possible &= above == value
            number *= int(possible.sum())
        return number

    def _determined(self, schemas: Sequence[Schema], fine: str, coarse: str) -> np.ndarray | None:
        """The coarser value of each finer one, if it has one alone."""
        pairs = [
            np.column_stack([self.codes(schema, fine), self.codes(schema, coarse)])
            for schema in schemas
            if {fine, coarse} <= set(schema.names)
        ]
        if not pairs:
            return None
        unique = np.unique(np.concatenate(pairs), axis=0)
        return unique[:, 1] if len(unique) == len(self.values[fine]) == len(np.unique(unique[:, 0])) else None


def _values_of(schemas: Sequence[Schema], name: str) -> set[str]:
    return {
        of_class[schema.names.index(name)] for schema in schemas if name in schema.names for of_class in schema.classes
    }


def _grouped(entries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The joint classes ordered by group, and the group of each."""
    number = np.unique(together(list(entries.T), len(entries)), return_inverse=True)[1].reshape(-1)
    order = np.argsort(number, kind="stable")
    return entries[order], number[order]


def together(divisions: Sequence[np.ndarray], n: int) -> np.ndarray:
    """A number for each of n things, the same for those that hang together: of which one division or another puts two
    and two in one part. divisions : (n,) the part of each, NONE for none"""
    first, things, parts = n, [], []
    for part_of in divisions:
        there = np.flatnonzero(part_of >= 0)
        things.append(there)
        parts.append(first + part_of[there])
        first += int(part_of.max(initial=NONE)) + 1
    thing, part_of = (np.concatenate([np.empty(0, np.int64), *ends]) for ends in (things, parts))
    return connected_parts(thing, part_of, first)[:n]
