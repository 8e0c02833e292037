"""Bounds of the unknowns by interval propagation: every sum bounds its members by what the others can be."""

from __future__ import annotations

import numpy as np

from ..dataclass import dataclass
from ..scientific import sparse
from .overlay import UNBOUNDED, Sums

MOST_SWEEPS = 200


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds of the unknowns and of their sums.

    low, high : (cells, u) int64; sum_low, sum_high : of each family, (n_regions + 1, n_classes + 1)
    contradicted : (u,) bool, joint classes for which nobody fits what the releases say
    """

    low: np.ndarray
    high: np.ndarray
    sum_low: list[np.ndarray]
    sum_high: list[np.ndarray]
    contradicted: np.ndarray


def propagate(families: list[Sums], n_cells: int, group_of: np.ndarray, nobody: np.ndarray | None = None) -> Bounds:
    """The bounds that follow from the sums one by one, tightened until nothing changes or MOST_SWEEPS are done.

    group_of : (u,) joint classes that may share a sum have the same number, see `Overlay`; nobody : (u,) bool, those
    that nobody is in.
    Vectorised over cells and joint classes: a sweep takes time in proportion to cells x classes x families.
    """
    n_joint = len(group_of)
    low = np.zeros((n_cells, n_joint), np.int64)
    high = np.full((n_cells, n_joint), UNBOUNDED, np.int64)
    if nobody is not None:
        high[:, nobody] = 0
    adders = [_Adder(family) for family in families]
    active: np.ndarray = np.arange(n_joint, dtype=np.int64)
    for _ in range(MOST_SWEEPS):
        before_low, before_high = low[:, active].copy(), high[:, active].copy()
        for adder in adders:
            adder.tighten(low, high, active)
        changed = ((low[:, active] != before_low) | (high[:, active] != before_high)).any(axis=0)
        changed &= (low[:, active] <= high[:, active]).all(axis=0)
        active = np.flatnonzero(np.isin(group_of, group_of[active[changed]]))
        if not len(active):
            break
    contradicted: np.ndarray = np.asarray((low > high).any(axis=0))
    sum_low, sum_high = [], []
    for family, adder in zip(families, adders):
        least, most = adder.add(low), adder.add(high)
        wrong = np.append(((least > family.high) | (most < family.low))[:, :-1].any(axis=0), False)
        contradicted |= wrong[family.class_of]
        sum_low.append(np.maximum(family.low, least))
        sum_high.append(np.minimum(family.high, most))
    return Bounds(low, high, sum_low, sum_high, contradicted)


class _Adder:
    """Adds unknowns up to the rows of one family."""

    def __init__(self, family: Sums) -> None:
        self._family, self._members = family, family.members
        plain = np.array_equal(family.class_of, np.arange(family.low.shape[1] - 1, dtype=np.int64))
        self._classes = None if plain else self._classes_of(family.class_of)

    def _classes_of(self, class_of: np.ndarray) -> sparse.csr_matrix:
        """(u, n_classes + 1) matrix of 0 and 1: the class of each joint class."""
        n, n_classes = len(class_of), self._family.low.shape[1]
        column = np.where(class_of >= 0, class_of, n_classes - 1)
        return sparse.csr_matrix((np.ones(n, np.int64), column, np.arange(n + 1, dtype=np.int64)), shape=(n, n_classes))

    def add(self, values: np.ndarray) -> np.ndarray:
        """Sums by region and class, (n_regions + 1, n_classes + 1), of values (cells, u) of all joint classes."""
        return self._added(values, self._classes)

    def _added(self, values: np.ndarray, classes: sparse.csr_matrix | None) -> np.ndarray:
        if classes is None:
            return np.pad(self._members @ values, ((0, 0), (0, 1)))
        return np.asarray((classes.T @ (self._members @ values).T).T)

    def tighten(self, low: np.ndarray, high: np.ndarray, active: np.ndarray) -> None:
        """Tighten the bounds of the active joint classes by all rows of the family, in place."""
        family = self._family
        every = len(active) == low.shape[1]
        own_low, own_high = (low, high) if every else (low[:, active], high[:, active])
        classes = self._classes if every else self._classes_of(family.class_of[active])
        room = np.where(family.high >= UNBOUNDED, 2 * UNBOUNDED, family.high - self._added(own_low, classes))
        need = family.low - self._added(own_high, classes)
        need[-1], need[:, -1] = -UNBOUNDED, -UNBOUNDED
        at = np.ix_(family.region, family.class_of[active])
        tighter_high = np.minimum(own_high, room[at] + own_low)
        tighter_low = np.maximum(own_low, need[at] + own_high)
        if every:
            low[:], high[:] = tighter_low, tighter_high
        else:
            low[:, active], high[:, active] = tighter_low, tighter_high
