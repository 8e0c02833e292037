"""Where the records of a release are: in arrays here, or in an engine (`core.engines.source`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from .areas import Areas
from .dataclass import dataclass
from .disclosure.row_values import rows_beside
from .disclosure.values import KeptValues, kept_values
from .generalising.hierarchies import Hierarchy
from .generalising.texts import with_values_as_text
from .nesting.coarser import check_no_area_released
from .nesting.coarser_places import Places
from .nesting.recount import check_where_released
from .plan import SUPPRESSED, Plan, area_of_cells
from .privacy.kept_field import KeptField
from .privacy.kept_fields import examine_kept_fields
from .privacy.requirement import Requirement
from .privacy.weights import CountedRows, counted_rows
from .profile import Profile
from .progress import Progress, silent
from .records.matching import Records, requirement_of
from .records.table import RecordTable
from .release import Release, apply
from .releases.update_refused import check_updated_members

if TYPE_CHECKING:
    from .engines.releasing import StagedInPlace
    from .linked.rows import LinkedRows


@dataclass(frozen=True, eq=False)
class ReleasedRows:
    """What a plan releases, recounted.

    release : the rows, or of records in an engine what they show, counted; kept : what the kept fields tell; staged :
    of records in an engine, the rows that were written and that nobody sees yet; linked : the rows of the tables that
    belong to them
    """

    release: Release
    kept: Sequence[KeptField]
    staged: StagedInPlace | None = None
    linked: tuple[LinkedRows, ...] = ()


class Source(Protocol):
    """Records that are matched with areas and counted, wherever they are."""

    @property
    def profile(self) -> Profile:
        """Their counts by area and class."""

    @property
    def n_unmatched(self) -> int:
        """Records of no known area."""

    @property
    def linked_names(self) -> tuple[str, ...]:
        """The names of the tables that belong to them and are released with them."""
        return ()

    def values(self) -> RecordTable:
        """A table with the values of their fields, for what looks at values and not at rows."""

    def requirement(self, k: int, l_diversity: int, max_share: float) -> Requirement:
        """What is asked of every class of these records."""

    def sensitive_values(self, requirement: Requirement) -> tuple[KeptValues, ...]:
        """The sensitive fields, which are released."""

    def rows_beside(self) -> KeptValues | None:
        """What rows show together beside quasi-identifiers; None where that is not known, or what these fields tell."""

    def counted_rows(self) -> CountedRows | None:
        """The rows that stand for several records each; None where every row is a record."""

    def as_text(
        self, hierarchies: Mapping[str, Hierarchy], names: Sequence[str], areas: Areas
    ) -> tuple[Source, dict[str, Hierarchy]]:
        """The records with these quasi-identifiers as text, and all hierarchies, those of these of the text."""

    def check_no_area_released(self, places: Places, areas: Areas) -> None:
        """Refuse coarser values that repeat the area. Raises InputError."""

    def to_update(self) -> Records:
        """Rows of one person each, or of several who show the same, of whom an update draws who is shown. Raises
        InputError for records of which an update cannot say how many persons a change of theirs is."""

    def updated(self, split: Records) -> Source:
        """The records as an update shows them; split : what became of `to_update`, split by where they are shown."""

    def release(self, plan: Plan, nested: bool, requirement: Requirement, progress: Progress = silent) -> ReleasedRows:
        """The rows that a plan shows, counted once more by themselves and against the records."""


@dataclass(frozen=True, eq=False)
class RecordSource(Source):
    """Records in arrays."""

    records: Records

    @property
    def profile(self) -> Profile:
        """Their counts by area and class."""
        return self.records.profile

    @property
    def n_unmatched(self) -> int:
        """Records of no known area."""
        return self.records.n_unmatched

    def values(self) -> RecordTable:
        """The records themselves."""
        return self.records.table

    def requirement(self, k: int, l_diversity: int, max_share: float) -> Requirement:
        """What is asked of every class of these records. Raises InputError."""
        return requirement_of(self.records, k, l_diversity, max_share)

    def sensitive_values(self, requirement: Requirement) -> tuple[KeptValues, ...]:
        """The sensitive fields, which are released."""
        return kept_values(self.records, requirement)

    def rows_beside(self) -> KeptValues | None:
        """What rows show together beside quasi-identifiers; None where the sensitive fields tell the same."""
        return rows_beside(self.records)

    def counted_rows(self) -> CountedRows | None:
        """The rows that stand for several records each; None where every row is a record."""
        return None if self.records.table.counts is None else counted_rows(self.records)

    def as_text(
        self, hierarchies: Mapping[str, Hierarchy], names: Sequence[str], areas: Areas
    ) -> tuple[RecordSource, dict[str, Hierarchy]]:
        """The records with these quasi-identifiers as text, and all hierarchies, those of these of the text."""
        records, own_hierarchies = with_values_as_text(self.records, hierarchies, names, areas)
        return replace(self, records=records), own_hierarchies

    def check_no_area_released(self, places: Places, areas: Areas) -> None:
        """Refuse coarser values that repeat the area. Raises InputError."""
        area = np.append(area_of_cells(self.profile), SUPPRESSED)[self.records.cell_of]
        check_no_area_released(places, self.records.table, areas, area)

    def to_update(self) -> Records:
        """The records, a row each, so that k rows are k persons. Raises InputError."""
        check_updated_members(self.records.table)
        return replace(self.records, table=replace(self.records.table, members={}))

    def updated(self, split: Records) -> RecordSource:
        """Those."""
        return RecordSource(split)

    def release(self, plan: Plan, nested: bool, requirement: Requirement, progress: Progress = silent) -> ReleasedRows:
        """The rows that a plan shows, recounted. Raises InputError and PrivacyError as `apply` does."""
        records, whole = self.records, not (requirement.asks_for_values or plan.in_part)
        kept = examine_kept_fields(plan, records)
        release = apply(plan, records, kept, requirement)
        if nested:
            check_where_released(release, records.profile, plan.levels, whole, plan.hierarchies_of_levels)
        return ReleasedRows(release, kept)
