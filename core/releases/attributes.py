"""What releases show of one attribute: its values, and how many records have each in which part of the country.

By that two attributes are told to be the same, or not, whatever they are called.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

import numpy as np

from ..arrays import to_list
from ..dataclass import dataclass
from ..disclosure.published import Published
from ..disclosure.values import MISSING
from ..generalising.hierarchies import SUPPRESSED_VALUE
from ..plain_text import without_writing
from ..scientific import optimize, sparse

MOST_COMPARED = 20_000_000
"""Numbers that are compared to find which values could be which."""
MOST_TURNS = 20
SAYS_NOTHING = frozenset((MISSING, without_writing(SUPPRESSED_VALUE)))


@dataclass(frozen=True, eq=False)
class Attribute:
    """An attribute of one release.

    name; title : of the release; values : (V,) text, as shown; level : of its coarser values, 0 for as they are
    sensitive : whether it is a sensitive field
    equivalence_class, value, records : (s,) int64, of what is shown: the equivalence class, the value and how many
    records
    """

    name: str
    title: str
    values: tuple[str, ...]
    level: int
    sensitive: bool
    equivalence_class: np.ndarray
    value: np.ndarray
    records: np.ndarray

    @property
    def by_value(self) -> dict[str, int]:
        """Records by value, of those that are shown, but for values that say nothing."""
        totals = np.bincount(self.value, self.records, len(self.values)).astype(np.int64)
        counts = dict(zip(self.values, to_list(totals)))
        return {value: n for value, n in counts.items() if n and without_writing(value) not in SAYS_NOTHING}

    def share_among(self, others: Collection[str]) -> float:
        """The share of the records whose value is among others, written alike or not, 0 to 1."""
        there, own = {without_writing(value) for value in others} - SAYS_NOTHING, self.by_value
        total = sum(own.values())
        return sum(n for value, n in own.items() if without_writing(value) in there) / total if total else 0.0

    def divides(self, k: int) -> bool:
        """Whether some equivalence class has several of its values, and k records and more of each that it has."""
        return bool(len(self.equivalence_class) > len(np.unique(self.equivalence_class)) and (self.records >= k).all())


def attributes_of(release: Published) -> dict[str, Attribute]:
    """All attributes of a release, by name; a quasi-identifier goes before a sensitive field of that name."""
    attributes = {}
    for field in release.sensitive:
        values = tuple(field.categories.tolist())
        attributes[field.field] = Attribute(
            field.field, release.title, values, 0, True, field.equivalence_class, field.value, np.asarray(field.records)
        )
    equivalence_classes = np.arange(len(release.records), dtype=np.int64)
    for at, name in enumerate(release.quasi_identifiers):
        values, codes = tuple(release.categories[at].tolist()), release.classes[:, at][release.class_of]
        level = release.coarsened.get(name, 0)
        attributes[name] = Attribute(
            name, release.title, values, level, False, equivalence_classes, codes, release.records
        )
    return attributes


@dataclass(frozen=True, eq=False)
class Parts:
    """The smallest groups of people that two releases both count: whole regions of both, of the same areas, and in them
    the people with the same values of further attributes.

    of_equivalence_class : for each release (L,) int64, the part in which each equivalence class is, -1 for none; n :
    how many parts
    """

    of_equivalence_class: tuple[np.ndarray, np.ndarray]
    n: int


def parts_of(first: Published, second: Published, shared: Sequence[str] = ()) -> Parts:
    """The parts that are the same in two releases; none where regions do not have the same areas.

    shared : quasi-identifiers that both show
    """
    n_first, n_second = (release.levels.crosswalks[-1].n_regions for release in (first, second))
    in_first, in_second = _regions_of_areas(first), _regions_of_areas(second)
    areas = sorted(in_first.keys() | in_second.keys())
    a = np.array([in_first.get(area, -1) for area in areas], np.int64)
    b = np.array([in_second.get(area, -1) for area in areas], np.int64)
    both = (a >= 0) & (b >= 0)
    edges = (np.ones(int(both.sum())), (a[both], n_first + b[both]))
    size = n_first + n_second
    part = sparse.csgraph.connected_components(sparse.csr_matrix(edges, shape=(size, size)), directed=False)[1]
    # A region with an area that the other does not count holds other people.
    alone = np.concatenate([a[(a >= 0) & ~both], n_first + b[(b >= 0) & ~both]])
    whole = np.setdiff1d(np.intersect1d(part[:n_first], part[n_first:]), part[alone])
    number = np.full(size, -1, np.int64)
    number[whole] = np.arange(len(whole), dtype=np.int64)
    part = number[part]
    of_equivalence_class = part[:n_first][first.coarsest_region], part[n_first:][second.coarsest_region]
    return _by_classes(of_equivalence_class, len(whole), (first, second), shared)


def _by_classes(
    of_equivalence_class: tuple[np.ndarray, np.ndarray],
    n: int,
    releases: tuple[Published, Published],
    shared: Sequence[str],
) -> Parts:
    """Parts divided by what people have in common in both releases."""
    if not n or not shared:
        return Parts(of_equivalence_class, n)
    codes: dict[tuple[str, ...], int] = {}
    kind = []
    for release in releases:
        at = [release.quasi_identifiers.index(name) for name in shared]
        values = ([without_writing(row[i]) for i in at] for row in release.values_of_classes())
        of_class = np.array([codes.setdefault(tuple(row), len(codes)) for row in values], np.int64)
        kind.append(of_class[release.class_of])
    keys = [np.where(part >= 0, part * len(codes) + own, -1) for part, own in zip(of_equivalence_class, kind)]
    used = np.unique(np.concatenate(keys))
    used = used[used >= 0]
    parts = [np.where(key >= 0, np.searchsorted(used, key), -1) for key in keys]
    return Parts((parts[0], parts[1]), len(used))


def _regions_of_areas(release: Published) -> dict[str, int]:
    """The region of the coarsest level of each area that is in one."""
    pairs = zip(release.areas.tolist(), to_list(release.levels.crosswalks[-1].region_of))
    return {area: region for area, region in pairs if region >= 0}


def likeness(first: Attribute, second: Attribute, parts: Parts) -> float | None:
    """How far two attributes count the same people by their values as they are written, 0 to 1; None without parts.

    1 where, value by value and part by part, the release that shows fewer has nothing beyond the other.
    """
    tables = _tables(first, second, parts)
    if tables is None:
        return None
    codes: dict[str, int] = {}
    at = [
        np.array([codes.setdefault(without_writing(value), len(codes)) for value in own.values], np.int64)
        for own in (first, second)
    ]
    joined = [_added(table, of, len(codes)) for table, of in zip(tables, at)]
    return float(np.minimum(*joined).sum() / min(table.sum() for table in tables))


@dataclass(frozen=True)
class Recoded:
    """Which values of one attribute could be which of another. likeness : as of `likeness`; exact : whether all totals
    agree to the record; values : pairs, none where several values of one would be one of the other"""

    likeness: float
    exact: bool
    values: tuple[tuple[str, str], ...]


def recoded(first: Attribute, second: Attribute, parts: Parts) -> Recoded | None:
    """The values that fit each other best by their totals, one to one or several to one; None where there are no totals
    to go by, or too many."""
    tables = _tables(first, second, parts)
    if tables is None or tables[0].shape[0] * tables[1].size > MOST_COMPARED:
        return None
    own_counts, other = tables
    in_common = np.array([np.minimum(row, other).sum(axis=1) for row in own_counts])
    mine, others = optimize.linear_sum_assignment(-in_common)
    fits = in_common[mine, others] > 0
    mine, others = mine[fits], others[fits]
    fewest = min(table.sum() for table in tables)
    share = float(in_common[mine, others].sum() / fewest)
    exact = (
        len(mine) == len(own_counts) == len(other)
        and len(mine) > 1
        and np.array_equal(own_counts[mine], other[others])
        and len(np.unique(own_counts, axis=0)) == len(own_counts)
    )
    pairs = tuple((first.values[i], second.values[j]) for i, j in zip(to_list(mine), to_list(others)))
    if len(own_counts) == len(other):
        return Recoded(share, exact, pairs)
    fine, coarse = (own_counts, other) if len(own_counts) > len(other) else (other, own_counts)
    joined = float(_joined_best(fine, coarse) / fewest)
    return Recoded(joined, False, ()) if joined > share else Recoded(share, exact, pairs)


def _joined_best(fine: np.ndarray, coarse: np.ndarray) -> float:
    """The most records in common that were found where each fine value, (V, P), is part of one coarse value, (W, P)."""
    if len(coarse) < 2:
        return 0.0  # an attribute of one value tells nothing
    nearest = np.array([np.minimum(row, coarse).sum(axis=1) for row in fine])
    starts = [nearest]
    with suppress(RuntimeError, np.linalg.LinAlgError):  # scipy 1.12 and 1.13 come to no end where values are alike
        starts.append(np.column_stack([optimize.nnls(fine.T, row)[0] for row in coarse]))
    return max(_moved_one_by_one(start.argmax(axis=1), fine, coarse) for start in starts)


def _moved_one_by_one(part_of: np.ndarray, fine: np.ndarray, coarse: np.ndarray) -> float:
    """Records in common once no value alone fits better elsewhere; part_of : (V,) where each fine value begins."""
    sums = np.zeros_like(coarse)
    np.add.at(sums, part_of, fine)
    for _ in range(MOST_TURNS):
        before = part_of.copy()
        for value, row in enumerate(fine):
            sums[part_of[value]] -= row
            gain = (np.minimum(sums + row, coarse) - np.minimum(sums, coarse)).sum(axis=1)
            if gain.max() > gain[part_of[value]]:
                part_of[value] = gain.argmax()
            sums[part_of[value]] += row
        if np.array_equal(before, part_of):
            break
    return float(np.minimum(sums, coarse).sum())


def _tables(first: Attribute, second: Attribute, parts: Parts) -> tuple[np.ndarray, np.ndarray] | None:
    """Of each attribute the records by value and part; None where one has none."""
    if not parts.n:
        return None
    tables = tuple(
        _table(attribute, of_equivalence_class, parts.n)
        for attribute, of_equivalence_class in zip((first, second), parts.of_equivalence_class)
    )
    return (tables[0], tables[1]) if all(table.sum() for table in tables) else None


def _table(attribute: Attribute, of_equivalence_class: np.ndarray, n_parts: int) -> np.ndarray:
    part = of_equivalence_class[attribute.equivalence_class]
    there = part >= 0
    key = attribute.value[there] * n_parts + part[there]
    counts = np.bincount(key, attribute.records[there], len(attribute.values) * n_parts)
    return counts.reshape(len(attribute.values), n_parts)


def _added(table: np.ndarray, row: np.ndarray, n_rows: int) -> np.ndarray:
    sums = np.zeros((n_rows, table.shape[1]))
    np.add.at(sums, row, table)
    return sums


def are_apart(names: tuple[str, str], attributes: Mapping[str, Attribute], release: Published) -> bool:
    """Whether one release shows that two attributes are not the same: its people differ in both, and not alike."""
    if not all(name in attributes and not attributes[name].sensitive for name in names):
        return False
    at = [release.quasi_identifiers.index(name) for name in names]
    pairs = np.unique(release.classes[np.unique(release.class_of)][:, at], axis=0)
    return len(pairs) > max(len(np.unique(pairs[:, side])) for side in (0, 1))
