"""What every aggregation is called with, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..convergence import Convergence
from ..crosswalk import Crosswalk, number_compactly


@dataclass(frozen=True)
class AggregationOptions:
    """Settings of the aggregations; each approach reads those it needs.

    capacity_factor : how far a transport heuristic may load a facility beyond an even share; 0 is unlimited.
    floor : the population every region of `population floor` needs; 0 is an even share of the whole.
    """

    capacity_factor: float = 0.0
    floor: float = 0.0


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
