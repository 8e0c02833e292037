"""Counts of a few people that several releases give away together.

Each release alone shows nobody among fewer than k. Taken from each other, their counts may: where one release has
twelve people in a region and another ten in all of it but one area, two live in that area. Interval propagation finds
nearly all such counts, linear programming decides the rest. Counts of people who are in no overlay cell by themselves
are found too, as differences of two regions, and as what is left of a count once the other release's are taken away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from ..arrays import to_list
from ..errors import InputError
from ..language import tr
from ..progress import Progress, silent
from .bounds import Bounds, propagate
from .counts import ALIKE, CELL, DIFFERENCE, HIDDEN, KINDS, REST, Count, persons_in
from .overlay import NONE, UNBOUNDED, Overlay, Sums, differences, overlay, region_around
from .programs import Answers, Problem, decide
from .published import Published
from .sensitive import sensitive_fields, tell_values

UNKNOWNS_AT_ONCE = 500_000


@dataclass(frozen=True, eq=False)
class Pinned:
    """What releases give away together.

    counts : the pinned counts, the overlay cells first; k : counts below it are looked for
    n_undecided : counts that were too many or too hard to decide, contradictions apart
    contradicted : joint classes of which the releases tell things that fit no people: they are not of the same people
    n_programs : counts that propagation left open
    """

    overlay: Overlay
    k: int
    counts: list[Count]
    n_undecided: int
    contradicted: np.ndarray
    n_by_programs: int = 0
    bounds: list[tuple[np.ndarray, Bounds]] = field(default_factory=list)

    @property
    def n_persons(self) -> int:
        """The people that are in counts of fewer than k at least."""
        return persons_in([count for count in self.counts if count.kind != ALIKE])


def find_pinned(
    releases: Sequence[Published],
    k: int | None = None,
    programs: bool = True,
    keep_bounds: bool = False,
    joint: np.ndarray | None = None,
    progress: Progress = silent,
) -> Pinned:
    """Every count of 1 to k-1 people that follows from the releases.

    releases : two or more, of the same people; k : the least k of theirs where None; programs : whether linear
    programming decides what propagation leaves open; keep_bounds : whether the bounds of all unknowns are kept;
    joint : the joint classes of the overlay to look at, with all those they share a sum with; all where None
    Looked at are all overlay cells by joint class, suppressed classes of regions, differences of two regions (of two
    releases, one within the other), and what is left of a region's count once all counts of another release within it
    are taken away; and of each of these, what the sensitive fields add that any release shows.
    Raises InputError for fewer than two releases, and what `overlay` raises.
    """
    if len(releases) < 2:
        raise InputError(tr("One release alone gives nothing away: give at least two releases of the same people."))
    k = min(release.k for release in releases) if k is None else k
    over = overlay(releases)
    counts: list[Count] = []
    undecided = by_programs = 0
    contradicted, kept = [], []
    fields = sensitive_fields(releases)
    chunks = _chunks(over, np.arange(len(over.entries)) if joint is None else joint)
    for number, some in enumerate(chunks):
        families = over.sums(some)
        bounds = propagate(families, over.n_cells, over.group_of[some])
        if keep_bounds or fields:
            kept.append((some, bounds))
        work = _Chunk(over, some, families, bounds, k)
        found, open_there, by = work.counts(programs)
        counts += found
        undecided += open_there
        by_programs += by
        contradicted.append(some[work.contradicted])
        progress((number + 1) / (len(chunks) + len(fields)))
    for number, name in enumerate(fields):
        told = tell_values(over, kept, counts, name, k)
        counts = told.counts
        contradicted.append(told.contradicted)
        progress((len(chunks) + number + 1) / (len(chunks) + len(fields)))
    counts.sort(key=lambda count: KINDS.index(count.kind))
    nobody = np.empty(0, np.int64)
    wrong = np.unique(np.concatenate([nobody, *contradicted]))
    return Pinned(over, k, counts, undecided, wrong, by_programs, kept if keep_bounds else [])


def _chunks(over: Overlay, joint: np.ndarray) -> list[np.ndarray]:
    """Joint classes in stretches of whole groups, and of about UNKNOWNS_AT_ONCE unknowns."""
    at_once = max(1, UNKNOWNS_AT_ONCE // max(over.n_cells, 1))
    wanted = np.flatnonzero(np.isin(over.group_of, over.group_of[joint]))
    group = np.unique(over.group_of[wanted], return_inverse=True)[1].reshape(-1)
    sizes = np.bincount(group)
    number = ((np.cumsum(sizes) - sizes) // at_once)[group]
    return [wanted[number == one] for one in np.unique(number)]


class _Chunk:
    """Some joint classes, with all that is known of them."""

    def __init__(self, over: Overlay, joint: np.ndarray, families: list[Sums], bounds: Bounds, k: int) -> None:
        self._over, self._joint, self._families, self._bounds, self._k = over, joint, families, bounds, k
        groups = over.group_of[joint]
        self.contradicted = np.isin(groups, groups[bounds.contradicted])

    def counts(self, programs: bool) -> tuple[list[Count], int, int]:
        """The pinned counts, how many are undecided, and how many only programs decided to be pinned."""
        asked = {CELL: self._cells(), HIDDEN: self._hidden(), DIFFERENCE: self._differences()}
        low = np.concatenate([one.low for one in asked.values()])
        high = np.concatenate([one.high for one in asked.values()])
        members = sparse.vstack([one.members for one in asked.values()]).tocsr()
        kinds = np.repeat(list(asked), [len(one.low) for one in asked.values()])
        releases = [of for one in asked.values() for of in one.releases or [()] * len(one.low)]
        pinned = (low >= 1) & (high < self._k)
        open_ = ~pinned & (low < self._k) & (high >= 1)
        by_programs = undecided = 0
        if programs and open_.any():
            at = np.flatnonzero(open_)
            answers = self._decided(members[at])
            undecided = int((~answers.decided & ~answers.contradicted).sum())
            new = at[answers.low > 0]
            low[new], high[new] = answers.low[answers.low > 0], answers.high[answers.low > 0]
            pinned[new] = True
            by_programs = len(new)
            wrong = members[at[answers.contradicted]].indices % len(self._joint)
            groups = self._over.group_of[self._joint]
            self.contradicted |= np.isin(groups, groups[wrong])
        elif not programs:
            undecided = int(open_.sum())
        found = []
        for one in to_list(np.flatnonzero(pinned)):
            cell, joint = np.divmod(members[one].indices, len(self._joint))
            if not self.contradicted[joint].any():
                of = releases[one] or self._releases_of(int(cell[0]))
                found.append(self._count(str(kinds[one]), cell, joint, int(low[one]), int(high[one]), of))
        # A difference of two regions may be a suppressed class of a third: one count is enough.
        once = {(count.cells.tobytes(), count.joint.tobytes()): count for count in reversed(found)}
        found = list(reversed(once.values()))
        return found + self._rests(found), undecided, by_programs

    def _count(
        self, kind: str, cell: np.ndarray, joint: np.ndarray, low: int, high: int, releases: tuple[int, ...]
    ) -> Count:
        return Count(kind, np.unique(cell).astype(np.int64), self._joint[np.unique(joint)], low, high, releases)

    def _cells(self) -> _Asked:
        """All overlay cells by joint class that may hold 1 to k-1 people as far as propagation can tell."""
        bounds = self._bounds
        may = (bounds.low < self._k) & (bounds.high >= 1) & ~self.contradicted
        at = np.flatnonzero(may.ravel())
        members = sparse.csr_matrix(
            (np.ones(len(at), np.int64), (np.arange(len(at)), at)), shape=(len(at), bounds.low.size)
        )
        return _Asked(members, bounds.low.ravel()[at], bounds.high.ravel()[at], [])

    def _releases_of(self, cell: int) -> tuple[int, ...]:
        """The releases that show the region of an overlay cell."""
        there = zip(self._families, (self._over.regions[cell] >= 0).tolist())
        return tuple(sorted({one.release for one, inside in there if inside}))

    def _hidden(self) -> _Asked:
        """Suppressed classes of regions of more than one overlay cell or joint class."""
        low, high, parts, releases = [], [], [], []
        n_joint = len(self._joint)
        for one, least, most in zip(self._families, self._bounds.sum_low, self._bounds.sum_high):
            region, class_of = np.nonzero((one.low == 0) & (least < self._k) & (most >= 1) & (most < UNBOUNDED))
            rows = one.members()[region]
            of_class = (one.class_of == class_of[:, None]) & ~self.contradicted
            several = np.asarray(rows.sum(axis=1)).ravel() * of_class.sum(axis=1) > 1
            several &= of_class.any(axis=1) & (one.low[region, class_of] == 0) & one.exact
            rows, of_class, region, class_of = rows[several], of_class[several], region[several], class_of[several]
            low.append(least[region, class_of])
            high.append(most[region, class_of])
            parts.append(_products(rows, sparse.csr_matrix(of_class.astype(np.int64)), n_joint))
            releases += [(one.release,)] * len(region)
        return _Asked(sparse.vstack(parts).tocsr(), np.concatenate(low), np.concatenate(high), releases)

    def _differences(self) -> _Asked:
        """Differences of two regions of two releases, one within the other, of more than one overlay cell."""
        low, high, rows, columns, releases = [], [], [], [], []
        n_joint, first = len(self._joint), 0
        exact = [i for i, one in enumerate(self._families) if one.exact]
        for large, small in ((a, b) for a in exact for b in exact if self._comparable(a, b)):
            outer, inner = self._families[large], self._families[small]
            for b, a, left in differences(outer, inner):
                least, most = self._difference(large, small, b, a, left)
                may = np.flatnonzero((least < self._k) & (most >= 1) & ~self.contradicted & (outer.class_of >= 0))
                rows.append(first + np.repeat(np.arange(len(may)), len(left)))
                columns.append((left * n_joint + may[:, None]).ravel())
                low.append(least[may])
                high.append(most[may])
                releases += [(outer.release, inner.release)] * len(may)
                first += len(may)
        row, column = (np.concatenate([np.empty(0, np.int64), *parts]) for parts in (rows, columns))
        shape = (first, self._bounds.low.size)
        members = sparse.csr_matrix((np.ones(len(row), np.int64), (row, column)), shape=shape)
        nothing = np.empty(0, np.int64)
        return _Asked(members, np.concatenate([nothing, *low]), np.concatenate([nothing, *high]), releases)

    def _comparable(self, large: int, small: int) -> bool:
        outer, inner = self._families[large], self._families[small]
        schema = self._over.schema_of
        plain = len(np.unique(outer.class_of[outer.class_of >= 0])) == (outer.class_of >= 0).sum()
        return outer.release != inner.release and schema[outer.release] == schema[inner.release] and plain

    def _difference(self, large: int, small: int, b: int, a: int, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the people of region b who are not in region a, by joint class."""
        bounds, class_of = self._bounds, self._families[large].class_of
        low = bounds.sum_low[large][b, class_of] - bounds.sum_high[small][a, class_of]
        high = bounds.sum_high[large][b, class_of] - bounds.sum_low[small][a, class_of]
        return np.maximum(low, bounds.low[left].sum(axis=0)), np.minimum(high, bounds.high[left].sum(axis=0))

    def _decided(self, asked: sparse.csr_matrix) -> Answers:
        """What linear programming says of sums that propagation leaves open."""
        bounds = self._bounds
        free = np.flatnonzero(((bounds.low < bounds.high) & ~self.contradicted).ravel())
        rows, row_low, row_high = [], [], []
        for one in self._families:
            row, known_low, known_high = self._open_rows(one, free)
            rows.append(row)
            row_low.append(known_low)
            row_high.append(known_high)
        problem = Problem(
            sparse.vstack(rows).tocsr(),
            np.concatenate(row_low),
            np.concatenate(row_high),
            bounds.low.ravel()[free],
            bounds.high.ravel()[free],
            asked[:, free],
            asked @ bounds.low.ravel() - asked[:, free] @ bounds.low.ravel()[free],
        )
        return decide(problem, self._k)

    def _open_rows(self, one: Sums, free: np.ndarray) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
        """The sums of a family over the free unknowns that their bounds do not fulfil anyway."""
        bounds, n_joint = self._bounds, len(self._joint)
        n_classes = one.low.shape[1]
        cell, joint = np.divmod(np.arange(bounds.low.size), n_joint)
        region = np.where(one.region >= 0, one.region, one.n_regions)[cell]
        key = region * n_classes + np.where(one.class_of >= 0, one.class_of, n_classes - 1)[joint]
        low, high = bounds.low.ravel(), bounds.high.ravel()
        least = np.bincount(key, low, one.low.size)
        most = np.bincount(key, high, one.low.size)
        is_free = np.zeros(bounds.low.size, bool)
        is_free[free] = True
        fixed = np.bincount(key[~is_free], low[~is_free], one.low.size).astype(np.int64)
        needed = (one.low.ravel() > least) | (one.high.ravel() < most)
        number = np.cumsum(needed) - 1
        at = np.flatnonzero(needed[key[free]])
        shape = (int(needed.sum()), len(free))
        rows = sparse.csr_matrix((np.ones(len(at), np.int64), (number[key[free[at]]], at)), shape=shape)
        known_high = np.where(one.high.ravel() >= UNBOUNDED, UNBOUNDED, one.high.ravel() - fixed)
        return rows, (one.low.ravel() - fixed)[needed], known_high[needed]

    def _rests(self, found: list[Count]) -> list[Count]:
        """What is left of known counts once all counts of another release within them are taken away."""
        known = {(count.cells.tobytes(), count.joint.tobytes()) for count in found}
        rests = []
        for outer in self._families:
            if not outer.exact:
                continue
            for other in range(len(self._over.releases)):
                if other == outer.release or not self._determines(other, outer.release):
                    continue
                for count in self._rests_of(outer, other):
                    key = (count.cells.tobytes(), count.joint.tobytes())
                    if key not in known:
                        known.add(key)
                        rests.append(count)
        return rests

    def _determines(self, finer: int, coarser: int) -> bool:
        """Whether a class of one release lies in one class of the other."""
        names = [set(self._over.schemas[self._over.schema_of[one]].names) for one in (finer, coarser)]
        return names[1] <= names[0]

    def _rests_of(self, outer: Sums, other: int) -> list[Count]:
        rest = np.where((outer.low == outer.high) & (outer.low > 0), outer.low, 0)
        taken = np.zeros((self._over.n_cells, len(self._joint)), bool)
        release = self._over.releases[other]
        for inner in (one for one in self._families if one.release == other):
            label, region, joint = self._labels(inner)
            whole = region_around(outer, inner)[region]
            inside = (whole >= 0) & (outer.class_of[joint] >= 0)
            np.subtract.at(rest, (whole[inside], outer.class_of[joint[inside]]), release.records[label[inside]])
            if not release.nested:
                gone = np.zeros_like(inner.low, bool)
                gone[region[inside], inner.class_of[joint[inside]]] = True
                taken |= gone[np.ix_(inner.region, inner.class_of)]
        counts = []
        for b, one in to_list(np.argwhere((rest >= 1) & (rest < self._k))):
            members = (outer.region == b)[:, None] & (outer.class_of == one) & ~taken & ~self.contradicted
            cell, joint = np.nonzero(members)
            if len(cell):
                left = int(rest[b, one])
                counts.append(self._count(REST, cell, joint, left, left, (outer.release, other)))
        return counts

    def _labels(self, inner: Sums) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position, region, and some joint class of the labels of one level of a release that are in this chunk."""
        release = self._over.releases[inner.release]
        own = self._over.own_class[inner.release]
        schema_class = self._over.entries[self._joint, self._over.schema_of[inner.release]]
        joint_of = np.full(len(release.classes), NONE)
        there = np.flatnonzero(schema_class >= 0)
        numbers = own[schema_class[there]]
        joint_of[numbers[numbers >= 0]] = there[numbers >= 0]
        here = np.flatnonzero((release.level == inner.level) & (joint_of[release.class_of] >= 0))
        return here, release.region[here], joint_of[release.class_of[here]]


@dataclass(frozen=True, eq=False)
class _Asked:
    """Sums of unknowns with bounds, and the releases that they are of (none where that is told by the cell).

    members : (q, cells * u) matrix of 0 and 1
    """

    members: sparse.csr_matrix
    low: np.ndarray
    high: np.ndarray
    releases: Sequence[tuple[int, ...]]


def _products(cells: sparse.csr_matrix, joint: sparse.csr_matrix, n_joint: int) -> sparse.csr_matrix:
    """Row by row, all pairs of a cell and a joint class: (q, cells * u) from (q, cells) and (q, u)."""
    n_cells, n_classes = np.diff(cells.indptr), np.diff(joint.indptr)
    row = np.repeat(np.arange(len(n_cells)), n_cells)
    times = n_classes[row]
    of_cell = np.repeat(cells.indices.astype(np.int64), times)
    within = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    of_joint = joint.indices[np.repeat(joint.indptr[:-1][row], times) + within]
    column = of_cell * n_joint + of_joint
    shape = (len(n_cells), cells.shape[1] * n_joint)
    return sparse.csr_matrix((np.ones(len(column), np.int64), (np.repeat(row, times), column)), shape=shape)
