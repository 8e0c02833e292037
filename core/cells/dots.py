"""Dots for people, at random places of their group: section 5 of Bjerre-Nielsen & Gandil 2018.

Nothing a dot map shows depends on more than the surfaces of the groups and the counts that are shown, and each of these
is 0 or at least as many as asked for: whoever undoes every draw learns these counts, and no more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import shapely

from .. import counted
from ..areas import MOST_PEOPLE
from ..arrays import runs
from ..dataclass import dataclass
from ..errors import InputError, PrivacyError, first_values, refuse_where
from ..language import as_data, tr
from ..masking.placing import by_area
from ..progress import Progress, part, silent

BY_RATE, BY_COUNT = as_data("drawn by the group's rate"), as_data("as counted")
ALLOCATIONS = (BY_RATE, BY_COUNT)
OTHERS = as_data("others")
# More dots than these cannot be told apart on any map, and would fill the memory.
MOST_DOTS = 20_000_000
# How far outside its group, in parts of the map's extent, a dot may seem to lie once it was written.
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """The people of m groups by category.

    names : (m,) object array of str; counts : (m, c) int64; categories : c values, None for the missing one
    """

    names: np.ndarray
    counts: np.ndarray
    categories: tuple[object, ...]

    @property
    def people(self) -> np.ndarray:
        """People of each group, (m,) int64."""
        return self.counts.sum(axis=1)

    @property
    def smallest(self) -> np.ndarray:
        """The smallest count of each group that is not 0, (m,) int64; 0 where nobody is."""
        largest = np.iinfo(np.int64).max
        smallest = np.where(self.counts > 0, self.counts, largest).min(axis=1, initial=largest)
        return np.where(smallest == largest, 0, smallest)

    def may_be_shown(self, least: int) -> np.ndarray:
        """Whether every count of a group is 0 or at least `least`, (m,) bool (section 5)."""
        return ((self.counts == 0) | (self.counts >= least)).all(axis=1)


@dataclass(frozen=True, eq=False)
class Dots:
    """N dots. group, category : (N,) int64, of each, the groups ascending and their categories mixed; points : (N, 2)
    planar"""

    group: np.ndarray
    category: np.ndarray
    points: np.ndarray


def counts_of_rates(names: np.ndarray, people: np.ndarray, rate: np.ndarray, fields: Sequence[str]) -> GroupCounts:
    """Counts from people and the share of them that has something.

    names : (m,); people : (m,) whole numbers; rate : (m,) from 0 to 1; fields : of people and rate. The count is
    the rate of the people to the nearest whole number, the others are the rest. Raises InputError.
    """
    advice = tr("correct it; write 0 where nobody lives.")
    refuse_where(
        {
            tr("missing"): ~np.isfinite(people),
            tr("negative"): people < 0,
            tr("not a whole number"): people != np.floor(people),
            tr("more than {most:,.0f}", most=MOST_PEOPLE): people > MOST_PEOPLE,
        },
        tr("PEOPLE field “{field}”", field=fields[0]),
        counted.regions,
        lambda wrong: first_values(names[wrong]),
        advice,
    )
    rate = np.where(people == 0, 0.0, rate)
    refuse_where(
        {tr("missing"): ~np.isfinite(rate), tr("negative"): rate < 0, tr("more than 1"): rate > 1},
        tr("RATE field “{field}”", field=fields[1]),
        counted.regions,
        lambda wrong: first_values(names[wrong]),
        tr("give the share of the people as a number from 0 to 1."),
    )
    having = np.round(people * rate).astype(np.int64)
    counts = np.column_stack([having, people.astype(np.int64) - having])
    return GroupCounts(names, counts, (fields[1], OTHERS))


def counts_of_rows(
    names: np.ndarray, group: np.ndarray, category: np.ndarray, categories: Sequence[object], weights: np.ndarray | None
) -> GroupCounts:
    """Counts of rows. group, category : (N,) positions, the group negative for rows that belong to none, which are left
    out; weights : (N,) people of each row, None for one each."""
    inside = group >= 0
    keys = group[inside] * len(categories) + category[inside]
    size = len(names) * len(categories)
    counts = np.bincount(keys, None if weights is None else weights[inside], size)
    return GroupCounts(names, counts.astype(np.int64).reshape(len(names), len(categories)), tuple(categories))


def draw_dots(
    shapes: np.ndarray,
    groups: GroupCounts,
    least: int,
    people_per_dot: int,
    allocation: str,
    seed: int,
    progress: Progress = silent,
) -> Dots:
    """Dots at random places of the groups that may be shown.

    shapes : (m,) valid planar polygons; people_per_dot : each group has as many dots as its people over this number,
    rounded half up; allocation : BY_RATE draws the category of each dot with the group's shares, BY_COUNT gives each
    category its part, largest remainders first. Raises InputError where there is no dot, or too many.
    """
    may_be_shown = groups.may_be_shown(least)
    counts = np.where(may_be_shown[:, None], groups.counts, 0)
    n_dots = (2 * counts.sum(axis=1) + people_per_dot) // (2 * people_per_dot)
    if not n_dots.any():
        raise InputError.saying(
            "No group can be shown: in each, some category has fewer than {least} people, or there are too few for one "
            "dot. Lower LEAST or PEOPLE_PER_DOT, take fewer categories, or larger groups.",
            least=least,
        )
    if n_dots.sum() > MOST_DOTS:
        raise InputError.saying(
            "This would be {n} dots, more than the {most} that can be drawn: raise PEOPLE_PER_DOT.",
            n=int(n_dots.sum()),
            most=MOST_DOTS,
        )
    rng = np.random.default_rng(seed)
    by_category = _drawn(counts, n_dots, rng) if allocation == BY_RATE else largest_remainders(counts, n_dots)
    group, category = np.divmod(
        np.repeat(np.arange(by_category.size, dtype=np.int64), by_category.ravel()), by_category.shape[1]
    )
    points = random_places(shapes, group, rng, part(progress, 0.0, 1.0))
    # Maps draw what comes last over the rest: where dots are dense, the last category alone would be seen.
    mixed = np.lexsort((rng.random(len(group)), group))
    return Dots(group, category[mixed], points)


def _drawn(counts: np.ndarray, n_dots: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Dots by group and category, (m, c) int64, each with the shares of its group."""
    people = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    shares = counts / people
    shares[counts.sum(axis=1) == 0, 0] = 1.0  # of no dots
    return np.asarray(rng.multinomial(n_dots, shares), np.int64)


