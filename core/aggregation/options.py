"""What every aggregation is called with, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..crosswalk import Crosswalk, number_compactly


@dataclass(frozen=True)
class AggregationOptions:
    """Settings of the aggregations; each approach reads those it needs.

    capacity_factor : how far a transport heuristic may load a facility beyond an even share; 0 is unlimited.
    start_sites : (S, 2) the sites a transport heuristic starts from, None for those of its own seeding
    centre : where a transport heuristic moves a site, to the "mean centre" of its areas as the paper does, or to their
        "geometric median", which does minimise the sum of the distances.
    floor : the population every region of `population floor` needs; 0 is an even share of the whole.
    """

    capacity_factor: float = 0.0
    start_sites: np.ndarray | None = field(default=None, compare=False)
    centre: str = "mean centre"
    floor: float = 0.0


@dataclass(frozen=True, eq=False)
class Aggregation:
    """A crosswalk, the site of each aggregated region, (crosswalk.n_regions, 2), and sentences for the report."""

    crosswalk: Crosswalk
    sites: np.ndarray
    notes: tuple[str, ...] = ()


def aggregation_by_site(site_of: np.ndarray, sites: np.ndarray, notes: tuple[str, ...] = ()) -> Aggregation:
    """The aggregation in which area i belongs to site site_of[i]; sites without members are dropped."""
    crosswalk, labels = number_compactly(site_of)
    return Aggregation(crosswalk, sites[labels], notes)
