"""Last levels that show coarser values of records in place: asked for, and planned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.areas import Areas, identifier_text
from ...core.arrays import to_list
from ...core.engines.coarsening import as_text_in_place
from ...core.engines.in_place import InPlace, Matched
from ...core.engines.profiling import refuse_area_copies
from ...core.engines.releasing import shown_by
from ...core.engines.showing import CoarserLevels
from ...core.generalising.collapsing import generalise_table
from ...core.generalising.hierarchies import Hierarchy
from ...core.language import tr
from ...core.levels import Levels
from ...core.nesting.coarser import check_coarser, nest_coarser
from ...core.nesting.coarser_places import Places, places_of
from ...core.nesting.views import as_shown
from ...core.plan import Plan
from ...core.privacy.requirement import Requirement
from ...core.report.page import Section
from ...core.ties import ties_of
from ..form.form import Form
from ..nested.coarser import Asked, asked_of, said_of_coarser
from .counting import Counted


@dataclass(frozen=True, eq=False)
class AskedInPlace:
    """What LEVELS_COARSER asks for of records in place: found, with values as text where some level shows coarser ones;
    hierarchies, of these values."""

    asked: Asked
    found: InPlace
    hierarchies: dict[str, Hierarchy]


@dataclass(frozen=True, eq=False)
class PlannedCoarser:
    """Such a release. plan : what is shown; levels : what that was made from; in_words : what each level shows;
    section : what the report says of it"""

    plan: Plan
    levels: CoarserLevels
    in_words: tuple[str, ...]
    section: Section


def asked_in_place(form: Form, counted: Counted) -> AskedInPlace:
    """What LEVELS_COARSER asks for. Raises InputError for a level that there is not, or that is not coarser."""
    hierarchies = counted.still_coarser(form)
    asked = asked_of(form, counted.shown.values(), hierarchies)
    return AskedInPlace(asked, *as_text_in_place(counted.shown, hierarchies, asked.names))


def planned_coarser(
    form: Form, given: AskedInPlace, matched: Matched, levels: Levels, areas: Areas, loss: str, requirement: Requirement
) -> PlannedCoarser:
    """The optimum over regions and coarser values, and what is said of it.

    matched : the records of `given`. Raises InputError where a coarser value repeats the area, PrivacyError where the
    plan shows what its levels do not have.
    """
    places = places_of(matched.profile, levels, given.hierarchies, given.asked.above)
    _refuse_areas(places, matched, areas)
    step, ties = form.progress(40, 60), ties_of(form.text("TIES"))
    plan = nest_coarser(areas, places, form.whole("K"), loss, requirement, step, ties)
    shown = as_shown(plan, places)
    check_coarser(shown_by(shown), places, whole=not requirement.asks_for_values)
    section = said_of_coarser(form, plan, places, given.asked, requirement)
    return PlannedCoarser(shown, CoarserLevels(plan, places), given.asked.values(places, tr), section)


def _refuse_areas(places: Places, matched: Matched, areas: Areas) -> None:
    """Refuse coarser values that repeat the area: of the cells, where any value could."""
    values = [
        identifier_text(value)
        for hierarchy in places.hierarchies.values()
        for categories in hierarchy.categories[1:]
        for value in to_list(categories)
    ]
    if (areas.codes_of(np.array([*values, None], dtype=object)) >= 0).any():
        found, by_class = matched.found, matched.found.by_class()
        for node in dict.fromkeys(places.nodes):
            shown = generalise_table(by_class, places.hierarchies, node).quasi_identifiers
            refuse_area_copies(found, areas, matched.area_of, shown)
