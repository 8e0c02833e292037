"""Last levels that show quasi-identifiers coarser: declared, read, and released."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from qgis.core import QgsProcessingParameterDefinition, QgsProcessingParameterMatrix

from ...core.areas import Areas
from ...core.errors import InputError
from ...core.generalising.hierarchies import Hierarchy
from ...core.generalising.texts import with_values_as_text
from ...core.language import as_data, tr
from ...core.levels import Levels, without_last_repeats
from ...core.nesting.coarser import (
    check_coarser,
    check_no_area_shown,
    examine_coarser,
    nest_coarser,
    release_coarser,
)
from ...core.nesting.coarser_places import Places, places_of
from ...core.nesting.views import as_shown, as_they_were
from ...core.plan import SUPPRESSED, Plan, area_of_cells, suppress
from ...core.privacy.requirement import Requirement
from ...core.records.matching import Records
from ...core.records.table import RecordTable
from ...core.report.coarser import coarser_section, coarser_sentences
from ...core.report.page import Section
from ...core.ties import ties_of
from ..form.effective import GIVEN, Counts
from ..form.form import Form
from ..form.generalising import COUNTS as GENERALISING
from ..form.generalising import coarser_of, level_in, rows_of_two
from ..form.guarantees import required_of
from ..form.parameters import described
from ..form.regions import levels_of_crosswalk
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
            "field and level in turn. Over a crosswalk the levels are added to those that it has; where these "
            "repeat the largest regions, as in the crosswalk of such a release, they are the same. “Evaluate "
            "regions” and the models do not take it. Not together with earlier releases (REGISTER) or totals "
            "that others publish (PUBLISHED_MARGINS)."
        ),
        advanced=True,
        optional=True,
    )


def with_levels_coarser(counts: Counts) -> Counts:
    """Where parameters count in a form that adds such levels to a crosswalk: what coarser values are, for them too."""
    related = {name: [{**one, PARAMETER: GIVEN} for one in counts[name]] for name in GENERALISING}
    return {**counts, **related}


def levels_to_show(form: Form, areas: Areas | None = None) -> tuple[Areas, Levels]:
    """The levels of CROSSWALK, as `levels_of_crosswalk`; where LEVELS_COARSER adds its own, those of regions alone."""
    areas, levels = levels_of_crosswalk(form, areas)
    return areas, without_last_repeats(levels) if asks_for_coarser(form) else levels


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


@dataclass(frozen=True)
class Asked:
    """What LEVELS_COARSER asks for.

    steps : (quasi-identifier, level) of each row; before : by name, of those it names, the level at which all records
    show it
    """

    steps: tuple[tuple[str, int], ...]
    before: Mapping[str, int]

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers that some level shows coarser."""
        return tuple(self.before)

    @property
    def above(self) -> list[tuple[str, int]]:
        """The steps, with levels counted from what all records show."""
        return [(name, level - self.before[name]) for name, level in self.steps]

    def values(self, places: Places, say: Callable[..., str]) -> tuple[str, ...]:
        """What each level shows; say : `tr` or `as_data`."""
        found = []
        for node in places.nodes:
            levels = zip(places.profile.quasi_identifiers, node)
            coarser = [say(AT_LEVEL, name=name, level=self.before[name] + level) for name, level in levels if level]
            found.append(", ".join(coarser) or say(FINEST))
        return tuple(found)


def release_with_coarser(
    form: Form, areas: Areas, records: Records, levels: Levels, k: int, loss: str, population: np.ndarray | None
) -> Made:
    """The optimum over regions and coarser values, and the rows that it shows, recounted level by level."""
    hierarchies = coarser_of(form, records.table)
    asked = asked_of(form, records.table, hierarchies)
    records, hierarchies = with_values_as_text(records, hierarchies, asked.names, areas)
    requirement = required_of(form, records)
    places = places_of(records.profile, levels, hierarchies, asked.above)
    area = np.append(area_of_cells(records.profile), SUPPRESSED)[records.cell_of]
    check_no_area_shown(places, records.table, areas, area)
    plan = nest_coarser(areas, places, k, loss, requirement, form.progress(45, 65), ties_of(form.text("TIES")))
    kept = examine_coarser(plan, places, records)
    release = release_coarser(plan, places, records, kept, requirement)
    check_coarser(release, places, whole=not requirement.asks_for_values)
    shown = as_shown(plan, places)
    protection = protected_by(form, plan, shown, records, requirement, kept, population)
    section = said_of_coarser(form, plan, places, asked, requirement)
    values, in_words = asked.values(places, as_data), asked.values(places, tr)
    return Made(records, shown, release, protection, asked.names, values, in_words, as_they_were(plan, places), section)


def said_of_coarser(form: Form, plan: Plan, places: Places, asked: Asked, requirement: Requirement) -> Section:
    """What log and report say of the coarser levels."""
    without = suppress(places.profile, places.levels.crosswalks[-1], plan.k, requirement).n_released
    n_more, in_words = max(plan.n_released - without, 0), asked.values(places, tr)
    form.info(*coarser_sentences(plan, places, in_words, n_more))
    return coarser_section(plan, places, in_words, n_more)


def asked_of(form: Form, table: RecordTable, hierarchies: Mapping[str, Hierarchy]) -> Asked:
    """The rows of LEVELS_COARSER. Raises InputError for a level that there is not, or that is not coarser.

    table : of which names and what is coarser are looked at; hierarchies : of the values that it shows
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
    return Asked(tuple(found), {name: _level_before(table, name) for name, _ in found})


def _level_before(table: RecordTable, name: str) -> int:
    """The level at which all records show a quasi-identifier, by GENERALISE."""
    return table.coarsened[name].level if name in table.coarsened else 0
