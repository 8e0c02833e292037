"""Updates: the same regions and quasi-identifiers, released again after people were added, removed or corrected.

Each class of each region must change by nobody or by at least k people: a change of one is one person, seen at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .published import Published


@dataclass(frozen=True, eq=False)
class Changes:
    """Counts that changed by 1 to k-1 people: arrays (c,) of level, region, class (of the new release) and both counts.

    Under several levels the counts of the coarsest are those of all people of the region, wherever they are shown, and
    `total` says so.
    """

    level: np.ndarray
    region: np.ndarray
    class_of: np.ndarray
    before: np.ndarray
    after: np.ndarray
    total: np.ndarray

    def __len__(self) -> int:
        return len(self.level)

    @property
    def n_persons(self) -> int:
        """People by which counts changed; those of totals are in other counts, or cancel each other out there."""
        return int(np.abs(self.after - self.before)[~self.total].sum())


def same_regions(old: Published, new: Published) -> list[np.ndarray] | None:
    """Of each level, the old number of each new region; None where areas, levels or quasi-identifiers are not the same.

    Regions are the same where they have the same areas, whatever they are called.
    """
    if set(old.quasi_identifiers) != set(new.quasi_identifiers) or len(old.levels) != len(new.levels):
        return None
    position = {identifier: i for i, identifier in enumerate(old.areas.tolist())}
    at = [position.get(identifier, -1) for identifier in new.areas.tolist()]
    if len(position) != len(at) or min(at) < 0:
        return None
    found = []
    for before, after in zip(old.levels.crosswalks, new.levels.crosswalks):
        pairs = np.unique(np.column_stack([after.region_of, before.region_of[at]]), axis=0)
        pairs = pairs[(pairs != -1).any(axis=1)]
        if not (len(pairs) == before.n_regions == after.n_regions) or (pairs < 0).any():
            return None
        found.append(pairs[:, 1])
    return found


def visible_changes(old: Published, new: Published, k: int | None = None) -> Changes | None:
    """The counts shown by both releases that differ by 1 to k-1 people; None where the regions are not the same.

    k : the smaller one of theirs where None. A count that only one of them shows has changed by an unknown number.
    """
    regions = same_regions(old, new)
    if regions is None:
        return None
    k = min(old.k, new.k) if k is None else k
    before, after = _counts(old, None), _counts(new, regions)
    parts = []
    for key in sorted(after.keys() & before.keys()):
        change = abs(after[key][0] - before[key][0])
        if 1 <= change < k:
            count, level, region, class_of = after[key]
            parts.append((level, region, class_of, before[key][0], count, key[0] < 0))
    level_of, region_of, of_class, then, now, total = np.array(parts, np.int64).reshape(len(parts), 6).T
    return Changes(level_of, region_of, of_class, then, now, total.astype(bool))


def differs(old: Published, new: Published) -> bool:
    """Whether releases of the same regions show any count differently: they are not of the very same people."""
    regions = same_regions(old, new)
    if regions is None:
        return False
    before, after = _counts(old, None), _counts(new, regions)
    return any(before[key][0] != after[key][0] for key in before.keys() & after.keys() if key[0] < 0 or not new.nested)


Key = tuple[int, int, tuple[str, ...]]


def _counts(release: Published, old_number: list[np.ndarray] | None) -> dict[Key, tuple[int, int, int, int]]:
    """Count, level, region and class of every label; by level, old number of the region, and values.

    Under several levels also the totals of the coarsest level, by the level -1.
    """
    names = sorted(release.quasi_identifiers)
    at = [release.quasi_identifiers.index(name) for name in names]
    values = [tuple(row[i] for i in at) for row in release.values_of_classes()]
    found: dict[Key, tuple[int, int, int, int]] = {}
    last = len(release.levels) - 1
    rows = zip(*(one.tolist() for one in (release.level, release.region, release.class_of, release.records)))
    parents = [release.levels.parents(level) for level in range(last)]
    for level, region, class_of, records in rows:
        number = region if old_number is None else int(old_number[level][region])
        found[level, number, values[class_of]] = (records, level, region, class_of)
        if last:
            top = region
            for one in range(level, last):
                top = int(parents[one][top])
            number = top if old_number is None else int(old_number[last][top])
            so_far = found.get((-1, number, values[class_of]), (0,))[0]
            found[-1, number, values[class_of]] = (so_far + records, last, top, class_of)
    return found
