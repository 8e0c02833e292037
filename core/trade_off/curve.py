"""The trade-off between regions and suppression: what each number of regions suppresses, for one configuration."""

from __future__ import annotations

from bisect import bisect
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from ..aggregation import Aggregation
from ..areas import Areas
from ..arrays import to_list
from ..configuration import Configuration, Trials
from ..dataclass import dataclass
from ..evaluation import mean_distances
from ..profile import Profile
from ..progress import Progress, part, silent
from ..site_number.suppression_budget import most_within, numbers_tried
from ..suppression import Terms, released_by_region

MOST_POINTS = 25
ALWAYS = 9  # of these numbers are run whatever the others show
# Between two numbers that suppress as good as the same, or more than anybody would release, the line needs no others.
# Both in per cent.
STRAIGHT, UNDECIDED = 0.1, 25.0


@dataclass(frozen=True)
class CurvePoint:
    """A number of sites, the regions that it gives, the per cent of all records that these suppress, and the mean
    distance in metres of the people of the region that a released record shows from its centre, 0 of no record."""

    n_sites: int
    n_regions: int
    percent: float
    mean_distance: float = 0.0


class Curve:
    """What numbers of sites suppress; each number is run once.

    areas : n areas with the population to balance; profile : of the same areas, in the same order; configuration : how
    sites are located and areas joined; terms : what is asked of a release.
    Raises InputError for an unknown approach.
    """

    def __init__(self, areas: Areas, profile: Profile, configuration: Configuration, terms: Terms) -> None:
        self._areas, self._profile, self._terms, self._n_areas = areas, profile, terms, len(areas)
        self._trials = Trials(areas, profile, configuration, terms=terms)
        self._points: dict[int, CurvePoint] = {}

    @property
    def points(self) -> list[CurvePoint]:
        """The numbers run so far, ascending."""
        return [self._points[number] for number in sorted(self._points)]

    @property
    def whole(self) -> bool:
        """Whether nothing that could change the line is left to be run."""
        return not numbers_left(numbers_on_curve(self._n_areas), self._points)

    def own_number(self, progress: Progress = silent) -> int:
        """The number that the configuration itself chooses. Raises InputError for settings it refuses."""
        return self._trials.number(progress).n_sites

    def aggregation(self, n_sites: int, progress: Progress = silent) -> Aggregation:
        """The regions of a number of sites, 1 <= n_sites <= n."""
        return self._trials.parts(n_sites, progress)[1]

    def point(self, n_sites: int, progress: Progress = silent) -> CurvePoint:
        """What a number of sites gives, 1 <= n_sites <= n."""
        if n_sites not in self._points:
            crosswalk = self.aggregation(n_sites, progress).crosswalk
            released = released_by_region(self._profile, crosswalk, self._terms)
            n_records, n_released = self._profile.n_records + self._terms.n_unmatched, int(released.sum())
            percent = 100.0 * (n_records - n_released) / n_records if n_records else 0.0
            metres = float((released * mean_distances(self._areas, crosswalk)).sum() / max(n_released, 1))
            self._points[n_sites] = CurvePoint(n_sites, crosswalk.n_regions, percent, metres)
        return self._points[n_sites]

    def filled(self, progress: Progress = silent) -> Iterator[CurvePoint]:
        """The points of the whole curve that are not known yet: its ends first, then ever finer where it bends."""
        yield from filled_up(numbers_on_curve(self._n_areas), self._points, self.point, progress)

    def most_within(self, budget: float, progress: Progress = silent) -> CurvePoint | None:
        """The most sites found that suppress at most `budget` per cent, as `suppression budget` finds them; None where
        no number does."""
        tried = numbers_tried(lambda number, step: self.point(number, step).percent, self._n_areas, budget, progress)
        n_sites = most_within(tried, budget)
        return self._points[n_sites] if n_sites else None


def filled_up(
    numbers: Sequence[int],
    points: Mapping[int, CurvePoint],
    point: Callable[[int, Progress], CurvePoint],
    progress: Progress = silent,
    always: int = ALWAYS,
) -> Iterator[CurvePoint]:
    """Run `point` for each of the numbers that are left; points : what is known, which `point` adds to."""
    while left := numbers_left(numbers, points, always):
        done = 1.0 - len(left) / len(numbers)
        yield point(left[0], part(progress, done, done + 1.0 / len(numbers)))
    progress(1.0)


def numbers_left(numbers: Sequence[int], points: Mapping[int, CurvePoint], always: int = ALWAYS) -> list[int]:
    """The numbers that are still to be run to know a line, those that tell most first.

    The first few are run in any case; others only between two known ones where the line may bend (`STRAIGHT`,
    `UNDECIDED`).
    """
    known, left = sorted(points), []
    for position, number in enumerate(coarse_to_fine(numbers)):
        if number in points:
            continue
        above = bisect(known, number)
        ends = [points[end].percent for end in known[max(above - 1, 0) : above + 1]]
        inside = 0 < above < len(known) and position >= always
        if not inside or (max(ends) - min(ends) > STRAIGHT and min(ends) < UNDECIDED):
            left.append(number)
    return left


def numbers_on_curve(n_areas: int, most: int = MOST_POINTS) -> list[int]:
    """At most so many numbers of sites from 1 to the number of areas, about evenly apart on a logarithmic axis."""
    return to_list(np.unique(np.rint(np.geomspace(1, n_areas, most)).astype(np.int64)))


def coarse_to_fine(numbers: Sequence[int]) -> list[int]:
    """The same numbers, one at least, in the order in which they tell most: both ends, then the middle of each gap."""
    ends = dict.fromkeys((0, len(numbers) - 1))
    order, gaps = [numbers[position] for position in ends], deque([(0, len(numbers) - 1)])
    while gaps:
        low, high = gaps.popleft()
        if high - low > 1:
            middle = (low + high) // 2
            order.append(numbers[middle])
            gaps += [(low, middle), (middle, high)]
    return order
