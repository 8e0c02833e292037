"""What of a release would have to be known no more for a count to be free, at the least price: linear programs.

A count is free once a table of people has nobody there, or k. Where what the release shows rules all of them out, some
of it has to give way: each sum that it tells may be missed, at a price for each person that it is missed by, and the
cheapest table says which sums those are. Few sums are wanted rather than few people: the programs are solved again,
each sum cheaper by the people it was missed by.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Callable

import numpy as np

from ..scientific import optimize, sparse
from .block import Block
from .count_tables import MANY
from .exchanges import Places
from .programs import MOST_UNKNOWNS, SOLVED
from .undecided import members_of, rows_of

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
        where.append(np.column_stack([np.full(len(region), level), region, group]))
        prices.append(price(level, region, group))
    sums, cost = np.concatenate(where), np.concatenate(prices).astype(float)
    asked = members_of(block, [places], np.zeros(1, np.int64), np.array([number]), areas)
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
    more = np.concatenate([np.zeros(sums.shape[0] - m, np.int64), 2 * np.arange(m + 1)])  # none of the hard rows
    by_row = np.tile([1, -1], m), np.stack([np.arange(m), m + np.arange(m)], axis=1).ravel(), more
    rows = sparse.hstack([sums, sparse.csr_matrix(by_row, shape=(sums.shape[0], 2 * m))], format="csr")
    low = np.concatenate([*(low for _, low, _ in hard), [wish[1]], *(low for _, low, _ in soft)]).astype(float)
    high = np.concatenate([*(high for _, _, high in hard), [wish[2]], *(high for _, _, high in soft)]).astype(float)
    high[high >= MANY] = np.inf
    cost = np.minimum(cost, DEAREST)
    each = cost / k
    missed = None
    for _ in range(PASSES):
        found = optimize.milp(
            np.concatenate([np.zeros(n), each, each]),
            integrality=np.zeros(n + 2 * m),
            bounds=optimize.Bounds(0.0, np.inf),
            constraints=[optimize.LinearConstraint(rows, low, high)],
        )
        if found.status != SOLVED or found.x is None:
            return missed
        by = found.x[n : n + m] + found.x[n + m :]
        before, missed = missed, np.flatnonzero(by > MISSED)
        if before is not None and np.array_equal(before, missed):
            break
        each = cost / (by + FEW)
    return missed
