"""Records in an engine as the source of a release: counted, planned here, written there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..areas import Areas, identifier_text
from ..arrays import to_list
from ..dataclass import dataclass
from ..disclosure.values import KeptValues
from ..generalising.collapsing import generalise_table
from ..generalising.hierarchies import Hierarchy
from ..nesting.coarser_places import Places
from ..nesting.recount import check_where_released
from ..plan import Plan
from ..privacy.requirement import Requirement
from ..privacy.weights import CountedRows
from ..profile import Profile
from ..progress import Progress, silent
from ..records.matching import STOP, Records
from ..records.table import RecordTable
from ..source import RecordSource, ReleasedRows, Source
from .coarsening import as_text_in_place
from .dictionaries import values_of
from .in_place import Matched
from .profiling import counted_rows_in_place, match_in_place, refuse_area_copies, requirement_in_place
from .releasing import released_by, stage_in_place
from .updating import counted_records, rows_beside_in_place


@dataclass(frozen=True, eq=False)
class EngineSource(Source):
    """Records in an engine. matched : with the areas; destination : where the engine is to publish the rows; unmatched
    : what becomes of records of no known area"""

    matched: Matched
    destination: str
    unmatched: str = STOP

    @property
    def profile(self) -> Profile:
        """Their counts by area and class."""
        return self.matched.profile

    @property
    def n_unmatched(self) -> int:
        """Records of no known area."""
        return self.matched.n_unmatched

    def values(self) -> RecordTable:
        """Each value once."""
        return self.matched.in_place.values()

    def requirement(self, k: int, l_diversity: int, max_share: float) -> Requirement:
        """What is asked of every class of these records. Raises InputError."""
        return requirement_in_place(self.matched, k, l_diversity, max_share)

    def rows_beside(self) -> KeptValues | None:
        """What rows show together beside quasi-identifiers; None where sensitive fields tell the same, and where kept
        fields were not counted by value."""
        return None if self.linked_names else rows_beside_in_place(self.matched)

    def sensitive_values(self, requirement: Requirement) -> tuple[KeptValues, ...]:
        """The sensitive fields, which are released, with what their codes stand for."""
        in_place = self.matched.in_place
        kept = []
        for shares in requirement.shares:
            key = f"k{in_place.fields.kept.index(shares.field)}"
            values = values_of(in_place.engine, in_place.dictionaries[key], key)
            kept.append(KeptValues(shares, np.append(values, np.array([None], dtype=object))))
        return tuple(kept)

    def to_update(self) -> Records:
        """Rows that each stand for the records of an area and a class that show the same. Raises InputError."""
        return counted_records(self.matched)

    def updated(self, split: Records) -> UpdatedSource:
        """The records, of which some are shown."""
        return UpdatedSource(split, self)

    def counted_rows(self) -> CountedRows | None:
        """The rows that stand for several records each; None where every row is a record."""
        return counted_rows_in_place(self.matched)

    def as_text(
        self, hierarchies: Mapping[str, Hierarchy], names: Sequence[str], areas: Areas
    ) -> tuple[EngineSource, dict[str, Hierarchy]]:
        """The records with these quasi-identifiers as text, and all hierarchies, those of these of the text."""
        in_place, above = as_text_in_place(self.matched.in_place, hierarchies, names)
        matched = self.matched if in_place is self.matched.in_place else match_in_place(in_place, areas, self.unmatched)
        return replace(self, matched=matched), above

    def check_no_area_released(self, places: Places, areas: Areas) -> None:
        """Refuse coarser values that repeat the area: of the cells, where any value could. Raises InputError."""
        values = [
            identifier_text(value)
            for hierarchy in places.hierarchies.values()
            for categories in hierarchy.categories[1:]
            for value in to_list(categories)
        ]
        if (areas.codes_of(np.array([*values, None], dtype=object)) >= 0).any():
            in_place = self.matched.in_place
            by_class = in_place.by_class()
            for node in dict.fromkeys(places.nodes):
                coarsened = generalise_table(by_class, places.hierarchies, node).quasi_identifiers
                refuse_area_copies(in_place, areas, self.matched.area_of, coarsened)

    def release(self, plan: Plan, nested: bool, requirement: Requirement, progress: Progress = silent) -> ReleasedRows:
        """The rows that a plan shows, written and counted in the engine, and seen by nobody yet.

        Raises what `stage_in_place` raises, and PrivacyError where the plan shows what its levels do not have.
        """
        released, whole = released_by(plan), not (requirement.asks_for_values or plan.in_part)
        if nested:
            check_where_released(released, self.matched.profile, plan.levels, whole, plan.hierarchies_of_levels)
        staged = stage_in_place(
            self.matched, plan, self.destination, nested, progress=progress, requirement=requirement
        )
        return ReleasedRows(released, staged.kept, staged)


@dataclass(frozen=True, eq=False)
class UpdatedSource(RecordSource):
    """Records in an engine of which an update shows some.

    records : what the engine was asked of them, split by where they are shown; whole : all of them, in the engine
    """

    whole: EngineSource

    def counted_rows(self) -> None:
        """Not known of parts: the first release warned of weights."""

    def release(self, plan: Plan, nested: bool, requirement: Requirement, progress: Progress = silent) -> ReleasedRows:
        """The rows that a plan shows, as of all records. Raises what that raises."""
        matched, released = self.whole.matched, released_by(plan)
        if nested:
            check_where_released(released, matched.profile, plan.levels, False)
        staged = stage_in_place(
            matched,
            plan,
            self.whole.destination,
            nested,
            progress=progress,
            requirement=requirement,
            split=self.records,
        )
        return ReleasedRows(released, staged.kept, staged)
