"""What a partition is rated by: non_pop, weighted_dist, loss (Bjerre-Nielsen & Gandil 2018, Eqs. 1 to 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..crosswalk import Crosswalk
from .cells import Cells, Minimum, weights_of


@dataclass(frozen=True)
class PartitionMeasures:
    """non_pop : share of the people left out; weighted_dist : mean diagonal, in cells; loss : nearer to 0 is better."""

    n_groups: int
    non_pop: float
    weighted_dist: float
    loss: float


def diagonals(boxes: np.ndarray, crosswalk: Crosswalk) -> np.ndarray:
    """Diagonal of each group's bounding box, in cells, (n_groups,): Eq. 2. boxes : (n, 4) of the cells."""
    inside = np.flatnonzero(crosswalk.region_of >= 0)
    groups = crosswalk.region_of[inside]
    low = np.full((crosswalk.n_regions, 2), np.inf)
    high = np.full((crosswalk.n_regions, 2), -np.inf)
    np.minimum.at(low, groups, boxes[inside, :2])
    np.maximum.at(high, groups, boxes[inside, 2:])
    return np.hypot(*(high - low).T)


def loss_of(distance: float, taken: float, everyone: float, beta: float) -> float:
    """L = -β · non_pop - (1 - β) · weighted_dist: Eq. 4 in the form that gives the paper's Table 1.

    distance : Σ_p dist_p · people of p; taken : people in groups; everyone : all people. As printed, the equation
    weighs non_pop by 1 and weighted_dist by β, which none of the table's three losses follows from.
    """
    left_out = 1.0 - taken / everyone if everyone else 0.0
    mean = distance / taken if taken else 0.0
    return -beta * left_out - (1.0 - beta) * mean


def measure(cells: Cells, minimums: Sequence[Minimum], crosswalk: Crosswalk, beta: float) -> PartitionMeasures:
    """The measures of a partition; people are counted as person-years of the first minimum's fields."""
    weights = weights_of(cells, minimums)
    people = crosswalk.totals(weights)
    distance = float((diagonals(cells.boxes, crosswalk) * people).sum())
    everyone, taken = float(weights.sum()), float(people.sum())
    return PartitionMeasures(
        crosswalk.n_regions,
        1.0 - taken / everyone,
        distance / taken if taken else 0.0,
        loss_of(distance, taken, everyone, beta),
    )
