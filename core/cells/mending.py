"""A partition held against further years: which groups fail, and the fewest moves of cells that mend them.

(Bjerre-Nielsen & Gandil 2018, section 5: people relocate, so that groups may fall below k in the future.) A move gives
a cell another group, or its first. A group keeps at least one of its cells, or is given up. Which moves are fewest is
an integer program; the groups must be connected, which is asked for where a solution breaks it, and solved again.

How far one has to look: in a mend of as few moves as can be, every change is linked to a failing group by moves, and
each links a group to one next to it. So no group farther from a failing one than there are moves takes part: where
the search reached at least so far, its result has the fewest moves of all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..adjacency import connected_parts
from ..arrays import to_list
from ..crosswalk import LEFT_OUT, Crosswalk, number_compactly
from ..dataclass import dataclass
from ..language import as_data
from ..progress import Progress, part, silent
from ..scientific import optimize, sparse
from .cells import Cells
from .measures import Minimum, weights_of
from .partition import recount
from .units import reaches

HOLDS, SHORT, IN_PIECES = range(3)
# What is the matter with a group.
FAULTS = ("", as_data("too few people in some year"), as_data("in several pieces"))
REACH = 2
# Beyond these, a search is not begun, or broken off: what it cannot do is done group by group.
MOST_CELLS = 250
MOST_REACH = 5
MOST_TOGETHER = 4
MOST_ROUNDS = 20
NODES = 200
SOLVED, INFEASIBLE = 0, 2  # of HiGHS


@dataclass(frozen=True, eq=False)
class Mending:
    """What mends a partition.

    crosswalk : mended, with the numbers of the old groups; before, after : (n,) int64, the public number of the group
    of each cell, 0 for none; faults : (n_groups,) int64, positions in FAULTS, of the old groups; proven : whether
    no mend has fewer moves; n_given_up : groups that are no more
    """

    crosswalk: Crosswalk
    before: np.ndarray
    after: np.ndarray
    faults: np.ndarray
    proven: bool
    n_given_up: int

    @property
    def moved(self) -> np.ndarray:
        """Whether a cell has another group than before, (n,) bool."""
        return self.before != self.after

    def small_pieces(self, cells: Cells, minimums: Sequence[Minimum], empty_years: bool) -> int:
        """Pieces in which old and mended groups overlap, without being the same, where people are below a minimum."""
        changed = np.setdiff1d([self.before[self.moved], self.after[self.moved]], [0])  # of none nothing is published
        inside = np.flatnonzero(np.isin(self.before, changed) | np.isin(self.after, changed))
        pairs = np.column_stack([self.before, self.after])[inside]
        _, piece = np.unique(pairs, axis=0, return_inverse=True)
        people = np.zeros((int(piece.max(initial=-1)) + 1, cells.population.shape[1]))
        np.add.at(people, piece.reshape(-1), cells.population[inside])
        return int((people.any(axis=1) & ~reaches(people, minimums, empty_years)).sum())


def faults_of(cells: Cells, minimums: Sequence[Minimum], crosswalk: Crosswalk, empty_years: bool) -> np.ndarray:
    """What is the matter with each group, (n_groups,) int64, positions in FAULTS; too few people come first."""
    people = np.column_stack([crosswalk.totals(column) for column in cells.population.T])
    faults = np.where(reaches(people, minimums, empty_years), HOLDS, SHORT)
    first, second = cells.adjacency.pairs()
    same = (crosswalk.region_of[first] == crosswalk.region_of[second]) & (crosswalk.region_of[first] >= 0)
    piece = connected_parts(first[same], second[same], len(cells))
    inside = crosswalk.region_of >= 0
    pairs = np.unique(np.column_stack([crosswalk.region_of, piece])[inside], axis=0)
    several = np.bincount(pairs[:, 0], minlength=crosswalk.n_regions) > 1
    return np.where((faults == HOLDS) & several, IN_PIECES, faults).astype(np.int64)


def mend(
    cells: Cells,
    minimums: Sequence[Minimum],
    crosswalk: Crosswalk,
    empty_years: bool = False,
    reach: int = REACH,
    progress: Progress = silent,
) -> Mending:
    """Mend the groups that fail, by as few moves as are found; of as few moves, those of the fewest people.

    crosswalk : of the cells; reach : how many groups away from a failing one are looked at, at first. Nobody who is in
    a group is left out, unless there is no other way. Raises PrivacyError where the recount finds a group that fails.
    """
    faults = faults_of(cells, minimums, crosswalk, empty_years)
    search = _Search(cells, minimums, crosswalk, empty_years)
    proven = True
    clusters = search.clusters(np.flatnonzero(faults), reach)
    for done, failing in enumerate(clusters):
        step = part(progress, done / len(clusters), (done + 1) / len(clusters))
        proven &= search.mend_cluster(failing, reach, step)
    left = search.failing()
    while len(left):
        proven = False
        search.join(int(left[0]))
        left = search.failing()
    mended, kept = number_compactly(search.group_of)
    mended = Crosswalk(mended.region_of, mended.n_regions, crosswalk.numbers[kept])
    recount(cells, minimums, mended, empty_years)
    before, after = (np.append(of_crosswalk.numbers, 0)[of_crosswalk.region_of] for of_crosswalk in (crosswalk, mended))
    return Mending(mended, before, after, faults, proven, crosswalk.n_regions - mended.n_regions)


class _Search:
    """Groups that are being mended. group_of : (n,) int64, as in the old crosswalk; LEFT_OUT for none."""

    def __init__(self, cells: Cells, minimums: Sequence[Minimum], crosswalk: Crosswalk, empty_years: bool) -> None:
        self.cells, self.minimums, self.empty_years = cells, minimums, empty_years
        self.group_of = crosswalk.region_of.copy()
        self._n = crosswalk.n_regions
        self._weights = weights_of(cells, minimums)
        self._columns = np.array([column for minimum in minimums for column in minimum.columns], np.int64)
        self._k = np.array([minimum.k for minimum in minimums for _ in minimum.columns], np.int64)

    def failing(self) -> np.ndarray:
        """The groups that fail now."""
        present = np.unique(self.group_of[self.group_of >= 0])
        faults = faults_of(self.cells, self.minimums, Crosswalk(self.group_of, self._n), self.empty_years)
        return present[faults[present] != HOLDS]

    def fails(self, group: int) -> bool:
        """Whether this group is there, and fails."""
        members = np.flatnonzero(self.group_of == group)
        if not len(members):
            return False
        people = self.cells.population[members].sum(axis=0)
        near = self.cells.adjacency.matrix()[members][:, members].tocoo()
        several = len(np.unique(connected_parts(near.row, near.col, len(members)))) > 1
        return several or not reaches(people, self.minimums, self.empty_years)

    def _nodes(self) -> np.ndarray:
        """Each group as a node, and each cell of no group, (n,) int64."""
        return np.where(self.group_of >= 0, self.group_of, self._n + np.arange(len(self.cells), dtype=np.int64))

    def patch(self, groups: Sequence[int], reach: int) -> np.ndarray:
        """The cells of these groups and of all that are at most `reach` groups, or cells of none, away, ascending."""
        nodes = self._nodes()
        first, second = self.cells.adjacency.pairs()
        inside = np.zeros(self._n + len(self.cells), bool)
        inside[list(groups)] = True
        for _ in range(reach):
            near = inside.copy()
            near[nodes[first][inside[nodes[second]]]] = True
            near[nodes[second][inside[nodes[first]]]] = True
            inside = near
        return np.flatnonzero(inside[nodes])

    def clusters(self, failing: np.ndarray, reach: int) -> list[list[int]]:
        """Failing groups together where their patches meet."""
        if not len(failing):
            return []
        patches = [self.patch([group], reach) for group in to_list(failing)]
        owner = np.concatenate([np.full(len(patch), i, np.int64) for i, patch in enumerate(patches)])
        member = np.concatenate(patches)
        links = sparse.coo_matrix((np.ones(len(owner), np.int8), (owner, member)), (len(patches), len(self.cells)))
        shared = (links @ links.T).tocoo()
        cluster = connected_parts(shared.row, shared.col, len(patches))
        return [failing[cluster == number].tolist() for number in np.unique(cluster)]

    def mend_cluster(self, failing: Sequence[int], reach: int, progress: Progress = silent) -> bool:
        """Mend these groups; returns whether no mend has fewer moves. What it cannot do is left as it is."""
        together = len(failing) <= MOST_TOGETHER and len(self.patch(failing, reach)) <= MOST_CELLS
        if not together and len(failing) > 1:
            for done, group in enumerate(failing):
                progress(done / len(failing))
                if self.fails(group):
                    self._mend_alone(group, part(progress, done / len(failing), (done + 1) / len(failing)))
            return False
        mended = self._looking_farther(failing, reach, False, part(progress, 0.0, 0.5))
        mended = mended or self._looking_farther(failing, reach, True, part(progress, 0.5, 1.0))
        if mended is None:
            return False
        self.group_of[mended.members] = mended.group_of
        return mended.proven

    def _mend_alone(self, group: int, progress: Progress) -> None:
        """Mend a group among others that fail, and may do so for now; where nothing near it helps, it is left."""
        members = self.patch([group], 1)
        near = np.unique(self.group_of[members])
        others = [other for other in to_list(near[near >= 0]) if other != group and self.fails(other)]
        mended = None if len(members) > MOST_CELLS else self._solve(members, 1, False, progress, others)
        if mended is not None:
            self.group_of[mended.members] = mended.group_of

    def _looking_farther(
        self, failing: Sequence[int], reach: int, leaving_out: bool, progress: Progress
    ) -> _Solution | None:
        """The best mend of a patch that grows until nothing farther away can be better, or it is too large."""
        best: _Solution | None = None
        first, most = reach, MOST_REACH + 1
        while reach <= MOST_REACH:
            members = self.patch(failing, reach)
            if len(members) > MOST_CELLS:
                break
            step = part(progress, (reach - first) / (most - first), (reach + 1 - first) / (most - first))
            mended = self._solve(members, reach, leaving_out, step)
            best = best if mended is None else mended
            if mended is not None and (mended.proven or not mended.optimal):
                break
            reach = reach + 1 if mended is None or leaving_out else min(mended.moves, MOST_REACH + 1)
        return best

    def _solve(
        self, members: np.ndarray, reach: int, leaving_out: bool, progress: Progress, may_fail: Sequence[int] = ()
    ) -> _Solution | None:
        program = _Program(self, members, reach, leaving_out, may_fail)
        group_of = program.solve(progress)
        if group_of is None:
            return None
        moves = int((group_of != self.group_of[members]).sum())
        # Where people are left out, a longer way around that takes them in must be out of the question, too.
        around = len(np.setdiff1d(self.cells.adjacency.matrix()[members].indices, members))
        all_seen = program.sees_all and not around
        proven = program.optimal and (all_seen or (not leaving_out and moves <= reach))
        return _Solution(members, group_of, moves, program.optimal, proven)

    def join(self, group: int) -> None:
        """Join a failing group with the neighbour that has the fewest people; without one, leave it out."""
        first, second = self.cells.adjacency.pairs()
        pairs = np.column_stack([self.group_of[first], self.group_of[second]])
        around = pairs[(pairs == group).any(axis=1)]
        around = np.unique(around[(around != group) & (around >= 0)])
        members = self.group_of == group
        people = [self._weights[self.group_of == other].sum() for other in around]
        self.group_of[members] = around[int(np.argmin(people))] if len(around) else LEFT_OUT


@dataclass(frozen=True, eq=False)
class _Solution:
    """members : cells; group_of : of each; moves : how many; optimal : in the patch; proven : none is better"""

    members: np.ndarray
    group_of: np.ndarray
    moves: int
    optimal: bool
    proven: bool


class _Program:
    """The integer program of a patch.

    Its variables: x of each cell and each group that it may have; then y of each group, whether it is kept; then, where
    a group may be empty in a year, z of each group and column, whether it is not.
    """

    def __init__(
        self, search: _Search, members: np.ndarray, reach: int, leaving_out: bool, may_fail: Sequence[int]
    ) -> None:
        self._may_fail = set(may_fail)
        self._cells = members
        own = search.group_of[members]
        self._own = own
        self._groups = np.unique(own[own >= 0])
        adjacency = search.cells.adjacency.matrix()[members][:, members].tocsr()
        self._near = adjacency
        first, target = _targets(adjacency, own, self._groups, reach)
        if leaving_out:
            leavers = np.flatnonzero(own >= 0)
            first, target = np.append(first, leavers), np.append(target, np.full(len(leavers), LEFT_OUT, np.int64))
        self._cell, self._target = first, target
        self.sees_all = int((target >= 0).sum()) == len(members) * len(self._groups)
        self._x = {pair: i for i, pair in enumerate(zip(to_list(first), to_list(target)))}
        self._y = {group: len(first) + i for i, group in enumerate(to_list(self._groups))}
        n_z = len(self._groups) * len(search._columns) if search.empty_years else 0
        self._n = len(first) + len(self._groups) + n_z
        self._rows: list[dict[int, float]] = []
        self._low: list[float] = []
        self._people = search.cells.population[members][:, search._columns] / search._k
        self._empty_years = search.empty_years
        weights = search._weights[members]
        dear = 1.0 + 0.5 * weights / max(float(weights.sum()), 1.0)
        stays = target == own[first]
        self._cost = np.zeros(self._n)
        self._cost[: len(first)] = np.where(stays, 0.0, dear[first])
        self._cost[: len(first)] += np.where(target == LEFT_OUT, 2.0 * (len(members) + 1), 0.0)
        self.optimal = False
        self._state_each_cell()
        self._state_each_group()

    def _at_least(self, low: float, row: dict[int, float]) -> None:
        """The sum of the row's variables, times their numbers, is at least so much."""
        self._rows.append(row)
        self._low.append(low)

    def _state_each_cell(self) -> None:
        """A cell has one group, or at most one if it had none; one that joins a group is next to another of it."""
        by_cell: dict[int, list[int]] = {}
        for (cell, group), x in self._x.items():
            by_cell.setdefault(cell, []).append(x)
            if group == LEFT_OUT:
                continue
            self._at_least(0.0, {self._y[group]: 1.0, x: -1.0})
            if group != self._own[cell]:
                self._at_least(0.0, {**self._around([cell], group), x: -1.0})
        for cell, xs in by_cell.items():
            self._at_least(-1.0, dict.fromkeys(xs, -1.0))
            if self._own[cell] >= 0:
                self._at_least(1.0, dict.fromkeys(xs, 1.0))

    def _state_each_group(self) -> None:
        """A group that is kept has enough people in every column, and one of its own cells."""
        by_group: dict[int, list[tuple[int, int]]] = {}
        for (cell, group), x in self._x.items():
            by_group.setdefault(group, []).append((cell, x))
        z = len(self._x) + len(self._groups)
        for group in to_list(self._groups):
            y, pairs = self._y[group], by_group[group]
            self._at_least(0.0, {**{x: 1.0 for cell, x in pairs if self._own[cell] == group}, y: -1.0})
            if group in self._may_fail:
                continue
            for column in range(self._people.shape[1]):
                people = {x: float(self._people[cell, column]) for cell, x in pairs}
                if not self._empty_years:
                    self._at_least(0.0, {**people, y: -1.0})
                    continue
                self._at_least(0.0, {**people, z: -1.0})
                most = float(self._people[:, column].sum()) + 1.0
                self._at_least(0.0, {**{x: -n for x, n in people.items()}, z: most})
                z += 1
            if self._empty_years:
                own = range(z - self._people.shape[1], z)
                self._at_least(0.0, {**dict.fromkeys(own, 1.0), y: -1.0})

    def _around(self, inside: Sequence[int], group: int) -> dict[int, float]:
        """The cells next to these, but not among them, as far as they may be of the group."""
        near = self._near
        others = {
            other for cell in inside for other in near.indices[near.indptr[cell] : near.indptr[cell + 1]].tolist()
        }
        return {self._x[other, group]: 1.0 for other in sorted(others - set(inside)) if (other, group) in self._x}

    def solve(self, progress: Progress) -> np.ndarray | None:
        """The group of each cell of the patch, all of them connected; None where none was found in time."""
        for turn in range(MOST_ROUNDS):
            progress(turn / MOST_ROUNDS)  # a program of whole numbers can take seconds, and does not hear a cancel
            rows = [i for i, row in enumerate(self._rows) for _ in row]
            columns = [column for row in self._rows for column in row]
            values = [value for row in self._rows for value in row.values()]
            matrix = sparse.csr_matrix((values, (rows, columns)), (len(self._rows), self._n))
            # What HiGHS simplifies beforehand may lose the best solution (in scipy 1.10 it called 2 moves optimal where
            # one does): what it finds with that is taken where there is nothing else, and not for the best.
            for presolve in (False, True):
                solution = optimize.milp(
                    self._cost,
                    constraints=optimize.LinearConstraint(matrix, np.array(self._low), np.inf),
                    integrality=np.ones(self._n),
                    bounds=optimize.Bounds(0.0, 1.0),
                    options={"node_limit": NODES, "mip_rel_gap": 0.0, "presolve": presolve},
                )
                if solution.x is not None or solution.status == INFEASIBLE:
                    break
            if solution.x is None:
                return None
            chosen = solution.x[: len(self._cell)] > 0.5
            group_of = np.full(len(self._cells), LEFT_OUT, np.int64)
            group_of[self._cell[chosen]] = self._target[chosen]
            if not self._ask_for_connection(group_of):
                self.optimal = solution.status == SOLVED and not presolve
                return group_of
        return None

    def _ask_for_connection(self, group_of: np.ndarray) -> bool:
        """Ask that the pieces of a group be linked by cells around them; whether there are such pieces."""
        matrix = self._near.tocoo()
        same = (group_of[matrix.row] == group_of[matrix.col]) & (group_of[matrix.row] >= 0)
        piece = connected_parts(matrix.row[same], matrix.col[same], len(group_of))
        broken = False
        for group in to_list(np.unique(group_of[group_of >= 0])):
            pieces = [
                np.flatnonzero((group_of == group) & (piece == number))
                for number in np.unique(piece[group_of == group])
            ]
            if len(pieces) == 1 or group in self._may_fail:
                continue
            broken = True
            for i, piece_cells in enumerate(pieces):
                around = self._around(to_list(piece_cells), group)
                other = int(pieces[i - 1][0])
                for cell in to_list(piece_cells):
                    self._at_least(-1.0, {**around, self._x[cell, group]: -1.0, self._x[other, group]: -1.0})
        return broken


def _targets(
    adjacency: sparse.csr_matrix, own: np.ndarray, groups: np.ndarray, reach: int
) -> tuple[np.ndarray, np.ndarray]:
    """Which groups each cell may have: its own, and those at most `reach` cells away; two arrays, cells and groups."""
    inside = np.flatnonzero(own >= 0)
    position = np.searchsorted(groups, own[inside])
    ones = np.ones(len(inside), np.int64)
    near = sparse.csr_matrix((ones, (inside, position)), (len(own), len(groups)))
    step = adjacency.astype(np.int64) + sparse.identity(len(own), np.int64, "csr")
    for _ in range(reach):
        near = step @ near
        near.data[:] = 1
    pairs = near.tocoo()
    return pairs.row.astype(np.int64), groups[pairs.col]
