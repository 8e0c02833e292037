"""Clusters of one's own points, searched for before and after masking, among known households."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..dataclass import dataclass
from ..progress import Progress, silent
from .clusters import LEVEL, NULL_DRAWS, CircularScan, Detect, agreement
from .donut import Masking
from .populations import Households

MOST_CASES = 5_000  # of more points, so many drawn at random are searched


@dataclass(frozen=True)
class KeptCluster:
    """The most likely cluster of points before masking, and what is found of it after.

    searched, searched_after : points that were searched; those not released are missing after
    chance_before, chance_after : how often points without a cluster, masked alike, reach as high a likelihood ratio
    sensitivity, specificity : per cent, of the cluster after for the one before, as in `agreement`; NaN where there is
    no significant one before
    """

    searched: int
    searched_after: int
    chance_before: float
    chance_after: float
    sensitivity: float
    specificity: float

    @property
    def before(self) -> bool:
        """Whether there is a significant cluster before."""
        return self.chance_before <= LEVEL

    @property
    def after(self) -> bool:
        """Whether one is found after."""
        return self.chance_after <= LEVEL


def kept_cluster(
    households: Households,
    points: np.ndarray,
    released: np.ndarray,
    mask: Callable[[np.ndarray, np.random.Generator], Masking],
    can_be_drawn: np.ndarray,
    rng: np.random.Generator,
    progress: Progress = silent,
    detect: Detect | None = None,
) -> KeptCluster:
    """Search for the most likely cluster before and after.

    households : the population; points : (n, 2) true places of the cases, released : (n, 2) where they are shown, NaN
    where they are not; mask : masks cases at (d, n) positions among the households, row after row, in the same way,
    so that masking alone makes no cluster; can_be_drawn : (h,) bool, households where cases without a cluster are
    drawn; detect : a detection among the households, None for the circular scan.
    """
    find = CircularScan(households, rng).most_likely if detect is None else detect
    if len(points) > MOST_CASES:
        some = np.sort(rng.permutation(len(points))[:MOST_CASES])
        points, released = points[some], released[some]
    weights = households.weights * can_be_drawn
    null = rng.choice(len(households), (NULL_DRAWS, len(points)), p=weights / weights.sum())
    moved = mask(null, rng).points.reshape(*null.shape, 2)
    inside: list[np.ndarray] = []
    chance: list[float] = []
    for step, (cases, draws) in enumerate(((points, households.points[null]), (released, moved))):
        ratio, within = find(_placed(cases))
        reached = 0
        for d, draw in enumerate(draws):
            reached += find(_placed(draw))[0] >= ratio
            progress(0.5 * (step + (d + 1) / len(draws)))
        chance.append((1 + reached) / (1 + NULL_DRAWS) if ratio > 0 else 1.0)
        inside.append(within & (chance[-1] <= LEVEL))
    nothing = (float("nan"), float("nan"))
    measures = agreement(inside[0], inside[1], households.weights) if inside[0].any() else nothing
    return KeptCluster(len(points), len(_placed(released)), chance[0], chance[1], *measures)


def _placed(places: np.ndarray) -> np.ndarray:
    return places[np.isfinite(places).all(axis=1)]
