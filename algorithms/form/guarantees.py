"""What is asked of every released class: k, of records, persons and households, and what sensitive fields must differ
in; declared and read.
"""

from __future__ import annotations

from collections.abc import Iterable

from qgis.core import QgsProcessingParameterDefinition

from ...core.job.conditions import conditions_of
from ...core.language import tr
from ...core.parameters import L_DIVERSITY, MAX_SHARE, K
from ...core.privacy.series import EACH_BY_ITSELF, PERIODS, THE_SAME
from .effective import Conditions
from .parameters import bounded, choice, field

PERSON_HELP = tr(
    "Where a person has several rows, such as visits: k counts persons then, not rows, and so does what is asked of "
    "sensitive values. It is never released."
)
HOUSEHOLD_HELP = tr(
    "Where a whole household would be recognised as one: k counts households too, and so does what is asked of "
    "sensitive values. It is never released."
)


def k_parameter() -> QgsProcessingParameterDefinition:
    """K."""
    return bounded(
        K,
        tr("k: smallest class allowed"),
        tr(
            "Every released record shares its region and quasi-identifiers with at least k - 1 others; records that "
            "cannot are suppressed. Your law or policy sets it; 5 is common, 10 or 20 where data are sensitive."
        ),
    )


def periods() -> QgsProcessingParameterDefinition:
    """PERIODS."""
    return choice(
        "PERIODS",
        tr("Classes of several periods"),
        PERIODS,
        THE_SAME,
        tr(
            "Where there is a period: “{the_same}” shows a class at a place only if it holds what is asked there in "
            "every period in which it occurs, so that series have no holes: a number that is missing in a period is "
            "then nobody. “{each}” shows each class of a period on the finest level that hides it: finer, and less is "
            "suppressed, but a class may stand at one place in one year, and at another, or nowhere, in the next.",
            the_same=THE_SAME,
            each=EACH_BY_ITSELF,
        ),
        advanced=True,
    )


def protection_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """PERSON_ID, HOUSEHOLD_ID, SENSITIVE, L_DIVERSITY, MAX_SHARE."""
    yield field(
        "PERSON_ID",
        tr("Person identifier (if people have several rows)"),
        "RECORDS",
        PERSON_HELP,
        optional=True,
        advanced=True,
    )
    yield field(
        "HOUSEHOLD_ID",
        tr("Household identifier"),
        "RECORDS",
        HOUSEHOLD_HELP,
        optional=True,
        advanced=True,
    )
    yield field(
        "SENSITIVE",
        tr("Sensitive fields (diagnosis, say) that a group must not all share"),
        "RECORDS",
        tr(
            "Fields such as a diagnosis that a class must not have in common. They are released like further "
            "fields; the report says how many classes have one value, and the two settings below can ask for "
            "more."
        ),
        several=True,
        optional=True,
        advanced=True,
    )
    yield from protection_settings()


def protection_settings() -> Iterable[QgsProcessingParameterDefinition]:
    """L_DIVERSITY, MAX_SHARE."""
    distinct = tr(
        "The different values of every sensitive field that each class must have; 1 asks for nothing (l-diversity). "
        "With PERSON_ID a person has a value if any of the person's rows has it, and further rows of one person hide "
        "nobody else: whichever values somebody names, one fewer than this, some person of the class has none of them. "
        "A value that all persons have breaks 2, however many others there are."
    )
    yield bounded(L_DIVERSITY, tr("Sensitive data: least number of different values"), distinct, advanced=True)
    share = tr(
        "The largest share of the people of a class who may have the same sensitive value, per cent; 100 asks for "
        "nothing. With PERSON_ID persons are counted, not rows."
    )
    yield bounded(MAX_SHARE, tr("Sensitive data: largest share of one value, %"), share, advanced=True)


# Where the settings of sensitive fields count.
PROTECTION: Conditions = conditions_of("L_DIVERSITY", "MAX_SHARE")
# Where the classes of several periods go together.
OVER_TIME: Conditions = conditions_of("PERIODS")
