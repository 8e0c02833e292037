"""What somebody works out who lays a table of counts by area beside a release: linear programs of its own."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
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
    a_eq, b_eq = _rows(equal, len(column))
    a_ub, b_ub = _rows(least, len(column))
    told = []
    for area, one in asked:
        if sum(group_of[other] == group_of[one] for other in classes) == 1:
            continue  # the table says it
        wish = np.zeros(len(column))
        wish[column[area, one]] = 1.0
        ends = [
            linprog(sign * wish, A_ub=-a_ub, b_ub=-b_ub, A_eq=a_eq, b_eq=b_eq, method="highs").fun for sign in (1, -1)
        ]
        if ends[0] > 0.5 and -ends[1] < k - 0.5:
            told.append((area, one))
    return told


def _rows(sums: Sequence[tuple[list[int], int]], n: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    row = [i for i, (columns, _) in enumerate(sums) for _ in columns]
    column = [own for columns, _ in sums for own in columns]
    matrix = sparse.csr_matrix((np.ones(len(row)), (row, column)), shape=(len(sums), n))
    return matrix, np.array([total for _, total in sums], float)
