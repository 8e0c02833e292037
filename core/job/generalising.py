"""Coarser quasi-identifiers, and levels that show them, as a job asks for them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..ask import refuse_left_with_coarser, refuse_with_coarser
from ..errors import InputError, first_values
from ..generalising.asked import Generalising, generalising_asked, steps_asked
from ..generalising.hierarchies import Hierarchy
from ..levels import Levels, with_coarser_values
from ..records.table import RecordTable
from .job import Job
from .levels import LEFT_AREAS, LEFT_PEOPLE
from .values import field_named

ATTRIBUTE, VALUE = "attribute", "value"
LEVEL_FIELD = re.compile(r"level[ _-]?([0-9]+)", re.IGNORECASE)
LEVELS_COARSER = "LEVELS_COARSER"
NOT_WITH = ("REGISTER",)


def generalising_of(job: Job, quasi_identifiers: Sequence[str]) -> Generalising:
    """What a job asks of these quasi-identifiers. Raises InputError for what says nothing of them."""
    levels = job.several("GENERALISE") if job.has("GENERALISE") else []
    columns = _hierarchy_columns(job) if job.given("HIERARCHIES") else []
    return generalising_asked(quasi_identifiers, levels, job.several("HIERARCHY_RULES"), columns)


def coarser_of(job: Job, table: RecordTable) -> dict[str, Hierarchy]:
    """The hierarchies of the values that the table shows, coarsened or not: what could still be shown coarser.

    Raises InputError for hierarchies that do not fit the values.
    """
    return generalising_of(job, tuple(table.quasi_identifiers)).still_coarser(table)


def _hierarchy_columns(job: Job) -> list[list[object]]:
    """The columns of HIERARCHIES: attribute, value, level_1, level_2, …"""
    fields = job.fields("HIERARCHIES")
    own = [field_named(fields, name, "HIERARCHIES", "HIERARCHIES") for name in (ATTRIBUTE, VALUE)]
    levels = {int(match[1]): name for name in fields if (match := LEVEL_FIELD.fullmatch(name))}
    if not levels or sorted(levels) != list(range(1, len(levels) + 1)):
        raise InputError.saying(
            "HIERARCHIES has the fields {first}: name those of the coarser values level_1, level_2, … without a gap.",
            first=first_values(fields, 12),
        )
    names = [*own, *(levels[number] for number in sorted(levels))]
    columns = job.columns("HIERARCHIES", names)
    return [columns[name].categories[columns[name].codes].tolist() for name in names]


def asks_for_coarser(job: Job) -> bool:
    """Whether last levels with coarser values are asked for. Raises InputError with what cannot go with them."""
    if not any(str(cell).strip() for cell in job.several(LEVELS_COARSER)):
        return False
    refuse_with_coarser([name for name in NOT_WITH if job.given(name)])
    refuse_left_with_coarser(job.whole(LEFT_AREAS), job.number(LEFT_PEOPLE))
    return True


def with_levels_asked(job: Job, levels: Levels, table: RecordTable, hierarchies: Mapping[str, Hierarchy]) -> Levels:
    """The levels, and above them those of LEVELS_COARSER; the levels as they are where none is asked for.

    table : of which names and what is coarser are looked at; hierarchies : of the values that it shows.
    Raises InputError for a level that there is not, or that is not coarser.
    """
    if not asks_for_coarser(job):
        return levels
    return with_coarser_values(levels, steps_asked(LEVELS_COARSER, job.several(LEVELS_COARSER), table, hierarchies))
