"""Updates: the same regions and quasi-identifiers, released again after people were added, removed or corrected.

Each class of each region must change by nobody or by at least k people: a change of one is one person, seen at once.
So must those who came, and those who left, by what the sensitive values tell, where a class shows them: as many people
as before with one diagnosis less and another more are one who left and one who came, or one whose diagnosis changed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import to_list
from ..dataclass import dataclass
from ..disclosure.published import Published
from ..disclosure.row_values import all_values, fields_of, is_of_rows


@dataclass(frozen=True, eq=False)
class Changes:
    """Counts that changed by few people: arrays (c,) of level, region, class (of the new release) and both counts.

    people : how many they are at least, where values tell that some came and some left
    by_values : (c,) bool, of which values alone tell that they are few: `people` who came beside k and more who left,
    or the other way round
    values : for each, (sensitive field, value, by how many more or fewer people have it)
    n_compared : counts that both releases show
    Under several levels the counts of the coarsest are those of all people of the region, wherever they are shown, and
    `total` says so; so it does of regions between, of all who are shown in them and in those within.
    """

    level: np.ndarray
    region: np.ndarray
    class_of: np.ndarray
    before: np.ndarray
    after: np.ndarray
    total: np.ndarray
    people: np.ndarray
    by_values: np.ndarray
    values: tuple[tuple[tuple[str, str, int], ...], ...]
    n_compared: int = 0

    def __len__(self) -> int:
        return len(self.level)

    @property
    def n_persons(self) -> int:
        """People by which counts changed; those of totals are in other counts, or cancel each other out there: of these
        the most at any place."""
        return max(int(self.people[~self.total].sum()), int(self.people[self.total].max(initial=0)))


def same_regions(old: Published, new: Published) -> list[np.ndarray] | None:
    """Of each level, the old number of each new region; None where areas, levels or quasi-identifiers are not the same.

    Regions are the same where they have the same areas, whatever they are called.
    """
    if old.counts_from is not None or new.counts_from is not None:
        return None
    if set(old.quasi_identifiers) != set(new.quasi_identifiers) or len(old.levels) != len(new.levels):
        return None
    position = {identifier: i for i, identifier in enumerate(old.areas.tolist())}
    at = [position.get(identifier, -1) for identifier in new.areas.tolist()]
    if len(position) != len(at) or min(at) < 0:
        return None
    old_numbers = []
    for before, after in zip(old.levels.crosswalks, new.levels.crosswalks):
        pairs = np.unique(np.column_stack([after.region_of, before.region_of[at]]), axis=0)
        pairs = pairs[(pairs != -1).any(axis=1)]
        if not (len(pairs) == before.n_regions == after.n_regions) or (pairs < 0).any():
            return None
        old_numbers.append(pairs[:, 1])
    return old_numbers


@dataclass(frozen=True, eq=False)
class Compared:
    """Two releases of the same regions.

    few : counts that differ by 1 to k-1 people, or where by their values 1 to k-1 came or left; homogeneous : those by
    k or more, all of one sensitive value; differs : whether they are of other people
    """

    few: Changes
    homogeneous: Changes
    differs: bool


TOTAL = -1  # the level of the totals by region of the coarsest level
WITHIN = 64  # and above, those of all who are shown in a region of a level between, and in those within
REGION_AT, LEVEL_AT, NO_REGION = 31, 55, (1 << 24) - 1
"""Where level and region stand in a key, above the class; and the region of what is in none."""


@dataclass(frozen=True, eq=False)
class _ReleasedRows:
    """What a release shows, by what it shows it of.

    key : (m,) int64 in order: level (TOTAL last of all), region as the first release of these regions numbers it, class
    records : (m,); level, region, class_of : (m,) of the release itself; number : by level, its own number of each
    region; fields : by sensitive field, the position in key, the value and the records of what is shown of it
    """

    key: np.ndarray
    records: np.ndarray
    level: np.ndarray
    region: np.ndarray
    class_of: np.ndarray
    number: list[np.ndarray]
    fields: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]


class Comparing:
    """Compares releases of the same regions with each other, many of them or one again and again.

    keep : releases whose counts are kept in order, as they are asked for more than once
    """

    def __init__(self, keep: Sequence[Published] = ()) -> None:
        self._keep = {id(release): release for release in keep}
        self._kept: dict[int, tuple[int, _ReleasedRows]] = {}
        self._first: list[Published] = []  # of all releases of the same regions
        self._numbers: dict[tuple[int, int, tuple[str, ...]], tuple[object, int, list[np.ndarray]]] = {}
        self._classes: dict[tuple[str, ...], int] = {}
        self._values: dict[str, int] = {}

    def compare(self, old: Published, new: Published, k: int, rows: bool = True) -> Compared | None:
        """Two releases held against each other, None where their regions, levels or quasi-identifiers differ.

        rows : whether what rows show together is compared, too, where both are known to show the same fields
        """
        if old.counts_from is not None or new.counts_from is not None:
            return None
        (regions, before), (others, after) = self._shown(old), self._shown(new)
        if regions != others:
            return None
        in_old, in_new = _in_both(before, after)
        fewer_or_more = np.abs(after.records[in_new] - before.records[in_old])
        people = fewer_or_more
        changed = people > 0
        # Who looks at numbers alone sees a change of a few, whatever values tell of how many came and left.
        few = changed & (people < k)
        one_value: list[tuple[np.ndarray, np.ndarray]] = []
        differences: list[tuple[str, np.ndarray, np.ndarray, np.ndarray]] = []
        names = before.fields.keys() & after.fields.keys()
        compared = sorted(name for name in names if rows or not is_of_rows(name))
        fields = {field for name in compared for field in fields_of(name)}
        together = [name for name in compared if fields == set(fields_of(name))]
        # What single fields tell is less than what their rows do: of these an update has seen to it.
        of_fields = not together and not (rows and all(map(_has_rows, (before, after))))
        by_values = np.zeros((2, len(people)), np.int64)  # who came and who left
        for name in compared:
            place, value, number = _difference(before, after, name, in_old, in_new)
            came, left = (
                np.bincount(place[side], np.abs(number[side]), len(people)).astype(np.int64)
                for side in (number > 0, number < 0)
            )
            people = np.maximum(people, np.maximum(came, left))
            if of_fields or name in together:
                by_values = np.maximum(by_values, (came, left))
            changed[place] = True
            differences.append((_said(name), place, value, number))
            if is_of_rows(name):
                continue  # each sensitive field of it is looked at by itself
            alone = np.bincount(place, minlength=len(people))[place] == 1
            one_value.append((place[alone], np.abs(number[alone])))
        people = np.where(few & (people >= k), fewer_or_more, people)  # the few, not all who came for as many who left
        few |= (people >= 1) & (people < k)
        only_by_values = np.where(by_values < k, by_values, 0).max(axis=0)
        only_by_values[few] = 0
        people = np.where(only_by_values, only_by_values, people)
        homogeneous = np.zeros(len(people), bool)
        for place, number in one_value:
            homogeneous[place[number == people[place]]] = True
        total = after.key[in_new] >> LEVEL_AT == 0
        differs = bool((changed & (total | (not new.nested))).any())
        within = after.key[in_new] >> LEVEL_AT > WITHIN
        n_compared = len(in_new)
        homogeneous[within] = False
        if not differs:
            # Of the same people a region may show more now, and one around fewer.
            few[within], only_by_values[within] = False, 0
            n_compared -= int(within.sum())
        alone = _where_nobody_is_within(before, after, in_old, in_new)
        few[alone], only_by_values[alone] = False, 0
        few_told, homogeneous_told = (
            self._changes(
                np.flatnonzero(some), before, after, in_old, in_new, people, only_by_values > 0, differences, n_compared
            )
            for some in (few | (only_by_values > 0), homogeneous & ~few & (only_by_values == 0))
        )
        return Compared(few_told, homogeneous_told, differs)

    def n_with_other_rows(self, old: Published, new: Published) -> int:
        """Of two releases of the same regions the classes of a region that both show with as many people, but not
        with the same values, as far as both are known to show the same fields."""
        (regions, before), (others, after) = self._shown(old), self._shown(new)
        if regions != others:
            return 0
        in_old, in_new = _in_both(before, after)
        changed = np.zeros(len(in_new), bool)
        for name in before.fields.keys() & after.fields.keys():
            changed[_difference(before, after, name, in_old, in_new)[0]] = True
        as_many = before.records[in_old] == after.records[in_new]
        shown_as = after.key[in_new] >> LEVEL_AT
        return int((changed & as_many & (shown_as > 0) & (shown_as <= WITHIN)).sum())

    def _changes(
        self,
        some: np.ndarray,
        before: _ReleasedRows,
        after: _ReleasedRows,
        in_old: np.ndarray,
        in_new: np.ndarray,
        people: np.ndarray,
        by_values: np.ndarray,
        differences: list[tuple[str, np.ndarray, np.ndarray, np.ndarray]],
        n_compared: int,
    ) -> Changes:
        """Some of the counts that both show, by level, region and class of the older release."""
        classes, values = list(self._classes), list(self._values)
        key = after.key[in_new[some]]
        shown_as, class_at = key >> LEVEL_AT, key & ((1 << REGION_AT) - 1)
        total = (shown_as == 0) | (shown_as > WITHIN)
        number = before.region[in_old[some]]
        level = after.level[in_new[some]]
        order = sorted(range(len(some)), key=lambda i: (not total[i], level[i], number[i], classes[class_at[i]]))
        some, total = some[order], total[order]
        wanted = {place: at for at, place in enumerate(some.tolist())}
        of_each: list[list[tuple[str, str, int]]] = [[] for _ in wanted]
        for name, place, value, by in differences:
            within = np.isin(place, some)
            rows = zip(
                place[within].tolist(), (values[row_value] for row_value in value[within].tolist()), by[within].tolist()
            )
            for at, text, n in sorted(rows):
                of_each[wanted[at]].append((name, text, n))
        new, old = in_new[some], in_old[some]
        return Changes(
            after.level[new],
            after.region[new],
            after.class_of[new],
            before.records[old],
            after.records[new],
            total,
            people[some],
            by_values[some],
            tuple(map(tuple, of_each)),
            n_compared,
        )

    def _shown(self, release: Published) -> tuple[int, _ReleasedRows]:
        """Which regions a release has, by a number, and what it shows."""
        if id(release) not in self._keep:
            return self._made(release)
        if id(release) not in self._kept:
            self._kept[id(release)] = self._made(release)
        return self._kept[id(release)]

    def _made(self, release: Published) -> tuple[int, _ReleasedRows]:
        regions, own = self._regions_of(release)
        names = sorted(release.quasi_identifiers)
        at = [release.quasi_identifiers.index(name) for name in names]
        texts = [tuple(row[i] for i in at) for row in release.values_of_classes()]
        ids = np.array([self._classes.setdefault(text, len(self._classes)) for text in texts], np.int64)
        numbered = [np.full(len(of_level), NO_REGION, np.int64) for of_level in own]  # own number -> the first one's
        for of_level, to in zip(own, numbered):
            to[of_level] = np.arange(len(of_level), dtype=np.int64)
        columns = _counted_in(release)
        shown, level, region, shown_as = (np.concatenate(parts) for parts in zip(*columns))
        number = np.full(len(level), NO_REGION, np.int64)
        for height, to in enumerate(numbered):
            here = (level == height) & (region >= 0)
            number[here] = to[region[here]]
        class_of = release.class_of[shown]
        keys = ((shown_as.astype(np.int64) + 1) << LEVEL_AT) | (number << REGION_AT) | ids[class_of]
        key, first, position = np.unique(keys, return_index=True, return_inverse=True)
        position = position.reshape(-1)
        records = np.bincount(position, release.records[shown], len(key)).astype(np.int64)
        places_of = []  # of each class of a region, one by one what it is counted in
        for (some, *_), own_place in zip(
            columns, np.split(position, np.cumsum([len(some) for some, *_ in columns], dtype=np.int64)[:-1])
        ):
            places_of.append(np.full(len(release.records), -1, np.int64))
            places_of[-1][some] = own_place
        fields: dict[str, list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = {}
        for columns_shown in all_values(release):
            values = np.array(
                [self._values.setdefault(text, len(self._values)) for text in to_list(columns_shown.categories)],
                np.int64,
            )
            value = values.astype(np.int64)[columns_shown.value]
            for place_of in places_of:
                place = place_of[columns_shown.equivalence_class]
                there = place >= 0
                fields.setdefault(columns_shown.field, []).append(
                    (place[there], value[there], columns_shown.records[there])
                )
        joined: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        for name, parts in fields.items():
            places, values, numbers = (np.concatenate(column) for column in zip(*parts))
            joined[name] = places, values, numbers
        return regions, _ReleasedRows(key, records, level[first], region[first], class_of[first], own, joined)

    def _regions_of(self, release: Published) -> tuple[int, list[np.ndarray]]:
        """Which regions a release has, and of each level, its own number of each region of the first that has them."""
        key = id(release.areas), id(release.levels), tuple(sorted(release.quasi_identifiers))
        if key not in self._numbers:
            numbered = ((position, same_regions(release, first)) for position, first in enumerate(self._first))
            position, own = next((numbers for numbers in numbered if numbers[1] is not None), (len(self._first), None))
            if own is None:
                own = [np.arange(crosswalk.n_regions, dtype=np.int64) for crosswalk in release.levels.crosswalks]
                self._first.append(release)
            self._numbers[key] = (release.areas, release.levels), position, own
        return self._numbers[key][1:]


def _counted_in(release: Published) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """What the classes of regions of a release are counted in, each by itself first: their positions, and as what they
    are, the level, the region and whether that is all who are shown there and within."""
    everything, last = np.arange(len(release.level), dtype=np.int64), len(release.levels) - 1
    counted_in = [(everything, release.level, release.region, release.level)]
    around = release.region.copy()
    for height in range(1, last + 1):
        below = release.level < height
        around[below] = release.levels.parents(height - 1)[around[below]]
        some = np.flatnonzero(release.level <= height)
        each = np.ones(len(some), np.int64)
        counted_in.append((some, height * each, around[some], (TOTAL if height == last else WITHIN + height) * each))
    return counted_in


def _in_both(before: _ReleasedRows, after: _ReleasedRows) -> tuple[np.ndarray, np.ndarray]:
    """Positions in each of two releases of what both show."""
    at = np.minimum(np.searchsorted(before.key, after.key), max(len(before.key) - 1, 0))
    in_new = np.flatnonzero(before.key[at] == after.key) if len(before.key) else at[:0]
    return at[in_new], in_new


def _where_nobody_is_within(
    before: _ReleasedRows, after: _ReleasedRows, in_old: np.ndarray, in_new: np.ndarray
) -> np.ndarray:
    """Of what both show, which are all who are shown in a region where these are those of its own count, in both."""
    key = after.key[in_new]
    of_region = np.flatnonzero(key >> LEVEL_AT > WITHIN)
    own = key[of_region] - (WITHIN << LEVEL_AT)
    at = np.minimum(np.searchsorted(key, own), max(len(key) - 1, 0))
    same = key[at] == own if len(key) else np.zeros(0, bool)
    for release, rows in ((before, in_old), (after, in_new)):
        same &= release.records[rows[at]] == release.records[rows[of_region]]
    return of_region[same]


def _has_rows(release: _ReleasedRows) -> bool:
    """Whether it is known what rows of a release show together."""
    return any(map(is_of_rows, release.fields))


def _said(field: str) -> str:
    """What is said of whose values differ: all fields whose values are compared together."""
    return " + ".join(fields_of(field))


def _difference(
    before: _ReleasedRows, after: _ReleasedRows, name: str, in_old: np.ndarray, in_new: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """By how many more people of a class have which value of a sensitive field, where both show it: positions among
    the counts that both show, values, and numbers that are not zero."""
    parts, there = [], np.ones(len(in_new), bool)
    for release, rows, sign in ((before, in_old, -1), (after, in_new, 1)):
        place_of = np.full(len(release.key), -1, np.int64)
        place_of[rows] = np.arange(len(rows), dtype=np.int64)
        row, value, records = release.fields[name]
        place = place_of[row]
        there &= np.bincount(place[place >= 0], minlength=len(rows)) > 0
        parts.append((place, value, sign * records))
    place, value, records = (np.concatenate(columns) for columns in zip(*parts))
    kept = np.append(there, False)[place]  # the last for what only one of them shows
    place, value, records = place[kept], value[kept], records[kept]
    width = int(value.max()) + 1 if len(value) else 1
    pairs, position = np.unique(place * width + value, return_inverse=True)
    number = np.bincount(position.reshape(-1), records, len(pairs)).astype(np.int64)
    pairs, number = pairs[number != 0], number[number != 0]
    return (*np.divmod(pairs, width), number)
