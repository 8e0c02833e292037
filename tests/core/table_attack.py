"""What somebody works out who lays a table of counts by area beside a release: linear programs of its own."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog


def told_by_table(
    released: Mapping[Any, int],
    regions: Sequence[Mapping[Hashable, Hashable]],
    table: Mapping[tuple[Hashable, Hashable], int],
    group_of: Mapping[Hashable, Hashable],
    live: Mapping[tuple[Hashable, Hashable], int],
    k: int,
    finer: Mapping[Hashable, Sequence[Hashable]] | None = None,
) -> list[tuple[Hashable, Hashable]]:
    """Areas and classes of 1 to k - 1 people that are bounded within 1 to k - 1, though the table alone does not say.

    released : records by level, region and class; regions : of each level, the region of each area; table : people by
    area and group of classes; group_of : of each class; live : by area and class, the truth: others are free
    finer : the classes that a class stands for that shows coarser values, at the last levels
    """
    areas, classes = list(regions[0]), list(group_of)
    column = {pair: i for i, pair in enumerate((area, one) for area in areas for one in classes)}
    equal: list[tuple[list[int], int]] = [
        ([column[area, one] for one in classes if group_of[one] == group], table.get((area, group), 0))
        for area in areas
        for group in set(group_of.values())
    ]
    least: list[tuple[list[int], int]] = []
    last = len(regions) - 1
    inside: list[dict[Hashable, list[Hashable]]] = [{} for _ in regions]
    for level, region_of in enumerate(regions):
        for area, region in region_of.items():
            inside[level].setdefault(region, []).append(area)
    shown = {
        key: {column[area, one] for area in inside[key[0]][key[1]] for one in (finer or {}).get(key[2], [key[2]])}
        for key in released
    }
    asked_of = {
        frozenset(members): (level, len(inside[level][region])) for (level, region, _), members in shown.items()
    }
    for level, region, one in shown:
        if level < last and not finer:
            for top in range(level + 1, last + 1):
                around = inside[top][regions[top][inside[level][region][0]]]
                asked_of.setdefault(frozenset(column[area, one] for area in around), (top, len(around)))
    for members, (level, n) in asked_of.items():
        records = sum(released[key] for key, own in shown.items() if own <= members)
        whole = level == last or (n == 1 and any(own == members for own in shown.values()))
        (equal if whole else least).append((sorted(members), records))
    asked = [pair for pair, people in live.items() if 1 <= people < k and pair in column]
    together = _Together(equal, least, len(column))
    told = []
    for area, one in asked:
        if sum(group_of[other] == group_of[one] for other in classes) == 1:
            continue  # the table says it
        fewest, most = together.bounds(column[area, one])
        if fewest > 0.5 and most < k - 0.5:
            told.append((area, one))
    return told


class _Together:
    """Counts of which some sums are known, and others from below.

    What a count can be hangs on the sums that it is in, on those that share a count with these, and so on: to look at
    those alone comes to the same, in a fraction of the time.
    """

    def __init__(self, equal: Sequence[tuple[list[int], int]], least: Sequence[tuple[list[int], int]], n: int) -> None:
        (self._equal, self._sums), (self._least, self._from) = _rows(equal, n), _rows(least, n)
        every = sparse.vstack([self._equal, self._least])
        self._part = sparse.csgraph.connected_components(every.T @ every, directed=False)[1]
        if self._program(np.arange(n))(np.zeros(n)) is None:
            raise AssertionError("what is shown contradicts itself")
        self._programs = {
            part: (columns, self._program(columns))
            for part in np.unique(self._part).tolist()
            for columns in [np.flatnonzero(self._part == part)]
        }

    def bounds(self, column: int) -> tuple[float, float]:
        """The least and the most that a count can be."""
        columns, least = self._programs[int(self._part[column])]
        wish = (columns == column).astype(float)
        return least(wish), -least(-wish)

    def _program(self, columns: np.ndarray) -> Callable[[np.ndarray], Any]:
        """Gives the least of weighted counts of these columns, None where there is none."""
        equal, least = self._equal[:, columns], self._least[:, columns]
        of_equal, of_least = (np.flatnonzero(np.diff(rows.indptr)) for rows in (equal, least))
        known = {"A_eq": equal[of_equal], "b_eq": self._sums[of_equal]}
        known |= {"A_ub": -least[of_least], "b_ub": -self._from[of_least]}
        return lambda weights: linprog(weights, **known, method="highs").fun


def _rows(sums: Sequence[tuple[list[int], int]], n: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    row = [i for i, (columns, _) in enumerate(sums) for _ in columns]
    column = [own for columns, _ in sums for own in columns]
    matrix = sparse.csr_matrix((np.ones(len(row)), (row, column)), shape=(len(sums), n))
    return matrix, np.array([total for _, total in sums], float)
