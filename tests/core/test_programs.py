"""What sums prove of unknowns: by linear programs, and by going through all tables."""

from __future__ import annotations

from itertools import combinations, count, product

import numpy as np
import pytest
from scipy import sparse

from vbas.core.disclosure import programs
from vbas.core.disclosure.overlay import UNBOUNDED
from vbas.core.disclosure.programs import Answers, Problem, _fits, _OpenSums, decide, solve, tables_of

from ..each import for_each_seed

K = 3


def by_hand(rows, sums, high, asked):
    """The least and the most of each sum asked about, of all tables of whole numbers that fit."""
    tables = [
        table for table in np.array(list(product(*(range(most + 1) for most in high)))) if (rows @ table == sums).all()
    ]
    values = np.array([asked @ table for table in tables])
    return values.min(axis=0), values.max(axis=0)


@for_each_seed(6)
def test_what_is_decided_is_what_all_tables_say(seed):
    """Bounds of unknowns that are looked at as one still hold: else a count that follows would be taken for free."""
    rng = np.random.default_rng(seed)
    n_disclosed = 0
    for _ in range(6):
        n = int(rng.integers(3, 6))
        rows = (rng.random((2, n)) < 0.7).astype(np.int64)
        rows[:, 1] = rows[:, 0]  # two in the very same sums
        high = rng.integers(1, 4, n)
        truth = rng.integers(0, high + 1)
        asked = np.eye(n, dtype=np.int64)[2:]
        least, most = by_hand(rows, rows @ truth, high, asked)
        sums = rows @ truth
        problem = Problem(
            sparse.csr_matrix(rows),
            sums,
            sums,
            np.zeros(n, np.int64),
            high,
            sparse.csr_matrix(asked),
            np.zeros(len(asked), np.int64),
        )
        answers = decide(problem, K)
        in_a_sum = rows[:, 2:].any(axis=0)  # of others nothing but their own bounds is known, which is no disclosure
        follows = (least >= 1) & (most < K) & in_a_sum
        assert answers.decided.all() and not answers.contradicted.any()
        assert (answers.low > 0).tolist() == follows.tolist()
        assert (answers.low[follows] == least[follows]).all() and (answers.high[follows] == most[follows]).all()
        n_disclosed += int(follows.sum())
    assert n_disclosed


def drawn_problem(rng):
    """Unknowns within bounds and sums of them, some known roughly or from one side, and some asked about."""
    n, m, q = int(rng.integers(2, 6)), int(rng.integers(1, 4)), int(rng.integers(1, 5))
    rows = (rng.random((m, n)) < 0.6).astype(np.int64)
    low, room = rng.integers(0, 2, n), rng.integers(0, 4, n)
    if rng.random() < 0.4 and n > 2:  # three in pairs: halves fit where no whole numbers do
        rows[0], low[:3], room[:3] = 0, 0, 3
        rows = np.vstack([rows, np.eye(n, dtype=np.int64)[[0, 0, 1]] + np.eye(n, dtype=np.int64)[[1, 2, 2]]])
    rows[~rows.any(axis=1), 0] = 1
    sums = rows @ (low + rng.integers(0, room + 1))
    slack = rng.integers(0, 2, len(rows)) * (rng.random(len(rows)) < 0.4)
    sums += rng.integers(-1, 2, len(rows)) * (rng.random(len(rows)) < 0.2)  # and sometimes nothing fits
    high = np.where(rng.random(len(rows)) < 0.1, UNBOUNDED, sums + slack)
    asked = (rng.random((q, n)) < 0.4).astype(np.int64)
    asked[:, rows.sum(axis=0) == 0] = 0
    asked[asked.sum(axis=1) == 0, int(np.argmax(rows.any(axis=0)))] = 1
    base = rng.integers(0, 3, q) * (rng.random(q) < 0.5)
    return Problem(sparse.csr_matrix(rows), sums - slack, high, low, low + room, sparse.csr_matrix(asked), base)


def all_tables(problem):
    """All tables that fit, by going through them."""
    every = np.array(list(product(*(range(a, b + 1) for a, b in zip(problem.low, problem.high)))))
    held = every @ problem.rows.toarray().T
    return every[((held >= problem.row_low) & (held <= problem.row_high)).all(axis=1)]


