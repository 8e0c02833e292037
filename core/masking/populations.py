"""Those a point is hidden among: people of its area and category, how evenly they are spread, households nearby."""

from __future__ import annotations

from itertools import chain

import numpy as np
import shapely

from .. import counted
from ..areas import MOST_PEOPLE, identifier_text
from ..arrays import to_list
from ..dataclass import dataclass
from ..errors import InputError, first_values, refuse_where
from ..language import tr
from ..progress import Progress, silent
from ..records.columns import Column
from ..scientific import spatial, stats
from .placing import NO_AREA, own_areas

NO_CATEGORY = -1
# At one address: of sums of more the small numbers around it would be lost.
MOST_HOUSEHOLDS = 1_000_000_000


@dataclass(frozen=True, eq=False)
class Populations:
    """People by area and category.

    counts : (m, c) float, not negative, 0 where missing; one column where there are no categories
    categories : c names, empty where there are none
    """

    counts: np.ndarray
    categories: tuple[str, ...] = ()

    def of_points(self, area_of: np.ndarray, category_of: np.ndarray | None = None) -> np.ndarray:
        """People of each point's area and category, (N,) float; 0 in no area, NaN where the category is missing.

        area_of : (N,) position of the area, -1 for none; category_of : (N,) column of `counts`, -1 for none.
        """
        column = np.zeros(len(area_of), np.int64) if category_of is None else category_of
        known = (area_of != NO_AREA) & (column != NO_CATEGORY)
        people = np.where(column == NO_CATEGORY, np.nan, 0.0)
        people[known] = self.counts[area_of[known], column[known]]
        return people


def make_populations(counts: np.ndarray, identifiers: np.ndarray, categories: tuple[str, ...] = ()) -> Populations:
    """Populations from the areas' fields, which are checked.

    counts : (m, c), NaN where missing; identifiers : (m,) of the areas, for messages.
    Raises InputError for a negative number, and for one beyond MOST_PEOPLE.
    """
    counts = np.asarray(counts, dtype=float).reshape(len(identifiers), -1)
    wrong = (counts > MOST_PEOPLE).any(axis=1)
    if wrong.any():
        raise InputError.counting(
            "POPULATION is above {most_people:g} in {n} area (first: {first}): correct the field or choose another.",
            "POPULATION is above {most_people:g} in {n} areas (first: {first}): correct the field or choose another.",
            int(wrong.sum()),
            most_people=MOST_PEOPLE,
            first=first_values(identifiers[wrong]),
        )
    negative = (counts < 0).any(axis=1)
    if negative.any():
        raise InputError.counting(
            "POPULATION is negative in {n} area (first: {first}): correct the field or choose another.",
            "POPULATION is negative in {n} areas (first: {first}): correct the field or choose another.",
            int(negative.sum()),
            first=first_values(identifiers[negative]),
        )
    return Populations(np.where(np.isfinite(counts), counts, 0.0), categories)


def categories_of(column: Column, categories: tuple[str, ...], field: str) -> np.ndarray:
    """Position of each point's category among `categories`, (N,) int64; -1 where it is missing.

    Raises InputError for values without a population.
    """
    position: dict[str | None, int] = {name: i for i, name in enumerate(categories)}
    values = to_list(column.categories)
    texts = [identifier_text(value) for value in values]
    codes = np.array([position.get(text, NO_CATEGORY) for text in texts], np.int64)
    unknown = [text for text, code in zip(texts, to_list(codes)) if text is not None and code == NO_CATEGORY]
    if unknown:
        raise InputError.saying(
            "CATEGORY_FIELD “{field}” has values without a population field ({first}): name one for each in "
            "CATEGORY_POPULATIONS, or give AREAS a field of that name.",
            field=field,
            first=first_values(unknown),
        )
    return codes[column.codes] if len(column) else np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Heterogeneity:
    """How unevenly people are spread in each of m areas.

    n_parts : (m,) int64, sub-areas; variance : (m,) of their densities, (people per km²)²; variation : (m,) standard
    deviation over mean, without unit; both NaN where there are fewer than two sub-areas, variation also where nobody
    lives
    """

    n_parts: np.ndarray
    variance: np.ndarray
    variation: np.ndarray


def heterogeneity(shapes: np.ndarray, finer_shapes: np.ndarray, finer_people: np.ndarray) -> Heterogeneity:
    """Variance of population density over the sub-areas of each area.

    shapes : (m,), finer_shapes : (f,) polygons in planar metres; finer_people : (f,) people, NaN counts as none. A
    sub-area belongs to the area that holds its point on surface.
    """
    inner_points = shapely.get_coordinates(shapely.point_on_surface(finer_shapes))
    area_of = own_areas(inner_points, shapes)
    inside = area_of != NO_AREA
    density = np.nan_to_num(finer_people[inside]) / (shapely.area(finer_shapes[inside]) / 1e6)
    owner, n = area_of[inside], len(shapes)
    parts = np.bincount(owner, minlength=n)
    enough = parts > 1
    divisor = np.where(enough, parts, 1)
    mean = np.bincount(owner, weights=density, minlength=n) / divisor
    variance = np.bincount(owner, weights=(density - mean[owner]) ** 2, minlength=n) / divisor
    variance = np.where(enough, variance, np.nan)
    variation = np.where(mean > 0, np.sqrt(variance) / np.where(mean > 0, mean, 1.0), np.nan)
    return Heterogeneity(parts, variance, variation)


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's rank correlation of two arrays (n,), NaN where one of them does not vary."""
    if len(first) < 2 or min(np.ptp(first), np.ptp(second)) == 0:
        return float("nan")

    return float(stats.spearmanr(first, second)[0])


