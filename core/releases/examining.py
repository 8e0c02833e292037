"""A new release held against earlier ones: what they give away together, and which counts changed by a few people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..progress import Progress, silent
from .pinned import Count, Pinned, find_pinned
from .published import Published
from .updates import Changes, differs, visible_changes


@dataclass(frozen=True, eq=False)
class Examined:
    """What a new release adds to what earlier ones give away.

    pinned : of the new release, the last one, and those earlier ones that are not updated by it; None without such
    counts : its counts that do not follow from the earlier releases alone
    changes : for each earlier release of the same regions, its position and the counts that changed by a few people
    """

    pinned: Pinned | None
    counts: list[Count]
    changes: list[tuple[int, Changes]]

    @property
    def n_counts(self) -> int:
        """Pinned counts and visible changes."""
        return len(self.counts) + sum(len(one) for _, one in self.changes)

    @property
    def n_contradicted(self) -> int:
        """Classes of which the releases tell things that fit no people: people changed, and so did the regions."""
        return 0 if self.pinned is None else len(self.pinned.contradicted)

    @property
    def n_undecided(self) -> int:
        """Counts that were too many or too hard to decide."""
        return 0 if self.pinned is None else self.pinned.n_undecided


def examine(
    new: Published, earlier: Sequence[Published], k: int | None = None, progress: Progress = silent
) -> Examined:
    """Hold a release against earlier ones; see `Examiner`."""
    return Examiner(earlier, k).examine(new, progress=progress)


class Examiner:
    """Holds releases against the same earlier ones, once or again and again.

    k : counts below it are looked for, the least k of all where None
    An earlier release of the same regions whose counts differ was of other people, before an update: with that one
    only counts are compared. All others are taken to be of the same people.
    """

    def __init__(self, earlier: Sequence[Published], k: int | None = None) -> None:
        self._earlier, self._k = earlier, k
        self._alone: dict[tuple[int, ...], set[Identity]] = {}

    def examine(self, new: Published, joint: np.ndarray | None = None, progress: Progress = silent) -> Examined:
        """Hold a release against the earlier ones; joint : the joint classes to look at, all where None."""
        k = min(one.k for one in (new, *self._earlier)) if self._k is None else self._k
        compared = ((i, visible_changes(old, new, k)) for i, old in enumerate(self._earlier))
        changes = [(i, found) for i, found in compared if found is not None and len(found)]
        same = tuple(i for i, old in enumerate(self._earlier) if not differs(old, new))
        if not same:
            return Examined(None, [], changes)
        pinned = find_pinned([*(self._earlier[i] for i in same), new], k, joint=joint, progress=progress)
        known = self._given_away_before(same, new, k)
        counts = [count for count in pinned.counts if _identity(count) not in known]
        return Examined(pinned, counts, changes)

    def _given_away_before(self, same: tuple[int, ...], new: Published, k: int) -> set[Identity]:
        """The counts that the earlier releases give away by themselves, in the overlay with the new one."""
        before = [self._earlier[i] for i in same]
        if len(before) == 1 and not before[0].nested:  # k-anonymous by itself
            return set()
        if same not in self._alone:
            self._alone[same] = {_identity(count) for count in find_pinned([*before, _silent(new)], k).counts}
        return self._alone[same]


Identity = tuple[bytes, bytes, int, int]


def _identity(count: Count) -> Identity:
    """What tells a count from others of the same overlay."""
    return count.cells.tobytes(), count.joint.tobytes(), count.low, count.high


def _silent(release: Published) -> Published:
    """A release of the same regions and classes that tells nothing."""
    none = np.empty(0, np.int64)
    return replace(
        release, level=none, region=none, class_of=none, records=none, bounded=False, whole=False, held_back=None
    )


@dataclass(frozen=True, eq=False)
class AllExamined:
    """What several releases give away together.

    pinned : of those that no later one updates, None where they are fewer than two; kept : their positions
    changes : for pairs (earlier, later) of releases of the same regions, the counts that changed by a few people
    """

    pinned: Pinned | None
    kept: tuple[int, ...]
    changes: list[tuple[int, int, Changes]]

    @property
    def n_counts(self) -> int:
        """Pinned counts and visible changes."""
        counts = 0 if self.pinned is None else len(self.pinned.counts)
        return counts + sum(len(one) for *_, one in self.changes)

    @property
    def n_persons(self) -> int:
        """People in pinned counts at least, and by which counts changed."""
        persons = 0 if self.pinned is None else self.pinned.n_persons
        return persons + sum(one.n_persons for *_, one in self.changes)


def examine_all(releases: Sequence[Published], k: int | None = None, progress: Progress = silent) -> AllExamined:
    """Hold all releases, the earliest first, against each other; k : the least k of theirs where None.

    Raises what `find_pinned` raises.
    """
    k = min(one.k for one in releases) if k is None else k
    pairs = [(i, j) for j in range(len(releases)) for i in range(j)]
    compared = ((i, j, visible_changes(releases[i], releases[j], k)) for i, j in pairs)
    changes = [(i, j, found) for i, j, found in compared if found is not None and len(found)]
    updated = {i for i, j in pairs if differs(releases[i], releases[j])}
    kept = tuple(i for i in range(len(releases)) if i not in updated)
    pinned = None
    if len(kept) > 1 or len(releases) < 2:
        pinned = find_pinned([releases[i] for i in kept], k, progress=progress)
    return AllExamined(pinned, kept, changes)