@for_each_seed(2)
def test_what_rough_sums_decide_is_what_all_tables_say(seed):
    rng = np.random.default_rng(seed)
    n_disclosed = n_free = n_contradicted = 0
    for _ in range(25):
        problem = drawn_problem(rng)
        k, of_unknown = int(rng.integers(2, 6)), problem.components()[0]
        answers = decide(problem, k)
        for at, row in enumerate(problem.asked.toarray()):
            here = np.isin(of_unknown, of_unknown[row > 0])
            rows = problem.rows[:, here].toarray().any(axis=1)
            part = problem.part(here, rows, np.array([at]))
            values = all_tables(part) @ row[here] + problem.base[at]
            if not len(values):
                assert answers.contradicted[at] or answers.decided[at]
                n_contradicted += int(answers.contradicted[at])
                continue
            assert answers.decided[at] and not answers.contradicted[at]
            follows = values.min() >= 1 and values.max() < k
            bounds = (values.min(), values.max()) if follows else (0, 0)
            assert (int(answers.low[at]), int(answers.high[at])) == bounds
            n_disclosed += follows
            n_free += not follows
    assert n_disclosed and n_free and n_contradicted


@for_each_seed(3)
def test_the_table_with_the_least_objective_is_that_of_all_tables(seed):
    rng = np.random.default_rng(100 + seed)
    n_none = n_some = 0
    for _ in range(40):
        problem = drawn_problem(rng)
        tables, objective = all_tables(problem), rng.uniform(-1.0, 1.0, len(problem.low))
        table, fits = solve(problem, objective)
        assert fits == (len(tables) > 0)
        if table is None:
            assert not fits
            n_none += 1
            continue
        assert table.tolist() == tables[np.argmin(tables @ objective)].tolist()
        n_some += 1
    assert n_none and n_some


def test_a_table_fits_where_it_is_of_whole_numbers_within_all_bounds():
    problem = Problem(
        sparse.csr_matrix(np.array([[1, 1, 0]])),
        np.array([3]),
        np.array([4]),
        np.array([1, 1, 0]),
        np.array([3, 2, 1]),
        sparse.csr_matrix((0, 3), dtype=np.int64),
        np.empty(0, np.int64),
    )
    assert [_fits(problem, np.array(table, float)) for table in ([1, 2, 0], [3, 1, 1], [2, 2, 1])] == [True] * 3
    wrong = ([1, 1, 0], [3, 2, 0], [0, 3, 0], [2, 3, 0], [4, 0, 0], [2, 1, 2], [2, 1, -1], [1.5, 1.5, 0.5])
    assert not any(_fits(problem, np.array(table, float)) for table in wrong)
    assert _fits(problem, np.array([1, 2, 1e-6])) and not _fits(problem, np.array([1, 2, 1e-4]))


@pytest.mark.parametrize("most", [1, 2])
def test_whatever_is_decided_with_few_programs_is_so(most, monkeypatch):
    monkeypatch.setattr(programs, "MOST_PROGRAMS", most)
    n_open = 0
    for seed in range(30):
        problem = drawn_problem(np.random.default_rng(300 + seed))
        tables, answers = all_tables(problem), decide(problem, K)
        values = tables @ problem.asked.toarray().T + problem.base
        for at in np.flatnonzero(answers.decided).tolist() if len(tables) else ():
            least, most_of_it = int(values[:, at].min()), int(values[:, at].max())
            assert (answers.low[at] > 0) == (least >= 1 and most_of_it < K)
        n_open += int((~answers.decided).sum()) if len(tables) else 0
    assert n_open or most == 2


def with_a_fixed_number(problem, number):
    """The problem with one more unknown, which a sum tells, and each sum asked about without it and with it."""
    n = problem.asked.shape[0]
    return Problem(
        sparse.block_diag([problem.rows, [[1]]], "csr"),
        np.append(problem.row_low, number),
        np.append(problem.row_high, number),
        np.append(problem.low, 0),
        np.append(problem.high, number + 1),
        sparse.csr_matrix(np.hstack([np.tile(problem.asked.toarray(), (2, 1)), np.repeat([[0], [1]], n, axis=0)])),
        np.tile(problem.base, 2),
    )


