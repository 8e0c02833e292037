"""What interval propagation leaves open, decided by linear programming in whole numbers (HiGHS).

A quantity is disclosed unless some table that fits all sums has nobody in it, or k people and more. Tables are found
for many quantities at once: few programs decide most of them, and only the rest are minimised and maximised one by one.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..dataclass import dataclass
from ..scientific import optimize, sparse
from .overlay import NONE, UNBOUNDED

# Limits are sizes, not seconds: the same input gives the same result on every machine.
MOST_UNKNOWNS = 20_000
AT_ONCE = 100
MOST_PROGRAMS = 2_000
NODES = 2_000
DRAWS = 4
WITHOUT_PRESOLVE = 1_000  # unknowns: so few are solved before they are looked through
TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class Problem:
    """Unknown whole numbers within bounds, sums of them within bounds, and sums that are asked about.

    rows : (m, n) matrix of 0 and 1; row_low, row_high : (m,); low, high : (n,); asked : (q, n) matrix of 0 and 1;
    base : (q,) what is to be added to each sum asked about
    """

    rows: sparse.csr_matrix
    row_low: np.ndarray
    row_high: np.ndarray
    low: np.ndarray
    high: np.ndarray
    asked: sparse.csr_matrix
    base: np.ndarray

    def part(self, unknowns: np.ndarray, rows: np.ndarray, asked: np.ndarray) -> Problem:
        """The problem of some components."""
        return Problem(
            self.rows[rows][:, unknowns],
            self.row_low[rows],
            self.row_high[rows],
            self.low[unknowns],
            self.high[unknowns],
            self.asked[asked][:, unknowns],
            self.base[asked],
        )

    @cached_property
    def constraints(self) -> list[optimize.LinearConstraint]:
        """The rows, as `milp` takes them."""
        if not len(self.row_low):
            return []
        row_high = np.where(self.row_high >= UNBOUNDED, np.inf, self.row_high)
        return [optimize.LinearConstraint(self.rows.tocsc(), self.row_low, row_high)]

    @cached_property
    def variable_bounds(self) -> optimize.Bounds:
        """The bounds of the unknowns, as `milp` takes them; what has none can be more than all rows together."""
        bounded = self.row_high[self.row_high < UNBOUNDED]
        most = int(np.concatenate([bounded, self.row_low, self.low]).max(initial=0)) + 1_000
        return optimize.Bounds(self.low, np.minimum(self.high, most))

    def components(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The component of each unknown, row and sum asked about; none without unknowns."""
        n, m = len(self.low), len(self.row_low)
        links = sparse.vstack([self.rows, self.asked]).tocoo()
        size = n + links.shape[0]
        graph = sparse.csr_matrix((np.ones(links.nnz), (n + links.row, links.col)), shape=(size, size))
        component = sparse.csgraph.connected_components(graph, directed=False)[1]
        return component[:n], component[n : n + m], component[n + m :]


@dataclass(eq=False)
class Answers:
    """Of each sum asked about: whether it is decided; and its bounds where it is disclosed, 0 where not.

    contradicted : (q,) bool, whether no table fits the sums of its component
    """

    decided: np.ndarray
    low: np.ndarray
    high: np.ndarray
    contradicted: np.ndarray


@dataclass(frozen=True, eq=False)
class Table:
    """People who fit all sums. people : an array of whole numbers; open : bool of the same shape, of which unknowns
    it says nothing, as their programs are too large or too hard.
    """

    people: np.ndarray
    open: np.ndarray


