"""How much elongated areas distort: what distances from one point of each area miss.

    python benchmarks/elongated_areas.py

In Winnipeg, Ottawa and California places are drawn evenly within each area. For areas that distort
(`core.elongation.distorting`), for other elongated ones, and for all others: how far the places are from the site of
their region, in % of what the area's point says; and how many of them are nearer to the site of another region. Sites
by balanced density, joined by iterative Voronoi, at several numbers of areas per region. That people live evenly within
an area is an assumption. Data: Statistics Canada, US Census Bureau.
"""

from __future__ import annotations

import numpy as np
import shapely

from vbas.benchmarks.real_areas import areas, polygons
from vbas.core.aggregation import APPROACHES as AGGREGATIONS
from vbas.core.elongation import ELONGATED, distorting, outlines_of
from vbas.core.site_location import APPROACHES as LOCATIONS
from vbas.core.voronoi import nearest_site

PLACES = 30  # in each area
AREAS_PER_REGION = (3, 10, 30, 100)


def places_within(shapes: np.ndarray, seed: int = 0) -> np.ndarray:
    """Places drawn evenly within each shape, (n, PLACES, 2)."""
    rng = np.random.default_rng(seed)
    places = np.empty((len(shapes), PLACES, 2))
    shapely.prepare(shapes)
    for i, shape in enumerate(shapes):
        low, high = np.array(shape.bounds[:2]), np.array(shape.bounds[2:])
        kept = np.empty((0, 2))
        while len(kept) < PLACES:
            drawn = rng.uniform(low, high, (50 * PLACES, 2))
            kept = np.vstack([kept, drawn[shapely.contains_xy(shape, drawn)]])
        places[i] = kept[:PLACES]
    return places


def elongated_areas(name: str) -> None:
    """Print a row for each number of areas per region and kind of area."""
    town, shapes = areas(name), polygons(name)
    town = town.with_population(np.ones(len(town)))  # areas count alike: some have no people
    outlines, places = outlines_of(shapes), places_within(shapes)
    for each in AREAS_PER_REGION:
        sites = LOCATIONS["balanced density"](town, None, len(town) // each).sites
        joined = AGGREGATIONS["iterative Voronoi"](town, None, sites)
        region_of = joined.crosswalk.region_of
        own = joined.sites[region_of]
        by_point = np.hypot(*(town.points - own).T)
        by_place = np.hypot(*np.moveaxis(places - own[:, None], 2, 0))
        elsewhere = nearest_site(places.reshape(-1, 2), joined.sites).reshape(-1, PLACES) != region_of[:, None]
        distorts, elongated = distorting(outlines, joined.crosswalk), outlines.elongation > ELONGATED
        kinds = {"distorting": distorts, "elongated only": elongated & ~distorts, "others": ~elongated}
        for kind, those in kinds.items():
            if those.any():
                distance = 100 * by_place[those].mean() / max(by_point[those].mean(), 1e-9)
                away = 100 * elsewhere[those].mean()
                print(f"| {name} | {each} | {kind} | {those.sum()} | {distance:.0f} | {away:.1f} |", flush=True)


if __name__ == "__main__":
    print("| where | areas per region | areas | how many | distance, % of that measured | places nearer elsewhere, % |")
    print("|---|---|---|---|---|---|")
    for name in ("Winnipeg", "Ottawa", "California"):
        elongated_areas(name)
