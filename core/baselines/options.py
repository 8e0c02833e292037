"""What every baseline is called with, and how its crosswalk becomes an aggregation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import numpy as np

from ..aggregation import Aggregation
from ..areas import Areas
from ..crosswalk import number_compactly
from ..dataclass import dataclass
from ..parameters import DEFAULT_K

LONGEST_BORDER, NEAREST, SMALLEST = "longest border", "nearest", "smallest population"
NEIGHBOUR_CHOICES = (LONGEST_BORDER, NEAREST, SMALLEST)
JOIN, LEAVE = "join the nearest", "leave alone"
ISLAND_CHOICES = (JOIN, LEAVE)


@dataclass(frozen=True)
class BaselineOptions:
    """Settings of the baselines; each reads those it needs.

    cutoff : the population a region needs
    characters : how many leading characters of an identifier are kept
    leave_out : how many last characters of it are left out instead; 0 where `characters` counts
    hierarchy : (n,) labels, the larger unit each area lies in; None where it is not known
    neighbour : which neighbour a region is merged with, one of NEIGHBOUR_CHOICES
    islands : what is done with a region that has no neighbour, one of ISLAND_CHOICES
    boundary : (n,) labels; areas of different labels are never merged; None where there is no such boundary
    most : the population a merge may not exceed, 0 for no limit
    k : the smallest class allowed; budget : records that may be suppressed, per cent: for merging until k-anonymous
    """

    cutoff: float = 70_000.0
    characters: int = 4
    leave_out: int = 0
    hierarchy: Sequence[object] | None = field(default=None, compare=False)
    neighbour: str = LONGEST_BORDER
    islands: str = JOIN
    boundary: Sequence[object] | None = field(default=None, compare=False)
    most: float = 0.0
    k: int = DEFAULT_K
    budget: float = 1.0


DEFAULTS = BaselineOptions()


def aggregation_of_labels(areas: Areas, labels: np.ndarray, notes: tuple[str, ...] = ()) -> Aggregation:
    """The aggregation in which areas of one label (n,) are one region, measured from its mean centre.

    Negative labels are left out; the regions are numbered in ascending order of label.
    """
    crosswalk, _ = number_compactly(labels)
    return Aggregation(crosswalk, crosswalk.mean_centres(areas.points), notes)
