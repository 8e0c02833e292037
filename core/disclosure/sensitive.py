"""What sensitive values add to the counts that several releases give away together.

A released class shows how many of its people have each value, a suppressed one none. People whom two releases show in
two classes have a value that both of them show; and what is left of a class once a class of another release is taken
away is left value by value. So values may pin a count that counts alone leave open, tell the values of the people in a
disclosed count, and show people to have one value in common however many they are, as no class of any one release does.
The unknowns are the people of an overlay cell and joint class by value, bounded by interval propagation, the bounds of
the counts among the sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..arrays import to_list
from ..dataclass import dataclass
from ..nesting.flattening import flatten
from ..progress import Progress, silent
from .bounds import Bounds, propagate
from .counts import DISCLOSED_BY_VALUES, HOMOGENEOUS, Count
from .overlay import NONE, UNBOUNDED, Overlay, Sums, differences
from .published import Published
from .values import Values

UNKNOWNS_AT_ONCE = 1_000_000
AT_ONCE = 50  # counts, until the run may be cancelled again


@dataclass(frozen=True, eq=False)
class DisclosedValues:
    """What the values of one field add.

    counts : those given, with the values of their people where they are known, and those that only values tell
    contradicted : joint classes whose values contradict each other
    """

    counts: list[Count]
    contradicted: np.ndarray


def sensitive_fields(releases: Sequence[Published]) -> list[str]:
    """The sensitive fields that any release shows, in the order they come."""
    return list(dict.fromkeys(values.field for release in releases for values in release.sensitive))


def disclosed_by_values_of(
    over: Overlay,
    bounds: Sequence[tuple[np.ndarray, Bounds]],
    counts: Sequence[Count],
    field: str,
    k: int,
    progress: Progress = silent,
) -> DisclosedValues:
    """What the values of a field add to the counts that are given away anyway.

    bounds : joint classes, whole groups of them, with the bounds of their people; counts : the counts found in them
    Of people who are in several overlay cells, differences of two regions and the counts given are looked at.
    """
    categories = sorted(
        {text for release in over.releases for v in _of(release, field) for text in to_list(v.categories)}
    )
    kept, new = list(counts), []
    wrong: list[np.ndarray] = [np.empty(0, np.int64)]
    by_joint: dict[int, list[int]] = {}
    for number, count in enumerate(counts):
        by_joint.setdefault(int(count.joint[0]), []).append(number)
    n_told = 0
    for joint, low, high in _chunks(over, bounds, len(categories) + 1):
        part = _Part(over, joint, low, high, field, categories, k)
        wrong.append(joint[part.contradicted])
        own = [number for joint_class in to_list(joint) for number in by_joint.get(joint_class, [])]
        for number in own:
            kept[number] = part.with_values(kept[number])
            n_told += 1
            if n_told % AT_ONCE == 0:  # there may be tens of thousands, of many cells each
                progress(n_told / len(counts))
        known = {kept[number].key for number in own}
        new += [new_count for new_count in part.counts() if new_count.key not in known]
    return DisclosedValues([*kept, *new], np.concatenate(wrong))


def _chunks(
    over: Overlay, bounds: Sequence[tuple[np.ndarray, Bounds]], n_values: int
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Joint classes in whole groups, contradicted ones left out, with the bounds of their people."""
    at_once = max(1, UNKNOWNS_AT_ONCE // max(over.n_cells * n_values, 1))
    for joint, of_part in bounds:
        group = over.group_of[joint]
        fits = np.flatnonzero(~np.isin(group, group[of_part.contradicted]))
        if not len(fits):
            continue
        number = np.unique(group[fits], return_inverse=True)[1].reshape(-1)
        sizes = np.bincount(number)
        chunk = ((np.cumsum(sizes) - sizes) // at_once)[number]
        for some in np.unique(chunk):
            at = fits[chunk == some]
            yield joint[at], of_part.low[:, at], of_part.high[:, at]


def _of(release: Published, field: str) -> list[Values]:
    return [values for values in release.sensitive if values.field == field]


@dataclass(frozen=True, eq=False)
class _Placed:
    """Where the sums of a family lie: what is looked up for each count of a part.

    own : (u,) the class of each joint class in the family; there, place : (cells * u,) whether a cell and joint class
    is in a sum, and in which; size, known, people : of each sum, how many it holds of these, whether its people are
    known value by value, and who they are, (sums, values)
    """

    own: np.ndarray
    there: np.ndarray
    place: np.ndarray
    size: np.ndarray
    known: np.ndarray
    people: np.ndarray


class _Part:
    """Some joint classes by value: unknowns, (cells, u * values), the last value standing for all that nobody shows."""

    def __init__(
        self,
        over: Overlay,
        joint: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        field: str,
        categories: list[str],
        k: int,
    ) -> None:
        self._over, self._joint, self._field, self._k = over, joint, field, k
        self._categories, self._n = categories, len(categories) + 1
        plain = over.sums(joint)
        self._counted = low, high
        cells = np.arange(over.n_cells, dtype=np.int64)
        people = Sums(
            NONE, 0, cells, over.n_cells, np.arange(len(joint), dtype=np.int64), _framed(low, 0), _framed(high), True
        )
        self._shown = [self._by_value(family) for family in plain if _of(over.releases[family.release], field)]
        families = [self._of_all_values(family) for family in (people, *plain)] + self._shown
        bounds = propagate(families, over.n_cells, np.repeat(over.group_of[joint], self._n))
        shape = (over.n_cells, len(joint), self._n)
        self._low, self._high = bounds.low.reshape(shape), bounds.high.reshape(shape)
        self._people_low = np.maximum(bounds.sum_low[0][:-1, :-1], self._low.sum(axis=2))
        self._people_high = np.minimum(bounds.sum_high[0][:-1, :-1], self._high.sum(axis=2))
        first = len(families) - len(self._shown)
        self._sums = list(zip(bounds.sum_low[first:], bounds.sum_high[first:]))
        groups = over.group_of[joint]
        wrong = bounds.contradicted.reshape(len(joint), self._n).any(axis=1)
        self.contradicted = np.isin(groups, groups[wrong])

    def counts(self) -> list[Count]:
        """What only values tell: counts below k, and people of one value in common, however many."""
        people, fits = self._people_low >= 1, ~self.contradicted
        low, high = self._counted
        disclosed = people & (self._people_high < self._k) & ((low < 1) | (high >= self._k)) & fits
        homogeneous = ((self._high > 0).sum(axis=2) == 1) & (self._high[:, :, -1] == 0)
        one_value = homogeneous & people & (self._people_high >= self._k) & fits
        counts = []
        for kind, where in ((DISCLOSED_BY_VALUES, disclosed), (HOMOGENEOUS, one_value & ~self._homogeneous_anyway())):
            for cell, column in to_list(np.argwhere(where)):
                least, most = int(self._people_low[cell, column]), int(self._people_high[cell, column])
                released_classes = tuple(family.release for family in self._shown if family.region[cell] >= 0)
                count = Count(
                    kind,
                    np.array([cell], np.int64),
                    self._joint[[column]],
                    least,
                    most,
                    tuple(sorted(set(released_classes))),
                )
                counts.append(self.with_values(count))
        return counts + self._differences()

    def with_values(self, count: Count) -> Count:
        """A count with the values of its people, if they follow."""
        columns = np.flatnonzero(np.isin(self._joint, count.joint))
        if self.contradicted[columns].any():
            return count
        low, high = self._of_group(count.cells, columns)
        if count.less:
            taken = self._by_value_of(count)
            low = np.maximum(low - (taken if taken.any() else count.less), 0)
            high = np.where(high < UNBOUNDED, high - taken, high)
        known = np.flatnonzero(high > 0)
        if high[-1] > 0 or not (len(known) == 1 or (low == high).all()):
            return count
        if len(known) == 1:
            low[known] = max(int(low[known[0]]), count.low)
        disclosed = tuple((self._field, self._categories[code], int(low[code])) for code in to_list(known))
        return replace(count, values=(*count.values, *disclosed))

    def _by_value_of(self, count: Count) -> np.ndarray:
        """The people whom a count takes away, by value, (values,); nobody of a release that does not show the field."""
        people = np.zeros(self._n, np.int64)
        for values in _of(self._over.releases[count.releases[0]], self._field):
            there = np.isin(values.equivalence_class, count.taken)
            at = np.searchsorted(self._categories, values.categories.astype(str))
            np.add.at(people, at[values.value[there]], values.records[there])
        return people

    def _of_group(self, cells: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the people of some cells and joint classes by value, (values,).

        Beside those of the cells: where a sum holds the group, and what else it holds is made up of sums that are
        known, what is left of it.
        """
        at = np.ix_(cells, columns)
        low, high = self._low[at].sum(axis=(0, 1)), self._high[at].sum(axis=(0, 1))
        if len(cells) * len(columns) == 1 or (low == high).all():
            return low, high
        u = len(self._joint)
        group = (cells[:, None] * u + columns[None, :]).ravel()
        for placed, family, (least, most) in zip(self._placed, self._shown, self._sums):
            region, own = family.region[cells], placed.own[columns]
            if region[0] < 0 or own[0] < 0 or (region != region[0]).any() or (own != own[0]).any():
                continue
            values = own[0] * self._n + np.arange(self._n, dtype=np.int64)
            others = np.flatnonzero(family.region == region[0])[:, None] * u + np.flatnonzero(placed.own == own[0])
            taken = self._known_parts(np.setdiff1d(others, group, assume_unique=True))
            if taken is not None:
                low = np.maximum(low, least[region[0], values] - taken)
                high = np.minimum(high, most[region[0], values] - taken)
        return low, high

    @cached_property
    def _placed(self) -> list[_Placed]:
        """Each family that shows the field, cell by cell and joint class: the same for every count."""
        return [self._placed_of(family, *sums) for family, sums in zip(self._shown, self._sums)]

    def _placed_of(self, family: Sums, least: np.ndarray, most: np.ndarray) -> _Placed:
        own = self._own(family, np.arange(len(self._joint), dtype=np.int64))
        n_own = (family.low.shape[1] - 1) // self._n
        there = ((family.region >= 0)[:, None] & (own >= 0)[None, :]).ravel() & bool(n_own)
        place = (np.maximum(family.region, 0)[:, None] * n_own + np.maximum(own, 0)[None, :]).ravel()
        size = np.bincount(place[there], minlength=family.n_regions * n_own)
        low, high = (sums[:-1, :-1].reshape(-1, self._n) for sums in (least, most))
        return _Placed(own, there, place, size, (low == high).all(axis=1) & (size > 0), low)

    def _known_parts(self, rest: np.ndarray) -> np.ndarray | None:
        """The people of some cells and joint classes by value, if they are made up of sums that are known; else None.

        rest : (n,) positions in (cells, u)
        """
        total = np.zeros(self._n, np.int64)
        for placed in self._placed:
            if not len(rest):
                break
            there = placed.there[rest]
            inside, n_inside = np.unique(placed.place[rest[there]], return_counts=True)
            whole = inside[placed.known[inside] & (placed.size[inside] == n_inside)]
            total += placed.people[whole].sum(axis=0)
            rest = rest[~(there & np.isin(placed.place[rest], whole))]
        low, high = (bound.reshape(-1, self._n)[rest] for bound in (self._low, self._high))
        return None if (low != high).any() else total + low.sum(axis=0)

    def _differences(self) -> list[Count]:
        """People of a region of one release who are not in a smaller one of another, all of one value."""
        counts = []
        pairs = [(i, j) for i in range(len(self._shown)) for j in range(len(self._shown))]
        anyway = self._homogeneous_anyway()
        for i, j in pairs:
            outer, inner = self._shown[i], self._shown[j]
            if not (outer.exact and inner.exact) or outer.release == inner.release:
                continue
            every = np.arange(len(self._joint), dtype=np.int64)
            covered = self._own(outer, every) >= 0
            # A release may show no class at all with its values: nothing is left of nothing.
            if not covered.any() or not np.array_equal(covered, self._own(inner, every) >= 0):
                continue
            for b, a, left in differences(outer, inner):
                low, high = self._difference(i, j, b, a)
                homogeneous = ((high > 0).sum(axis=1) == 1) & (high[:, -1] == 0)
                columns = np.flatnonzero(homogeneous & (low.sum(axis=1) >= self._k) & ~self.contradicted)
                for column in to_list(columns[~anyway[left][:, columns].all(axis=0)]):
                    people = int(low[column].sum())
                    both = tuple(sorted({outer.release, inner.release}))
                    value = self._categories[int(np.argmax(high[column]))]
                    disclosed = ((self._field, value, people),)
                    most = int(high[column].sum())
                    counts.append(Count(HOMOGENEOUS, left, self._joint[[column]], people, most, both, disclosed))
        return counts

    def _difference(self, large: int, small: int, b: int, a: int) -> tuple[np.ndarray, np.ndarray]:
        """Bounds by joint class and value, (u, values), of who is in region b and not in region a; 0 where unknown."""
        joint = np.arange(len(self._joint), dtype=np.int64)
        bounds = []
        for position, region in ((large, b), (small, a)):
            own = self._own(self._shown[position], joint)
            columns = np.where(own >= 0, own, 0)[:, None] * self._n + np.arange(self._n, dtype=np.int64)
            known = (own >= 0) & (np.bincount(own[own >= 0], minlength=len(own))[own] == 1)  # of one joint class
            least, most = (sums[region][columns] for sums in self._sums[position])
            bounds.append((np.where(known[:, None], least, 0), np.where(known[:, None], most, UNBOUNDED)))
        (outer_low, outer_high), (inner_low, inner_high) = bounds
        return np.maximum(outer_low - inner_high, 0), np.maximum(outer_high - inner_low, 0)

    def _homogeneous_anyway(self) -> np.ndarray:
        """Overlay cells and joint classes in a class of some release that shows one value, (cells, u) bool."""
        cells_alike = np.zeros(self._people_low.shape, bool)
        for family in self._shown:
            n_own = (family.low.shape[1] - 1) // self._n
            shape = (family.n_regions, n_own, self._n)
            low, high = (bound[:-1, :-1].reshape(shape) for bound in (family.low, family.high))
            homogeneous = ((low > 0).sum(axis=2) == 1) & (low == high).all(axis=2)
            framed = np.pad(homogeneous, ((0, 1), (0, 1)))
            cells_alike |= framed[np.ix_(family.region, self._own(family, np.arange(len(self._joint), dtype=np.int64)))]
        return cells_alike

    def _own(self, family: Sums, columns: np.ndarray) -> np.ndarray:
        """The class, in a family by value, of some joint classes."""
        of = family.class_of.reshape(len(self._joint), self._n)[columns, 0]
        return np.where(of >= 0, of // self._n, NONE)

    def _of_all_values(self, family: Sums) -> Sums:
        """A family of sums over all values."""
        return replace(family, class_of=np.repeat(family.class_of, self._n))

    def _by_value(self, family: Sums) -> Sums:
        """What a release shows of a family of sums, value by value."""
        release = self._over.releases[family.release]
        n_own = family.low.shape[1] - 1
        low = np.zeros((family.n_regions, n_own * self._n), np.int64)
        schema_class = self._over.entries[self._joint, self._over.schema_of[family.release]]
        own = np.append(self._over.own_class[family.release], NONE)[schema_class]
        column_of = np.full(len(release.classes) + 1, NONE, np.int64)
        there = (own >= 0) & (family.class_of >= 0)
        column_of[own[there]] = family.class_of[there]
        for values in _of(release, self._field):
            at = np.searchsorted(self._categories, values.categories.astype(str))
            level, region = release.level[values.equivalence_class], release.region[values.equivalence_class]
            column = column_of[release.class_of[values.equivalence_class]]
            region = flatten(release.levels, level, region, family.level)
            here = (level <= family.level) & (column >= 0)
            place = (region[here], column[here] * self._n + at[values.value[here]])
            np.add.at(low, place, values.records[here])
        known = ((family.low == family.high) & (family.low > 0))[:-1, :-1]
        high = np.where(np.repeat(known, self._n, axis=1), low, UNBOUNDED)
        class_of = np.where(family.class_of >= 0, family.class_of, 0)[:, None] * self._n + np.arange(
            self._n, dtype=np.int64
        )
        class_of[family.class_of < 0] = NONE
        return replace(family, class_of=class_of.ravel(), low=_framed(low, 0), high=_framed(high))


def _framed(values: np.ndarray, edge: int = int(UNBOUNDED)) -> np.ndarray:
    """With a last row and column of which nothing is known."""
    return np.pad(values, ((0, 1), (0, 1)), constant_values=edge)
