"""Component 3, which region joins which site: a file per approach, `APPROACHES` by the words the user sees.

An approach is called as `approach(regions, sites, options, progress)` and returns an `Aggregation`.
Those in OWN_SITES choose their own sites: they are given the number of sites in place of the sites. Those in
CAPACITATED read the capacity factor; those in CONTIGUOUS look at the regions' neighbours.
"""

from __future__ import annotations

from typing import Callable

from .alternating_location_allocation import alternating_location_allocation
from .basic_voronoi import basic_voronoi
from .iterative_voronoi import iterative_voronoi
from .options import Aggregation, AggregationOptions
from .population_floor import population_floor
from .site_optimisation import site_optimisation
from .transportation_location import transportation_location

__all__ = ["APPROACHES", "CAPACITATED", "CONTIGUOUS", "OWN_SITES", "Aggregation", "AggregationOptions"]

APPROACHES: dict[str, Callable[..., Aggregation]] = {
    "basic Voronoi": basic_voronoi,
    "iterative Voronoi": iterative_voronoi,
    "site optimisation": site_optimisation,
    "alternating location-allocation": alternating_location_allocation,
    "transportation-location": transportation_location,
    "population floor": population_floor,
}
CAPACITATED = {"alternating location-allocation", "transportation-location"}
CONTIGUOUS = {"population floor"}
OWN_SITES = CAPACITATED | CONTIGUOUS
