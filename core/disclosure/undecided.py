"""Small counts that exchanges do not free: held against whole tables of people, found by linear programs.

Of some areas at a time: all other people stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Callable

import numpy as np

from ..progress import Progress, silent
from ..scientific import optimize, sparse
from .block import Block, Family
from .count_tables import MANY
from .exchanges import Places
from .programs import MOST_UNKNOWNS, SOLVED, Problem, decide, solve


def freed_by_programs(
    block: Block, places: Sequence[Places], size: tuple[int, int], progress: Progress = silent
) -> list[np.ndarray]:
    """Which counts some table of people frees, (q,) bool for each; size : unknowns of a program, and most turns;
    progress : raises to cancel."""
    free = [np.zeros(len(some), bool) for some in places]
    rng = np.random.default_rng(0)
    unknowns, turns = size
    stretches = _stretches(block, unknowns)
    for number, areas in enumerate(stretches):
        progress(number / len(stretches))
        _free_within(block, places, free, areas, turns, rng)
    return free


def freed_around(block: Block, places: Places, number: int, n_areas: int, also: np.ndarray | None = None) -> bool:
    """Whether people around a count can be placed so that it is free.

    n_areas : of so many areas, of as many within it and beside it that have people of its class, and of those in `also`
    """
    return freed_within(block, places, number, areas_around(block, places, number, n_areas, also))


def freed_within(block: Block, places: Places, number: int, areas: np.ndarray) -> bool:
    """Whether the people of these areas can be placed so that a count is free."""
    free = [np.zeros(1, bool)]
    _free_within(block, [places.some(np.array([number], np.int64))], free, areas, 1)
    return bool(free[0][0])


def areas_around(block: Block, places: Places, number: int, n_areas: int, also: np.ndarray | None = None) -> np.ndarray:
    """The areas of `freed_around`, ascending."""
    middle = int(block.place[places.area[number]])
    there = (block.people[:-1, places.classes(number)] > 0).any(axis=1)
    first = max(0, min(middle - n_areas // 2, block.n - n_areas))
    inside = np.zeros(block.n, bool)
    inside[places.areas(number)] = True
    near = [block.order[first : first + n_areas]]
    for some in (there & inside, there & ~inside):
        areas = np.flatnonzero(some)
        near.append(areas[np.argsort(np.abs(block.place[areas] - middle), kind="stable")[:n_areas]])
    return np.unique(np.concatenate([*near, np.empty(0, np.int64) if also is None else also]))


def proven_to_follow(block: Block, counts: Sequence[tuple[Places, int]]) -> np.ndarray:
    """Which counts, each of some places by its number, lie within 1 to k - 1 in every table of people, (q,) bool.

    What is too large or too hard to decide is not proven.
    """
    if not counts:
        return np.zeros(0, bool)
    areas, owner = np.arange(block.n, dtype=np.int64), np.arange(len(counts), dtype=np.int64)
    members = members_of(
        block, [places for places, _ in counts], owner, np.array([at for _, at in counts], np.int64), areas
    )
    proven: np.ndarray = decide(problem_of(block, areas, members), block.k).low > 0
    return proven


def _stretches(block: Block, size: int) -> list[np.ndarray]:
    """Areas that stand together, in parts of about so many unknowns."""
    n_parts = max(1, -(-block.n * block.u // size))
    return np.array_split(block.order, min(n_parts, block.n))


def _free_within(
    block: Block,
    places: Sequence[Places],
    free: list[np.ndarray],
    areas: np.ndarray,
    turns: int,
    rng: np.random.Generator | None = None,
) -> None:
    """Mark the counts that some tables of the people of these areas free."""
    inside = np.zeros(block.n, bool)
    inside[areas] = True
    chosen = [np.flatnonzero(~done & inside[some.area]) for some, done in zip(places, free)]
    owner = np.repeat(np.arange(len(places), dtype=np.int64), [len(some) for some in chosen])
    number = np.concatenate([np.empty(0, np.int64), *chosen])
    if not len(number):
        return
    areas = np.sort(areas)
    members = members_of(block, places, owner, number, areas)
    problem = problem_of(block, areas, members)
    people = block.people[areas][:, :-1].ravel()
    truth = np.concatenate([places[of].people[[at]] for of, at in zip(owner.tolist(), number.tolist())])
    base = truth - members @ people
    left = np.ones(len(number), bool)
    for turn in range(turns):
        before = int(left.sum())
        for sign in (1.0, -1.0):
            weights = np.ones(len(left)) if not turn or rng is None else rng.uniform(0.0, 1.0, len(left))
            if not left.any():
                break
            table, _ = solve(problem, sign * (members.T @ (weights * left)))
            if table is not None:
                count = base + members @ table
                left &= (count >= 1) & (count < block.k)
        if int(left.sum()) == before:
            break
    for of, at in zip(owner[~left].tolist(), number[~left].tolist()):
        free[of][at] = True


def members_of(
    block: Block, places: Sequence[Places], owner: np.ndarray, number: np.ndarray, areas: np.ndarray
) -> sparse.csr_matrix:
    """(q, areas * u) matrix of 0 and 1: who is in each count."""
    columns = []
    for of, at in zip(owner.tolist(), number.tolist()):
        some = places[of]
        area, own = np.nonzero(some.inside(at)[areas])
        columns.append(area * block.u + some.classes(at)[own])
    return _ones(np.concatenate(columns), np.array([len(column) for column in columns], np.int64), len(areas) * block.u)


def problem_of(block: Block, areas: np.ndarray, asked: sparse.csr_matrix) -> Problem:
    """The people of some areas as unknowns, all others where they are; asked : (q, areas * u) of 0 and 1."""
    people = block.people[areas][:, :-1].ravel()
    parts, lows, highs = [], [], []
    for family in block.known:
        matrix, low, high, _, _ = rows_of(block, family, areas)
        parts.append(matrix)
        lows.append(low)
        highs.append(high)
    return Problem(
        sparse.vstack(parts).tocsr(),
        np.concatenate(lows),
        np.concatenate(highs),
        np.zeros(len(people), np.int64),
        np.full(len(people), MANY, np.int64),
        asked,
        np.zeros(asked.shape[0], np.int64),
    )


def rows_of(
    block: Block, family: Family, areas: np.ndarray
) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The sums of a family that the people of some areas could break, all others where they are: a matrix of 0 and 1,
    the least and the most of each sum, its region and its group.
    """
    people = block.people[areas][:, :-1].ravel()
    key = (family.region[areas][:, None] * (family.n_groups + 1) + family.group[:-1]).ravel()
    used, row, size = np.unique(key, return_inverse=True, return_counts=True)
    row = row.reshape(-1)
    region, group = np.divmod(used, family.n_groups + 1)
    sums = np.bincount(row, people, len(used)).astype(np.int64)
    down, up = family.down[region, group], family.up[region, group]
    kept = (sums > down) | (up < MANY // 2)  # else nothing is known that these people could break
    kept &= (region < family.n_regions) & (group < family.n_groups)
    here = np.flatnonzero(kept[row])
    matrix = _ones(here[np.argsort(row[here], kind="stable")], size[kept], len(people))
    low = np.maximum(sums - np.minimum(down, sums), 0)
    high = np.where(up >= MANY // 2, MANY, sums + up)
    return matrix, low[kept], high[kept], region[kept], group[kept]


def _ones(columns: np.ndarray, size: np.ndarray, n_columns: int) -> sparse.csr_matrix:
    """A matrix of 0 and 1; columns : of the 1 of each row, ascending, row by row; size : of each row, so many."""
    ends = np.append(0, np.cumsum(size)).astype(np.int32)  # otherwise looked through for what is too large
    ones = np.ones(len(columns), np.int64)
    return sparse.csr_matrix((ones, columns.astype(np.int32), ends), shape=(len(size), n_columns))


Price = Callable[[int, np.ndarray, np.ndarray], np.ndarray]
"""What it costs that sums are told no more: of a level, by regions and groups of classes."""

PASSES = 3
FEW = 0.5  # people by which a sum is missed: the fewer, the nearer the price of a person is to that of the sum
MISSED = 1e-6
DEAREST = 1e7  # dearer sums would drown the others


def loosened(
    block: Block, places: Places, number: int, areas: np.ndarray, price: Price
) -> Iterator[list[tuple[int, int, int]]]:
    """The sums of the levels, (level, region, group), the finest level first, without which a count may be of nobody,
    and those without which it may be of k people; nothing where no table of people of these areas is found.

    areas : ascending; all other people stay where they are
    """
    n = len(areas) * block.u
    if n > MOST_UNKNOWNS:
        return
    people = block.people[areas][:, :-1].ravel()
    hard = [rows_of(block, family, areas)[:3] for family in block.tables]
    soft, where, prices = [], [], []
    for level, family in enumerate(block.families):
        matrix, low, high, region, group = rows_of(block, family, areas)
        soft.append((matrix, low, high))
        where.append(np.column_stack([np.full(len(region), level, np.int64), region, group]))
        prices.append(price(level, region, group))
    sums, cost = np.concatenate(where), np.concatenate(prices).astype(float)
    asked = members_of(block, [places], np.zeros(1, np.int64), np.array([number], np.int64), areas)
    base = int(places.people[number]) - int((asked @ people)[0])
    for least, most in ((-np.inf, -base), (block.k - base, np.inf)):
        if most >= 0:
            missed = _missed(hard, soft, (asked, least, most), n, cost, block.k)
            if missed is not None:
                yield [(int(level), int(region), int(group)) for level, region, group in sums[missed]]


if TYPE_CHECKING:  # it names something of scipy, which would be loaded for it
    Rows = tuple[sparse.csr_matrix, np.ndarray, np.ndarray]


def _missed(
    hard: Sequence[Rows],
    soft: Sequence[Rows],
    wish: tuple[sparse.csr_matrix, float, float],
    n: int,
    cost: np.ndarray,
    k: int,
) -> np.ndarray | None:
    """The positions of the soft rows that the cheapest table misses; None where none is found."""
    sums = sparse.vstack([*(rows for rows, _, _ in hard), wish[0], *(rows for rows, _, _ in soft)], format="csr")
    m = len(cost)
    more = np.concatenate(
        [np.zeros(sums.shape[0] - m, np.int64), 2 * np.arange(m + 1, dtype=np.int64)]
    )  # none of the hard rows
    by_row = (
        np.tile([1, -1], m),
        np.stack([np.arange(m, dtype=np.int64), m + np.arange(m, dtype=np.int64)], axis=1).ravel(),
        more,
    )
    rows = sparse.hstack([sums, sparse.csr_matrix(by_row, shape=(sums.shape[0], 2 * m))], format="csr")
    low = np.concatenate([*(low for _, low, _ in hard), [wish[1]], *(low for _, low, _ in soft)]).astype(float)
    high = np.concatenate([*(high for _, _, high in hard), [wish[2]], *(high for _, _, high in soft)]).astype(float)
    high[high >= MANY] = np.inf
    cost = np.minimum(cost, DEAREST)
    each = cost / k
    missed = None
    for _ in range(PASSES):
        solution = optimize.milp(
            np.concatenate([np.zeros(n), each, each]),
            integrality=np.zeros(n + 2 * m),
            bounds=optimize.Bounds(0.0, np.inf),
            constraints=[optimize.LinearConstraint(rows, low, high)],
        )
        if solution.status != SOLVED or solution.x is None:
            break
        by = solution.x[n : n + m] + solution.x[n + m :]
        before, missed = missed, np.flatnonzero(by > MISSED)
        if before is not None and np.array_equal(before, missed):
            break
        each = cost / (by + FEW)
    return missed
