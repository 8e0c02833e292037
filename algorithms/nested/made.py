"""What a nested release is made of, for what is written and said of it."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.plan import Plan
from ...core.records.matching import Records
from ...core.release import Release
from ...core.report.page import Section


@dataclass(frozen=True, eq=False)
class Made:
    """A nested release.

    records : what it was made of; plan : by region and class, whose levels are those of the release; protection : what
    the report says of who and what k does not count; notes : sentences on earlier releases
    Where the last levels show coarser values: as_text, the quasi-identifiers that do; values, what each level shows, in
    data, and in_words, to people;
    as_they_were, the same records by the values of level 1; coarser, what the report says of it.
    """

    records: Records
    plan: Plan
    release: Release
    protection: Section
    as_text: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    in_words: tuple[str, ...] = ()
    as_they_were: Plan | None = None
    coarser: Section | None = None
    notes: tuple[str, ...] = ()
