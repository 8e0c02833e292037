"""The same trade-off with nested levels: each number of regions is the finest of several levels."""

from __future__ import annotations

from collections.abc import Iterator

from ..anonymise import rate
from ..areas import Areas
from ..ask import Ask
from ..evaluation import Measures
from ..levels import Levels
from ..nesting.making import LevelOptions, build_levels
from ..progress import Progress, part, silent
from ..records.matching import Records
from .curve import Curve, CurvePoint, filled_up, numbers_left, numbers_on_curve

MOST_NESTED, ALWAYS_NESTED = 9, 5  # levels take longer than regions, and their line is flat


class NestedCurve:
    """What nested levels over the regions of a curve suppress; each number of sites is run once.

    areas, records : of the curve; ask : of a nested release; options : how levels are made
    """

    def __init__(self, areas: Areas, records: Records, curve: Curve, ask: Ask, options: LevelOptions) -> None:
        self._areas, self._records, self._curve, self._ask, self._options = areas, records, curve, ask, options
        self._points: dict[int, CurvePoint] = {}
        self._ended = False

    @property
    def points(self) -> list[CurvePoint]:
        """The numbers run so far, ascending."""
        return [self._points[number] for number in sorted(self._points)]

    @property
    def whole(self) -> bool:
        """Whether there is nothing more to be known of the line."""
        return self._ended or not numbers_left(self._numbers(), self._points, ALWAYS_NESTED)

    def give_up(self) -> None:
        """Have the line end with what is known, where some numbers have no levels."""
        self._ended = True

    def known(self, n_sites: int) -> CurvePoint | None:
        """What a number of sites gives, None where it was not run."""
        return self._points.get(n_sites)

    def remember(self, n_sites: int, measures: Measures) -> None:
        """Take what was worked out elsewhere."""
        self._points[n_sites] = CurvePoint(
            n_sites, measures.n_regions, measures.suppression_percent, measures.mean_distance
        )

    def levels(self, n_sites: int, progress: Progress = silent) -> Levels:
        """The levels over a number of sites, 1 <= n_sites <= n. Raises InputError where none can be made."""
        finest = self._curve.aggregation(n_sites, part(progress, 0.0, 0.5)).crosswalk
        return build_levels(self._areas, self._records.profile, finest, self._options, part(progress, 0.5, 1.0))

    def point(self, n_sites: int, progress: Progress = silent) -> CurvePoint:
        """What levels over a number of sites give, 1 <= n_sites <= n, as `rate` does. Raises InputError where none can
        be made."""
        if n_sites not in self._points:
            levels, sites = self.levels(n_sites, part(progress, 0.0, 0.5)), self._curve.aggregation(n_sites).sites
            account = rate(self._areas, self._records, levels, self._ask, sites, part(progress, 0.5, 1.0))
            self.remember(n_sites, account.measures)
        return self._points[n_sites]

    def filled(self, progress: Progress = silent) -> Iterator[CurvePoint]:
        """The points of the whole line that are not known yet: its ends first, then ever finer where it bends."""
        yield from filled_up(self._numbers(), self._points, self.point, progress, ALWAYS_NESTED)

    def _numbers(self) -> list[int]:
        return numbers_on_curve(len(self._areas), MOST_NESTED)
