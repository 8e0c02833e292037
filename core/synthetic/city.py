"""The demonstration city: Prairie Junction, which does not exist, on open prairie in the south of Manitoba."""

from __future__ import annotations

import numpy as np
import shapely

from ..adjacency import Adjacency, connected_parts
from ..aggregation import AggregationOptions
from ..aggregation.iterative_voronoi import iterative_voronoi
from ..areas import Areas, make_areas
from ..arrays import to_list
from ..crosswalk import number_compactly
from ..dataclass import dataclass
from ..drawing import dissolve
from ..neighbours import polygon_neighbours
from ..progress import Progress, part, silent
from ..voronoi import voronoi_cells
from .city_people import city_dependents, city_distributions
from .distributions import stream
from .generator import POPULATION, SpatialTilt, SyntheticRecords, generate_records

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


def demonstration_city(seed: int = 0, progress: Progress = silent, n_areas: int | None = None) -> City:
    """Prairie Junction: about 1 100 areas and 600 000 people; every seed gives another city of that kind.

    Parameters
    ----------
    seed : int
        Of all draws.
    progress : callable, optional
        Is called with the fraction that is done.
    n_areas : int, optional
        About how many areas the same town has, with 400 to 700 people each; N_AREAS where None.

    Returns
    -------
    City
        Identifiers, polygons in metres of `CRS`, districts and people of n areas.

    Examples
    --------
    >>> from vbas.core.synthetic.city import demonstration_city
    >>> city = demonstration_city(seed=1, n_areas=40)
    >>> len(city.identifiers), str(city.identifiers[0]), int(city.population.sum())
    (50, '46990001', 21851)
    """
    rng = stream(seed, NAME)
    plan = draw_town_plan(rng, N_AREAS if n_areas is None else n_areas, part(progress, 0.0, 0.95))
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


SIDE = 36_000.0  # metres: the length that the river is drawn for
LIMITS = 14_500.0  # metres from the centre to the town limits, on average
STEP = 100.0  # metres: the grid on which the density of people is computed
BLOCKS_PER_AREA = 11
EVEN_ROUNDS = 2
RIVER_WIDTH = 170.0
RIVER_AREAS = 9
SLIVER = 5_000.0  # square metres: a smaller piece of a block, cut off by the river, joins its neighbour
GRID = 0.1  # metres: coordinates are whole multiples of this


@dataclass(frozen=True, eq=False)
class TownPlan:
    """Areas that share their borders exactly, in metres around the middle of the town.

    polygons : (n,) object array of polygons; water : (n,) bool, the areas of the river
    centres : (n, 2), a point inside each area
    """

    polygons: np.ndarray
    water: np.ndarray
    centres: np.ndarray


def draw_town_plan(rng: np.random.Generator, n_areas: int, progress: Progress = silent) -> TownPlan:
    """A town of about n_areas areas: small ones in the middle, large ones at the edge, a river across.

    Blocks are the Voronoi cells of points drawn where people live. Areas are made of blocks, as census areas are, so
    that their borders run along streets and banks and never across the river.
    """
    limits = _limits(rng)
    blocks = _blocks(rng, n_areas * BLOCKS_PER_AREA, limits)
    river_line = _river_line(rng)
    river = shapely.intersection(shapely.buffer(river_line, RIVER_WIDTH / 2, quad_segs=3), limits)
    progress(0.3)
    faces = _faces(blocks, river)
    points = shapely.get_coordinates(shapely.point_on_surface(faces))
    shapely.prepare(river)
    water = shapely.contains_xy(river, points)
    neighbours = polygon_neighbours(faces, progress=part(progress, 0.3, 0.6))
    first, second = neighbours.pairs()
    same_kind = water[first] == water[second]
    first, second = first[same_kind], second[same_kind]
    side = connected_parts(first, second, len(faces))
    banks = np.argsort(-np.bincount(side[~water]), kind="stable")[:2]
    stretch = np.bincount(side[water]).argmax()
    labels: np.ndarray = np.full(len(faces), -1, np.int64)
    for number, bank in enumerate(to_list(banks)):
        own = side == bank
        wanted = round(n_areas * own.sum() / np.isin(side, banks).sum())
        labels[own] = number * n_areas + _areas_of_blocks(rng, points[own], wanted)
    labels[side == stretch] = 2 * n_areas + _river_stretch(river_line, points[side == stretch])
    slivers = (shapely.area(faces) < SLIVER) & ~water & (labels >= 0)
    labels = _with_their_neighbours(labels, slivers, neighbours, water)
    # What the river leaves in several pieces is several areas.
    together = labels[first] == labels[second]
    labels = np.where(labels < 0, -1, connected_parts(first[together], second[together], len(faces)))
    crosswalk, _ = number_compactly(labels)
    polygons = shapely.normalize(dissolve(faces, crosswalk, part(progress, 0.7, 1.0)))
    centres = shapely.get_coordinates(shapely.point_on_surface(polygons))
    return TownPlan(polygons, shapely.contains_xy(river, centres), centres)