def largest_remainders(counts: np.ndarray, n_dots: np.ndarray) -> np.ndarray:
    """Dots by group and category in the proportions of the counts, (m, c) int64, that add up to n_dots (m,).

    Each category has its share rounded down; the dots left go to the largest remainders, the first of equals.
    """
    people = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    whole, remainder = np.divmod(counts * n_dots[:, None], people)
    rank = np.argsort(np.argsort(-remainder, axis=1, kind="stable"), axis=1, kind="stable")
    return whole + (rank < (n_dots - whole.sum(axis=1))[:, None])


def random_places(
    shapes: np.ndarray, group: np.ndarray, rng: np.random.Generator, progress: Progress = silent
) -> np.ndarray:
    """A place for each dot, every place of its group as likely as any other, (N, 2).

    shapes : (m,) valid polygons; group : (N,) positions in them, ascending. A group is cut into trapezoids at the
    height of each of its corners; a dot falls into one by their surfaces.
    """
    places = np.empty((len(group), 2))
    for shape, members in by_area(group):
        places[members] = _places_in(shapes[shape], members.stop - members.start, rng)
        progress(members.stop / len(group))
    return places


def _places_in(shape: shapely.Geometry, n: int, rng: np.random.Generator) -> np.ndarray:
    low, height, left, right = _trapezoids(shape)
    width = right - left  # (t, 2), below and above
    chosen = rng.choice(len(low), n, p=_shares(height * width.sum(axis=1)))
    below, above = width[chosen].T
    draw = rng.random(n)
    # The height at which the share of the trapezoid's surface below is the draw.
    root = np.sqrt(below**2 + draw * (above**2 - below**2))
    with np.errstate(invalid="ignore"):
        up = np.where(draw > 0, draw * (below + above) / (below + root), 0.0)
    start = left[chosen, 0] + up * (left[chosen, 1] - left[chosen, 0])
    across = below + up * (above - below)
    return np.column_stack([start + rng.random(n) * across, low[chosen] + up * height[chosen]])


def _shares(surfaces: np.ndarray) -> np.ndarray:
    surfaces = np.maximum(surfaces, 0.0)
    return np.asarray(surfaces / surfaces.sum())


def _trapezoids(shape: shapely.Geometry) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A polygon as trapezoids with level sides: y below (t,), height (t,), x on the left and right, below and above,
    (t, 2) each."""
    coordinates, ring = shapely.get_coordinates(shapely.get_rings(shapely.get_parts(shape)), return_index=True)
    first, second = coordinates[:-1], coordinates[1:]
    slanted = (ring[:-1] == ring[1:]) & (first[:, 1] != second[:, 1])
    first, second = first[slanted], second[slanted]
    rising = first[:, 1] < second[:, 1]
    bottom, top = np.where(rising[:, None], first, second), np.where(rising[:, None], second, first)
    heights = np.unique(coordinates[:, 1])
    start, stop = np.searchsorted(heights, bottom[:, 1]), np.searchsorted(heights, top[:, 1])
    n_strips = stop - start
    edge = np.repeat(np.arange(len(first), dtype=np.int64), n_strips)
    strip = runs(start, n_strips)
    along = (np.stack([heights[strip], heights[strip + 1]], axis=1) - bottom[edge, 1:]) / (top - bottom)[edge, 1:]
    x = bottom[edge, :1] + along * (top - bottom)[edge, :1]
    # In each strip the borders go in and out in turn.
    order = np.lexsort([x.sum(axis=1), strip])
    into, out = order[::2], order[1::2]
    low = heights[strip[into]]
    return low, heights[strip[into] + 1] - low, x[into], np.maximum(x[out], x[into])


def check_dots(dots: Dots, points: np.ndarray, shapes: np.ndarray, groups: GroupCounts, least: int) -> None:
    """Look at the dots once more, as they are written. Raises PrivacyError where one lies outside its group, or its
    group, recounted, may not be shown.

    points : (N, 2) planar, read back from what is written
    """
    bounds = shapely.total_bounds(shapes)
    far = shapely.distance(shapes[dots.group], shapely.points(points)) > TOLERANCE * max(
        1.0, float(np.abs(bounds).max())
    )
    wrong = int(far.sum())
    if wrong:
        raise PrivacyError.counting(
            "{n} dot lies outside its group: nothing was written.",
            "{n} dots lie outside their group: nothing was written.",
            wrong,
        )
    counts = groups.counts[np.unique(dots.group)]
    small = int(((counts > 0) & (counts < least)).any(axis=1).sum())
    if small:
        raise PrivacyError.counting(
            "{n} group with a count below {least} has dots: nothing was written.",
            "{n} groups with a count below {least} have dots: nothing was written.",
            small,
            least=least,
        )