@pytest.mark.parametrize("most", [1, 2, programs.MOST_PROGRAMS])
def test_of_sums_known_by_one_table_what_is_decided_is_so(most, monkeypatch):
    """However few programs decide: what none of them tells is said to be open, not to be free or one number."""
    monkeypatch.setattr(programs, "MOST_PROGRAMS", most)
    n_open = 0
    for seed in range(30):
        problem, k = with_a_fixed_number(drawn_problem(np.random.default_rng(300 + seed)), 1 + seed % 2), 6
        tables = all_tables(problem)
        if not len(tables):
            continue
        first, values = len(tables) // 2, tables @ problem.asked.toarray().T + problem.base
        some = np.flatnonzero((values[first] >= 1) & (values[first] < k))
        part = problem.part(*(np.ones(n, bool) for n in problem.rows.shape[::-1]), some)
        answers = Answers(*(np.zeros(len(some), kind) for kind in (bool, np.int64, np.int64, bool)))
        known = (values - problem.base)[first, some][:, None]
        _OpenSums(part, known, k, answers, np.arange(len(some)), np.random.default_rng(seed)).decide()
        n_open += int((~answers.decided).sum())
        for at, of_it in enumerate(values[:, some].T.tolist()):
            follows = min(of_it) >= 1 and max(of_it) < k
            bounds = (min(of_it), max(of_it)) if follows else (0, 0)
            assert not answers.decided[at] or (int(answers.low[at]), int(answers.high[at])) == bounds
    assert n_open if most == 1 else most == 2 or not n_open


def one_by_one(problem, known, like, k, failing):
    """What is decided where one program, the first or another, finds nothing; and how many were asked."""
    answers = Answers(*(np.zeros(len(like), kind) for kind in (bool, np.int64, np.int64, bool)))
    sums = _OpenSums(problem, known[:, None], k, answers, np.arange(len(like)), np.random.default_rng(0))
    solve_it, turn = programs._solve, count()

    def solved(part, objective):
        return (None, True) if next(turn) == failing else solve_it(part, objective)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(programs, "_solve", solved)
        sums._one_by_one(like)
    return answers, next(turn)


@for_each_seed(40)
def test_of_what_one_program_does_not_find_nothing_is_said_and_of_all_else_all(seed):
    """As where it ends at the limit of its nodes. Sums that always differ by the same number are decided as one."""
    rng, k = np.random.default_rng(seed), 6
    problem = with_a_fixed_number(drawn_problem(rng), 1)
    tables = all_tables(problem)
    if not len(tables):
        return
    values = tables @ problem.asked.toarray().T
    known = values[int(rng.integers(len(tables)))]
    some = np.flatnonzero((known + problem.base >= 1) & (known + problem.base < k))
    values, problem = values[:, some], problem.part(*(np.ones(n, bool) for n in problem.rows.shape[::-1]), some)
    of_asked = problem.components()[2]
    like = np.arange(len(some))
    for at, other in combinations(range(len(some)), 2):
        if of_asked[at] == of_asked[other] and len(set((values[:, at] - values[:, other]).tolist())) == 1:
            like[other] = like[at]
    for failing in (None, 0, 1, 2, 3):
        answers, n_asked = one_by_one(problem, known[some], like, k, failing)
        for at in range(len(some)):
            least, most = (int(of) + int(problem.base[at]) for of in (values[:, at].min(), values[:, at].max()))
            follows = least >= 1 and most < k
            bounds = (int(answers.low[at]), int(answers.high[at]))
            assert bounds == ((least, most) if follows and answers.decided[at] else (0, 0))
        open_ = np.flatnonzero(~answers.decided)
        assert not len(open_) or (failing is not None and failing < n_asked)
        assert len(set(like[open_].tolist())) <= len(set(of_asked[open_].tolist()))


