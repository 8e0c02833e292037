"""Last levels that show quasi-identifiers coarser: declared, read, and released."""

from __future__ import annotations

from qgis.core import QgsProcessingParameterDefinition, QgsProcessingParameterMatrix

from ...core.areas import Areas
from ...core.job.generalising import asks_for_coarser
from ...core.job.values import NESTED
from ...core.language import tr
from ...core.levels import Levels, without_last_repeats
from ..form.effective import GIVEN, Conditions
from ..form.form import Form
from ..form.generalising import CONDITIONS as GENERALISING
from ..form.parameters import described
from ..form.regions import levels_of_crosswalk

PARAMETER = "LEVELS_COARSER"
CONDITIONS: Conditions = {PARAMETER: [{"RELEASE": [NESTED]}]}
NOT_WITH = ("REGISTER",)


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
            "regions” and the models do not take it. Not together with earlier releases (REGISTER)."
        ),
        advanced=True,
        optional=True,
    )


def with_levels_coarser(conditions: Conditions) -> Conditions:
    """Where parameters count in a form that adds such levels to a crosswalk: what coarser values are, for them too."""
    related = {name: [{**condition, PARAMETER: GIVEN} for condition in conditions[name]] for name in GENERALISING}
    return {**conditions, **related}


def levels_to_show(form: Form, areas: Areas | None = None) -> tuple[Areas, Levels]:
    """The levels of CROSSWALK, as `levels_of_crosswalk`; where LEVELS_COARSER adds its own, those of regions alone."""
    areas, levels = levels_of_crosswalk(form, areas)
    return areas, without_last_repeats(levels) if asks_for_coarser(form) else levels
