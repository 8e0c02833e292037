"""What a nested release holds against: declared, read, and said where it has no effect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qgis.core import QgsProcessingParameterDefinition

from ...core.job.generalising import LEVELS_COARSER
from ...core.job.levels import CLOSED, DISCLOSURE, LEFT_AREAS, LEFT_PEOPLE
from ...core.language import tr
from ...core.parameters import CLOSED_BY_CHANCE, LEAST_LEFT_AREAS, LEAST_LEFT_PEOPLE
from ...core.privacy.derivable import CLASS_HAS_K, DISCLOSURES, NO_SMALL_COUNT
from ..form.effective import Condition, Conditions
from ..form.form import FormJob
from ..form.parameters import bounded, choice
from ..form.understanding import is_blank
from ..layers.inputs import Inputs
from ..layers.reading.crosswalks import has_levels

HIDING: Condition = {DISCLOSURE: [NO_SMALL_COUNT]}
# Where levels come with a crosswalk, so that nothing tells beforehand whether there are several.
CONDITIONS: Conditions = {CLOSED: [HIDING]}


def disclosure_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """DISCLOSURE, CLOSED_BY_CHANCE, LEAST_LEFT_AREAS, LEAST_LEFT_PEOPLE."""
    yield choice(
        DISCLOSURE,
        tr("What must hold"),
        DISCLOSURES,
        CLASS_HAS_K,
        tr(
            "Nested levels: “{class_has_k}” is k-anonymity: no class of fewer than k is shown. Somebody who knows the "
            "method can still prove of many classes that fewer than k of their people live in a part of a region. "
            "“{no_small_count}”: such counts cannot be proven either. For that, some classes are shown in a larger "
            "region than they need be, drawn from the computer's own source and kept nowhere, never from SEED: about "
            "a tenth more mean distance, no record less but where hardly anybody else lives. Every run then gives "
            "another release: publish one only. One level has nothing to choose, and DISCLOSURE no effect. A RULE that "
            "forbids counts that can be derived asks for the second.",
            class_has_k=CLASS_HAS_K,
            no_small_count=NO_SMALL_COUNT,
        ),
        advanced=True,
    )
    yield bounded(
        CLOSED_BY_CHANCE,
        tr("Closed by chance, % (more buys more uncertainty)"),
        tr(
            "With “{no_small_count}”: so many of the places that could show a class may not, whatever lives there. "
            "What cannot be proven can still be guessed; the more places are closed, the less often a guess is right, "
            "and the larger the regions. A little is always closed.",
            no_small_count=NO_SMALL_COUNT,
        ),
        advanced=True,
    )
    yield bounded(
        LEAST_LEFT_AREAS,
        tr("Least areas that must be left of a region"),
        tr(
            "Nested levels: the people whom a larger region shows live in those of its areas that do not show the "
            "class themselves. So many areas with people must be left of it; else the class is shown in a larger "
            "region, and suppressed where none is larger. 0 asks for none. Not together with LEVELS_COARSER."
        ),
        advanced=True,
    )
    yield bounded(
        LEAST_LEFT_PEOPLE,
        tr("Least people who must be left of a region"),
        tr(
            "The same by the people of these areas, whatever their class. Where every region has a least population, "
            "as some RULEs ask, what is left of a larger one has it, too. 0 asks for none. Not together with "
            "LEVELS_COARSER."
        ),
        advanced=True,
    )


def settled_by_crosswalk(inputs: Inputs) -> Mapping[str, object]:
    """What is settled where CROSSWALK has one level, and none of coarser values is added: there nothing is chosen."""
    table = inputs.source("CROSSWALK")
    if table is None or has_levels(table) or not is_blank(inputs.parameters.get(LEVELS_COARSER)):
        return {}
    return {DISCLOSURE: CLASS_HAS_K, "LOSS": "", LEFT_AREAS: "", LEFT_PEOPLE: ""}


def say_of_one_level(job: FormJob) -> None:
    """Say that what was asked of nested levels has no effect, over a crosswalk of one."""
    if job.text(DISCLOSURE) == NO_SMALL_COUNT or job.whole(LEFT_AREAS) or job.number(LEFT_PEOPLE):
        job.info(
            tr(
                "CROSSWALK has one level: a region shows all records of a class or none, so that there is nothing to "
                "choose. DISCLOSURE, LEAST_LEFT_AREAS and LEAST_LEFT_PEOPLE have no effect."
            )
        )
