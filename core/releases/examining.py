"""A new release held against earlier ones: what they give away together, and which counts changed by a few people."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field, replace

import numpy as np

from ..dataclass import dataclass
from ..disclosure.certificate import CHANGES, TOGETHER, Family
from ..disclosure.counts import HOMOGENEOUS, Count, persons_in
from ..disclosure.disclosed import DisclosedCounts, find_disclosed
from ..disclosure.published import Published
from ..progress import Progress, silent
from .updates import Changes, Compared, Comparing


@dataclass(frozen=True, eq=False)
class Examined:
    """What a new release adds to what earlier ones give away.

    disclosed : of the new release, the last one, and those earlier ones that are not updated by it; None without such
    counts : its counts that do not follow from the earlier releases alone
    changes : for each earlier release of the same regions, its position and the counts that changed by a few people
    n_homogeneous : groups of k people and more whom only the releases together show to have one sensitive value; they
    are among the counts and changes only where that was asked for
    n_undecided, undecided : counts that were too many or too hard to decide, of classes of which the new release tells
    anything; of those that were too many, some
    n_compared : counts that were compared with those of releases of the same regions
    """

    disclosed: DisclosedCounts | None
    counts: list[Count]
    changes: list[tuple[int, Changes]]
    n_homogeneous: int = 0
    n_undecided: int = 0
    undecided: list[Count] = field(default_factory=list)
    n_compared: int = 0

    @property
    def families(self) -> tuple[Family, ...]:
        """What was tried, for the certificate."""
        n_changes = sum(len(changes) for _, changes in self.changes)
        return _families(self.disclosed, len(self.counts), self.n_undecided, self.n_compared, n_changes)

    @property
    def n_counts(self) -> int:
        """Disclosed counts and visible changes."""
        return len(self.counts) + sum(len(changes) for _, changes in self.changes)

    @property
    def n_contradicted(self) -> int:
        """Classes of which the releases contradict each other: people changed, and so did the regions."""
        return 0 if self.disclosed is None else len(self.disclosed.contradicted)

    @property
    def n_to_mend(self) -> int:
        """Counts that may not be given away: what is not decided is taken to be."""
        return self.n_counts + self.n_undecided


def examine(
    new: Published,
    earlier: Sequence[Published],
    k: int | None = None,
    homogeneous: bool = False,
    progress: Progress = silent,
    updated: Collection[int] = (),
) -> Examined:
    """Hold a release against earlier ones; see `Examiner`."""
    return Examiner(earlier, k, homogeneous, updated).examine(new, progress=progress)


class Examiner:
    """Holds releases against the same earlier ones, once or again and again.

    k : counts below it are looked for, that of the new release where None, whatever the earlier ones were made with;
    homogeneous : whether people who are shown to have one sensitive value count as given away, however many they are;
    updated : the positions of those that are known to be of other people, whatever they show
    An earlier release of the same regions whose counts differ was of other people, before an update: with that one
    only counts are compared. All others are taken to be of the same people; and where some of them are known to be of
    other people than later ones among them, so are those later ones without them: people whom the earlier ones show and
    who left since would otherwise make room for values that nobody has, in which few people can hide.
    """

    def __init__(
        self,
        earlier: Sequence[Published],
        k: int | None = None,
        homogeneous: bool = False,
        updated: Collection[int] = (),
    ) -> None:
        self._earlier, self._k, self._homogeneous, self._updated = earlier, k, homogeneous, set(updated)
        self._comparing = Comparing(earlier)
        self._alone: dict[tuple[int, ...], set[Identity]] = {}
        self._outdated = self._of_other_people()

    @property
    def looks_twice(self) -> bool:
        """Whether joint classes are numbered now for all earlier releases, now for those without outdated ones."""
        return bool(self._outdated)

    def _of_other_people(self) -> set[int]:
        """The positions of earlier releases that later ones of the same regions update, or have other counts than."""
        last = len(self._earlier) - 1
        if all(position in self._updated for position in range(last)):
            return set()
        k = min(release.k for release in self._earlier)
        outdated: set[int] = set()
        for j in range(1, last + 1):
            for i in range(j):
                both = None if i in outdated | self._updated else self._compared(i, j, k)
                if both is not None and (both.differs or self._earlier[j].updates is not None):
                    outdated.add(i)
        return outdated

    def _compared(self, i: int, j: int, k: int) -> Compared | None:
        return self._comparing.compare(self._earlier[i], self._earlier[j], k)

    def examine(
        self, new: Published, joint: np.ndarray | None = None, programs: bool = True, progress: Progress = silent
    ) -> Examined:
        """Hold a release against the earlier ones.

        joint : the joint classes to look at, all where None; programs : as `find_disclosed` takes it
        """
        k = new.k if self._k is None else self._k
        pairs = [
            (i, self._comparing.compare(old, new, k, bool(self._updated) or old.updates is not None))
            for i, old in enumerate(self._earlier)
        ]
        compared = [(i, both) for i, both in pairs if both is not None]
        changes = [
            (i, part)
            for i, both in compared
            for part in (both.few, both.homogeneous)[: 1 + self._homogeneous]
            if len(part)
        ]
        n_homogeneous = sum(len(both.homogeneous) for _, both in compared)
        n_compared = sum(both.few.n_compared for _, both in compared)
        same = tuple(i for i, both in pairs if i not in self._updated and (both is None or not both.differs))
        current = tuple(i for i in same if i not in self._outdated)
        if not same:
            return Examined(None, [], changes, n_homogeneous, n_compared=n_compared)
        first = self._together(same, new, k, changes, n_homogeneous, n_compared, joint, programs, progress)
        if current in ((), same) or first.n_to_mend or first.n_contradicted:
            return first
        second = self._together(current, new, k, changes, n_homogeneous, n_compared, joint, programs, progress)
        return second if second.n_to_mend or second.n_contradicted else first

    def _together(
        self,
        same: tuple[int, ...],
        new: Published,
        k: int,
        changes: list[tuple[int, Changes]],
        n_homogeneous: int,
        n_compared: int,
        joint: np.ndarray | None,
        programs: bool,
        progress: Progress,
    ) -> Examined:
        """What a release and some earlier ones of the same people give away."""
        disclosed = find_disclosed(
            [*(self._earlier[i] for i in same), new], k, programs, joint=joint, progress=progress
        )
        known = self._given_away_before(same, new, k)
        counts = [count for count in disclosed.counts if _identity(count) not in known]
        n_homogeneous += sum(count.kind == HOMOGENEOUS for count in counts)
        if not self._homogeneous:
            counts = [count for count in counts if count.kind != HOMOGENEOUS]
        undecided = _of_published_classes(disclosed, new)
        n_undecided = disclosed.n_undecided - len(disclosed.undecided) + len(undecided)
        return Examined(disclosed, counts, changes, n_homogeneous, n_undecided, undecided, n_compared)

    def _given_away_before(self, same: tuple[int, ...], new: Published, k: int) -> set[Identity]:
        """The counts that the earlier releases give away by themselves, in the overlay with the new one."""
        before = [self._earlier[i] for i in same]
        if len(before) == 1 and not before[0].nested and before[0].counts_from is None and before[0].k >= k:
            return set()  # k-anonymous by itself
        if same not in self._alone:
            self._alone[same] = {_identity(count) for count in find_disclosed([*before, _silent(new)], k).counts}
        return self._alone[same]


def _families(
    disclosed: DisclosedCounts | None, n_counts: int, n_undecided: int, n_compared: int, n_changes: int
) -> tuple[Family, ...]:
    """Counts that releases tell together, and those that updates change; none of a kind that was not looked at."""
    together = [] if disclosed is None else [Family(TOGETHER, disclosed.n_tried, n_counts, n_undecided)]
    return (*together, *_changed_families(n_compared, n_changes))


def _changed_families(n_compared: int, n_changes: int) -> list[Family]:
    return [Family(CHANGES, n_compared, n_changes)] if n_compared else []


def _of_published_classes(disclosed: DisclosedCounts, new: Published) -> list[Count]:
    """The counts not decided of which the new release tells anything: without it the others are as hard to decide."""
    if not disclosed.undecided or new.bounded or new.held_back is not None:
        return disclosed.undecided
    over, last = disclosed.overlay, len(disclosed.overlay.releases) - 1
    published = np.append(np.isin(over.own_class[last], new.class_of), False)[over.entries[:, over.schema_of[last]]]
    groups = np.unique(over.group_of[published])
    return [count for count in disclosed.undecided if np.isin(over.group_of[count.joint], groups).any()]


Identity = tuple[tuple[bytes, bytes, int], int, int, tuple[tuple[str, str, int], ...]]


def _identity(count: Count) -> Identity:
    """What tells a count from others of the same overlay."""
    return count.key, count.low, count.high, count.values


def _silent(release: Published) -> Published:
    """A release of the same regions and classes that tells nothing."""
    none = np.empty(0, np.int64)
    return replace(
        release,
        level=none,
        region=none,
        class_of=none,
        records=none,
        bounded=False,
        whole=False,
        held_back=None,
        sensitive=(),
        rows=None,
    )


@dataclass(frozen=True, eq=False)
class AllExamined:
    """What several releases give away together.

    disclosed : of those that no later one updates, None where they are fewer than two; kept : their positions
    changes : for pairs (earlier, later) of releases of the same regions, the counts that changed by a few people
    homogeneous : for such pairs, the counts that changed by k people and more, all of one sensitive value
    n_compared : counts that were compared between such pairs
    before : the same as disclosed and kept of those that no later one had updated when another came, without the counts
    that are listed already
    """

    disclosed: DisclosedCounts | None
    kept: tuple[int, ...]
    changes: list[tuple[int, int, Changes]]
    homogeneous: list[tuple[int, int, Changes]]
    n_compared: int = 0
    before: tuple[tuple[DisclosedCounts, tuple[int, ...]], ...] = ()

    @property
    def each(self) -> list[tuple[DisclosedCounts, tuple[int, ...]]]:
        """What releases of the same people give away, with the positions of these, the last ones first."""
        return [*([] if self.disclosed is None else [(self.disclosed, self.kept)]), *self.before]

    @property
    def families(self) -> tuple[Family, ...]:
        """What was tried, for the certificate."""
        n_changes = sum(len(changes) for *_, changes in self.changes)
        n_tried = sum(disclosed.n_tried for disclosed, _ in self.each)
        together = [Family(TOGETHER, n_tried, len(self._disclosed()), self.n_undecided)] if self.each else []
        return (*together, *_changed_families(self.n_compared, n_changes))

    @property
    def n_counts(self) -> int:
        """Disclosed counts of fewer than k people and visible changes."""
        return len(self._disclosed()) + sum(len(changes) for *_, changes in self.changes)

    @property
    def n_homogeneous(self) -> int:
        """Groups of k people and more who are shown to have one sensitive value by the releases together alone."""
        counts = sum(count.kind == HOMOGENEOUS for disclosed, _ in self.each for count in disclosed.counts)
        return counts + sum(len(changes) for *_, changes in self.homogeneous)

    @property
    def n_values(self) -> int:
        """Of the counts of fewer than k people, those the sensitive values of whose people are known."""
        known = sum(bool(values) for *_, changes in self.changes for values in changes.values)
        return known + sum(bool(count.values) for count in self._disclosed())

    @property
    def n_persons(self) -> int:
        """People in disclosed counts at least, and by which counts changed."""
        counts = ([count for count in of.counts if count.kind != HOMOGENEOUS] for of, _ in self.each)
        persons = max(map(persons_in, counts), default=0)  # those of another time may be the same
        return persons + sum(changes.n_persons for *_, changes in self.changes)

    @property
    def n_contradicted(self) -> int:
        """Classes of which the releases contradict each other: nobody can say what they give away there."""
        return max((len(disclosed.contradicted) for disclosed, _ in self.each), default=0)

    @property
    def n_undecided(self) -> int:
        """Counts that were too many or too hard to decide."""
        return sum(disclosed.n_undecided for disclosed, _ in self.each)

    def _disclosed(self) -> list[Count]:
        return [count for disclosed, _ in self.each for count in disclosed.counts if count.kind != HOMOGENEOUS]


def _carried_on(first: Published, second: Published) -> bool:
    """Whether one of two releases is an update, which is made so that rows, too, change by nobody or by k and more."""
    return first.updates is not None or second.updates is not None


def examine_all(releases: Sequence[Published], k: int | None = None, progress: Progress = silent) -> AllExamined:
    """Hold all releases, the earliest first, against each other; k : the least k of theirs where None.

    Raises what `find_disclosed` raises.
    """
    k = min(release.k for release in releases) if k is None else k
    comparing = Comparing(releases)
    pairs = [(i, j) for j in range(len(releases)) for i in range(j)]
    both_of = {}
    for i, j in pairs:
        first, second = releases[i], releases[j]
        both_of[i, j] = comparing.compare(first, second, k, _carried_on(first, second))
    compared = [(i, j, both) for (i, j), both in both_of.items() if both is not None]
    changes = [(i, j, both.few) for i, j, both in compared if len(both.few)]
    homogeneous = [(i, j, both.homogeneous) for i, j, both in compared if len(both.homogeneous)]
    updates = [(i, j) for i, j, both in compared if both.differs]
    kept, *earlier = _of_the_same_people(len(releases), updates)
    disclosed = None
    if len(kept) > 1 or len(releases) < 2:
        disclosed = find_disclosed([releases[i] for i in kept], k, progress=progress)
    before = []
    listed = set() if disclosed is None else {_described(disclosed, count) for count in disclosed.counts}
    for some in earlier:
        then = find_disclosed([releases[i] for i in some], k, progress=progress)
        described = [(count, _described(then, count)) for count in then.counts]
        before.append((replace(then, counts=[count for count, of in described if of not in listed]), some))
        listed |= {of for _, of in described}
    n_compared = sum(both.few.n_compared for *_, both in compared)
    return AllExamined(disclosed, kept, changes, homogeneous, n_compared, tuple(before))


def _of_the_same_people(n: int, updates: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Which releases are taken to be of the same people: those that no later one updates, and, of two and more, those
    that none had updated when another one came; n : how many there are; updates : (earlier, later)"""
    kept: list[tuple[int, ...]] = []
    for last in reversed(range(n)):
        outdated = {i for i, j in updates if j <= last}
        some = tuple(i for i in range(last + 1) if i not in outdated)
        if not kept or (len(some) > 1 and not any(set(some) <= set(others) for others in kept)):
            kept.append(some)
    return kept


def _described(disclosed: DisclosedCounts, count: Count) -> tuple[frozenset[str], tuple[object, ...]]:
    """What tells a count from those of other overlays, too: where and who, whatever its bounds are."""
    over = disclosed.overlay
    values = {tuple(sorted(over.values_of(int(joint)).items())) for joint in count.joint}
    return frozenset(over.areas[np.isin(over.cell_of, count.cells)]), (count.kind, frozenset(values), count.less)
