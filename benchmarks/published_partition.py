"""The published partition of cells, rendered plainly from the paper, to be compared with.

Bjerre-Nielsen & Gandil 2018, Algorithm 1 and section 3.3, written down as they are described: groups are sets, totals
are summed over the members with numpy whenever they are asked for, the frontier is searched for again after every cell,
and an exchange is tried for every pair of cells of neighbouring groups. No multiprocessing, no chunks.
"""

from __future__ import annotations

import numpy as np

from vbas.core.cells import Cells


def plain_partition(cells: Cells, k: float, attempts: int, seed: int, exchanges: bool) -> list[set[int]]:
    """One run: the groups as sets of cells. attempts : R of Algorithm 1."""
    rng = np.random.default_rng(seed)
    neighbours = [
        set(cells.adjacency.others[cells.adjacency.starts[cell] : cells.adjacency.starts[cell + 1]].tolist())
        for cell in range(len(cells))
    ]
    people = cells.population
    appeared = ((people[:, :-1] == 0) & (people[:, 1:] > 0)).any(axis=1)
    newly_built = set(np.flatnonzero(appeared).tolist())
    groups = _grow(newly_built, neighbours, people, k, attempts, rng)
    rest = set(range(len(cells))) - set().union(*groups)
    groups += _grow(rest, neighbours, people, k, attempts, rng)
    if exchanges:
        _exchange(groups, neighbours, people, cells.boxes, k)
    return groups


def _least(members: set[int], people: np.ndarray) -> float:
    return float(people[list(members)].sum(axis=0).min()) if members else 0.0


def _grow(
    unassigned: set[int],
    neighbours: list[set[int]],
    people: np.ndarray,
    k: float,
    attempts: int,
    rng: np.random.Generator,
) -> list[set[int]]:
    groups: list[set[int]] = []
    unassigned = set(unassigned)
    failed = 0
    while failed < attempts and _least(unassigned, people) >= k:
        group = {int(rng.choice(sorted(unassigned)))}
        while _least(group, people) < k:
            frontier = (set().union(*(neighbours[cell] for cell in group)) & unassigned) - group
            if not frontier:
                break
            group.add(int(rng.choice(sorted(frontier))))
        if _least(group, people) >= k:
            groups.append(group)
            unassigned -= group
        else:
            failed += 1
    return groups


def _exchange(
    groups: list[set[int]], neighbours: list[set[int]], people: np.ndarray, boxes: np.ndarray, k: float
) -> None:
    """Exchange cells one for one while an exchange lowers the two groups' weighted diagonals."""
    improved = True
    while improved:
        improved = False
        for first in range(len(groups)):
            around = set().union(*(neighbours[cell] for cell in groups[first]))
            for second in range(first + 1, len(groups)):
                if around & groups[second] and _exchange_between(groups, first, second, neighbours, people, boxes, k):
                    improved = True


def _exchange_between(
    groups: list[set[int]],
    first: int,
    second: int,
    neighbours: list[set[int]],
    people: np.ndarray,
    boxes: np.ndarray,
    k: float,
) -> bool:
    before = _distance(groups[first], people, boxes) + _distance(groups[second], people, boxes)
    for cell in sorted(groups[first]):
        for other in sorted(groups[second]):
            new_first, new_second = groups[first] - {cell} | {other}, groups[second] - {other} | {cell}
            if (
                _distance(new_first, people, boxes) + _distance(new_second, people, boxes) < before - 1e-6
                and min(_least(new_first, people), _least(new_second, people)) >= k
                and _connected(new_first, neighbours)
                and _connected(new_second, neighbours)
            ):
                groups[first], groups[second] = new_first, new_second
                return True
    return False


def _distance(members: set[int], people: np.ndarray, boxes: np.ndarray) -> float:
    cells = list(members)
    low, high = boxes[cells, :2].min(axis=0), boxes[cells, 2:].max(axis=0)
    return float(np.hypot(*(high - low)) * people[cells].sum())


def _connected(members: set[int], neighbours: list[set[int]]) -> bool:
    reached, stack = set(), [next(iter(members))]
    while stack:
        cell = stack.pop()
        if cell not in reached:
            reached.add(cell)
            stack += list(neighbours[cell] & members)
    return len(reached) == len(members)
