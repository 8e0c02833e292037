"""Releases held against each other by what a researcher finds in them of the same planted outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ..areas import Areas
from ..dataclass import dataclass
from ..errors import Cancelled
from ..plan import Plan
from ..profile import Profile
from ..progress import Progress, part, silent
from .moving import move_by_donut
from .planting import AnalysisMeasures, Planted, Planting, ReadingAnalyses, measures_of, plant


@dataclass(frozen=True)
class Reference:
    """What releases are held against: the true areas, or points that were moved.

    k : the people of the own class who live nearer at least, None of the true areas; suppressed : per cent
    """

    k: int | None
    suppressed: float
    measures: AnalysisMeasures


@dataclass(frozen=True, eq=False)
class PlantedComparison:
    """The people of a profile with outcomes on them, read from releases, from the true areas and from masked points.

    areas : n areas, whose population records are spread by; profile : of the same areas
    """

    areas: Areas
    profile: Profile
    planting: Planting

    @cached_property
    def planted(self) -> Planted:
        """The outcomes."""
        return plant(self.areas, self.profile, self.planting)

    @cached_property
    def true(self) -> ReadingAnalyses:
        """What is found in the true areas."""
        return self.planted.analysis_of(self.planted.true_areas())

    def of_release(self, plan: Plan, progress: Progress = silent) -> AnalysisMeasures:
        """What a researcher finds in a release, each record spread over the areas of its region."""
        analysis = self.planted.analysis_of(self.planted.release(plan), progress)
        return measures_of(analysis, self.true, self.planting)

    def references(self, ks: Sequence[int], progress: Progress = silent) -> list[Reference]:
        """The true areas, and for each k points moved to where k to ten times k of the own class live nearer.

        Cancelling ends it with those so far.
        """
        references = [Reference(None, 100.0 * self.true.suppressed, measures_of(self.true, self.true, self.planting))]
        try:
            for step, k in enumerate(ks):
                references.append(self._masked(k, part(progress, step / len(ks), (step + 1) / len(ks))))
        except Cancelled:
            pass
        return references

    def _masked(self, k: int, progress: Progress) -> Reference:
        moved = move_by_donut(self.areas, self.profile, k, self.planting.seed, part(progress, 0.0, 0.3))
        planted = plant(self.areas, self.profile, self.planting, moved)
        true = planted.analysis_of(planted.true_areas(), part(progress, 0.3, 0.6))
        analysis = planted.analysis_of(planted.masked_points(), part(progress, 0.6, 1.0))
        return Reference(k, 100.0 * analysis.suppressed, measures_of(analysis, true, self.planting))
