"""Counts of a few people that several releases give away together.

Each release alone shows nobody among fewer than k. Taken from each other, their counts may: where one release has
twelve people in a region and another ten in all of it but one area, two live in that area. Interval propagation finds
nearly all such counts, linear programming decides the rest. Counts of people who are in no overlay cell by themselves
are found too, as differences of two regions, and as what is left of a count once the other release's are taken away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace

import numpy as np

from ..arrays import to_list
from ..dataclass import dataclass
from ..errors import InputError
from ..language import tr
from ..progress import Progress, part, silent
from ..scientific import sparse
from .asked import asked_of
from .bounds import Bounds
from .chunk import Chunk, chunk_of, cut_overlay
from .counts import HOMOGENEOUS, KINDS, SUM, Count, persons_in
from .overlay import NONE, UNBOUNDED, Overlay, Sums, overlay
from .programs import Answers, Problem, Table, decide, tables_of
from .published import Published
from .sensitive import disclosed_by_values_of, sensitive_fields
from .small_counts import SmallCounts, pairs_by_row, within_of

MEMBERS_AT_ONCE = 1_000_000


@dataclass(frozen=True, eq=False)
class DisclosedCounts:
    """What releases give away together.

    counts : the disclosed counts, the overlay cells first; k : counts below it are looked for
    n_undecided : counts that were too many or too hard to decide, contradictions apart
    contradicted : joint classes of which the releases contradict each other: they are not of the same people
    n_by_programs : counts that only programs found; undecided : those that are not decided, where programs were asked,
    with bounds that hold; of those that were too many, some
    n_tried : counts that were looked at
    """

    overlay: Overlay
    k: int
    counts: list[Count]
    n_undecided: int
    contradicted: np.ndarray
    n_by_programs: int = 0
    bounds: list[tuple[np.ndarray, Bounds]] = field(default_factory=list)
    undecided: list[Count] = field(default_factory=list)
    n_tried: int = 0

    @property
    def n_persons(self) -> int:
        """The people that are in counts of fewer than k at least."""
        return persons_in([count for count in self.counts if count.kind != HOMOGENEOUS])


def find_disclosed(
    releases: Sequence[Published],
    k: int | None = None,
    programs: bool = True,
    keep_bounds: bool = False,
    joint: np.ndarray | None = None,
    progress: Progress = silent,
) -> DisclosedCounts:
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
    n_undecided = by_programs = n_tried = 0
    undecided: list[Count] = []
    contradicted, kept = [], []
    fields = sensitive_fields(releases)
    chunks = cut_overlay(over, np.arange(len(over.entries), dtype=np.int64) if joint is None else joint)
    for number, some in enumerate(chunks):
        known: dict[tuple[bytes, bytes, int], Count] = {}
        looked_at = np.zeros(0, np.int64)
        for chunk, findings in _disclosed_in(over, some, k, programs, tuple(range(len(over.schemas)))):
            if (keep_bounds or fields) and not np.isin(chunk.joint, looked_at).any():
                kept.append((chunk.joint, chunk.bounds))
            looked_at = np.union1d(looked_at, chunk.joint)
            for count in findings.counts:
                known.setdefault(count.key, count)
            n_undecided += findings.n_undecided
            undecided += findings.undecided
            by_programs += findings.n_by_programs
            n_tried += findings.n_tried
            contradicted.append(chunk.joint[findings.contradicted])
        counts += known.values()
        progress((number + 1) / (len(chunks) + len(fields)))
    for number, name in enumerate(fields):
        done, of_all = len(chunks) + number, len(chunks) + len(fields)
        disclosed = disclosed_by_values_of(
            over, kept, counts, name, k, part(progress, done / of_all, (done + 1) / of_all)
        )
        counts = disclosed.counts
        contradicted.append(disclosed.contradicted)
        progress((done + 1) / of_all)
    counts.sort(key=lambda count: KINDS.index(count.kind))
    nobody = np.empty(0, np.int64)
    wrong = np.unique(np.concatenate([nobody, *contradicted]))
    bounds = kept if keep_bounds else []
    return DisclosedCounts(over, k, counts, n_undecided, wrong, by_programs, bounds, undecided, n_tried)


@dataclass(frozen=True, eq=False)
class _Disclosed:
    """What is disclosed in a chunk.

    n_undecided, undecided : counts that are open still; n_by_programs : how many only programs decided to be disclosed
    n_tried : counts that were looked at
    contradicted : (u,) bool, joint classes of the chunk
    """

    counts: list[Count]
    n_undecided: int
    n_by_programs: int
    contradicted: np.ndarray
    undecided: list[Count]
    n_tried: int


def _disclosed_in(
    over: Overlay, joint: np.ndarray, k: int, programs: bool, closed: tuple[int, ...]
) -> Iterator[tuple[Chunk, _Disclosed]]:
    """What is disclosed in some joint classes, whole groups of them, for somebody who knows all values there are.

    closed : the schemas of which the values that some release shows are taken for all there are. That is believed of a
    group unless its sums contradict each other, as where all people of a value are suppressed everywhere: then of all
    these schemas but one, whichever that is.
    """
    chunk = chunk_of(over, joint, k, closed)
    findings = _disclosed_of(chunk, programs)
    believed = joint[over.nobody[joint][:, list(closed)].any(axis=1)]
    again = findings.contradicted & np.isin(over.group_of[joint], over.group_of[believed])
    if not again.any():
        yield chunk, findings
        return
    if not again.all():
        yield from _disclosed_in(over, joint[~again], k, programs, closed)
    for release in closed:
        yield from _disclosed_in(over, joint[again], k, programs, tuple(other for other in closed if other != release))


def _disclosed_of(chunk: Chunk, programs: bool) -> _Disclosed:
    """The disclosed counts of a chunk; programs : whether linear programming decides what is open."""
    asked = asked_of(chunk, _tables(chunk) if programs else None)
    low, high, members = asked.low.copy(), asked.high.copy(), asked.members
    disclosed = (low >= 1) & (high < chunk.k)
    open_ = ~disclosed
    by_programs, n_undecided = 0, asked.n_left_out
    not_decided = [(cells, joint, 0, chunk.k - 1) for cells, joint in asked.left_out]
    if open_.any():
        at = np.flatnonzero(open_)
        answers = _decided(chunk, members[at], asked.taken[at])
        still = at[~answers.decided & ~answers.contradicted]
        n_undecided += len(still)
        for row in to_list(still):
            cells, joint = (np.unique(part) for part in np.divmod(_of_row(members, row), chunk.n_joint))
            not_decided.append((cells, joint, int(low[row]), int(high[row])))
        new = at[answers.low > 0]
        low[new], high[new] = answers.low[answers.low > 0], answers.high[answers.low > 0]
        disclosed[new] = True
        by_programs = len(new)
        wrong = members[at[answers.contradicted]].indices % chunk.n_joint
        chunk = chunk.without(wrong)
    counts: dict[tuple[bytes, bytes, int], Count] = {}
    taken_by = _taken_by(chunk, asked, np.flatnonzero(disclosed & (asked.taken != 0)))
    for row in sorted(to_list(np.flatnonzero(disclosed)), key=lambda row: KINDS.index(asked.kind[row])):
        cells, joint = (np.unique(part) for part in np.divmod(_of_row(members, row), chunk.n_joint))
        if not chunk.contradicted[joint].any():
            release = int(asked.release[row])
            of = chunk.releases_of(int(cells[0])) if release == NONE else (release,)
            bounds = int(low[row]), int(high[row])
            if asked.taken[row]:
                count = chunk.count(str(asked.kind[row]), cells, joint, *bounds, of)
                count = _less(chunk, count, taken_by[row]) if row in taken_by else _left(chunk, count, joint)
            else:
                count = chunk.count(str(asked.kind[row]), cells, joint, *bounds, of)
            # A sum of counts may be what is left of another: one count is enough.
            counts.setdefault(count.key, count)
    undecided = [
        chunk.count(SUM, cells, joint, least, most, chunk.releases_of(int(cells[0])))
        for cells, joint, least, most in not_decided
        if not chunk.contradicted[joint].any()
    ]
    listed = list(counts.values())
    return _Disclosed(listed, n_undecided, by_programs, chunk.contradicted, undecided, asked.n_tried)


def _of_row(members: sparse.csr_matrix, row: int) -> np.ndarray:
    """The columns of a row: by far the fastest way to ask many rows."""
    unknowns: np.ndarray = members.indices[members.indptr[row] : members.indptr[row + 1]]
    return unknowns


def _tables(chunk: Chunk) -> list[Table]:
    """People who fit all that is known, (cells, u)."""
    problem, free = _problem(chunk)
    tables = []
    for table in tables_of(problem):
        people, open_ = chunk.bounds.low.ravel().copy(), np.zeros(chunk.bounds.low.size, bool)
        people[free], open_[free] = table.people, table.open
        tables.append(Table(people.reshape(chunk.bounds.low.shape), open_.reshape(chunk.bounds.low.shape)))
    return tables


def _decided(chunk: Chunk, asked: sparse.csr_matrix, taken: np.ndarray) -> Answers:
    """What linear programming says of sums that propagation leaves open, less what is taken away from each."""
    problem, free = _problem(chunk)
    low = chunk.bounds.low.ravel()
    base = asked @ low - asked[:, free] @ low[free] - taken
    return decide(replace(problem, asked=asked[:, free], base=base), chunk.k)


def _problem(chunk: Chunk) -> tuple[Problem, np.ndarray]:
    """The unknowns that bounds leave open and the sums they are in, nothing asked; and which unknowns those are."""
    bounds = chunk.bounds
    free = np.flatnonzero(((bounds.low < bounds.high) & ~chunk.contradicted).ravel())
    rows, row_low, row_high = zip(*(_open_rows(chunk, family, free) for family in chunk.families))
    problem = Problem(
        sparse.vstack(rows).tocsr(),
        np.concatenate(row_low),
        np.concatenate(row_high),
        bounds.low.ravel()[free],
        bounds.high.ravel()[free],
        sparse.csr_matrix((0, len(free)), dtype=np.int64),
        np.empty(0, np.int64),
    )
    return problem, free


def _open_rows(chunk: Chunk, family: Sums, free: np.ndarray) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
    """The sums of a family over the free unknowns that their bounds do not fulfil anyway."""
    bounds, n_joint = chunk.bounds, chunk.n_joint
    n_classes = family.low.shape[1]
    cell, joint = np.divmod(np.arange(bounds.low.size, dtype=np.int64), n_joint)
    region = np.where(family.region >= 0, family.region, family.n_regions)[cell]
    key = region * n_classes + np.where(family.class_of >= 0, family.class_of, n_classes - 1)[joint]
    low, high = bounds.low.ravel(), bounds.high.ravel()
    least = np.bincount(key, low, family.low.size)
    most = np.bincount(key, high, family.low.size)
    is_free = np.zeros(bounds.low.size, bool)
    is_free[free] = True
    fixed = np.bincount(key[~is_free], low[~is_free], family.low.size).astype(np.int64)
    needed = (family.low.ravel() > least) | (family.high.ravel() < most)
    number = np.cumsum(needed, dtype=np.int64) - 1
    at = np.flatnonzero(needed[key[free]])
    shape = (int(needed.sum()), len(free))
    rows = sparse.csr_matrix((np.ones(len(at), np.int64), (number[key[free[at]]], at)), shape=shape)
    known_high = np.where(family.high.ravel() >= UNBOUNDED, UNBOUNDED, family.high.ravel() - fixed)
    return rows, (family.low.ravel() - fixed)[needed], known_high[needed]


def _taken_by(chunk: Chunk, asked: SmallCounts, rows: np.ndarray) -> dict[int, np.ndarray]:
    """Of some rows of what is asked, the equivalence classes of their releases that lie whole within them.

    Only of releases of several levels: what one level leaves over is told otherwise, see `_left`.
    """
    taken = {}
    for release in to_list(np.unique(asked.release[rows])):
        if not chunk.over.releases[release].nested:
            continue
        own = rows[asked.release[rows] == release]
        families = [family for family in chunk.families if family.release == release]
        parts = [_members_of(chunk, family) for family in families]
        equivalence_classes = np.concatenate([positions for positions, _ in parts])
        inner = sparse.vstack([members for _, members in parts]).tocsr()
        sizes = np.diff(asked.members.indptr)[own]
        for number in np.unique(np.cumsum(sizes, dtype=np.int64) // MEMBERS_AT_ONCE):
            some = own[np.cumsum(sizes, dtype=np.int64) // MEMBERS_AT_ONCE == number]
            inside = within_of(asked.members[some], inner)
            inside.sort_indices()
            for row, columns in zip(to_list(some), np.split(inside.indices, inside.indptr[1:-1])):
                taken[row] = equivalence_classes[columns]
    return taken


def _members_of(chunk: Chunk, family: Sums) -> tuple[np.ndarray, sparse.csr_matrix]:
    """The equivalence classes of a family, and the unknowns that each is made up of: a matrix of 0 and 1."""
    equivalence_class, region, at = chunk.equivalence_classes_of(family)
    column = family.class_of[at]
    shape = (family.low.shape[1], chunk.n_joint)
    class_of = np.where(family.class_of >= 0, family.class_of, shape[0] - 1)
    joint = sparse.csr_matrix(
        (np.ones(chunk.n_joint, np.int64), (class_of, np.arange(chunk.n_joint, dtype=np.int64))), shape=shape
    )
    return equivalence_class, pairs_by_row(family.members[region], joint[column], chunk.n_joint)


def _less(chunk: Chunk, count: Count, taken: np.ndarray) -> Count:
    """A count without the people of these equivalence classes of its release."""
    (release,) = count.releases
    return replace(count, taken=taken, less=int(chunk.over.releases[release].records[taken].sum()))


def _left(chunk: Chunk, count: Count, joint: np.ndarray) -> Count:
    """A count without the people whom its release shows wholly within it; joint : its classes, as in the chunk.

    Of a release of one level the regions and classes that are shown are all gone, and what is left need not be some
    areas by some classes. Of several levels it is not told where within a larger region somebody is who is shown
    there: then the count says whom to take away.
    """
    (release,) = count.releases
    (family,) = [family for family in chunk.families if family.release == release]
    gone = np.zeros_like(family.low, bool)
    _, region, at = _classes_within(chunk, family, count.cells, joint)
    gone[region, family.class_of[at]] = True
    left = ~gone[np.ix_(family.region[count.cells], family.class_of[joint])]
    if left.any():
        # Some of several classes have no name: but for a single one they are all kept.
        kept = left.any(axis=0) if left.any(axis=0).sum() == 1 else np.ones(len(joint), bool)
        joint = joint[kept]
        count = replace(count, cells=count.cells[left.any(axis=1)], joint=chunk.joint[joint])
    return _less(chunk, count, _classes_within(chunk, family, count.cells, joint)[0])


def _classes_within(
    chunk: Chunk, family: Sums, cells: np.ndarray, joint: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Those of `Chunk.equivalence_classes_of` a family that lie whole in some cells and joint classes."""
    equivalence_class, region, at = chunk.equivalence_classes_of(family)
    whole = _whole(family.region, cells, len(family.low))[region]
    whole &= _whole(family.class_of, joint, family.low.shape[1])[family.class_of[at]]
    return equivalence_class[whole], region[whole], at[whole]


def _whole(part_of: np.ndarray, some: np.ndarray, n: int) -> np.ndarray:
    """Which parts, (n,) bool, have all their members among some; the last is for NONE, of which nobody knows."""
    sizes, inside = (np.bincount(np.where(of >= 0, of, n - 1), minlength=n) for of in (part_of, part_of[some]))
    whole = sizes == inside
    whole[-1] = False
    return whole
