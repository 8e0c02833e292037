"""What sums prove of unknown numbers, against all tables of whole numbers there are, and bounds against plain loops."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from vbas.core.disclosure import programs
from vbas.core.disclosure.bounds import propagate
from vbas.core.disclosure.overlay import NONE, UNBOUNDED, Sums
from vbas.core.disclosure.programs import Problem, decide, solve, tables_of

pytestmark = pytest.mark.slow

K = 3


class Drawn:
    """A problem of a few unknowns, and all tables that fit it."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(2, 6)), int(rng.integers(1, 5))
        self.rows = (rng.random((m, n)) < 0.5).astype(np.int64)
        self.low = rng.integers(0, 2, n) * (rng.random(n) < 0.3)
        self.high = self.low + rng.integers(0, 4, n)
        truth = rng.integers(self.low, self.high + 1)
        sums = self.rows @ truth
        exact = rng.random(m) < 0.7
        self.row_low = np.where(exact, sums, np.maximum(sums - rng.integers(0, 2, m), 0))
        self.row_high = np.where(exact, sums, np.where(rng.random(m) < 0.3, UNBOUNDED, sums + rng.integers(0, 2, m)))
        if rng.random() < 0.15:  # of what is told, something is wrong
            self.row_low[0] = self.row_high[0] = int(self.high.sum()) + 1
        asked = np.unique((rng.random((4, n)) < 0.5).astype(np.int64), axis=0)
        self.asked = asked[asked.any(axis=1)] if asked.any() else np.eye(n, dtype=np.int64)[:1]
        self.base = -rng.integers(0, 2, len(self.asked)) * (rng.random(len(self.asked)) < 0.4)
        every = np.array(list(product(*(range(a, b + 1) for a, b in zip(self.low.tolist(), self.high.tolist())))))
        of_rows = every @ self.rows.T
        self.tables = every[((of_rows >= self.row_low) & (of_rows <= self.row_high)).all(axis=1)]
        self.every = every

    @property
    def problem(self) -> Problem:
        return Problem(
            sparse.csr_matrix(self.rows),
            self.row_low,
            self.row_high,
            self.low,
            self.high,
            sparse.csr_matrix(self.asked),
            self.base,
        )

    def hangs_together(self, number: int) -> set[int]:
        """The unknowns that a sum asked about has to do with, by rows and by sums that are asked about, too."""
        links = [set(np.flatnonzero(row).tolist()) for row in (*self.rows, *self.asked)]
        found = set(np.flatnonzero(self.asked[number]).tolist())
        while True:
            more = found.union(*(link for link in links if link & found))
            if more == found:
                return found
            found = more

    def is_in_a_row(self, unknowns: set[int]) -> bool:
        return bool(self.rows[:, sorted(unknowns)].any())

    def is_contradicted(self, unknowns: set[int]) -> bool:
        """Whether no table of these unknowns fits the rows that have any of them."""
        some = sorted(unknowns)
        of_rows = self.every[:, some] @ self.rows[:, some].T
        touched = self.rows[:, some].any(axis=1)
        fits = (of_rows >= self.row_low) & (of_rows <= self.row_high)
        return not fits[:, touched].all(axis=1).any()


@pytest.mark.parametrize("first", range(0, 120, 60))
def test_sums_are_decided_as_all_tables_decide_them(first):
    disclosed = contradicted = free = 0
    for seed in range(first, first + 60):
        drawn = Drawn(seed)
        answers = decide(drawn.problem, K)
        for number in range(len(drawn.asked)):
            together = drawn.hangs_together(number)
            told = (bool(answers.decided[number]), int(answers.low[number]), int(answers.high[number]))
            if not drawn.is_in_a_row(together):
                assert told == (True, 0, 0) and not answers.contradicted[number]
            elif drawn.is_contradicted(together):
                # One unknown by itself may be told to be nobody before it is looked at what contradicts what.
                alone = drawn.asked[number].sum() == 1 and not drawn.base[number]
                assert (told == (False, 0, 0) and answers.contradicted[number]) or (alone and told == (True, 0, 0))
                contradicted += bool(answers.contradicted[number])
            elif len(drawn.tables):
                values = drawn.tables @ drawn.asked[number] + drawn.base[number]
                least, most = int(values.min()), int(values.max())
                follows = least >= 1 and most < K
                assert told == ((True, least, most) if follows else (True, 0, 0)), (seed, number)
                assert not answers.contradicted[number]
                disclosed, free = disclosed + follows, free + (not follows)
    assert disclosed > 5 and free > 20 and contradicted > 1


