"""What groups of cells must reach, what a partition is rated by (Bjerre-Nielsen & Gandil 2018)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import shapely

from ..crosswalk import Crosswalk
from ..dataclass import dataclass
from ..elementary import norms
from ..errors import InputError, first_values
from .cells import PARTS, Cells

# Bits of a column in a packed population.
LANE = 64


@dataclass(frozen=True)
class Minimum:
    """At least k people in each of these columns of the population, one column per year."""

    columns: tuple[int, ...]
    k: float
    label: str = "population"


def checked_minimums(cells: Cells, minimums: Sequence[Minimum]) -> None:
    """Raises InputError where a minimum is not positive, has no fields, or none is given."""
    if not minimums:
        raise InputError.saying("No minimum is given: choose POPULATIONS and K.")
    for minimum in minimums:
        if not minimum.columns:
            raise InputError.saying(
                "The minimum for {label} has no fields: choose at least one field, one per year.", label=minimum.label
            )
        if not minimum.k > 0:
            raise InputError.saying(
                "The minimum for {label} is {k}: give a number above 0.", label=minimum.label, k=minimum.k
            )
        if not cells.population[:, list(minimum.columns)].any():
            names = first_values([cells.fields[column] for column in minimum.columns])
            raise InputError.saying(
                "Nobody lives in any cell by the fields {names}: choose the fields of {label}.",
                names=names,
                label=minimum.label,
            )


def weights_of(cells: Cells, minimums: Sequence[Minimum]) -> np.ndarray:
    """What a cell counts for in the measures, (n,) float: n_j of Bjerre-Nielsen & Gandil 2018, Eqs. 1 and 3.

    With several years their n_j is a vector; here it is its sum: the person-years of the first minimum's fields.
    """
    return cells.population[:, list(minimums[0].columns)].sum(axis=1)


class PackedMinimums:
    """The minimums of a partition, ready to be checked against packed totals.

    A packed population is a single number: one addition adds all years, one comparison checks all minimums. Each column
    has a lane of 64 bits in a Python integer. Totals stay far below a lane's top bit, so lanes never run into each
    other, and the top bits are free to show which lanes reach their minimum.

    empty_years : whether a group may have nobody in a year (a year without people gives nobody away).
    """

    def __init__(self, minimums: Sequence[Minimum], empty_years: bool = False) -> None:
        self.columns = [column for minimum in minimums for column in minimum.columns]
        needed = [int(np.ceil(minimum.k * PARTS)) for minimum in minimums for _ in minimum.columns]
        lanes = range(len(self.columns))
        self._top = sum(1 << (LANE * lane + LANE - 1) for lane in lanes)
        self._ones = sum(1 << (LANE * lane) for lane in lanes)
        self._needed = sum(k << (LANE * lane) for lane, k in zip(lanes, needed))
        self.empty_years = empty_years

    def pack(self, cells: Cells) -> list[int]:
        """Each cell's population as one integer, n values."""
        units = np.ascontiguousarray(cells.population[:, self.columns] * PARTS).astype("<i8")
        return [int.from_bytes(row.tobytes(), "little") for row in units]

    def enough(self, total: int) -> bool:
        """Whether a total reaches every minimum in every year (but the empty ones, where those are allowed)."""
        top = self._top
        reached = ((total | top) - self._needed) & top
        if reached == top:
            return True
        return self.empty_years and total > 0 and not ((total | top) - self._ones) & top & ~reached

    def may_hold_group(self, total: int) -> bool:
        """Whether some of the cells of this total might reach the minimums: False only where none can."""
        reached = ((total | self._top) - self._needed) & self._top
        return reached != 0 if self.empty_years else reached == self._top


@dataclass(frozen=True)
class PartitionMeasures:
    """non_pop : share of the people left out; weighted_dist : mean diagonal, in cells; loss : nearer to 0 is better."""

    n_groups: int
    non_pop: float
    weighted_dist: float
    loss: float


def diagonals(boxes: np.ndarray, crosswalk: Crosswalk) -> np.ndarray:
    """Diagonal of each group's bounding box, in cells, (n_groups,): Eq. 2. boxes : (n, 4) of the cells."""
    inside = np.flatnonzero(crosswalk.region_of >= 0)
    groups = crosswalk.region_of[inside]
    low = np.full((crosswalk.n_regions, 2), np.inf)
    high = np.full((crosswalk.n_regions, 2), -np.inf)
    np.minimum.at(low, groups, boxes[inside, :2])
    np.maximum.at(high, groups, boxes[inside, 2:])
    return norms(high - low)


def loss_of(distance: float, taken: float, everyone: float, beta: float) -> float:
    """L = -β · non_pop - (1 - β) · weighted_dist: Eq. 4 in the form that gives the paper's Table 1.

    distance : Σ_p dist_p · people of p; taken : people in groups; everyone : all people. As printed, the equation
    weights non_pop by 1 and weighted_dist by β, which gives none of the table's three losses.
    """
    left_out = 1.0 - taken / everyone if everyone else 0.0
    mean = distance / taken if taken else 0.0
    return -beta * left_out - (1.0 - beta) * mean


def measure_partition(
    cells: Cells, minimums: Sequence[Minimum], crosswalk: Crosswalk, beta: float
) -> PartitionMeasures:
    """The measures of a partition; people are counted as person-years of the first minimum's fields."""
    weights = weights_of(cells, minimums)
    people = crosswalk.totals(weights)
    distance = float((diagonals(cells.boxes, crosswalk) * people).sum())
    everyone, taken = float(weights.sum()), float(people.sum())
    return PartitionMeasures(
        crosswalk.n_regions,
        1.0 - taken / everyone,
        distance / taken if taken else 0.0,
        loss_of(distance, taken, everyone, beta),
    )


@dataclass(frozen=True, eq=False)
class GroupDescriptions:
    """Arrays of length n_groups, in the order of the crosswalk (Bjerre-Nielsen & Gandil 2018, Table 2, 4.1).

    cells : number of cells; population : (n_groups, m), people by field; least : (n_groups, minimums), the smallest
    of each minimum's fields; people : mean of the first minimum's fields; area_km2; density : people per km²;
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


def describe_groups(
    cells: Cells, minimums: Sequence[Minimum], crosswalk: Crosswalk, shapes: np.ndarray
) -> GroupDescriptions:
    """Describe the groups. shapes : (n,) polygons of the cells in planar metres."""
    population = np.column_stack([crosswalk.totals(column) for column in cells.population.T])
    people = population[:, list(minimums[0].columns)].mean(axis=1)
    square = crosswalk.totals(shapely.area(shapes))
    hull = hull_areas(shapes, crosswalk)
    return GroupDescriptions(
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