# Points queried at once, and neighbours held at once where each has its own weight.
_POINTS_AT_ONCE = 50_000
NEIGHBOURS_AT_ONCE = 4_000_000


class Households:
    """Household locations to be counted.

    points : (h, 2) planar metres; weights : (h,) how many households each location stands for, one each where None,
    which is `unweighted`
    """

    def __init__(self, points: np.ndarray, weights: np.ndarray | None = None) -> None:
        self.points = points
        self.weights = np.ones(len(points)) if weights is None else weights
        self.unweighted = weights is None
        self._tree = spatial.cKDTree(points)

    def __len__(self) -> int:
        return len(self.points)

    def nearer_than(self, points: np.ndarray, distances: np.ndarray, progress: Progress = silent) -> np.ndarray:
        """Households strictly nearer to each point than its distance, (N,) float: k_act (section 2.3).

        points : (N, 2); distances : (N,) metres. A household at the point itself counts, as in the paper.
        """
        counts = np.zeros(len(points))
        # The tree counts up to and including a radius: the next smaller number makes that "strictly nearer".
        below = np.nextafter(distances, 0.0)
        for start in range(0, len(points), _POINTS_AT_ONCE):
            some = slice(start, start + _POINTS_AT_ONCE)
            lengths = self.lengths(points[some], below[some])
            counts[some] = lengths if self.unweighted else self._weighted_sums(points[some], below[some], lengths)
            progress(min(some.stop / len(points), 1.0))
        counts[distances <= 0] = 0.0
        return counts

    def distance_to_reach(self, points: np.ndarray, numbers: np.ndarray, progress: Progress = silent) -> np.ndarray:
        """The distance within which a number of households is reached, (N, j) metres; inf where there are too few.

        numbers : (j,). k_act, the households strictly nearer than D, is below numbers[j] exactly where D is not
        larger than this distance, so one search serves every displacement.
        """
        reached = np.full((len(points), len(numbers)), np.inf)
        left = np.arange(len(points), dtype=np.int64)
        most = max(int(np.ceil(numbers.max())), 1)
        while len(left):
            most = min(most, len(self))
            size = max(NEIGHBOURS_AT_ONCE // most, 1)
            for start in range(0, len(left), size):
                rows = left[start : start + size]
                distance, household = self._tree.query(points[rows], k=np.arange(1, most + 1, dtype=np.int64))
                total = self.weights[household].cumsum(axis=1)
                for j, number in enumerate(numbers.tolist()):
                    enough = total >= number
                    has = enough[:, -1]
                    reached[rows[has], j] = distance[has, enough[has].argmax(axis=1)]
                progress(min((start + size) / len(left), 1.0))
            if most == len(self):
                break
            left = left[np.isinf(reached[left]).any(axis=1)]
            most *= 4
        return reached

    def lengths(self, points: np.ndarray, distances: np.ndarray) -> np.ndarray:
        """Locations not farther from each point than its distance, (n,) int."""
        return np.asarray(self._tree.query_ball_point(points, distances, return_length=True), np.int64)

    def far_from(self, points: np.ndarray, distances: np.ndarray) -> np.ndarray:
        """Points that have no household within their distance, (N,) bool; false where the distance is no number.

        points : (N, 2); distances : (N,) metres
        """
        far = np.zeros(len(points), bool)
        known = np.flatnonzero(np.isfinite(points).all(axis=1) & np.isfinite(distances))
        far[known] = self._tree.query(points[known])[0] > distances[known]
        return far

    def within(self, points: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same, one by one: positions of the point and of the location, (p,) int64 each, point after point."""
        lists = self._tree.query_ball_point(points, distances)
        n_found = np.fromiter(map(len, lists), np.int64, len(lists))
        return np.repeat(np.arange(len(lists), dtype=np.int64), n_found), np.fromiter(
            chain.from_iterable(lists), np.int64
        )

    def _weighted_sums(self, points: np.ndarray, distances: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Sums of the weights within each distance, (n,), a manageable number of neighbours at a time."""
        sums = np.zeros(len(points))
        part = (np.cumsum(lengths) - lengths) // NEIGHBOURS_AT_ONCE
        for number in np.unique(part):
            rows = np.flatnonzero(part == number)
            owner, neighbour = self.within(points[rows], distances[rows])
            sums[rows] = np.bincount(owner, weights=self.weights[neighbour], minlength=len(rows))
        return sums


def make_households(points: np.ndarray, weights: np.ndarray | None, field: str = "HOUSEHOLD_COUNT") -> Households:
    """Households from a layer, which are checked; points without a position (NaN) are left out.

    points : (h, 2); weights : (h,) or None. Raises InputError where there are none, or a number is missing, negative or
    above MOST_HOUSEHOLDS.
    """
    there = np.isfinite(points).all(axis=1)
    if weights is not None:
        refuse_where(
            {
                tr("missing"): ~np.isfinite(weights),
                tr("negative"): weights < 0,
                tr("more than {most:,.0f}", most=MOST_HOUSEHOLDS): weights > MOST_HOUSEHOLDS,
            },
            tr("HOUSEHOLD_COUNT field “{field}”", field=field),
            counted.rows,
            lambda wrong: tr("{first}, counted from 1", first=first_values(np.flatnonzero(wrong)[:6] + 1)),
            tr("correct it, or leave the field empty to count each point as one household."),
        )
        there &= weights > 0
        weights = weights[there]
    if not there.any():
        raise InputError.saying(
            "HOUSEHOLDS has no households with a position: give a layer with a point per household."
        )
    return Households(points[there], weights)