def test_a_table_with_the_least_of_a_wish_is_the_least_of_all():
    for seed in range(80):
        drawn = Drawn(seed)
        wish = np.random.default_rng(seed).uniform(-1, 1, len(drawn.low))
        table, possible = solve(drawn.problem, wish)
        assert possible == bool(len(drawn.tables)) == (table is not None)
        if table is not None:
            assert (drawn.tables == table).all(axis=1).any()
            assert wish @ table == pytest.approx((drawn.tables @ wish).min())


def test_bounds_that_leave_nothing_leave_no_table():
    one = np.ones(1, np.int64)
    rows, asked = sparse.csr_matrix([[1]]), sparse.csr_matrix((0, 1), dtype=np.int64)
    for row_low, row_high, low, high, possible in (
        (1, 1, 0, 1, True),
        (2, 1, 0, 3, False),
        (1, 1, 2, 1, False),
        (0, UNBOUNDED, 1, 1, True),
        (2, 2, 0, 1, False),
        (0, 0, 0, 0, True),
    ):
        problem = Problem(rows, row_low * one, row_high * one, low * one, high * one, asked, np.zeros(0, np.int64))
        table, told = solve(problem, np.ones(1))
        assert told == possible == (table is not None)


def test_tables_fit_and_differ():
    several = 0
    for seed in range(60):
        drawn = Drawn(seed)
        if not len(drawn.tables):
            continue
        found = tables_of(drawn.problem)
        known = drawn.rows.any(axis=0)
        for table in found:
            assert not table.open[known].any()
            some = drawn.tables[:, known]
            assert (some == table.people[known]).all(axis=1).any()
        people = {tuple(table.people[known].tolist()) for table in found}
        several += len(people) > 1
        if len(np.unique(drawn.tables[:, known], axis=0)) == 1:
            assert len(people) == 1
    assert several > 15


@pytest.mark.parametrize(("limit", "number"), [("MOST_UNKNOWNS", 0), ("MOST_UNKNOWNS", 3), ("MOST_PROGRAMS", 1)])
def test_what_is_beyond_a_limit_is_not_decided_and_no_more(limit, number, monkeypatch):
    """Nothing that follows is taken for free, however early it ends."""
    undecided = 0
    for seed in range(30):
        drawn = Drawn(seed)
        if not len(drawn.tables):
            continue
        everything = decide(drawn.problem, K)
        with monkeypatch.context() as changed:
            changed.setattr(programs, limit, number)
            less = decide(drawn.problem, K)
            if limit == "MOST_UNKNOWNS":
                table, possible = solve(drawn.problem, np.ones(len(drawn.low)))
                assert possible and (table is None) == (len(drawn.low) > number)
        assert (less.low[less.decided] == everything.low[less.decided]).all()
        assert not less.low[~less.decided].any()
        undecided += int((~less.decided).sum())
    assert undecided > 2 or limit == "MOST_PROGRAMS"


@pytest.mark.parametrize("at_once", [1, 3])
def test_however_many_are_looked_at_at_once_the_same_follows(at_once, monkeypatch):
    for seed in range(20):
        problem = Drawn(seed).problem
        expected = decide(problem, K)
        with monkeypatch.context() as changed:
            changed.setattr(programs, "AT_ONCE", at_once)
            found = decide(problem, K)
        for one, other in ((found.low, expected.low), (found.high, expected.high), (found.decided, expected.decided)):
            assert np.array_equal(one, other)
        assert np.array_equal(found.contradicted, expected.contradicted)


def drawn_families(rng: np.random.Generator, n_cells: int, n_joint: int, is_wrong: bool) -> list[Sums]:
    """Sums of people in regions by classes, some cells and classes beyond them."""
    truth = rng.integers(0, 5, (n_cells, n_joint))
    families = []
    for release in range(int(rng.integers(1, 4))):
        n_regions, n_classes = int(rng.integers(1, 4)), int(rng.integers(1, n_joint + 1))
        region = rng.integers(-1 if rng.random() < 0.3 else 0, n_regions, n_cells)
        class_of = rng.integers(-1 if rng.random() < 0.3 else 0, n_classes, n_joint)
        low = np.zeros((n_regions + 1, n_classes + 1), np.int64)
        high = np.full_like(low, UNBOUNDED)
        for one, of in product(range(n_regions), range(n_classes)):
            people = int(truth[np.ix_(region == one, class_of == of)].sum())
            kind = rng.random()
            if kind < 0.6:
                low[one, of] = high[one, of] = people + int(is_wrong and rng.random() < 0.2)
            elif kind < 0.8:
                low[one, of], high[one, of] = max(people - 1, 0), people + int(rng.integers(0, 3))
            else:
                low[one, of] = max(people - 2, 0)
        families.append(Sums(release, 0, region, n_regions, class_of, low, high, True))
    return families


