"""A new release kept from giving counts away together with earlier ones.

Under one level the fewest records are suppressed by which nothing is disclosed, under several the classes that cause a
disclosure are shown more coarsely, the smallest first, until the same check finds nothing. The other way out, the
regions of an earlier release, is worked out beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Callable

import numpy as np

from ..areas import Areas
from ..arrays import to_list, turns
from ..dataclass import dataclass
from ..disclosure.counts import REST, Count
from ..disclosure.in_series import as_series
from ..disclosure.overlay import NONE, Overlay
from ..disclosure.published import AS_THEY_ARE, Published, publish
from ..disclosure.values import KeptValues
from ..nesting.series import holding_together
from ..plan import SUPPRESSED, Plan, area_of_cells, around, suppress, with_levels
from ..privacy.requirement import Requirement
from ..privacy.series import Series
from ..progress import Progress, part, silent
from ..ties import Ties, ranks
from .cheapest import cheapest, proofs_of
from .examining import Examined, Examiner
from .updates import Changes

MOST_ROUNDS = 200
Relate = Callable[[Published], Published]


def as_it_is(release: Published) -> Published:
    """The release: all show their quasi-identifiers at the same levels."""
    return release


@dataclass(frozen=True, eq=False)
class Repaired:
    """A plan that gives nothing away together with earlier releases.

    plan : what is shown; published : what it publishes; `bounded` no more, as classes of k and more may be missing
    before, after : what the check found
    n_suppressed, n_coarser : people who are shown no more, or in a larger region than before
    n_known_by_size : counts that would follow for somebody who knew which classes are suppressed for their size alone
    """

    plan: Plan
    published: Published
    before: Examined
    after: Examined
    n_suppressed: int
    n_coarser: int
    n_known_by_size: int


def repair(
    plan: Plan,
    areas: Areas,
    earlier: Sequence[Published],
    title: str = "",
    sensitive: Sequence[KeptValues] = (),
    homogeneous: bool = False,
    also: Callable[[Plan], Plan] | None = None,
    progress: Progress = silent,
    ties: Ties = None,
    relate: Relate = as_it_is,
    coarsened: Mapping[str, int] = AS_THEY_ARE,
    requirement: Requirement | None = None,
    fewest: bool = True,
    updated: Collection[int] = (),
    rows: KeptValues | None = None,
) -> Repaired:
    """Suppress or coarsen equivalence classes of a plan until nothing is given away.

    areas : those of the plan's profile; sensitive : the fields that are released too; homogeneous : whether people who
    are shown to have one sensitive value count as given away, however many they are; also : what else must hold, a
    function that suppresses further equivalence classes where it does not; ties : decides among equivalence classes of
    one size, the first where None; relate : makes what the plan publishes comparable with the earlier releases, which
    are comparable already, and keeps the equivalence classes in their order; coarsened : as in Published; requirement :
    what is asked of equivalence classes beside k records
    fewest : whether under one level the fewest records are looked for; else the smallest equivalence class goes first
    updated : as `Examiner` takes it; rows : what rows show together, where that is compared, too
    What the earlier releases give away without this one stays as it is; what is not decided is taken to be given away.
    What is asked of equivalence classes is looked at again once some were joined, as those that hold by themselves need
    not hold together, nor of the same class in other periods (`holding_together`). Every round suppresses or coarsens
    at least one; with none of a class left, this release tells nothing of it.
    """
    examiner = Examiner(earlier, homogeneous=homogeneous, updated=updated)
    series = None if requirement is None else requirement.series
    work = _Work(areas, title, tuple(sensitive), coarsened, relate, examiner, progress, ties, series, rows)
    published = work.published(plan, True)
    before = after = work.examiner.examine(relate(published), progress=progress)
    new, n_known_by_size = plan, 0
    if before.n_to_mend:
        new = (
            work.cheapest(plan) if fewest and plan.level_of is None else work.until_nothing_is_disclosed(plan, True)[0]
        )
        new, published, after = work.until_nothing_is_disclosed(new, False)
        renumbered = work.is_renumbered(plan) and after.disclosed is not None
        if plan.level_of is None and not after.n_to_mend and not renumbered:
            new, published, after = work.given_back(plan, new, published, after)
        while True:
            settled = new if also is None else also(new)
            settled = settled if requirement is None else holding_together(settled, requirement)
            if _same(settled, new):
                new = settled
                break
            new, published, after = work.until_nothing_is_disclosed(settled, False)
        n_known_by_size = work.examiner.examine(relate(work.published(new, True))).n_counts
    coarser = 0
    if plan.level_of is not None and new.level_of is not None:
        moved = (new.level_of > plan.level_of) & (plan.level_of >= 0)
        coarser = int(plan.profile.counts.data[moved].sum())
    return Repaired(new, published, before, after, plan.n_released - new.n_released, coarser, n_known_by_size)


def _same(plan: Plan, other: Plan) -> bool:
    """Whether two plans show the same cells at the same levels."""
    if plan.n_released != other.n_released:
        return False
    if plan.level_of is None or other.level_of is None:
        return True
    return bool(np.array_equal(plan.level_of[plan.level_of >= 0], other.level_of[plan.level_of >= 0]))


@dataclass(frozen=True, eq=False)
class _Work:
    """What a repair is done with."""

    areas: Areas
    title: str
    sensitive: tuple[KeptValues, ...]
    coarsened: Mapping[str, int]
    relate: Relate
    examiner: Examiner
    progress: Progress
    ties: Ties
    series: Series | None
    rows: KeptValues | None

    def published(self, plan: Plan, by_size: bool) -> Published:
        """What a plan publishes: with what only somebody inside can know of it, or without."""
        published = publish(plan, self.areas, self.title, self.sensitive, self.coarsened, self.rows)
        published = as_series(published, plan, self.series)
        return published if by_size else replace(published, bounded=False, held_back=None)

    def is_renumbered(self, plan: Plan) -> bool:
        """Whether joint classes have other numbers in another check."""
        return plan.in_part or self.examiner.looks_twice

    def joint_of(self, plan: Plan, counts: Sequence[Count]) -> np.ndarray | None:
        """The joint classes of some counts, which are looked at before all others once a class is given up; None, for
        all, of an update, as what it does not show it does not publish, and where some of the earlier releases are
        outdated: the others are numbered anew."""
        if self.is_renumbered(plan):
            return None
        return np.concatenate([np.empty(0, np.int64), *(count.joint for count in counts)])

    def until_nothing_is_disclosed(self, plan: Plan, by_size: bool) -> tuple[Plan, Published, Examined]:
        """The plan, what it publishes, and what is found of it, once no class that can be taken away tells anything."""
        joint = None
        for turn in range(MOST_ROUNDS):
            self.progress(turn / MOST_ROUNDS)
            published = self.published(plan, by_size)
            comparable = self.relate(published)
            within = part(self.progress, turn / MOST_ROUNDS, (turn + 1) / MOST_ROUNDS)
            for some, programs in _looks(joint):
                findings = self.examiner.examine(comparable, some, programs, within)
                chosen = _disclosing_equivalence_classes(plan, comparable, findings, by_size, self.ties)
                if chosen.any():
                    break
            else:
                return plan, published, findings
            joint = self.joint_of(plan, (*findings.counts, *findings.undecided))
            plan = without(plan, chosen)
        published = self.published(plan, by_size)
        return plan, published, self.examiner.examine(self.relate(published))

    def cheapest(self, plan: Plan) -> Plan:
        """The plan of one level without the fewest records by which nothing is told; see `cheapest`.

        Where a count has no proof, or what is chosen goes in circles, something may be told still.
        """
        weights = plan.records + ranks(len(plan.records), self.ties) / (2.0 * len(plan.records))
        proofs: list[np.ndarray] = []
        joint, new = None, plan
        for turn in range(MOST_ROUNDS):
            self.progress(turn / MOST_ROUNDS)
            comparable = self.relate(self.published(new, False))
            within = part(self.progress, turn / MOST_ROUNDS, (turn + 1) / MOST_ROUNDS)
            for some, programs in _looks(joint):
                findings = self.examiner.examine(comparable, some, programs, within)
                more = _proofs(new, comparable, findings)
                if more:
                    break
            else:
                return new
            joint = self.joint_of(new, findings.counts)
            proofs += more
            chosen = cheapest(proofs, weights)
            if chosen is None:
                return new
            new = replace(plan, released=plan.released & ~chosen)
        return new

    def given_back(
        self, first: Plan, plan: Plan, published: Published, after: Examined
    ) -> tuple[Plan, Published, Examined]:
        """The plan with suppressed classes released again, the largest first, without which nothing is told either.

        first : the plan before the repair, of one level; published, after : what `plan` publishes, what is found of it
        One equivalence class of every class is tried at a time: classes without a sum in common do not tell of each
        other.
        """
        out = np.flatnonzero(first.released & ~plan.released)
        out = out[np.lexsort((out, -first.records[out], first.class_of[out]))]
        rank = turns(first.class_of[out])
        new = plan
        for turn in range(int(rank.max(initial=-1)) + 1):
            tried = out[rank == turn]
            trial = _with(new, tried)
            published_trial = self.relate(self.published(trial, False))
            class_of = published_trial.class_of[np.searchsorted(np.flatnonzero(trial.released), tried)]
            group = _groups_of(after, published_trial, class_of)
            concerned = None if after.disclosed is None else np.flatnonzero(group.concerned)
            findings = self.examiner.examine(published_trial, concerned, progress=part(self.progress, 1.0, 1.0))
            if findings.n_undecided or findings.n_contradicted:
                continue
            telling = [group.of_class[changes.class_of] for _, changes in findings.changes]
            if findings.disclosed is not None:
                telling += [findings.disclosed.overlay.group_of[count.joint] for count in findings.counts]
            bad = np.concatenate([np.empty(0, np.int64), *telling])
            new = _with(new, tried[~np.isin(group.of_class[class_of], bad)])
        if new.n_released == plan.n_released:
            return plan, published, after
        new_published = self.published(new, False)
        findings = self.examiner.examine(self.relate(new_published))
        return (plan, published, after) if findings.n_to_mend else (new, new_published, findings)


def _looks(joint: np.ndarray | None) -> Iterator[tuple[np.ndarray | None, bool]]:
    """One look after the other, until one finds something: the joint classes looked at, and whether by programs too.

    Linear programs take long: they are asked where propagation finds nothing more. Of all classes they are asked where
    nothing is left of those that told something before; joint : these, all where None
    """
    yield from ((joint, False), (joint, True))
    if joint is not None:
        yield None, True


@dataclass(frozen=True, eq=False)
class _Groups:
    """Classes that share sums. of_class : (C,) the group of each published class; concerned : (U,) bool, joint ones."""

    of_class: np.ndarray
    concerned: np.ndarray


def _groups_of(after: Examined, published: Published, class_of: np.ndarray) -> _Groups:
    """The groups of the classes of a release, the last of an overlay, and which joint classes these ones concern."""
    if after.disclosed is None:
        return _Groups(np.arange(len(published.classes), dtype=np.int64), np.empty(0, bool))
    over = after.disclosed.overlay
    last = len(over.releases) - 1
    entry = over.entries[:, over.schema_of[last]]
    own = np.append(over.own_class[last], NONE)[entry]
    of_class = np.full(len(published.classes), NONE, np.int64)
    of_class[own[own >= 0]] = over.group_of[own >= 0]
    return _Groups(of_class, np.isin(over.group_of, of_class[class_of]))


def _with(plan: Plan, equivalence_classes: np.ndarray) -> Plan:
    """The plan of one level with further equivalence classes released."""
    released = plan.released.copy()
    released[equivalence_classes] = True
    return replace(plan, released=released)


def on_earlier_regions(
    plan: Plan, areas: Areas, earlier: Sequence[Published], requirement: Requirement | None = None
) -> Plan | None:
    """The plan on the regions of the last earlier release of one level; None where its areas are not the same.

    requirement : what is asked of a class beside k records
    """
    position = {identifier: i for i, identifier in enumerate(areas.identifiers.tolist())}
    for old in reversed(earlier):
        if old.counts_from is not None or old.nested or set(old.areas.tolist()) != set(position):
            continue
        crosswalk = old.levels.crosswalks[0]
        region_of = np.empty(len(areas), np.int64)
        region_of[[position[identifier] for identifier in old.areas.tolist()]] = crosswalk.region_of
        return suppress(plan.profile, replace(crosswalk, region_of=region_of), plan.k, requirement)
    return None


def without(plan: Plan, equivalence_classes: np.ndarray) -> Plan:
    """The plan without some equivalence classes, (L,) bool: suppressed under one level, coarser under several.

    At the coarsest level all records of the class join there first; a class that is all there already is suppressed.
    """
    if plan.level_of is None:
        return replace(plan, released=plan.released & ~equivalence_classes)
    equivalence_class_of, last = plan.equivalence_class_of, len(plan.levels) - 1
    marked = (equivalence_class_of != SUPPRESSED) & equivalence_classes[equivalence_class_of]
    level_of = around(plan, equivalence_classes & (plan.level < last))
    at_top = marked & (plan.level_of == last)
    region = plan.levels.crosswalks[last].region_of[area_of_cells(plan.profile)]
    top = region * len(plan.profile.classes) + plan.profile.counts.indices
    finer = (equivalence_class_of != SUPPRESSED) & (plan.level_of < last)
    touched = np.isin(top, top[at_top])
    joined = touched & np.isin(top, top[finer]) & (equivalence_class_of != SUPPRESSED)
    level_of[joined] = last
    level_of[touched & ~joined] = SUPPRESSED
    return with_levels(plan, level_of)


def _disclosing_equivalence_classes(
    plan: Plan, published: Published, findings: Examined, by_size: bool, ties: Ties
) -> np.ndarray:
    """For each count that is given away the smallest equivalence class of the plan that tells of it, (L,) bool.

    by_size : only equivalence classes that show the very people; else also those around them.
    """
    chosen = np.zeros(len(plan.records), bool)
    released = np.flatnonzero(plan.released)  # the order of what is published
    for _, changes in findings.changes:
        chosen[released[_changed(published, changes)]] = True
    if findings.disclosed is None:
        return chosen
    over, last = findings.disclosed.overlay, len(findings.disclosed.overlay.releases) - 1
    by_class = _EquivalenceClasses(over, last)
    size = np.empty(len(released), np.int64)
    size[np.lexsort((ranks(len(released), ties), plan.records[released]))] = np.arange(len(released), dtype=np.int64)
    for count in (*findings.counts, *findings.undecided):
        equivalence_classes = by_class.showing(count)
        if not len(equivalence_classes) and count.kind == REST:
            equivalence_classes = by_class.beside(count)
        if not len(equivalence_classes) and not by_size:
            equivalence_classes = by_class.around(count)
        if len(equivalence_classes) and not chosen[released[equivalence_classes]].any():
            chosen[released[equivalence_classes[np.argmin(size[equivalence_classes])]]] = True
    return chosen


def _proofs(plan: Plan, published: Published, findings: Examined) -> list[np.ndarray]:
    """What proves the counts that are given away, equivalence classes of the plan; none of counts without a proof."""
    released = np.flatnonzero(plan.released)  # the order of what is published
    proofs = [
        released[[change]]
        for _, changes in findings.changes
        for change in to_list(np.unique(_changed(published, changes)))
    ]
    if findings.disclosed is not None:
        of_counts = proofs_of(findings.disclosed.overlay, findings.counts, findings.disclosed.k)
        proofs += [released[proof] for proof in of_counts if proof is not None and len(proof)]
    return list({proof.tobytes(): proof for proof in proofs}.values())


def _changed(published: Published, changes: Changes) -> np.ndarray:
    """The equivalence classes whose counts changed; of a total the region's own, or if it has none, all within."""
    equivalence_classes: list[np.ndarray] = [np.empty(0, np.int64)]
    around = {height: published.region_at(height) for height in np.unique(changes.level[changes.total]).tolist()}
    for level, region, class_of, total in zip(
        *map(to_list, (changes.level, changes.region, changes.class_of, changes.total))
    ):
        here = published.class_of == class_of
        if not total:
            here &= (published.level == level) & (published.region == region)
        else:
            here &= around[level] == region
            at_top = here & (published.level == level)
            here = at_top if at_top.any() else here
        equivalence_classes.append(np.flatnonzero(here))
    return np.concatenate(equivalence_classes)


