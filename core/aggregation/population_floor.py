"""Population floor: as many compact regions in one piece as possible, every one with at least a given population."""

from __future__ import annotations

import numpy as np

from ..adjacency import Adjacency, adjacency_of_pairs
from ..areas import Areas
from ..errors import InputError
from ..language import plural
from ..neighbours import neighbours_of
from ..parameters import FLOOR
from ..profile import Profile
from ..progress import Progress, part, silent
from ..scientific import spatial
from ..voronoi import mean_centres
from .cuts import Territory, cut
from .exchanges import exchange
from .options import DEFAULTS, Aggregation, AggregationOptions, aggregation_by_site

LOST_IN_SUMS = 1e-15  # of a sum: a smaller part of it changes nothing


def population_floor(
    areas: Areas,
    profile: Profile | None,
    n_sites: int,
    options: AggregationOptions = DEFAULTS,
    progress: Progress = silent,
) -> Aggregation:
    """As many regions as possible, each in one piece and with at least the floor's population (the max-p-regions
    problem of Duque, Anselin and Rey 2012).

    The map is cut again and again while both sides keep the floor, then areas are exchanged along the borders: nothing
    is grown that could be left over. areas : n areas with their neighbours; n_sites : sets the floor where
    `options.floor` is 0, to an even share of the population. Every region is in one piece and at or above the floor;
    the sites are the mean centres. A part of the map below the floor, such as an island, joins the nearest area across
    the gap.
    Raises InputError for a floor below 0 or above the whole population, and where nobody lives, as in a part of areas.
    """
    total = float(areas.population.sum())
    FLOOR.check(options.floor)
    if not total:
        raise InputError.saying("POPULATION is 0 in every area: choose another field or leave it empty.")
    floor = options.floor or total / max(n_sites, 1)
    if 0 < floor < total:
        # What is less than the people of any area, or gets lost in a sum of all, asks for no more than these.
        floor = max(floor, float(areas.population[areas.population > 0].min()), total * LOST_IN_SUMS)
    if floor > total * (1 + 1e-12):
        raise InputError.counting(
            "FLOOR is {floor:g}, but all areas together have {n:g} person: choose a lower one.",
            "FLOOR is {floor:g}, but all areas together have {n:g} people: choose a lower one.",
            total,
            floor=floor,
        )
    adjacency, n_bridged = bridged(areas, neighbours_of(areas), floor)
    progress(0.1)
    first, second = adjacency.pairs()
    # Metres near the origin: the sums of squares keep their digits.
    territory = Territory(areas.points - areas.points.mean(axis=0), areas.population, first, second, floor)
    region_of = cut(territory, adjacency.components(), part(progress, 0.1, 0.6))
    region_of = exchange(areas, adjacency, region_of, floor, part(progress, 0.6, 1.0))
    people = np.bincount(region_of, areas.population)
    sites = mean_centres(areas.points, region_of, len(people))
    notes = [
        plural(
            "Population floor made {n} region with a population of at least {floor:g} (the smallest "
            "has {people:g}); {total} would be the most if areas could be cut.",
            "Population floor made {n} regions with a population of at least {floor:g} (the smallest "
            "has {people:g}); {total} would be the most if areas could be cut.",
            len(people),
            floor=floor,
            people=people.min(),
            total=int(total / floor),
        )
    ]
    if n_bridged:
        notes.append(
            plural(
                "{n} part of the map, such as an island, has fewer people than the floor and joined "
                "the nearest area across the gap.",
                "{n} parts of the map, such as islands, have fewer people than the floor and joined "
                "the nearest area across the gap.",
                n_bridged,
            )
        )
    progress(1.0)
    return aggregation_by_site(region_of, sites, tuple(notes))


def bridged(areas: Areas, adjacency: Adjacency, floor: float) -> tuple[Adjacency, int]:
    """The adjacency with a bridge from each connected part below the floor to the nearest area elsewhere.

    Returns it and the number of bridges. Parts are bridged smallest first; in the end none is below the floor, as long
    as the whole is not.
    """
    component = adjacency.components()
    people = np.bincount(component, areas.population)
    members = np.split(np.argsort(component, kind="stable"), np.cumsum(np.bincount(component))[:-1])
    bridges: list[tuple[int, int]] = []
    while len(people) - len(bridges) > 1 and people.min() < floor:
        small = int(people.argmin())
        own = members[small]
        elsewhere = np.setdiff1d(np.arange(len(areas), dtype=np.int64), own)
        distance, nearest = spatial.cKDTree(areas.points[elsewhere]).query(areas.points[own])
        from_area, to_area = own[distance.argmin()], elsewhere[nearest[distance.argmin()]]
        bridges.append((int(from_area), int(to_area)))
        larger = int(component[to_area])
        component[own] = larger
        people[larger] += people[small]
        people[small] = np.inf
        members[larger] = np.concatenate([members[larger], own])
    if not bridges:
        return adjacency, 0
    first, second = adjacency.pairs()
    once = adjacency.owners < adjacency.others
    start, end = np.array(bridges, np.int64).T
    return (
        adjacency_of_pairs(
            np.concatenate([first, start]),
            np.concatenate([second, end]),
            np.concatenate([adjacency.borders[once], np.zeros(len(bridges))]),
            len(areas),
        ),
        len(bridges),
    )
