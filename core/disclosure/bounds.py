"""Bounds of the unknowns by interval propagation: every sum bounds its members by what the others can be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

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
    high = np.full((n_cells, n_joint), UNBOUNDED)
    if nobody is not None:
        high[:, nobody] = 0
    adders = [_Adder(family) for family in families]
    active: np.ndarray = np.arange(n_joint)
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
        self._family, self._members = family, family.members()
        self._plain = np.array_equal(family.class_of, np.arange(family.low.shape[1] - 1))

    def add(self, values: np.ndarray, joint: np.ndarray | None = None) -> np.ndarray:
        """Sums by region and class, (n_regions + 1, n_classes + 1), of values (cells, u) of some joint classes."""
        class_of, n_classes = self._family.class_of, self._family.low.shape[1]
        if self._plain and joint is None:
            return np.pad(self._members @ values, ((0, 0), (0, 1)))
        class_of = class_of if joint is None else class_of[joint]
        column = np.where(class_of >= 0, class_of, n_classes - 1)
        ones = np.ones(len(column), np.int64)
        classes = sparse.csr_matrix((ones, (np.arange(len(column)), column)), shape=(len(column), n_classes))
        return np.asarray((classes.T @ (self._members @ values).T).T)

    def tighten(self, low: np.ndarray, high: np.ndarray, active: np.ndarray) -> None:
        """Tighten the bounds of the active joint classes by all rows of the family, in place."""
        family = self._family
        every = len(active) == low.shape[1]
        own_low, own_high = (low, high) if every else (low[:, active], high[:, active])
        joint = None if every else active
        room = np.where(family.high >= UNBOUNDED, 2 * UNBOUNDED, family.high - self.add(own_low, joint))
        need = family.low - self.add(own_high, joint)
        need[-1], need[:, -1] = -UNBOUNDED, -UNBOUNDED
        at = np.ix_(family.region, family.class_of[active])
        tighter_high = np.minimum(own_high, room[at] + own_low)
        tighter_low = np.maximum(own_low, need[at] + own_high)
        if every:
            low[:], high[:] = tighter_low, tighter_high
        else:
            low[:, active], high[:, active] = tighter_low, tighter_high
