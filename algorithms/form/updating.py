"""What is asked of an update, in the forms that carry an earlier release on."""

from __future__ import annotations

from qgis.core import QgsProcessingParameterDefinition

from ...core.language import as_data, tr
from ...core.releases.updating import FOLLOWED, FURTHER, HELD_BACK, KINDS, SHOWN, UPDATED
from . import parameters as shared
from .effective import GIVEN, Conditions

NO_UPDATE = as_data("no update")
IN_PLACE: Conditions = {
    "UPDATE": [{"REGISTER": GIVEN}],
    **{name: [{"REGISTER": GIVEN}, {"UPDATE": KINDS}] for name in ("ENTRY", "FOLLOWED")},
}


def entry(advanced: bool = False) -> QgsProcessingParameterDefinition:
    """ENTRY."""
    return shared.text(
        "ENTRY",
        tr("Release to be updated (its number or name in the register)"),
        None,
        tr("Empty: the last one in the register with the same regions and quasi-identifiers."),
        advanced=advanced,
        optional=True,
    )


def followed() -> QgsProcessingParameterDefinition:
    """FOLLOWED."""
    return shared.choice(
        "FOLLOWED",
        tr("Rows that could be followed by rare values"),
        FOLLOWED,
        HELD_BACK,
        tr(
            "“{held_back}”: each row looks like at least k - 1 others of its class and region in all that it shows; "
            "who has rarer values is shown in a larger region, or not at all. “{shown}”: rare rows are shown, and "
            "known again next month: somebody who knows that a certain person left may read that person's values out "
            "of two releases. Nothing is to be chosen without KEEP_FIELDS and SENSITIVE.",
            held_back=HELD_BACK,
            shown=SHOWN,
        ),
        advanced=True,
    )


def update() -> QgsProcessingParameterDefinition:
    """UPDATE of the form that only updates."""
    return shared.choice(
        "UPDATE",
        tr("What the records are"),
        KINDS,
        FURTHER,
        tr(
            "“{further}”: a later month or year, beside which the earlier releases stay. “{updated}”: the same "
            "file with what has changed since, or was wrong; it takes the place of the earlier one. Both are "
            "held against all releases of the register, as whoever has those keeps them.",
            further=FURTHER,
            updated=UPDATED,
        ),
    )


def update_or_not() -> QgsProcessingParameterDefinition:
    """UPDATE of a form that may do without."""
    return shared.choice(
        "UPDATE",
        tr("Earlier releases: carry one of them on"),
        (NO_UPDATE, *KINDS),
        NO_UPDATE,
        tr(
            "“{further}”, “{updated}”: the records of a later month, or the corrected ones, under the CROSSWALK of an "
            "earlier release, as “Update a release” shows them: classes of regions stay as they were, and change by "
            "nobody or by k and more.",
            further=FURTHER,
            updated=UPDATED,
        ),
        advanced=True,
    )
