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
from .bounds import Bounds
from .chunk import Chunk, chunk_of, cut_overlay
from .counts import ALIKE, CELL, DIFFERENCE, HIDDEN, KINDS, REST, Count, persons_in
from .overlay import UNBOUNDED, Overlay, Sums, overlay, region_around
from .programs import Answers, Problem, decide
from .published import Published
from .sensitive import sensitive_fields, tell_values
from .small_sums import small_cells, small_differences, small_suppressed


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
        raise InputError(
            tr("One release cannot be held against others: give at least two releases of the same people.")
        )
    k = min(release.k for release in releases) if k is None else k
    over = overlay(releases)
    counts: list[Count] = []
    undecided = by_programs = 0
    contradicted, kept = [], []
    fields = sensitive_fields(releases)
    chunks = cut_overlay(over, np.arange(len(over.entries)) if joint is None else joint)
    for number, some in enumerate(chunks):
        chunk = chunk_of(over, some, k)
        if keep_bounds or fields:
            kept.append((some, chunk.bounds))
        found = _pinned_of(chunk, programs)
        counts += found.counts
        undecided += found.n_undecided
        by_programs += found.n_by_programs
        contradicted.append(some[found.contradicted])
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


@dataclass(frozen=True, eq=False)
class _Found:
    """What is pinned in a chunk.

    n_undecided : counts that are open still; n_by_programs : how many only programs decided to be pinned
    contradicted : (u,) bool, joint classes of the chunk
    """

    counts: list[Count]
    n_undecided: int
    n_by_programs: int
    contradicted: np.ndarray


def _pinned_of(chunk: Chunk, programs: bool) -> _Found:
    """The pinned counts of a chunk; programs : whether linear programming decides what is open."""
    asked = {CELL: small_cells(chunk), HIDDEN: small_suppressed(chunk), DIFFERENCE: small_differences(chunk)}
    low = np.concatenate([one.low for one in asked.values()])
    high = np.concatenate([one.high for one in asked.values()])
    members = sparse.vstack([one.members for one in asked.values()]).tocsr()
    kinds = np.repeat(list(asked), [len(one.low) for one in asked.values()])
    releases = [of for one in asked.values() for of in one.releases or [()] * len(one.low)]
    pinned = (low >= 1) & (high < chunk.k)
    open_ = ~pinned & (low < chunk.k) & (high >= 1)
    by_programs = undecided = 0
    if programs and open_.any():
        at = np.flatnonzero(open_)
        answers = _decided(chunk, members[at])
        undecided = int((~answers.decided & ~answers.contradicted).sum())
        new = at[answers.low > 0]
        low[new], high[new] = answers.low[answers.low > 0], answers.high[answers.low > 0]
        pinned[new] = True
        by_programs = len(new)
        wrong = members[at[answers.contradicted]].indices % chunk.n_joint
        chunk = chunk.without(wrong)
    elif not programs:
        undecided = int(open_.sum())
    found = []
    for one in to_list(np.flatnonzero(pinned)):
        cell, joint = np.divmod(members[one].indices, chunk.n_joint)
        if not chunk.contradicted[joint].any():
            of = releases[one] or chunk.releases_of(int(cell[0]))
            found.append(chunk.count(str(kinds[one]), cell, joint, int(low[one]), int(high[one]), of))
    # A difference of two regions may be a suppressed class of a third: one count is enough.
    once = {(count.cells.tobytes(), count.joint.tobytes()): count for count in reversed(found)}
    found = list(reversed(once.values()))
    return _Found(found + _rests(chunk, found), undecided, by_programs, chunk.contradicted)


def _decided(chunk: Chunk, asked: sparse.csr_matrix) -> Answers:
    """What linear programming says of sums that propagation leaves open."""
    bounds = chunk.bounds
    free = np.flatnonzero(((bounds.low < bounds.high) & ~chunk.contradicted).ravel())
    rows, row_low, row_high = [], [], []
    for one in chunk.families:
        row, known_low, known_high = _open_rows(chunk, one, free)
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
    return decide(problem, chunk.k)


def _open_rows(chunk: Chunk, one: Sums, free: np.ndarray) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
    """The sums of a family over the free unknowns that their bounds do not fulfil anyway."""
    bounds, n_joint = chunk.bounds, chunk.n_joint
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


def _rests(chunk: Chunk, found: list[Count]) -> list[Count]:
    """What is left of known counts once all counts of another release within them are taken away."""
    known = {(count.cells.tobytes(), count.joint.tobytes()) for count in found}
    rests = []
    for outer in chunk.families:
        if not outer.exact:
            continue
        for other in range(len(chunk.over.releases)):
            if other == outer.release or not _determines(chunk, other, outer.release):
                continue
            for count in _rests_of(chunk, outer, other):
                key = (count.cells.tobytes(), count.joint.tobytes())
                if key not in known:
                    known.add(key)
                    rests.append(count)
    return rests


def _determines(chunk: Chunk, finer: int, coarser: int) -> bool:
    """Whether a class of one release lies in one class of the other."""
    names = [set(chunk.over.schemas[chunk.over.schema_of[one]].names) for one in (finer, coarser)]
    return names[1] <= names[0]


def _rests_of(chunk: Chunk, outer: Sums, other: int) -> list[Count]:
    rest = np.where((outer.low == outer.high) & (outer.low > 0), outer.low, 0)
    taken = np.zeros((chunk.over.n_cells, chunk.n_joint), bool)
    release = chunk.over.releases[other]
    for inner in (one for one in chunk.families if one.release == other):
        label, region, joint = chunk.labels_of(inner)
        whole = region_around(outer, inner)[region]
        inside = (whole >= 0) & (outer.class_of[joint] >= 0)
        np.subtract.at(rest, (whole[inside], outer.class_of[joint[inside]]), release.records[label[inside]])
        if not release.nested:
            gone = np.zeros_like(inner.low, bool)
            gone[region[inside], inner.class_of[joint[inside]]] = True
            taken |= gone[np.ix_(inner.region, inner.class_of)]
    counts = []
    for b, one in to_list(np.argwhere((rest >= 1) & (rest < chunk.k))):
        members = (outer.region == b)[:, None] & (outer.class_of == one) & ~taken & ~chunk.contradicted
        cell, joint = np.nonzero(members)
        if len(cell):
            left = int(rest[b, one])
            counts.append(chunk.count(REST, cell, joint, left, left, (outer.release, other)))
    return counts
