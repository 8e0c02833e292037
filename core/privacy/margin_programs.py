"""The fewest records to suppress, so that published totals tell of no suppressed class: an integer program (HiGHS)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..dataclass import dataclass
from ..scientific import optimize, sparse

# A limit of size, not of seconds: the same input gives the same result on every machine.
NODES = 5_000
SOLVED, INFEASIBLE = 0, 2


@dataclass(frozen=True, eq=False)
class Cut:
    """Of some places one more must be suppressed, or of others one less: (a,) and (b,) int64 positions."""

    more: np.ndarray
    fewer: np.ndarray


def fewest_to_add(
    groups: Sequence[np.ndarray], records: np.ndarray, lost: np.ndarray, k: int, cuts: Sequence[Cut] = ()
) -> np.ndarray | None:
    """The places of one region to suppress, (p,) bool, those lost among them; None where none are found within NODES.

    groups : for each margin, the total that each place counts in, numbered from 0; records : (p,); lost : (p,) bool
    Of every total nothing is suppressed, or k records of two places at least, or all; and all cuts are kept to.
    A place has an unknown, 1 where it is suppressed, and each total has one, 1 where anything of it is.
    """
    n = len(records)
    first = np.cumsum([0, *(int(group.max()) + 1 for group in groups)], dtype=np.int64)
    place = np.tile(np.arange(n, dtype=np.int64), len(groups))
    total = np.concatenate([group + start for group, start in zip(groups, first)]).astype(np.int64)
    n_totals, size = int(first[-1]), n + int(first[-1])
    ones, pair = np.ones(len(place)), np.arange(len(place), dtype=np.int64)
    any_of = sparse.csr_matrix(
        (np.concatenate([ones, -ones]), (np.tile(pair, 2), np.concatenate([n + total, place]))),
        shape=(len(pair), size),
    )
    number = np.arange(n_totals, dtype=np.int64)
    people, places = np.bincount(total, records[place], n_totals), np.bincount(total, minlength=n_totals)
    enough = [
        sparse.csr_matrix(
            (
                np.concatenate([weight, -np.minimum(least, at_all)]),
                (np.concatenate([total, number]), np.concatenate([place, n + number])),
            ),
            shape=(n_totals, size),
        )
        for weight, least, at_all in ((records[place].astype(float), k, people), (ones, 2, places))
    ]
    kept = sparse.csr_matrix((0, size)) if not cuts else sparse.vstack([_row(cut, size) for cut in cuts])
    needed = np.array([0.0] * (len(pair) + 2 * n_totals) + [1.0 - len(cut.fewer) for cut in cuts])
    constraint = optimize.LinearConstraint(sparse.vstack([any_of, *enough, kept]).tocsr(), needed, np.inf)
    low = np.zeros(size)
    low[:n][lost] = 1.0
    # The HiGHS of SciPy 1.10 takes some problems with a solution for infeasible, but not without presolve.
    for presolve in (True, False):
        solution = optimize.milp(
            np.concatenate([records, np.zeros(n_totals)]).astype(float),
            integrality=np.ones(size),
            bounds=optimize.Bounds(low, np.ones(size)),
            constraints=constraint,
            options={"node_limit": NODES, "mip_rel_gap": 0.0, "presolve": presolve},
        )
        if solution.status != INFEASIBLE:
            break
    return np.asarray(solution.x[:n] > 0.5) if solution.status == SOLVED else None


def cut_off(groups: Sequence[np.ndarray], lost: np.ndarray, suppressed: np.ndarray, place: int) -> Cut:
    """What rules out that a place is known again for the same reason.

    suppressed : (p,) what is suppressed; lost : (p,) what is suppressed anyway
    As long as the same places are suppressed among all that hang together with it by totals, it stays known.
    """
    together = np.zeros(len(suppressed), bool)
    together[place] = True
    while True:
        near = np.zeros(len(suppressed), bool)
        for group in groups:
            near |= np.isin(group, group[together])
        if not (near & suppressed & ~together).any():
            return Cut(np.flatnonzero(near & ~suppressed), np.flatnonzero(together & ~lost))
        together |= near & suppressed


def _row(cut: Cut, size: int) -> sparse.csr_matrix:
    row = np.zeros((1, size))
    row[0, cut.more], row[0, cut.fewer] = 1.0, -1.0
    return sparse.csr_matrix(row)
