"""Last levels that show quasi-identifiers coarser: declared, read, and released."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from qgis.core import QgsProcessingParameterDefinition, QgsProcessingParameterMatrix

from ...core.areas import Areas
from ...core.errors import InputError
from ...core.generalising.hierarchies import Hierarchy
from ...core.generalising.texts import with_values_as_text
from ...core.language import as_data, tr
from ...core.levels import Levels
from ...core.nesting.coarser import (
    check_coarser,
    check_no_area_shown,
    examine_coarser,
    nest_coarser,
    release_coarser,
)
from ...core.nesting.places import Places, places_of
from ...core.nesting.views import as_shown, as_they_were
from ...core.plan import SUPPRESSED, area_of_cells, suppress
from ...core.records.matching import Records
from ...core.records.table import RecordTable
from ...core.report.coarser import coarser_section, coarser_sentences
from ...core.ties import ties_of
from ..form.effective import Counts
from ..form.form import Form
from ..form.generalising import coarser_of, level_in, rows_of_two
from ..form.parameters import described
from ..form.records import required_of
from ..form.release import protected_by
from .levels import NESTED
from .made import Made

PARAMETER = "LEVELS_COARSER"
COUNTS: Counts = {PARAMETER: [{"RELEASE": [NESTED]}]}
# What does not know yet that one release may show a value finer and coarser.
NOT_WITH = ("REGISTER", "PUBLISHED_MARGINS")
FINEST, AT_LEVEL = as_data("as on level 1"), as_data("{name} at level {level}")


def levels_coarser() -> QgsProcessingParameterDefinition:
    """LEVELS_COARSER."""
    return described(
        QgsProcessingParameterMatrix(
            PARAMETER,
            tr("Levels that show coarser values, in this order"),
            headers=[tr("Quasi-identifier"), tr("Level")],
        ),
        tr(
            "Nested levels: what is too rare in the largest regions is suppressed; with this table it is "
            "shown with coarser values instead. Each row adds one more level above the largest regions, and "
            "keeps what the rows before it made coarser: age, 1 and then sex, 1 adds a level of wider ages, "
            "and one of wider ages without sex. A record is shown coarser only where it would be suppressed "
            "else, or keeps others company. The coarser values are those of the two parameters “Coarser "
            "values”; a field of which some rows show coarser values is text. On the command line as a list, "
            "field and level in turn. Only here: “Release records”, “Evaluate regions” and the models do not "
            "take it. Not together with earlier releases (REGISTER) or totals that others publish "
            "(PUBLISHED_MARGINS)."
        ),
        advanced=True,
        optional=True,
    )


def asks_for_coarser(form: Form) -> bool:
    """Whether last levels with coarser values are asked for. Raises InputError with what cannot go with them."""
    if not any(str(cell).strip() for cell in form.cells(PARAMETER)):
        return False
    for name in NOT_WITH:
        if form.given(name):
            raise InputError(
                tr(
                    "{parameter} and {name} do not go together: what a release with finer and coarser values "
                    "of a field gives away together with others cannot be checked yet. Leave one of them "
                    "empty, or show the values coarser in all records (GENERALISE).",
                    parameter=PARAMETER,
                    name=name,
                )
            )
    return True


def release_with_coarser(
    form: Form, areas: Areas, records: Records, levels: Levels, k: int, loss: str, population: np.ndarray | None
) -> Made:
    """The optimum over regions and coarser values, and the rows that it shows, recounted level by level."""
    hierarchies = coarser_of(form, records.table)
    asked = _asked(form, records.table, hierarchies)
    names = tuple(dict.fromkeys(name for name, _ in asked))
    records, hierarchies = with_values_as_text(records, hierarchies, names, areas)
    requirement = required_of(form, records)
    before = {name: _level_before(records.table, name) for name in names}
    places = places_of(records.profile, levels, hierarchies, [(name, level - before[name]) for name, level in asked])
    area = np.append(area_of_cells(records.profile), SUPPRESSED)[records.cell_of]
    check_no_area_shown(places, records.table, areas, area)
    in_words = _values(places, before, tr)
    plan = nest_coarser(areas, places, k, loss, requirement, form.progress(45, 65), ties_of(form.text("TIES")))
    kept = examine_coarser(plan, places, records)
    release = release_coarser(plan, places, records, kept)
    check_coarser(release, places, whole=not requirement.asks_for_values)
    shown = as_shown(plan, places)
    protection = protected_by(form, plan, shown, records, requirement, kept, population)
    without = suppress(records.profile, levels.crosswalks[-1], k, requirement).n_released
    n_more = max(plan.n_released - without, 0)
    form.info(*coarser_sentences(plan, places, in_words, n_more))
    section = coarser_section(plan, places, in_words, n_more)
    values = _values(places, before, as_data)
    return Made(records, shown, release, protection, names, values, in_words, as_they_were(plan, places), section)


def _asked(form: Form, table: RecordTable, hierarchies: dict[str, Hierarchy]) -> list[tuple[str, int]]:
    """(Quasi-identifier, level) of each row. Raises InputError for a level that there is not, or that is not coarser.

    hierarchies : of the values that the table shows
    """
    found = []
    reached = {name: _level_before(table, name) for name in table.quasi_identifiers}
    for name, words in rows_of_two(form, PARAMETER, tuple(table.quasi_identifiers)):
        level = level_in(PARAMETER, name, words)
        if name not in hierarchies:
            raise InputError(
                tr(
                    "{parameter} shows “{name}” at level {level}, but nothing says what its coarser values "
                    "are: give them in HIERARCHIES, or a rule in HIERARCHY_RULES.",
                    parameter=PARAMETER,
                    name=name,
                    level=level,
                )
            )
        highest = _level_before(table, name) + len(hierarchies[name]) - 1
        if not reached[name] < level <= highest:
            raise InputError(
                tr(
                    "{parameter} shows “{name}” at level {level} after level {reached}; its levels are 0 (as it is) "
                    "to {highest}, and each row must show it coarser than before: correct the row or take it out.",
                    parameter=PARAMETER,
                    name=name,
                    level=level,
                    reached=reached[name],
                    highest=highest,
                )
            )
        reached[name] = level
        found.append((name, level))
    return found


def _level_before(table: RecordTable, name: str) -> int:
    """The level at which all records show a quasi-identifier, by GENERALISE."""
    return table.coarsened[name].level if name in table.coarsened else 0


def _values(places: Places, before: dict[str, int], say: Callable[..., str]) -> tuple[str, ...]:
    """What each level shows.

    before : by name, the level at which all records show a quasi-identifier; say : `tr` or `as_data`
    """
    names = places.profile.quasi_identifiers
    found = []
    for node in places.nodes:
        levels = {name: before[name] + level for name, level in zip(names, node) if level}
        coarser = [say(AT_LEVEL, name=name, level=level) for name, level in levels.items()]
        found.append(", ".join(coarser) or say(FINEST))
    return tuple(found)