def tables_of(problem: Problem) -> list[Table]:
    """Some tables that fit a problem, (n,), as unlike each other as a few programs make them."""
    lean, group = _joined(problem)
    of_unknown, of_row, _ = lean.components()
    sizes = np.bincount(of_unknown)
    alone = np.ones(len(sizes), bool)
    alone[of_row[of_row < len(sizes)]] = False
    due = np.flatnonzero(~alone & (sizes <= MOST_UNKNOWNS))
    batch = np.cumsum(sizes[due]) // AT_ONCE
    parts = []
    for number in np.unique(batch):
        own = np.isin(of_unknown, due[batch == number])
        parts.append((own, lean.part(own, np.isin(of_row, due[batch == number]), np.empty(0, np.int64))))
    rng = np.random.default_rng(0)
    n = len(lean.low)
    tables = []
    for objective in (np.ones(n), -np.ones(n), *(rng.uniform(-1.0, 1.0, n) for _ in range(DRAWS))):
        people, open_ = lean.low.copy(), ~alone[of_unknown]
        for own, part in parts:
            table, _ = _solve(part, objective[own])
            if table is not None:
                people[own], open_[own] = table, False
        tables.append(Table(_shared_out(problem, group, people, rng), open_[group]))
    return tables


def _shared_out(problem: Problem, group: np.ndarray, people: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The people of each unknown, (n,), where those of each group of `_joined` are known: some get all they can."""
    order = np.lexsort((rng.random(len(group)), group))
    own, room = group[order], (problem.high - problem.low)[order]
    left: np.ndarray = people - np.bincount(group, problem.low, len(people)).astype(np.int64)
    starts = np.flatnonzero(np.diff(own, prepend=-1))
    before = np.cumsum(np.minimum(room, left[own])) - np.minimum(room, left[own])
    before -= np.repeat(before[starts], np.diff(starts, append=len(own)))
    shared = problem.low.copy()
    shared[order] += np.clip(left[own] - before, 0, room)
    return shared


def decide(problem: Problem, k: int) -> Answers:
    """Which of the sums asked about lie within 1..k-1 in every table that fits.

    Sums whose unknowns are free of each other must be none of those that their bounds alone pin down.
    """
    n_asked = problem.asked.shape[0]
    answers = Answers(*(np.zeros(n_asked, kind) for kind in (bool, np.int64, np.int64, bool)))
    problem, answers.decided = _without_twins(problem)
    still = np.flatnonzero(~answers.decided)
    every = np.ones(len(problem.low), bool), np.ones(len(problem.row_low), bool)
    problem, _ = _joined(problem.part(*every, still))
    of_unknown, of_row, of_asked = problem.components()
    sizes = np.bincount(of_unknown, minlength=int(of_asked.max(initial=-1)) + 1)
    related = np.zeros(len(sizes), bool)
    related[of_row[of_row < len(sizes)]] = True
    answers.decided[still[~related[of_asked]]] = True  # their unknowns may be anything within their bounds
    due = np.unique(of_asked[related[of_asked]])
    due = due[sizes[due] <= MOST_UNKNOWNS]
    batch = np.cumsum(sizes[due]) // AT_ONCE
    for number in np.unique(batch):
        components = due[batch == number]
        asked = np.flatnonzero(np.isin(of_asked, components))
        part = problem.part(np.isin(of_unknown, components), np.isin(of_row, components), asked)
        _decide_batch(part, k, answers, still[asked])
    return answers


def _joined(problem: Problem) -> tuple[Problem, np.ndarray]:
    """The problem with unknowns in the very same sums, asked about too, added up to one; and the group of each, (n,).

    Whatever such unknowns have together, they can share out among them: nothing is lost of any sum. Rows of the very
    same unknowns become one. Sums are told apart by random numbers, 2 x 40 bits.
    """
    together = sparse.vstack([problem.rows, problem.asked]).tocsr()
    first, group = _same(together.T.tocsr())
    low, high = (np.bincount(group, of, len(first)).astype(np.int64) for of in (problem.low, problem.high))
    rows = problem.rows[:, first].tocsr()
    first_row, row = _same(rows)
    row_low, row_high = np.full(len(first_row), -UNBOUNDED, np.int64), np.full(len(first_row), UNBOUNDED, np.int64)
    np.maximum.at(row_low, row, problem.row_low)
    np.minimum.at(row_high, row, problem.row_high)
    asked = problem.asked[:, first].tocsr()
    joined = Problem(rows[first_row], row_low, row_high, low, np.minimum(high, UNBOUNDED), asked, problem.base)
    return joined, group


def _same(rows: sparse.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """The first of all rows that are the same, and for each row, which of these it is like."""
    draws = np.random.default_rng(0).integers(1, 2**40, (rows.shape[1], 2))
    _, first, group = np.unique(rows @ draws, axis=0, return_index=True, return_inverse=True)
    return first, group.reshape(-1)


def _without_twins(problem: Problem) -> tuple[Problem, np.ndarray]:
    """The problem with unknowns in the very same sums joined to one, and which sums asked about that decides, (q,).

    Such unknowns may each be nobody, where the others can take all that their sums need: none of them is disclosed by
    itself. They can where each alone could, as then its upper bound, which is that of all of them too, is no less than
    what one of the sums leaves for them.
    Twins are told by random numbers of their sums, 2 x 40 bits.
    """
    alone = (np.diff(problem.asked.indptr) == 1) & (problem.base == 0)
    together = sparse.vstack([problem.rows, problem.asked[~alone]]).tocsr()
    draws = np.random.default_rng(0).integers(1, 2**40, (together.shape[0], 2))
    keys = np.column_stack([together.T @ draws, problem.low, problem.high])
    _, first, group, size = np.unique(keys, axis=0, return_index=True, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    twin = (size[group] > 1) & (problem.low == 0) & (problem.high >= _left_by_rows(problem))
    kept = ~twin
    kept[first[group[twin]]] = True
    joined = problem.part(kept, np.ones(len(problem.row_low), bool), np.ones(len(problem.base), bool))
    of_asked = np.zeros(len(problem.base), bool)
    of_asked[alone] = twin[problem.asked[alone].indices]
    return joined, of_asked


def _left_by_rows(problem: Problem) -> np.ndarray:
    """What the rows of each unknown leave for it at most, (n,); more than anything for an unknown without rows."""
    left = np.where(problem.row_high >= UNBOUNDED, UNBOUNDED, problem.row_high - problem.rows @ problem.low)
    by_unknown = problem.rows.tocsc()
    limits = np.full(len(problem.low), 2 * UNBOUNDED)
    used = np.flatnonzero(np.diff(by_unknown.indptr))
    if len(used):
        limits[used] = np.minimum.reduceat(left[by_unknown.indices], by_unknown.indptr[used])
    return limits + problem.low


def _decide_batch(problem: Problem, k: int, answers: Answers, at: np.ndarray) -> None:
    """Decide the sums of a few components; at : (q,) where their answers go."""
    left = np.ones(len(at), bool)
    values: list[np.ndarray] = []
    rng = np.random.default_rng(0)
    for draw in range(DRAWS):
        before = int(left.sum())
        weights = rng.uniform(0.5, 1.5, len(at)) if not draw else rng.uniform(-1.0, 1.0, len(at))
        objective = problem.asked.T @ (weights * left)
        for table, fits in (_solve(problem, objective), _solve(problem, -objective)):
            if table is None and not values:
                _split(problem, k, answers, at, fits)
                return
            if table is not None:
                values.append(problem.asked @ table)
                left = _still_open(problem, values[-1], k, left)
        if not left.any() or (draw and int(left.sum()) == before):
            break
    answers.decided[at[~left]] = True
    if left.any():
        open_ = np.flatnonzero(left)
        of_unknown, of_row, of_asked = problem.components()
        due = np.unique(of_asked[open_])
        part = problem.part(np.isin(of_unknown, due), np.isin(of_row, due), open_)
        _OpenSums(part, np.column_stack(values)[open_], k, answers, at[open_], rng).decide()


class _OpenSums:
    """Open sums of a few components, of which those that differ by a fixed number are decided as one.

    Whether sums are fixed, or differ by a fixed number, one pair of programs tells of all of them: a sum of all these
    with weights drawn at random has the same least and most, if and, but for a chance of 0, only if each is fixed.
    """

    def __init__(
        self,
        problem: Problem,
        values: np.ndarray,
        k: int,
        answers: Answers,
        at: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        """values : (q, tables) of each sum in the tables known so far."""
        self._problem, self._values, self._k = problem, values, k
        self._answers, self._at, self._rng = answers, at, rng
        self._left = np.ones(len(at), bool)
        self._of_unknown, self._of_row, self._of_asked = problem.components()

    def decide(self) -> None:
        """Give the answers: first of the sums that are fixed, then of one of those alike after the other."""
        like = np.arange(len(self._at), dtype=np.int64)
        for _ in range(MOST_PROGRAMS):
            groups = self._groups()
            table, fixed = self._fixed(groups)
            if fixed:
                like = groups
            if fixed or table is None:
                break
        if not self._left.any():
            return
        constant = self._left & (like < 0)
        value = self._values[:, 0] + self._problem.base
        self._decide_sums(constant, value, value)
        self._left &= ~constant
        self._one_by_one(like)

    def _groups(self) -> np.ndarray:
        """The first sum that each differs from by the same number in every table; NONE where it is the same in all."""
        change = self._values - self._values[:, :1]
        keys = np.column_stack([self._of_asked, change])
        _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        like = first[group.reshape(-1)]
        return np.where(change.any(axis=1), like, NONE)

    def _fixed(self, like: np.ndarray) -> tuple[np.ndarray | None, bool]:
        """Whether all sums less those that they are like are fixed; else a table is added that tells some apart."""
        problem, open_ = self._problem, np.flatnonzero(self._left & (like != np.arange(len(like), dtype=np.int64)))
        if not len(open_):
            return None, True
        others = sparse.csr_matrix(
            (np.ones(len(open_), np.int64), (np.arange(len(open_), dtype=np.int64), np.maximum(like[open_], 0))),
            shape=(len(open_), len(like)),
        )
        others = sparse.diags((like[open_] >= 0).astype(np.int64)) @ others
        rest = (problem.asked[open_] - others @ problem.asked).tocsr()
        objective = rest.T @ self._rng.uniform(0.5, 1.5, len(open_))
        told_apart = False
        tables = [_solve(problem, sign * objective)[0] for sign in (1, -1)]
        for table in tables:
            if table is None:
                return None, False
            before = self._values[:, 0]
            difference = np.where(like[open_] >= 0, before[open_] - before[like[open_]], before[open_])
            told_apart |= bool((rest @ table != difference).any())
            self._see(table)
        return tables[0], not told_apart

    def _see(self, table: np.ndarray) -> None:
        value = self._problem.asked @ table
        self._values = np.column_stack([self._values, value])
        still = _still_open(self._problem, value, self._k, self._left)
        self._answers.decided[self._at[self._left & ~still]] = True
        self._left = still

    def _decide_sums(self, which: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        disclosed = which & (low >= 1) & (high < self._k)
        self._answers.low[self._at[disclosed]], self._answers.high[self._at[disclosed]] = (
            low[disclosed],
            high[disclosed],
        )
        self._answers.decided[self._at[which]] = True

    def _one_by_one(self, like: np.ndarray) -> None:
        """Minimise and maximise the open sums, one of every component at a time."""
        whole = self._problem
        for _ in range(MOST_PROGRAMS):
            if not self._left.any():
                return
            open_ = np.flatnonzero(self._left)
            components, first = np.unique(self._of_asked[open_], return_index=True)
            chosen = np.unique(like[open_[first]])
            here, rows = np.isin(self._of_unknown, components), np.isin(self._of_row, components)
            part = whole.part(here, rows, chosen)
            objective = np.asarray(part.asked.sum(axis=0)).ravel()
            solved = [_solve(part, sign * objective)[0] for sign in (1, -1)]
            tables = [table for table in solved if table is not None]
            mine = self._left & np.isin(like, chosen)
            if len(tables) < len(solved):  # beyond the limit of nodes
                self._left &= ~mine
                continue
            bounds = []
            for table in tables:
                people = np.zeros(len(whole.low), np.int64)
                people[here] = table
                value = whole.asked @ people
                offset = self._values[:, 0] - self._values[like, 0]
                bounds.append(value[like] + offset + whole.base)
                still = _still_open(whole, value, self._k, self._left)
                self._answers.decided[self._at[self._left & ~still & ~mine]] = True
                self._left = still | mine & self._left
            self._decide_sums(mine, *bounds)
            self._left &= ~mine


def _split(problem: Problem, k: int, answers: Answers, at: np.ndarray, fits: bool) -> None:
    """No table was found: decide the components one by one, and mark those that no table fits."""
    of_unknown, of_row, of_asked = problem.components()
    components = np.unique(of_asked)
    if len(components) == 1:
        answers.contradicted[at] = not fits
        answers.decided[at] = False
        return
    for some in np.array_split(components, 2):
        asked = np.flatnonzero(np.isin(of_asked, some))
        part = problem.part(np.isin(of_unknown, some), np.isin(of_row, some), asked)
        _decide_batch(part, k, answers, at[asked])


def _still_open(problem: Problem, value: np.ndarray, k: int, left: np.ndarray) -> np.ndarray:
    """The sums that a table does not show to be free; value : (q,) what it says of each."""
    value = problem.base + value
    return left & (value >= 1) & (value < k)


def _solve(problem: Problem, objective: np.ndarray) -> tuple[np.ndarray | None, bool]:
    """The table with the least objective, None where none is found; and whether there can be one."""
    if (problem.row_low > problem.row_high).any() or (problem.low > problem.high).any():
        return None, False
    # The corners of most problems here are whole numbers. Whole numbers are asked for only where they are not, and then
    # without presolve, which in the HiGHS of SciPy 1.10 takes some problems with a solution for infeasible.
    for whole, presolve in ((False, len(objective) > WITHOUT_PRESOLVE), (True, False)):
        status, solution = _run(problem, objective, whole, presolve)
        if status == INFEASIBLE and presolve:
            status, solution = _run(problem, objective, whole, False)
        if status == INFEASIBLE:
            return None, False
        if status == SOLVED and solution is not None and _fits(problem, solution):
            return np.rint(solution).astype(np.int64), True
    return None, True


SOLVED, INFEASIBLE = 0, 2


def _run(problem: Problem, objective: np.ndarray, whole: bool, presolve: bool) -> tuple[int, np.ndarray | None]:
    """One call of HiGHS: its status, and the table."""
    solution = optimize.milp(
        objective,
        integrality=np.full(len(objective), int(whole), np.int64),
        bounds=problem.variable_bounds,
        constraints=problem.constraints,
        options={"node_limit": NODES, "mip_rel_gap": 0.0, "presolve": presolve},
    )
    return int(solution.status), solution.x


def _fits(problem: Problem, solution: np.ndarray) -> bool:
    """Whether a table is of whole numbers and within all bounds."""
    table = np.rint(solution)
    if len(table) and np.abs(solution - table).max() > TOLERANCE:
        return False
    sums = problem.rows @ table
    inside = (table >= problem.low).all() and (table <= problem.high).all()
    return bool(inside and (sums >= problem.row_low).all() and (sums <= problem.row_high).all())


def solve(problem: Problem, objective: np.ndarray) -> tuple[np.ndarray | None, bool]:
    """The table with the least objective, None where none is found within NODES or there are more than MOST_UNKNOWNS;
    and whether there can be one.
    """
    return (None, True) if len(objective) > MOST_UNKNOWNS else _solve(problem, objective)