def test_thousands_beside_a_few_are_no_contradiction():
    """One sum of thousands and one of two: the least of them bounds nothing."""
    rows, none = sparse.csr_matrix(np.array([[1, 0], [0, 1]])), sparse.csr_matrix((0, 2), dtype=np.int64)
    sums, high = np.array([5_000, 2]), np.full(2, UNBOUNDED)
    problem = Problem(rows, sums, sums, np.zeros(2, np.int64), high, none, np.empty(0, np.int64))
    table, fits = solve(problem, np.ones(2))
    assert fits and table is not None and table.tolist() == [5_000, 2]


def of_two(row_low: list[int], row_high: list[int], low: list[int], high: list[int]) -> Problem:
    """Two unknowns whose sum lies within bounds, nothing asked."""
    rows, none = sparse.csr_matrix(np.array([[1, 1]])), sparse.csr_matrix((0, 2), dtype=np.int64)
    sums, unknowns = (np.array(row_low), np.array(row_high)), (np.array(low), np.array(high))
    return Problem(rows, sums[0], sums[1], unknowns[0], unknowns[1], none, np.empty(0, np.int64))


def test_what_an_old_scipy_takes_for_infeasible_is_tried_once_more(monkeypatch):
    """That of 1.10 finds no table for some problems that have one, where it looks through them first."""
    run, tried = programs._run, []

    def run_of_old(problem, objective, whole, presolve):
        tried.append(presolve)
        return (programs.INFEASIBLE, None) if presolve else run(problem, objective, whole, presolve)

    monkeypatch.setattr(programs, "_run", run_of_old)
    monkeypatch.setattr(programs, "WITHOUT_PRESOLVE", 1)
    table, fits = solve(of_two([3], [3], [0, 0], [2, 2]), np.array([1.0, 2.0]))
    assert fits and table is not None and table.tolist() == [2, 1] and tried == [True, False]


def test_bounds_that_contradict_each_other_fit_no_table():
    for bounds in (([3], [2], [0, 0], [9, 9]), ([2], [2], [2, 0], [1, 9])):
        assert solve(of_two(*bounds), np.ones(2)) == (None, False)


def test_what_is_too_large_is_not_solved_and_may_fit(monkeypatch):
    problem = of_two([2], [2], [0, 0], [9, 9])
    monkeypatch.setattr(programs, "MOST_UNKNOWNS", 1)
    assert solve(problem, np.ones(2)) == (None, True)
    monkeypatch.setattr(programs, "MOST_UNKNOWNS", 2)
    table, fits = solve(problem, np.ones(2))
    assert fits and table is not None and table.sum() == 2


@pytest.mark.parametrize(("most", "is_open"), [(0, True), (1, True), (2, False), (3, False)])
def test_of_what_is_too_large_tables_say_nothing(most, is_open, monkeypatch):
    """Of four in all, of whom one or two are in the first."""
    monkeypatch.setattr(programs, "MOST_UNKNOWNS", most)
    rows, none = sparse.csr_matrix(np.array([[1, 1], [1, 0]])), sparse.csr_matrix((0, 2), dtype=np.int64)
    low, high = np.array([4, 1]), np.array([4, 2])
    problem = Problem(rows, low, high, np.zeros(2, np.int64), np.full(2, 9), none, np.empty(0, np.int64))
    tables = tables_of(problem)
    assert tables and all(table.open.tolist() == [is_open] * 2 for table in tables)


@for_each_seed(4)
def test_tables_fit_and_are_unlike_each_other(seed):
    rng = np.random.default_rng(200 + seed)
    n_several = 0
    for _ in range(10):
        problem = drawn_problem(rng)
        tables, fitting = tables_of(problem), {tuple(one) for one in all_tables(problem).tolist()}
        assert len(tables) == 2 + programs.DRAWS
        in_a_sum = problem.rows.toarray().any(axis=0)
        whole = [table for table in tables if not table.open.any()]
        assert all(tuple(table.people.tolist()) in fitting for table in whole)
        assert not any(table.open[~in_a_sum].any() for table in tables)  # these may be anything
        if fitting and in_a_sum.all():
            assert len(whole) == len(tables)
            sums = [sum(one) for one in fitting]
            assert whole[0].people.sum() == min(sums) and whole[1].people.sum() == max(sums)
            n_several += len({tuple(table.people.tolist()) for table in tables}) > 1
    assert n_several