class _EquivalenceClasses:
    """The equivalence classes of one release of an overlay, found by where they lie; positions in its arrays."""

    def __init__(self, over: Overlay, release: int) -> None:
        self._over, self._release = over, release
        self._published = over.releases[release]
        first = sum(len(older.levels) for older in over.releases[:release])
        self._columns = over.regions[:, first : first + len(self._published.levels)]
        self._by_class = np.argsort(self._published.class_of, kind="stable")
        self._starts = np.searchsorted(
            self._published.class_of[self._by_class], np.arange(len(self._published.classes) + 1, dtype=np.int64)
        )

    def showing(self, count: Count) -> np.ndarray:
        """The equivalence classes that show some people of a count."""
        return self._in_cells(count.cells, count.joint)

    def beside(self, count: Count) -> np.ndarray:
        """The equivalence classes in the same overlay cells of classes that a count has sums with."""
        return self._in_cells(count.cells, self._related(count))

    def around(self, count: Count) -> np.ndarray:
        """The equivalence classes in all regions around a count, of its classes or those they have sums with."""
        regions = self._over.regions
        near = np.zeros(len(regions), bool)
        for column in regions.T:
            own = np.unique(column[count.cells])
            near |= np.isin(column, own[own >= 0])
        joint = self._related(count)
        equivalence_classes = self._in_cells(np.flatnonzero(near), joint)
        return (
            equivalence_classes
            if len(equivalence_classes)
            else self._in_cells(np.arange(len(regions), dtype=np.int64), joint)
        )

    def _related(self, count: Count) -> np.ndarray:
        return np.flatnonzero(np.isin(self._over.group_of, self._over.group_of[count.joint]))

    def _in_cells(self, cells: np.ndarray, joint: np.ndarray) -> np.ndarray:
        schema_class = np.unique(self._over.entries[joint, self._over.schema_of[self._release]])
        own = self._over.own_class[self._release][schema_class[schema_class >= 0]]
        parts = [
            self._by_class[self._starts[own_class] : self._starts[own_class + 1]]
            for own_class in own[own != NONE].tolist()
        ]
        equivalence_classes = np.concatenate([np.empty(0, np.int64), *parts])
        level, region = self._published.level[equivalence_classes], self._published.region[equivalence_classes]
        there = np.zeros(len(equivalence_classes), bool)
        for own_level in range(self._columns.shape[1]):
            there |= (level == own_level) & np.isin(region, self._columns[cells, own_level])
        return equivalence_classes[there]