def propagated(families: list[Sums], n_cells: int, n_joint: int, nobody: np.ndarray):
    """Each sum bounds each of its members by what the others can be, until nothing changes; None where one is wrong."""
    low, high = np.zeros((n_cells, n_joint), np.int64), np.full((n_cells, n_joint), UNBOUNDED)
    high[:, nobody] = 0
    changed = True
    while changed:
        changed = False
        for family in families:
            for region, of in product(range(family.n_regions), range(family.low.shape[1] - 1)):
                if not (family.class_of == of).any():
                    continue
                at = [tuple(one) for one in np.argwhere(np.outer(family.region == region, family.class_of == of))]
                least, most = int(family.low[region, of]), int(family.high[region, of])
                if sum(high[one] for one in at) < least or sum(low[one] for one in at) > most:
                    return None
                for one in at:
                    others = [other for other in at if other != one]
                    floor = max(int(low[one]), least - sum(int(high[other]) for other in others))
                    ceiling = int(high[one])
                    if most < UNBOUNDED:
                        ceiling = min(ceiling, most - sum(int(low[other]) for other in others))
                    changed |= floor != low[one] or ceiling != high[one]
                    low[one], high[one] = floor, ceiling
    return low, high


@pytest.mark.parametrize("with_nobody", [False, True])
def test_bounds_are_those_of_one_sum_after_the_other(with_nobody):
    tight = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n_cells, n_joint = int(rng.integers(1, 5)), int(rng.integers(1, 4))
        families = drawn_families(rng, n_cells, n_joint, False)
        nobody = np.zeros(n_joint, bool)
        if with_nobody:
            nobody[-1] = all(not family.low[:, family.class_of[-1]].any() for family in families)
        found = propagate(families, n_cells, np.zeros(n_joint, np.int64), nobody if with_nobody else None)
        expected = propagated(families, n_cells, n_joint, nobody)
        if expected is None:
            assert found.contradicted.any()
            continue
        assert not found.contradicted.any()
        low, high = expected
        assert np.array_equal(found.low, low) and np.array_equal(found.high < UNBOUNDED, high < UNBOUNDED)
        assert np.array_equal(found.high[high < UNBOUNDED], high[high < UNBOUNDED])
        for family, sum_low, sum_high in zip(families, found.sum_low, found.sum_high):
            for region, of in product(range(family.n_regions), range(family.low.shape[1] - 1)):
                inside = np.ix_(family.region == region, family.class_of == of)
                assert sum_low[region, of] == max(family.low[region, of], low[inside].sum())
                assert sum_high[region, of] == min(family.high[region, of], high[inside].sum())
        tight += int(((low == high) & (high > 0)).sum())
    assert tight > 20


def test_sums_that_cannot_all_be_true_are_found():
    """Of classes that share no sum with what is wrong the bounds stay."""
    wrong = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n_cells = int(rng.integers(1, 4))
        bad, good = drawn_families(rng, n_cells, 1, True), drawn_families(rng, n_cells, 1, False)
        apart = [
            Sums(
                0,
                0,
                family.region,
                family.n_regions,
                np.array([of, NONE] if number < len(bad) else [NONE, of]),
                family.low,
                family.high,
                True,
            )
            for number, family in enumerate((*bad, *good))
            for of in family.class_of.tolist()
        ]
        found = propagate(apart, n_cells, np.arange(2))
        nobody = np.zeros(1, bool)
        assert found.contradicted.tolist() == [propagated(bad, n_cells, 1, nobody) is None, False]
        low, high = propagated(good, n_cells, 1, nobody)
        assert np.array_equal(found.low[:, 1], low[:, 0])
        assert np.array_equal(np.minimum(found.high[:, 1], UNBOUNDED), np.minimum(high[:, 0], UNBOUNDED))
        wrong += int(found.contradicted[0])
    assert wrong > 3
