"""The demonstration city: Prairie Junction, which does not exist, on open prairie in the south of Manitoba.

Streets, river, areas and people are made up from a seed. The identifiers begin with Manitoba's province code and a
census division, 99, that Manitoba does not have, so that no area can be taken for a real one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely

from ..areas import Areas, make_areas
from ..progress import Progress, part, silent
from .city_people import city_dependents, city_distributions
from .generator import POPULATION, SyntheticRecords, generate_records
from .sampler import stream
from .spatial_tilt import SpatialTilt
from .town_plan import draw_town_plan

NAME = "Prairie Junction"
CRS = "EPSG:26914"
CENTRE = (594_000.0, 5_463_000.0)
PREFIX = "4699"
N_AREAS = 1_100
RIVER = "river"
ATTRIBUTES = ("age_group", "sex", "marital_status", "ethnicity", "education", "household_income")
SENSITIVE = "diagnosis"

# Strength and reach in metres of the differences within a district.
TILT = (0.35, 2_500.0)

# Metres from the middle at which one ring of districts ends and the next begins.
CENTRE_ENDS, INNER_ENDS, OUTER_ENDS = 1_500.0, 4_600.0, 9_600.0


@dataclass(frozen=True, eq=False)
class City:
    """The areas of a city, n of them, and how many live in each.

    identifiers : (n,) object array of str, eight digits, unique, ascending from north to south
    polygons : (n,) object array, a coverage without gaps or overlaps, metres in CRS
    districts : (n,) object array of str
    population : (n,) int64, 400 to 700 people, 0 in the river
    seed : of the plan and the people
    """

    identifiers: np.ndarray
    polygons: np.ndarray
    districts: np.ndarray
    population: np.ndarray
    seed: int

    def __len__(self) -> int:
        return len(self.identifiers)

    def areas(self) -> Areas:
        """The areas with their centroids."""
        return make_areas(
            self.identifiers.tolist(), shapely.get_coordinates(shapely.centroid(self.polygons)), self.population
        )

    def people(self) -> SyntheticRecords:
        """A record for each inhabitant: ATTRIBUTES, and SENSITIVE carried along."""
        inhabited = self.population > 0
        centroids = shapely.get_coordinates(shapely.centroid(self.polygons[inhabited]))
        return generate_records(
            self.identifiers[inhabited],
            self.districts[inhabited],
            city_distributions(),
            self.population[inhabited],
            self.seed,
            dependents=city_dependents(),
            tilt=SpatialTilt(centroids, *TILT),
        )


def demonstration_city(seed: int = 0, progress: Progress = silent) -> City:
    """Prairie Junction: about 1 100 areas and 600 000 people; every seed gives another city of that kind."""
    rng = stream(seed, NAME)
    plan = draw_town_plan(rng, N_AREAS, part(progress, 0.0, 0.95))
    districts = _districts(rng, plan.centres)
    districts[plan.water] = RIVER
    population = rng.integers(*POPULATION, len(plan.polygons), endpoint=True)
    population[plan.water] = 0
    # Numbered in bands of a kilometre from the north, eastwards in each, as a census numbers its areas.
    band = np.floor(-plan.centres[:, 1] / 1_000)
    order = np.lexsort((plan.centres[:, 0], band))
    identifiers = np.array([f"{PREFIX}{number:04d}" for number in range(1, len(order) + 1)], dtype=object)
    # Placed and rounded once more, so that a shared corner stays one point.
    polygons = shapely.transform(plan.polygons[order], lambda xy: np.round(xy + CENTRE, 2))
    progress(1.0)
    return City(identifiers, polygons, districts[order], population[order], seed)


def _districts(rng: np.random.Generator, centres: np.ndarray) -> np.ndarray:
    """The district of each area by where it lies, (n,): rings with wavy borders, a north end, a university."""
    x, y = centres.T
    angle = np.arctan2(y, x)
    phase = rng.uniform(0, 2 * np.pi, 3)
    distance = np.hypot(x, y) * (1 + sum(0.06 * np.sin(n * angle + p) for n, p in zip((2, 3, 5), phase)))
    ring = np.searchsorted([CENTRE_ENDS, INNER_ENDS, OUTER_ENDS], distance)
    districts = np.array(["centre", "inner suburb", "outer suburb", "rural"], dtype=object)[ring]
    northward = np.abs(angle - np.pi / 2) < np.deg2rad(50)
    districts[(ring == 1) & northward] = "north end"
    side = rng.uniform(-0.75, -0.25) * np.pi
    campus = 3_600 * np.array([np.cos(side), np.sin(side)])
    districts[(np.hypot(x - campus[0], y - campus[1]) < 1_300) & (ring > 0)] = "university"
    return districts
