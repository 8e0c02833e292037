"""Updates: the same regions and quasi-identifiers, released again after people were added, removed or corrected.

Each class of each region must change by nobody or by at least k people: a change of one is one person, seen at once.
So must the people of each sensitive value, where a class shows them: as many people as before with one diagnosis less
and another more are one who left and one who came, or one whose diagnosis changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..arrays import to_list
from ..disclosure.published import Published


@dataclass(frozen=True, eq=False)
class Changes:
    """Counts that changed by few people: arrays (c,) of level, region, class (of the new release) and both counts.

    people : how many they are at least, where values tell that some came and some left
    values : for each, (sensitive field, value, by how many more or fewer people have it)
    n_compared : counts that both releases show
    Under several levels the counts of the coarsest are those of all people of the region, wherever they are shown, and
    `total` says so.
    """

    level: np.ndarray
    region: np.ndarray
    class_of: np.ndarray
    before: np.ndarray
    after: np.ndarray
    total: np.ndarray
    people: np.ndarray
    values: tuple[tuple[tuple[str, str, int], ...], ...]
    n_compared: int = 0

    def __len__(self) -> int:
        return len(self.level)

    @property
    def n_persons(self) -> int:
        """People by which counts changed; those of totals are in other counts, or cancel each other out there."""
        return int(self.people[~self.total].sum())


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


def visible_changes(old: Published, new: Published, k: int | None = None) -> Changes | None:
    """The counts shown by both releases that differ by 1 to k-1 people, or whose values do; see `compare`."""
    changes = compare(old, new, k)
    return None if changes is None else changes[0]


def compare(old: Published, new: Published, k: int | None = None) -> tuple[Changes, Changes] | None:
    """The counts shown by both releases that differ by 1 to k-1 people; and those by k or more who came, or who left,
    all with one sensitive value. None where the regions are not the same.

    k : the smaller one of theirs where None. A count that only one of them shows has changed by an unknown number.
    """
    regions = same_regions(old, new)
    if regions is None:
        return None
    k = min(old.k, new.k) if k is None else k
    before, after = _counts(old, None), _counts(new, regions)
    few, homogeneous = [], []
    both = sorted(after.keys() & before.keys())
    for key in both:
        change = _change(before[key], after[key], key[0] < 0)
        if 1 <= change.people < k:
            few.append(change)
        elif change.people and any(
            change.one_value(field) for field in dict.fromkeys(field for field, *_ in change.values)
        ):
            homogeneous.append(change)
    return _changes(few, len(both)), _changes(homogeneous, len(both))


def differs(old: Published, new: Published) -> bool:
    """Whether releases of the same regions show any count or value differently: they are of other people."""
    regions = same_regions(old, new)
    if regions is None:
        return False
    before, after = _counts(old, None), _counts(new, regions)
    shared = (key for key in before.keys() & after.keys() if key[0] < 0 or not new.nested)
    return any(before[key].records != after[key].records or _difference(before[key], after[key]) for key in shared)


Key = tuple[int, int, tuple[str, ...]]


@dataclass(eq=False)
class _Shown:
    """What a release shows of a class of a region: records, by field and value too."""

    level: int
    region: int
    class_of: int
    records: int = 0
    values: dict[str, dict[str, int]] = field(default_factory=dict)

    def add(self, records: int, values: Sequence[tuple[str, str, int]]) -> None:
        self.records += records
        for name, value, number in values:
            of_field = self.values.setdefault(name, {})
            of_field[value] = of_field.get(value, 0) + number


@dataclass(frozen=True, eq=False)
class _Change:
    before: int
    after: _Shown
    total: bool
    people: int
    values: tuple[tuple[str, str, int], ...]

    def one_value(self, name: str) -> bool:
        """Whether all who came, or left, have one value of a field."""
        return [abs(number) for of, _, number in self.values if of == name] == [self.people]


def _change(before: _Shown, after: _Shown, total: bool) -> _Change:
    values = _difference(before, after)
    people = abs(after.records - before.records)
    for name in {of for of, *_ in values}:
        numbers = [number for of, _, number in values if of == name]
        people = max(
            people, sum(number for number in numbers if number > 0), -sum(number for number in numbers if number < 0)
        )
    return _Change(before.records, after, total, people, values)


def _difference(before: _Shown, after: _Shown) -> tuple[tuple[str, str, int], ...]:
    """By how many more people of a class have which value, for the fields that both show."""
    differences = []
    for name in sorted(before.values.keys() & after.values.keys()):
        old, new = before.values[name], after.values[name]
        for value in sorted(old.keys() | new.keys()):
            if old.get(value, 0) != new.get(value, 0):
                differences.append((name, value, new.get(value, 0) - old.get(value, 0)))
    return tuple(differences)


def _changes(changes: Sequence[_Change], n_compared: int) -> Changes:
    rows = [
        (
            change.after.level,
            change.after.region,
            change.after.class_of,
            change.before,
            change.after.records,
            change.total,
            change.people,
        )
        for change in changes
    ]
    level, region, class_of, before, after, total, people = np.array(rows, np.int64).reshape(len(rows), 7).T
    values = tuple(change.values for change in changes)
    return Changes(level, region, class_of, before, after, total.astype(bool), people, values, n_compared)


def _counts(release: Published, old_number: list[np.ndarray] | None) -> dict[Key, _Shown]:
    """What is shown of each equivalence class; by level, old number of the region, and values of the quasi-identifiers.

    Under several levels also the totals of the coarsest level, by the level -1.
    """
    names = sorted(release.quasi_identifiers)
    at = [release.quasi_identifiers.index(name) for name in names]
    of_class = [tuple(row[i] for i in at) for row in release.values_of_classes()]
    of_equivalence_class = _values_of_equivalence_classes(release)
    counts: dict[Key, _Shown] = {}
    last = len(release.levels) - 1
    rows = zip(*(to_list(column) for column in (release.level, release.region, release.class_of, release.records)))
    parents = [release.levels.parents(level) for level in range(last)]
    for equivalence_class, (level, region, class_of, records) in enumerate(rows):
        number = region if old_number is None else int(old_number[level][region])
        key = (level, number, of_class[class_of])
        counts.setdefault(key, _Shown(level, region, class_of)).add(records, of_equivalence_class[equivalence_class])
        if last:
            top = region
            for lower in range(level, last):
                top = int(parents[lower][top])
            number = top if old_number is None else int(old_number[last][top])
            key = (-1, number, of_class[class_of])
            counts.setdefault(key, _Shown(last, top, class_of)).add(records, of_equivalence_class[equivalence_class])
    return counts


def _values_of_equivalence_classes(release: Published) -> list[list[tuple[str, str, int]]]:
    """Sensitive field, value and records, of each equivalence class."""
    of_equivalence_classes: list[list[tuple[str, str, int]]] = [[] for _ in range(len(release.records))]
    for sensitive_field in release.sensitive:
        for equivalence_class, value, records in zip(
            *(
                to_list(part)
                for part in (sensitive_field.equivalence_class, sensitive_field.value, sensitive_field.records)
            )
        ):
            of_equivalence_classes[equivalence_class].append(
                (sensitive_field.field, sensitive_field.categories[value], records)
            )
    return of_equivalence_classes
