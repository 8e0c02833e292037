"""What interval propagation leaves open, decided by linear programming in whole numbers (HiGHS).

A quantity is disclosed unless some table that fits all sums has nobody in it, or k people and more. Tables are found
for many quantities at once: few programs decide most of them, and only the rest are minimised and maximised one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds as VariableBounds
from scipy.optimize import LinearConstraint, milp

from .overlay import UNBOUNDED

# Limits are sizes, not seconds: the same input gives the same result on every machine.
MOST_UNKNOWNS = 20_000
AT_ONCE = 3_000
MOST_PROGRAMS = 2_000
NODES = 2_000
DRAWS = 4
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
    of_unknown, of_row, _ = problem.components()
    sizes = np.bincount(of_unknown)
    alone = np.ones(len(sizes), bool)
    alone[of_row[of_row < len(sizes)]] = False
    due = np.flatnonzero(~alone & (sizes <= MOST_UNKNOWNS))
    batch = np.cumsum(sizes[due]) // AT_ONCE
    rng = np.random.default_rng(0)
    n = len(problem.low)
    tables = []
    for objective in (np.ones(n), -np.ones(n), *(rng.uniform(-1.0, 1.0, n) for _ in range(DRAWS))):
        people, open_ = problem.low.copy(), ~alone[of_unknown]
        for number in np.unique(batch):
            own = np.isin(of_unknown, due[batch == number])
            part = problem.part(own, np.isin(of_row, due[batch == number]), np.empty(0, np.int64))
            table, _ = _solve(part, objective[own])
            if table is not None:
                people[own], open_[own] = table, False
        tables.append(Table(people, open_))
    return tables


def decide(problem: Problem, k: int) -> Answers:
    """Which of the sums asked about lie within 1..k-1 in every table that fits.

    Sums whose unknowns are free of each other must be none of those that their bounds alone pin down.
    """
    n_asked = problem.asked.shape[0]
    answers = Answers(*(np.zeros(n_asked, kind) for kind in (bool, np.int64, np.int64, bool)))
    problem, answers.decided = _without_twins(problem)
    of_unknown, of_row, of_asked = problem.components()
    sizes = np.bincount(of_unknown, minlength=int(of_asked.max(initial=-1)) + 1)
    related = np.zeros(len(sizes), bool)
    related[of_row[of_row < len(sizes)]] = True
    answers.decided[~related[of_asked]] = True  # their unknowns may be anything within their bounds
    due = np.unique(of_asked[related[of_asked]])
    due = due[sizes[due] <= MOST_UNKNOWNS]
    batch = np.cumsum(sizes[due]) // AT_ONCE
    for number in np.unique(batch):
        components = due[batch == number]
        asked = np.flatnonzero(np.isin(of_asked, components) & ~answers.decided)
        part = problem.part(np.isin(of_unknown, components), np.isin(of_row, components), asked)
        _decide_batch(part, k, answers, asked)
    return answers


def _without_twins(problem: Problem) -> tuple[Problem, np.ndarray]:
    """The problem with unknowns in the very same sums joined to one, and which sums asked about that decides, (q,).

    Such unknowns may each be nobody, where the others can take all that their sums need: none of them is disclosed by
    itself. They can where each alone could, as then its upper bound is what one of the sums leaves for all of them.
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
    high = np.where(twin, np.minimum(problem.high * size[group], UNBOUNDED), problem.high)
    joined = problem.part(kept, np.ones(len(problem.row_low), bool), np.ones(len(problem.base), bool))
    of_asked = np.zeros(len(problem.base), bool)
    of_asked[alone] = twin[problem.asked[alone].indices]
    return replace(joined, high=high[kept]), of_asked


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
    table, fits = _solve(problem, np.zeros(len(problem.low)))
    if table is None:
        _split(problem, k, answers, at, fits)
        return
    left = _still_open(problem, table, k, np.ones(len(at), bool))
    rng = np.random.default_rng(0)
    for draw in range(DRAWS):
        weights = np.ones(len(at)) if not draw else rng.uniform(-1.0, 1.0, len(at))
        while left.any():
            before = int(left.sum())
            table, _ = _solve(problem, problem.asked.T @ (weights * left))
            left = left if table is None else _still_open(problem, table, k, left)
            if table is None or int(left.sum()) == before:
                break
    answers.decided[at[~left]] = True
    _one_by_one(problem, k, answers, at, left)


def _one_by_one(problem: Problem, k: int, answers: Answers, at: np.ndarray, left: np.ndarray) -> None:
    """Minimise and maximise the open sums, one of every component at a time."""
    for _ in range(MOST_PROGRAMS):
        if not left.any():
            return
        of_unknown, of_row, of_asked = problem.components()
        due = np.isin(of_asked, of_asked[left])
        components = np.unique(of_asked[left])
        problem = problem.part(np.isin(of_unknown, components), np.isin(of_row, components), np.flatnonzero(due))
        at, left, of_asked = at[due], left[due], of_asked[due]
        chosen = np.flatnonzero(left)[np.unique(of_asked[left], return_index=True)[1]]
        objective = np.asarray(problem.asked[chosen].sum(axis=0)).ravel()
        (least, _), (most, _) = _solve(problem, objective), _solve(problem, -objective)
        if least is None or most is None:  # beyond the limit of nodes
            left[chosen] = False
            continue
        low, high = (problem.base[chosen] + problem.asked[chosen] @ table for table in (least, most))
        disclosed = (low >= 1) & (high < k)
        answers.low[at[chosen[disclosed]]], answers.high[at[chosen[disclosed]]] = low[disclosed], high[disclosed]
        answers.decided[at[chosen]] = True
        left[chosen] = False
        for table in (least, most):
            still = _still_open(problem, table, k, left)
            answers.decided[at[left & ~still]] = True
            left = still


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


def _still_open(problem: Problem, table: np.ndarray, k: int, left: np.ndarray) -> np.ndarray:
    """The sums that this table does not show to be free."""
    value = problem.base + problem.asked @ table
    return left & (value >= 1) & (value < k)


def _solve(problem: Problem, objective: np.ndarray) -> tuple[np.ndarray | None, bool]:
    """The table with the least objective, None where none is found; and whether there can be one."""
    # The corners of most problems here are whole numbers. Whole numbers are asked for only where they are not, and then
    # without presolve, which in the HiGHS of SciPy 1.10 takes some problems with a solution for infeasible.
    for whole, presolve in ((False, True), (True, False)):
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
    bounded = problem.row_high[problem.row_high < UNBOUNDED]
    most = int(np.concatenate([bounded, problem.row_low, problem.low]).max(initial=0)) + 1_000
    constraints = []
    if len(problem.row_low):
        row_high = np.where(problem.row_high >= UNBOUNDED, np.inf, problem.row_high)
        constraints = [LinearConstraint(problem.rows, problem.row_low, row_high)]
    solution = milp(
        objective,
        integrality=np.full(len(objective), int(whole)),
        bounds=VariableBounds(problem.low, np.minimum(problem.high, most)),
        constraints=constraints,
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
    """The table with the least objective, None where none is found within NODES; and whether there can be one."""
    return _solve(problem, objective)
