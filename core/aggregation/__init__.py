"""Component 3, which area joins which site: a file per approach, `APPROACHES` by the words the user sees.

An approach is called as `approach(areas, profile, sites, options, progress)`, or with the number of sites in place of
the sites where it chooses its `own_sites`, and returns an `Aggregation`; `settings` are fields of `AggregationOptions`.
The profile may be None for those that do not look at it.
"""

from __future__ import annotations

from ..approach import Approach
from .alternating_location_allocation import alternating_location_allocation
from .anonymity_exchange import anonymity_exchange
from .basic_voronoi import basic_voronoi
from .iterative_voronoi import iterative_voronoi
from .options import Aggregation, AggregationOptions
from .population_floor import population_floor
from .site_optimisation import site_optimisation
from .transportation_location import transportation_location

__all__ = ["APPROACHES", "Aggregation", "AggregationOptions"]

TRANSPORT = ("capacity_factor", "start_sites")

APPROACHES: dict[str, Approach[Aggregation]] = {
    "basic Voronoi": Approach(basic_voronoi),
    "iterative Voronoi": Approach(iterative_voronoi),
    "site optimisation": Approach(site_optimisation),
    "alternating location-allocation": Approach(alternating_location_allocation, TRANSPORT, own_sites=True),
    "transportation-location": Approach(transportation_location, TRANSPORT, own_sites=True),
    "population floor": Approach(population_floor, ("floor",), own_sites=True, neighbours=True),
    "anonymity exchange": Approach(
        anonymity_exchange,
        ("k", "seed", "budget", "class_weights"),
        neighbours=True,
        uses_attribute_counts=True,
        starts_from="iterative Voronoi",
    ),
}
