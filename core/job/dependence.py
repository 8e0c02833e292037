"""Whether a crosswalk depends on the classes of suppressed records, said in the log and the report."""

from __future__ import annotations

from collections.abc import Collection

from ..language import all_of, tr
from .inputs import Inputs
from .rules import rule_of

INDEPENDENT = tr("The method that drew the regions does not look at the classes of the suppressed records.")


def crosswalk_sentence(given: Inputs, looking: Collection[str]) -> str:
    """One sentence; a warning in the log, too, where a register or a rule asks for a crosswalk that does not depend.

    looking : the approaches in use that look at the classes of suppressed records
    """
    if not looking:
        return INDEPENDENT
    names = all_of(tr("“{name}”", name=name) for name in looking)
    sentence = tr(
        "The crosswalk depends on the classes of suppressed records ({names}): who knows the method and nearly all "
        "records can tell some of them from it.",
        names=names,
    )
    why = tr("REGISTER is given") if given.has("REGISTER") and given.given("REGISTER") else ""
    why = tr("a RULE is followed") if rule_of(given) is not None else why
    if why:
        given.warn(
            tr(
                "{names} makes the crosswalk depend on the classes of suppressed records, and {why}: the combination "
                "“all-rounder” makes one that does not.",
                names=names,
                why=why,
            )
        )
    return sentence