def _limits(rng: np.random.Generator) -> shapely.Polygon:
    """The town limits: a circle with waves."""
    angle = np.linspace(0, 2 * np.pi, 361)[:-1]
    phase = rng.uniform(0, 2 * np.pi, 3)
    radius = LIMITS * (1 + sum(0.05 * np.sin(n * angle + p) for n, p in zip((2, 3, 5), phase)))
    return shapely.Polygon(np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]))


def _blocks(rng: np.random.Generator, n_blocks: int, limits: shapely.Polygon) -> np.ndarray:
    """The Voronoi cells of points that lie as densely as people live, (n_blocks,) polygons within the limits."""
    steps = np.arange(-1.2 * LIMITS, 1.2 * LIMITS, STEP, dtype=float)
    grid = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    shapely.prepare(limits)
    grid = grid[shapely.contains_xy(limits, grid)]
    density = _density(rng, grid)
    drawn = grid[rng.choice(len(grid), n_blocks, p=density / density.sum())]
    points = drawn + rng.uniform(-STEP / 2, STEP / 2, drawn.shape)
    for _ in range(EVEN_ROUNDS):
        # Rounded, so that the town is the same whatever version of GEOS draws the cells.
        points = np.round(shapely.get_coordinates(shapely.centroid(voronoi_cells(points, limits))) / GRID) * GRID
    return voronoi_cells(points, limits)


def _density(rng: np.random.Generator, points: np.ndarray) -> np.ndarray:
    """Relative density of people at points (m, 2), (m,): most in the middle, with a few second centres, unevenly."""
    angles = rng.uniform(0, 2 * np.pi, 5) + np.arange(5, dtype=np.int64) * 2 * np.pi / 5
    away = rng.uniform(4_000, 8_000, 5)
    waves = np.column_stack([rng.normal(0, 1 / 3_000, (6, 2)), rng.uniform(0, 2 * np.pi, 6)])
    peaks = np.column_stack([away * np.cos(angles), away * np.sin(angles)])
    distance = np.hypot(*points.T)
    core = np.exp(-distance / 2_600)
    second = np.exp(-np.hypot(*(points[:, None] - peaks).transpose(2, 0, 1)) / 1_300).sum(axis=1)
    uneven = np.exp(0.35 * np.cos(points @ waves[:, :2].T + waves[:, 2]).sum(axis=1) / np.sqrt(3))
    suburbs = 1 / (1 + np.exp((distance - 9_500) / 600))
    return (core + 0.12 * second + 0.05 * suburbs) * uneven + 0.005


def _river_line(rng: np.random.Generator) -> shapely.LineString:
    """A meandering line across the whole square, passing a little to the side of the middle.

    A sine-generated curve: the river's heading, not its position, swings like a sine along its course.
    """
    step = 40.0
    along = np.arange(-1.1 * SIDE, 1.1 * SIDE, step, dtype=float)
    phase = rng.uniform(0, 2 * np.pi, 3)
    swing = 0.95 + 0.25 * np.sin(along / 2_900 + phase[0])
    heading = swing * np.sin(2 * np.pi * along / 4_300 + phase[1]) + 0.25 * np.sin(along / 2_100 + phase[2])
    heading += np.deg2rad(rng.uniform(50, 75))
    course = np.cumsum(step * np.column_stack([np.cos(heading), np.sin(heading)]), axis=0)
    middle = len(along) // 2
    aside = 700.0 * np.array([-np.sin(heading[middle]), np.cos(heading[middle])])
    # Towns were founded on a bank: the river passes 700 m from the middle.
    return shapely.LineString(course - course[middle] + aside)


def _faces(blocks: np.ndarray, river: shapely.Polygon) -> np.ndarray:
    """Streets and banks cut the plan into faces, polygons with identical shared edges."""
    noded = shapely.union_all(shapely.boundary(np.append(blocks, river)), grid_size=GRID)
    faces = shapely.get_parts(shapely.polygonize(shapely.get_parts(noded)))
    return faces[np.lexsort(shapely.bounds(faces).T)]


def _areas_of_blocks(rng: np.random.Generator, points: np.ndarray, n_areas: int) -> np.ndarray:
    """The area of each block, (m,): blocks join the nearest of n_areas centres that spread as the blocks do."""
    blocks = make_areas(range(len(points)), points, in_metres=True)
    centres = points[rng.choice(len(points), n_areas, replace=False)]
    return iterative_voronoi(blocks, None, centres, AggregationOptions()).crosswalk.region_of


def _with_their_neighbours(
    labels: np.ndarray, slivers: np.ndarray, neighbours: Adjacency, water: np.ndarray
) -> np.ndarray:
    """Labels in which each sliver has that of the neighbour on its bank with which it shares the longest border."""
    owners, others = neighbours.owners, neighbours.others
    joins = slivers[owners] & ~slivers[others] & ~water[others]
    order = np.argsort(neighbours.borders[joins], kind="stable")  # what is written last counts
    labels = labels.copy()
    labels[owners[joins][order]] = labels[others[joins][order]]
    return labels


def _river_stretch(river_line: shapely.LineString, points: np.ndarray) -> np.ndarray:
    """Which stretch of the river each point lies in, numbered downstream, (m,)."""
    along = shapely.line_locate_point(river_line, shapely.points(points))
    reach = np.linspace(along.min(), along.max(), RIVER_AREAS + 1)
    return np.searchsorted(reach[1:-1], along)
