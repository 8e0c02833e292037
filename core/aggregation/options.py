"""What every aggregation is called with, and what it gives back."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from ..convergence import Convergence
from ..crosswalk import Crosswalk, number_compactly
from ..dataclass import dataclass
from ..parameters import DEFAULT_K


@dataclass(frozen=True)
class AggregationOptions:
    """Settings of the aggregations; each approach reads those it needs.

    capacity_factor : how far a transport heuristic may load a facility beyond an even share; 0 is unlimited.
    floor : the population every region of `population floor` needs; 0 is an even share of the whole.
    k : the smallest class that is released; seed : of every random draw
    budget : records that may be suppressed, per cent; None for as many as the start of an exchange suppresses
    start_sites : (x, y) in the units of the points, where a transport heuristic starts; none for its own seeding.
    class_weights : (C,) what a suppressed record of each class weighs; None for 1 each.
    period : the quasi-identifier that says the period, where classes are to be the same in all periods; empty for none
    """

    capacity_factor: float = 0.0
    floor: float = 0.0
    k: int = DEFAULT_K
    seed: int = 0
    budget: float | None = None
    start_sites: tuple[tuple[float, float], ...] = ()
    class_weights: np.ndarray | None = field(default=None, compare=False)
    period: str = ""


DEFAULTS = AggregationOptions()


@dataclass(frozen=True, eq=False)
class Aggregation:
    """A crosswalk, the site of each aggregated region, (crosswalk.n_regions, 2); sentences, and how the method came to
    rest, for the report."""

    crosswalk: Crosswalk
    sites: np.ndarray
    notes: tuple[str, ...] = ()
    convergence: tuple[Convergence, ...] = ()


def aggregation_by_site(
    site_of: np.ndarray, sites: np.ndarray, notes: tuple[str, ...] = (), convergence: tuple[Convergence, ...] = ()
) -> Aggregation:
    """The aggregation in which area i belongs to site site_of[i]; sites without members are dropped."""
    crosswalk, labels = number_compactly(site_of)
    return Aggregation(crosswalk, sites[labels], notes, convergence)
