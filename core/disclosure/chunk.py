"""Joint classes of an overlay that are looked at together, with all that is known of their people before anything is
asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..dataclass import dataclass
from .bounds import Bounds, propagate
from .counts import Count
from .overlay import NONE, Overlay, Sums

UNKNOWNS_AT_ONCE = 500_000


@dataclass(frozen=True, eq=False)
class Chunk:
    """Whole groups of joint classes: u of them, with an unknown for each overlay cell and joint class.

    joint : (u,) which they are; families : their sums; bounds : of the unknowns and the sums; k : counts below it are
    looked for; contradicted : (u,) bool, of which the releases contradict each other
    """

    over: Overlay
    joint: np.ndarray
    families: list[Sums]
    bounds: Bounds
    k: int
    contradicted: np.ndarray

    @property
    def n_joint(self) -> int:
        """Number of joint classes."""
        return len(self.joint)

    def without(self, wrong: np.ndarray) -> Chunk:
        """The chunk with these joint classes, positions in it, and all that have sums with them contradicted too."""
        groups = self.over.group_of[self.joint]
        return replace(self, contradicted=self.contradicted | np.isin(groups, groups[wrong]))

    def count(
        self, kind: str, cells: np.ndarray, joint: np.ndarray, low: int, high: int, releases: tuple[int, ...]
    ) -> Count:
        """A count of the people of some cells and joint classes, positions in the chunk."""
        return Count(kind, cells.astype(np.int64), self.joint[joint], low, high, releases)

    def releases_of(self, cell: int) -> tuple[int, ...]:
        """The releases that show the region of an overlay cell."""
        there = zip(self.families, (self.over.regions[cell] >= 0).tolist())
        return tuple(sorted({family.release for family, inside in there if inside}))

    def equivalence_classes_of(self, inner: Sums) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position, region, and some joint class of one level's equivalence classes that are in this chunk; of a table
        of counts those alone that are of these very people, not the most there can be."""
        key = inner.release, inner.level
        if key not in self._looked_up:  # every count that is disclosed asks for them
            self._looked_up[key] = self._equivalence_classes_of(inner)
        return self._looked_up[key]

    @cached_property
    def _looked_up(self) -> dict[tuple[int, int], tuple[np.ndarray, np.ndarray, np.ndarray]]:
        return {}

    def _equivalence_classes_of(self, inner: Sums) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        release = self.over.releases[inner.release]
        own = self.over.own_class[inner.release]
        schema_class = self.over.entries[self.joint, self.over.schema_of[inner.release]]
        joint_of = np.full(len(release.classes), NONE, np.int64)
        there = np.flatnonzero(schema_class >= 0)
        numbers = own[schema_class[there]]
        joint_of[numbers[numbers >= 0]] = there[numbers >= 0]
        there_are = (release.level == inner.level) & (joint_of[release.class_of] >= 0)
        if release.counts_from is not None:
            there_are &= release.counts_from == release.records
        here = np.flatnonzero(there_are)
        return here, release.region[here], joint_of[release.class_of[here]]


def cut_overlay(over: Overlay, joint: np.ndarray) -> list[np.ndarray]:
    """Joint classes in stretches of whole groups, and of about UNKNOWNS_AT_ONCE unknowns."""
    at_once = max(1, UNKNOWNS_AT_ONCE // max(over.n_cells, 1))
    wanted = np.flatnonzero(np.isin(over.group_of, over.group_of[joint]))
    group = np.unique(over.group_of[wanted], return_inverse=True)[1].reshape(-1)
    sizes = np.bincount(group)
    number = ((np.cumsum(sizes) - sizes) // at_once)[group]
    return [wanted[number == part] for part in np.unique(number)]


def chunk_of(over: Overlay, joint: np.ndarray, k: int, closed: Sequence[int]) -> Chunk:
    """Some joint classes, whole groups of them, with the bounds of their people by interval propagation.

    closed : the schemas of which the values that some release shows are taken for all there are
    """
    families = over.sums(joint)
    groups = over.group_of[joint]
    bounds = propagate(families, over.n_cells, groups, over.nobody[joint][:, list(closed)].any(axis=1))
    return Chunk(over, joint, families, bounds, k, np.isin(groups, groups[bounds.contradicted]))
