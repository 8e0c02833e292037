"""What each group of a partition is like: people over the years, density, shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from ..crosswalk import Crosswalk
from .cells import Cells, Minimum
from .measures import diagonals


@dataclass(frozen=True, eq=False)
class Groups:
    """Arrays of length n_groups, in the order of the crosswalk (Bjerre-Nielsen & Gandil 2018, Table 2, 4.1).

    cells : number of cells; population : (n_groups, m), people by field; least : (n_groups, minimums), the least of
    each minimum's fields; people : mean of the first minimum's fields; area_km2; density : people per km²;
    area_hull : area over the area of the convex hull; sqrt_hull : √(hull area) in metres; diagonal : of the bounding
    box, in cells
    """

    cells: np.ndarray
    population: np.ndarray
    least: np.ndarray
    people: np.ndarray
    area_km2: np.ndarray
    density: np.ndarray
    area_hull: np.ndarray
    sqrt_hull: np.ndarray
    diagonal: np.ndarray


def describe_groups(cells: Cells, minimums: Sequence[Minimum], crosswalk: Crosswalk, shapes: np.ndarray) -> Groups:
    """The groups, described. shapes : (n,) polygons of the cells in planar metres."""
    population = np.column_stack([crosswalk.totals(column) for column in cells.population.T])
    people = population[:, list(minimums[0].columns)].mean(axis=1)
    square = crosswalk.totals(shapely.area(shapes))
    hull = hull_areas(shapes, crosswalk)
    return Groups(
        crosswalk.totals(np.ones(len(cells))).astype(np.int64),
        population,
        np.column_stack([population[:, list(minimum.columns)].min(axis=1) for minimum in minimums]),
        people,
        square / 1e6,
        people / (square / 1e6),
        np.minimum(square / hull, 1.0),
        np.sqrt(hull),
        diagonals(cells.boxes, crosswalk),
    )


def hull_areas(shapes: np.ndarray, crosswalk: Crosswalk) -> np.ndarray:
    """Area of the convex hull of each group, (n_groups,), in the units of the polygons (n,), squared."""
    points, owner = shapely.get_coordinates(shapes, return_index=True)
    group = crosswalk.region_of[owner]
    points, group = points[group >= 0], group[group >= 0]
    order = np.argsort(group, kind="stable")
    clouds = shapely.multipoints(points[order], indices=group[order])
    return shapely.area(shapely.convex_hull(clouds))
